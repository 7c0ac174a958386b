#include "testbenches/program/scenario_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <system_error>
#include <utility>

#include "testbenches/bench/script_plan.h"
#include "testbenches/program/nearest_name.h"

namespace hcasim {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t largest_toml_integer = std::numeric_limits<std::int64_t>::max();
constexpr std::size_t largest_file_bytes = 16u << 20;
constexpr std::size_t longest_text = 200;
constexpr const char* file_start = "1:1";

std::string join(const std::vector<std::string>& words, const char* separator = ", ") {
    return fmt::format("{}", fmt::join(words, separator));
}

// Hosts are named by letters in step and connection tables: host 0 is "a".
std::string host_letter(std::size_t index) { return std::string(1, static_cast<char>('a' + index)); }
constexpr std::size_t host_letters = 26;

// What a node is, for the middle of a sentence.
std::string describe(const toml::node& node) {
    switch (node.type()) {
        case toml::node_type::integer:
            return fmt::format("the integer {}", **node.as_integer());
        case toml::node_type::floating_point:
            return fmt::format("the float {}", **node.as_floating_point());
        case toml::node_type::boolean:
            return fmt::format("the boolean {}", **node.as_boolean());
        case toml::node_type::string:
            return fmt::format("the string \"{}\"", printable(**node.as_string()));
        case toml::node_type::array:
            return "an array";
        case toml::node_type::table:
            return "a table";
        default:
            return "a date or time";
    }
}

// A fault found in a file, kept until it is known which one stands first.
struct fault {
    toml::source_position position;
    std::string line;
};

class scenario_reader {
public:
    scenario_reader(std::string path, scenario_file& out) : m_path(std::move(path)), m_out(out) {
        m_out.config.describe(m_list);
        for (const parameter& p : m_list.all()) {
            m_parameters.emplace(p.key, &p);
            m_keys.push_back(p.key);
            for (auto dot = p.key.find('.'); dot != std::string::npos; dot = p.key.find('.', dot + 1)) {
                m_tables.insert(p.key.substr(0, dot));
            }
        }
        for (const char* own : {"schema", "step", "connection"}) {
            m_keys.emplace_back(own);
        }
    }

    void read(const std::string& text) {
        const auto nul = text.find('\0');
        if (nul != std::string::npos) {
            const auto line =
                1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(nul), '\n');
            const auto line_start = nul == 0 ? std::string::npos : text.rfind('\n', nul - 1);
            const auto column = nul - (line_start == std::string::npos ? 0 : line_start + 1) + 1;
            throw input_error(
                to_line({fmt::format("{}:{}:{}", m_path, line, column), "file",
                         "holds a zero byte, so it is not text", "a scenario in TOML (UTF-8)", ""}));
        }
        if (text.find_first_not_of(" \t\r\n\xef\xbb\xbf") == std::string::npos) {
            throw input_error(
                to_line({m_path + ":" + file_start, "file", "is empty",
                         fmt::format("a scenario, beginning with schema = \"{}\"", scenario_schema), ""}));
        }
        m_root = parse(text);
        check_schema(m_root);
        read_table(m_root, "");
        throw_first_fault();
    }

    // The arrays of tables: after the overrides, because what they may say depends on parameters.
    void finish() {
        read_script(m_root);
        throw_first_fault();
    }

    void override_with(const std::string& assignment) {
        override_with(assignment, "--set " + printable(assignment));
    }

    void override_with(const std::string& assignment, const std::string& where) {
        const auto equals = assignment.find('=');
        if (equals == std::string::npos) {
            throw input_error(to_line(
                {where, printable(assignment), "has no '='", "KEY=VALUE", nearest_key(assignment, m_keys)}));
        }
        const std::string key = trimmed(assignment.substr(0, equals));
        const std::string raw = trimmed(assignment.substr(equals + 1));
        const auto found = m_parameters.find(key);
        if (found == m_parameters.end()) {
            throw input_error(to_line(unknown_key(where, key)));
        }
        const parameter& p = *found->second;
        // The node must live until it has been read.
        toml::table holder;
        const bool as_text = p.kind == parameter::kind_t::text || p.kind == parameter::kind_t::choice;
        std::optional<complaint> wrong;
        try {
            holder = toml::parse("value = " + raw);
        } catch (const toml::parse_error&) {
            holder.clear();
        }
        const bool is_toml =
            holder.size() == 1 && holder.contains("value") && raw.find_first_of("\r\n") == std::string::npos;
        if (as_text && (!is_toml || !holder.get("value")->is_string())) {
            holder.clear();
            holder.insert("value", raw);
        } else if (!is_toml) {
            throw input_error(to_line(
                {where, key, fmt::format("'{}' is not a value", printable(raw)), allowed_values(p), ""}));
        }
        wrong = assign(p, *holder.get("value"), where);
        if (wrong) {
            throw input_error(to_line(*wrong));
        }
    }

    const std::vector<parameter>& parameters() const { return m_list.all(); }
    const parameter* find(const std::string& key) const {
        const auto found = m_parameters.find(key);
        return found == m_parameters.end() ? nullptr : found->second;
    }
    complaint unknown(const std::string& where, const std::string& key) const {
        return unknown_key(where, key);
    }

private:
    static std::string trimmed(const std::string& text) {
        const auto begin = text.find_first_not_of(" \t");
        const auto end = text.find_last_not_of(" \t");
        return begin == std::string::npos ? std::string{} : text.substr(begin, end - begin + 1);
    }

    std::string place(const toml::source_position& position) const {
        return fmt::format("{}:{}:{}", m_path, std::max<std::uint32_t>(position.line, 1),
                           std::max<std::uint32_t>(position.column, 1));
    }
    std::string place(const toml::source_region& region) const { return place(region.begin); }

    void throw_first_fault() const {
        const auto first =
            std::min_element(m_faults.begin(), m_faults.end(), [](const fault& a, const fault& b) {
                return std::make_pair(a.position.line, a.position.column) <
                       std::make_pair(b.position.line, b.position.column);
            });
        if (first != m_faults.end()) {
            throw input_error(first->line);
        }
    }

    void add_fault(const toml::source_region& region, complaint c) {
        c.where = place(region);
        m_faults.push_back({region.begin, to_line(c)});
    }

    // The key at a place where parsing has failed, as far as the lines before tell; "syntax" when they do
    // not.
    static std::string key_at(const std::string& text, const toml::source_position& position) {
        static const std::regex header{R"(^\s*\[\[?\s*([\w.-]+)\s*(\].*)?$)"};
        static const std::regex assignment{R"(^\s*([\w.-]+)\s*(=.*)?$)"};
        std::istringstream lines{text};
        std::string table;
        std::string line;
        std::smatch found;
        constexpr std::size_t longest = 200;  // std::regex recurses for every character
        for (std::uint32_t number = 1; number <= position.line && std::getline(lines, line); ++number) {
            line = line.substr(0, longest);
            if (!line.empty() && line.back() == '\r') {
                line.pop_back();
            }
            if (std::regex_match(line, found, header)) {
                table = found[1];
            }
        }
        if (std::regex_match(line, found, header)) {
            return table;
        }
        if (std::regex_match(line, found, assignment)) {
            return (table.empty() ? "" : table + ".") + found[1].str();
        }
        return "syntax";
    }

    // toml++ before 3.5 asserts, or does what it likes without assertions, where the name of an array of
    // tables does not begin like a name (its pull request 301). No value that a scenario may have begins a
    // line so.
    void refuse_nameless_headers(const std::string& text) const {
        constexpr const char* blanks = " \t";
        std::size_t line = 1;
        for (std::size_t begin = 0; begin < text.size(); ++line) {
            const std::size_t end = std::min(text.find('\n', begin), text.size());
            const std::size_t header = text.find_first_not_of(line == 1 ? " \t\xef\xbb\xbf" : blanks, begin);
            if (header != std::string::npos && text[header] == '[') {
                const std::size_t inside = header + (text.compare(header, 2, "[[") == 0 ? 2 : 1);
                const std::size_t name = text.find_first_not_of(blanks, inside);
                const char c = name == std::string::npos ? '\n' : text[name];
                if (std::isalnum(static_cast<unsigned char>(c)) == 0 &&
                    std::string("_-\"'").find(c) == std::string::npos) {
                    throw input_error(to_line({fmt::format("{}:{}:{}", m_path, line, inside - begin + 1),
                                               "syntax", "a table header without a name", "valid TOML", ""}));
                }
            }
            begin = end + 1;
        }
    }

    toml::table parse(const std::string& text) const {
        refuse_nameless_headers(text);
        try {
            return toml::parse(text, m_path);
        } catch (const toml::parse_error& error) {
            const std::string description{error.description()};
            const std::string key = key_at(text, error.source().begin);
            if (description.find("redefine") != std::string::npos) {
                throw input_error(
                    to_line({place(error.source()), key, "is given a second time", "each key once", ""}));
            }
            throw input_error(
                to_line({place(error.source()), key, printable(description, 300), "valid TOML", ""}));
        }
    }

    void check_schema(const toml::table& root) {
        const toml::node* schema = root.get("schema");
        const std::string expected = fmt::format("schema = \"{}\"", scenario_schema);
        if (schema == nullptr) {
            m_faults.push_back(
                {{1, 1}, to_line({m_path + ":" + file_start, "schema", "is missing", expected, ""})});
        } else if (!schema->is_string() || **schema->as_string() != scenario_schema) {
            add_fault(schema->source(), {"", "schema", "is " + describe(*schema), expected, ""});
        }
    }

    complaint unknown_key(const std::string& where, const std::string& key) const {
        const std::string table = key.find('.') == std::string::npos ? "" : key.substr(0, key.rfind('.'));
        std::vector<std::string> siblings;
        for (const std::string& k : m_keys) {
            if (!table.empty() && k.rfind(table + '.', 0) == 0) {
                siblings.push_back(k);
            }
        }
        constexpr std::size_t few = 12;
        const bool list_them = !siblings.empty() && siblings.size() <= few;
        return {where, printable(key, 100), "is not a known key",
                list_them ? "one of " + join(siblings) : "a key that `hcasim params` lists",
                nearest_key(key, m_keys)};
    }

    complaint unknown_table(const std::string& key) const {
        const std::vector<std::string> tables(m_tables.begin(), m_tables.end());
        std::vector<std::string> top;
        std::copy_if(tables.begin(), tables.end(), std::back_inserter(top),
                     [](const std::string& t) { return t.find('.') == std::string::npos; });
        return {"", printable(key, 100), "is not a known table", "one of " + join(top),
                nearest_name(key, tables)};
    }

    void read_table(const toml::table& table, const std::string& prefix) {
        for (const auto& [toml_key, node] : table) {
            const std::string own_name{toml_key.str()};
            const std::string key = prefix + own_name;
            const auto found = m_parameters.find(key);
            if (prefix.empty() && (key == "schema" || key == "step" || key == "connection")) {
                continue;
            }
            if (own_name.find('.') != std::string::npos) {
                // A quoted key with a dot would be a second way to write the same thing.
                add_fault(toml_key.source(), {"", printable(key, 100), "is a quoted key with a dot in it",
                                              "the same without quotes", nearest_key(key, m_keys)});
            } else if (found != m_parameters.end()) {
                if (const auto wrong = assign(*found->second, node, place(node.source()))) {
                    add_fault(node.source(), *wrong);
                }
            } else if (m_tables.count(key) != 0) {
                if (const toml::table* inner = node.as_table()) {
                    read_table(*inner, key + '.');
                } else {
                    add_fault(node.source(), {"", key, "is " + describe(node),
                                              fmt::format("a table, written [{}]", key), ""});
                }
            } else if (node.is_table()) {
                add_fault(toml_key.source(), unknown_table(key));
            } else {
                add_fault(toml_key.source(), unknown_key("", key));
            }
        }
    }

    // Gives the parameter the value, or says what is wrong with it.
    std::optional<complaint> assign(const parameter& p, const toml::node& node, const std::string& where) {
        auto wrong = check_and_set(p, node);
        if (wrong) {
            wrong->where = where;
            wrong->key = p.key;
        } else {
            m_out.given_at[p.key] = where;
        }
        return wrong;
    }

    static complaint refuse(const parameter& p, const std::string& what, const std::string& nearest = "") {
        return {"", p.key, what, allowed_values(p), nearest};
    }

    static std::optional<complaint> check_and_set(const parameter& p, const toml::node& node) {
        switch (p.kind) {
            case parameter::kind_t::integer:
                return set_integer(p, node);
            case parameter::kind_t::real:
                return set_real(p, node);
            case parameter::kind_t::boolean:
                if (!node.is_boolean()) {
                    return refuse(p, "is " + describe(node));
                }
                p.set_boolean(**node.as_boolean());
                return std::nullopt;
            case parameter::kind_t::text:
                if (!node.is_string()) {
                    return refuse(p, "is " + describe(node));
                }
                if (printable(**node.as_string(), longest_text + 1) != **node.as_string()) {
                    return refuse(p, "holds a control character or is longer than a line");
                }
                p.set_text(**node.as_string());
                return std::nullopt;
            case parameter::kind_t::choice: {
                // Of choices that have true and false, these may be given as such.
                const std::string truth = node.is_boolean() ? (**node.as_boolean() ? "true" : "false") : "";
                if (!node.is_string() && !is_choice(p, truth)) {
                    return refuse(p, "is " + describe(node));
                }
                const std::string value = node.is_string() ? **node.as_string() : truth;
                if (!is_choice(p, value)) {
                    return refuse(p, "is " + describe(node), nearest_name(value, p.choices));
                }
                p.set_text(value);
                return std::nullopt;
            }
            case parameter::kind_t::choice_list:
                return set_list(p, node);
        }
        return std::nullopt;
    }

    static bool is_choice(const parameter& p, const std::string& value) {
        return std::find(p.choices.begin(), p.choices.end(), value) != p.choices.end();
    }

    static std::optional<complaint> set_integer(const parameter& p, const toml::node& node) {
        if (!node.is_integer()) {
            return refuse(p, "is " + describe(node));
        }
        const std::int64_t value = **node.as_integer();
        if (value < 0) {
            return refuse(p, fmt::format("is {}, which is negative", value));
        }
        const auto number = static_cast<std::uint64_t>(value);
        if (number < p.minimum || number > p.maximum) {
            return refuse(
                p, fmt::format("is {}, which is too {}", number, number < p.minimum ? "small" : "large"));
        }
        if (p.power_of_two && (number & (number - 1)) != 0) {
            return refuse(p, fmt::format("is {}, which is not a power of two", number));
        }
        p.set_integer(number);
        return std::nullopt;
    }

    static std::optional<complaint> set_real(const parameter& p, const toml::node& node) {
        double value = 0;
        if (node.is_floating_point()) {
            value = **node.as_floating_point();
        } else if (node.is_integer()) {
            value = static_cast<double>(**node.as_integer());
        } else {
            return refuse(p, "is " + describe(node));
        }
        if (!std::isfinite(value)) {
            return refuse(p, fmt::format("is {}, which is no finite number", value));
        }
        if (value < p.real_minimum || value > p.real_maximum) {
            return refuse(
                p, fmt::format("is {}, which is too {}", value, value < p.real_minimum ? "small" : "large"));
        }
        p.set_real(value == 0 ? 0.0 : value);  // no minus zero
        return std::nullopt;
    }

    static std::optional<complaint> set_list(const parameter& p, const toml::node& node) {
        const toml::array* array = node.as_array();
        if (array == nullptr) {
            return refuse(p, "is " + describe(node));
        }
        if (array->empty()) {
            return refuse(p, "is an empty list");
        }
        std::vector<std::string> values;
        for (const toml::node& element : *array) {
            if (!element.is_string()) {
                return refuse(p, "holds " + describe(element));
            }
            const std::string value = **element.as_string();
            if (!is_choice(p, value)) {
                return refuse(p, "holds " + describe(element), nearest_name(value, p.choices));
            }
            if (std::find(values.begin(), values.end(), value) != values.end()) {
                return refuse(p, fmt::format("holds {} twice", describe(element)));
            }
            values.push_back(value);
        }
        p.set_list(values);
        return std::nullopt;
    }

    // The tables of an array of tables; a fault when the key is something else.
    std::vector<const toml::table*> tables_of(const toml::table& root, const std::string& key) {
        std::vector<const toml::table*> tables;
        const toml::node* node = root.get(key);
        if (node == nullptr) {
            return tables;
        }
        const std::string expected = fmt::format("an array of tables, each headed [[{}]]", key);
        const toml::array* array = node->as_array();
        if (array == nullptr) {
            add_fault(node->source(), {"", key, "is " + describe(*node), expected, ""});
            return tables;
        }
        for (const toml::node& element : *array) {
            if (const toml::table* table = element.as_table()) {
                tables.push_back(table);
            } else {
                add_fault(element.source(), {"", key, "holds " + describe(element), expected, ""});
            }
        }
        return tables;
    }

    void read_script(const toml::table& root) {
        const bool script = m_out.config.workload == workload_kind::script;
        for (const char* key : {"step", "connection"}) {
            const toml::node* node = root.get(key);
            if (script && (node == nullptr || (node->is_array() && node->as_array()->empty()))) {
                const auto workload = m_out.given_at.find("workload");
                throw input_error(to_line(
                    {workload != m_out.given_at.end() ? workload->second : m_path + ":" + file_start, key,
                     "is missing", fmt::format("at least one [[{}]] with workload \"script\"", key), ""}));
            }
            if (!script && node != nullptr) {
                add_fault(node->source(), {"", key, "has no meaning with this workload",
                                           "workload = \"script\" with it", ""});
            }
        }
        if (!script) {
            return;
        }
        const auto connections = tables_of(root, "connection");
        for (std::size_t i = 0; i < connections.size(); ++i) {
            read_connection(*connections[i], fmt::format("connection[{}]", i));
        }
        for (const toml::table* step : tables_of(root, "step")) {
            read_step(*step, fmt::format("step[{}]", m_out.config.steps.size()), connections.size());
        }
    }

    std::optional<std::uint64_t> integer_of(const toml::node& node, const std::string& key,
                                            std::uint64_t maximum, const std::string& expected) {
        if (!node.is_integer()) {
            add_fault(node.source(), {"", key, "is " + describe(node), expected, ""});
            return std::nullopt;
        }
        const std::int64_t value = **node.as_integer();
        if (value < 0 || static_cast<std::uint64_t>(value) > maximum) {
            const char* how = value < 0 ? "which is negative" : "which is too large";
            add_fault(node.source(), {"", key, fmt::format("is {}, {}", value, how), expected, ""});
            return std::nullopt;
        }
        return static_cast<std::uint64_t>(value);
    }

    std::optional<std::string> name_of(const toml::node& node, const std::string& key,
                                       const std::vector<std::string>& names) {
        const std::string expected = "one of " + join(names);
        if (!node.is_string()) {
            add_fault(node.source(), {"", key, "is " + describe(node), expected, ""});
            return std::nullopt;
        }
        std::string value = **node.as_string();
        if (std::find(names.begin(), names.end(), value) == names.end()) {
            add_fault(node.source(), {"", key, "is " + describe(node), expected, nearest_name(value, names)});
            return std::nullopt;
        }
        return value;
    }

    std::vector<std::string> host_names() const {
        std::vector<std::string> names;
        for (std::size_t i = 0; i < std::min<std::size_t>(m_out.config.hosts, host_letters); ++i) {
            names.push_back(host_letter(i));
        }
        return names;
    }

    void require(const toml::table& table, const std::string& prefix, const char* key, const char* expected) {
        if (!table.contains(key)) {
            add_fault(table.source(), {"", prefix + "." + key, "is missing", expected, ""});
        }
    }

    void read_step(const toml::table& table, const std::string& prefix, std::size_t connections) {
        script_step step;
        m_out.given_at[prefix] = place(table.source());
        const std::vector<std::string> names{"at_ns", "host", "action", "connection"};
        for (const auto& [toml_key, node] : table) {
            const std::string own_name{toml_key.str()};
            const std::string key = fmt::format("{}.{}", prefix, own_name);
            m_out.given_at[key] = place(node.source());
            if (own_name == "at_ns") {
                step.at_ns =
                    integer_of(node, key, largest_toml_integer, "an integer, 0 or more (ns)").value_or(0);
            } else if (own_name == "host") {
                step.host = name_of(node, key, host_names()).value_or("a");
            } else if (own_name == "action") {
                step.action = name_of(node, key, script_action_names()).value_or("");
            } else if (own_name == "connection") {
                const std::string expected =
                    connections == 0
                        ? "the number of a [[connection]], of which there is none"
                        : fmt::format("the number of a [[connection]], 0 to {}", connections - 1);
                step.connection = static_cast<std::uint32_t>(
                    integer_of(node, key, connections == 0 ? 0 : connections - 1, expected).value_or(0));
            } else {
                add_fault(toml_key.source(), {"", prefix + "." + printable(own_name), "is not a known key",
                                              "one of " + join(names), nearest_name(own_name, names)});
            }
        }
        require(table, prefix, "at_ns", "the time of the step in ns");
        require(table, prefix, "host", "the host that acts");
        require(table, prefix, "action", "what the host does");
        m_out.config.steps.push_back(std::move(step));
    }

    void read_connection(const toml::table& table, const std::string& prefix) {
        script_connection connection;
        m_out.given_at[prefix] = place(table.source());
        int hosts_known = 0;
        for (const auto& [toml_key, node] : table) {
            const std::string own_name{toml_key.str()};
            const std::string key = prefix + "." + printable(own_name);
            m_out.given_at[key] = place(node.source());
            if (own_name == "active_host" || own_name == "passive_host") {
                if (const auto host = name_of(node, key, host_names())) {
                    (own_name == "active_host" ? connection.active_host : connection.passive_host) =
                        static_cast<std::uint32_t>(host->front() - 'a');
                    ++hosts_known;
                }
            } else if (!is_script_field(own_name)) {
                std::vector<std::string> names = script_field_names();
                names.insert(names.end(), {"active_host", "passive_host"});
                add_fault(toml_key.source(),
                          {"", key, "is not a known key", "a field of a connection (docs/scenarios.md)",
                           nearest_name(own_name, names)});
            } else if (const auto* text = node.as_string()) {
                connection.fields.emplace_back(own_name, **text);
            } else if (node.is_integer()) {
                if (const auto value = integer_of(node, key, largest_toml_integer, "an integer, 0 or more")) {
                    connection.fields.emplace_back(own_name, std::to_string(*value));
                }
            } else {
                add_fault(node.source(), {"", key, "is " + describe(node), "an integer or a string", ""});
            }
        }
        require(table, prefix, "active_host", "the host that sends the REQ");
        require(table, prefix, "passive_host", "the host that answers it");
        if (hosts_known == 2 && connection.active_host == connection.passive_host) {
            add_fault(table.source(),
                      {"", prefix, "has the same active_host and passive_host", "two hosts", ""});
        }
        m_out.config.script_connections.push_back(std::move(connection));
    }

    std::string m_path;
    scenario_file& m_out;
    toml::table m_root;
    parameter_list m_list;
    std::map<std::string, const parameter*> m_parameters;
    std::vector<std::string> m_keys;
    std::set<std::string> m_tables;
    std::vector<fault> m_faults;
};

// A file in the same directory whose name is close, as it would be written.
std::string nearest_file(const std::string& path) {
    const fs::path given{path};
    const fs::path directory = given.has_parent_path() ? given.parent_path() : fs::path{"."};
    std::vector<std::string> names;
    std::error_code error;
    for (fs::directory_iterator it{directory, error}; !error && it != fs::directory_iterator{};
         it.increment(error)) {
        if (it->path().extension() == ".toml") {
            names.push_back(it->path().filename().string());
        }
    }
    std::sort(names.begin(), names.end());
    const std::string name = given.filename().string();
    const std::string near = nearest_name(given.has_extension() ? name : name + ".toml", names);
    return near.empty() ? near : (given.has_parent_path() ? (directory / near).string() : near);
}

std::string read_file(const std::string& path) {
    const auto refuse = [&](const std::string& what, const std::string& nearest = "") {
        return input_error(
            to_line({printable(path, 500) + ":" + file_start, "file", what, "a scenario file", nearest}));
    };
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (!fs::exists(status)) {
        throw refuse(
            error && error != std::errc::no_such_file_or_directory ? error.message() : "does not exist",
            nearest_file(path));
    }
    if (fs::is_directory(status)) {
        throw refuse("is a directory");
    }
    std::ifstream in{path, std::ios::binary};
    if (!in) {
        throw refuse("cannot be read: " + std::generic_category().message(errno));
    }
    // A little more than allowed, so that an endless file ends here too.
    std::string text;
    std::array<char, 16384> part;
    while (in && text.size() <= largest_file_bytes) {
        in.read(part.data(), part.size());
        text.append(part.data(), static_cast<std::size_t>(in.gcount()));
    }
    if (in.bad()) {
        throw refuse("cannot be read");
    }
    if (text.size() > largest_file_bytes) {
        throw refuse("is larger than 16 MiB");
    }
    return text;
}

// Where the message names the key, and not only a longer word that holds it.
std::size_t find_key(const std::string& message, const std::string& key) {
    const auto is_key_character = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
    };
    for (std::size_t at = message.find(key); at != std::string::npos; at = message.find(key, at + 1)) {
        const std::size_t end = at + key.size();
        const bool begins = at == 0 || (!is_key_character(message[at - 1]) && message[at - 1] != '.');
        const bool ends = end == message.size() || !is_key_character(message[end]);
        if (begins && ends) {
            return at;
        }
    }
    return std::string::npos;
}

}  // namespace

std::string allowed_values(const parameter& p) {
    const std::string unit = p.unit.empty() || p.unit == "1" ? "" : fmt::format(" ({})", p.unit);
    switch (p.kind) {
        case parameter::kind_t::integer:
            return fmt::format("{} from {} to {}{}", p.power_of_two ? "a power of two" : "an integer",
                               p.minimum, std::min(p.maximum, largest_toml_integer), unit);
        case parameter::kind_t::real:
            return fmt::format("a number from {} to {}{}", p.real_minimum, p.real_maximum, unit);
        case parameter::kind_t::boolean:
            return "true or false";
        case parameter::kind_t::text:
            return "a string";
        case parameter::kind_t::choice:
            return "one of " + join(p.choices);
        case parameter::kind_t::choice_list:
            return fmt::format("a list of one or more of {}, like [\"{}\"]", join(p.choices),
                               p.choices.empty() ? "" : p.choices.front());
    }
    return {};
}

std::string value_text(const parameter& p) {
    switch (p.kind) {
        case parameter::kind_t::integer:
            return std::to_string(p.get_integer());
        case parameter::kind_t::real:
            return fmt::format("{}", p.get_real());
        case parameter::kind_t::boolean:
            return p.get_boolean() ? "true" : "false";
        case parameter::kind_t::text:
        case parameter::kind_t::choice:
            return fmt::format("\"{}\"", p.get_text());
        case parameter::kind_t::choice_list: {
            const auto list = p.get_list();
            return list.empty() ? "[]" : fmt::format("[\"{}\"]", join(list, "\", \""));
        }
    }
    return {};
}

input_error scenario_file::located(const scenario_error& error) const {
    const std::string message = error.what();
    std::string where;
    std::size_t first = std::string::npos;
    for (const auto& [key, place] : given_at) {
        const std::size_t at = find_key(message, key);
        // Of two keys at the same place the longer is meant: a key can be the beginning of another.
        if (at != std::string::npos && at <= first) {
            first = at;
            where = place;
        }
    }
    return input_error((where.empty() ? path + ":" + file_start : where) + ": " + message);
}

struct scenario_editor::parts {
    explicit parts(const scenario_file& given) : base(given.config), file(given), reader(given.path, file) {}
    scenario_config base;
    scenario_file file;
    scenario_reader reader;
};

scenario_editor::scenario_editor(const scenario_file& base) : m_parts(std::make_unique<parts>(base)) {}

scenario_editor::~scenario_editor() = default;

void scenario_editor::set(const std::string& key, const std::string& value, const std::string& where) {
    m_parts->reader.override_with(key + "=" + value, where);
}

void scenario_editor::restore() { m_parts->file.config = m_parts->base; }

const scenario_config& scenario_editor::config() const { return m_parts->file.config; }

const std::vector<parameter>& scenario_editor::parameters() const { return m_parts->reader.parameters(); }

const parameter* scenario_editor::find(const std::string& key) const { return m_parts->reader.find(key); }

input_error scenario_editor::unknown_key(const std::string& key, const std::string& where) const {
    return input_error(to_line(m_parts->reader.unknown(where, key)));
}

scenario_file parse_scenario(const std::string& text, const std::string& path,
                             const std::vector<std::string>& overrides) {
    scenario_file file;
    file.path = path;
    scenario_reader reader{path, file};
    reader.read(text);
    for (const std::string& assignment : overrides) {
        reader.override_with(assignment);
    }
    reader.finish();
    try {
        validate(file.config);
        if (file.config.workload == workload_kind::script) {
            static_cast<void>(make_script_plan(file.config));
        }
    } catch (const scenario_error& error) {
        throw file.located(error);
    }
    return file;
}

scenario_file read_scenario(const std::string& path, const std::vector<std::string>& overrides) {
    return parse_scenario(read_file(path), path, overrides);
}

scenario_config load_scenario(const std::string& path, const std::vector<std::string>& overrides) {
    return read_scenario(path, overrides).config;
}

}  // namespace hcasim
