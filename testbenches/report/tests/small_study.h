#ifndef HCASIM_TESTBENCHES_REPORT_TESTS_SMALL_STUDY_H
#define HCASIM_TESTBENCHES_REPORT_TESTS_SMALL_STUDY_H

#include <cstdint>
#include <string>
#include <vector>

namespace hcasim::report {

/// Runs SQL on a database, which is made when it is not there; the first column of the rows.
std::vector<std::string> run_sql(const std::string& database, const std::string& sql);

/// The tables of a result database, out of docs/sweeps.md: what stands there is what is tested.
std::string schema_sql();

/// Makes a database of 30 points: five values of cm.rtu_loss, two designs ("hardware, packet" and
/// "software"), seeds 1 to 3. The first design is always fast and nothing waits; the second is slow from 0.25
/// on. One point failed, and two of the 32 that were planned are missing.
void make_small_study(const std::string& database);

}  // namespace hcasim::report

#endif
