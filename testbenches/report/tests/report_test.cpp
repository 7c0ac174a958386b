// What the page is given: the columns out of the database, and what is refused.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "testbenches/report/report_data.h"
#include "testbenches/report/report_error.h"
#include "testbenches/report/report_page.h"
#include "testbenches/report/sweep_assignments.h"
#include "testbenches/report/tests/scratch_directory.h"
#include "testbenches/report/tests/small_study.h"
#include "testbenches/unit/catch.h"

namespace {

using hcasim::report::has_chart_library;
using hcasim::report::make_small_study;
using hcasim::report::report_data;
using hcasim::report::report_error;
using hcasim::report::report_page;
using hcasim::report::run_sql;
using hcasim::report::schema_sql;
using hcasim::report::scratch_directory;
using hcasim::report::sweep_assignments;
using nlohmann::json;

// The value of a column in a row, whichever form it has.
json at(const json& column, std::size_t row) {
    if (column.is_array()) {
        return column[row];
    }
    return column.contains("same") ? column["same"]
                                   : column["names"][column["index"][row].get<std::size_t>()];
}

json data_of_small_study() {
    const scratch_directory here;
    make_small_study(here / "results.db");
    return report_data(here / "results.db");
}

void check_refused(const std::string& database, const std::string& part) {
    try {
        report_data(database);
        FAIL("not refused");
    } catch (const report_error& error) {
        INFO(error.what());
        CHECK(std::string(error.what()).find(part) != std::string::npos);
    }
}

}  // namespace

TEST_CASE("points become columns") {
    const json data = data_of_small_study();
    CHECK(data["rows"] == 30);
    CHECK(data["sweep"]["name"] == "small");
    CHECK(data["axes"][0]["kind"] == "real");
    CHECK(at(data["settings"]["cm.rtu_loss"], 7) == 0.25);
    CHECK(at(data["settings"]["design"], 0) == "hardware, packet");
    CHECK(at(data["settings"]["design"], 29) == "software");
    CHECK(at(data["points"]["seed"], 4) == 2);
    CHECK(at(data["points"]["waited"], 9) == 41);
    CHECK(at(data["counters"]["cm.rtu_sent"], 12) == 12);
    CHECK(at(data["events"]["packet_lost"], 2) == 3);
    CHECK(at(data["distributions"]["answer"]["p99"], 10) == 1002000);
    CHECK(at(data["distributions"]["answer"]["mean"], 0) == 1603.5);
}

TEST_CASE("what is not there is null") {
    const json data = data_of_small_study();
    CHECK(at(data["points"]["status"], 29) == "failed");
    CHECK(at(data["points"]["cycles"], 29).is_null());
    CHECK(at(data["distributions"]["answer"]["p50"], 29).is_null());
    CHECK(at(data["counters"]["link.tx_lost"], 29).is_null());
    // No sample: the count is 0, and there is no percentile.
    CHECK(at(data["distributions"]["wait"]["count"], 0) == 0);
    CHECK(at(data["distributions"]["wait"]["p50"], 0).is_null());
    CHECK(data["curves"]["wait"][0].is_null());
}

TEST_CASE("a column of one value takes the room of one value") {
    const json data = data_of_small_study();
    CHECK(data["points"]["version"] == json{{"same", "9.8.7"}});
    CHECK(data["settings"]["design"]["names"].size() == 2);
}

TEST_CASE("stages come in the order of the path") {
    CHECK(data_of_small_study()["stages"] == json{"stage.post", "stage.doorbell", "stage.ack"});
}

TEST_CASE("curves keep their last step") {
    const json data = data_of_small_study();
    CHECK(data["curves"]["answer"][0] == json{1493, 1, 1503, 50, 1703, 100});
}

TEST_CASE("a curve of many steps is thinned when there are many points") {
    const scratch_directory here;
    make_small_study(here / "results.db");
    json curve = json::array();
    for (int i = 1; i <= 60; ++i) {
        curve.push_back({i, i});
    }
    run_sql(here / "results.db",
            "WITH RECURSIVE n(i) AS (SELECT 1000 UNION ALL SELECT i + 1 FROM n WHERE i < 80999) "
            "INSERT INTO distribution SELECT i, 'answer', 60, 1, 1.0, 1, 1, 1, 1, 60, '" +
                curve.dump() + "' FROM n; UPDATE distribution SET curve = '" + curve.dump() +
                "' WHERE point = 0 AND name = 'answer';");
    const json thin = report_data(here / "results.db")["curves"]["answer"][0];
    CHECK(thin.size() <= 2 * 20);
    CHECK(thin.size() >= 2 * 9);
    CHECK(thin.back() == 60);
}

TEST_CASE("what a sweep file sets becomes assignments") {
    const json all = data_of_small_study()["assignments"];
    CHECK(all["set"][""] == json{"timers.shift=6"});
    CHECK(all["preset"]["design"]["software"] == json{"gate.policy=software"});
    CHECK(all["preset"]["design"]["hardware, packet"] ==
          json{"gate.open_on=[\"rtu\", \"packet\"]", "gate.policy=hardware"});
    const json grids = sweep_assignments(
        "[[grid]]\nname = \"a\"\nset = { x.y = 1.5, x.z = true }\n[[grid.axis]]\nname = \"d\"\n"
        "[[grid.axis.preset]]\nname = \"p\"\nset = { q = [1, 2] }\n");
    CHECK(grids["set"]["a"] == json{"x.y=1.5", "x.z=true"});
    CHECK(grids["preset"]["d"]["p"] == json{"q=[1, 2]"});
    CHECK(sweep_assignments("this is = = not TOML")["set"].empty());
}

TEST_CASE("no text of the database ends the script it stands in") {
    const std::string page = report_page(data_of_small_study());
    const auto begin = page.find("id=\"data\">");
    const auto end = page.find("</script>", begin);
    REQUIRE(begin != std::string::npos);
    REQUIRE(end != std::string::npos);
    const json again = json::parse(page.substr(begin + 10, end - begin - 10));
    CHECK(again["sweep"]["scenario_text"] == "# </script><!-- <b>");
    CHECK(page.find("<!-- ", 0) == std::string::npos);  // every marker was replaced
}

TEST_CASE("the page asks for nothing from elsewhere") {
    const std::string page = report_page(data_of_small_study());
    for (const char* part : {"src=\"", "<link rel=\"stylesheet", "@import", "url(http", "sourceMappingURL"}) {
        INFO(part);
        CHECK(page.find(part) == std::string::npos);
    }
}

TEST_CASE("what is no result database is refused") {
    const scratch_directory here;
    check_refused(here / "nothing.db", "unable to open");
    std::ofstream(here / "text.db") << "this is a text and no database, whatever its name says\n";
    check_refused(here / "text.db", "not a database");
    run_sql(here / "other.db", "CREATE TABLE t (a)");
    check_refused(here / "other.db", "not the database of a sweep");
    run_sql(here / "schema.db", schema_sql() + "INSERT INTO sweep VALUES ('schema', 'hcasim.sweep/9')");
    check_refused(here / "schema.db", "hcasim.sweep/9");
    run_sql(here / "empty.db", schema_sql() + "INSERT INTO sweep VALUES ('schema', 'hcasim.sweep/1')");
    check_refused(here / "empty.db", "no finished point");
}
