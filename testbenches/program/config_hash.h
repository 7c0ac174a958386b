#ifndef HCASIM_TESTBENCHES_PROGRAM_CONFIG_HASH_H
#define HCASIM_TESTBENCHES_PROGRAM_CONFIG_HASH_H

#include <string>

#include "testbenches/bench/scenario.h"

namespace hcasim {

/// 16 hexadecimal digits that stand for everything that a scenario says except its seed: two runs with the
/// same hash and the same seed had the same parameters, whether they came from the file, from --set or by
/// default.
std::string config_hash(const scenario_config& scenario);

}  // namespace hcasim

#endif
