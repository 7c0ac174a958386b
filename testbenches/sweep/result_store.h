#ifndef HCASIM_TESTBENCHES_SWEEP_RESULT_STORE_H
#define HCASIM_TESTBENCHES_SWEEP_RESULT_STORE_H

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "testbenches/sweep/point_row.h"
#include "testbenches/sweep/sqlite_db.h"
#include "testbenches/sweep/sweep_plan.h"

namespace hcasim {

/// results.db of a sweep (docs/sweeps.md). A point is there wholly or not at all, whatever ends the process.
/// Everything throws sqlite_error when the disk is full or the file damaged.
class result_store {
public:
    /// Makes the database, or opens it. Throws input_error when it is that of another sweep.
    result_store(const std::string& path, const sweep_plan& plan, const std::string& options);
    ~result_store();
    result_store(const result_store&) = delete;
    result_store& operator=(const result_store&) = delete;

    /// Which points are there, by number.
    std::vector<bool> finished() const { return m_finished; }
    /// Forgets those that failed, so that they are run again.
    void forget_failed();

    /// The row becomes part of the present transaction; a point that is there already is left as it is.
    void add(const point_row& row);
    /// Makes what was added so far last.
    void commit();
    /// Adds the points of another database of the same sweep that are not here yet; returns how many.
    std::uint64_t merge(const std::string& path);

private:
    void create(const std::string& options);
    void verify();

    const sweep_plan& m_plan;
    sqlite_db m_db;
    std::vector<bool> m_finished;
    std::unique_ptr<sqlite_statement> m_add_point, m_add_setting, m_add_distribution;
    bool m_in_transaction = false;
};

/// All results as text, one line per point in the order of the points: axes, status, counts, percentiles.
/// Only what does not change from run to run.
std::string results_csv(sqlite_db& db);

}  // namespace hcasim

#endif
