#ifndef HCASIM_TESTBENCHES_PROGRAM_CONFIG_HASH_H
#define HCASIM_TESTBENCHES_PROGRAM_CONFIG_HASH_H

#include <cstddef>
#include <string>
#include <vector>

#include "testbenches/bench/scenario.h"

namespace hcasim {

/// 16 hexadecimal digits that stand for everything that a scenario says except its seed: two runs with the
/// same hash and the same seed had the same parameters, whether they came from the file, from --set or by
/// default.
std::string config_hash(const scenario_config& scenario);

/// The same for many scenarios that differ from one base in a few parameters.
class config_hasher {
public:
    explicit config_hasher(const scenario_config& base);

    /// The parameter (by its place in scenario_config::describe) has this value, as value_text() writes it.
    void set(std::size_t parameter, const std::string& value);
    /// Back to the base.
    void restore();
    std::string hash() const;

private:
    std::vector<std::string> m_keys;  ///< empty: does not count
    std::vector<std::string> m_base, m_lines;
    std::vector<std::size_t> m_changed;
    std::string m_script;
};

}  // namespace hcasim

#endif
