#ifndef HCASIM_TESTBENCHES_PROGRAM_SCENARIO_FILE_H
#define HCASIM_TESTBENCHES_PROGRAM_SCENARIO_FILE_H

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "testbenches/bench/scenario.h"
#include "testbenches/program/input_error.h"

namespace hcasim {

/// What the key `schema` of a scenario must say.
constexpr const char* scenario_schema = "hcasim.scenario/1";

/// A scenario and where each of its values was given.
struct scenario_file {
    std::string path;
    scenario_config config;
    std::map<std::string, std::string>
        given_at;  ///< key, also "step[0].host", to "FILE:LINE:COL" or "--set key=value"

    /// The line for a combination that cannot run: its place is that of the first key it names which was
    /// given.
    input_error located(const scenario_error& error) const;
};

/// Reads a scenario (TOML). Its keys are those of scenario_config::describe as nested tables, `schema`, and
/// the arrays of tables [[step]] and [[connection]] of workload "script"; docs/scenarios.md has them all.
/// `overrides` are "key=value" as in --set, applied in order; a value is written as in TOML, and a bare word
/// counts as a string where a string is wanted. Throws input_error on the first fault, and when the
/// combination cannot run.
scenario_file read_scenario(const std::string& path, const std::vector<std::string>& overrides);

/// The same from text; `path` is only named in messages.
scenario_file parse_scenario(const std::string& text, const std::string& path,
                             const std::vector<std::string>& overrides);

/// read_scenario() for those who want the configuration only.
scenario_config load_scenario(const std::string& path, const std::vector<std::string>& overrides);

/// A scenario whose parameters are given other values one after another, each checked as --set is.
class scenario_editor {
public:
    explicit scenario_editor(const scenario_file& base);
    ~scenario_editor();
    scenario_editor(const scenario_editor&) = delete;
    scenario_editor& operator=(const scenario_editor&) = delete;

    /// `value` as it is written in TOML. Throws input_error that names `where` ("FILE:LINE:COL").
    void set(const std::string& key, const std::string& value, const std::string& where);
    /// Back to the values of the base.
    void restore();
    const scenario_config& config() const;
    /// All parameters; their getters and setters are those of config().
    const std::vector<parameter>& parameters() const;
    /// Null when there is none of that name.
    const parameter* find(const std::string& key) const;
    /// The line for an unknown key, with the nearest known one.
    input_error unknown_key(const std::string& key, const std::string& where) const;

private:
    struct parts;
    std::unique_ptr<parts> m_parts;
};

/// What a value of this parameter may be, in words: "an integer from 1 to 65536 (entries)".
std::string allowed_values(const parameter& p);

/// The present value as it is written in TOML.
std::string value_text(const parameter& p);

}  // namespace hcasim

#endif
