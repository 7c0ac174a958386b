#ifndef HCASIM_MODEL_LINK_LINK_TX_H
#define HCASIM_MODEL_LINK_LINK_TX_H

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "model/clock/channel.h"
#include "model/ib/messages.h"
#include "model/link/credits.h"
#include "model/link/fault_injector.h"
#include "model/link/link_config.h"
#include "model/link/serializer.h"
#include "model/link/vl_arbiter.h"
#include "model/stats/observer.h"

namespace hcasim {

constexpr std::uint32_t max_data_vls = 15;

/// Transmit side of a port: VL queues (the input channels are the queues), VL arbitration, credits,
/// flow-control packets, serialization, faults on the wire. Cycle contract: docs/microarchitecture.md,
/// "link".
class link_tx : public clocked_module {
public:
    /// Sources of packets per VL.
    enum source : std::uint32_t { from_send_engine, from_receive_engine, source_count };

    /// `sources` 1 or 2: a switch port has one.
    link_tx(const sc_core::sc_module_name& name, clock_domain& domain, ib::packet_pool& pool,
            std::uint32_t sources = source_count);

    /// packet_i(s, vl)
    in_port<ib::packet*>& packet_i(std::uint32_t s, std::uint32_t vl) {
        return *m_packet_i[s * max_data_vls + vl];
    }
    in_port<credit_update> credit_i;
    out_port<ib::packet*> wire_o;
    optional_out_port<sent_notice> sent_o;  ///< unbound at a switch port

    virtual void reset(const link_config& config, std::uint64_t clock_mhz, std::uint64_t seed);
    void set_observer(observer* o) { m_observer = o; }
    void tick() override;

    struct counters_t {
        std::uint64_t packets = 0;
        std::uint64_t bytes = 0;  ///< LRH .. VCRC
        std::uint64_t flow_control_packets = 0;
        std::uint64_t lost = 0;
        std::uint64_t delayed = 0;
        std::uint64_t corrupted = 0;
        std::uint64_t credit_stalls = 0;  ///< packets that reached the head of their VL without credits
        std::uint64_t busy_cycles = 0;    ///< wire time of packets and flow control, rounded up each
    };
    const counters_t& counters() const { return m_counters; }

protected:
    /// Delayed packets that are due go before all others.
    void push_delayed();
    /// A packet whose time on the wire is known: what is to be observed of it, faults, the channel.
    virtual void put_on_wire(ib::packet* p);

    ib::packet_pool& m_pool;
    std::uint32_t m_sources;
    serializer m_serializer;
    fault_injector m_faults;
    cycle_t m_period_cycles = 1;
    counters_t m_counters;

private:
    struct delayed_packet {
        cycle_t due = 0;
        ib::packet* packet = nullptr;
    };
    struct vl_state {
        transmit_credits credits;
        std::uint16_t announced_fccl = 0;  // ours, for the peer
        bool announce_now = false;
        std::uint32_t quiet_periods = 0;  // flow-control periods without news
        std::uint32_t next_source = 0;
        cycle_t ready_since = 0;  // when credits came for a head that had none
        bool stalled = false;     // its head has been counted as waiting for credits
    };

    void take_credits(const credit_update& u);
    bool send_flow_control();
    bool send_packet();
    void wait_for_credits(std::uint32_t vl, std::uint32_t s);
    void serialize(ib::packet* p, cycle_t available);
    bool can_use_wire();
    bool is_quiet() const;
    bool has_front(std::uint32_t vl, std::uint32_t& s);

    std::vector<std::unique_ptr<in_port<ib::packet*>>> m_packet_i;
    link_config m_config;
    vl_arbiter m_arbiter;
    std::array<vl_state, max_data_vls> m_vls;
    std::vector<delayed_packet> m_delayed;                  // in the order of due
    std::uint64_t m_packet_inputs = 0;                      // bits of filled_inputs()
    std::array<std::uint64_t, max_data_vls> m_vl_inputs{};  // the same by VL
    cycle_t m_period_end = 1;   // next multiple of the period at or after the present cycle
    cycle_t m_period_wake = 0;  // the period's end that this module has been woken for
    bool m_announcing = true;   // some VL may have announce_now
    bool m_initializing = true;
    std::uint32_t m_next_flow_vl = 0;
    std::uint64_t m_clock_mhz = 250;
    observer* m_observer = nullptr;
};

}  // namespace hcasim

#endif
