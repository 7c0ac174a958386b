#ifndef HCASIM_TESTBENCHES_BENCH_BENCH_COMMAND_H
#define HCASIM_TESTBENCHES_BENCH_BENCH_COMMAND_H

#include <string>
#include <vector>

namespace hcasim {

/// `hcasim bench`: how fast the model is, against a plain C++ loop of the same work and against the goals.
/// What is simulated is the same in every run; only the times differ. SystemC must not have elaborated
/// anything.
///
/// Options: `--quick` (few and short measurements), `--repeats N` (1..1000), `--json FILE`, `--help`. Returns
/// 0; 1 when the model and the plain loop did not do the same, cycle for cycle; 2 for bad options or a file
/// that cannot be written, after one line on standard error.
int bench_command(const std::vector<std::string>& arguments);

}  // namespace hcasim

#endif
