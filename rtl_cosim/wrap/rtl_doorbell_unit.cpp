#include "rtl_cosim/wrap/rtl_doorbell_unit.h"

#include <algorithm>

#include "rtl_cosim/wrap/rtl_places.h"

namespace hcasim {

rtl_doorbell_unit::rtl_doorbell_unit(const sc_core::sc_module_name& name, clock_domain& domain, rtl_mode mode)
    : doorbell_unit(name, domain), m_verilog(*this, domain.cycles()), m_mode(mode) {
    m_verilog.input("write", write_i);
    m_verilog.output<send_doorbell>("send", send_o);
    m_verilog.output<receive_doorbell>("receive", receive_o);
    m_verilog.output<cq_doorbell>("cq", cq_o);
    m_verilog.set_keeps_time(false);
    m_verilog.after_settle = [this] { look_at_trace(); };
}

void rtl_doorbell_unit::reset(const doorbell_unit_config& config, std::uint32_t qps) {
    doorbell_unit::reset(config, qps);
    m_level = 0;
    m_coalesces = config.coalesce;
    verilog_source source;
    source.top = "doorbell_unit";
    source.directory = places_of_rtl().sources + "/rtl";
    source.files = {source.directory + "/doorbell_unit.v"};
    source.parameters = {{"QPS", qps}, {"DEPTH", config.fifo_depth}};
    m_verilog.reset(m_mode, source, this->name(), [&](verilog_block& v) {
        m_verilog.set_policy(v, "cfg_coalesce_i", config.coalesce ? 1 : 0);
        if (m_mode == rtl_mode::verilog) {
            m_received = v.pin("trace_received_o");
            m_coalesced = v.pin("trace_coalesced_o");
            m_stale = v.pin("trace_stale_o");
            m_unknown = v.pin("trace_unknown_o");
            m_full = v.pin("trace_full_o");
            m_merged = v.pin("trace_merged_o");
            m_merged_qpn = v.pin("trace_merged_qpn_o");
            m_merged_before = v.pin("trace_merged_before_o");
            m_merged_offered = v.pin("trace_merged_offered_o");
            m_merged_after = v.pin("trace_merged_after_o");
            m_next_level = v.pin("trace_level_o");
        }
    });
}

void rtl_doorbell_unit::tick() {
    if (m_verilog.is_model()) {
        doorbell_unit::tick();
    } else {
        m_verilog.tick([this] { doorbell_unit::tick(); });
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

}  // namespace hcasim
