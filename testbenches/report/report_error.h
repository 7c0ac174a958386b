#ifndef HCASIM_TESTBENCHES_REPORT_REPORT_ERROR_H
#define HCASIM_TESTBENCHES_REPORT_REPORT_ERROR_H

#include <stdexcept>

namespace hcasim::report {

/// Why there is no report, in words for the user.
class report_error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

}  // namespace hcasim::report

#endif
