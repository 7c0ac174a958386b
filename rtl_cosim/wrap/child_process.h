#ifndef HCASIM_RTL_COSIM_WRAP_CHILD_PROCESS_H
#define HCASIM_RTL_COSIM_WRAP_CHILD_PROCESS_H

#include <string>
#include <vector>

namespace hcasim {

/// Runs a command found in PATH, without a shell, in `directory` (empty: here). What it prints goes to the
/// file `log`, which is appended to. Returns its exit code; 127 when it could not be started, 128 + n when
/// signal n ended it.
int run_child(const std::vector<std::string>& command, const std::string& directory, const std::string& log);

/// Full path of a command of PATH; empty when there is none.
std::string find_in_path(const std::string& command);

}  // namespace hcasim

#endif
