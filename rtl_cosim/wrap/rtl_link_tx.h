#ifndef HCASIM_RTL_COSIM_WRAP_RTL_LINK_TX_H
#define HCASIM_RTL_COSIM_WRAP_RTL_LINK_TX_H

#include <array>
#include <functional>

#include "model/link/link_tx.h"
#include "rtl_cosim/wrap/link_records.h"
#include "rtl_cosim/wrap/rtl_block.h"

namespace hcasim {

class rtl_packet_queues;

/// The transmit side of a port as link_tx.v, or with it beside the model. Faults are no hardware: they are
/// injected behind the Verilog, in the order and with the random numbers of the model.
class rtl_link_tx final : public link_tx {
public:
    rtl_link_tx(const sc_core::sc_module_name& name, clock_domain& domain, ib::packet_pool& pool,
                std::uint32_t sources, rtl_mode mode);

    void reset(const link_config& config, std::uint64_t clock_mhz, std::uint64_t seed) override;
    void tick() override;

    rtl_block& verilog() { return m_verilog; }
    void set_mode(rtl_mode mode) { m_mode = mode; }
    /// From the next reset on; 1 or 2, not more than there are.
    void set_sources(std::uint32_t sources) { m_sources = sources; }

    /// Called in shadow mode when model and Verilog agree, after each cycle.
    std::function<void()> compared;

    /// What has begun on the model's wire in this cycle; null for nothing.
    const wire_start* started() const { return m_started_at == now() ? &m_started : nullptr; }
    /// Queues (s * data VLs + vl) that showed a packet in this cycle, and those whose packet had just come.
    std::uint32_t shown() const;
    std::uint32_t fresh() const;

protected:
    void put_on_wire(ib::packet* p) override;

private:
    void give(const wire_start& w);
    void tell_time();
    void look_at_trace();
    bool trace_differs(rtl_difference& d);

    rtl_block m_verilog;
    rtl_mode m_mode;
    rtl_packet_queues* m_queues = nullptr;
    wire_start m_started;
    cycle_t m_started_at = 0;
    std::uint64_t m_stalls_before = 0;
    cycle_t m_last_tick = 0;
    verilog_pin m_credit_stall;
    cycle_t m_period_wake = 0;  // end of a period that has been asked for
    verilog_pin m_resume, m_resume_cycle, m_resume_period, m_wakes;
};

}  // namespace hcasim

#endif
