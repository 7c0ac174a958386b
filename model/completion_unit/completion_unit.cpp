#include "model/completion_unit/completion_unit.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "model/ib/psn.h"

namespace hcasim {

namespace {

// Phase of an entry in the lap that `producer` is in: (lap + 1) & 1. Rings have a power of two of entries.
std::uint8_t phase_of(std::uint32_t producer, std::uint32_t entries) {
    return (producer & entries) == 0 ? 1 : 0;
}

}  // namespace

completion_unit::completion_unit(const sc_core::sc_module_name& name, clock_domain& domain)
    : clocked_module(name, domain),
      completion_i{{{"send_completion_i", *this}, {"receive_completion_i", *this}}},
      event_i{{{"send_event_i", *this}, {"receive_event_i", *this}, {"command_event_i", *this}}},
      doorbell_i("doorbell_i", *this),
      setup_i("setup_i", *this),
      write_o("write_o", *this) {
    tick_directly<completion_unit>();
    for (const auto& port : event_i) {
        m_event_inputs |= port.flag();
    }
    for (const auto& port : completion_i) {
        m_completion_inputs |= port.flag();
    }
}

void completion_unit::reset(const completion_unit_config& config) {
    m_config = config;
    m_cqs.clear();
    m_eq = {};
    m_events.clear();
    m_eq_full = false;
    m_next_completion = 0;
    m_passed_send_event = 0;
    m_unreported = 0;
    m_interrupt_due = never;
    m_counters = {};
}

// Its steps are inlined by force: the compiler does not know that a member function has this one caller.
void completion_unit::tick() {
    if (setup_i.can_pop()) {
        take_setup(setup_i.pop());
    }
    if (doorbell_i.can_pop()) {
        take_doorbell(doorbell_i.pop());
    }
    for (std::uint32_t source = 0; source < event_sources && (filled_inputs() & m_event_inputs) != 0;
         ++source) {
        if (source == send_event && send_event_waits()) {
            wake_next();
        } else if (event_i[source].can_pop()) {
            const event e = event_i[source].pop();
            raise_event(e.type, e.number);
        }
    }
    // One write per cycle: events first, since what they tell of was written before them; then an interrupt
    // that is due; then CQEs.
    const bool eq_full = !m_events.empty() && m_eq.entries != 0 && !can_write_event();
    m_counters.event_queue_full += eq_full && !m_eq_full ? 1 : 0;
    m_eq_full = eq_full;
    if (!m_events.empty() && m_eq.entries != 0 && !eq_full) {
        if (!write_o.can_push()) {
            return;
        }
        ib::eqe entry;
        entry.number = m_events.front().number;
        entry.type = m_events.front().type;
        entry.phase = phase_of(m_eq.producer, m_eq.entries);
        m_events.pop_front();
        dma_write w;
        w.address = m_eq.address + std::uint64_t{m_eq.producer % m_eq.entries} * sizeof(ib::eqe);
        w.bytes = sizeof(ib::eqe);
        std::memcpy(w.small.data(), &entry, sizeof(entry));
        ++m_eq.producer;
        ++m_counters.events;
        ++m_unreported;
        if (m_unreported >= m_config.interrupt_events || m_config.interrupt_delay_cycles == 0) {
            m_interrupt_due = now() + 1;
        } else if (m_unreported == 1) {
            m_interrupt_due = now() + m_config.interrupt_delay_cycles;
        }
        write_o.push(w);
        wake_next();
    } else if (m_interrupt_due <= now()) {
        if (!write_o.can_push()) {
            return;
        }
        dma_write w;
        w.interrupt = true;
        write_o.push(w);
        ++m_counters.interrupts;
        m_unreported = 0;
        m_interrupt_due = never;
        wake_next();
    } else if (write_completion() && (filled_inputs() & m_completion_inputs) != 0) {
        wake_next();
    }
    if (m_interrupt_due != never) {
        wake_at(std::max(m_interrupt_due, now() + 1));
    }
}

bool completion_unit::can_write_event() const {
    return !m_eq.armed || static_cast<std::uint16_t>(static_cast<std::uint16_t>(m_eq.producer) -
                                                     m_eq.consumer) < m_eq.entries;
}

// SQ_DRAINED is not told before the CQEs that were pushed before it: at most as many as their channel holds.
bool completion_unit::send_event_waits() {
    const auto& completions = completion_i[send_completion];
    if (event_i[send_event].has_visible() && completions.has_visible() &&
        m_passed_send_event < completions.core().config().depth) {
        return true;
    }
    m_passed_send_event = 0;
    return false;
}

void completion_unit::take_setup(const queue_setup& s) {
    if (s.is_event_queue) {
        m_eq = {};
        m_eq.address = s.address;
        m_eq.entries = s.entries;
    } else {
        if (m_cqs.size() <= s.cqn) {
            m_cqs.resize(s.cqn + 1);
        }
        m_cqs[s.cqn] = {};
        m_cqs[s.cqn].address = s.address;
        m_cqs[s.cqn].entries = s.entries;
    }
}

void completion_unit::take_doorbell(const cq_doorbell& d) {
    if (d.event_queue) {
        m_eq.armed = true;
        if (ib::index_distance(d.consumer, m_eq.consumer) > 0) {
            m_eq.consumer = d.consumer;
        }
        return;
    }
    if (d.cqn >= m_cqs.size() || m_cqs[d.cqn].entries == 0) {
        ++m_counters.unknown_cq;
        return;
    }
    queue& q = m_cqs[d.cqn];
    q.consumer = d.consumer;
    q.armed = true;
    if (static_cast<std::uint16_t>(q.producer) != d.consumer) {
        // CQEs have come that the host had not seen when it armed: without this it would sleep on them.
        q.armed = false;
        raise_event(ib::event_type::completion, d.cqn);
    }
}

void completion_unit::raise_event(ib::event_type type, std::uint32_t number) {
    m_events.push_back({type, number});
    m_counters.max_event_queue = std::max<std::uint64_t>(m_counters.max_event_queue, m_events.size());
    wake_next();
}

[[gnu::always_inline]] inline bool completion_unit::write_completion() {
    for (std::uint32_t i = 0; i < completion_sources; ++i) {
        const std::uint32_t source = (m_next_completion + i) % completion_sources;
        if (!completion_i[source].can_pop()) {
            continue;
        }
        if (!write_o.can_push()) {
            return false;
        }
        const completion& c = completion_i[source].front();
        m_passed_send_event += source == send_completion && event_i[send_event].has_visible() ? 1 : 0;
        m_next_completion = (source + 1) % completion_sources;
        write_completion(c);
        completion_i[source].drop();
        return true;
    }
    return false;
}

[[gnu::always_inline]] inline void completion_unit::write_completion(const completion& c) {
    if (c.cqn >= m_cqs.size() || m_cqs[c.cqn].entries == 0) {
        ++m_counters.unknown_cq;
        return;
    }
    queue& q = m_cqs[c.cqn];
    // Indices are told modulo 2^16 and rings have at most 2^15 entries.
    const auto level = static_cast<std::uint16_t>(static_cast<std::uint16_t>(q.producer) - q.consumer);
    if (level >= q.entries) {
        ++m_counters.overruns;
        if (!q.failed) {
            q.failed = true;
            raise_event(ib::event_type::cq_error, c.cqn);
        }
        return;
    }
    dma_write& w = write_o.push_slot();
    w.start(q.address + std::uint64_t{q.producer & (q.entries - 1)} * sizeof(ib::cqe), sizeof(ib::cqe));
    w.completes_wqe = c.entry.is_receive == 0;
    w.qpn = c.entry.qpn;
    w.wqe_index = c.entry.wqe_index;
    std::memcpy(w.small.data(), &c.entry, sizeof(c.entry));
    w.small[offsetof(ib::cqe, phase)] = phase_of(q.producer, q.entries);
    ++q.producer;
    ++m_counters.cqes;
    if (q.armed) {
        q.armed = false;
        raise_event(ib::event_type::completion, c.cqn);
    }
}

}  // namespace hcasim
