#ifndef HCASIM_TESTBENCHES_REPORT_SWEEP_ASSIGNMENTS_H
#define HCASIM_TESTBENCHES_REPORT_SWEEP_ASSIGNMENTS_H

#include <nlohmann/json.hpp>
#include <string>

namespace hcasim::report {

/// What the text of a sweep file sets besides the values of its axes, as "key=value" in the way of --set:
/// {"set": {GRID: [...]}, "preset": {AXIS: {NAME: [...]}}}; GRID is "" for what holds for all of them.
/// A text that cannot be read gives nothing.
nlohmann::json sweep_assignments(const std::string& sweep_text);

}  // namespace hcasim::report

#endif
