#ifndef HCASIM_MODEL_LINK_SERIALIZER_H
#define HCASIM_MODEL_LINK_SERIALIZER_H

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "model/link/link_config.h"

namespace hcasim {

/// The wire as time: which bytes leave when, exact to the byte. Time is counted in units of which a cycle and
/// a byte are whole numbers, so no rate needs rounding (4X FDR is 300/11 bytes per cycle at 250 MHz).
class serializer {
public:
    void reset(link_speed speed, link_width width, std::uint64_t clock_mhz) {
        const link_rate rate = rate_of(speed, width);
        m_cycle = rate.data_kbps_numerator;
        m_byte = 8000 * clock_mhz * rate.data_kbps_denominator;
        const std::uint64_t common = std::gcd(m_cycle, m_byte);
        m_cycle /= common;
        m_byte /= common;
        m_free = 0;
        m_free_cycle = 0;
    }

    struct span {
        std::uint64_t first_cycle;  ///< cycle in which the first byte starts (rounded down)
        std::uint64_t last_cycle;   ///< first edge by which the last byte has left (rounded up)
    };

    /// Units of a cycle and of a byte.
    std::uint64_t cycle_units() const { return m_cycle; }
    std::uint64_t byte_units() const { return m_byte; }

    /// First edge at which the wire is free.
    std::uint64_t free_cycle() const { return m_free_cycle; }

    /// Puts `bytes` on the wire as soon as it is free and not before the edge `available`.
    span send(std::uint64_t available, std::uint64_t bytes) {
        const std::uint64_t begin = std::max(m_free, available * m_cycle);
        m_free = begin + bytes * m_byte;
        m_free_cycle = (m_free + m_cycle - 1) / m_cycle;
        return {begin / m_cycle, m_free_cycle};
    }

    /// Cycles that `bytes` take, rounded up.
    std::uint64_t cycles_of(std::uint64_t bytes) const { return (bytes * m_byte + m_cycle - 1) / m_cycle; }

private:
    std::uint64_t m_cycle = 1;  // units per cycle
    std::uint64_t m_byte = 1;   // units per byte
    std::uint64_t m_free = 0;
    std::uint64_t m_free_cycle = 0;  // m_free in cycles, rounded up
};

}  // namespace hcasim

#endif
