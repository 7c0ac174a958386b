#ifndef HCASIM_MODEL_IB_PSN_H
#define HCASIM_MODEL_IB_PSN_H

#include <cstdint>

namespace hcasim::ib {

constexpr std::uint32_t psn_mask = 0xffffffu;

/// a + n modulo 2^24.
constexpr std::uint32_t psn_add(std::uint32_t a, std::uint32_t n) { return (a + n) & psn_mask; }

/// Signed distance a - b in the window of 2^23 (IBTA 9.7.2); negative when a is older.
constexpr std::int32_t psn_distance(std::uint32_t a, std::uint32_t b) {
    return static_cast<std::int32_t>((a - b) << 8) >> 8;
}

/// Signed distance of 16-bit work-queue indices (producer and consumer index), window 2^15.
constexpr std::int32_t index_distance(std::uint16_t a, std::uint16_t b) {
    return static_cast<std::int16_t>(static_cast<std::uint16_t>(a - b));
}

}  // namespace hcasim::ib

#endif
