#ifndef HCASIM_TESTBENCHES_PROGRAM_JUNIT_H
#define HCASIM_TESTBENCHES_PROGRAM_JUNIT_H

#include <string>
#include <vector>

namespace hcasim {

/// One case of a JUnit report.
struct junit_case {
    enum class outcome_t { passed, failed, error };
    std::string name;
    double seconds = 0;
    outcome_t outcome = outcome_t::passed;
    std::string message;  ///< one line; of a case that did not pass
    std::string details;  ///< any number of lines
};

/// The report in the form that continuous-integration servers read.
std::string junit_xml(const std::string& suite, const std::vector<junit_case>& cases);

}  // namespace hcasim

#endif
