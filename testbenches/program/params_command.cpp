#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "testbenches/bench/scenario.h"
#include "testbenches/program/commands.h"
#include "testbenches/program/input_error.h"
#include "testbenches/program/nearest_name.h"
#include "testbenches/program/run_json.h"
#include "testbenches/program/scenario_file.h"

namespace hcasim {

namespace {

using nlohmann::ordered_json;

const char* evidence_name(evidence e) {
    switch (e) {
        case evidence::documented:
            return "documented";
        case evidence::measured:
            return "measured";
        case evidence::assumed:
            return "assumed";
    }
    return "";
}

const char* kind_name(parameter::kind_t kind) {
    switch (kind) {
        case parameter::kind_t::integer:
            return "integer";
        case parameter::kind_t::real:
            return "real";
        case parameter::kind_t::boolean:
            return "boolean";
        case parameter::kind_t::text:
            return "text";
        case parameter::kind_t::choice:
            return "choice";
        case parameter::kind_t::choice_list:
            return "choice_list";
    }
    return "";
}

// Range or choices, short enough for a column.
std::string range_text(const parameter& p) {
    switch (p.kind) {
        case parameter::kind_t::integer:
            return fmt::format(
                "{}..{}{}", p.minimum,
                p.maximum == std::numeric_limits<std::uint64_t>::max() ? "" : std::to_string(p.maximum),
                p.power_of_two ? " (2^n)" : "");
        case parameter::kind_t::real:
            return fmt::format("{}..{}", p.real_minimum, p.real_maximum);
        case parameter::kind_t::boolean:
            return "true | false";
        case parameter::kind_t::text:
            return "any text";
        case parameter::kind_t::choice:
            return fmt::format("{}", fmt::join(p.choices, " | "));
        case parameter::kind_t::choice_list:
            return fmt::format("any of {}", fmt::join(p.choices, ", "));
    }
    return {};
}

ordered_json to_json(const parameter& p) {
    ordered_json j;
    j["key"] = p.key;
    j["kind"] = kind_name(p.kind);
    switch (p.kind) {
        case parameter::kind_t::integer:
            j["default"] = p.get_integer();
            j["minimum"] = p.minimum;
            j["maximum"] = p.maximum;
            j["power_of_two"] = p.power_of_two;
            break;
        case parameter::kind_t::real:
            j["default"] = p.get_real();
            j["minimum"] = p.real_minimum;
            j["maximum"] = p.real_maximum;
            break;
        case parameter::kind_t::boolean:
            j["default"] = p.get_boolean();
            break;
        case parameter::kind_t::text:
            j["default"] = p.get_text();
            break;
        case parameter::kind_t::choice:
            j["default"] = p.get_text();
            j["choices"] = p.choices;
            break;
        case parameter::kind_t::choice_list:
            j["default"] = p.get_list();
            j["choices"] = p.choices;
            break;
    }
    j["unit"] = p.unit;
    j["meaning"] = p.meaning;
    j["evidence"] = evidence_name(p.origin);
    j["source"] = p.source;
    return j;
}

void print_table(const std::vector<const parameter*>& parameters) {
    std::vector<std::vector<std::string>> rows{
        {"key", "default", "unit", "range or choices", "evidence", "meaning"}};
    for (const parameter* p : parameters) {
        rows.push_back({p->key, value_text(*p), p->unit == "1" ? "" : p->unit, range_text(*p),
                        evidence_name(p->origin),
                        p->meaning + (p->source.empty() ? "" : " (" + p->source + ")")});
    }
    std::vector<std::size_t> widths(rows[0].size());
    for (const auto& row : rows) {
        for (std::size_t i = 0; i + 1 < row.size(); ++i) {
            widths[i] = std::max(widths[i], row[i].size());
        }
    }
    for (const auto& row : rows) {
        for (std::size_t i = 0; i + 1 < row.size(); ++i) {
            fmt::print("{:<{}}  ", row[i], widths[i]);
        }
        fmt::print("{}\n", row.back());
    }
}

}  // namespace

int params_command(const params_arguments& arguments) {
    scenario_config defaults;
    parameter_list list;
    defaults.describe(list);
    std::vector<const parameter*> chosen;
    std::vector<std::string> keys;
    for (const parameter& p : list.all()) {
        keys.push_back(p.key);
        if (p.key.find(arguments.filter) != std::string::npos) {
            chosen.push_back(&p);
        }
    }
    if (chosen.empty()) {
        throw input_error(to_line({"params", printable(arguments.filter), "is in no key", "a part of a key",
                                   nearest_key(arguments.filter, keys)}));
    }
    if (arguments.json) {
        ordered_json all = ordered_json::array();
        for (const parameter* p : chosen) {
            all.push_back(to_json(*p));
        }
        fmt::print("{}", json_text(all));
    } else {
        print_table(chosen);
    }
    return exit_good;
}

}  // namespace hcasim
