// The report as a reader sees it: makes one out of a small database, opens it in a browser without a network
// and holds what stands in the page against the database.
//
//   report_render PROGRAM PAGE_TEST.js DIRECTORY
//
// Screenshots are left in the directory. Exit code 77 when there is no browser or no chart library.
#include <sys/wait.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "testbenches/report/report_page.h"
#include "testbenches/report/tests/scratch_directory.h"
#include "testbenches/report/tests/small_study.h"

namespace {

namespace fs = std::filesystem;
using hcasim::report::make_small_study;
using hcasim::report::run_sql;
using hcasim::report::scratch_directory;

int failures = 0;

void expect(bool good, const std::string& what) {
    if (!good) {
        std::cerr << "report_render: " << what << "\n";
        failures += 1;
    }
}

std::string read(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

int shell(const std::string& command) {
    const int status = std::system(command.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::string find_browser() {
    for (const char* name : {"chromium", "chromium-browser", "google-chrome"}) {
        if (shell(std::string("command -v ") + name + " >/dev/null 2>&1") == 0) {
            return name;
        }
    }
    return {};
}

class browser {
public:
    browser(std::string name, const scratch_directory& place) : m_name(std::move(name)), m_place(place) {}

    /// Whether it starts at all: in a container without what it needs it does not.
    bool starts() const {
        return shell("timeout 100 " + m_name + std::string(common_options) + " --user-data-dir='" +
                     m_place.path() + "/profile' --dump-dom about:blank >/dev/null 2>'" + m_place.path() +
                     "/messages'") == 0;
    }

    /// The page as it stands when its script is through.
    std::string document(const std::string& file, const std::string& hash) {
        run("--dump-dom", file, hash);
        return read(m_place / "dom");
    }
    void picture(const std::string& file, const std::string& hash, const std::string& to, const char* size) {
        run("'--screenshot=" + to + "' --hide-scrollbars --window-size=" + size, file, hash);
        std::error_code error;
        expect(fs::file_size(to, error) > 30000 && !error, "no picture, or an empty one: " + to);
    }
    void paper(const std::string& file, const std::string& to) {
        run("'--print-to-pdf=" + to + "' --no-pdf-header-footer", file, "theme=dark");
        std::error_code error;
        expect(fs::file_size(to, error) > 20000 && !error, "nothing printed");
    }

private:
    void run(const std::string& what, const std::string& file, const std::string& hash) {
        const std::string options = common_options +
                                    std::string(
                                        " --virtual-time-budget=10000 --enable-logging=stderr"
                                        " --user-data-dir='") +
                                    m_place.path() + "/profile' ";
        const int code = shell("timeout 100 " + m_name + options + what + " 'file://" + file + "#" + hash +
                               "' >'" + m_place.path() + "/dom' 2>'" + m_place.path() + "/messages'");
        expect(code == 0, m_name + " ended with " + std::to_string(code));
        const std::string messages = read(m_place / "messages");
        const auto console = messages.find("CONSOLE");
        if (console != std::string::npos) {
            expect(false, "a message on the console: " + messages.substr(console, 400));
        }
    }

    static constexpr const char* common_options =
        " --headless --no-sandbox --disable-gpu --disable-dev-shm-usage"
        " --host-resolver-rules='MAP * ~NOTFOUND'";

    std::string m_name;
    const scratch_directory& m_place;
};

// The part of the page from the tag with this id to the end of the element.
std::string part(const std::string& page, const std::string& id, const std::string& end) {
    const auto begin = page.find("id=\"" + id + "\"");
    if (begin == std::string::npos) {
        expect(false, "nothing in the page has the id " + id);
        return {};
    }
    return page.substr(begin, page.find(end, begin) - begin);
}

// The numbers that stand in data-value, in their order.
std::vector<std::string> values(const std::string& text) {
    std::vector<std::string> found;
    const std::string mark = "data-value=\"";
    for (auto at = text.find(mark); at != std::string::npos; at = text.find(mark, at + 1)) {
        const auto begin = at + mark.size();
        found.push_back(text.substr(begin, text.find('"', begin) - begin));
    }
    return found;
}

void expect_equal(const std::string& what, std::vector<std::string> got, std::vector<std::string> wanted) {
    // 12.0 in the database is 12 in the page.
    for (auto* list : {&got, &wanted}) {
        for (auto& text : *list) {
            if (text.size() > 2 && text.compare(text.size() - 2, 2, ".0") == 0) {
                text.resize(text.size() - 2);
            }
        }
    }
    std::string line = what + ": the page has";
    for (const auto& text : got) {
        line += " " + text;
    }
    line += ", the database";
    for (const auto& text : wanted) {
        line += " " + text;
    }
    expect(got == wanted, line);
}

// Median of a column over what a condition leaves, by the database itself.
std::string median_sql(const std::string& column, const std::string& from) {
    return "SELECT AVG(v) FROM (SELECT " + column + " AS v FROM " + from +
           " ORDER BY v LIMIT 2 - (SELECT COUNT(*) FROM " + from +
           ") % 2 OFFSET (SELECT (COUNT(*) - 1) / 2 FROM " + from + "))";
}

std::string rows_of(const std::string& distribution, const std::string& loss, const std::string& design) {
    return "distribution AS d JOIN setting AS a ON a.point = d.point AND a.key = 'cm.rtu_loss' "
           "JOIN setting AS b ON b.point = d.point AND b.key = 'design' WHERE d.name = '" +
           distribution + "' AND d.count > 0 AND a.value = " + loss + " AND b.value = '" + design + "'";
}

const std::vector<std::string> designs{"hardware, packet", "software"};

void compare_with_database(const std::string& page, const std::string& database) {
    const auto one = [&](const std::string& sql) { return run_sql(database, sql).at(0); };

    std::vector<std::string> wanted{one("SELECT COUNT(*) FROM point"),
                                    one("SELECT COUNT(*) FROM point WHERE status = 'done'")};
    for (const char* figure : {"p50", "p99"}) {
        wanted.push_back(one(median_sql(figure, "distribution WHERE name = 'answer' AND count > 0")));
    }
    auto cards = values(part(page, "cards", "</ul>"));
    cards.resize(std::min<std::size_t>(cards.size(), 4));
    expect_equal("headline", cards, wanted);

    wanted.clear();
    for (const auto& design : designs) {
        for (const char* figure : {"p50", "p99"}) {
            for (const char* loss : {"0.0", "1.0"}) {
                wanted.push_back(one(median_sql(figure, rows_of("answer", loss, design))));
            }
        }
    }
    expect_equal("what it costs", values(part(page, "cost_ends", "</table>")), wanted);

    wanted.clear();
    for (const auto& design : designs) {
        for (const char* figure : {"p50", "p90", "p99", "p99_9", "mean", "min", "max", "count"}) {
            wanted.push_back(one(median_sql(figure, rows_of("answer", "1.0", design))));
        }
    }
    expect_equal("percentiles", values(part(page, "spread_figures", "</table>")), wanted);

    wanted.clear();
    for (const auto& design : designs) {
        for (const char* stage : {"stage.post", "stage.doorbell", "stage.ack"}) {
            wanted.push_back(one(median_sql("mean", rows_of(stage, "1.0", design))));
        }
    }
    expect_equal("stages", values(part(page, "stages_figures", "</table>")), wanted);

    wanted.clear();
    for (const auto& design : designs) {
        for (const char* column :
             {"opened_by_rtu", "opened_by_packet", "opened_by_comm_est", "waited", "rejected_posts"}) {
            wanted.push_back(one(median_sql(
                column,
                "point AS p JOIN setting AS a ON a.point = p.point AND a.key = 'cm.rtu_loss' JOIN setting AS "
                "b "
                "ON b.point = p.point AND b.key = 'design' WHERE p.status = 'done' AND a.value = 1.0 "
                "AND b.value = '" +
                    design + "'")));
        }
        if (design == "software") {
            for (const char* figure : {"p50", "p99", "max"}) {
                wanted.push_back(one(median_sql(figure, rows_of("wait", "1.0", design))));
            }
        }
    }
    expect_equal("gate", values(part(page, "gate_figures", "</table>")), wanted);

    expect(part(page, "incomplete", "</p>").find("30 of 32 points") != std::string::npos,
           "the page does not say that points are missing");
    expect(part(page, "versions", "</table>").find("feedbeef") != std::string::npos, "no identity");
}

}  // namespace

int main(int count, char** words) {
    if (count != 4) {
        std::cerr << "usage: report_render PROGRAM PAGE_TEST.js DIRECTORY\n";
        return 2;
    }
    const std::string name = find_browser();
    if (name.empty() || !hcasim::report::has_chart_library()) {
        std::cerr << "report_render: skipped: " << (name.empty() ? "no chromium" : "built without libjs-vega")
                  << "\n";
        return 77;
    }
    const scratch_directory place;
    const std::string pictures = words[3];
    fs::create_directories(pictures);
    make_small_study(place / "results.db");
    expect(shell(std::string("'") + words[1] + "' report '" + place.path() + "' >/dev/null") == 0,
           "no report");
    const std::string report = place / "report.html";

    browser chromium(name, place);
    if (!chromium.starts()) {
        std::cerr << "report_render: skipped: " << name << " does not start on this machine\n";
        return 77;
    }
    const std::string page = chromium.document(report, "");
    compare_with_database(page, place / "results.db");

    const std::string tested = place / "tested.html";
    std::ofstream(tested) << read(report) << "<script>\n" << read(words[2]) << "</script>\n";
    const std::string checks = part(chromium.document(tested, ""), "checks", "</pre>");
    expect(checks.find("good") != std::string::npos, "checks in the page: " + checks);

    chromium.picture(report, "theme=light", pictures + "/light.png", "1280,4200");
    chromium.picture(report, "theme=dark", pictures + "/dark.png", "1280,4200");
    chromium.picture(report, "theme=light", pictures + "/narrow.png", "500,5600");
    chromium.paper(report, pictures + "/paper.pdf");
    return failures == 0 ? 0 : 1;
}
