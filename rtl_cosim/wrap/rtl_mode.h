#ifndef HCASIM_RTL_COSIM_WRAP_RTL_MODE_H
#define HCASIM_RTL_COSIM_WRAP_RTL_MODE_H

#include <cstdint>

namespace hcasim {

/// What stands in a block's place: the model, the Verilog, or the model with the Verilog beside it, compared
/// in every cycle.
enum class rtl_mode : std::uint8_t { model, verilog, shadow };

}  // namespace hcasim

#endif
