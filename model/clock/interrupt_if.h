#ifndef HCASIM_MODEL_CLOCK_INTERRUPT_IF_H
#define HCASIM_MODEL_CLOCK_INTERRUPT_IF_H

#include <systemc>

namespace hcasim {

/// Interrupt line from a device to its host (an MSI write, seen from the device).
class interrupt_if : virtual public sc_core::sc_interface {
public:
    /// The interrupt leaves the device `delay` after sc_time_stamp() (TLM-2.0 annotation: the caller's clock
    /// domain may have run ahead).
    virtual void raise(unsigned vector, const sc_core::sc_time& delay) = 0;
};

}  // namespace hcasim

#endif
