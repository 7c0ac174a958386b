#ifndef HCASIM_TESTBENCHES_PROGRAM_RUN_SUMMARY_H
#define HCASIM_TESTBENCHES_PROGRAM_RUN_SUMMARY_H

#include <string>

#include "testbenches/bench/scenario.h"

namespace hcasim {

/// What a person wants to know of a run, as text of some fifty lines: first in words what the gate did, then
/// tables in cycles and time.
std::string run_summary(const run_result& result, const scenario_config& scenario,
                        const std::string& config_hash);

/// 1234567 as "1,234,567".
std::string grouped(std::uint64_t value);

/// Cycles as time with four digits and the unit that fits: "104.0 ns", "2.146 us", "1.074 s".
std::string time_text(std::uint64_t cycles, std::uint64_t clock_mhz);

}  // namespace hcasim

#endif
