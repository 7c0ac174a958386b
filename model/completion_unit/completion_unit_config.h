#ifndef HCASIM_MODEL_COMPLETION_UNIT_COMPLETION_UNIT_CONFIG_H
#define HCASIM_MODEL_COMPLETION_UNIT_COMPLETION_UNIT_CONFIG_H

#include <cstdint>

#include "model/stats/parameter.h"

namespace hcasim {

/// Interrupt moderation of the completion unit.
struct completion_unit_config {
    std::uint32_t interrupt_events = 1;
    std::uint32_t interrupt_delay_cycles = 0;
    void describe(parameter_list& list);
};

}  // namespace hcasim

#endif
