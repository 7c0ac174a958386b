#ifndef HCASIM_TESTBENCHES_SWEEP_POINT_ROW_H
#define HCASIM_TESTBENCHES_SWEEP_POINT_ROW_H

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "model/stats/distribution.h"
#include "testbenches/bench/run_result.h"

namespace hcasim {

/// A distribution as the database keeps it.
struct distribution_row {
    std::string name;
    std::uint64_t count = 0, min = 0, mean_milli = 0, p50 = 0, p90 = 0, p99 = 0, p99_9 = 0, max = 0;
    /// Steps of the distribution function: value, samples at or below it. At most 65, the last one is max and
    /// count.
    std::vector<std::pair<std::uint64_t, std::uint64_t>> curve;
};

enum class point_status : std::uint8_t {
    done,
    failed,    ///< could not be run to its end; `message` says why
    violated,  ///< a rule of the protocol was broken; the figures are there
};

/// What the database keeps of one point (docs/sweeps.md).
struct point_row {
    std::uint64_t point = 0;
    point_status status = point_status::done;
    std::string message;
    std::string config_hash;
    std::uint64_t cycles = 0, clock_mhz = 0;
    std::uint64_t posted = 0, completed = 0, failed = 0, flushed = 0, outstanding = 0, duplicated = 0;
    std::uint64_t waited = 0, rejected_posts = 0;
    std::uint64_t opened_by_rtu = 0, opened_by_packet = 0, opened_by_comm_est = 0;
    std::uint64_t invariants_checked = 0, invariants_violated = 0;
    std::string events, counters;  ///< JSON objects
    std::vector<distribution_row> distributions;
    double host_seconds = 0;
};

/// The row of a run that came to its end. `point` and `config_hash` are the caller's.
point_row row_of(const run_result& result);

/// The row of a distribution, `with_curve` with its distribution function in at most 65 steps.
distribution_row row_of(const std::string& name, const distribution& d, bool with_curve);

/// To bytes and back, between a worker process and the one that keeps the database. Throws std::runtime_error
/// for bytes that are no row.
std::string pack(const point_row& row);
point_row unpack_point_row(const std::string& bytes);

}  // namespace hcasim

#endif
