#include "testbenches/sweep/result_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>
#include <stdexcept>

#include "build_info.h"
#include "testbenches/program/input_error.h"
#include "testbenches/sweep/sweep_file.h"

namespace hcasim {

namespace {

constexpr const char* tables = R"(
CREATE TABLE sweep (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE axis (position INTEGER PRIMARY KEY, grid TEXT NOT NULL, key TEXT NOT NULL, kind TEXT NOT NULL,
                   unit TEXT NOT NULL, meaning TEXT NOT NULL);
CREATE TABLE point (
  point INTEGER PRIMARY KEY, grid TEXT NOT NULL, seed INTEGER NOT NULL, config_hash TEXT NOT NULL,
  status TEXT NOT NULL, message TEXT NOT NULL, cycles INTEGER, clock_mhz INTEGER,
  posted INTEGER, completed INTEGER, failed INTEGER, flushed INTEGER, outstanding INTEGER, duplicated INTEGER,
  waited INTEGER, rejected_posts INTEGER,
  opened_by_rtu INTEGER, opened_by_packet INTEGER, opened_by_comm_est INTEGER,
  invariants_checked INTEGER, invariants_violated INTEGER, events TEXT, counters TEXT,
  version TEXT NOT NULL, host_seconds REAL NOT NULL);
CREATE TABLE setting (point INTEGER, key TEXT, value, PRIMARY KEY (point, key)) WITHOUT ROWID;
CREATE TABLE distribution (point INTEGER, name TEXT, count INTEGER, min INTEGER, mean REAL, p50 INTEGER, p90 INTEGER,
                           p99 INTEGER, p99_9 INTEGER, max INTEGER, curve TEXT, PRIMARY KEY (point, name)) WITHOUT ROWID;
)";

constexpr const char* status_names[] = {"done", "failed", "violated"};

std::string quoted(const std::string& text, char quote) {
    std::string result(1, quote);
    for (const char c : text) {
        result += c;
        if (c == quote) {
            result += c;
        }
    }
    return result + quote;
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
            break;
    }
    return "choice_list";
}

struct axis_row {
    std::string grid, key, kind, unit, meaning;
};

std::vector<axis_row> axes_of(const sweep_plan& plan) {
    const scenario_editor editor(plan.base);
    std::vector<axis_row> rows;
    for (const sweep_grid& grid : plan.grids) {
        for (const sweep_axis& axis : grid.axes) {
            if (!axis.name.empty()) {
                rows.push_back({grid.name, axis.name, "preset", "1", "named sets of values"});
            }
            for (const std::string& key : axis.keys) {
                const parameter& p = *editor.find(key);
                rows.push_back({grid.name, key, kind_name(p.kind), p.unit, p.meaning});
            }
        }
    }
    return rows;
}

// One column per axis, and the percentiles that one asks for most.
std::string view_of(const std::vector<axis_row>& axes) {
    std::string columns;
    std::set<std::string> there;
    for (const axis_row& axis : axes) {
        if (there.insert(axis.key).second) {
            columns +=
                fmt::format(",\n  (SELECT value FROM setting s WHERE s.point = p.point AND s.key = {}) AS {}",
                            quoted(axis.key, '\''), quoted(axis.key, '"'));
        }
    }
    std::string joins;
    for (const char* name : {"latency", "wait", "answer"}) {
        for (const char* value : {"count", "mean", "p50", "p90", "p99", "p99_9", "max"}) {
            columns += fmt::format(", {0}.{1} AS {0}_{1}", name, value);
        }
        joins += fmt::format(" LEFT JOIN distribution {0} ON {0}.point = p.point AND {0}.name = '{0}'", name);
    }
    return fmt::format(
        "CREATE VIEW result AS SELECT p.point, p.grid, p.seed, p.status, p.cycles, p.clock_mhz, p.posted, "
        "p.completed, "
        "p.waited, p.rejected_posts, p.opened_by_rtu, p.opened_by_packet, p.opened_by_comm_est{} FROM point "
        "p{};",
        columns, joins);
}

std::string curve_text(const distribution_row& d) {
    std::string text = "[";
    for (const auto& [value, below] : d.curve) {
        text += text.size() == 1 ? "[" : ",[";
        text += std::to_string(value);
        text += ',';
        text += std::to_string(below);
        text += ']';
    }
    return text + "]";
}

void bind_value(sqlite_statement& s, int parameter, const setting_value& value, std::string& keep) {
    if (const auto* integer = std::get_if<std::uint64_t>(&value.value())) {
        s.bind(parameter, *integer);
    } else if (const auto* real = std::get_if<double>(&value.value())) {
        s.bind(parameter, *real);
    } else {
        keep = value.plain();
        s.bind(parameter, keep);
    }
}

}  // namespace

result_store::result_store(const std::string& path, const sweep_plan& plan, const std::string& options)
    : m_plan(plan), m_db(path, sqlite_db::mode::create) {
    // A rollback journal works on shared file systems too, and brings a killed writer's file back.
    m_db.execute("PRAGMA journal_mode = DELETE; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -16000;");
    if (m_db.value("SELECT count(*) FROM sqlite_master") == "0") {
        create(options);
    }
    verify();
    m_finished.assign(plan.points(), false);
    sqlite_statement points = m_db.prepare("SELECT point FROM point");
    while (points.step()) {
        const auto number = static_cast<std::uint64_t>(points.integer(0));
        if (number < m_finished.size()) {
            m_finished[number] = true;
        }
    }
    m_add_point = std::make_unique<sqlite_statement>(
        m_db.prepare("INSERT INTO point VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"));
    m_add_setting = std::make_unique<sqlite_statement>(m_db.prepare("INSERT INTO setting VALUES (?,?,?)"));
    m_add_distribution = std::make_unique<sqlite_statement>(
        m_db.prepare("INSERT INTO distribution VALUES (?,?,?,?,?,?,?,?,?,?,?)"));
}

result_store::~result_store() = default;

void result_store::create(const std::string& options) {
    m_db.execute("BEGIN IMMEDIATE");
    m_db.execute(tables);
    const std::vector<std::pair<std::string, std::string>> about{
        {"schema", sweep_schema},
        {"name", m_plan.name},
        {"sweep_file", m_plan.path},
        {"sweep_text", m_plan.text},
        {"scenario_file", m_plan.scenario_path},
        {"scenario_text", m_plan.scenario_text},
        {"base_hash", m_plan.base_hash()},
        {"identity", m_plan.identity()},
        {"options", options},
        {"version", build_info::version},
        {"points", std::to_string(m_plan.points())},
    };
    sqlite_statement add = m_db.prepare("INSERT INTO sweep VALUES (?,?)");
    for (const auto& [key, value] : about) {
        add.bind(1, key);
        add.bind(2, value);
        add.run();
    }
    const auto axes = axes_of(m_plan);
    sqlite_statement add_axis = m_db.prepare("INSERT INTO axis VALUES (?,?,?,?,?,?)");
    for (std::size_t i = 0; i < axes.size(); ++i) {
        add_axis.bind(1, static_cast<std::int64_t>(i));
        add_axis.bind(2, axes[i].grid);
        add_axis.bind(3, axes[i].key);
        add_axis.bind(4, axes[i].kind);
        add_axis.bind(5, axes[i].unit);
        add_axis.bind(6, axes[i].meaning);
        add_axis.run();
    }
    m_db.execute(view_of(axes));
    m_db.execute("COMMIT");
}

void result_store::verify() {
    const auto refuse = [this](const std::string& what, const std::string& expected) {
        return input_error(to_line({m_db.path(), "", what, expected, ""}));
    };
    std::string schema;
    try {
        schema = m_db.value("SELECT value FROM sweep WHERE key = 'schema'");
    } catch (const sqlite_error&) {
        throw refuse("is not the database of a sweep", "another --out");
    }
    if (schema != sweep_schema) {
        throw refuse(fmt::format("has schema '{}'", schema), sweep_schema);
    }
    if (m_db.value("SELECT value FROM sweep WHERE key = 'base_hash'") != m_plan.base_hash()) {
        throw refuse("was made with another base scenario (" + m_plan.scenario_path +
                         ", [set] or --set have changed since)",
                     "another --out, or the scenario as it was");
    }
    if (m_db.value("SELECT value FROM sweep WHERE key = 'identity'") != m_plan.identity()) {
        throw refuse("was made with other axes (" + m_plan.path + " has changed since)",
                     "another --out, or the sweep as it was");
    }
}

void result_store::forget_failed() {
    m_db.execute(
        "BEGIN IMMEDIATE; DELETE FROM setting WHERE point IN (SELECT point FROM point WHERE status = "
        "'failed');"
        "DELETE FROM distribution WHERE point IN (SELECT point FROM point WHERE status = 'failed');");
    sqlite_statement failed = m_db.prepare("SELECT point FROM point WHERE status = 'failed'");
    while (failed.step()) {
        m_finished[static_cast<std::size_t>(failed.integer(0))] = false;
    }
    failed.reset();
    m_db.execute("DELETE FROM point WHERE status = 'failed'; COMMIT");
}

void result_store::add(const point_row& row) {
    if (m_finished.at(row.point)) {
        return;
    }
    if (!m_in_transaction) {
        m_db.execute("BEGIN IMMEDIATE");
        m_in_transaction = true;
    }
    const sweep_point p = m_plan.point(row.point);
    const bool ran = row.status != point_status::failed;
    sqlite_statement& s = *m_add_point;
    const std::string status = status_names[static_cast<std::size_t>(row.status)];
    const std::string version = build_info::version;
    s.bind(1, row.point);
    s.bind(2, p.grid->name);
    s.bind(3, p.seed);
    s.bind(4, row.config_hash);
    s.bind(5, status);
    s.bind(6, row.message);
    int column = 7;
    for (const std::uint64_t number :
         {row.cycles, row.clock_mhz, row.posted, row.completed, row.failed, row.flushed, row.outstanding,
          row.duplicated, row.waited, row.rejected_posts, row.opened_by_rtu, row.opened_by_packet,
          row.opened_by_comm_est, row.invariants_checked, row.invariants_violated}) {
        if (ran) {
            s.bind(column, number);
        } else {
            s.bind_null(column);
        }
        ++column;
    }
    for (const std::string* text : {&row.events, &row.counters}) {
        if (ran) {
            s.bind(column, *text);
        } else {
            s.bind_null(column);
        }
        ++column;
    }
    s.bind(column, version);
    s.bind(column + 1, row.host_seconds);
    s.run();

    std::string keep;
    const auto add_setting = [&](const std::string& key) {
        m_add_setting->bind(1, row.point);
        m_add_setting->bind(2, key);
        m_add_setting->run();
    };
    for (std::size_t a = 0; a < p.entries.size(); ++a) {
        const sweep_axis& axis = p.grid->axes[a];
        const sweep_axis::entry& e = axis.entries[p.entries[a]];
        if (!axis.name.empty()) {
            m_add_setting->bind(3, e.preset);
            add_setting(axis.name);
        }
        for (std::size_t k = 0; k < axis.keys.size(); ++k) {
            bind_value(*m_add_setting, 3, e.values[k].second, keep);
            add_setting(axis.keys[k]);
        }
    }
    sqlite_statement& d = *m_add_distribution;
    for (const distribution_row& row_d : row.distributions) {
        if (row_d.count == 0) {
            continue;
        }
        std::string curve;
        d.bind(1, row.point);
        d.bind(2, row_d.name);
        d.bind(3, row_d.count);
        int at = 4;
        const auto add_number = [&](auto value) { d.bind(at++, value); };
        add_number(row_d.min);
        add_number(static_cast<double>(row_d.mean_milli) / 1000);
        for (const std::uint64_t value : {row_d.p50, row_d.p90, row_d.p99, row_d.p99_9, row_d.max}) {
            add_number(value);
        }
        if (row_d.curve.empty()) {
            d.bind_null(11);
        } else {
            curve = curve_text(row_d);
            d.bind(11, curve);
        }
        d.run();
    }
    m_finished[row.point] = true;
}

void result_store::commit() {
    if (m_in_transaction) {
        m_db.execute("COMMIT");
        m_in_transaction = false;
    }
}

std::uint64_t result_store::merge(const std::string& path) {
    commit();
    {
        sqlite_db other(path, sqlite_db::mode::read);
        if (other.value("SELECT value FROM sweep WHERE key = 'identity'") != m_plan.identity()) {
            throw input_error(to_line({path, "", "holds points of another sweep", m_plan.name, ""}));
        }
    }
    m_db.execute("ATTACH " + quoted(path, '\'') + " AS shard");
    m_db.execute(
        "BEGIN IMMEDIATE;"
        "CREATE TEMP TABLE fresh AS SELECT point FROM shard.point WHERE point NOT IN (SELECT point FROM "
        "main.point);"
        "INSERT INTO main.point SELECT * FROM shard.point WHERE point IN (SELECT point FROM fresh);"
        "INSERT INTO main.setting SELECT * FROM shard.setting WHERE point IN (SELECT point FROM fresh);"
        "INSERT INTO main.distribution SELECT * FROM shard.distribution WHERE point IN (SELECT point FROM "
        "fresh);");
    std::uint64_t added = 0;
    {
        sqlite_statement fresh = m_db.prepare("SELECT point FROM fresh");
        while (fresh.step()) {
            m_finished.at(static_cast<std::size_t>(fresh.integer(0))) = true;
            ++added;
        }
    }
    m_db.execute("DROP TABLE fresh; COMMIT; DETACH shard");
    return added;
}

std::string results_csv(sqlite_db& db) {
    sqlite_statement s = db.prepare(
        "SELECT r.*, p.config_hash, p.message FROM result r JOIN point p ON p.point = r.point ORDER BY "
        "r.point");
    std::string text;
    const auto cell = [](const std::string& value) {
        return value.find_first_of(",\"\r\n") == std::string::npos ? value : quoted(value, '"');
    };
    for (int c = 0; c < s.columns(); ++c) {
        text += (c == 0 ? "" : ",") + cell(s.column_name(c));
    }
    text += "\n";
    while (s.step()) {
        for (int c = 0; c < s.columns(); ++c) {
            text += (c == 0 ? "" : ",") + cell(s.text(c));
        }
        text += "\n";
    }
    return text;
}

}  // namespace hcasim
