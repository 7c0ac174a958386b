#ifndef HCASIM_MODEL_CLOCK_CLOCK_DOMAIN_H
#define HCASIM_MODEL_CLOCK_CLOCK_DOMAIN_H

#include <systemc>

#include "model/clock/engine.h"

namespace hcasim {

/// One clock: a single SC_METHOD that ticks the modules of its engine. There is no toggling clock signal, so
/// a cycle in which no module is due costs nothing.
///
/// With run-ahead the method goes on evaluating cycles up to the next pending SystemC activity (or the
/// horizon) before it returns to the kernel; without it every cycle that has work is one activation at its
/// own time. Run-ahead needs an owner that knows when the simulation ends (set_horizon), because the end of
/// sc_start() is not visible to a model; it is therefore off until asked for.
class clock_domain : public sc_core::sc_module {
public:
    SC_HAS_PROCESS(clock_domain);

    /// `period` must be a whole number of the time resolution and not zero.
    clock_domain(const sc_core::sc_module_name& name, const sc_core::sc_time& period);

    /// Back to cycle 0, which becomes the present time. Modules and channels are reset by their owners.
    void reset(engine_kind kind);

    engine& cycles() { return m_engine; }
    const engine& cycles() const { return m_engine; }
    cycle_t now() const { return m_engine.now(); }
    const sc_core::sc_time& period() const { return m_period; }

    /// SystemC time of an edge.
    sc_core::sc_time time_of(cycle_t cycle) const;

    /// How far the domain's own time is ahead of sc_time_stamp(): what a module adds to the delay annotation
    /// of a TLM call.
    sc_core::sc_time local_offset() const;

    /// Edge of `cycle` minus sc_time_stamp(): the delay annotation of a TLM call that is to happen then. The
    /// edge must not lie before sc_time_stamp().
    sc_core::sc_time offset_of(cycle_t cycle) const {
        const auto kernel = m_running ? m_kernel_ticks : sc_core::sc_time_stamp().value();
        return sc_core::sc_time::from_value(m_origin_ticks + cycle * m_period.value() - kernel);
    }

    /// First edge strictly after an input that arrives `delay` after sc_time_stamp(). Throws std::logic_error
    /// when that edge has been ticked already, which means that the domain has run ahead of an activity that
    /// it could not see.
    cycle_t first_edge_after(const sc_core::sc_time& delay) const;

    void set_run_ahead(bool on) { m_run_ahead = on; }
    /// Last cycle that may be ticked; `never` for no limit.
    void set_horizon(cycle_t last);
    cycle_t horizon() const { return m_horizon; }

    /// Wakes a module from outside a tick or from within one; `cycle` must lie after now().
    void wake_at(tickable& module, cycle_t cycle);

    /// To be called by a module that has called code outside the domain which may have notified an event:
    /// run-ahead looks again for pending SystemC activity after the present cycle.
    void called_outside() {
        if (s_running == this && m_run_ahead) {
            m_engine.yield();
        }
    }

    /// Ends the run: no further cycle is ticked until reset().
    void stop() { m_engine.stop(); }

protected:
    void start_of_simulation() override { arm(); }

private:
    void run_method();
    void arm();

    // The domain whose method is executing: a write into another domain bounds how far this one may run
    // ahead.
    static clock_domain* s_running;

    engine m_engine;
    sc_core::sc_time m_period;
    sc_core::sc_time::value_type m_origin_ticks = 0;
    sc_core::sc_time::value_type m_kernel_ticks = 0;  // sc_time_stamp(), while m_running
    sc_core::sc_event m_event;
    cycle_t m_horizon = never;
    bool m_run_ahead = false;
    bool m_running = false;
};

}  // namespace hcasim

#endif
