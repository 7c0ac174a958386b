#include "testbenches/report/tests/small_study.h"

#include <sqlite3.h>

#include <array>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "testbenches/unit/source_directory.h"

namespace hcasim::report {

std::vector<std::string> run_sql(const std::string& database, const std::string& sql) {
    sqlite3* db = nullptr;
    std::vector<std::string> found;
    const auto keep = [](void* into, int, char** values, char**) {
        static_cast<std::vector<std::string>*>(into)->push_back(values[0] == nullptr ? "" : values[0]);
        return 0;
    };
    const bool good = sqlite3_open(database.c_str(), &db) == SQLITE_OK &&
                      sqlite3_exec(db, sql.c_str(), keep, &found, nullptr) == SQLITE_OK;
    const std::string why = sqlite3_errmsg(db);
    sqlite3_close(db);
    if (!good) {
        throw std::runtime_error(why);
    }
    return found;
}

std::string schema_sql() {
    std::ifstream in(source_directory() + "/docs/sweeps.md");
    const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    const std::string fence = "```sql\n";
    const auto begin = text.find(fence) + fence.size();
    return text.substr(begin, text.find("```", begin) - begin);
}

namespace {

constexpr const char* sweep_text = R"(schema = "hcasim.sweep/1"
name = "small"
scenario = "small.toml"
[set]
timers.shift = 6
[[axis]]
key = "cm.rtu_loss"
values = [0.0, 0.25, 0.5, 0.75, 1.0]
[[axis]]
name = "design"
[[axis.preset]]
name = "hardware, packet"
set = { gate.policy = "hardware", gate.open_on = ["rtu", "packet"] }
[[axis.preset]]
name = "software"
set = { gate.policy = "software" }
)";

std::string distribution_sql(int point, const std::string& name, int count, long long p50, long long p99,
                             bool with_curve) {
    const std::string begin =
        "INSERT INTO distribution VALUES (" + std::to_string(point) + ", '" + name + "', ";
    if (count == 0) {
        return begin + "0, 0, 0.0, 0, 0, 0, 0, 0, " + (with_curve ? "'[]'" : "NULL") + ");";
    }
    const auto n = [](long long value) { return std::to_string(value); };
    const std::string curve = "'[[" + n(p50 - 10) + ", 1], [" + n(p50) + ", " + n(count / 2) + "], [" +
                              n(p99) + ", " + n(count) + "]]'";
    return begin + n(count) + ", " + n(p50 - 10) + ", " + n((p50 + p99) / 2) + ".5, " + n(p50) + ", " +
           n(p50 + 1) + ", " + n(p99) + ", " + n(p99) + ", " + n(p99) + ", " + (with_curve ? curve : "NULL") +
           ");";
}

std::string point_sql(int point, int seed, double loss, bool software) {
    const std::string number = std::to_string(point);
    std::string sql;
    const bool is_failed = point == 29;
    const bool slow = software && loss > 0;
    const int waited = slow ? 40 + seed : 0;
    if (is_failed) {
        sql =
            "INSERT INTO point (point, grid, seed, config_hash, status, message, version, host_seconds) "
            "VALUES (29, '', 3, '', 'failed', 'it <b>could</b> not be </script> run', '9.8.7', 0.0);";
    } else {
        sql = "INSERT INTO point VALUES (" + number + ", '', " + std::to_string(seed) +
              ", 'abcdef0123456789', 'done', '', 100000, 250, 80, 80, 0, 0, 0, 0, " + std::to_string(waited) +
              ", 0, " + (software ? "8, 0" : "0, 8") +
              ", 0, 9, 0, '{\"packet_lost\": " + std::to_string(seed) +
              "}', '{\"link.tx_lost\": 5, \"cm.rtu_sent\": " + number + "}', '9.8.7', 0.25);";
        const long long p50 = 1500 + 3 * seed + (software ? 100 : 0);
        const long long p99 = slow ? 1000000 + 1000 * seed : p50 + 200;
        sql += distribution_sql(point, "answer", 100, p50, p99, true);
        sql += distribution_sql(point, "latency", 80, p50 - 1000, p99 - 1000, true);
        sql += distribution_sql(point, "wait", waited, 900000, 900000 + point, true);
        sql += distribution_sql(point, "stage.post", 80, 20, slow ? 500000 : 21, false);
        sql += distribution_sql(point, "stage.doorbell", 80, 58, 60, false);
        sql += distribution_sql(point, "stage.ack", 80, 176 + seed, 180 + seed, false);
    }
    sql += "INSERT INTO setting VALUES (" + number + ", 'cm.rtu_loss', " + std::to_string(loss) + "), (" +
           number + ", 'design', '" + (software ? "software" : "hardware, packet") + "');";
    return sql;
}

}  // namespace

void make_small_study(const std::string& database) {
    std::string sql = schema_sql() + "BEGIN;";
    sql +=
        "INSERT INTO sweep VALUES ('schema', 'hcasim.sweep/1'), ('name', 'small'), ('points', '32'), "
        "('scenario_file', 'my scenarios/small.toml'), ('scenario_text', '# </script><!-- <b>'), "
        "('sweep_file', 'small_sweep.toml'), ('identity', 'feedbeef'), ('options', ''), "
        "('version', '9.8.7'), ('sweep_text', '" +
        std::string(sweep_text) + "');";
    sql +=
        "INSERT INTO axis VALUES (0, '', 'cm.rtu_loss', 'real', '', 'probability that an RTU is lost'), "
        "(1, '', 'design', 'preset', '', '');";
    int point = 0;
    for (const double loss : std::array{0.0, 0.25, 0.5, 0.75, 1.0}) {
        for (const bool software : {false, true}) {
            for (int seed = 1; seed <= 3; ++seed) {
                sql += point_sql(point++, seed, loss, software);
            }
        }
    }
    run_sql(database, sql + "COMMIT;");
}

}  // namespace hcasim::report
