#ifndef HCASIM_TESTBENCHES_BENCH_FABRIC_SWITCH_H
#define HCASIM_TESTBENCHES_BENCH_FABRIC_SWITCH_H

#include <cstdint>
#include <memory>
#include <vector>

#include "model/clock/channel.h"
#include "model/hca_config.h"
#include "model/ib/messages.h"
#include "model/ib/packet.h"
#include "model/stats/observer.h"

namespace hcasim {

class switch_core;
class link_tx;
class link_rx;

/// A switch between more than two HCAs: a port like an HCA's on every side (same rate, VLs, credits), and a
/// core that forwards by destination LID. Packets are received whole before they are forwarded; an output
/// that has no credits holds up the packets behind it of the same input (no virtual output queues).
class fabric_switch : public sc_core::sc_module {
public:
    fabric_switch(const sc_core::sc_module_name& name, clock_domain& domain, ib::packet_pool& pool,
                  std::uint32_t ports);
    ~fabric_switch() override;

    sc_core::sc_port<channel_out_if<ib::packet*>>& link_o(std::uint32_t port) { return *m_link_o[port]; }
    sc_core::sc_port<channel_in_if<ib::packet*>>& link_i(std::uint32_t port) { return *m_link_i[port]; }

    /// `lid_of_port[i]` is the LID behind port i. Faults of `config` do not apply to the switch's own
    /// transmitters.
    void reset(const hca_config& config, const std::vector<std::uint16_t>& lid_of_port);

    /// Tells `o` of every packet as it starts from the switch to this port; null for none.
    void observe(std::uint32_t port, observer* o);

    /// Packets whose LID is behind no port.
    std::uint64_t dropped() const;

private:
    std::uint32_t m_ports;
    std::vector<std::unique_ptr<sc_core::sc_port<channel_out_if<ib::packet*>>>> m_link_o;
    std::vector<std::unique_ptr<sc_core::sc_port<channel_in_if<ib::packet*>>>> m_link_i;
    std::vector<std::unique_ptr<link_tx>> m_tx;
    std::vector<std::unique_ptr<link_rx>> m_rx;
    std::unique_ptr<switch_core> m_core;
    std::vector<std::unique_ptr<channel<ib::packet*>>> m_received;
    std::vector<std::unique_ptr<channel<credit_update>>> m_credits;
    std::vector<std::unique_ptr<channel<ib::packet*>>> m_queues;  // port * 15 + vl
};

}  // namespace hcasim

#endif
