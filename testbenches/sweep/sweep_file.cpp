#include "testbenches/sweep/sweep_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>

#include "testbenches/program/input_error.h"
#include "testbenches/program/nearest_name.h"

namespace hcasim {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t largest_file_bytes = 16u << 20;
constexpr std::uint64_t most_values = 1000000;

std::string read_whole(const std::string& path, const std::string& where, const char* what) {
    std::error_code error;
    if (!fs::exists(path, error)) {
        throw input_error(to_line({where, "", fmt::format("{} does not exist", printable(path)), what, ""}));
    }
    if (!fs::is_regular_file(path, error) || fs::file_size(path, error) > largest_file_bytes) {
        throw input_error(
            to_line({where, "", fmt::format("{} is no file of up to 16 MiB", printable(path)), what, ""}));
    }
    std::ifstream in(path, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    if (!in) {
        throw input_error(to_line({where, "", fmt::format("{} cannot be read", printable(path)), what, ""}));
    }
    return text.str();
}

// The node as it is written in TOML.
std::string toml_text(const toml::node& node) {
    std::ostringstream text;
    node.visit([&text](const auto& n) {
        if constexpr (toml::is_table<decltype(n)> || toml::is_array<decltype(n)>) {
            text << toml::toml_formatter{n, toml::format_flags::none};
        } else {
            text << n;
        }
    });
    std::string one_line = text.str();
    std::replace(one_line.begin(), one_line.end(), '\n', ' ');
    return one_line;
}

class sweep_reader {
public:
    sweep_reader(sweep_plan& plan) : m_plan(plan) {}

    void read() {
        const toml::table root = parse();
        check_keys(root, "", {"schema", "name", "scenario", "set", "repeat", "axis", "skip", "only", "grid"});
        check_schema(root);
        m_plan.name = text_of(root, "name", fs::path(m_plan.path).stem().string());
        read_scenario_of(root);
        read_repeat(root);
        sweep_grid common;
        read_grid_keys(root, common);
        const auto grids = tables(root, "grid");
        if (grids.empty()) {
            m_plan.grids.push_back(common);
        }
        std::set<std::string> names;
        for (const toml::table* t : grids) {
            check_keys(*t, "grid.", {"name", "set", "axis", "skip", "only"});
            sweep_grid grid = common;
            grid.name = text_of(*t, "name", "");
            if (grid.name.empty() || !names.insert(grid.name).second) {
                refuse(t->source(), "grid.name", grid.name.empty() ? "is missing" : "is there twice",
                       "a name of its own for each grid");
            }
            if (const toml::node* set = t->get("set")) {
                grid.fixed = read_set(*set, "grid.set");
            }
            read_grid_keys(*t, grid);
            m_plan.grids.push_back(std::move(grid));
        }
        if (std::all_of(m_plan.grids.begin(), m_plan.grids.end(),
                        [](const sweep_grid& g) { return g.axes.empty(); })) {
            throw input_error(
                to_line({m_plan.path + ":1:1", "axis", "is missing", "at least one [[axis]]", ""}));
        }
        refuse_vain_overrides();
        try {
            m_plan.list_points();
        } catch (const std::length_error& error) {
            throw input_error(
                to_line({m_plan.path + ":1:1", "axis", error.what(), "10 million at most", ""}));
        }
        if (m_plan.points() == 0) {
            throw input_error(
                to_line({m_plan.path + ":1:1", "skip, only", "leave no point", "at least one point", ""}));
        }
    }

private:
    std::string place(const toml::source_region& region) const {
        return fmt::format("{}:{}:{}", m_plan.path, std::max<std::uint32_t>(region.begin.line, 1),
                           std::max<std::uint32_t>(region.begin.column, 1));
    }
    [[noreturn]] void refuse(const toml::source_region& region, const std::string& key,
                             const std::string& what, const std::string& expected,
                             const std::string& nearest = "") const {
        throw input_error(to_line({place(region), key, what, expected, nearest}));
    }

    toml::table parse() const {
        try {
            return toml::parse(m_plan.text, m_plan.path);
        } catch (const toml::parse_error& error) {
            refuse(error.source(), "syntax", printable(std::string(error.description()), 300), "valid TOML");
        }
    }

    void check_keys(const toml::table& t, const std::string& prefix,
                    const std::vector<std::string>& known) const {
        for (const auto& [key, node] : t) {
            const std::string name(key.str());
            if (std::find(known.begin(), known.end(), name) == known.end()) {
                refuse(key.source(), prefix + printable(name), "is not a key of a sweep",
                       fmt::format("one of {}", fmt::join(known, ", ")), nearest_name(name, known));
            }
        }
    }

    void check_schema(const toml::table& root) const {
        const toml::node* schema = root.get("schema");
        if (schema == nullptr || !schema->is_string() || **schema->as_string() != sweep_schema) {
            throw input_error(to_line({schema == nullptr ? m_plan.path + ":1:1" : place(schema->source()),
                                       "schema", schema == nullptr ? "is missing" : "is another one",
                                       fmt::format("schema = \"{}\"", sweep_schema), ""}));
        }
    }

    std::string text_of(const toml::table& t, const char* key, const std::string& otherwise) const {
        const toml::node* node = t.get(key);
        if (node == nullptr) {
            return otherwise;
        }
        if (!node->is_string() || (*node->as_string())->empty() ||
            printable(**node->as_string(), 200) != **node->as_string()) {
            refuse(node->source(), key, "is no plain text of up to 200 characters", "a string");
        }
        return **node->as_string();
    }

    std::uint64_t number_of(const toml::table& t, const std::string& table, const char* key,
                            std::uint64_t least, std::uint64_t most, std::uint64_t otherwise) const {
        const toml::node* node = t.get(key);
        if (node == nullptr) {
            return otherwise;
        }
        if (!node->is_integer() || **node->as_integer() < static_cast<std::int64_t>(least) ||
            **node->as_integer() > static_cast<std::int64_t>(most)) {
            refuse(node->source(), table + key, "is no integer in range",
                   fmt::format("an integer from {} to {}", least, most));
        }
        return static_cast<std::uint64_t>(**node->as_integer());
    }

    std::vector<const toml::table*> tables(const toml::table& t, const std::string& key) const {
        std::vector<const toml::table*> found;
        const toml::node* node = t.get(key);
        if (node == nullptr) {
            return found;
        }
        const toml::array* array = node->as_array();
        if (array == nullptr) {
            refuse(node->source(), key, "is not an array of tables", fmt::format("[[{}]]", key));
        }
        for (const toml::node& element : *array) {
            if (!element.is_table()) {
                refuse(element.source(), key, "is not a table", fmt::format("[[{}]]", key));
            }
            found.push_back(element.as_table());
        }
        return found;
    }

    void read_scenario_of(const toml::table& root) {
        const toml::node* node = root.get("scenario");
        if (node == nullptr) {
            throw input_error(to_line({m_plan.path + ":1:1", "scenario", "is missing",
                                       "the path of a scenario, from the directory of this file", ""}));
        }
        const fs::path given = text_of(root, "scenario", "");
        m_plan.scenario_path = (fs::path(m_plan.path).parent_path() / given).lexically_normal().string();
        m_plan.scenario_text =
            read_whole(m_plan.scenario_path, place(node->source()) + ": scenario", "a scenario file");
        m_plan.base = parse_scenario(m_plan.scenario_text, m_plan.scenario_path, {});
        m_editor = std::make_unique<scenario_editor>(m_plan.base);
        if (const toml::node* set = root.get("set")) {
            m_plan.base = with(m_plan.base, read_set(*set, "set"));
        }
        // The command line has the last word over the scenario, but not over the axes.
        for (const std::string& assignment : m_plan.overrides) {
            const auto equals = assignment.find('=');
            const std::string where = "--set " + printable(assignment);
            if (equals == std::string::npos) {
                throw input_error(to_line({where, printable(assignment), "has no '='", "KEY=VALUE", ""}));
            }
            const std::string key = assignment.substr(0, equals);
            m_editor->set(key, assignment.substr(equals + 1), where);
            settings one;
            one.emplace_back(index_of(key, where), setting_value(*m_editor->find(key)));
            m_plan.base = with(m_plan.base, one);
        }
        m_editor = std::make_unique<scenario_editor>(m_plan.base);
        for (const parameter& p : m_editor->parameters()) {
            m_base_values.emplace_back(p);
        }
    }

    // --set on a key that the sweep itself gives to every point would do nothing.
    void refuse_vain_overrides() const {
        for (const std::string& assignment : m_plan.overrides) {
            const std::string key = assignment.substr(0, assignment.find('='));
            const std::string where = "--set " + printable(assignment);
            const std::size_t index = index_of(key, where);
            const auto gives = [index](const settings& values) {
                return std::any_of(values.begin(), values.end(),
                                   [index](const auto& v) { return v.first == index; });
            };
            for (const sweep_grid& grid : m_plan.grids) {
                const bool on_axis =
                    std::any_of(grid.axes.begin(), grid.axes.end(), [&](const sweep_axis& axis) {
                        return std::any_of(axis.entries.begin(), axis.entries.end(),
                                           [&](const sweep_axis::entry& e) { return gives(e.values); });
                    });
                if (on_axis || gives(grid.fixed)) {
                    throw input_error(to_line({where, key, "is changed by the sweep itself",
                                               "a key that it leaves alone; --filter chooses points", ""}));
                }
            }
        }
    }

    static scenario_file with(const scenario_file& base, const settings& values) {
        scenario_editor editor(base);
        for (const auto& [parameter, value] : values) {
            value.apply(editor.parameters()[parameter]);
        }
        scenario_file changed = base;
        changed.config = editor.config();
        return changed;
    }

    void read_repeat(const toml::table& root) {
        m_plan.first_seed = m_plan.base.config.seed;
        const toml::node* node = root.get("repeat");
        if (node == nullptr) {
            return;
        }
        if (!node->is_table()) {
            refuse(node->source(), "repeat", "is not a table", "[repeat]");
        }
        const toml::table& t = *node->as_table();
        check_keys(t, "repeat.", {"seeds", "first_seed"});
        m_plan.seeds = number_of(t, "repeat.", "seeds", 1, most_values, 1);
        m_plan.first_seed = number_of(t, "repeat.", "first_seed", 0, 1u << 30, m_plan.first_seed);
    }

    void read_grid_keys(const toml::table& t, sweep_grid& grid) {
        for (const toml::table* axis : tables(t, "axis")) {
            grid.axes.push_back(read_axis(*axis));
            check_new(grid, axis->source());
        }
        for (const toml::table* condition : tables(t, "skip")) {
            grid.skip.push_back(read_condition(*condition, "skip", grid));
        }
        for (const toml::table* condition : tables(t, "only")) {
            grid.only.push_back(read_condition(*condition, "only", grid));
        }
    }

    // The axis that was added last has no key that an axis before it has.
    void check_new(const sweep_grid& grid, const toml::source_region& region) const {
        const sweep_axis& last = grid.axes.back();
        const auto names_of = [](const sweep_axis& axis) {
            std::vector<std::string> names = axis.keys;
            if (!axis.name.empty()) {
                names.push_back(axis.name);
            }
            return names;
        };
        for (std::size_t a = 0; a + 1 < grid.axes.size(); ++a) {
            const auto others = names_of(grid.axes[a]);
            for (const std::string& name : names_of(last)) {
                if (std::find(others.begin(), others.end(), name) != others.end()) {
                    refuse(region, "axis", fmt::format("{} is an axis already", name),
                           "each key on one axis");
                }
            }
        }
    }

    std::size_t index_of(const std::string& key, const std::string& where) const {
        const parameter* p = m_editor->find(key);
        if (p == nullptr) {
            throw m_editor->unknown_key(key, where);
        }
        return static_cast<std::size_t>(p - m_editor->parameters().data());
    }

    // The value, checked as --set is.
    setting_value checked(const std::string& key, const std::string& value, const std::string& where) {
        const std::size_t index = index_of(key, where);
        m_editor->set(key, value, where);
        const parameter& p = m_editor->parameters()[index];
        setting_value read(p);
        if (index < m_base_values.size()) {
            m_base_values[index].apply(p);
        }
        return read;
    }
    setting_value checked(const std::string& key, const toml::node& node) {
        return checked(key, toml_text(node), place(node.source()));
    }

    // Keys of nested tables: gate.policy = "software".
    settings read_set(const toml::node& node, const std::string& name) {
        settings values;
        if (!node.is_table()) {
            refuse(node.source(), name, "is not a table", "KEY = VALUE as in a scenario");
        }
        const std::function<void(const toml::table&, const std::string&)> walk =
            [&](const toml::table& t, const std::string& prefix) {
                for (const auto& [key, inner] : t) {
                    const std::string full = prefix + std::string(key.str());
                    if (inner.is_table()) {
                        walk(*inner.as_table(), full + ".");
                    } else {
                        const std::size_t index = index_of(full, place(key.source()));
                        values.emplace_back(index, checked(full, inner));
                    }
                }
            };
        walk(*node.as_table(), "");
        return values;
    }

    sweep_axis read_axis(const toml::table& t) {
        check_keys(t, "axis.", {"key", "values", "linear", "log", "zip", "name", "preset"});
        sweep_axis axis;
        if (t.contains("preset")) {
            read_presets(t, axis);
        } else if (const toml::node* zip = t.get("zip")) {
            if (t.size() != 1) {
                refuse(t.source(), "axis", "has zip and something else", "zip alone");
            }
            for (const toml::table* column : tables(t, "zip")) {
                check_keys(*column, "axis.zip.", {"key", "values", "linear", "log"});
                add_column(*column, axis);
            }
            if (axis.keys.size() < 2) {
                refuse(zip->source(), "axis.zip", "has less than two columns",
                       "[{ key = \"...\", values = [...] }, ...]");
            }
        } else {
            add_column(t, axis);
        }
        return axis;
    }

    void read_presets(const toml::table& t, sweep_axis& axis) {
        for (const char* other : {"key", "values", "linear", "log", "zip"}) {
            if (t.contains(other)) {
                refuse(t.source(), "axis", fmt::format("has preset and {}", other), "one of them");
            }
        }
        axis.name = text_of(t, "name", "");
        if (axis.name.empty()) {
            refuse(t.source(), "axis.name", "is missing", "a name for the axis of presets");
        }
        if (axis.name == "grid" || axis.name == "seed" || axis.name == "point" ||
            m_editor->find(axis.name) != nullptr) {
            refuse(t.source(), "axis.name", fmt::format("is '{}', which means something else", axis.name),
                   "a name of its own");
        }
        std::set<std::string> names;
        for (const toml::table* preset : tables(t, "preset")) {
            check_keys(*preset, "axis.preset.", {"name", "set"});
            sweep_axis::entry e;
            e.preset = text_of(*preset, "name", "");
            if (e.preset.empty() || !names.insert(e.preset).second) {
                refuse(preset->source(), "axis.preset.name",
                       e.preset.empty() ? "is missing" : "is there twice",
                       "a name of its own for each preset");
            }
            const toml::node* set = preset->get("set");
            if (set == nullptr) {
                refuse(preset->source(), "axis.preset.set", "is missing", "set = { KEY = VALUE, ... }");
            }
            e.values = read_set(*set, "axis.preset.set");
            axis.entries.push_back(std::move(e));
        }
        if (axis.entries.empty()) {
            refuse(t.source(), "axis.preset", "is empty", "at least one [[axis.preset]]");
        }
    }

    void add_column(const toml::table& t, sweep_axis& axis) {
        const toml::node* key_node = t.get("key");
        if (key_node == nullptr || !key_node->is_string()) {
            refuse(t.source(), "axis.key", key_node == nullptr ? "is missing" : "is no string",
                   "a key that `hcasim params` lists");
        }
        const std::string key = **key_node->as_string();
        const std::size_t index = index_of(key, place(key_node->source()));
        if (key == "seed") {
            refuse(key_node->source(), "axis.key", "is seed", "[repeat] with seeds and first_seed");
        }
        if (std::find(axis.keys.begin(), axis.keys.end(), key) != axis.keys.end()) {
            refuse(key_node->source(), "axis.zip", fmt::format("has {} twice", key), "each key once");
        }
        std::vector<setting_value> values;
        const toml::node* list = t.get("values");
        const toml::node* linear = t.get("linear");
        const toml::node* log = t.get("log");
        if ((list != nullptr) + (linear != nullptr) + (log != nullptr) != 1) {
            refuse(t.source(), "axis", "has none or several of values, linear, log", "one of them");
        }
        if (list != nullptr) {
            if (!list->is_array() || list->as_array()->empty()) {
                refuse(list->source(), "axis.values", "is not a list of values", "[ ... ]");
            }
            for (const toml::node& node : *list->as_array()) {
                add_value(values, checked(key, node), false, node.source());
            }
        } else {
            read_range(key, linear != nullptr ? *linear : *log, linear != nullptr, values);
        }
        if (!axis.keys.empty() && values.size() != axis.entries.size()) {
            refuse(t.source(), "axis.zip",
                   fmt::format("{} has {} values, {} has {}", key, values.size(), axis.keys.front(),
                               axis.entries.size()),
                   "as many of each");
        }
        axis.keys.push_back(key);
        axis.entries.resize(values.size());
        for (std::size_t i = 0; i < values.size(); ++i) {
            axis.entries[i].values.emplace_back(index, std::move(values[i]));
        }
    }

    // In a zip a value may come again.
    void add_value(std::vector<setting_value>& values, setting_value v, bool rounded,
                   const toml::source_region&) const {
        if (rounded && !values.empty() && values.back() == v) {
            return;
        }
        values.push_back(std::move(v));
    }

    double real_of(const toml::table& t, const std::string& name, const char* key) const {
        const toml::node* node = t.get(key);
        if (node == nullptr || (!node->is_integer() && !node->is_floating_point())) {
            refuse(node == nullptr ? t.source() : node->source(), name + key,
                   node == nullptr ? "is missing" : "is no number", "a number");
        }
        const double value =
            node->is_integer() ? static_cast<double>(**node->as_integer()) : **node->as_floating_point();
        if (!std::isfinite(value)) {
            refuse(node->source(), name + key, "is no finite number", "a number");
        }
        return value;
    }

    void read_range(const std::string& key, const toml::node& node, bool linear,
                    std::vector<setting_value>& values) {
        const std::string name = linear ? "axis.linear" : "axis.log";
        if (!node.is_table()) {
            refuse(node.source(), name, "is not a table", "{ from = ..., to = ..., count = ... }");
        }
        const toml::table& t = *node.as_table();
        check_keys(t, name + ".", {"from", "to", "count"});
        const double from = real_of(t, name + ".", "from");
        const double to = real_of(t, name + ".", "to");
        const std::uint64_t count = number_of(t, name + ".", "count", 2, most_values, 0);
        if (count == 0) {
            refuse(node.source(), name + ".count", "is missing", "an integer of 2 or more");
        }
        if (!linear && (from <= 0 || to <= 0)) {
            refuse(node.source(), name, "does not begin and end above 0", "from and to greater than 0");
        }
        const parameter& p = *m_editor->find(key);
        if (p.kind != parameter::kind_t::integer && p.kind != parameter::kind_t::real) {
            refuse(node.source(), name, fmt::format("{} is no number", key), "values = [ ... ]");
        }
        for (std::uint64_t i = 0; i < count; ++i) {
            const double share = static_cast<double>(i) / static_cast<double>(count - 1);
            double value = linear ? from + (to - from) * share : from * std::pow(to / from, share);
            value = i + 1 == count ? to : value;
            // Twelve digits: the same text on every machine, whatever its last bit of pow().
            const std::string text = p.kind == parameter::kind_t::integer
                                         ? fmt::format("{}", std::llround(value))
                                         : fmt::format("{:#.12g}", value);
            add_value(values, checked(key, text, place(node.source())), true, node.source());
        }
    }

    sweep_condition read_condition(const toml::table& t, const std::string& name, const sweep_grid& grid) {
        sweep_condition condition;
        const std::function<void(const toml::table&, const std::string&)> walk =
            [&](const toml::table& inner, const std::string& prefix) {
                for (const auto& [key, node] : inner) {
                    const std::string full = prefix + std::string(key.str());
                    if (node.is_table()) {
                        walk(*node.as_table(), full + ".");
                    } else {
                        condition.terms.push_back(read_term(full, node, name, grid));
                    }
                }
            };
        walk(t, "");
        if (condition.terms.empty()) {
            refuse(t.source(), name, "is empty", "KEY = VALUE");
        }
        return condition;
    }

    sweep_condition::term read_term(const std::string& key, const toml::node& node, const std::string& name,
                                    const sweep_grid& grid) {
        sweep_condition::term term;
        term.key = key;
        std::vector<std::string> known;
        const sweep_axis* presets = nullptr;
        for (const sweep_axis& axis : grid.axes) {
            known.insert(known.end(), axis.keys.begin(), axis.keys.end());
            if (!axis.name.empty()) {
                known.push_back(axis.name);
                presets = axis.name == key ? &axis : presets;
            }
        }
        if (std::find(known.begin(), known.end(), key) == known.end()) {
            refuse(node.source(), name + "." + printable(key), "is on no axis",
                   fmt::format("one of {}", fmt::join(known, ", ")), nearest_name(key, known));
        }
        // A list means any of its values, except for a parameter that is itself a list: there it is one
        // value, and a list of lists means any.
        const parameter* p = presets == nullptr ? m_editor->find(key) : nullptr;
        const toml::array* list = node.as_array();
        const bool any =
            list != nullptr && !list->empty() &&
            (p == nullptr || p->kind != parameter::kind_t::choice_list || list->get(0)->is_array());
        const auto add = [&](const toml::node& value) {
            if (presets == nullptr) {
                term.values.push_back(checked(key, value).text());
                return;
            }
            const std::string preset = value.is_string() ? **value.as_string() : toml_text(value);
            std::vector<std::string> names;
            for (const sweep_axis::entry& e : presets->entries) {
                names.push_back(e.preset);
            }
            if (std::find(names.begin(), names.end(), preset) == names.end()) {
                refuse(value.source(), name + "." + key, fmt::format("'{}' is no preset", printable(preset)),
                       fmt::format("one of {}", fmt::join(names, ", ")), nearest_name(preset, names));
            }
            term.values.push_back(preset);
        };
        if (any) {
            for (const toml::node& value : *list) {
                add(value);
            }
        } else {
            add(node);
        }
        return term;
    }

    sweep_plan& m_plan;
    std::unique_ptr<scenario_editor> m_editor;
    std::vector<setting_value> m_base_values;
};

}  // namespace

sweep_plan read_sweep(const std::string& path, const std::vector<std::string>& overrides) {
    sweep_plan plan;
    plan.path = path;
    plan.overrides = overrides;
    plan.text = read_whole(path, path + ":1:1: file", "a sweep file (TOML)");
    sweep_reader(plan).read();
    return plan;
}

bool is_sweep_file(const std::string& path) {
    try {
        const toml::table root = toml::parse_file(path);
        const toml::node* schema = root.get("schema");
        return schema != nullptr && schema->is_string() &&
               (*schema->as_string())->rfind("hcasim.sweep/", 0) == 0;
    } catch (const toml::parse_error&) {
        return false;
    }
}

namespace {

// A value that points are chosen by, however it is written: 0.5 or 5e-1, 16 or 0x10, packet or "packet",
// rtu, packet or ["rtu", "packet"].
class wanted_value {
public:
    explicit wanted_value(const std::string& text) : m_text(text) {
        try {
            const toml::table parsed = toml::parse("value = " + text);
            const toml::node& value = *parsed.get("value");
            m_number = value.is_number() ? value.value<double>() : std::nullopt;
            if (const auto* string = value.as_string()) {
                m_text = **string;
            } else if (const auto* list = value.as_array()) {
                std::vector<std::string> words;
                for (const toml::node& word : *list) {
                    words.push_back(word.value_or(std::string()));
                }
                m_text = fmt::format("{}", fmt::join(words, ", "));
            }
        } catch (const toml::parse_error&) {
            // Words without quotes are taken as they stand.
        }
    }
    /// `label` is written as setting_value::plain() does.
    bool is(const std::string& label) const {
        if (label == m_text) {
            return true;
        }
        if (!m_number || label.empty()) {
            return false;
        }
        char* end = nullptr;
        const double number = std::strtod(label.c_str(), &end);
        return *end == '\0' && number == *m_number;
    }

private:
    std::string m_text;
    std::optional<double> m_number;
};

}  // namespace

std::vector<std::uint64_t> filter_points(const sweep_plan& plan, const std::vector<std::string>& filters) {
    std::vector<std::pair<std::string, wanted_value>> wanted;
    for (const std::string& filter : filters) {
        const auto equals = filter.find('=');
        const std::string where = "--filter " + printable(filter);
        if (equals == std::string::npos) {
            throw input_error(to_line({where, "", "has no '='", "KEY=VALUE", ""}));
        }
        std::vector<std::string> known{"grid", "seed", "point"};
        for (const sweep_grid& grid : plan.grids) {
            for (const sweep_axis& axis : grid.axes) {
                known.insert(known.end(), axis.keys.begin(), axis.keys.end());
                if (!axis.name.empty()) {
                    known.push_back(axis.name);
                }
            }
        }
        std::sort(known.begin(), known.end());
        known.erase(std::unique(known.begin(), known.end()), known.end());
        const std::string key = filter.substr(0, equals);
        if (std::find(known.begin(), known.end(), key) == known.end()) {
            throw input_error(
                to_line({where, printable(key), "is on no axis",
                         fmt::format("one of {}", fmt::join(known, ", ")), nearest_name(key, known)}));
        }
        wanted.emplace_back(key, wanted_value(filter.substr(equals + 1)));
    }
    std::vector<std::uint64_t> points;
    for (std::uint64_t n = 0; n < plan.points(); ++n) {
        const sweep_point p = plan.point(n);
        auto labels = plan.labels_of(p);
        labels.emplace_back("grid", p.grid->name);
        labels.emplace_back("seed", std::to_string(p.seed));
        labels.emplace_back("point", std::to_string(n));
        const bool all = std::all_of(wanted.begin(), wanted.end(), [&labels](const auto& w) {
            return std::any_of(labels.begin(), labels.end(), [&w](const auto& label) {
                return label.first == w.first && w.second.is(label.second);
            });
        });
        if (all) {
            points.push_back(n);
        }
    }
    if (points.empty()) {
        throw input_error(to_line({"--filter " + printable(fmt::format("{}", fmt::join(filters, " "))), "",
                                   "matches no point", "values as --dry-run shows them", ""}));
    }
    return points;
}

}  // namespace hcasim
