#ifndef HCASIM_RTL_COSIM_LOCKSTEP_SCHEDULER_PLAN_H
#define HCASIM_RTL_COSIM_LOCKSTEP_SCHEDULER_PLAN_H

#include <cstdint>
#include <vector>

#include "model/clock/engine.h"
#include "rtl_cosim/lockstep/load.h"

namespace hcasim {

/// What happens to a scheduler, at given cycles, whatever it does: doorbells and gates. The same plan is
/// played to two schedulers that need not have the same timing.
struct scheduler_plan {
    struct step {
        cycle_t cycle = 0;
        std::uint32_t qpn = 0;
        bool is_gate = false;
        bool opens = false;          ///< a gate
        std::uint16_t producer = 0;  ///< a doorbell
    };
    std::uint32_t qps = 0;
    cycle_t service_cycles = 1;         ///< from a grant to its end
    std::vector<step> steps;            ///< by cycle
    std::vector<std::uint16_t> posted;  ///< by QP, at the end
    cycle_t last_cycle = 0;             ///< of the steps; from then on all gates are open
};

/// Draws a plan: doorbells for `cycles` cycles, gates that open before, with and behind them, some that close
/// again.
scheduler_plan make_scheduler_plan(std::uint64_t seed, std::uint32_t qps, cycle_t cycles);

}  // namespace hcasim

#endif
