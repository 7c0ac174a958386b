#ifndef HCASIM_RTL_COSIM_WRAP_RTL_WATCHER_H
#define HCASIM_RTL_COSIM_WRAP_RTL_WATCHER_H

#include <cstdint>
#include <string>
#include <vector>

#include "model/clock/engine.h"

namespace hcasim {

/// Sees every cycle of a block that runs beside its Verilog: for waves and for the history of a QP.
class rtl_watcher {
public:
    virtual ~rtl_watcher() = default;

    /// A signal; called once for each, in a fixed order, before the first cycle. `of_model`: what the model
    /// shows, else what the Verilog shows. Inputs are common to both and are declared once, as the model's.
    virtual void declare(const std::string& name, std::uint32_t width_bits, bool of_model) = 0;
    /// Their values in `cycle`, in the order of declaration; wider ones by their lowest 64 bits.
    virtual void values(cycle_t cycle, const std::vector<std::uint64_t>& all) = 0;
    /// A message passed in this cycle (as the model has it): port, text of its fields, and its QPN if it has
    /// one.
    virtual void message(cycle_t cycle, const std::string& port, const std::string& text, bool has_qpn,
                         std::uint32_t qpn) = 0;
};

}  // namespace hcasim

#endif
