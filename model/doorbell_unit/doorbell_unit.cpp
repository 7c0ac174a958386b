#include "model/doorbell_unit/doorbell_unit.h"

#include <algorithm>

namespace hcasim {

doorbell_unit::doorbell_unit(const sc_core::sc_module_name& name, clock_domain& domain)
    : clocked_module(name, domain),
      write_i("write_i", *this),
      send_o("send_o", *this),
      receive_o("receive_o", *this),
      cq_o("cq_o", *this) {
    tick_directly<doorbell_unit>();
}

void doorbell_unit::reset(const doorbell_unit_config& config, std::uint32_t qps) {
    m_fifo.reset(config.fifo_depth, qps, config.coalesce);
    m_counters = {};
    m_blocked = false;
}

// Its steps are inlined by force: the compiler does not know that a member function has this one caller.
void doorbell_unit::tick() {
    // The FIFO's state at the edge decides both sides: what enters now cannot leave now, and a place freed
    // now is free from the next edge on.
    const bool was_full = m_fifo.full();
    const bool was_empty = m_fifo.empty();
    const std::uint32_t level_before = m_fifo.level();
    bool left = false;
    if (!was_empty && send_o.can_push()) {
        send_o.push({m_fifo.front_qpn(), m_fifo.front_producer()});
        m_fifo.pop();
        left = true;
    }
    if (write_i.can_pop() && take(write_i.front(), was_full)) {
        write_i.pop();
    }
    if (is_watched(m_observer) && m_fifo.level() != level_before) {
        m_observer->level(level_of::doorbell_fifo, m_fifo.level(), now());
    }
    if ((left && (!m_fifo.empty() || m_blocked)) || (was_empty && !m_fifo.empty())) {
        wake_next();
    }
}

[[gnu::always_inline]] inline bool doorbell_unit::take(const doorbell_write& write, bool was_full) {
    const ib::doorbell d = ib::decode_doorbell(write.word);
    switch (d.type) {
        case ib::doorbell_type::send_queue: {
            const std::uint16_t before = m_fifo.waiting(d.number, d.index);
            const auto outcome = m_fifo.offer(d.number, d.index, was_full);
            if (outcome == doorbell_fifo::outcome::full) {
                if (!m_blocked) {
                    m_blocked = true;
                    ++m_counters.full_events;
                }
                return false;
            }
            m_blocked = false;
            m_counters.coalesced += outcome == doorbell_fifo::outcome::coalesced ? 1 : 0;
            m_counters.stale += outcome == doorbell_fifo::outcome::stale ? 1 : 0;
            m_counters.max_level = std::max(m_counters.max_level, m_fifo.level());
            if (is_watched(m_observer)) {
                m_observer->doorbell_merged(d.number, before, d.index, m_fifo.waiting(d.number, d.index),
                                            now());
            }
            break;
        }
        case ib::doorbell_type::receive_queue:
            if (!receive_o.can_push()) {
                return false;
            }
            receive_o.push({d.number, d.index});
            break;
        case ib::doorbell_type::arm_cq:
        case ib::doorbell_type::event_queue:
            if (!cq_o.can_push()) {
                return false;
            }
            cq_o.push({d.number, d.index, d.type == ib::doorbell_type::event_queue});
            break;
        default:
            ++m_counters.unknown;
            break;
    }
    ++m_counters.received;
    return true;
}

}  // namespace hcasim
