#ifndef HCASIM_MODEL_CLOCK_CYCLE_TIME_H
#define HCASIM_MODEL_CLOCK_CYCLE_TIME_H

#include <cstdint>

namespace hcasim {

/// Cycles that cover `ns` at `clock_mhz`: rounded up, 0 only for 0. Exact for ns up to 2^64 / clock_mhz.
constexpr std::uint64_t ns_to_cycles(std::uint64_t ns, std::uint64_t clock_mhz) {
    return (ns * clock_mhz + 999) / 1000;
}

/// T(exponent) = 4.096 us * 2^exponent in cycles, divided by 2^shift, at least 1 (IBTA 9.7.6.1.3, 12.7.12).
/// At 250 MHz T(0) is exactly 1024 cycles.
constexpr std::uint64_t timer_cycles(std::uint32_t exponent, std::uint32_t shift, std::uint64_t clock_mhz) {
    const std::uint64_t cycles = ns_to_cycles(std::uint64_t{4096} << exponent, clock_mhz) >> shift;
    return cycles == 0 ? 1 : cycles;
}

}  // namespace hcasim

#endif
