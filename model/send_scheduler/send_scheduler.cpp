#include "model/send_scheduler/send_scheduler.h"

#include <algorithm>

#include "model/ib/psn.h"

namespace hcasim {

send_scheduler::send_scheduler(const sc_core::sc_module_name& name, clock_domain& domain)
    : clocked_module(name, domain),
      doorbell_i("doorbell_i", *this),
      state_i("state_i", *this),
      update_i("update_i", *this),
      grant_o("grant_o", *this) {
    tick_directly<send_scheduler>();
}

void send_scheduler::reset(const send_scheduler_config& config, std::uint32_t qps) {
    m_config = config;
    m_mask = qps - 1;
    m_qps.reset(qps);
    m_arbiter.reset(config, qps);
    m_counters = {};
}

// Its steps are inlined by force: the compiler does not know that a member function has this one caller.
void send_scheduler::tick() {
    // Arbitration sees the bits as they were at the edge; what this edge brings counts from the next one on.
    // All inputs of a cycle are applied before eligibility is looked at again, so a doorbell and a gate
    // opening of the same cycle cannot miss each other.
    const bool refused = m_arbiter.any() && !grant_o.can_push();
    if (m_arbiter.any() && !refused) {
        const std::uint32_t slot = m_arbiter.take();
        qp& q = m_qps[slot];
        const bool only_begun = q.resend && q.gate == gate_state::closed;
        const auto waiting =
            static_cast<std::uint16_t>((only_begun ? q.resend_until : q.producer) - q.consumer);
        const auto count = static_cast<std::uint16_t>(std::min<std::uint32_t>(waiting, m_config.burst));
        grant_o.push({q.qpn, q.consumer, count, q.gate == gate_state::flush});
        q.ready = false;
        q.in_service = true;
        q.changed = false;
        if (is_watched(m_observer)) {
            for (std::uint16_t i = 0; i < count; ++i) {
                m_observer->stamp(q.qpn, static_cast<std::uint16_t>(q.consumer + i), stage::grant, now());
            }
        }
        q.consumer = static_cast<std::uint16_t>(q.consumer + count);
        q.resend = q.resend && ib::index_distance(q.resend_until, q.consumer) > 0;
        ++m_counters.grants;
        m_counters.wqes += count;
    }
    const std::uint64_t filled = filled_inputs();
    if (state_i.can_pop(filled)) {
        apply(state_i.front());
        state_i.drop();
    }
    if (doorbell_i.can_pop(filled)) {
        apply(doorbell_i.front());
        doorbell_i.drop();
    }
    if (update_i.can_pop(filled)) {
        apply(update_i.front());
        update_i.drop();
    }
    if (m_arbiter.any() && !refused) {
        wake_next();
    }
}

void send_scheduler::apply(const state_event& e) {
    const std::uint32_t slot = e.qpn & m_mask;
    qp& q = m_qps[slot];
    const bool was_pending = q.pending();
    if (e.created || e.state == ib::qp_state::reset) {
        // Indices of an older life of the slot mean nothing; a grant still in service ends with an update
        // that restores nothing.
        const bool in_service = q.in_service;
        if (q.ready) {
            m_arbiter.clear(slot, q.sl);
        }
        q = qp{};
        q.in_service = in_service;
    }
    q.qpn = e.qpn;
    if (q.ready && q.sl != e.sl_class) {
        m_arbiter.clear(slot, q.sl);
        q.ready = false;
    }
    q.sl = e.sl_class;
    const gate_state before = q.gate;
    q.gate = e.gate;
    if (q.gate != before) {
        q.parked = false;
        q.changed = true;
        if (is_watched(m_observer)) {
            m_observer->gate_changed(e.qpn, static_cast<std::uint8_t>(e.gate), was_pending, now());
        }
        if (q.gate == gate_state::open && q.pending()) {
            stamp(q, q.consumer, stage::gate);
        }
        if (q.gate == gate_state::flush) {
            q.held = false;
        }
    }
    refresh(slot);
}

[[gnu::always_inline]] inline void send_scheduler::apply(const send_doorbell& d) {
    const std::uint32_t slot = d.qpn & m_mask;
    qp& q = m_qps[slot];
    if (q.qpn != d.qpn || ib::index_distance(d.producer, q.producer) <= 0) {
        ++m_counters.stale_doorbells;
        return;
    }
    const std::uint16_t first = q.producer;
    q.producer = d.producer;
    stamp(q, first, stage::pending);
    if (q.gate == gate_state::open) {
        stamp(q, first, stage::gate);
    } else {
        ++m_counters.doorbells_closed;
    }
    refresh(slot);
}

[[gnu::always_inline]] inline void send_scheduler::apply(const scheduler_update& u) {
    const std::uint32_t slot = u.qpn & m_mask;
    qp& q = m_qps[slot];
    if (u.end_service) {
        q.in_service = false;
    }
    if (q.qpn != u.qpn) {
        refresh(slot);
        return;
    }
    if (u.gate_was_closed) {
        ++m_counters.closed_grants;
        // Opened between the grant and now: the engine may have looked before, so it has to look again.
        q.parked = !q.changed;
    }
    if (u.set_consumer && ib::index_distance(q.producer, u.consumer) >= 0) {
        q.consumer = u.consumer;
        q.resend = u.resend;
        q.resend_until = u.resend_until;
    }
    if (u.hold != scheduler_update::hold_t::keep) {
        q.held = u.hold == scheduler_update::hold_t::hold && q.gate != gate_state::flush;
    }
    refresh(slot);
}

void send_scheduler::refresh(std::uint32_t slot) {
    qp& q = m_qps[slot];
    const bool gate_ok = q.gate != gate_state::closed || q.resend ||
                         (m_config.location == gate_location::context && !q.parked);
    const bool ready = q.pending() && gate_ok && !q.in_service && !q.held;
    if (ready != q.ready) {
        q.ready = ready;
        if (ready) {
            m_arbiter.set(slot, q.sl);
        } else {
            m_arbiter.clear(slot, q.sl);
        }
    }
}

void send_scheduler::stamp(const qp& q, std::uint16_t first, stage s) {
    if (m_observer == nullptr) {
        return;
    }
    for (std::uint16_t i = first; i != q.producer; ++i) {
        m_observer->stamp(q.qpn, i, s, now());
    }
}

}  // namespace hcasim
