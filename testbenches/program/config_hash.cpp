#include "testbenches/program/config_hash.h"

#include <fmt/format.h>
#include <xxhash.h>

#include "testbenches/program/scenario_file.h"

namespace hcasim {

config_hasher::config_hasher(const scenario_config& base) {
    scenario_config copy = base;
    parameter_list list;
    copy.describe(list);
    for (const parameter& p : list.all()) {
        // Verilog in the place of a block changes no result.
        const bool counts = p.key != "seed" && p.key.rfind(rtl_key_prefix, 0) != 0;
        m_keys.push_back(counts ? p.key : "");
        m_base.push_back(counts ? fmt::format("{} = {}\n", p.key, value_text(p)) : "");
    }
    m_lines = m_base;
    for (const script_step& s : base.steps) {
        m_script += fmt::format("step {} {} {} {}\n", s.at_ns, s.host, s.action, s.connection);
    }
    for (const script_connection& c : base.script_connections) {
        m_script += fmt::format("connection {} {}\n", c.active_host, c.passive_host);
        for (const auto& [name, value] : c.fields) {
            m_script += fmt::format("field {} = {}\n", name, value);
        }
    }
}

void config_hasher::set(std::size_t parameter, const std::string& value) {
    if (!m_keys[parameter].empty()) {
        m_lines[parameter] = fmt::format("{} = {}\n", m_keys[parameter], value);
        m_changed.push_back(parameter);
    }
}

void config_hasher::restore() {
    for (const std::size_t parameter : m_changed) {
        m_lines[parameter] = m_base[parameter];
    }
    m_changed.clear();
}

std::string config_hasher::hash() const {
    std::string all;
    for (const std::string& line : m_lines) {
        all += line;
    }
    all += m_script;
    return fmt::format("{:016x}", XXH64(all.data(), all.size(), 0));
}

std::string config_hash(const scenario_config& scenario) { return config_hasher(scenario).hash(); }

}  // namespace hcasim
