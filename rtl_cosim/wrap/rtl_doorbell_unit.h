#ifndef HCASIM_RTL_COSIM_WRAP_RTL_DOORBELL_UNIT_H
#define HCASIM_RTL_COSIM_WRAP_RTL_DOORBELL_UNIT_H

#include <functional>

#include "model/doorbell_unit/doorbell_unit.h"
#include "rtl_cosim/wrap/rtl_block.h"

namespace hcasim {

/// The doorbell unit as doorbell_unit.v, or with it beside the model.
class rtl_doorbell_unit final : public doorbell_unit {
public:
    rtl_doorbell_unit(const sc_core::sc_module_name& name, clock_domain& domain, rtl_mode mode);

    void reset(const doorbell_unit_config& config, std::uint32_t qps) override;
    void tick() override;
    std::uint32_t fifo_level() const override;

    rtl_block& verilog() { return m_verilog; }
    bool coalesces() const { return m_coalesces; }
    void set_mode(rtl_mode mode) { m_mode = mode; }

    /// What is at the input in this cycle.
    rtl_input<doorbell_write>& write() { return *m_write; }
    /// Called after each cycle that was compared.
    std::function<void()> look;

private:
    void look_at_trace();
    bool counts_differ(rtl_difference& d);

    rtl_block m_verilog;
    rtl_mode m_mode;
    rtl_input<doorbell_write>* m_write;
    counters_t m_before;  // counters of the model before this cycle
    std::uint32_t m_level = 0;
    bool m_coalesces = true;
    verilog_pin m_received, m_coalesced, m_stale, m_unknown, m_full;
    verilog_pin m_merged, m_merged_qpn, m_merged_before, m_merged_offered, m_merged_after, m_next_level;
};

}  // namespace hcasim

#endif
