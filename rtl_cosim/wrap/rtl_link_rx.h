#ifndef HCASIM_RTL_COSIM_WRAP_RTL_LINK_RX_H
#define HCASIM_RTL_COSIM_WRAP_RTL_LINK_RX_H

#include <deque>
#include <functional>
#include <unordered_map>

#include "model/link/link_rx.h"
#include "rtl_cosim/wrap/link_records.h"
#include "rtl_cosim/wrap/rtl_block.h"

namespace hcasim {

/// The receive side of a port as link_rx.v, or with it beside the model.
class rtl_link_rx final : public link_rx {
public:
    rtl_link_rx(const sc_core::sc_module_name& name, clock_domain& domain, ib::packet_pool& pool,
                rtl_mode mode);

    void reset(const link_config& config) override;
    void tick() override;

    rtl_block& verilog() { return m_verilog; }
    void set_mode(rtl_mode mode) { m_mode = mode; }

    /// Whether packets may lie over each other on the wire, as when fault injection delays some. Without it
    /// the pipeline has room for no more than follow each other. From the next reset on.
    void set_overlaps(bool overlaps) { m_overlaps = overlaps; }

    /// Called in shadow mode when model and Verilog agree, after each cycle.
    std::function<void()> compared;

    /// In shadow mode: the handle of a packet, and that of the last one that has left the pipeline.
    std::uint64_t handle_of(const ib::packet* p) const {
        const auto known = m_handles.find(p);
        return known == m_handles.end() ? 0 : known->second;
    }
    std::uint64_t last_arrived() const { return m_arrived; }

private:
    wire_arrival front();
    void take();
    void give(const received_packet& r);
    void tell_time();
    void look_at_trace();
    bool trace_differs(rtl_difference& d);

    rtl_block m_verilog;
    rtl_mode m_mode;
    bool m_overlaps = true;
    cycle_t m_pipeline_cycles = 0;
    // Handles are numbers in the order of arrival.
    std::uint64_t m_next_handle = 1;
    std::unordered_map<std::uint64_t, ib::packet*> m_inside;         // in the place of the model
    std::unordered_map<const ib::packet*, std::uint64_t> m_handles;  // beside it
    std::deque<std::uint64_t> m_arriving;                            // beside it: those in the pipeline
    std::uint64_t m_arrived = 0;                                     // the last that left it
    std::uint64_t m_buffered_bytes = 0;
    counters_t m_before;  // counters of the model before this cycle
    cycle_t m_last_tick = 0;
    verilog_pin m_arrival_cycles;
    verilog_pin m_resume, m_resume_cycle;
    verilog_pin m_drop, m_drop_handle;
    verilog_pin m_packet, m_flow_control, m_flow_control_error, m_vcrc_error, m_overrun, m_resync, m_kept;
};

}  // namespace hcasim

#endif
