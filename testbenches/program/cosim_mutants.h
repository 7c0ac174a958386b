#ifndef HCASIM_TESTBENCHES_PROGRAM_COSIM_MUTANTS_H
#define HCASIM_TESTBENCHES_PROGRAM_COSIM_MUTANTS_H

#include <cstdint>
#include <string>
#include <vector>

#include "rtl_cosim/wrap/verilog_source.h"

namespace hcasim {

/// A single fault in the Verilog of a block: a patch below rtl_cosim/mutants/BLOCK/. What stands before the
/// diff says in words what is wrong.
struct cosim_mutant {
    std::string block;
    std::string name;         ///< "07_lost_wake_up"
    std::string patch;        ///< path of the patch
    std::string description;  ///< first line of the patch
};

/// All mutants, or those of one block ("all" or empty: all), by block and name.
std::vector<cosim_mutant> find_mutants(const std::string& block);

/// The project's Verilog with the patch applied in `directory`, which is emptied first. Throws verilog_error
/// when the patch does not apply or changes nothing.
verilog_source apply_mutant(const cosim_mutant& mutant, const std::string& directory);

}  // namespace hcasim

#endif
