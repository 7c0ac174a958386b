#include "testbenches/program/rtl_map_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <sstream>
#include <vector>

#include "rtl_cosim/lockstep/lockstep_benches.h"
#include "testbenches/program/input_error.h"
#include "testbenches/program/nearest_name.h"

namespace hcasim {

namespace {

constexpr const char* map_schema = "hcasim.rtl_map/1";

class map_reader {
public:
    explicit map_reader(const std::string& path) : m_path(path) {}

    rtl_map read(const std::string& text) {
        toml::table root;
        try {
            root = toml::parse(text, m_path);
        } catch (const toml::parse_error& error) {
            const auto& at = error.source().begin;
            throw input_error(to_line({fmt::format("{}:{}:{}", m_path, at.line, at.column), "",
                                       printable(std::string(error.description())), "TOML", ""}));
        }
        rtl_map m;
        m.file = m_path;
        std::string schema;
        std::string compare = "cycle";
        std::string reset_active = "low";
        table(
            root, "",
            {{"schema", text_into(schema)},
             {"block", text_into(m.block)},
             {"top", text_into(m.top)},
             {"compare", choice_into(compare, {"cycle", "order"})},
             {"latency_cycles",
              number_into([&m](std::uint64_t n) { m.latency_cycles = static_cast<std::uint32_t>(n); }, 1000)},
             {"parameters", parameters_into(m)},
             {"constants", numbers_into(m.constants)},
             {"policies", numbers_into(m.policies)},
             {"ports", names_into(m.ports)},
             {"clock", keys({{"port", text_into(m.clock)}})},
             {"reset", keys({{"port", any_text_into(m.reset)},
                             {"active", choice_into(reset_active, {"low", "high"})}})},
             {"doorbell", keys({{"valid", text_into(m.doorbell.valid)},
                                {"ready", text_into(m.doorbell.ready)},
                                {"qpn", text_into(m.doorbell.qpn)},
                                {"producer", text_into(m.doorbell.producer)}})},
             {"grant", keys({{"valid", text_into(m.grant.valid)},
                             {"ready", text_into(m.grant.ready)},
                             {"qpn", text_into(m.grant.qpn)},
                             {"first", text_into(m.grant.first)},
                             {"count", text_into(m.grant.count)},
                             {"tag", text_into(m.grant.tag)}})},
             {"status", keys({{"valid", text_into(m.status.valid)},
                              {"ready", text_into(m.status.ready)},
                              {"qpn", text_into(m.status.qpn)},
                              {"tag", text_into(m.status.tag)},
                              {"length", text_into(m.status.length)}})},
             {"gate",
              keys({{"axi_lite", text_into(m.gate.axi_lite)},
                    {"valid", text_into(m.gate.valid)},
                    {"ready", text_into(m.gate.ready)},
                    {"qpn", text_into(m.gate.qpn)},
                    {"value", text_into(m.gate.value)},
                    {"address_base", number_into([&m](std::uint64_t n) { m.gate.address_base = n; }, most)},
                    {"address_per_qp",
                     number_into([&m](std::uint64_t n) { m.gate.address_per_qp = n; }, most)},
                    {"open", number_into([&m](std::uint64_t n) { m.gate.open = n; }, most)},
                    {"closed", number_into([&m](std::uint64_t n) { m.gate.closed = n; }, most)}})}});
        const std::string start = m_path + ":1:1";
        if (schema != map_schema) {
            throw input_error(
                to_line({start, "schema", schema.empty() ? "is missing" : "is '" + printable(schema) + "'",
                         fmt::format("\"{}\"", map_schema), ""}));
        }
        const auto& blocks = lockstep_blocks();
        if (std::find(blocks.begin(), blocks.end(), m.block) == blocks.end()) {
            throw input_error(
                to_line({start, "block", m.block.empty() ? "is missing" : "is '" + printable(m.block) + "'",
                         fmt::format("one of {}", fmt::join(blocks, ", ")), nearest_name(m.block, blocks)}));
        }
        if (m.top.empty()) {
            throw input_error(to_line({start, "top", "is missing", "the name of the top module", ""}));
        }
        m.reset_is_low = reset_active == "low";
        m.compare = compare == "order" ? rtl_map::comparison::order : rtl_map::comparison::cycle;
        if (m.compare == rtl_map::comparison::order && m.block != "send_scheduler") {
            throw input_error(to_line({start, "compare", "is 'order' for " + m.block,
                                       "\"cycle\"; only send_scheduler can be compared by order", ""}));
        }
        return m;
    }

private:
    using reader = std::function<void(const toml::node&, const std::string& key)>;
    using entries = std::vector<std::pair<std::string, reader>>;
    static constexpr std::uint64_t most = ~std::uint64_t{0} >> 1;

    std::string where(const toml::node& node) const {
        const auto& at = node.source().begin;
        return fmt::format("{}:{}:{}", m_path, at.line, at.column);
    }
    [[noreturn]] void refuse(const toml::node& node, const std::string& key, const std::string& what,
                             const std::string& expected, const std::string& nearest = "") const {
        throw input_error(to_line({where(node), key, what, expected, nearest}));
    }
    void table(const toml::table& t, const std::string& prefix, const entries& known) const {
        for (const auto& [key, node] : t) {
            const std::string name(key.str());
            const auto found =
                std::find_if(known.begin(), known.end(), [&name](const auto& e) { return e.first == name; });
            if (found == known.end()) {
                std::vector<std::string> names;
                for (const auto& e : known) {
                    names.push_back(e.first);
                }
                refuse(node, prefix + printable(name), "is not a key of a map",
                       fmt::format("one of {}", fmt::join(names, ", ")), nearest_name(name, names));
            }
            found->second(node, prefix + name);
        }
    }
    const toml::table& as_table(const toml::node& node, const std::string& key) const {
        if (!node.is_table()) {
            refuse(node, key, "is not a table", fmt::format("[{}]", key));
        }
        return *node.as_table();
    }
    reader keys(const entries& known) const {
        return [this, known](const toml::node& node, const std::string& key) {
            table(as_table(node, key), key + ".", known);
        };
    }
    reader any_text_into(std::string& to) const {
        return [this, &to](const toml::node& node, const std::string& key) {
            if (!node.is_string()) {
                refuse(node, key, "is not a string", "a string");
            }
            to = **node.as_string();
        };
    }
    reader text_into(std::string& to) const {
        return [this, &to](const toml::node& node, const std::string& key) {
            any_text_into(to)(node, key);
            if (to.empty()) {
                refuse(node, key, "is empty", "a name; leave the key out where there is none");
            }
        };
    }
    reader choice_into(std::string& to, const std::vector<std::string>& choices) const {
        return [this, &to, choices](const toml::node& node, const std::string& key) {
            text_into(to)(node, key);
            if (std::find(choices.begin(), choices.end(), to) == choices.end()) {
                refuse(node, key, "is '" + printable(to) + "'",
                       fmt::format("one of {}", fmt::join(choices, ", ")), nearest_name(to, choices));
            }
        };
    }
    reader number_into(const std::function<void(std::uint64_t)>& set, std::uint64_t largest) const {
        return [this, set, largest](const toml::node& node, const std::string& key) {
            if (!node.is_integer() || **node.as_integer() < 0 ||
                static_cast<std::uint64_t>(**node.as_integer()) > largest) {
                refuse(node, key, "is out of range or not an integer",
                       fmt::format("an integer from 0 to {}", largest));
            }
            set(static_cast<std::uint64_t>(**node.as_integer()));
        };
    }
    reader numbers_into(std::map<std::string, std::uint64_t>& to) const {
        return [this, &to](const toml::node& node, const std::string& key) {
            for (const auto& [name, value] : as_table(node, key)) {
                const std::string full(name.str());
                number_into([&to, full](std::uint64_t n) { to[full] = n; }, most)(value, key + "." + full);
            }
        };
    }
    reader parameters_into(rtl_map& m) const {
        return [this, &m](const toml::node& node, const std::string& key) {
            m.has_parameters = true;
            for (const auto& [name, value] : as_table(node, key)) {
                const std::string full(name.str());
                if (value.is_string()) {
                    text_into(m.size_parameters[full])(value, key + "." + full);
                } else {
                    number_into([&m, full](std::uint64_t n) { m.parameters[full] = n; }, most)(
                        value, key + "." + full);
                }
            }
        };
    }
    reader names_into(std::map<std::string, std::string>& to) const {
        return [this, &to](const toml::node& node, const std::string& key) {
            for (const auto& [name, value] : as_table(node, key)) {
                const std::string full(name.str());
                // A port without back-pressure has no `ready`; every other pin has a name.
                const bool is_ready = full.size() > 8 && (full.rfind("_ready_o") == full.size() - 8 ||
                                                          full.rfind("_ready_i") == full.size() - 8);
                (is_ready ? any_text_into(to[full]) : text_into(to[full]))(value, key + "." + full);
            }
        };
    }

    const std::string& m_path;
};

}  // namespace

rtl_map parse_rtl_map(const std::string& text, const std::string& path) {
    return map_reader(path).read(text);
}

rtl_map read_rtl_map(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) {
        throw input_error(to_line({path, "", "cannot be read", "a map (TOML)", ""}));
    }
    std::ostringstream text;
    text << in.rdbuf();
    return parse_rtl_map(text.str(), path);
}

}  // namespace hcasim
