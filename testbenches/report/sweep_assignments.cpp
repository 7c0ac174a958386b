#include "testbenches/report/sweep_assignments.h"

#include <toml++/toml.h>

#include <sstream>
#include <string_view>

namespace hcasim::report {

namespace {

using nlohmann::json;

std::string toml_text(const toml::node& value) {
    if (const auto* word = value.as_string()) {
        return word->get();
    }
    std::ostringstream out;
    if (const auto* list = value.as_array()) {
        const char* separator = "";
        out << '[';
        for (const toml::node& item : *list) {
            out << separator;
            if (const auto* word = item.as_string()) {
                out << '"' << word->get() << '"';
            } else {
                out << toml_text(item);
            }
            separator = ", ";
        }
        out << ']';
        return out.str();
    }
    value.visit([&](const auto& v) {
        if constexpr (toml::is_value<decltype(v)>) {
            out << v;
        }
    });
    return out.str();
}

void add_assignments(const toml::table& table, const std::string& prefix, json& list) {
    for (const auto& [key, value] : table) {
        const std::string name = prefix + std::string(std::string_view(key));
        if (const auto* inner = value.as_table()) {
            add_assignments(*inner, name + ".", list);
        } else {
            list.push_back(name + "=" + toml_text(value));
        }
    }
}

json assignments(const toml::table& owner) {
    json list = json::array();
    if (const auto* set = owner["set"].as_table()) {
        add_assignments(*set, "", list);
    }
    return list;
}

// Calls `use` for every table of the array `name`.
template <typename Use>
void for_each_table(const toml::table& owner, const char* name, Use use) {
    if (const auto* list = owner[name].as_array()) {
        for (const toml::node& item : *list) {
            if (const auto* table = item.as_table()) {
                use(*table);
            }
        }
    }
}

void add_presets(const toml::table& owner, json& presets) {
    for_each_table(owner, "axis", [&](const toml::table& axis) {
        const std::string name = axis["name"].value_or(std::string());
        for_each_table(axis, "preset", [&](const toml::table& preset) {
            presets[name][preset["name"].value_or(std::string())] = assignments(preset);
        });
    });
}

}  // namespace

json sweep_assignments(const std::string& sweep_text) {
    json result{{"set", json::object()}, {"preset", json::object()}};
    try {
        const toml::table sweep = toml::parse(sweep_text);
        result["set"][""] = assignments(sweep);
        add_presets(sweep, result["preset"]);
        for_each_table(sweep, "grid", [&](const toml::table& grid) {
            result["set"][grid["name"].value_or(std::string())] = assignments(grid);
            add_presets(grid, result["preset"]);
        });
    } catch (const toml::parse_error&) {
        // The report is still of use without the commands' common part.
    }
    return result;
}

}  // namespace hcasim::report
