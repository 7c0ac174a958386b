#ifndef HCASIM_MODEL_SEND_SCHEDULER_SEND_SCHEDULER_CONFIG_H
#define HCASIM_MODEL_SEND_SCHEDULER_SEND_SCHEDULER_CONFIG_H

#include <array>
#include <cstdint>

#include "model/stats/parameter.h"

namespace hcasim {

enum class arbitration_policy : std::uint8_t { round_robin, weighted, strict };
enum class gate_location : std::uint8_t { on_chip, context };

/// Arbitration among eligible QPs, and where the gate bits live.
struct send_scheduler_config {
    arbitration_policy arbitration = arbitration_policy::round_robin;
    gate_location location = gate_location::on_chip;
    std::uint32_t burst = 4;
    /// Grants per turn of service level i under `weighted`.
    std::array<std::uint32_t, 16> weight = {1, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    void describe(parameter_list& list);
};

}  // namespace hcasim

#endif
