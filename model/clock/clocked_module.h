#ifndef HCASIM_MODEL_CLOCK_CLOCKED_MODULE_H
#define HCASIM_MODEL_CLOCK_CLOCKED_MODULE_H

#include <systemc>

#include "model/clock/clock_domain.h"

namespace hcasim {

/// A hardware block: an sc_module whose behaviour is one tick() per clock edge in which it has something to
/// do. It sleeps by itself; channels wake it, and it wakes itself with wake_at() for what it waits for by
/// time.
class clocked_module : public tickable, public sc_core::sc_module {
public:
    clocked_module(const sc_core::sc_module_name& name, clock_domain& domain)
        : sc_core::sc_module(name), m_domain(domain), m_cycles(domain.cycles()) {
        domain.cycles().add(*this);
    }

    clock_domain& domain() { return m_domain; }
    const clock_domain& domain() const { return m_domain; }

protected:
    cycle_t now() const { return m_cycles.now(); }
    void wake_next() { m_cycles.wake_next(*this); }
    void wake_at(cycle_t cycle) { m_cycles.wake_at(*this, cycle); }

private:
    clock_domain& m_domain;
    engine& m_cycles;
};

}  // namespace hcasim

#endif
