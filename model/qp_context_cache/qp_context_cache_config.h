#ifndef HCASIM_MODEL_QP_CONTEXT_CACHE_QP_CONTEXT_CACHE_CONFIG_H
#define HCASIM_MODEL_QP_CONTEXT_CACHE_QP_CONTEXT_CACHE_CONFIG_H

#include <cstdint>

#include "model/stats/parameter.h"

namespace hcasim {

enum class replacement_policy : std::uint8_t { lru, plru };

/// Organisation of the QP context cache.
struct qp_context_cache_config {
    std::uint32_t sets = 64;
    std::uint32_t ways = 4;
    replacement_policy replacement = replacement_policy::lru;
    std::uint32_t misses_outstanding = 8;
    std::uint32_t waiting_requests = 64;
    std::uint32_t hit_cycles = 2;
    void describe(parameter_list& list);
};

}  // namespace hcasim

#endif
