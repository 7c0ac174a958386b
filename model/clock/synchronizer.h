#ifndef HCASIM_MODEL_CLOCK_SYNCHRONIZER_H
#define HCASIM_MODEL_CLOCK_SYNCHRONIZER_H

#include <deque>
#include <systemc>

#include "model/clock/clocked_module.h"

namespace hcasim {

/// Crossing into a clock domain from another domain or from a SystemC process.
///
/// An entry written at time t (of the writer's own clock, which may have run ahead of sc_time_stamp())
/// becomes visible at the first edge of the reading domain strictly after t, plus `latency_cycles` - 1
/// further edges. Order is kept. There is no back-pressure: the depth is bounded by what the writer sends in
/// flight.
template <class T>
class synchronizer : public sc_core::sc_module {
public:
    synchronizer(const sc_core::sc_module_name& name, clock_domain& to)
        : sc_core::sc_module(name), m_to(to) {}

    /// `latency_cycles` 1..: edges of the reading domain from the write to visibility; 2 is a two-flop
    /// synchronizer.
    void reset(std::uint32_t latency_cycles) {
        m_latency_cycles = latency_cycles;
        m_entries.clear();
    }
    void set_consumer(tickable& consumer) { m_consumer = &consumer; }

    /// Writes at sc_time_stamp() + `delay`; a writer in another domain passes that domain's local_offset().
    void write(const T& value, const sc_core::sc_time& delay) {
        cycle_t visible = m_to.first_edge_after(delay) + m_latency_cycles - 1;
        if (!m_entries.empty() && m_entries.back().visible > visible) {
            visible = m_entries.back().visible;
        }
        m_entries.push_back({value, visible});
        m_to.wake_at(*m_consumer, visible);
    }

    bool can_pop() const { return !m_entries.empty() && m_entries.front().visible <= m_to.now(); }
    const T& front() const { return m_entries.front().value; }
    T pop() {
        T value = m_entries.front().value;
        m_entries.pop_front();
        return value;
    }

private:
    struct entry {
        T value;
        cycle_t visible;
    };
    clock_domain& m_to;
    tickable* m_consumer = nullptr;
    std::uint32_t m_latency_cycles = 2;
    std::deque<entry> m_entries;
};

}  // namespace hcasim

#endif
