#ifndef HCASIM_MODEL_HOST_INTERFACE_HOST_INTERFACE_CONFIG_H
#define HCASIM_MODEL_HOST_INTERFACE_HOST_INTERFACE_CONFIG_H

#include <cstdint>

#include "model/stats/parameter.h"

namespace hcasim {

/// The HCA's end of the host bus.
struct host_interface_config {
    std::uint32_t reads_outstanding = 64;
    std::uint32_t bytes_per_cycle = 63;
    std::uint32_t tlp_overhead_bytes = 24;
    bool target_may_notify =
        true;  ///< the DMA target may notify events: run-ahead looks outside after each call
    void describe(parameter_list& list);
};

}  // namespace hcasim

#endif
