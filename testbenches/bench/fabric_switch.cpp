#include "testbenches/bench/fabric_switch.h"

#include <string>

#include "model/link/link_rx.h"
#include "model/link/link_tx.h"

namespace hcasim {

namespace {

// Port to port of switch ASICs is 90 to 300 ns (rnic-facts: Switch-IB 90 ns); the receive pipeline of the
// port is part of it.
constexpr std::uint64_t unknown_port = ~std::uint64_t{0};

std::string numbered(const char* base, std::uint32_t i) { return std::string(base) + std::to_string(i); }

}  // namespace

/// Forwards one packet per input and cycle.
class switch_core : public clocked_module {
public:
    switch_core(const sc_core::sc_module_name& name, clock_domain& domain, ib::packet_pool& pool,
                std::uint32_t ports)
        : clocked_module(name, domain), m_pool(pool) {
        for (std::uint32_t p = 0; p < ports; ++p) {
            packet_i.push_back(
                std::make_unique<in_port<ib::packet*>>(numbered("packet_i_", p).c_str(), *this));
        }
        for (std::uint32_t i = 0; i < ports * max_data_vls; ++i) {
            packet_o.push_back(
                std::make_unique<out_port<ib::packet*>>(numbered("packet_o_", i).c_str(), *this));
        }
    }

    std::vector<std::unique_ptr<in_port<ib::packet*>>> packet_i;
    std::vector<std::unique_ptr<out_port<ib::packet*>>> packet_o;

    void reset(const std::vector<std::uint16_t>& lid_of_port) {
        m_port_of_lid.assign(65536, unknown_port);
        for (std::size_t p = 0; p < lid_of_port.size(); ++p) {
            m_port_of_lid[lid_of_port[p]] = p;
        }
        m_first = 0;
        m_dropped = 0;
    }
    std::uint64_t dropped() const { return m_dropped; }

    void tick() override {
        // The inputs in turn, beginning with another one in each cycle that moves a packet: none is starved
        // by an output that all want.
        const auto ports = static_cast<std::uint32_t>(packet_i.size());
        bool moved = false;
        for (std::uint32_t i = 0; i < ports; ++i) {
            const std::uint32_t from = (m_first + i) % ports;
            if (!packet_i[from]->can_pop()) {
                continue;
            }
            ib::packet* p = packet_i[from]->front();
            const std::uint64_t to = m_port_of_lid[static_cast<std::size_t>(p->bytes[2] << 8 | p->bytes[3])];
            if (to == unknown_port) {
                ++m_dropped;
                m_pool.put(packet_i[from]->pop());
                moved = true;
                continue;
            }
            auto& out = *packet_o[to * max_data_vls + (p->bytes[0] >> 4)];
            if (!out.can_push()) {
                continue;
            }
            p = packet_i[from]->pop();
            p->has_wqe = false;  // stamps are taken at the sender's port
            p->late = false;     // on this link it comes in its turn
            out.push(p);
            moved = true;
        }
        if (moved) {
            m_first = m_first + 1 == ports ? 0 : m_first + 1;
            wake_next();
        }
    }

private:
    ib::packet_pool& m_pool;
    std::vector<std::uint64_t> m_port_of_lid;
    std::uint32_t m_first = 0;
    std::uint64_t m_dropped = 0;
};

fabric_switch::fabric_switch(const sc_core::sc_module_name& name, clock_domain& domain, ib::packet_pool& pool,
                             std::uint32_t ports)
    : sc_core::sc_module(name), m_ports(ports) {
    m_core = std::make_unique<switch_core>("core", domain, pool, ports);
    for (std::uint32_t p = 0; p < ports; ++p) {
        m_link_o.push_back(
            std::make_unique<sc_core::sc_port<channel_out_if<ib::packet*>>>(numbered("link_o_", p).c_str()));
        m_link_i.push_back(
            std::make_unique<sc_core::sc_port<channel_in_if<ib::packet*>>>(numbered("link_i_", p).c_str()));
        m_tx.push_back(std::make_unique<link_tx>(numbered("link_tx_", p).c_str(), domain, pool, 1));
        m_rx.push_back(std::make_unique<link_rx>(numbered("link_rx_", p).c_str(), domain, pool));
        m_received.push_back(
            std::make_unique<channel<ib::packet*>>(numbered("received_", p).c_str(), domain));
        m_credits.push_back(
            std::make_unique<channel<credit_update>>(numbered("credits_", p).c_str(), domain));
        m_tx[p]->wire_o.bind(*m_link_o[p]);
        m_rx[p]->wire_i.bind(*m_link_i[p]);
        m_rx[p]->packet_o.bind(*m_received[p]);
        m_core->packet_i[p]->bind(*m_received[p]);
        m_rx[p]->credit_o.bind(*m_credits[p]);
        m_tx[p]->credit_i.bind(*m_credits[p]);
        for (std::uint32_t vl = 0; vl < max_data_vls; ++vl) {
            const std::uint32_t i = p * max_data_vls + vl;
            m_queues.push_back(std::make_unique<channel<ib::packet*>>(numbered("queue_", i).c_str(), domain));
            m_core->packet_o[i]->bind(*m_queues[i]);
            m_tx[p]->packet_i(0, vl).bind(*m_queues[i]);
        }
    }
}

fabric_switch::~fabric_switch() = default;

void fabric_switch::observe(std::uint32_t port, observer* o) { m_tx[port]->set_observer(o); }

void fabric_switch::reset(const hca_config& config, const std::vector<std::uint16_t>& lid_of_port) {
    link_config link = config.link;
    link.faults = {};
    m_core->reset(lid_of_port);
    stall_pattern stall;
    stall.producer_per_1024 = config.stall_per_1024;
    stall.consumer_per_1024 = config.stall_per_1024;
    std::uint64_t number = 0;
    const auto apply = [&](auto& c, std::uint32_t depth) {
        channel_config cc;
        cc.depth = depth;
        cc.stall = stall;
        cc.stall.seed = config.stall_seed * 4096 + 2048 + number++;
        c.reset(cc);
    };
    for (std::uint32_t p = 0; p < m_ports; ++p) {
        m_tx[p]->reset(link, config.clock_mhz, 0);
        m_rx[p]->reset(link);
        apply(*m_received[p], 2);
        apply(*m_credits[p], 2);
    }
    for (auto& q : m_queues) {
        apply(*q, config.link.tx_queue_packets);
    }
}

std::uint64_t fabric_switch::dropped() const { return m_core->dropped(); }

}  // namespace hcasim
