#ifndef HCASIM_RTL_COSIM_LOCKSTEP_SCHEDULER_ORDER_H
#define HCASIM_RTL_COSIM_LOCKSTEP_SCHEDULER_ORDER_H

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/clock/engine.h"
#include "model/stats/distribution.h"
#include "rtl_cosim/lockstep/rtl_map.h"
#include "rtl_cosim/lockstep/scheduler_plan.h"
#include "rtl_cosim/wrap/verilog_block.h"

namespace hcasim {

/// A WQE that a scheduler let go.
struct scheduled_wqe {
    cycle_t cycle = 0;
    std::uint32_t qpn = 0;
    std::uint16_t index = 0;
};

/// The model's send scheduler, playing plans. Made before elaboration ends.
class scheduler_reference {
public:
    scheduler_reference();
    ~scheduler_reference();
    /// What it lets go, in order, one WQE per grant.
    std::vector<scheduled_wqe> play(const scheduler_plan& plan, cycle_t last);

private:
    struct parts;
    std::unique_ptr<parts> m_parts;
};

/// A scheduler of the user's behind a map, playing plans: doorbells, gates and ends of service reach it by
/// the ports that it has, with or without back-pressure.
class mapped_scheduler {
public:
    /// Throws verilog_error: the design does not compile, or the map does not fit it.
    mapped_scheduler(const verilog_source& source, const rtl_map& map);
    ~mapped_scheduler();

    struct outcome {
        std::vector<scheduled_wqe> wqes;
        std::uint64_t empty_requests = 0;  ///< grants of a queue without a WQE
        std::uint64_t waits = 0;           ///< cycles in which a message found its port not ready
        std::string violation;             ///< first rule that was broken; empty: none
        cycle_t violation_cycle = 0;
    };
    outcome play(const scheduler_plan& plan, cycle_t last);
    /// The largest number of QPs that its ports can name, at most 65536.
    std::uint32_t qps() const;

private:
    struct parts;
    std::unique_ptr<parts> m_parts;
};

struct order_result {
    std::uint64_t cycles = 0;
    std::uint32_t episodes = 0;
    std::uint64_t wqes = 0;
    std::uint64_t same_place = 0;  ///< WQEs that have the same place in the order of all as with the model
    std::uint64_t empty_requests = 0;
    distribution model_wait_cycles;  ///< posted and gate open, to granted
    distribution verilog_wait_cycles;
    std::string violation;      ///< empty: the same WQEs of every QP in the same order
    std::uint32_t episode = 0;  ///< of the violation
    cycle_t violation_cycle = 0;
};

/// Compares a user's scheduler with the model over episodes of 20000 cycles.
order_result run_scheduler_order(scheduler_reference& reference, mapped_scheduler& own, std::uint64_t cycles,
                                 std::uint64_t seed, std::uint32_t first_episode);

}  // namespace hcasim

#endif
