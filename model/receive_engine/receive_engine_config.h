#ifndef HCASIM_MODEL_RECEIVE_ENGINE_RECEIVE_ENGINE_CONFIG_H
#define HCASIM_MODEL_RECEIVE_ENGINE_RECEIVE_ENGINE_CONFIG_H

#include <cstdint>

#include "model/stats/parameter.h"

namespace hcasim {

/// Sizes of the receive engine.
struct receive_engine_config {
    std::uint32_t slots = 16;
    bool infer_rts = true;  ///< set by the gate policy, not a parameter of its own
    bool credit_info = false;
    void describe(parameter_list& list);
};

}  // namespace hcasim

#endif
