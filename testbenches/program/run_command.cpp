#include <fmt/format.h>

#include <cstdio>
#include <sstream>

#include "rtl_cosim/wrap/rtl_difference.h"
#include "rtl_cosim/wrap/verilog_source.h"
#include "testbenches/bench/scenario.h"
#include "testbenches/program/commands.h"
#include "testbenches/program/config_hash.h"
#include "testbenches/program/output_file.h"
#include "testbenches/program/run_csv.h"
#include "testbenches/program/run_json.h"
#include "testbenches/program/run_summary.h"
#include "testbenches/program/scenario_file.h"
#include "testbenches/program/vcd_writer.h"

namespace hcasim {

namespace {

run_result run_or_explain(const scenario_file& file, const run_options& options) {
    try {
        return run_scenario(file.config, options);
    } catch (const scenario_error& error) {
        throw file.located(error);
    } catch (const verilog_error& error) {
        throw input_error(file.path + ": " + error.what());
    }
}

}  // namespace

int run_command(const run_arguments& arguments) {
    const scenario_file file = read_scenario(arguments.scenario, arguments.overrides);
    require_distinct_files(
        arguments.scenario,
        {{"--json", arguments.json}, {"--csv", arguments.csv}, {"--wave", arguments.wave}});
    output_file json{"--json", arguments.json};
    output_file csv{"--csv", arguments.csv};
    output_file wave{"--wave", arguments.wave};

    run_options options;
    options.engine = arguments.engine;
    vcd_writer vcd;
    if (wave.wanted()) {
        options.wave = [&vcd](std::uint64_t cycle, const std::string& signal, std::uint32_t width,
                              std::uint64_t value) { vcd.change(cycle, signal, width, value); };
    }
    run_result result;
    try {
        result = run_or_explain(file, options);
    } catch (const rtl_mismatch& mismatch) {
        fmt::print(stderr, "{}: {}\n", arguments.scenario, mismatch.what());
        return exit_differs;
    }
    const std::string hash = config_hash(file.config);

    if (json.wanted()) {
        json.write(json_text(run_json(result, hash, true)));
    }
    if (csv.wanted()) {
        csv.write(run_csv(result));
    }
    if (wave.wanted()) {
        std::ostringstream text;
        vcd.write(text, result.clock_mhz, result.cycles);
        wave.write(text.str());
    }
    fmt::print("{}", run_summary(result, file.config, hash));
    for (const output_file* written : {&json, &csv, &wave}) {
        if (written->wanted()) {
            fmt::print("{} written to {}\n", written->option().substr(2), written->path());
        }
    }
    std::fflush(stdout);
    if (result.invariants_violated != 0) {
        fmt::print(stderr, "{}: violated: {}\n", arguments.scenario, result.violation);
        return exit_violated;
    }
    return exit_good;
}

}  // namespace hcasim
