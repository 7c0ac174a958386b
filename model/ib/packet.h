#ifndef HCASIM_MODEL_IB_PACKET_H
#define HCASIM_MODEL_IB_PACKET_H

#include <cstdint>
#include <memory>
#include <vector>

#include "model/ib/headers.h"

namespace hcasim::ib {

/// One packet on its way, with the bytes that are on the wire and what the model notes beside them. One owner
/// at a time; blocks hand the pointer on.
struct packet {
    std::uint32_t size_bytes = 0;  ///< LRH .. VCRC
    std::uint8_t vl = 0;
    bool is_flow_control = false;  ///< bytes hold a flow-control packet (6 bytes)
    std::uint8_t op = 0;           ///< BTH opcode
    bool starts_message = false;   ///< requester: first packet of its WQE
    bool late = false;  ///< fault injection let others overtake it: credits have been counted without it
    bool ends_message = false;   ///< requester: last packet of its WQE
    bool has_wqe = false;        ///< requester: qpn and wqe_index below name the WQE
    bool retransmitted = false;  ///< requester: sent again by go-back-N
    std::uint16_t wqe_index = 0;
    std::uint32_t qpn = 0;  ///< local QPN of the sender
    std::uint32_t psn = 0;
    std::uint64_t queued_cycle = 0;      ///< entered the VL queue
    std::uint64_t first_byte_cycle = 0;  ///< first byte on the wire (rounded down to a cycle)
    std::uint64_t last_byte_cycle = 0;   ///< cycle by whose edge the last byte has left
    std::uint8_t bytes[max_packet_bytes];
};

/// Recycles packets. Which object a caller gets has no influence on the model.
class packet_pool {
public:
    packet* get() {
        if (m_free.empty()) {
            m_all.push_back(std::unique_ptr<packet>(new packet));
            m_free.push_back(m_all.back().get());
        }
        packet* p = m_free.back();
        m_free.pop_back();
        p->is_flow_control = false;
        p->starts_message = false;
        p->ends_message = false;
        p->late = false;
        p->has_wqe = false;
        p->retransmitted = false;
        p->op = 0;
        return p;
    }
    void put(packet* p) { m_free.push_back(p); }
    /// Packets out of the pool; 0 when nothing is in flight.
    std::size_t in_use() const { return m_all.size() - m_free.size(); }
    /// Takes all packets back, whoever holds them (reset between runs).
    void reclaim() {
        m_free.clear();
        for (const auto& p : m_all) {
            m_free.push_back(p.get());
        }
    }

private:
    std::vector<std::unique_ptr<packet>> m_all;
    std::vector<packet*> m_free;
};

}  // namespace hcasim::ib

#endif
