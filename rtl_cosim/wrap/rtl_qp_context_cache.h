#ifndef HCASIM_RTL_COSIM_WRAP_RTL_QP_CONTEXT_CACHE_H
#define HCASIM_RTL_COSIM_WRAP_RTL_QP_CONTEXT_CACHE_H

#include <array>
#include <vector>

#include "model/qp_context_cache/qp_context_cache.h"
#include "rtl_cosim/wrap/qpc_message_fields.h"
#include "rtl_cosim/wrap/rtl_block.h"

namespace hcasim {

/// The QP context cache as qp_context_cache.v, or with it beside the model.
class rtl_qp_context_cache final : public qp_context_cache {
public:
    rtl_qp_context_cache(const sc_core::sc_module_name& name, clock_domain& domain, ib::packet_pool& pool,
                         rtl_mode mode);

    void reset(const qp_context_cache_config& config, std::uint32_t qps,
               std::uint64_t context_address) override;
    void tick() override;

    rtl_block& verilog() { return m_verilog; }
    void set_mode(rtl_mode mode) { m_mode = mode; }

    /// What is at the inputs in this cycle.
    rtl_input<qpc_request>& request(client c) { return *m_requests[c]; }
    rtl_input<dma_read_done>& fill() { return *m_fill; }

    /// Called in shadow mode when model and Verilog agree, after each cycle.
    std::function<void()> compared;

private:
    // Sees what the model tells its observer in a cycle, and passes it on.
    class tap final : public observer {
    public:
        void listen(observer* behind) {
            m_behind = behind;
            changed = late = false;
        }
        void state_changed(std::uint32_t qpn, std::uint8_t from, std::uint8_t to, std::uint8_t opener,
                           std::uint32_t sq_psn, std::uint64_t cycle) override;
        void late_opener(std::uint32_t qpn, std::uint8_t opener, std::uint64_t cycle) override;

        bool changed = false;
        bool late = false;
        std::uint64_t qpn = 0;
        std::uint64_t opener = 0;
        std::uint64_t from = 0;
        std::uint64_t to = 0;
        std::uint64_t next_psn = 0;

    private:
        observer* m_behind = nullptr;
    };
    using buffer = std::array<std::uint8_t, ib::qp_context_slot_bytes>;

    void give_fill_data();
    void look_at_trace();
    bool trace_differs(rtl_difference& d);

    rtl_block m_verilog;
    rtl_mode m_mode;
    std::array<rtl_input<qpc_request>*, client_count> m_requests{};
    rtl_input<dma_read_done>* m_fill = nullptr;
    std::vector<buffer> m_buffers;               // by cookie, in the place of the model
    std::vector<const std::uint8_t*> m_fetched;  // by cookie: where the data of a read is put
    counters_t m_before;                         // counters of the model before this cycle
    tap m_tap;
    verilog_pin m_fill_data, m_writeback_data;
    verilog_pin m_hit, m_miss, m_merged, m_writeback, m_eviction;
    verilog_pin m_changed, m_late_opener, m_qpn, m_reason, m_from, m_to, m_next_psn;
};

}  // namespace hcasim

#endif
