#ifndef HCASIM_MODEL_LINK_LINK_RX_H
#define HCASIM_MODEL_LINK_LINK_RX_H

#include <array>
#include <cstdint>

#include "model/clock/channel.h"
#include "model/clock/ring_queue.h"
#include "model/ib/messages.h"
#include "model/link/credits.h"
#include "model/link/link_config.h"
#include "model/stats/observer.h"

namespace hcasim {

/// Receive side of a port: waits for the last byte, checks the VCRC, keeps packets in the buffer of their VL
/// and gives credits back as they leave it. Cycle contract: docs/microarchitecture.md, "link".
class link_rx : public clocked_module {
public:
    link_rx(const sc_core::sc_module_name& name, clock_domain& domain, ib::packet_pool& pool);

    in_port<ib::packet*> wire_i;
    out_port<ib::packet*> packet_o;
    out_port<credit_update> credit_o;

    virtual void reset(const link_config& config);
    void tick() override;

    struct counters_t {
        std::uint64_t packets = 0;
        std::uint64_t flow_control_packets = 0;
        std::uint64_t vcrc_errors = 0;
        std::uint64_t flow_control_errors = 0;  ///< LPCRC wrong or VL not in use
        std::uint64_t overruns = 0;             ///< no buffer space: the peer sent without credits
        std::uint64_t resyncs = 0;              ///< FCTBS that named blocks which never came
        std::uint64_t max_buffered_bytes = 0;
    };
    const counters_t& counters() const { return m_counters; }

protected:
    ib::packet_pool& m_pool;
    counters_t m_counters;

private:
    struct arriving {
        cycle_t due = 0;
        ib::packet* packet = nullptr;
    };
    struct vl_state {
        receive_credits credits;
        ring_queue<ib::packet*> buffer;
        std::uint64_t freed_bytes = 0;  // since the peer was told at once
        bool at_once = false;
        bool has_limit = false;   // the peer's limit, on its way to link_tx
        std::uint16_t limit = 0;  // the newest one
    };

    void take_arrived();
    void take_flow_control(const ib::packet& p);
    void deliver();
    void report_credits();

    link_config m_config;
    ring_queue<arriving> m_arriving;
    std::array<vl_state, 15> m_vls;
    std::uint32_t m_next_vl = 0;
    std::uint32_t m_next_report = 0;
    std::uint32_t m_changed = 0;   // bit per VL whose FCCL is not what link_tx has
    std::uint32_t m_buffered = 0;  // packets in all buffers
    std::uint64_t m_buffered_bytes = 0;
    std::uint32_t m_limits = 0;  // VLs that have a limit for link_tx
    std::uint32_t m_next_limit = 0;
};

}  // namespace hcasim

#endif
