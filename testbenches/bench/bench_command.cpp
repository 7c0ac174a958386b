#include "testbenches/bench/bench_command.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <systemc>

#include "testbenches/bench/message_path.h"
#include "testbenches/bench/model_send_path.h"
#include "testbenches/bench/plain_send_path.h"
#include "testbenches/bench/send_path.h"
#include "testbenches/bench/verilog_send_path.h"

namespace hcasim {

namespace {

constexpr const char* help =
    R"(Speed of the model against a plain C++ loop of the same work, and against the goals
Usage: hcasim bench [OPTIONS]

Options:
  -h,--help       Prints help
  --quick         Few and short measurements
  --repeats N     Paired measurements of each load, 1..1000 (default 9, quick 1)
  --json FILE     Writes the measurements as JSON
)";

// Hidden option: print the time from the given CLOCK_MONOTONIC time to the first simulated cycle.
constexpr const char* first_cycle_option = "--first-cycle";

constexpr int exit_differs = 1;
constexpr int exit_bad_options = 2;

struct options {
    bool help = false;
    bool quick = false;
    unsigned repeats = 0;
    std::string json;
    std::uint64_t started_ns = 0;  // with first_cycle_option
};

struct bad_option : std::runtime_error {
    using std::runtime_error::runtime_error;
};

std::uint64_t number(const std::string& option, const std::string& text, std::uint64_t least,
                     std::uint64_t most) {
    const bool digits =
        !text.empty() && text.size() < 20 && text.find_first_not_of("0123456789") == std::string::npos;
    const std::uint64_t value = digits ? std::stoull(text) : 0;
    if (!digits || value < least || value > most) {
        throw bad_option(
            fmt::format("{}: not a number; expected an integer from {} to {}", option, least, most));
    }
    return value;
}

options parse(const std::vector<std::string>& arguments) {
    options o;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const std::string& a = arguments[i];
        const auto equals = a.find('=');
        const std::string name = a.substr(0, equals);
        const auto value = [&] {
            if (equals != std::string::npos) {
                return a.substr(equals + 1);
            }
            return i + 1 < arguments.size() ? arguments[++i] : std::string();
        };
        if (name == "-h" || name == "--help") {
            o.help = true;
        } else if (name == "--quick") {
            o.quick = true;
        } else if (name == "--repeats") {
            o.repeats = static_cast<unsigned>(number(name, value(), 1, 1000));
        } else if (name == "--json") {
            o.json = value();
            if (o.json.empty()) {
                throw bad_option("--json: is empty; expected a file");
            }
        } else if (name == first_cycle_option) {
            o.started_ns = number(name, value(), 1, ~std::uint64_t{0} >> 1);
        } else {
            throw bad_option("an option that is not known; expected one that `hcasim bench --help` lists");
        }
    }
    if (o.repeats == 0) {
        o.repeats = o.quick ? 1 : 9;
    }
    return o;
}

std::uint64_t clock_ns(clockid_t clock) {
    timespec t{};
    clock_gettime(clock, &t);
    return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(t.tv_nsec);
}

/// Processor time of the measured work in ns: other programs on the machine are not counted.
double processor_ns(const std::function<void()>& work) {
    const std::uint64_t begin = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    work();
    return static_cast<double>(std::max<std::uint64_t>(1, clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin));
}

struct spread {
    double least = 0;
    double median = 0;
    double most = 0;
};
spread spread_of(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return {values.front(), values[values.size() / 2], values.back()};
}
nlohmann::ordered_json to_json(const spread& s) {
    return {{"min", s.least}, {"median", s.median}, {"max", s.most}};
}

/// Anonymous memory that the process has in use.
std::uint64_t resident_bytes() {
    std::ifstream status("/proc/self/status");
    std::string line;
    while (std::getline(status, line)) {
        if (line.rfind("RssAnon:", 0) == 0) {
            return std::strtoull(line.c_str() + 8, nullptr, 10) * 1024;
        }
    }
    return 0;
}

/// The report: lines for people, and the same numbers for programs.
class report {
public:
    nlohmann::ordered_json json = {{"schema", "hcasim.bench/1"}};

    void goal(const std::string& name, double measured, const std::string& unit, bool at_most,
              double wanted) {
        const bool met = at_most ? measured <= wanted : measured >= wanted;
        fmt::print("  {:<58} {:>9.3g} {:<12} goal {} {:<8.3g} {}\n", name, measured, unit,
                   at_most ? "<=" : ">=", wanted, met ? "met" : "MISSED");
        json["goals"].push_back({{"name", name},
                                 {"measured", measured},
                                 {"unit", unit},
                                 {"at_most", at_most},
                                 {"goal", wanted},
                                 {"met", met}});
    }
};

struct load {
    const char* name;
    std::uint32_t interval_cycles;
    cycle_t cycles;
};
constexpr std::array<load, 3> loads = {
    {{"1 WQE / 200 cycles", 200, 4'000'000}, {"1 WQE / 20 cycles", 20, 500'000}, {"saturated", 0, 150'000}}};

send_path_config config_of(const load& l) {
    send_path_config c;
    c.interval_cycles = l.interval_cycles;
    c.hca.qp_context_cache.sets = 8;  // 32 contexts for 64 QPs: hits and misses
    return c;
}

// Cycles before a measurement: gates are open, queues full, memory touched.
constexpr cycle_t warm_up_cycles = 20'000;

/// One measured piece of a path: the median of its times, per cycle, and its work.
struct timing {
    double ns = 0;
    std::uint64_t wqes = 0;
};
template <class Path>
timing measure(Path& path, cycle_t cycles) {
    path.run_to(warm_up_cycles);
    timing t;
    t.wqes = path.result().completions;
    t.ns = processor_ns([&] { path.run_to(warm_up_cycles + cycles); });
    t.wqes = path.result().completions - t.wqes;
    return t;
}

class bench {
public:
    explicit bench(const options& o) : m_options(o) {
        m_inside = std::make_unique<model_send_path>("inside", model_send_path::host_side::inside);
        m_tlm = std::make_unique<model_send_path>("tlm", model_send_path::host_side::tlm);
        m_messages = std::make_unique<message_path>("messages");
        m_verilog = std::make_unique<verilog_send_path>("recorded");
        sc_core::sc_start(sc_core::SC_ZERO_TIME);
    }

    /// False when the model and the plain loop differ.
    bool run() {
        fmt::print(
            "hcasim bench: processor time, medians of {} paired runs; 64 QPs, 64-byte sends, {} contexts "
            "cached\n\n",
            m_options.repeats, 32);
        const bool same = send_path();
        against_verilog();
        through_tlm();
        end_to_end();
        idle();
        sweeps();
        if (!m_options.quick) {
            first_cycle();
            memory();
        }
        fmt::print("\nGoals\n");
        for (const auto& print : m_goals) {
            print();
        }
        return same;
    }
    const nlohmann::ordered_json& json() const { return m_report.json; }

private:
    cycle_t shortened(cycle_t cycles) const { return m_options.quick ? cycles / 20 : cycles; }
    void goal(const std::string& name, double measured, const std::string& unit, bool at_most,
              double wanted) {
        m_goals.emplace_back([this, name, measured, unit, at_most, wanted] {
            m_report.goal(name, measured, unit, at_most, wanted);
        });
    }

    timing time_plain(const send_path_config& c, plain_send_path::form form, cycle_t cycles,
                      send_path_result& result) {
        m_plain.reset(c, form);
        const timing t = measure(m_plain, cycles);
        result = m_plain.result();
        return t;
    }
    timing time_model(const send_path_config& c, engine_kind engine, cycle_t cycles,
                      send_path_result& result) {
        m_inside->reset(c, engine);
        const timing t = measure(*m_inside, cycles);
        result = m_inside->result();
        m_inside->stop();
        return t;
    }

    bool send_path() {
        fmt::print(
            "Send path, doorbell to CQE       model ns/cycle     plain ns/cycle       model / plain\n");
        fmt::print(
            "                                 wheel     poll      skip     poll   median   min..max      "
            "model WQE/s\n");
        bool all_same = true;
        for (const load& l : loads) {
            const send_path_config c = config_of(l);
            const cycle_t cycles = shortened(l.cycles);
            std::array<std::vector<double>, 4> ns;
            std::vector<double> ratios;
            std::vector<double> rates;
            bool same = true;
            for (unsigned i = 0; i < m_options.repeats; ++i) {
                std::array<send_path_result, 4> results;
                const timing wheel = time_model(c, engine_kind::wheel, cycles, results[0]);
                const timing skip = time_plain(c, plain_send_path::form::skip, cycles, results[1]);
                const timing poll = time_plain(c, plain_send_path::form::poll, cycles, results[2]);
                ns[0].push_back(wheel.ns / static_cast<double>(cycles));
                ns[1].push_back(skip.ns / static_cast<double>(cycles));
                ns[2].push_back(poll.ns / static_cast<double>(cycles));
                ratios.push_back(wheel.ns / std::min(skip.ns, poll.ns));
                rates.push_back(static_cast<double>(wheel.wqes) / wheel.ns * 1e9);
                const bool last = i + 1 == m_options.repeats;
                if (last) {
                    const timing oracle = time_model(c, engine_kind::poll, cycles, results[3]);
                    ns[3].push_back(oracle.ns / static_cast<double>(cycles));
                }
                for (std::size_t r = 1; r < (last ? 4 : 3); ++r) {
                    same = same && results[r].digest == results[0].digest &&
                           results[r].packets == results[0].packets &&
                           results[r].completions == results[0].completions;
                }
            }
            const spread wheel = spread_of(ns[0]), skip = spread_of(ns[1]), poll = spread_of(ns[2]),
                         oracle = spread_of(ns[3]), ratio = spread_of(ratios), rate = spread_of(rates);
            fmt::print("  {:<26} {:>9.2f} {:>8.1f} {:>9.2f} {:>8.1f} {:>8.2f}   {:.2f}..{:.2f} {:>16.3g}{}\n",
                       l.name, wheel.median, oracle.median, skip.median, poll.median, ratio.median,
                       ratio.least, ratio.most, rate.median, same ? "" : "   RESULTS DIFFER");
            m_report.json["send_path"].push_back({{"load", l.name},
                                                  {"cycles", cycles},
                                                  {"model_wheel_ns_per_cycle", to_json(wheel)},
                                                  {"model_poll_ns_per_cycle", to_json(oracle)},
                                                  {"plain_skip_ns_per_cycle", to_json(skip)},
                                                  {"plain_poll_ns_per_cycle", to_json(poll)},
                                                  {"ratio", to_json(ratio)},
                                                  {"wqe_per_second", to_json(rate)},
                                                  {"same_results", same}});
            goal(fmt::format("model / plain loop, {}", l.name), ratio.median, "", true, 1.3);
            if (l.interval_cycles == 0) {
                goal("send path inside the model", rate.median / 1e6, "M WQE/s", false, 3);
            }
            all_same = all_same && same;
        }
        fmt::print("  every packet and every CQE: {}\n\n",
                   all_same ? "the same, cycle for cycle" : "DIFFERENT");
        m_report.json["same_results"] = all_same;
        return all_same;
    }

    // The model's whole send path against the Verilog of its blocks alone: what the Verilog leaves out (host,
    // send engine, bus) is in the model's time.
    void against_verilog() {
        fmt::print(
            "Against the Verilog of its blocks, verilator --cc, the same inputs, every cycle clocked\n");
        fmt::print("                                 model ns/cycle   Verilog ns/cycle   Verilog / model\n");
        constexpr std::array<double, 3> wanted = {50, 8, 2};
        for (std::size_t n = 0; n < loads.size(); ++n) {
            const load& l = loads[n];
            const send_path_config c = config_of(l);
            const cycle_t cycles = std::min<cycle_t>(shortened(l.cycles), 400'000);
            try {
                m_verilog->record(c, warm_up_cycles + cycles);
            } catch (const verilog_error& error) {
                const std::string what = error.what();
                fmt::print("  skipped: {}\n\n", what.substr(0, what.find('\n')));
                return;
            }
            std::vector<double> model, verilog, ratios;
            for (unsigned i = 0; i < m_options.repeats; ++i) {
                send_path_result ignored;
                const timing t = time_model(c, engine_kind::wheel, cycles, ignored);
                m_verilog->reset();
                m_verilog->run_to(warm_up_cycles);
                const double ns = processor_ns([&] { m_verilog->run_to(warm_up_cycles + cycles); });
                model.push_back(t.ns / static_cast<double>(cycles));
                verilog.push_back(ns / static_cast<double>(cycles));
                ratios.push_back(ns / t.ns);
            }
            const spread m = spread_of(model), v = spread_of(verilog), r = spread_of(ratios);
            fmt::print("  {:<26} {:>18.2f} {:>18.1f} {:>17.1f}   {:.1f}..{:.1f}\n", l.name, m.median,
                       v.median, r.median, r.least, r.most);
            m_report.json["verilog"].push_back({{"load", l.name},
                                                {"cycles", cycles},
                                                {"blocks", m_verilog->blocks()},
                                                {"model_ns_per_cycle", to_json(m)},
                                                {"verilog_ns_per_cycle", to_json(v)},
                                                {"ratio", to_json(r)}});
            goal(fmt::format("Verilog / model, {}", l.name), r.median, "", false, wanted[n]);
        }
        fmt::print("\n");
    }

    void through_tlm() {
        fmt::print("The same through TLM: processor, bus, sockets   1 doorbell per call   16 per call\n");
        for (const load& l : loads) {
            const send_path_config c = config_of(l);
            const cycle_t cycles = shortened(l.cycles);
            std::array<spread, 2> ns, rate;
            for (std::size_t burst = 0; burst < 2; ++burst) {
                std::vector<double> times, rates;
                for (unsigned i = 0; i < m_options.repeats; ++i) {
                    m_tlm->reset(c, engine_kind::wheel, burst == 0 ? 1 : 16);
                    const timing t = measure(*m_tlm, cycles);
                    m_tlm->stop();
                    times.push_back(t.ns / static_cast<double>(cycles));
                    rates.push_back(static_cast<double>(t.wqes) / t.ns * 1e9);
                }
                ns[burst] = spread_of(times);
                rate[burst] = spread_of(rates);
            }
            fmt::print("  {:<20} ns/cycle {:>31.2f} {:>17.2f}\n", l.name, ns[0].median, ns[1].median);
            fmt::print("  {:<20} WQE/s    {:>31.3g} {:>17.3g}\n", "", rate[0].median, rate[1].median);
            m_report.json["tlm"].push_back({{"load", l.name},
                                            {"single_ns_per_cycle", to_json(ns[0])},
                                            {"single_wqe_per_second", to_json(rate[0])},
                                            {"burst_ns_per_cycle", to_json(ns[1])},
                                            {"burst_wqe_per_second", to_json(rate[1])}});
            if (l.interval_cycles == 0) {
                goal("send path through TLM, bursts of doorbells", rate[1].median / 1e6, "M WQE/s", false, 2);
            }
        }
    }

    void end_to_end() {
        const cycle_t cycles = shortened(200'000);
        std::vector<double> rates, times;
        for (unsigned i = 0; i < m_options.repeats; ++i) {
            m_messages->reset({}, engine_kind::wheel);
            m_messages->connect();
            m_messages->run_for(warm_up_cycles);
            const std::uint64_t before = m_messages->messages();
            const double ns = processor_ns([&] { m_messages->run_for(cycles); });
            rates.push_back(static_cast<double>(m_messages->messages() - before) / ns * 1e9);
            times.push_back(ns / static_cast<double>(cycles));
        }
        const spread rate = spread_of(rates), ns = spread_of(times);
        fmt::print("\nTwo cards, send + receive + ACK, saturated: {:.3g} messages/s, {:.0f} ns/cycle\n",
                   rate.median, ns.median);
        m_report.json["end_to_end"] = {{"messages_per_second", to_json(rate)}, {"ns_per_cycle", to_json(ns)}};
        goal("end to end: send, receive, acknowledge", rate.median / 1e6, "M messages/s", false, 0.8);
    }

    void idle() {
        constexpr cycle_t idle_cycles = 1'000'000'000;
        send_path_config c;
        c.interval_cycles = idle_cycles;
        m_inside->reset(c, engine_kind::wheel);
        m_inside->run_to(warm_up_cycles);
        const double ns = processor_ns([&] { m_inside->run_to(warm_up_cycles + idle_cycles); });
        m_inside->stop();
        fmt::print("Idle: 10^9 cycles in {:.3g} ms\n", ns / 1e6);
        m_report.json["idle_ms_per_1e9_cycles"] = ns / 1e6;
        goal("10^9 idle cycles", ns / 1e6, "ms", true, 10);
    }

    void memory() {
        // Two cards each time; the hosts' memory is not counted.
        message_path_config c;
        c.depth = 1;
        c.hca.qps = 1u << 20;
        c.connections = 1u << 20;
        message_path_config none = c;
        none.hca.qps = 16;
        none.connections = 16;
        m_messages->reset(none, engine_kind::wheel);
        std::uint64_t before = resident_bytes();
        const double reset_ns = processor_ns([&] { m_messages->reset(c, engine_kind::wheel); }) / 2;
        const double connect_ns = processor_ns([&] { m_messages->connect(); }) / 2;
        const double connected = static_cast<double>(resident_bytes() - before) / 2 / c.connections;
        m_messages->reset(none, engine_kind::wheel);
        c.hca.qps = 1u << 24;
        c.connections = 16;
        before = resident_bytes();
        m_messages->reset(c, engine_kind::wheel);
        const double untouched = static_cast<double>(std::max(resident_bytes(), before) - before) / 2 /
                                 static_cast<double>(c.hca.qps);
        m_messages->reset(none, engine_kind::wheel);
        fmt::print(
            "Card with 2^20 QPs: set up in {:.3g} ms, all connected by commands in {:.3g} s, {:.3g} bytes "
            "per QP; "
            "2^24 QPs: {:.3g} bytes per untouched QP\n",
            reset_ns / 1e6, connect_ns / 1e9, connected, untouched);
        m_report.json["memory"] = {{"set_up_ms_2_20", reset_ns / 1e6},
                                   {"connect_seconds_2_20", connect_ns / 1e9},
                                   {"bytes_per_connected_qp_2_20", connected},
                                   {"bytes_per_untouched_qp_2_24", untouched}};
        goal("set-up of a card with 2^20 QPs", reset_ns / 1e6, "ms", true, 10);
        goal("memory of a connected idle QP, of 2^20", connected, "bytes", true, 64);
        goal("memory of an untouched QP, of 2^24", untouched, "bytes", true, 1);
    }

    /// A fresh process of this program, from exec to its first simulated cycle.
    void first_cycle() {
        const std::string program = own_program();
        if (program.empty()) {
            return;
        }
        std::vector<double> times;
        for (unsigned i = 0; i < m_options.repeats; ++i) {
            int ends[2];
            if (pipe(ends) != 0) {
                return;
            }
            // Spawned, not forked: the size of this process must not matter.
            std::string now = std::to_string(clock_ns(CLOCK_MONOTONIC));
            std::string words[3] = {program, "bench", first_cycle_option};
            char* const argv[] = {words[0].data(), words[1].data(), words[2].data(), now.data(), nullptr};
            posix_spawn_file_actions_t actions;
            posix_spawn_file_actions_init(&actions);
            posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
            pid_t child = 0;
            const bool started = posix_spawn(&child, program.c_str(), &actions, nullptr, argv, environ) == 0;
            posix_spawn_file_actions_destroy(&actions);
            close(ends[1]);
            std::array<char, 32> text{};
            const ssize_t got = started ? read(ends[0], text.data(), text.size() - 1) : 0;
            close(ends[0]);
            if (started) {
                waitpid(child, nullptr, 0);
            }
            if (got > 0) {
                times.push_back(std::strtod(text.data(), nullptr) / 1e6);
            }
        }
        if (times.empty()) {
            return;
        }
        const spread ms = spread_of(times);
        fmt::print("Start: {:.3g} ms from exec to the first simulated cycle (wall clock)\n", ms.median);
        m_report.json["first_cycle_ms"] = to_json(ms);
        goal("first simulated cycle after start", ms.median, "ms", true, 30);
    }

    /// Points of a sweep, through the command itself: from its start to the last one in the database.
    void sweeps() {
        const std::string program = own_program();
        if (program.empty()) {
            return;
        }
        std::array<char, 64> directory{};
        std::snprintf(directory.data(), directory.size(), "%s",
                      (std::filesystem::temp_directory_path() / "hcasim_bench_XXXXXX").c_str());
        if (mkdtemp(directory.data()) == nullptr) {
            return;
        }
        const std::filesystem::path work = directory.data();
        // Cards that set themselves up; a whole connection with a send each way; 64 connections of SRP.
        const std::string head = "schema = \"hcasim.scenario/1\"\n";
        std::ofstream(work / "short.toml") << head << "[run]\nmax_cycles = 2000\n";
        std::ofstream(work / "whole.toml") << head;
        std::ofstream(work / "many.toml") << head
                                          << "workload = \"srp\"\n[topology]\nhosts = 9\nconnections = 64\n"
                                             "[timers]\nshift = 10\n";
        const unsigned points = m_options.quick ? 1000 : 20000;
        const auto timed = [&](const char* scenario, unsigned count, unsigned jobs) {
            std::ofstream(work / "sweep.toml") << "schema = \"hcasim.sweep/1\"\nscenario = \"" << scenario
                                               << "\"\n[repeat]\nseeds = " << count / 10
                                               << "\n[[axis]]\nkey = \"host.mmio_write_ns\"\nlinear = { from "
                                                  "= 100, to = 190, count = 10 }\n";
            std::filesystem::remove_all(work / "out");
            return run_program({program, "sweep", (work / "sweep.toml").string(), "--out",
                                (work / "out").string(), "--jobs", std::to_string(jobs)});
        };
        const unsigned long_points = m_options.quick ? 20 : 200;
        std::vector<double> rates, whole_rates, gains;
        for (unsigned i = 0; i < std::min(m_options.repeats, 3u); ++i) {
            const double two = timed("short.toml", points, 2).seconds;
            const double whole = timed("whole.toml", points / 4, 2).seconds;
            const double one_job = timed("many.toml", long_points, 1).seconds;
            const double two_jobs = timed("many.toml", long_points, 2).seconds;
            if (two > 0 && whole > 0 && one_job > 0 && two_jobs > 0) {
                rates.push_back(points / two);
                whole_rates.push_back(points / 4 / whole);
                gains.push_back(one_job / two_jobs);
            }
        }
        if (!rates.empty()) {
            const spread rate = spread_of(rates);
            const spread whole = spread_of(whole_rates);
            const spread gain = spread_of(gains);
            fmt::print(
                "Sweep, wall clock, 2 jobs: {:.0f} points/s of 2,000 cycles, {:.0f} points/s of a connection "
                "with a send each way; points of 64 connections: {:.2f} times as many as with 1 job\n",
                rate.median, whole.median, gain.median);
            m_report.json["sweep_points_per_second"] = to_json(rate);
            m_report.json["sweep_connections_per_second"] = to_json(whole);
            m_report.json["sweep_two_jobs_against_one"] = to_json(gain);
            goal("points of a sweep, 2,000 cycles each, 2 jobs", rate.median, "points/s", false, 10000);
            goal("2 jobs against 1, points of 64 connections", gain.median, "", false, 1.8);
        }
        if (!m_options.quick) {
            constexpr unsigned many = 100000;
            const double megabytes = static_cast<double>(timed("short.toml", many, 2).peak_bytes) / 1e6;
            m_report.json["sweep_of_100000_points_mb"] = megabytes;
            goal("memory of a sweep of 100,000 points", megabytes, "MB", true, 300);
        }
        std::filesystem::remove_all(work);
    }

    static std::string own_program() {
        std::array<char, 4096> path{};
        const ssize_t length = readlink("/proc/self/exe", path.data(), path.size() - 1);
        const std::string program =
            length > 0 ? std::string(path.data(), static_cast<std::size_t>(length)) : "";
        const bool is_hcasim = program.size() >= 6 && program.substr(program.size() - 6) == "hcasim";
        return is_hcasim ? program : "";  // not called from another program
    }

    struct finished_program {
        double seconds = 0;  // wall clock; 0: it did not end well
        std::uint64_t peak_bytes = 0;
    };
    static finished_program run_program(std::vector<std::string> words) {
        std::vector<char*> argv;
        for (std::string& word : words) {
            argv.push_back(word.data());
        }
        argv.push_back(nullptr);
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
        const std::uint64_t begin = clock_ns(CLOCK_MONOTONIC);
        pid_t child = 0;
        const bool started = posix_spawn(&child, argv[0], &actions, nullptr, argv.data(), environ) == 0;
        posix_spawn_file_actions_destroy(&actions);
        int status = 0;
        rusage used{};
        if (!started || wait4(child, &status, 0, &used) != child || status != 0) {
            return {};
        }
        return {static_cast<double>(clock_ns(CLOCK_MONOTONIC) - begin) / 1e9,
                static_cast<std::uint64_t>(used.ru_maxrss) * 1024};
    }

    options m_options;
    report m_report;
    std::vector<std::function<void()>> m_goals;
    plain_send_path m_plain;
    std::unique_ptr<model_send_path> m_inside;
    std::unique_ptr<model_send_path> m_tlm;
    std::unique_ptr<message_path> m_messages;
    std::unique_ptr<verilog_send_path> m_verilog;
};

int print_first_cycle(std::uint64_t started_ns) {
    message_path cards("messages");
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    cards.reset({}, engine_kind::wheel);
    cards.run_for(1);
    fmt::print("{}\n", clock_ns(CLOCK_MONOTONIC) - started_ns);
    return 0;
}

}  // namespace

int bench_command(const std::vector<std::string>& arguments) {
    options o;
    try {
        o = parse(arguments);
    } catch (const bad_option& error) {
        fmt::print(stderr, "hcasim bench: {}\n", error.what());
        return exit_bad_options;
    }
    if (o.help) {
        fmt::print("{}", help);
        return 0;
    }
    if (o.started_ns != 0) {
        return print_first_cycle(o.started_ns);
    }
    std::ofstream file;
    if (!o.json.empty()) {
        file.open(o.json);
        if (!file) {
            fmt::print(stderr, "hcasim bench: --json: the file cannot be written\n");
            return exit_bad_options;
        }
    }
    bench b(o);
    const bool same = b.run();
    if (file.is_open()) {
        file << b.json().dump(2) << '\n';
        file.close();
        if (!file) {
            fmt::print(stderr, "hcasim bench: --json: the file cannot be written\n");
            return exit_bad_options;
        }
    }
    return same ? 0 : exit_differs;
}

}  // namespace hcasim
