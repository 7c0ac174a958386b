#ifndef HCASIM_TESTBENCHES_REPORT_EMBEDDED_FILES_H
#define HCASIM_TESTBENCHES_REPORT_EMBEDDED_FILES_H

#include <string_view>

namespace hcasim::report::embedded_files {

/// Texts that the build puts into the program.
std::string_view page();     ///< report.html, with markers for the others
std::string_view style();    ///< report.css
std::string_view figures();  ///< figures.js
std::string_view code();     ///< report.js
std::string_view charts();   ///< the chart library; empty when the build did not find it

}  // namespace hcasim::report::embedded_files

#endif
