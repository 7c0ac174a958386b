#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>

#include "testbenches/program/commands.h"
#include "testbenches/program/input_error.h"
#include "testbenches/program/nearest_name.h"
#include "testbenches/program/output_file.h"
#include "testbenches/sweep/sqlite_db.h"
#include "testbenches/sweep/sweep_command.h"
#include "testbenches/sweep/sweep_file.h"

namespace hcasim {

namespace {

namespace fs = std::filesystem;

constexpr const char* counts[] = {"cycles",
                                  "posted",
                                  "completed",
                                  "failed",
                                  "flushed",
                                  "outstanding",
                                  "duplicated",
                                  "waited",
                                  "rejected_posts",
                                  "opened_by_rtu",
                                  "opened_by_packet",
                                  "opened_by_comm_est",
                                  "invariants_violated"};
constexpr const char* values_of_distribution[] = {"count", "min", "mean",  "p50",
                                                  "p90",   "p99", "p99_9", "max"};

struct difference {
    std::string where, metric;
    double a = 0, b = 0;
    double relative() const { return a == 0 ? (b == 0 ? 0 : HUGE_VAL) : (b - a) / std::fabs(a); }
};

std::string path_of(const std::string& given) {
    const fs::path path = fs::is_directory(given) ? fs::path(given) / "results.db" : fs::path(given);
    if (!fs::is_regular_file(path)) {
        throw input_error(to_line({"hcasim compare", printable(given), "is no sweep's results",
                                   "a results.db or the directory of one", ""}));
    }
    return path.string();
}

class swept {
public:
    explicit swept(const std::string& path) : m_db(path, sqlite_db::mode::read) {
        std::string schema;
        try {
            schema = m_db.value("SELECT value FROM sweep WHERE key = 'schema'");
        } catch (const sqlite_error&) {
        }
        if (schema != sweep_schema) {
            throw input_error(to_line({path, "", "is not the database of a sweep", sweep_schema, ""}));
        }
        sqlite_statement axes = m_db.prepare("SELECT DISTINCT key FROM axis");
        while (axes.step()) {
            m_axes.insert(axes.text(0));
        }
    }

    const std::set<std::string>& axes() const { return m_axes; }

    // What a point is, without the axes that are ignored, to its number.
    std::map<std::string, std::int64_t> points(const std::set<std::string>& ignored) {
        std::map<std::int64_t, std::string> names;
        sqlite_statement all = m_db.prepare("SELECT point, grid, seed FROM point");
        while (all.step()) {
            names[all.integer(0)] =
                fmt::format("{}seed {}", all.text(1).empty() ? "" : all.text(1) + ": ", all.integer(2));
        }
        sqlite_statement settings = m_db.prepare("SELECT point, key, value FROM setting ORDER BY point, key");
        while (settings.step()) {
            if (ignored.count(settings.text(1)) == 0) {
                names[settings.integer(0)] += fmt::format(", {} = {}", settings.text(1), settings.text(2));
            }
        }
        std::map<std::string, std::int64_t> by_name;
        for (const auto& [point, name] : names) {
            if (!by_name.emplace(name, point).second) {
                throw input_error(
                    to_line({m_db.path(), "", "has two points \"" + name + "\" without --ignore's axes",
                             "axes that tell the points apart", ""}));
            }
        }
        return by_name;
    }

    // Every figure of a point by name; what is not there is not in it.
    std::map<std::string, double> figures(std::int64_t point) {
        std::map<std::string, double> all;
        if (!m_point) {
            std::string columns = "status";
            for (const char* c : counts) {
                columns += std::string(", ") + c;
            }
            m_point = std::make_unique<sqlite_statement>(
                m_db.prepare("SELECT " + columns + " FROM point WHERE point = ?"));
            m_distributions = std::make_unique<sqlite_statement>(
                m_db.prepare("SELECT name, count, min, mean, p50, p90, p99, p99_9, max FROM distribution "
                             "WHERE point = ?"));
        }
        m_point->bind(1, point);
        if (m_point->step()) {
            all["failed_to_run"] = m_point->text(0) == "failed" ? 1 : 0;
            for (std::size_t i = 0; i < std::size(counts); ++i) {
                if (!m_point->is_null(static_cast<int>(i) + 1)) {
                    all[counts[i]] = m_point->real(static_cast<int>(i) + 1);
                }
            }
        }
        m_point->reset();
        m_distributions->bind(1, point);
        while (m_distributions->step()) {
            for (std::size_t i = 0; i < std::size(values_of_distribution); ++i) {
                if (!m_distributions->is_null(static_cast<int>(i) + 1)) {
                    all[m_distributions->text(0) + "." + values_of_distribution[i]] =
                        m_distributions->real(static_cast<int>(i) + 1);
                }
            }
        }
        m_distributions->reset();
        return all;
    }

private:
    sqlite_db m_db;
    std::set<std::string> m_axes;
    std::unique_ptr<sqlite_statement> m_point, m_distributions;
};

std::vector<std::string> metric_names() {
    std::vector<std::string> names{"failed_to_run"};
    names.insert(names.end(), std::begin(counts), std::end(counts));
    for (const char* d : {"latency", "wait", "answer", "answer_waited", "answer_ideal", "stage"}) {
        names.emplace_back(d);
    }
    return names;
}

class comparison {
public:
    explicit comparison(const compare_arguments& arguments) : m_arguments(arguments) {
        for (const std::string& wanted : arguments.metrics) {
            const auto known = metric_names();
            if (std::none_of(known.begin(), known.end(), [&wanted](const std::string& name) {
                    return wanted == name || wanted.rfind(name + ".", 0) == 0;
                })) {
                throw input_error(to_line({"--metric", printable(wanted), "is no metric",
                                           fmt::format("one of {}, or NAME.p99 ...", fmt::join(known, ", ")),
                                           nearest_name(wanted, known)}));
            }
        }
    }

    void point(const std::string& where, const std::map<std::string, double>& a,
               const std::map<std::string, double>& b) {
        std::set<std::string> names;
        for (const auto* side : {&a, &b}) {
            for (const auto& [name, value] : *side) {
                names.insert(name);
            }
        }
        bool same = true;
        for (const std::string& name : names) {
            if (!is_wanted(name)) {
                continue;
            }
            const auto in_a = a.find(name);
            const auto in_b = b.find(name);
            const double value_a = in_a == a.end() ? 0 : in_a->second;
            const double value_b = in_b == b.end() ? 0 : in_b->second;
            const double allowed = m_arguments.absolute +
                                   m_arguments.tolerance * std::max(std::fabs(value_a), std::fabs(value_b));
            if (std::fabs(value_a - value_b) > allowed) {
                same = false;
                differences.push_back({where, name, value_a, value_b});
            }
        }
        ++(same ? same_points : different_points);
    }

    std::vector<difference> differences;
    std::uint64_t same_points = 0, different_points = 0;

private:
    bool is_wanted(const std::string& name) const {
        return m_arguments.metrics.empty() ||
               std::any_of(
                   m_arguments.metrics.begin(), m_arguments.metrics.end(),
                   [&name](const std::string& m) { return name == m || name.rfind(m + ".", 0) == 0; });
    }
    const compare_arguments& m_arguments;
};

std::string percent(double relative) {
    return std::isinf(relative) ? "new" : fmt::format("{:+.2f} %", relative * 100);
}

void print_by_metric(const comparison& c) {
    struct sum {
        std::uint64_t points = 0;
        std::vector<double> relative;
    };
    std::map<std::string, sum> metrics;
    for (const difference& d : c.differences) {
        sum& s = metrics[d.metric];
        ++s.points;
        s.relative.push_back(d.relative());
    }
    fmt::print("\n{:<28} {:>8} {:>12} {:>12} {:>12}\n", "metric", "points", "smallest", "median", "largest");
    for (auto& [name, s] : metrics) {
        std::sort(s.relative.begin(), s.relative.end());
        fmt::print("{:<28} {:>8} {:>12} {:>12} {:>12}\n", name, s.points, percent(s.relative.front()),
                   percent(s.relative[s.relative.size() / 2]), percent(s.relative.back()));
    }
}

}  // namespace

int compare_command(const compare_arguments& arguments) {
    comparison c(arguments);
    output_file csv{"--csv", arguments.csv};
    const std::string path_a = path_of(arguments.a);
    const std::string path_b = path_of(arguments.b);
    std::uint64_t only_a = 0;
    std::uint64_t only_b = 0;
    try {
        swept a(path_a);
        swept b(path_b);
        const std::set<std::string> ignored(arguments.ignore.begin(), arguments.ignore.end());
        std::vector<std::string> known(a.axes().begin(), a.axes().end());
        known.insert(known.end(), b.axes().begin(), b.axes().end());
        for (const std::string& key : ignored) {
            if (std::find(known.begin(), known.end(), key) == known.end()) {
                throw input_error(
                    to_line({"--ignore", printable(key), "is an axis of neither",
                             fmt::format("one of {}", fmt::join(known, ", ")), nearest_name(key, known)}));
            }
        }
        const auto points_a = a.points(ignored);
        const auto points_b = b.points(ignored);
        for (const auto& [name, number] : points_a) {
            const auto other = points_b.find(name);
            if (other == points_b.end()) {
                ++only_a;
            } else {
                c.point(name, a.figures(number), b.figures(other->second));
            }
        }
        only_b = points_b.size() - c.same_points - c.different_points;
    } catch (const sqlite_error& error) {
        throw input_error(error.what());
    }

    fmt::print("A  {}\nB  {}\n\n{} points are the same{}, {} differ, {} only in A, {} only in B\n", path_a,
               path_b, c.same_points,
               arguments.tolerance == 0 && arguments.absolute == 0
                   ? ""
                   : fmt::format(" within {:g} % + {:g}", arguments.tolerance * 100, arguments.absolute),
               c.different_points, only_a, only_b);
    if (c.same_points + c.different_points == 0) {
        fmt::print("nothing was compared: no point has the same axes in both (--ignore leaves axes out)\n");
    }
    if (!c.differences.empty()) {
        print_by_metric(c);
        std::stable_sort(c.differences.begin(), c.differences.end(), [](const auto& x, const auto& y) {
            return std::fabs(x.relative()) > std::fabs(y.relative());
        });
        fmt::print("\nlargest differences, A to B\n");
        for (std::size_t i = 0; i < std::min<std::size_t>(c.differences.size(), arguments.most); ++i) {
            const difference& d = c.differences[i];
            fmt::print("  {:<28} {:>14} {:>14} {:>12}  {}\n", d.metric, fmt::format("{:.12g}", d.a),
                       fmt::format("{:.12g}", d.b), percent(d.relative()), d.where);
        }
    }
    if (csv.wanted()) {
        std::string text = "metric,a,b,relative,point\n";
        for (const difference& d : c.differences) {
            text +=
                fmt::format("{},{:.12g},{:.12g},{:.6g},\"{}\"\n", d.metric, d.a, d.b, d.relative(), d.where);
        }
        csv.write(text);
        fmt::print("csv written to {}\n", csv.path());
    }
    const bool same = c.different_points == 0 && only_a == 0 && only_b == 0 && c.same_points != 0;
    return same ? exit_good : exit_differs;
}

}  // namespace hcasim
