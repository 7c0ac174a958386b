#ifndef HCASIM_RTL_COSIM_LOCKSTEP_LOCKSTEP_BENCHES_H
#define HCASIM_RTL_COSIM_LOCKSTEP_LOCKSTEP_BENCHES_H

#include <memory>
#include <string>
#include <vector>

#include "rtl_cosim/lockstep/lockstep_bench.h"

namespace hcasim {

/// Names of the blocks that have Verilog and a lockstep bench, in the order of the send path.
const std::vector<std::string>& lockstep_blocks();

/// The bench of a block; null when there is none of that name. Before elaboration ends.
std::unique_ptr<lockstep_bench> make_lockstep_bench(const std::string& block);

}  // namespace hcasim

#endif
