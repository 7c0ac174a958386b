#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "rtl_cosim/lockstep/lockstep_benches.h"
#include "rtl_cosim/lockstep/scheduler_order.h"
#include "rtl_cosim/wrap/rtl_places.h"
#include "testbenches/program/commands.h"
#include "testbenches/program/cosim_history.h"
#include "testbenches/program/cosim_mutants.h"
#include "testbenches/program/input_error.h"
#include "testbenches/program/nearest_name.h"
#include "testbenches/program/output_file.h"
#include "testbenches/program/rtl_map_file.h"

namespace hcasim {

namespace {

constexpr std::uint64_t wave_clock_mhz = 250;

std::vector<std::string> chosen_blocks(const std::string& block) {
    const std::vector<std::string>& all = lockstep_blocks();
    if (block.empty() || block == "all") {
        return all;
    }
    if (std::find(all.begin(), all.end(), block) == all.end()) {
        throw input_error(
            to_line({"hcasim cosim", printable(block), "is not a block that has Verilog",
                     fmt::format("all or one of {}", fmt::join(all, ", ")), nearest_name(block, all)}));
    }
    return {block};
}

std::unique_ptr<lockstep_bench> bench_of(const std::string& block) {
    auto bench = make_lockstep_bench(block);
    if (bench == nullptr) {
        throw std::logic_error("no lockstep bench of " + block);
    }
    return bench;
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// Progress on a terminal only.
std::function<void(std::uint64_t)> progress_of(const std::string& block, std::uint64_t cycles) {
    if (::isatty(2) == 0) {
        return {};
    }
    return [block, cycles](std::uint64_t done) {
        fmt::print(stderr, "\r{} {} of {} cycles \x1b[K", block, done, cycles);
        if (done >= cycles) {
            fmt::print(stderr, "\r\x1b[K");
        }
        std::fflush(stderr);
    };
}

void explain(const std::string& block, const lockstep_result& result, cosim_history& history,
             const cosim_arguments& arguments) {
    const rtl_difference& d = *result.difference;
    fmt::print("\n{}: first difference in cycle {} of episode {}, seed {}\n", block, d.cycle, result.episode,
               arguments.seed);
    fmt::print("  port     {}\n  model    {}\n  Verilog  {}\n", d.port, d.expected, d.actual);
    const auto messages = history.last_messages(d.has_qpn, d.qpn, d.cycle);
    fmt::print("  last {} messages {}\n", messages.size(),
               d.has_qpn ? fmt::format("of QP {}", d.qpn) : std::string("of all QPs"));
    for (const auto& m : messages) {
        fmt::print("  {:>9}  {:<18} {}\n", m.cycle, m.port, m.text);
    }
    const std::string path = arguments.wave.empty() ? fmt::format("cosim_{}.vcd", block) : arguments.wave;
    output_file wave{"--wave", path};
    std::ostringstream text;
    history.waves().write(text, wave_clock_mhz, history.last_cycle());
    wave.write(text.str());
    fmt::print("  waves of model and Verilog around it: {}\n", path);
    fmt::print("  again: hcasim cosim {} --seed {} --episode {} --cycles {}{}\n", block, arguments.seed,
               result.episode, d.cycle + 16,
               arguments.rtl.empty() ? ""
                                     : fmt::format(" --rtl {}{}", arguments.rtl,
                                                   arguments.map.empty() ? "" : " --map " + arguments.map));
}

void print_missing(const coverage& covered) {
    if (covered.covered() == covered.size()) {
        return;
    }
    fmt::print("  not covered:\n");
    for (std::size_t i = 0; i < covered.size(); ++i) {
        if (covered.hits(i) == 0) {
            fmt::print("    {}\n", covered.name(i));
        }
    }
}

lockstep_options options_of(const cosim_arguments& a) {
    lockstep_options o;
    o.cycles = a.cycles;
    o.seed = a.seed;
    o.first_episode = static_cast<std::uint32_t>(a.episode);
    return o;
}

// The user's design, or none.
std::optional<rtl_stand_in> stand_in_of(const cosim_arguments& arguments, const rtl_map* map) {
    if (arguments.rtl.empty()) {
        return std::nullopt;
    }
    rtl_stand_in design;
    design.source.files = {arguments.rtl};
    design.source.directory = std::filesystem::path(arguments.rtl).parent_path().string();
    design.source.strict = false;
    if (map == nullptr) {
        design.source.top = arguments.block;
        return design;
    }
    design.source.top = map->top;
    design.source.parameters = map->parameters;
    design.same_parameters = !map->has_parameters;
    design.size_parameters = map->size_parameters;
    design.ports = map->ports;
    design.constants = map->constants;
    design.policies = map->policies;
    design.clock = map->clock;
    design.reset = map->reset;
    design.reset_is_low = map->reset_is_low;
    design.latency_cycles = map->latency_cycles;
    return design;
}

int compare_blocks(const cosim_arguments& arguments, const rtl_map* map) {
    const auto blocks = chosen_blocks(arguments.block);
    std::vector<std::unique_ptr<lockstep_bench>> benches;
    benches.reserve(blocks.size());
    for (const std::string& block : blocks) {
        benches.push_back(bench_of(block));
        const auto design = stand_in_of(arguments, map);
        benches.back()->verilog().set_stand_in(design);
        benches.back()->set_small_only(design.has_value());
        benches.back()->set_calm(design && design->latency_cycles != 0);
    }
    const std::string seeds = arguments.seeds == 1 ? fmt::format("seed {}", arguments.seed)
                                                   : fmt::format("seeds {} to {}", arguments.seed,
                                                                 arguments.seed + arguments.seeds - 1);
    fmt::print("model and Verilog in lockstep, every output in every cycle; {}\n\n", seeds);
    fmt::print("{:<18} {:>12} {:>12} {:>9} {:>10} {:>9}\n", "block", "cycles", "messages", "episodes",
               "coverage", "seconds");
    int code = exit_good;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        const auto begin = std::chrono::steady_clock::now();
        cosim_history history;
        lockstep_bench& bench = *benches[i];
        lockstep_result sum;
        cosim_arguments at = arguments;
        for (std::uint64_t n = 0; n < arguments.seeds && !sum.difference; ++n) {
            at.seed = arguments.seed + n;
            const lockstep_result result =
                run_lockstep(bench, options_of(at), &history, progress_of(blocks[i], arguments.cycles));
            sum.cycles += result.cycles;
            sum.transfers += result.transfers;
            sum.episodes += result.episodes;
            sum.difference = result.difference;
            sum.episode = result.episode;
        }
        const coverage& covered = bench.covered();
        fmt::print("{:<18} {:>12} {:>12} {:>9} {:>10} {:>9.1f}  {}\n", blocks[i], sum.cycles, sum.transfers,
                   sum.episodes, fmt::format("{}/{}", covered.covered(), covered.size()),
                   seconds_since(begin), sum.difference ? "DIFFERENT" : "equal");
        std::fflush(stdout);
        if (sum.difference) {
            explain(blocks[i], sum, history, at);
            code = exit_differs;
        } else {
            print_missing(covered);
            if (arguments.full_coverage && covered.covered() != covered.size()) {
                code = exit_differs;
            }
        }
    }
    return code;
}

// Compiles ahead, two at a time: the compiler takes longer than the comparison.
void compile_ahead(const std::vector<verilog_source>& sources) {
    std::atomic<std::size_t> next{0};
    const auto work = [&] {
        for (std::size_t i = next++; i < sources.size(); i = next++) {
            try {
                verilog_block::compile(sources[i]);
            } catch (const verilog_error&) {
                // Said when it is its turn.
            }
        }
    };
    std::vector<std::thread> threads;
    const unsigned cores = std::max(1u, std::min(8u, std::thread::hardware_concurrency()));
    for (unsigned i = 0; i < cores; ++i) {
        threads.emplace_back(work);
    }
    for (std::thread& t : threads) {
        t.join();
    }
}

verilog_source source_of(const cosim_arguments& arguments, const rtl_map& map) {
    verilog_source s;
    s.top = map.top;
    s.files = {arguments.rtl};
    s.directory = std::filesystem::path(arguments.rtl).parent_path().string();
    s.parameters = map.parameters;
    s.strict = false;
    return s;
}

void print_waits(const char* who, const distribution& d) {
    fmt::print("  {:<8} min {:>5}  p50 {:>5}  p90 {:>5}  p99 {:>6}  max {:>7}\n", who, d.min(),
               d.percentile(500), d.percentile(900), d.percentile(990), d.max());
}

// A scheduler of the user's that is not the same machine: what it lets go, not when.
int compare_order(const cosim_arguments& arguments, const rtl_map& map) {
    scheduler_reference reference;
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    mapped_scheduler own(source_of(arguments, map), map);
    const order_result r = run_scheduler_order(reference, own, arguments.cycles, arguments.seed,
                                               static_cast<std::uint32_t>(arguments.episode));
    fmt::print(
        "{} ({}) against the model of send_scheduler: the same WQEs of every QP in the same order; seed "
        "{}\n\n",
        map.top, arguments.rtl, arguments.seed);
    fmt::print("{} cycles, {} episodes, {} QPs\n", r.cycles, r.episodes, std::min(own.qps(), 1024u));
    fmt::print("{} WQEs granted, {} requests of an empty queue\n", r.wqes, r.empty_requests);
    fmt::print("{} of {} WQEs have the same place in the order of all QPs\n", r.same_place, r.wqes);
    fmt::print("cycles from posted and gate open to granted\n");
    print_waits("model", r.model_wait_cycles);
    print_waits("Verilog", r.verilog_wait_cycles);
    if (r.violation.empty()) {
        fmt::print("\nequal: every WQE once, in order, none behind a closed gate, none left\n");
        return exit_good;
    }
    fmt::print("\nDIFFERENT in cycle {} of episode {}: {}\n", r.violation_cycle, r.episode, r.violation);
    fmt::print("again: hcasim cosim send_scheduler --rtl {} --map {} --seed {} --episode {} --cycles 1\n",
               arguments.rtl, arguments.map, arguments.seed, r.episode);
    return exit_differs;
}

int try_mutants(const cosim_arguments& arguments) {
    const auto blocks = chosen_blocks(arguments.block);
    const auto mutants = find_mutants(arguments.block);
    if (mutants.empty()) {
        throw input_error(to_line({"hcasim cosim --mutants", "", "there are no mutants",
                                   places_of_rtl().sources + "/mutants/BLOCK/*.patch", ""}));
    }
    std::vector<std::unique_ptr<lockstep_bench>> benches;
    for (const std::string& block : blocks) {
        benches.push_back(bench_of(block));
    }
    fmt::print("{} mutants, each against the model until it is caught; seed {}, at most {} cycles\n\n",
               mutants.size(), arguments.seed, arguments.cycles);
    const std::string work = places_of_rtl().cache + fmt::format("/mutants.{}", ::getpid());
    std::vector<verilog_source> sources;
    std::vector<verilog_source> to_compile;
    for (const cosim_mutant& m : mutants) {
        sources.push_back(apply_mutant(m, fmt::format("{}/{}/{}", work, m.block, m.name)));
        const auto known = std::find(blocks.begin(), blocks.end(), m.block);
        if (known != blocks.end()) {
            // The designs that the first episodes use.
            for (const auto& sizes :
                 benches[static_cast<std::size_t>(known - blocks.begin())]->sizes_of_mutants()) {
                to_compile.push_back(sources.back());
                to_compile.back().parameters = sizes;
            }
        }
    }
    compile_ahead(to_compile);

    std::size_t survived = 0;
    for (std::size_t i = 0; i < mutants.size(); ++i) {
        const cosim_mutant& m = mutants[i];
        const auto known = std::find(blocks.begin(), blocks.end(), m.block);
        if (known == blocks.end()) {
            throw input_error(to_line({m.patch, "", "there is no such block", "", ""}));
        }
        lockstep_bench& bench = *benches[static_cast<std::size_t>(known - blocks.begin())];
        rtl_stand_in mutant;
        mutant.source = sources[i];
        bench.verilog().set_stand_in(mutant);
        bench.set_small_only(true);
        const lockstep_result result = run_lockstep(bench, options_of(arguments), nullptr);
        if (result.difference) {
            fmt::print("{:<18} {:<34} caught in cycle {:>7}  {:<22} {}\n", m.block, m.name, result.cycles,
                       result.difference->port, m.description);
        } else {
            ++survived;
            fmt::print("{:<18} {:<34} NOT CAUGHT in {} cycles  {}\n", m.block, m.name, result.cycles,
                       m.description);
        }
        std::fflush(stdout);
    }
    std::error_code error;
    std::filesystem::remove_all(work, error);
    fmt::print("\n{} of {} mutants caught\n", mutants.size() - survived, mutants.size());
    return survived == 0 ? exit_good : exit_differs;
}

}  // namespace

int cosim_command(const cosim_arguments& arguments) {
    if (arguments.mutants && (!arguments.rtl.empty() || !arguments.map.empty())) {
        throw input_error(to_line({"hcasim cosim", "--mutants", "does not go with --rtl or --map",
                                   "mutants are those of the project's Verilog", ""}));
    }
    if (!arguments.map.empty() && arguments.rtl.empty()) {
        throw input_error(to_line({"hcasim cosim", "--map", "is given without --rtl", "--rtl FILE.v", ""}));
    }
    if (!arguments.rtl.empty() && (arguments.block == "all" || arguments.block.empty())) {
        throw input_error(to_line({"hcasim cosim", "--rtl", "needs the block in whose place it stands",
                                   fmt::format("one of {}", fmt::join(lockstep_blocks(), ", ")), ""}));
    }
    try {
        if (!arguments.map.empty()) {
            const rtl_map map = read_rtl_map(arguments.map);
            const auto blocks = chosen_blocks(arguments.block);
            if (map.block != blocks.front()) {
                throw input_error(to_line({arguments.map, "block", "is '" + map.block + "'",
                                           "'" + blocks.front() + "', as on the command line", ""}));
            }
            if (map.compare == rtl_map::comparison::order) {
                return compare_order(arguments, map);
            }
            return compare_blocks(arguments, &map);
        }
        return arguments.mutants ? try_mutants(arguments) : compare_blocks(arguments, nullptr);
    } catch (const verilog_error& error) {
        // One line, and below it what a tool has said.
        std::fflush(stdout);
        fmt::print(stderr, "{}\n", error.what());
        return exit_bad_input;
    }
}

}  // namespace hcasim
