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
#include "rtl_cosim/wrap/rtl_places.h"
#include "testbenches/program/commands.h"
#include "testbenches/program/cosim_history.h"
#include "testbenches/program/cosim_mutants.h"
#include "testbenches/program/input_error.h"
#include "testbenches/program/nearest_name.h"
#include "testbenches/program/output_file.h"

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

int compare_blocks(const cosim_arguments& arguments) {
    const auto blocks = chosen_blocks(arguments.block);
    std::vector<std::unique_ptr<lockstep_bench>> benches;
    benches.reserve(blocks.size());
    for (const std::string& block : blocks) {
        benches.push_back(bench_of(block));
    }
    fmt::print("model and Verilog in lockstep, every output in every cycle; seed {}\n\n", arguments.seed);
    fmt::print("{:<18} {:>12} {:>12} {:>9} {:>10} {:>9}\n", "block", "cycles", "messages", "episodes",
               "coverage", "seconds");
    int code = exit_good;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        const auto begin = std::chrono::steady_clock::now();
        cosim_history history;
        lockstep_bench& bench = *benches[i];
        const lockstep_result result =
            run_lockstep(bench, options_of(arguments), &history, progress_of(blocks[i], arguments.cycles));
        const coverage& covered = bench.covered();
        fmt::print("{:<18} {:>12} {:>12} {:>9} {:>10} {:>9.1f}  {}\n", blocks[i], result.cycles,
                   result.transfers, result.episodes, fmt::format("{}/{}", covered.covered(), covered.size()),
                   seconds_since(begin), result.difference ? "DIFFERENT" : "equal");
        std::fflush(stdout);
        if (result.difference) {
            explain(blocks[i], result, history, arguments);
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
        bench.verilog().set_source(sources[i]);
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
    try {
        return arguments.mutants ? try_mutants(arguments) : compare_blocks(arguments);
    } catch (const verilog_error& error) {
        throw input_error(error.what());
    }
}

}  // namespace hcasim
