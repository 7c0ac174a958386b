#include <fmt/format.h>

#include "testbenches/program/commands.h"
#include "testbenches/program/config_hash.h"
#include "testbenches/program/scenario_file.h"
#include "testbenches/sweep/sweep_file.h"

namespace hcasim {

int check_command(const std::vector<std::string>& files, const std::vector<std::string>& overrides) {
    int code = exit_good;
    for (const std::string& path : files) {
        try {
            if (is_sweep_file(path)) {
                const sweep_plan plan = read_sweep(path, overrides);
                fmt::print("{}: good; sweep {} of {}, {} points\n", path, plan.name, plan.scenario_path,
                           plan.points());
                continue;
            }
            const scenario_file file = read_scenario(path, overrides);
            fmt::print("{}: good; scenario {}, {} values given, configuration {}\n", path, file.config.name,
                       file.given_at.size(), config_hash(file.config));
        } catch (const input_error& error) {
            fmt::print(stderr, "{}\n", error.what());
            code = exit_bad_input;
        }
    }
    return code;
}

}  // namespace hcasim
