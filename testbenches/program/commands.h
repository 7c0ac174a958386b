#ifndef HCASIM_TESTBENCHES_PROGRAM_COMMANDS_H
#define HCASIM_TESTBENCHES_PROGRAM_COMMANDS_H

#include <cstdint>
#include <string>
#include <vector>

#include "model/clock/engine.h"

namespace hcasim {

/// Exit codes of the program (docs/scenarios.md).
enum exit_code : int {
    exit_good = 0,
    exit_differs = 1,    ///< regress: a result is not the golden one; cosim: model and Verilog differ
    exit_bad_input = 2,  ///< one line on standard error says what and where
    exit_violated = 3,   ///< a run broke a rule of the protocol
    exit_internal = 70,  ///< a fault of the program itself
};

struct run_arguments {
    std::string scenario;
    std::vector<std::string> overrides;  ///< "key=value"
    std::string json, csv, wave;         ///< empty: not wanted
    engine_kind engine = engine_kind::wheel;
};
int run_command(const run_arguments& arguments);

struct params_arguments {
    std::string filter;
    bool json = false;
};
int params_command(const params_arguments& arguments);

int check_command(const std::vector<std::string>& files, const std::vector<std::string>& overrides);

int doctor_command();

struct regress_arguments {
    std::string directory;               ///< empty: traces/ here, or that of the source tree
    std::vector<std::string> overrides;  ///< "key=value", for every scenario
    bool update = false;
    std::string junit;
    engine_kind engine = engine_kind::wheel;
};
int regress_command(const regress_arguments& arguments);

struct cosim_arguments {
    std::string block = "all";
    std::uint64_t cycles = 1000000;  ///< of each block
    std::uint64_t seed = 1;
    std::uint64_t seeds = 1;    ///< so many seeds, from `seed` on, each for so many cycles
    std::uint64_t episode = 0;  ///< the first one
    std::string rtl;            ///< Verilog of the user's; empty: the project's
    std::string map;            ///< how its ports are named
    std::string wave;           ///< VCD of the first difference; empty: cosim_BLOCK.vcd
    bool mutants = false;
    bool full_coverage = false;  ///< a situation that did not come about is a failure
};
int cosim_command(const cosim_arguments& arguments);

struct report_arguments {
    std::string directory;  ///< of a sweep, or the path of its results.db
    std::string out;        ///< empty: report.html in the directory
};
int report_command(const report_arguments& arguments);

/// The whole command line without the program's name. Prints, and returns the exit code; throws nothing.
int program_main(const std::vector<std::string>& arguments);

}  // namespace hcasim

#endif
