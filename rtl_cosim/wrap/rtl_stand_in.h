#ifndef HCASIM_RTL_COSIM_WRAP_RTL_STAND_IN_H
#define HCASIM_RTL_COSIM_WRAP_RTL_STAND_IN_H

#include <cstdint>
#include <map>
#include <string>

#include "rtl_cosim/wrap/verilog_source.h"

namespace hcasim {

/// A design that takes the place of the project's Verilog of a block: the user's own, or a mutant.
struct rtl_stand_in {
    verilog_source source;  ///< its parameters are added to those below
    /// Sizes that the block has, by the name of the design's parameter: "QPS", or "log2 QPS".
    std::map<std::string, std::string> size_parameters;
    bool same_parameters = true;  ///< the project's own parameters too
    /// The project's name of a pin, and the design's; empty: it has no such pin (a `ready`).
    std::map<std::string, std::string> ports;
    std::map<std::string, std::uint64_t> constants;
    /// Policies ("cfg_coalesce_i") that the design has no pin for, with the one value that it follows.
    std::map<std::string, std::uint64_t> policies;
    std::string clock = "clk_i";
    std::string reset = "rst_ni";  ///< may be empty
    bool reset_is_low = true;
    std::uint32_t latency_cycles = 0;  ///< its outputs come this much later; then without back-pressure only
};

}  // namespace hcasim

#endif
