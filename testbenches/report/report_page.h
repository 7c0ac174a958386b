#ifndef HCASIM_TESTBENCHES_REPORT_REPORT_PAGE_H
#define HCASIM_TESTBENCHES_REPORT_REPORT_PAGE_H

#include <nlohmann/json.hpp>
#include <string>

namespace hcasim::report {

/// Whether the library that draws the charts was there when the program was built.
bool has_chart_library();

/// The complete HTML file: page, style, code, chart library and data in one.
std::string report_page(const nlohmann::json& data);

}  // namespace hcasim::report

#endif
