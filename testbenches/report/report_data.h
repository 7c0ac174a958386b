#ifndef HCASIM_TESTBENCHES_REPORT_REPORT_DATA_H
#define HCASIM_TESTBENCHES_REPORT_REPORT_DATA_H

#include <nlohmann/json.hpp>
#include <string>

namespace hcasim::report {

/// Everything the page shows, out of a result database (docs/sweeps.md). Throws report_error when the file is
/// no such database, or has no points.
///
/// Points are rows of columns, so that 100,000 of them fit. A column is {"same": value} when all rows have
/// one value, {"names": [...], "index": [...]} for words, else a plain array; null is "there is none".
nlohmann::json report_data(const std::string& database);

}  // namespace hcasim::report

#endif
