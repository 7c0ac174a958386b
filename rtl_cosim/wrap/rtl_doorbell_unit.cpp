#include "rtl_cosim/wrap/rtl_doorbell_unit.h"

#include <algorithm>
#include <string>

#include "rtl_cosim/wrap/rtl_places.h"

namespace hcasim {

rtl_doorbell_unit::rtl_doorbell_unit(const sc_core::sc_module_name& name, clock_domain& domain, rtl_mode mode)
    : doorbell_unit(name, domain),
      m_verilog(*this, domain.cycles()),
      m_mode(mode),
      m_write(&m_verilog.input("write", write_i)) {
    m_verilog.output<send_doorbell>("send", send_o);
    m_verilog.output<receive_doorbell>("receive", receive_o);
    m_verilog.output<cq_doorbell>("cq", cq_o);
    m_verilog.set_keeps_time(false);
    m_verilog.after_settle = [this] { look_at_trace(); };
    m_verilog.compare_more = [this](rtl_difference& d) {
        if (look) {
            look();
        }
        return counts_differ(d);
    };
}

void rtl_doorbell_unit::reset(const doorbell_unit_config& config, std::uint32_t qps) {
    doorbell_unit::reset(config, qps);
    m_level = 0;
    m_before = {};
    m_coalesces = config.coalesce;
    verilog_source source;
    source.top = "doorbell_unit";
    source.directory = places_of_rtl().sources + "/rtl";
    source.files = {source.directory + "/doorbell_unit.v"};
    source.parameters = {{"QPS", qps}, {"DEPTH", config.fifo_depth}};
    m_verilog.reset(m_mode, source, this->name(), [&](verilog_block& v) {
        m_verilog.set_policy(v, "cfg_coalesce_i", config.coalesce ? 1 : 0);
        // A design of somebody else's need not tell what happens inside, as long as it only runs beside the
        // model.
        const auto traced = [&](const std::string& pin) {
            return m_mode == rtl_mode::verilog ? v.pin(pin) : v.find(pin);
        };
        m_received = traced("trace_received_o");
        m_coalesced = traced("trace_coalesced_o");
        m_stale = traced("trace_stale_o");
        m_unknown = traced("trace_unknown_o");
        m_full = traced("trace_full_o");
        m_merged = traced("trace_merged_o");
        m_merged_qpn = traced("trace_merged_qpn_o");
        m_merged_before = traced("trace_merged_before_o");
        m_merged_offered = traced("trace_merged_offered_o");
        m_merged_after = traced("trace_merged_after_o");
        m_next_level = traced("trace_level_o");
    });
}

void rtl_doorbell_unit::tick() {
    if (m_verilog.is_model()) {
        doorbell_unit::tick();
    } else {
        m_verilog.tick([this] {
            m_before = m_counters;
            doorbell_unit::tick();
        });
    }
}

std::uint32_t rtl_doorbell_unit::fifo_level() const {
    return m_verilog.mode() == rtl_mode::verilog ? m_level : doorbell_unit::fifo_level();
}

void rtl_doorbell_unit::look_at_trace() {
    m_counters.received += m_received.get();
    m_counters.coalesced += m_coalesced.get();
    m_counters.stale += m_stale.get();
    m_counters.unknown += m_unknown.get();
    m_counters.full_events += m_full.get();
    const auto level = static_cast<std::uint32_t>(m_next_level.get());
    m_counters.max_level = std::max(m_counters.max_level, level);
    if (m_observer == nullptr) {
        m_level = level;
        return;
    }
    if (m_merged.get() != 0) {
        m_observer->doorbell_merged(static_cast<std::uint32_t>(m_merged_qpn.get()),
                                    static_cast<std::uint16_t>(m_merged_before.get()),
                                    static_cast<std::uint16_t>(m_merged_offered.get()),
                                    static_cast<std::uint16_t>(m_merged_after.get()), now());
    }
    if (level != m_level) {
        m_level = level;
        m_observer->level(level_of::doorbell_fifo, level, now());
    }
}

// What the trace pins tell must be what the model has counted.
bool rtl_doorbell_unit::counts_differ(rtl_difference& d) {
    const auto differs = [&d](const verilog_pin& pin, const char* name, std::uint64_t expected) {
        if (!pin || pin.get() == expected) {
            return false;
        }
        d.port = name;
        d.expected = std::to_string(expected);
        d.actual = std::to_string(pin.get());
        return true;
    };
    const counters_t& c = m_counters;
    return differs(m_received, "trace_received_o", c.received - m_before.received) ||
           differs(m_coalesced, "trace_coalesced_o", c.coalesced - m_before.coalesced) ||
           differs(m_stale, "trace_stale_o", c.stale - m_before.stale) ||
           differs(m_unknown, "trace_unknown_o", c.unknown - m_before.unknown) ||
           differs(m_full, "trace_full_o", c.full_events - m_before.full_events) ||
           differs(m_next_level, "trace_level_o", doorbell_unit::fifo_level());
}

}  // namespace hcasim
