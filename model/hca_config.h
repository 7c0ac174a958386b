#ifndef HCASIM_MODEL_HCA_CONFIG_H
#define HCASIM_MODEL_HCA_CONFIG_H

#include <cstdint>

#include "model/command_unit/command_unit_config.h"
#include "model/completion_unit/completion_unit_config.h"
#include "model/doorbell_unit/doorbell_unit_config.h"
#include "model/host_interface/host_interface_config.h"
#include "model/link/link_config.h"
#include "model/qp_context_cache/qp_context_cache_config.h"
#include "model/receive_engine/receive_engine_config.h"
#include "model/send_engine/send_engine_config.h"
#include "model/send_scheduler/send_scheduler_config.h"

namespace hcasim {

/// Everything that hca::reset() applies.
struct hca_config {
    std::uint64_t clock_mhz = 250;  ///< core clock; the period of the clock domain must agree
    std::uint32_t qps = 1024;       ///< QP slots, a power of two; slot = QPN modulo qps
    std::uint32_t timer_shift = 0;  ///< transport timers are divided by 2^timer_shift
    std::uint16_t lid = 1;
    std::uint64_t context_address = 0x1000000;  ///< context memory in the host: qps slots of 256 bytes
    std::uint64_t seed = 1;                     ///< of the fault injector
    std::uint32_t stall_per_1024 = 0;           ///< injected back-pressure on every channel (tests)
    std::uint64_t stall_seed = 0;
    doorbell_unit_config doorbell_unit;
    qp_context_cache_config qp_context_cache;
    send_scheduler_config send_scheduler;
    send_engine_config send_engine;
    receive_engine_config receive_engine;
    completion_unit_config completion_unit;
    command_unit_config command_unit;
    link_config link;
    host_interface_config host_interface;

    /// All parameters of the HCA; not the ones that the platform decides (lid, addresses, seeds).
    void describe(parameter_list& list);
};

}  // namespace hcasim

#endif
