#include "testbenches/report/report_data.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/stats/stage.h"
#include "testbenches/report/report_error.h"
#include "testbenches/report/sweep_assignments.h"
#include "testbenches/sweep/sqlite_db.h"

namespace hcasim::report {

namespace {

using nlohmann::json;

// Numbers of curve steps in all that the page is to carry: some 25 MB.
constexpr std::size_t curve_budget = 1500000;
constexpr std::size_t fewest_steps = 9;

using row_map = std::unordered_map<std::int64_t, std::size_t>;

json value_of(const sqlite_statement& s, int column) {
    if (s.is_null(column)) {
        return nullptr;
    }
    if (s.is_integer(column)) {
        return s.integer(column);
    }
    if (s.is_real(column)) {
        return s.real(column);
    }
    return s.text(column);
}

// A column with as many rows as there are points, in its shortest form.
json packed(json column) {
    if (!column.empty() &&
        std::all_of(column.begin(), column.end(), [&](const json& v) { return v == column.front(); })) {
        return {{"same", column.front()}};
    }
    if (std::none_of(column.begin(), column.end(), [](const json& v) { return v.is_string(); })) {
        return column;
    }
    json names = json::array(), index = json::array();
    std::map<json, std::size_t> places;
    for (json& value : column) {
        const auto [place, is_new] = places.emplace(value, names.size());
        if (is_new) {
            names.push_back(std::move(value));
        }
        index.push_back(place->second);
    }
    return {{"names", std::move(names)}, {"index", std::move(index)}};
}

// The column with this name; a new one has no value in any row.
json& column_of(std::map<std::string, json>& columns, const std::string& name, std::size_t rows) {
    const auto found = columns.find(name);
    return found != columns.end() ? found->second
                                  : columns.emplace(name, std::vector<json>(rows)).first->second;
}

json sweep_table(sqlite_db& db) {
    json table = json::object();
    auto s = db.prepare("SELECT key, value FROM sweep");
    while (s.step()) {
        table[s.text(0)] = s.text(1);
    }
    return table;
}

json axes(sqlite_db& db) {
    json list = json::array();
    auto s = db.prepare("SELECT grid, key, kind, unit, meaning FROM axis ORDER BY position");
    while (s.step()) {
        list.push_back({{"grid", s.text(0)},
                        {"key", s.text(1)},
                        {"kind", s.text(2)},
                        {"unit", s.text(3)},
                        {"meaning", s.text(4)}});
    }
    return list;
}

constexpr std::array<const char*, 22> point_columns{"point",
                                                    "grid",
                                                    "seed",
                                                    "status",
                                                    "message",
                                                    "cycles",
                                                    "clock_mhz",
                                                    "posted",
                                                    "completed",
                                                    "failed",
                                                    "flushed",
                                                    "outstanding",
                                                    "duplicated",
                                                    "waited",
                                                    "rejected_posts",
                                                    "version",
                                                    "opened_by_rtu",
                                                    "config_hash",
                                                    "opened_by_packet",
                                                    "opened_by_comm_est",
                                                    "host_seconds",
                                                    "invariants_violated"};

// Adds the members of a JSON object of numbers to columns with their names.
void add_members(const std::string& text, std::size_t row, std::map<std::string, json>& columns,
                 std::size_t rows) {
    const json object = json::parse(text, nullptr, false);
    if (!object.is_object()) {
        return;
    }
    for (const auto& [name, value] : object.items()) {
        if (value.is_number()) {
            column_of(columns, name, rows)[row] = value;
        }
    }
}

json packed_members(std::map<std::string, json> columns) {
    json result = json::object();
    for (auto& [name, column] : columns) {
        result[name] = packed(std::move(column));
    }
    return result;
}

void read_points(sqlite_db& db, std::size_t rows, json& data, row_map& row_of) {
    std::string sql = "SELECT events, counters";
    for (const char* name : point_columns) {
        sql += std::string(", ") + name;
    }
    auto s = db.prepare(sql + " FROM point ORDER BY point");
    std::vector<json> columns(point_columns.size(), json::array());
    std::map<std::string, json> events, counters;
    for (std::size_t row = 0; row < rows && s.step(); ++row) {
        row_of[s.integer(2)] = row;
        add_members(s.text(0), row, events, rows);
        add_members(s.text(1), row, counters, rows);
        for (std::size_t i = 0; i < columns.size(); ++i) {
            columns[i].push_back(value_of(s, static_cast<int>(i) + 2));
        }
    }
    for (std::size_t i = 0; i < columns.size(); ++i) {
        data["points"][point_columns[i]] = packed(std::move(columns[i]));
    }
    data["events"] = packed_members(std::move(events));
    data["counters"] = packed_members(std::move(counters));
}

json settings(sqlite_db& db, std::size_t rows, const row_map& row_of) {
    std::map<std::string, json> columns;
    auto s = db.prepare("SELECT point, key, value FROM setting");
    while (s.step()) {
        const auto row = row_of.find(s.integer(0));
        if (row != row_of.end()) {
            column_of(columns, s.text(1), rows)[row->second] = value_of(s, 2);
        }
    }
    return packed_members(std::move(columns));
}

// [[cycles, samples], ...] as [cycles, samples, ...] with at most `steps` steps; the last one always stays.
json thinned(const json& curve, std::size_t steps) {
    json flat = json::array();
    const std::size_t stride = std::max<std::size_t>(1, (curve.size() + steps - 1) / steps);
    for (std::size_t i = (curve.size() + stride - 1) % stride; i < curve.size(); i += stride) {
        flat.push_back(curve[i].at(0));
        flat.push_back(curve[i].at(1));
    }
    return flat;
}

json curves(sqlite_db& db, std::size_t rows, const row_map& row_of) {
    auto size = db.prepare("SELECT COUNT(*) FROM distribution WHERE curve IS NOT NULL AND count > 0");
    size.step();
    const auto number = static_cast<std::size_t>(std::max<std::int64_t>(1, size.integer(0)));
    const std::size_t steps = std::max(fewest_steps, curve_budget / number);
    std::map<std::string, json> columns;
    auto s = db.prepare("SELECT point, name, curve FROM distribution WHERE curve IS NOT NULL AND count > 0");
    while (s.step()) {
        const auto row = row_of.find(s.integer(0));
        const json curve = json::parse(s.text(2), nullptr, false);
        if (row == row_of.end() || !curve.is_array() || curve.empty() ||
            !std::all_of(curve.begin(), curve.end(),
                         [](const json& step) { return step.is_array() && step.size() == 2; })) {
            continue;
        }
        column_of(columns, s.text(1), rows)[row->second] = thinned(curve, steps);
    }
    return columns;
}

json distributions(sqlite_db& db, std::size_t rows, const row_map& row_of) {
    const std::vector<std::string> all{"count", "min", "mean", "p50", "p90", "p99", "p99_9", "max"};
    const std::vector<std::string> of_stages{"count", "mean", "p50", "p99"};
    std::map<std::string, std::map<std::string, json>> columns;
    auto s = db.prepare("SELECT point, name, count, min, mean, p50, p90, p99, p99_9, max FROM distribution");
    while (s.step()) {
        const auto found = row_of.find(s.integer(0));
        if (found == row_of.end()) {
            continue;
        }
        const std::string name = s.text(1);
        auto& figures = columns[name];
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (name.rfind("stage.", 0) == 0 &&
                std::find(of_stages.begin(), of_stages.end(), all[i]) == of_stages.end()) {
                continue;
            }
            json& column = column_of(figures, all[i], rows);
            // A distribution without samples has no percentiles.
            if (i == 0 || s.integer(2) > 0) {
                column[found->second] = value_of(s, static_cast<int>(i) + 2);
            }
        }
    }
    json result = json::object();
    for (auto& [name, figures] : columns) {
        result[name] = packed_members(std::move(figures));
    }
    return result;
}

// The database has the stages by name; here they come in the order of the path.
json stage_order(const json& names) {
    json order = json::array();
    for (unsigned i = 0; i < stage_count; ++i) {
        const std::string stage_name = "stage." + std::string(name(static_cast<stage>(i)));
        if (names.contains(stage_name)) {
            order.push_back(stage_name);
        }
    }
    for (const auto& [other, column] : names.items()) {
        if (other.rfind("stage.", 0) == 0 && std::find(order.begin(), order.end(), other) == order.end()) {
            order.push_back(other);
        }
    }
    return order;
}

json read_data(const std::string& database) {
    sqlite_db db(database, sqlite_db::mode::read);
    auto tables = db.prepare(
        "SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND "
        "name IN ('sweep', 'axis', 'point', 'setting', 'distribution')");
    if (!tables.step() || tables.integer(0) != 5) {
        throw report_error("is not the database of a sweep");
    }
    json data{{"sweep", sweep_table(db)}, {"axes", axes(db)}};
    const std::string schema = data["sweep"].value("schema", "");
    if (schema != "hcasim.sweep/1") {
        throw report_error("is of schema '" + schema + "', and this program reads hcasim.sweep/1");
    }
    auto size = db.prepare("SELECT COUNT(*) FROM point");
    size.step();
    const auto rows = static_cast<std::size_t>(size.integer(0));
    if (rows == 0) {
        throw report_error("has no finished point yet");
    }
    row_map row_of;
    read_points(db, rows, data, row_of);
    // Points may have been added meanwhile; what is not in row_of is left out.
    data["rows"] = rows;
    data["settings"] = settings(db, rows, row_of);
    data["distributions"] = distributions(db, rows, row_of);
    data["curves"] = curves(db, rows, row_of);
    data["stages"] = stage_order(data["distributions"]);
    data["assignments"] = sweep_assignments(data["sweep"].value("sweep_text", ""));
    return data;
}

}  // namespace

json report_data(const std::string& database) {
    try {
        return read_data(database);
    } catch (const sqlite_error& error) {
        // Whoever asks names the file.
        const std::string words = error.what();
        throw report_error(words.rfind(database + ": ", 0) == 0 ? words.substr(database.size() + 2) : words);
    }
}

}  // namespace hcasim::report
