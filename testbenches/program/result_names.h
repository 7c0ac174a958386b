#ifndef HCASIM_TESTBENCHES_PROGRAM_RESULT_NAMES_H
#define HCASIM_TESTBENCHES_PROGRAM_RESULT_NAMES_H

#include <string>

#include "model/ib/qp_context.h"
#include "model/stats/stage.h"

namespace hcasim {

/// "rtu", "packet", "comm_est" as in gate.open_on; "command" for a modify_qp without such a reason; "none".
std::string opener_name(ib::gate_opener opener);

/// Name of the point in time, in the order of `stage`: "submitted", "posted" ... (hcasim::name(stage) is the
/// way to it).
std::string point_name(stage s);

}  // namespace hcasim

#endif
