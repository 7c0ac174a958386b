#ifndef HCASIM_TESTBENCHES_PROGRAM_RUN_CSV_H
#define HCASIM_TESTBENCHES_PROGRAM_RUN_CSV_H

#include <string>

#include "testbenches/bench/run_result.h"

namespace hcasim {

/// One line per measured WQE with the cycle of every point it passed; a point that it did not reach is an
/// empty field.
std::string run_csv(const run_result& result);

}  // namespace hcasim

#endif
