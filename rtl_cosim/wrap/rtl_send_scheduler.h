#ifndef HCASIM_RTL_COSIM_WRAP_RTL_SEND_SCHEDULER_H
#define HCASIM_RTL_COSIM_WRAP_RTL_SEND_SCHEDULER_H

#include <functional>

#include "model/clock/qp_table.h"
#include "model/send_scheduler/send_scheduler.h"
#include "rtl_cosim/wrap/rtl_block.h"

namespace hcasim {

/// The send scheduler as send_scheduler.v, or with it beside the model.
class rtl_send_scheduler final : public send_scheduler {
public:
    rtl_send_scheduler(const sc_core::sc_module_name& name, clock_domain& domain, rtl_mode mode);

    void reset(const send_scheduler_config& config, std::uint32_t qps) override;
    void tick() override;
    bool gate_is_open(std::uint32_t qpn) const override;
    bool is_pending(std::uint32_t qpn) const override;

    rtl_block& verilog() { return m_verilog; }
    void set_mode(rtl_mode mode) { m_mode = mode; }

    /// What is at the inputs in this cycle.
    rtl_input<send_doorbell>& doorbell() { return *m_doorbell; }
    rtl_input<state_event>& state() { return *m_state; }
    rtl_input<scheduler_update>& update() { return *m_update; }
    /// A grant stands before a full channel.
    bool grant_waits() const { return m_grant_valid.get() != 0 && !m_grant->fires(); }
    /// Called after each cycle that was compared.
    std::function<void()> look;

private:
    // What a QP's slot holds, for who asks: put together from what the pins tell.
    struct slot {
        std::uint16_t producer = 0;
        std::uint16_t consumer = 0;
        gate_state gate = gate_state::closed;
    };

    void look_at_trace();
    void stamp(std::uint32_t qpn, std::uint16_t first, std::uint16_t end, stage s);
    bool counts_differ(rtl_difference& d);

    rtl_block m_verilog;
    rtl_mode m_mode;
    rtl_input<send_doorbell>* m_doorbell;
    rtl_input<state_event>* m_state;
    rtl_input<scheduler_update>* m_update;
    rtl_output<send_grant>* m_grant;
    std::uint32_t m_slot_mask = 0;
    qp_table<slot> m_slots;
    counters_t m_before;  // counters of the model before this cycle
    verilog_pin m_grant_valid, m_grant_qpn, m_grant_first, m_grant_count;
    verilog_pin m_gate_changed, m_gate_was_pending, m_gate_opened, m_gate_first, m_gate_end;
    verilog_pin m_doorbell_stale, m_doorbell_taken, m_doorbell_open, m_doorbell_first;
    verilog_pin m_consumer_set, m_closed_grant;
};

}  // namespace hcasim

#endif
