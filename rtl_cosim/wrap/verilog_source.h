#ifndef HCASIM_RTL_COSIM_WRAP_VERILOG_SOURCE_H
#define HCASIM_RTL_COSIM_WRAP_VERILOG_SOURCE_H

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace hcasim {

/// Verilog that cannot be compiled or does not fit its place: what() is one clear line (and, where a tool has
/// said more, its first messages below it).
class verilog_error : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// One design to be verilated.
struct verilog_source {
    std::string top;                 ///< top module
    std::vector<std::string> files;  ///< in any order; the first one names the design in messages
    std::string directory;           ///< where further modules are looked for by name; may be empty
    std::map<std::string, std::uint64_t> parameters;  ///< of the top module
    bool strict = false;   ///< warnings are errors. A newer Verilator may warn of what this one does not
    bool optimize = true;  ///< compiles for speed; off where it runs once (mutants)
};

}  // namespace hcasim

#endif
