#ifndef HCASIM_RTL_COSIM_WRAP_RTL_DIFFERENCE_H
#define HCASIM_RTL_COSIM_WRAP_RTL_DIFFERENCE_H

#include <cstdint>
#include <stdexcept>
#include <string>

#include "model/clock/engine.h"

namespace hcasim {

/// A cycle in which the Verilog did not do what the model did.
struct rtl_difference {
    std::string block;  ///< name of the block's instance
    cycle_t cycle = 0;
    std::string port;      ///< "grant_o", or "grant_o.count"
    std::string expected;  ///< the model's
    std::string actual;    ///< the Verilog's
    bool has_qpn = false;
    std::uint32_t qpn = 0;  ///< of the message concerned
};

/// A difference in a whole system: its run has no result.
class rtl_mismatch : public std::runtime_error {
public:
    explicit rtl_mismatch(const rtl_difference& d)
        : std::runtime_error(d.block + ": cycle " + std::to_string(d.cycle) + ": " + d.port + ": model " +
                             d.expected + ", Verilog " + d.actual),
          difference(d) {}
    rtl_difference difference;
};

}  // namespace hcasim

#endif
