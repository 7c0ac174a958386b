#ifndef HCASIM_TESTBENCHES_PROGRAM_RUN_JSON_H
#define HCASIM_TESTBENCHES_PROGRAM_RUN_JSON_H

#include <nlohmann/json.hpp>
#include <string>

#include "testbenches/bench/run_result.h"

namespace hcasim {

/// The result of a run in the form hcasim.run/1. All keys but the last two, host_seconds and
/// simulated_cycles_per_second, depend on the scenario and the seed only; `with_speed` false leaves those two
/// out, which is the form of the golden results.
nlohmann::ordered_json run_json(const run_result& result, const std::string& config_hash, bool with_speed);

/// {count, min, mean, p50, p90, p99, p99_9, max}
nlohmann::ordered_json distribution_json(const distribution& d);

/// JSON text for people and for diff: what holds only scalars stands on one line, everything else is
/// indented. Ends in a newline.
std::string json_text(const nlohmann::ordered_json& value);

}  // namespace hcasim

#endif
