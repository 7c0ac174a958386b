#ifndef HCASIM_MODEL_COMMAND_UNIT_COMMAND_UNIT_CONFIG_H
#define HCASIM_MODEL_COMMAND_UNIT_COMMAND_UNIT_CONFIG_H

#include <cstdint>

#include "model/stats/parameter.h"

namespace hcasim {

/// Firmware times of the command unit.
struct command_unit_config {
    std::uint64_t modify_qp_ns = 30000;
    std::uint64_t create_qp_ns = 60000;
    std::uint64_t other_ns = 5000;
    bool rts_preload = true;
    void describe(parameter_list& list);
};

}  // namespace hcasim

#endif
