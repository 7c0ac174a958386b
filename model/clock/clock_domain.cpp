#include "model/clock/clock_domain.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace hcasim {

clock_domain* clock_domain::s_running = nullptr;

clock_domain::clock_domain(const sc_core::sc_module_name& name, const sc_core::sc_time& period)
    : sc_core::sc_module(name), m_period(period) {
    if (period == sc_core::SC_ZERO_TIME) {
        throw std::invalid_argument("clock period must not be zero");
    }
    SC_METHOD(run_method);
    sensitive << m_event;
    dont_initialize();
}

void clock_domain::reset(engine_kind kind) {
    m_event.cancel();
    m_engine.reset(kind);
    m_origin_ticks = sc_core::sc_time_stamp().value();
}

sc_core::sc_time clock_domain::time_of(cycle_t cycle) const {
    return sc_core::sc_time::from_value(m_origin_ticks + cycle * m_period.value());
}

sc_core::sc_time clock_domain::local_offset() const {
    const auto local = m_origin_ticks + m_engine.now() * m_period.value();
    const auto kernel = sc_core::sc_time_stamp().value();
    return sc_core::sc_time::from_value(local > kernel ? local - kernel : 0);
}

cycle_t clock_domain::first_edge_after(const sc_core::sc_time& delay) const {
    const auto arrival = sc_core::sc_time_stamp().value() + delay.value() - m_origin_ticks;
    const cycle_t edge = arrival / m_period.value() + 1;
    if (edge <= m_engine.now()) {
        throw std::logic_error(std::string(name()) + ": input for cycle " + std::to_string(edge) +
                               " arrived in cycle " + std::to_string(m_engine.now()) +
                               "; set_run_ahead(false) or set_horizon()");
    }
    return edge;
}

void clock_domain::set_horizon(cycle_t last) {
    m_horizon = last;
    if (!m_running) {
        arm();
    }
}

void clock_domain::wake_at(tickable& module, cycle_t cycle) {
    m_engine.wake_at(module, cycle);
    if (!m_running) {
        arm();
        if (s_running != nullptr) {
            s_running->m_engine.yield();
        }
    }
}

void clock_domain::arm() {
    const cycle_t next = m_engine.next_due();
    if (next > m_horizon || next == never || m_engine.stopped()) {
        return;
    }
    const sc_core::sc_time at = time_of(next);
    const sc_core::sc_time now = sc_core::sc_time_stamp();
    // An earlier notification overrides a later pending one and is itself kept (IEEE 1666, 5.10.8), so arming
    // twice is harmless. A zero delay is a timed step of its own here: SC_ZERO_TIME makes a delta, never an
    // immediate notification.
    m_event.notify(at > now ? at - now : sc_core::SC_ZERO_TIME);
}

void clock_domain::run_method() {
    m_running = true;
    clock_domain* const outer = s_running;
    s_running = this;
    const auto kernel = sc_core::sc_time_stamp().value();
    m_kernel_ticks = kernel;
    while (!m_engine.stopped()) {
        cycle_t last = (kernel - m_origin_ticks) / m_period.value();
        // An input of this very time is visible one edge later (law 4), so the edge of the present time needs
        // no one else; running ahead of it does: whoever is still to act at this time may write.
        if (m_run_ahead && !sc_core::sc_pending_activity_at_current_time()) {
            const auto gap = sc_core::sc_time_to_pending_activity().value();
            if (gap >= sc_core::sc_max_time().value() - kernel) {
                last = never;
            } else {
                const cycle_t until = kernel + gap - m_origin_ticks;
                last = std::max<cycle_t>(last, until == 0 ? 0 : (until - 1) / m_period.value());
            }
        }
        last = std::min(last, m_horizon);
        const cycle_t next = m_engine.next_due();
        if (next > last || next == never) {
            break;
        }
        m_engine.run_to(last);
    }
    s_running = outer;
    m_running = false;
    arm();
}

}  // namespace hcasim
