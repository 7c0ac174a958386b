#include "rtl_cosim/wrap/rtl_send_scheduler.h"

#include <string>

#include "rtl_cosim/wrap/rtl_places.h"

namespace hcasim {

rtl_send_scheduler::rtl_send_scheduler(const sc_core::sc_module_name& name, clock_domain& domain,
                                       rtl_mode mode)
    : send_scheduler(name, domain),
      m_verilog(*this, domain.cycles()),
      m_mode(mode),
      m_doorbell(&m_verilog.input("doorbell", doorbell_i)),
      m_state(&m_verilog.input("state", state_i)),
      m_update(&m_verilog.input("update", update_i)),
      m_grant(&m_verilog.output<send_grant>("grant", grant_o)) {
    m_verilog.set_keeps_time(false);
    m_verilog.after_settle = [this] { look_at_trace(); };
    m_verilog.compare_more = [this](rtl_difference& d) {
        if (look) {
            look();
        }
        return counts_differ(d);
    };
}

void rtl_send_scheduler::reset(const send_scheduler_config& config, std::uint32_t qps) {
    send_scheduler::reset(config, qps);
    m_slot_mask = qps - 1;
    m_slots.reset(qps);
    m_before = {};
    verilog_source source;
    source.top = "send_scheduler";
    source.directory = places_of_rtl().sources + "/rtl";
    source.files = {source.directory + "/send_scheduler.v"};
    source.parameters = {{"QPS", qps}};
    m_verilog.reset(m_mode, source, this->name(), [&](verilog_block& v) {
        m_verilog.set_policy(v, "cfg_arbitration_i", static_cast<std::uint64_t>(config.arbitration));
        m_verilog.set_policy(v, "cfg_gate_in_context_i", config.location == gate_location::context ? 1 : 0);
        m_verilog.set_policy(v, "cfg_burst_i", config.burst);
        if (config.arbitration == arbitration_policy::weighted) {
            const verilog_pin weight = v.pin("cfg_weight_i");
            for (std::uint32_t sl = 0; sl < config.weight.size(); ++sl) {
                weight.set_slice(8 * sl, 8, config.weight[sl]);
            }
        }
        // A design of somebody else's need not tell what happens inside, as long as it only runs beside the
        // model.
        const auto traced = [&](const std::string& pin) {
            return m_mode == rtl_mode::verilog ? v.pin(pin) : v.find(pin);
        };
        m_grant_valid = v.pin("grant_valid_o");
        m_grant_qpn = v.pin("grant_qpn_o");
        m_grant_first = v.pin("grant_first_o");
        m_grant_count = v.pin("grant_count_o");
        m_gate_changed = traced("trace_gate_changed_o");
        m_gate_was_pending = traced("trace_gate_was_pending_o");
        m_gate_opened = traced("trace_gate_opened_o");
        m_gate_first = traced("trace_gate_first_o");
        m_gate_end = traced("trace_gate_end_o");
        m_doorbell_stale = traced("trace_doorbell_stale_o");
        m_doorbell_taken = traced("trace_doorbell_taken_o");
        m_doorbell_open = traced("trace_doorbell_open_o");
        m_doorbell_first = traced("trace_doorbell_first_o");
        m_consumer_set = traced("trace_consumer_set_o");
        m_closed_grant = traced("trace_closed_grant_o");
    });
}

void rtl_send_scheduler::tick() {
    if (m_verilog.is_model()) {
        send_scheduler::tick();
    } else {
        m_verilog.tick([this] {
            m_before = m_counters;
            send_scheduler::tick();
        });
    }
}

bool rtl_send_scheduler::gate_is_open(std::uint32_t qpn) const {
    return m_verilog.mode() == rtl_mode::verilog ? m_slots[qpn & m_slot_mask].gate == gate_state::open
                                                 : send_scheduler::gate_is_open(qpn);
}

bool rtl_send_scheduler::is_pending(std::uint32_t qpn) const {
    const slot& s = m_slots[qpn & m_slot_mask];
    return m_verilog.mode() == rtl_mode::verilog ? s.producer != s.consumer : send_scheduler::is_pending(qpn);
}

// In the order in which the cycle goes: grant, state event, doorbell, update.
void rtl_send_scheduler::look_at_trace() {
    if (m_grant->fires()) {
        const auto qpn = static_cast<std::uint32_t>(m_grant_qpn.get());
        const auto first = static_cast<std::uint16_t>(m_grant_first.get());
        const auto count = static_cast<std::uint16_t>(m_grant_count.get());
        const auto end = static_cast<std::uint16_t>(first + count);
        stamp(qpn, first, end, stage::grant);
        m_slots[qpn & m_slot_mask].consumer = end;
        ++m_counters.grants;
        m_counters.wqes += count;
    }
    if (m_state->fires()) {
        const state_event& e = m_state->message();
        slot& s = m_slots[e.qpn & m_slot_mask];
        if (e.created || e.state == ib::qp_state::reset) {
            s = {};
        }
        s.gate = e.gate;
        if (m_gate_changed.get() != 0 && m_observer != nullptr) {
            m_observer->gate_changed(e.qpn, static_cast<std::uint8_t>(e.gate), m_gate_was_pending.get() != 0,
                                     now());
        }
        if (m_gate_opened.get() != 0) {
            stamp(e.qpn, static_cast<std::uint16_t>(m_gate_first.get()),
                  static_cast<std::uint16_t>(m_gate_end.get()), stage::gate);
        }
    }
    if (m_doorbell->fires()) {
        const send_doorbell& d = m_doorbell->message();
        m_counters.stale_doorbells += m_doorbell_stale.get();
        if (m_doorbell_taken.get() != 0) {
            m_slots[d.qpn & m_slot_mask].producer = d.producer;
            const auto first = static_cast<std::uint16_t>(m_doorbell_first.get());
            stamp(d.qpn, first, d.producer, stage::pending);
            if (m_doorbell_open.get() != 0) {
                stamp(d.qpn, first, d.producer, stage::gate);
            } else {
                ++m_counters.doorbells_closed;
            }
        }
    }
    if (m_update->fires()) {
        const scheduler_update& u = m_update->message();
        m_counters.closed_grants += m_closed_grant.get();
        if (m_consumer_set.get() != 0) {
            m_slots[u.qpn & m_slot_mask].consumer = u.consumer;
        }
    }
}

void rtl_send_scheduler::stamp(std::uint32_t qpn, std::uint16_t first, std::uint16_t end, stage s) {
    if (m_observer == nullptr) {
        return;
    }
    for (std::uint16_t i = first; i != end; ++i) {
        m_observer->stamp(qpn, i, s, now());
    }
}

// What the trace pins tell must be what the model has counted.
bool rtl_send_scheduler::counts_differ(rtl_difference& d) {
    const auto differs = [&d](const verilog_pin& pin, const char* name, bool expected) {
        if (!pin || (pin.get() != 0) == expected) {
            return false;
        }
        d.port = name;
        d.expected = expected ? "1" : "0";
        d.actual = expected ? "0" : "1";
        return true;
    };
    const counters_t& c = m_counters;
    const bool taken = m_doorbell->fires() && c.stale_doorbells == m_before.stale_doorbells;
    return differs(m_doorbell_stale, "trace_doorbell_stale_o",
                   c.stale_doorbells != m_before.stale_doorbells) ||
           differs(m_doorbell_taken, "trace_doorbell_taken_o", taken) ||
           (taken && differs(m_doorbell_open, "trace_doorbell_open_o",
                             c.doorbells_closed == m_before.doorbells_closed)) ||
           differs(m_closed_grant, "trace_closed_grant_o", c.closed_grants != m_before.closed_grants);
}

}  // namespace hcasim
