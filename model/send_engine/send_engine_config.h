#ifndef HCASIM_MODEL_SEND_ENGINE_SEND_ENGINE_CONFIG_H
#define HCASIM_MODEL_SEND_ENGINE_SEND_ENGINE_CONFIG_H

#include <cstdint>

#include "model/stats/parameter.h"

namespace hcasim {

/// Sizes of the send engine.
struct send_engine_config {
    std::uint32_t slots = 16;
    std::uint32_t payload_prefetch = 4;
    std::uint32_t window_messages = 16;
    std::uint32_t outstanding_messages = 8192;
    void describe(parameter_list& list);
};

}  // namespace hcasim

#endif
