#ifndef HCASIM_TESTBENCHES_SWEEP_SWEEP_FILE_H
#define HCASIM_TESTBENCHES_SWEEP_SWEEP_FILE_H

#include <string>
#include <vector>

#include "testbenches/sweep/sweep_plan.h"

namespace hcasim {

/// What the key `schema` of a sweep file must say.
constexpr const char* sweep_schema = "hcasim.sweep/1";

/// Reads a sweep file (docs/sweeps.md) and the scenario that it names, and lists its points. `overrides` are
/// "key=value" as in --set, applied to the scenario after [set]. Throws input_error on the first fault: each
/// value of each axis is checked as --set is; whether a combination can run shows when it is run.
sweep_plan read_sweep(const std::string& path, const std::vector<std::string>& overrides);

/// Whether a file says that it is a sweep; false for what cannot be read or is no TOML.
bool is_sweep_file(const std::string& path);

/// Points that match all of `filters` ("KEY=VALUE", a value in any way that TOML knows, quotes may be left
/// out, or the name of a preset; "grid=NAME", "seed=N", "point=N" too), in order. Throws input_error for a
/// key that no axis has.
std::vector<std::uint64_t> filter_points(const sweep_plan& plan, const std::vector<std::string>& filters);

}  // namespace hcasim

#endif
