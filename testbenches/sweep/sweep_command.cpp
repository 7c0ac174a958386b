#include "testbenches/sweep/sweep_command.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>
#include <tuple>

#include "testbenches/program/commands.h"
#include "testbenches/program/input_error.h"
#include "testbenches/program/nearest_name.h"
#include "testbenches/program/output_file.h"
#include "testbenches/sweep/point_runner.h"
#include "testbenches/sweep/result_store.h"
#include "testbenches/sweep/slurm_run.h"
#include "testbenches/sweep/sweep_file.h"
#include "testbenches/sweep/sweep_progress.h"
#include "testbenches/sweep/worker_pool.h"

namespace hcasim {

namespace {

namespace fs = std::filesystem;

constexpr int exit_interrupted = 130;

// What was finished is lost for this long at most; a commit costs about as much as some hundred rows.
constexpr double commit_seconds = 0.2;

volatile std::sig_atomic_t interrupted = 0;

void note_interrupt(int) { interrupted = 1; }

double now_seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Interrupts end the sweep in good order as long as this lives; a full disk is an error code, not a signal.
class signals {
public:
    signals() {
        interrupted = 0;
        m_int = std::signal(SIGINT, note_interrupt);
        m_term = std::signal(SIGTERM, note_interrupt);
        m_size = std::signal(SIGXFSZ, SIG_IGN);
    }
    ~signals() {
        std::signal(SIGINT, m_int);
        std::signal(SIGTERM, m_term);
        std::signal(SIGXFSZ, m_size);
    }
    signals(const signals&) = delete;
    signals& operator=(const signals&) = delete;

private:
    void (*m_int)(int);
    void (*m_term)(int);
    void (*m_size)(int);
};

// One sweep at a time writes to a directory. The lock is the process's: workers do not inherit it, so that it
// goes with a sweep that is killed, however long its workers take to notice. The file stays: whoever removed
// it could take it from under somebody who waits.
class directory_lock {
public:
    explicit directory_lock(const fs::path& directory)
        : m_file(::open((directory / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
        if (m_file < 0) {
            throw input_error(
                to_line({directory.string(), "", std::string("cannot be written to: ") + std::strerror(errno),
                         "a directory for results", ""}));
        }
        struct flock whole {};
        whole.l_type = F_WRLCK;
        whole.l_whence = SEEK_SET;
        if (::fcntl(m_file, F_SETLK, &whole) != 0) {
            ::close(m_file);
            throw input_error(to_line(
                {directory.string(), "", "another sweep is writing there", "another --out, or its end", ""}));
        }
    }
    ~directory_lock() { ::close(m_file); }
    directory_lock(const directory_lock&) = delete;
    directory_lock& operator=(const directory_lock&) = delete;

private:
    int m_file;
};

// Points with the same hierarchy of modules one after another: the next one then only resets it.
void sort_by_structure(const sweep_plan& plan, std::vector<std::uint64_t>& points) {
    const scenario_editor editor(plan.base);
    std::vector<std::size_t> structural;
    for (std::size_t i = 0; i < editor.parameters().size(); ++i) {
        const std::string& key = editor.parameters()[i].key;
        if (key == "topology.hosts" || key == "hca.clock_mhz" || key.rfind("rtl.", 0) == 0) {
            structural.push_back(i);
        }
    }
    const auto is_structural = [&structural](const settings& values) {
        return std::any_of(values.begin(), values.end(), [&structural](const auto& v) {
            return std::find(structural.begin(), structural.end(), v.first) != structural.end();
        });
    };
    const bool any = std::any_of(plan.grids.begin(), plan.grids.end(), [&](const sweep_grid& grid) {
        return is_structural(grid.fixed) ||
               std::any_of(grid.axes.begin(), grid.axes.end(), [&](const sweep_axis& axis) {
                   return std::any_of(axis.entries.begin(), axis.entries.end(),
                                      [&](const sweep_axis::entry& e) { return is_structural(e.values); });
               });
    });
    if (!any) {
        return;
    }
    std::vector<std::pair<std::string, std::uint64_t>> keyed;
    keyed.reserve(points.size());
    for (const std::uint64_t number : points) {
        std::string key;
        for (const std::size_t wanted : structural) {
            std::string value;
            for (const auto& [parameter, given] : plan.settings_of(plan.point(number))) {
                value = parameter == wanted ? given.text() : value;
            }
            key += value + ";";
        }
        keyed.emplace_back(std::move(key), number);
    }
    std::stable_sort(keyed.begin(), keyed.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::transform(keyed.begin(), keyed.end(), points.begin(), [](const auto& k) { return k.second; });
}

std::string describe(const sweep_plan& plan, std::uint64_t number) {
    const sweep_point p = plan.point(number);
    std::string text = fmt::format("{:>7}  {}", number, p.grid->name.empty() ? "" : p.grid->name + ": ");
    for (const auto& [key, value] : plan.labels_of(p)) {
        text += fmt::format("{} = {}, ", key, value);
    }
    return text + fmt::format("seed {}", p.seed);
}

int show_plan(const sweep_plan& plan, const std::vector<std::uint64_t>& points, unsigned jobs) {
    for (const sweep_grid& grid : plan.grids) {
        fmt::print("{}\n", grid.name.empty() ? "axes" : "grid " + grid.name);
        for (const sweep_axis& axis : grid.axes) {
            std::vector<std::string> values;
            for (const sweep_axis::entry& e : axis.entries) {
                std::vector<std::string> one;
                for (const auto& [parameter, value] : e.values) {
                    one.push_back(value.plain());
                }
                values.push_back(e.preset.empty() ? fmt::format("{}", fmt::join(one, " / ")) : e.preset);
            }
            fmt::print("  {} ({}): {}\n",
                       axis.name.empty() ? fmt::format("{}", fmt::join(axis.keys, " / ")) : axis.name,
                       values.size(), fmt::join(values, "; "));
        }
    }
    fmt::print("seeds {} to {}\n\n", plan.first_seed, plan.first_seed + plan.seeds - 1);
    constexpr std::size_t shown = 20;
    for (std::size_t i = 0; i < points.size(); ++i) {
        if (points.size() <= shown || i < shown / 2 || i >= points.size() - shown / 2) {
            fmt::print("{}\n", describe(plan, points[i]));
        } else if (i == shown / 2) {
            fmt::print("    ...\n");
        }
    }
    // A few points, evenly over the sweep, tell what all of them will take.
    constexpr std::size_t tried = 7;
    constexpr double trial_seconds = 3;
    point_runner runner(plan);
    const double begin = now_seconds();
    double sum = 0;
    std::size_t n = 0;
    for (; n < tried && (n == 0 || now_seconds() - begin < trial_seconds); ++n) {
        const double start = now_seconds();
        runner.run(points[n * points.size() / tried]);
        sum += now_seconds() - start;
    }
    const double each = sum / static_cast<double>(n);
    fmt::print("\n{} points; about {} ({:.3g} s each, from {} of them, {} {})\n", points.size(),
               duration_text(each * static_cast<double>(points.size()) / jobs), each, n, jobs,
               jobs == 1 ? "job" : "jobs");
    return exit_good;
}

class local_run {
public:
    local_run(const sweep_plan& plan, const sweep_arguments& arguments, unsigned jobs)
        : m_plan(plan), m_arguments(arguments), m_jobs(jobs) {}

    // Runs the points and keeps them; false when it was ended before its time.
    bool run(result_store& store, std::vector<std::uint64_t> points) {
        sort_by_structure(m_plan, points);
        sweep_progress progress(points.size(), 0);
        worker_pool pool(
            m_jobs,
            [this] {
                const auto runner = std::make_shared<point_runner>(m_plan);
                return [runner](std::uint64_t number) { return pack(runner->run(number)); };
            },
            m_arguments.timeout_seconds);
        std::uint64_t done = 0;
        double last = now_seconds();
        bool ended = false;
        pool.run(
            points,
            [&](const worker_pool::outcome& outcome) {
                point_row row;
                if (outcome.crashed) {
                    row.point = outcome.item;
                    row.status = point_status::failed;
                    row.message = outcome.bytes;
                } else {
                    row = unpack_point_row(outcome.bytes);
                }
                store.add(row);
                ++done;
                if (row.status != point_status::done) {
                    note(row);
                    ended = ended || m_arguments.fail_fast;
                }
                return !ended;
            },
            [&] {
                if (now_seconds() - last > commit_seconds) {
                    store.commit();
                    last = now_seconds();
                    progress.show(done, m_failed + m_violated);
                }
                ended = ended || interrupted != 0;
                return !ended;
            });
        store.commit();
        progress.end();
        m_done = done;
        if (m_failed + m_violated > most_named) {
            fmt::print(stderr, "... and {} more that failed; the database has them\n",
                       m_failed + m_violated - most_named);
        }
        return !ended;
    }

    std::uint64_t done() const { return m_done; }

private:
    static constexpr std::uint64_t most_named = 10;

    void note(const point_row& row) {
        ++(row.status == point_status::failed ? m_failed : m_violated);
        if (m_failed + m_violated <= most_named) {
            fmt::print(stderr, "{}point {}: {}\n", ::isatty(STDERR_FILENO) != 0 ? "\r\033[K" : "", row.point,
                       row.message);
        }
    }

    const sweep_plan& m_plan;
    const sweep_arguments& m_arguments;
    unsigned m_jobs;
    std::uint64_t m_done = 0, m_failed = 0, m_violated = 0;
};

std::vector<std::uint64_t> read_points(const std::string& file, const sweep_plan& plan) {
    std::ifstream in(file);
    std::vector<std::uint64_t> points;
    for (std::uint64_t number = 0; in >> number;) {
        points.push_back(number);
    }
    if (!in.eof() || points.empty() ||
        std::any_of(points.begin(), points.end(), [&](std::uint64_t n) { return n >= plan.points(); })) {
        throw input_error(to_line({"--points", printable(file), "is no list of points of this sweep",
                                   fmt::format("numbers from 0 to {}", plan.points() - 1), ""}));
    }
    return points;
}

// A task of a cluster. The database of its points takes its name when all of them are in it.
int run_shard(const sweep_plan& plan, const sweep_arguments& arguments, unsigned jobs) {
    const auto points = read_points(arguments.points_file, plan);
    const std::string made = fmt::format("{}.{}", arguments.shard, ::getpid());
    fs::remove(made);
    bool whole = false;
    {
        result_store store(made, plan, "");
        local_run run(plan, arguments, jobs);
        whole = run.run(store, points);
    }
    if (!whole) {
        fs::remove(made);
        return exit_interrupted;
    }
    fs::rename(made, arguments.shard);
    return exit_good;
}

int verdict(const std::string& path) {
    sqlite_db db(path, sqlite_db::mode::read);
    if (db.value("SELECT count(*) FROM point WHERE status = 'violated'") != "0") {
        return exit_violated;
    }
    return db.value("SELECT count(*) FROM point WHERE status = 'failed'") == "0" ? exit_good : exit_differs;
}

int run_sweep(const sweep_arguments& arguments) {
    const sweep_plan plan = read_sweep(arguments.sweep, arguments.overrides);
    const unsigned jobs =
        arguments.jobs != 0 ? arguments.jobs : std::max(1u, std::thread::hardware_concurrency());
    if (!arguments.shard.empty()) {
        return run_shard(plan, arguments, jobs);
    }
    const std::vector<std::string> backends{"local", "slurm"};
    if (std::find(backends.begin(), backends.end(), arguments.backend) == backends.end()) {
        throw input_error(
            to_line({"--backend", "", fmt::format("'{}' is no backend", printable(arguments.backend)),
                     "local or slurm", nearest_name(arguments.backend, backends)}));
    }
    if (arguments.backend == "local" && !arguments.slurm_options.empty()) {
        throw input_error(
            to_line({"--slurm-opt", "", "goes with --backend slurm only", "--backend slurm", ""}));
    }
    std::vector<std::uint64_t> points;
    if (arguments.filters.empty()) {
        points.resize(plan.points());
        for (std::uint64_t i = 0; i < points.size(); ++i) {
            points[i] = i;
        }
    } else {
        points = filter_points(plan, arguments.filters);
    }
    if (arguments.dry_run) {
        return show_plan(plan, points, jobs);
    }
    const fs::path directory = arguments.out.empty() ? fs::path(plan.name) : fs::path(arguments.out);
    std::error_code error;
    fs::create_directories(directory, error);
    if (error) {
        throw input_error(
            to_line({directory.string(), "", "cannot be made: " + error.message(), "a directory", ""}));
    }
    output_file csv{"--csv", arguments.csv};
    const directory_lock lock(directory);
    const signals caught;
    const std::string path = (directory / "results.db").string();
    std::vector<std::string> options;
    for (const std::string& o : arguments.overrides) {
        options.push_back("--set " + o);
    }
    bool whole = false;
    bool missing = false;
    std::uint64_t before = 0;
    const double begin = now_seconds();
    {
        result_store store(path, plan, fmt::format("{}", fmt::join(options, " ")));
        if (arguments.retry_failed) {
            store.forget_failed();
        }
        const std::vector<bool> finished = store.finished();
        const std::size_t all = points.size();
        points.erase(std::remove_if(points.begin(), points.end(),
                                    [&finished](std::uint64_t n) { return finished[n]; }),
                     points.end());
        before = all - points.size();
        if (before != 0) {
            fmt::print(stderr, "{} of {} points are there already\n", before, all);
        }
        std::uint64_t done = 0;
        std::string with;
        if (arguments.backend == "slurm") {
            slurm_run run(plan, arguments, directory);
            whole = points.empty() || run.run(store, points, [] { return interrupted != 0; });
            done = run.done();
            with = "Slurm";
        } else {
            local_run run(plan, arguments, jobs);
            whole = points.empty() || run.run(store, points);
            done = run.done();
            with = fmt::format("{} {}", jobs, jobs == 1 ? "job" : "jobs");
        }
        const double seconds = now_seconds() - begin;
        fmt::print("{}: {} points in {} ({:.0f} a second, {})\n", path, done, duration_text(seconds),
                   static_cast<double>(done) / std::max(seconds, 1e-3), with);
        if (!whole) {
            fmt::print(stderr, "stopped: {} of {} points are saved; the same command goes on\n",
                       before + done, all);
        }
        const std::vector<bool> now = store.finished();
        missing = std::any_of(points.begin(), points.end(), [&now](std::uint64_t n) { return !now[n]; });
    }
    if (csv.wanted()) {
        sqlite_db db(path, sqlite_db::mode::read);
        csv.write(results_csv(db));
        fmt::print("csv written to {}\n", csv.path());
    }
    const int code = verdict(path);
    return interrupted != 0 ? exit_interrupted : code == exit_good && missing ? exit_differs : code;
}

}  // namespace

int sweep_command(const sweep_arguments& arguments) {
    try {
        return run_sweep(arguments);
    } catch (const sqlite_error& error) {
        throw input_error(std::string(error.what()) + "; what was finished before is kept");
    }
}

}  // namespace hcasim
