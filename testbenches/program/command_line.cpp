#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <limits>
#include <string>
#include <vector>

#include "build_info.h"
#include "rtl_cosim/wrap/rtl_places.h"
#include "testbenches/bench/bench_command.h"
#include "testbenches/program/commands.h"
#include "testbenches/program/input_error.h"
#include "testbenches/program/nearest_name.h"
#include "testbenches/sweep/sweep_command.h"

namespace hcasim {

namespace {

constexpr const char* examples = R"(Examples:
  hcasim run traces/first_light.toml
  hcasim run traces/srp_target.toml --set cm.rtu_loss=1.0 --set 'gate.open_on=["rtu"]' --json a.json
  hcasim run traces/srp_target.toml --set gate.policy=software --csv sends.csv
  hcasim params gate
  hcasim check my_scenario.toml
  hcasim regress --junit report.xml
  hcasim cosim all --cycles 1000000 --seed 1
  hcasim sweep traces/studies/rtr_gate.toml --out study
  hcasim compare study other_study --tolerance 0.01
  hcasim report study

Exit codes: 0 good, 1 a result or the Verilog differs, 2 bad input, 3 a rule of the protocol was violated.)";

engine_kind engine_of(const std::string& name) {
    const std::vector<std::string> names{"wheel", "poll"};
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
        throw input_error(to_line({"--engine", "", fmt::format("'{}' is not an engine", printable(name)),
                                   "wheel or poll", nearest_name(name, names)}));
    }
    return found == names.begin() ? engine_kind::wheel : engine_kind::poll;
}

// A seed as an assignment. It is checked here so that the message speaks of --seed.
std::string seed_assignment(const std::string& seed) {
    const std::string largest = std::to_string(std::numeric_limits<std::int64_t>::max());
    const bool digits = !seed.empty() && seed.find_first_not_of("0123456789") == std::string::npos;
    const std::string number =
        digits ? seed.substr(std::min(seed.find_first_not_of('0'), seed.size() - 1)) : "";
    if (!digits || number.size() > largest.size() || (number.size() == largest.size() && number > largest)) {
        throw input_error(to_line({"--seed", "", fmt::format("'{}' is not a seed", printable(seed)),
                                   "an integer from 0 to " + largest, ""}));
    }
    return "seed=" + number;
}

// All options of all commands.
struct command_line {
    CLI::App app{
        "hcasim: what a send costs that is posted before its queue pair may send, in cycles of the HCA",
        "hcasim"};
    CLI::App* run = app.add_subcommand("run", "Simulates a scenario and prints a summary");
    CLI::App* regress =
        app.add_subcommand("regress", "Compares every scenario of a directory with its golden result");
    CLI::App* params =
        app.add_subcommand("params", "Lists the parameters: default, unit, range, meaning, evidence");
    CLI::App* check = app.add_subcommand("check", "Validates scenarios without running them");
    CLI::App* doctor =
        app.add_subcommand("doctor", "Says what is installed, what is missing and the command that mends it");
    CLI::App* cosim = app.add_subcommand(
        "cosim", "Runs the Verilog of a block beside the model and compares them in every cycle");
    CLI::App* sweep = app.add_subcommand(
        "sweep", "Runs a scenario for every point of some axes; goes on with what is missing");
    CLI::App* compare = app.add_subcommand("compare", "Compares two sweeps point by point");
    CLI::App* report = app.add_subcommand("report", "Makes one HTML file of the results of a sweep");
    CLI::App* bench = app.add_subcommand("bench", "Speed of the model against a plain loop of the same work");

    run_arguments run_to;
    std::string seed, engine = "wheel";
    regress_arguments regress_to;
    params_arguments params_to;
    cosim_arguments cosim_to;
    sweep_arguments sweep_to;
    compare_arguments compare_to;
    report_arguments report_to;
    std::vector<std::string> check_files, check_overrides;

    command_line() {
        app.set_version_flag("--version", fmt::format("hcasim {}", build_info::version),
                             "Prints the version");
        app.set_help_flag("-h,--help", "Prints help; `hcasim COMMAND --help` has the options of a command");
        app.require_subcommand(1);
        app.footer(examples);

        run->add_option("SCENARIO", run_to.scenario, "Scenario file (TOML)")->required()->type_name("");
        add_set(run, run_to.overrides);
        CLI::Option* seed_option = run->add_option("--seed", seed, "Seed of every random choice");
        seed_option->type_name("N");
        run->add_option("--json", run_to.json, "Writes the result as JSON (hcasim.run/1)")->type_name("FILE");
        run->add_option("--csv", run_to.csv, "Writes one line per send with the cycle of every stage")
            ->type_name("FILE");
        run->add_option("--wave", run_to.wave, "Writes the visible state of the blocks as VCD")
            ->type_name("FILE.vcd");
        add_engine(run);

        regress
            ->add_option("DIR", regress_to.directory,
                         "Directory with *.toml and golden/*.json; default: traces")
            ->type_name("");
        regress->add_flag("--update", regress_to.update,
                          "Writes the results as golden; review them with git diff");
        add_set(regress, regress_to.overrides);
        regress->add_option("--junit", regress_to.junit, "Writes a JUnit report")->type_name("FILE");
        add_engine(regress);

        params->add_option("FILTER", params_to.filter, "Part of the keys to list")->type_name("");
        params->add_flag("--json", params_to.json, "As JSON");

        check->add_option("FILE", check_files, "Scenario and sweep files")->required()->type_name("");
        add_set(check, check_overrides);
        cosim->add_option("BLOCK", cosim_to.block, "Block, or all (default)")->type_name("");
        cosim->add_option("--cycles", cosim_to.cycles, "Cycles of each block (default 1000000)")
            ->type_name("N")
            ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 62));
        cosim->add_option("--seed", cosim_to.seed, "Seed of the stimulus (default 1)")->type_name("N");
        cosim->add_option("--seeds", cosim_to.seeds, "So many seeds one after the other (default 1)")
            ->type_name("N")
            ->check(CLI::Range(1u, 1000000u));
        cosim->add_option("--episode", cosim_to.episode, "Begins with this episode of the stimulus")
            ->type_name("N")
            ->check(CLI::Range(0u, 4000000000u));
        cosim->add_option("--rtl", cosim_to.rtl, "Verilog to be compared instead of the project's")
            ->type_name("FILE.v");
        cosim->add_option("--map", cosim_to.map, "How the ports of --rtl are named and timed")
            ->type_name("FILE.toml");
        cosim->add_option("--wave", cosim_to.wave, "Waves of the first difference (default cosim_BLOCK.vcd)")
            ->type_name("FILE.vcd");
        cosim->add_flag("--mutants", cosim_to.mutants,
                        "Tries the faults of rtl_cosim/mutants: each must be caught");
        cosim->add_flag("--full-coverage", cosim_to.full_coverage,
                        "Fails when a situation of the coverage list did not come about");
        add_sweep();
        add_compare();
        report->add_option("DIR", report_to.directory, "Directory of a sweep, or its results.db")
            ->required()
            ->type_name("");
        report->add_option("--out", report_to.out, "Default: report.html in the directory")
            ->type_name("FILE");
        // It reads its own options.
        bench->prefix_command();
        bench->set_help_flag();
    }

    void add_sweep() {
        sweep->add_option("SWEEP", sweep_to.sweep, "Sweep file (TOML, docs/sweeps.md)")
            ->required()
            ->type_name("");
        sweep->add_option("--out", sweep_to.out, "Directory for results.db (default: the name of the sweep)")
            ->type_name("DIR");
        sweep->add_option("--jobs", sweep_to.jobs, "Processes (default: one per core)")
            ->type_name("N")
            ->check(CLI::Range(1u, 4096u));
        add_set(sweep, sweep_to.overrides);
        sweep
            ->add_option("--filter", sweep_to.filters,
                         "Runs only points with this value on an axis; all of several filters must hold")
            ->type_name("KEY=VALUE")
            ->allow_extra_args(false);
        sweep->add_flag("--dry-run", sweep_to.dry_run, "Shows the points and how long they will take");
        sweep->add_flag("--fail-fast", sweep_to.fail_fast, "Ends at the first point that fails");
        sweep->add_flag("--retry-failed", sweep_to.retry_failed, "Runs points again that failed before");
        sweep
            ->add_option("--timeout", sweep_to.timeout_seconds,
                         "A point that takes longer has failed (default: none)")
            ->type_name("SECONDS")
            ->check(CLI::Range(0.0, 1e9));
        sweep->add_option("--csv", sweep_to.csv, "Writes all results, one line per point")->type_name("FILE");
        sweep->add_option("--backend", sweep_to.backend, "local, or slurm: job arrays on a cluster")
            ->type_name("NAME");
        sweep->add_option("--slurm-opt", sweep_to.slurm_options, "Option passed to sbatch")
            ->type_name("OPTION")
            ->allow_extra_args(false);
        sweep
            ->add_option("--slurm-chunk-seconds", sweep_to.slurm_chunk_seconds,
                         "Work of a task on the cluster, about (default 30)")
            ->type_name("SECONDS")
            ->check(CLI::Range(0.001, 1e6));
        sweep->add_option("--points", sweep_to.points_file)->group("");
        sweep->add_option("--shard", sweep_to.shard)->group("");
    }
    void add_compare() {
        compare->add_option("A", compare_to.a, "results.db, or the directory of a sweep")
            ->required()
            ->type_name("");
        compare->add_option("B", compare_to.b, "the other one")->required()->type_name("");
        compare
            ->add_option("--tolerance", compare_to.tolerance,
                         "Relative difference that is allowed (default 0)")
            ->type_name("SHARE")
            ->check(CLI::Range(0.0, 1e9));
        compare
            ->add_option("--absolute", compare_to.absolute,
                         "Difference that is allowed beside it, in cycles or messages (default 0)")
            ->type_name("N")
            ->check(CLI::Range(0.0, 1e18));
        compare
            ->add_option("--metric", compare_to.metrics,
                         "Only these: answer, answer.p99, completed, stage ...")
            ->type_name("NAME")
            ->allow_extra_args(false);
        compare
            ->add_option("--ignore", compare_to.ignore,
                         "Axis that does not tell points apart, to compare two designs")
            ->type_name("KEY")
            ->allow_extra_args(false);
        compare->add_option("--most", compare_to.most, "Differences shown (default 20)")->type_name("N");
        compare->add_option("--csv", compare_to.csv, "Writes every difference")->type_name("FILE");
    }

    static void add_set(CLI::App* command, std::vector<std::string>& into) {
        command
            ->add_option(
                "--set", into,
                "Overrides a parameter; the value is written as in TOML, quotes around words are optional")
            ->type_name("KEY=VALUE")
            ->allow_extra_args(false);
    }
    void add_engine(CLI::App* command) {
        command->add_option("--engine", engine, "wheel (fast) or poll (the oracle); the results are the same")
            ->type_name("NAME");
    }

    std::vector<std::string> commands() const {
        std::vector<std::string> names;
        for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
            names.push_back(command->get_name());
        }
        return names;
    }

    // The command that was given, or the program itself.
    const CLI::App& chosen() const {
        const auto given = app.get_subcommands();
        return given.empty() ? app : *given.front();
    }

    std::string where() const { return &chosen() == &app ? "hcasim" : "hcasim " + chosen().get_name(); }

    // A file option that was given without a name would otherwise count as not given.
    void refuse_empty_values() const {
        for (const CLI::Option* option : chosen().get_options()) {
            for (const std::string& value : option->results()) {
                if (value.empty()) {
                    throw input_error(to_line({where(), option->get_name(), "is empty", "a value", ""}));
                }
            }
        }
    }

    input_error explained(const CLI::ParseError& error) const {
        const CLI::App& command = chosen();
        const auto extras = command.remaining(true);
        if (!extras.empty()) {
            std::vector<std::string> names;
            for (const CLI::Option* option : command.get_options()) {
                for (const std::string& name : option->get_lnames()) {
                    names.push_back("--" + name);
                }
            }
            const std::string given = extras.front().substr(0, extras.front().find('='));
            const bool option = given.rfind('-', 0) == 0;
            return input_error(to_line({where(), printable(given),
                                        option ? "is not a known option" : "is one argument too many",
                                        option ? "an option that `" + where() + " --help` lists" : "",
                                        option ? nearest_name(given, names) : ""}));
        }
        std::string words = error.what();
        std::replace(words.begin(), words.end(), '\n', ' ');
        return input_error(to_line({where(), "", words, "what `" + where() + " --help` says", ""}));
    }
};

int dispatch(command_line& line, std::vector<std::string> arguments) {
    if (!arguments.empty() && arguments.front() == "help") {
        // "help run" is "run --help".
        arguments = arguments.size() > 1 ? std::vector<std::string>{arguments[1], "--help"}
                                         : std::vector<std::string>{"--help"};
    }
    const std::vector<std::string> commands = line.commands();
    const std::string all = fmt::format("one of {}", fmt::join(commands, ", "));
    if (arguments.empty()) {
        throw input_error(
            to_line({"hcasim", "", "no command given", all + " (`hcasim --help` explains them)", ""}));
    }
    const std::string& first = arguments.front();
    if (first.rfind('-', 0) != 0 && std::find(commands.begin(), commands.end(), first) == commands.end()) {
        throw input_error(
            to_line({"hcasim", printable(first), "is not a command", all, nearest_name(first, commands)}));
    }
    if (first == "bench") {
        return bench_command({arguments.begin() + 1, arguments.end()});
    }
    try {
        line.app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
    } catch (const CLI::Success& help) {
        return line.app.exit(help);
    } catch (const CLI::ParseError& error) {
        throw line.explained(error);
    }
    line.refuse_empty_values();
    if (*line.run) {
        if (line.run->count("--seed") != 0) {
            line.run_to.overrides.push_back(seed_assignment(line.seed));
        }
        line.run_to.engine = engine_of(line.engine);
        return run_command(line.run_to);
    }
    if (*line.regress) {
        line.regress_to.engine = engine_of(line.engine);
        return regress_command(line.regress_to);
    }
    if (*line.params) {
        return params_command(line.params_to);
    }
    if (*line.cosim) {
        return cosim_command(line.cosim_to);
    }
    if (*line.sweep) {
        return sweep_command(line.sweep_to);
    }
    if (*line.compare) {
        return compare_command(line.compare_to);
    }
    if (*line.report) {
        return report_command(line.report_to);
    }
    if (*line.check) {
        return check_command(line.check_files, line.check_overrides);
    }
    return doctor_command();
}

}  // namespace

int program_main(const std::vector<std::string>& arguments) {
    set_rtl_places({std::string(build_info::source_directory) + "/rtl_cosim",
                    std::string(build_info::build_directory) + "/rtl"});
    try {
        command_line line;
        return dispatch(line, arguments);
    } catch (const input_error& error) {
        std::fflush(stdout);
        fmt::print(stderr, "{}\n", error.what());
        return exit_bad_input;
    } catch (const std::exception& error) {
        std::fflush(stdout);
        fmt::print(stderr, "hcasim: internal error: {}\n", printable(error.what(), 1000));
        return exit_internal;
    }
}

}  // namespace hcasim
