#ifndef HCASIM_MODEL_DOORBELL_UNIT_DOORBELL_UNIT_CONFIG_H
#define HCASIM_MODEL_DOORBELL_UNIT_DOORBELL_UNIT_CONFIG_H

#include <cstdint>

#include "model/stats/parameter.h"

namespace hcasim {

/// Sizes of the doorbell unit; what each does is in docs/microarchitecture.md.
struct doorbell_unit_config {
    std::uint32_t fifo_depth = 32;
    bool coalesce = true;
    void describe(parameter_list& list);
};

}  // namespace hcasim

#endif
