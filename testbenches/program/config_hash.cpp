#include "testbenches/program/config_hash.h"

#include <fmt/format.h>
#include <xxhash.h>

#include "testbenches/program/scenario_file.h"

namespace hcasim {

std::string config_hash(const scenario_config& scenario) {
    scenario_config copy = scenario;
    parameter_list list;
    copy.describe(list);
    std::string all;
    for (const parameter& p : list.all()) {
        // Verilog in the place of a block changes no result.
        if (p.key != "seed" && p.key.rfind(rtl_key_prefix, 0) != 0) {
            all += fmt::format("{} = {}\n", p.key, value_text(p));
        }
    }
    for (const script_step& s : scenario.steps) {
        all += fmt::format("step {} {} {} {}\n", s.at_ns, s.host, s.action, s.connection);
    }
    for (const script_connection& c : scenario.script_connections) {
        all += fmt::format("connection {} {}\n", c.active_host, c.passive_host);
        for (const auto& [name, value] : c.fields) {
            all += fmt::format("field {} = {}\n", name, value);
        }
    }
    return fmt::format("{:016x}", XXH64(all.data(), all.size(), 0));
}

}  // namespace hcasim
