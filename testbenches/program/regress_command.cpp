#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <system_error>

#include "build_info.h"
#include "rtl_cosim/wrap/rtl_difference.h"
#include "rtl_cosim/wrap/verilog_source.h"
#include "testbenches/bench/scenario.h"
#include "testbenches/program/commands.h"
#include "testbenches/program/config_hash.h"
#include "testbenches/program/input_error.h"
#include "testbenches/program/json_difference.h"
#include "testbenches/program/junit.h"
#include "testbenches/program/output_file.h"
#include "testbenches/program/run_json.h"
#include "testbenches/program/scenario_file.h"

namespace hcasim {

namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

enum class verdict { same, updated, differs, violated, bad_input };

struct outcome {
    std::string name;
    verdict result = verdict::same;
    std::string message;               // one line
    std::vector<std::string> details;  // one difference each
    double seconds = 0;
};

fs::path find_directory(const std::string& given) {
    if (!given.empty()) {
        return given;
    }
    std::error_code error;
    return fs::is_directory("traces", error) ? fs::path{"traces"}
                                             : fs::path{build_info::source_directory} / "traces";
}

// Sorted names without extension of the files in a directory that have this extension.
std::vector<std::string> stems(const fs::path& directory, const char* extension) {
    std::vector<std::string> names;
    std::error_code error;
    for (fs::directory_iterator it{directory, error}; !error && it != fs::directory_iterator{};
         it.increment(error)) {
        if (it->path().extension() == extension) {
            names.push_back(it->path().stem().string());
        }
    }
    std::sort(names.begin(), names.end());
    return names;
}

class regression {
public:
    regression(fs::path directory, const regress_arguments& arguments)
        : m_directory(std::move(directory)), m_arguments(arguments) {}

    outcome run(const std::string& name) const {
        outcome o;
        o.name = name;
        const auto begin = std::chrono::steady_clock::now();
        try {
            compare(o);
        } catch (const input_error& error) {
            o.result = verdict::bad_input;
            o.message = error.what();
        }
        o.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        return o;
    }

    fs::path golden_directory() const { return m_directory / "golden"; }

private:
    void compare(outcome& o) const {
        const scenario_file file =
            read_scenario((m_directory / (o.name + ".toml")).string(), m_arguments.overrides);
        run_options options;
        options.engine = m_arguments.engine;
        run_result result;
        try {
            result = run_scenario(file.config, options);
        } catch (const scenario_error& error) {
            throw file.located(error);
        } catch (const rtl_mismatch& mismatch) {
            o.result = verdict::differs;
            o.message = mismatch.what();
            return;
        } catch (const verilog_error& error) {
            throw input_error(file.path + ": " + error.what());
        }
        if (result.invariants_violated != 0) {
            o.result = verdict::violated;
            o.message = "violated: " + result.violation;
            return;
        }
        const ordered_json actual = run_json(result, config_hash(file.config), false);
        const fs::path golden = golden_directory() / (o.name + ".json");
        std::ifstream in{golden, std::ios::binary};
        if (!in) {
            o.message = "has no golden result " + golden.string() + " (--update writes it)";
            o.result = verdict::differs;
        } else {
            compare_with(in, actual, o);
        }
        if (o.result == verdict::differs && m_arguments.update) {
            output_file out{"regress --update", golden.string()};
            out.write(json_text(actual));
            o.result = verdict::updated;
            o.message = in ? o.message : "new golden result";
        }
    }

    static void compare_with(std::ifstream& in, const ordered_json& actual, outcome& o) {
        const ordered_json expected = ordered_json::parse(in, nullptr, false);
        if (expected.is_discarded()) {
            o.message = "has a golden result that is not JSON";
            o.result = verdict::differs;
            return;
        }
        const auto differences = json_differences(expected, actual);
        for (const json_difference& d : differences) {
            o.details.push_back(fmt::format("{}: expected {}, is {}", d.pointer, d.expected, d.actual));
        }
        if (!differences.empty()) {
            o.message = fmt::format("{} {} from the golden result", differences.size(),
                                    differences.size() == 1 ? "value differs" : "values differ");
            o.result = verdict::differs;
        }
    }

    fs::path m_directory;
    const regress_arguments& m_arguments;
};

void print(const outcome& o, std::size_t name_width) {
    constexpr std::size_t most_details = 40;
    const char* const words[] = {"same", "UPDATED", "DIFFERS", "VIOLATED", "BAD INPUT"};
    fmt::print("{:<{}}  {:<9}  {:7.3f} s{}{}\n", o.name, name_width,
               words[static_cast<std::size_t>(o.result)], o.seconds, o.message.empty() ? "" : "  ",
               o.message);
    for (std::size_t i = 0; i < std::min(o.details.size(), most_details); ++i) {
        fmt::print("    {}\n", o.details[i]);
    }
    if (o.details.size() > most_details) {
        fmt::print("    ... and {} more\n", o.details.size() - most_details);
    }
    std::fflush(stdout);
}

std::string report_of(const std::vector<outcome>& outcomes) {
    std::vector<junit_case> cases;
    for (const outcome& o : outcomes) {
        const bool good = o.result == verdict::same || o.result == verdict::updated;
        const bool failed = o.result == verdict::differs || o.result == verdict::violated;
        cases.push_back({o.name, o.seconds,
                         good     ? junit_case::outcome_t::passed
                         : failed ? junit_case::outcome_t::failed
                                  : junit_case::outcome_t::error,
                         o.message, fmt::format("{}", fmt::join(o.details, "\n"))});
    }
    return junit_xml("hcasim.regress", cases);
}

}  // namespace

int regress_command(const regress_arguments& arguments) {
    const fs::path directory = find_directory(arguments.directory);
    const auto refuse = [&](const std::string& what) {
        return input_error(
            to_line({"regress", directory.string(), what, "a directory with scenarios (*.toml)", ""}));
    };
    std::error_code error;
    if (!fs::is_directory(directory, error)) {
        throw refuse("is not a directory");
    }
    const std::vector<std::string> names = stems(directory, ".toml");
    if (names.empty()) {
        throw refuse("holds no scenario");
    }
    output_file junit{"--junit", arguments.junit};
    const regression all{directory, arguments};
    if (arguments.update && !arguments.overrides.empty()) {
        throw input_error(to_line({"hcasim regress", "--update", "does not go with --set",
                                   "golden results are those of the scenarios as they are", ""}));
    }
    if (arguments.update && !fs::is_directory(all.golden_directory(), error) &&
        !fs::create_directories(all.golden_directory(), error)) {
        throw refuse("takes no directory golden: " + error.message());
    }

    std::size_t name_width = 0;
    for (const std::string& name : names) {
        name_width = std::max(name_width, name.size());
    }
    std::vector<outcome> outcomes;
    for (const std::string& name : names) {
        outcomes.push_back(all.run(name));
        print(outcomes.back(), name_width);
    }
    for (const std::string& golden : stems(all.golden_directory(), ".json")) {
        if (!std::binary_search(names.begin(), names.end(), golden)) {
            outcome orphan;
            orphan.name = golden;
            orphan.result = verdict::differs;
            orphan.message = "is a golden result without a scenario";
            outcomes.push_back(orphan);
            print(outcomes.back(), name_width);
        }
    }

    const auto has = [&](verdict v) {
        return std::count_if(outcomes.begin(), outcomes.end(),
                             [&](const outcome& o) { return o.result == v; });
    };
    fmt::print("{} of {} as expected\n", has(verdict::same) + has(verdict::updated), outcomes.size());
    if (junit.wanted()) {
        junit.write(report_of(outcomes));
    }
    return has(verdict::bad_input) != 0  ? exit_bad_input
           : has(verdict::violated) != 0 ? exit_violated
           : has(verdict::differs) != 0  ? exit_differs
                                         : exit_good;
}

}  // namespace hcasim
