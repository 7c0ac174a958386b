#include "testbenches/sweep/slurm_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <thread>

#include "rtl_cosim/wrap/child_process.h"
#include "testbenches/program/input_error.h"
#include "testbenches/sweep/point_runner.h"

namespace hcasim {

namespace {

namespace fs = std::filesystem;

constexpr unsigned rounds = 3;
// Slurm's default for MaxArraySize is 1001.
constexpr std::size_t tasks_per_array = 1000;
constexpr double squeue_seconds = 1;
constexpr double patience_seconds = 60;

double now_seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string quoted(const std::string& word) {
    std::string text = "'";
    for (const char c : word) {
        text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    }
    return text + "'";
}

std::string own_program() {
    std::error_code error;
    const fs::path path = fs::read_symlink("/proc/self/exe", error);
    return path.string();
}

std::vector<std::uint64_t> missing_of(const result_store& store, const std::vector<std::uint64_t>& points) {
    const std::vector<bool> finished = store.finished();
    std::vector<std::uint64_t> missing;
    std::copy_if(points.begin(), points.end(), std::back_inserter(missing),
                 [&finished](std::uint64_t n) { return !finished[n]; });
    return missing;
}

}  // namespace

slurm_run::slurm_run(const sweep_plan& plan, const sweep_arguments& arguments, const fs::path& directory)
    : m_plan(plan), m_arguments(arguments), m_work(fs::absolute(directory) / "slurm") {
    for (const char* command : {"sbatch", "squeue", "scancel", "sinfo"}) {
        if (find_in_path(command).empty()) {
            throw input_error(
                to_line({"--backend slurm", "", fmt::format("there is no {} here", command),
                         "a machine of a Slurm cluster (Debian: slurm-client), or --backend local", ""}));
        }
    }
    fs::create_directories(m_work);
    std::string answer;
    if (!ask({"sinfo", "-h", "-o", "%P %a"}, answer)) {
        std::replace(answer.begin(), answer.end(), '\n', ' ');
        throw input_error(
            to_line({"--backend slurm", "", "no Slurm controller answers: " + printable(answer, 200),
                     "a cluster that sinfo shows, or --backend local", ""}));
    }
}

// What a command prints; false when it did not end well.
bool slurm_run::ask(const std::vector<std::string>& command, std::string& answer) {
    const fs::path said = m_work / fmt::format("answer.{}", ::getpid());
    fs::remove(said);
    const int code = run_child(command, "", said.string());
    std::ifstream in(said);
    std::ostringstream text;
    text << in.rdbuf();
    answer = text.str();
    fs::remove(said);
    return code == 0;
}

// A few points, evenly over the sweep, tell how long the others will take. Their results count.
void slurm_run::measure(result_store& store, const std::vector<std::uint64_t>& points) {
    constexpr std::size_t tried = 5;
    constexpr double trial_seconds = 3;
    point_runner runner(m_plan);
    const double begin = now_seconds();
    std::size_t n = 0;
    for (; n < std::min(tried, points.size()) && (n == 0 || now_seconds() - begin < trial_seconds); ++n) {
        store.add(runner.run(points[n * points.size() / tried]));
        ++m_done;
    }
    store.commit();
    m_point_seconds = (now_seconds() - begin) / static_cast<double>(std::max<std::size_t>(n, 1));
}

// Of a run that was ended before it had merged all.
void slurm_run::merge_leftovers(result_store& store) {
    std::uint64_t merged = 0;
    std::error_code error;
    std::vector<fs::path> shards;
    for (fs::recursive_directory_iterator i(m_work, error), end; !error && i != end; i.increment(error)) {
        if (i->path().extension() == ".db") {
            shards.push_back(i->path());
        }
    }
    for (const fs::path& shard : shards) {
        try {
            merged += store.merge(shard.string());
        } catch (const input_error&) {
            // Of another sweep: not ours.
        }
    }
    if (merged != 0) {
        fmt::print(stderr, "{} points of an earlier run on the cluster\n", merged);
    }
    fs::remove_all(m_work, error);
    fs::create_directories(m_work);
}

void slurm_run::submit(const std::vector<std::uint64_t>& points, unsigned round) {
    const fs::path directory = m_work / fmt::format("round-{}", round);
    fs::create_directories(directory);
    const auto per_chunk = static_cast<std::size_t>(
        std::clamp(std::ceil(m_arguments.slurm_chunk_seconds / std::max(m_point_seconds, 1e-6)), 1.0, 1e7));
    m_chunks.clear();
    m_jobs.clear();
    for (std::size_t begin = 0; begin < points.size(); begin += per_chunk) {
        const std::size_t end = std::min(points.size(), begin + per_chunk);
        std::ofstream list(directory / fmt::format("points-{}.txt", m_chunks.size()));
        for (std::size_t i = begin; i < end; ++i) {
            list << points[i] << '\n';
        }
        m_chunks.push_back({directory / fmt::format("shard-{}.db", m_chunks.size()), false});
    }
    const fs::path script = directory / "task.sh";
    std::string words = quoted(own_program()) + " sweep " + quoted(fs::absolute(m_plan.path).string());
    for (const std::string& assignment : m_plan.overrides) {
        words += " --set " + quoted(assignment);
    }
    if (m_arguments.timeout_seconds > 0) {
        words += fmt::format(" --timeout {}", m_arguments.timeout_seconds);
    }
    std::ofstream(script)
        << "#!/bin/bash\n# A chunk of the points of a sweep; the first argument is added to the "
           "number of the task.\nn=$(($1 + SLURM_ARRAY_TASK_ID))\nexec "
        << words << " --jobs 1 --points " << quoted(directory.string()) << "/points-$n.txt --shard "
        << quoted(directory.string()) << "/shard-$n.db\n";
    for (std::size_t first = 0; first < m_chunks.size(); first += tasks_per_array) {
        const std::size_t tasks = std::min(tasks_per_array, m_chunks.size() - first);
        std::vector<std::string> command{"sbatch",
                                         "--parsable",
                                         "--job-name=hcasim-" + m_plan.name,
                                         fmt::format("--array=0-{}", tasks - 1),
                                         "--open-mode=append",
                                         "--output=" + (directory / "task-%A_%a.log").string()};
        command.insert(command.end(), m_arguments.slurm_options.begin(), m_arguments.slurm_options.end());
        command.push_back(script.string());
        command.push_back(std::to_string(first));
        std::string answer;
        if (!ask(command, answer)) {
            cancel(m_jobs);
            std::replace(answer.begin(), answer.end(), '\n', ' ');
            throw input_error(to_line({"--backend slurm", "", "sbatch refused: " + printable(answer, 300),
                                       "options that the cluster takes (--slurm-opt)", ""}));
        }
        // "ID" or "ID;CLUSTER"
        m_jobs.push_back(answer.substr(0, answer.find_first_of(";\n")));
    }
    fmt::print(stderr, "round {}: {} points in {} tasks of up to {} points, job {}\n", round, points.size(),
               m_chunks.size(), per_chunk, fmt::join(m_jobs, ", "));
}

// True when something was merged.
bool slurm_run::merge_finished(result_store& store) {
    bool any = false;
    for (chunk& c : m_chunks) {
        std::error_code error;
        if (!c.merged && fs::exists(c.shard, error)) {
            m_done += store.merge(c.shard.string());
            c.merged = true;
            fs::remove(c.shard, error);
            any = true;
        }
    }
    return any;
}

void slurm_run::cancel(const std::vector<std::string>& jobs) {
    if (!jobs.empty()) {
        std::vector<std::string> command{"scancel"};
        command.insert(command.end(), jobs.begin(), jobs.end());
        std::string answer;
        ask(command, answer);
    }
}

// Whether a task may still come to its end. One that lost its node and waits for a new start is cancelled:
// its points are submitted again at once.
bool slurm_run::is_active() {
    std::string answer;
    if (!ask({"squeue", "-h", "-r", "-j", fmt::format("{}", fmt::join(m_jobs, ",")), "-o", "%i %t %r"},
             answer)) {
        // Jobs that are gone are an error to squeue; so is a controller that does not answer.
        if (answer.find("Invalid job id") != std::string::npos) {
            return false;
        }
        if (m_no_answer_since == 0) {
            m_no_answer_since = now_seconds();
        }
        if (now_seconds() - m_no_answer_since > patience_seconds) {
            std::replace(answer.begin(), answer.end(), '\n', ' ');
            throw input_error(
                to_line({"--backend slurm", "", "the controller answers no more: " + printable(answer, 200),
                         "the same command when it does", ""}));
        }
        return true;
    }
    m_no_answer_since = 0;
    std::istringstream lines(answer);
    std::vector<std::string> lost;
    bool active = false;
    for (std::string id, state, reason; lines >> id >> state && std::getline(lines, reason);) {
        if (state == "PD" && reason.find("BeginTime") != std::string::npos) {
            lost.push_back(id);
        } else {
            active = true;
        }
    }
    cancel(lost);
    return active;
}

slurm_run::ending slurm_run::wait(result_store& store, sweep_progress& progress,
                                  const std::function<bool()>& interrupted) {
    double last = now_seconds();
    for (bool active = true; active;) {
        if (interrupted()) {
            cancel(m_jobs);
            // Tasks that ended meanwhile count.
            std::this_thread::sleep_for(std::chrono::milliseconds(500));
            merge_finished(store);
            return ending::interrupted;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        merge_finished(store);
        progress.show(m_done, 0);
        if (std::all_of(m_chunks.begin(), m_chunks.end(), [](const chunk& c) { return c.merged; })) {
            // A node that died at the end need not be waited for.
            cancel(m_jobs);
            break;
        }
        if (now_seconds() - last > squeue_seconds) {
            active = is_active();
            last = now_seconds();
        }
    }
    // A shared file system may show a file a moment late.
    for (int i = 0;
         i < 10 && std::any_of(m_chunks.begin(), m_chunks.end(), [](const chunk& c) { return !c.merged; });
         ++i) {
        merge_finished(store);
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    return ending::ended;
}

bool slurm_run::run(result_store& store, std::vector<std::uint64_t> points,
                    const std::function<bool()>& interrupted) {
    merge_leftovers(store);
    points = missing_of(store, points);
    if (!points.empty()) {
        measure(store, points);
    }
    sweep_progress progress(points.size(), m_done);
    std::vector<std::uint64_t> missing = missing_of(store, points);
    for (unsigned round = 1; round <= rounds && !missing.empty(); ++round) {
        submit(missing, round);
        const ending how = wait(store, progress, interrupted);
        progress.end();
        if (how == ending::interrupted) {
            return false;
        }
        missing = missing_of(store, points);
    }
    if (missing.empty()) {
        std::error_code error;
        fs::remove_all(m_work, error);
    } else {
        fmt::print(stderr, "{} points are missing after {} rounds; the tasks' logs are in {}\n",
                   missing.size(), rounds, m_work.string());
    }
    return true;
}

}  // namespace hcasim
