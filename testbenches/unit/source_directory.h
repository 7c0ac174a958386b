#ifndef HCASIM_TESTBENCHES_UNIT_SOURCE_DIRECTORY_H
#define HCASIM_TESTBENCHES_UNIT_SOURCE_DIRECTORY_H

#include <string>

namespace hcasim {

/// Root of the source tree that the tests were built from, without a slash at the end: tests read traces/
/// there.
std::string source_directory();

}  // namespace hcasim

#endif
