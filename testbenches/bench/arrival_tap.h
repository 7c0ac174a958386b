#ifndef HCASIM_TESTBENCHES_BENCH_ARRIVAL_TAP_H
#define HCASIM_TESTBENCHES_BENCH_ARRIVAL_TAP_H

#include <cstdint>
#include <deque>
#include <map>

#include "model/clock/engine.h"
#include "model/ib/byte_order.h"
#include "model/ib/headers.h"
#include "model/ib/psn.h"
#include "model/stats/observer.h"

namespace hcasim {

/// Stands between an HCA and its observer and notes, for each QP, when the messages came in that the HCA
/// accepted, in order. What software cannot know: how long ago the command arrived that it is about to
/// answer.
class arrival_tap final : public observer {
public:
    /// `peer`: the tap at the other end of the cable, null behind a switch (see incoming()).
    void reset(observer& next, arrival_tap* peer, cycle_t cable_cycles) {
        m_next = &next;
        m_peer = peer;
        m_cable_cycles = cable_cycles;
        m_incoming.m_tap = this;
        m_flows.clear();
    }
    /// Cycle in which the last byte of a QP's oldest message that was not taken yet was at the port; 0 when
    /// there is none.
    cycle_t take(std::uint32_t qpn) {
        auto& messages = m_flows[qpn].messages;
        if (messages.empty()) {
            return 0;
        }
        const cycle_t cycle = messages.front();
        messages.pop_front();
        return cycle;
    }

    /// Observer of the transmitter at the other end of this HCA's cable.
    observer& incoming() { return m_incoming; }

    void stamp(std::uint32_t qpn, std::uint16_t wqe_index, stage s, std::uint64_t cycle) override {
        m_next->stamp(qpn, wqe_index, s, cycle);
    }
    void wqe_ended(std::uint32_t qpn, std::uint16_t wqe_index, std::uint8_t status, bool has_cqe,
                   std::uint64_t cycle) override {
        m_next->wqe_ended(qpn, wqe_index, status, has_cqe, cycle);
    }
    void state_changed(std::uint32_t qpn, std::uint8_t from, std::uint8_t to, std::uint8_t opener,
                       std::uint32_t sq_psn, std::uint64_t cycle) override {
        m_next->state_changed(qpn, from, to, opener, sq_psn, cycle);
    }
    void late_opener(std::uint32_t qpn, std::uint8_t opener, std::uint64_t cycle) override {
        m_next->late_opener(qpn, opener, cycle);
    }
    void gate_changed(std::uint32_t qpn, std::uint8_t gate, bool pending, std::uint64_t cycle) override {
        m_next->gate_changed(qpn, gate, pending, cycle);
    }
    void level(level_of structure, std::uint64_t value, std::uint64_t cycle) override {
        m_next->level(structure, value, cycle);
    }
    void packet_on_wire(const std::uint8_t* bytes, std::uint32_t size_bytes, std::uint32_t qpn,
                        bool is_flow_control, bool lost, std::uint64_t first_byte_cycle,
                        std::uint64_t last_byte_cycle) override {
        if (m_peer != nullptr && !is_flow_control && !lost) {
            m_peer->arrives(bytes, last_byte_cycle + m_cable_cycles);
        }
        m_next->packet_on_wire(bytes, size_bytes, qpn, is_flow_control, lost, first_byte_cycle,
                               last_byte_cycle);
    }
    void request_accepted(std::uint32_t qpn, std::uint32_t psn, bool ends_message,
                          std::uint64_t cycle) override {
        if (ends_message) {
            flow& f = m_flows[qpn];
            cycle_t arrived = cycle;
            while (!f.last_packets.empty() && ib::psn_distance(f.last_packets.front().psn, psn) <= 0) {
                if (f.last_packets.front().psn == psn) {
                    arrived = f.last_packets.front().cycle;
                }
                f.last_packets.pop_front();
            }
            f.messages.push_back(arrived);
        }
        m_next->request_accepted(qpn, psn, ends_message, cycle);
    }
    void comm_est(std::uint32_t qpn, std::uint64_t cycle) override { m_next->comm_est(qpn, cycle); }
    void doorbell_merged(std::uint32_t qpn, std::uint16_t before, std::uint16_t offered, std::uint16_t after,
                         std::uint64_t cycle) override {
        m_next->doorbell_merged(qpn, before, offered, after, cycle);
    }

private:
    struct arrival {
        std::uint32_t psn;
        cycle_t cycle;
    };
    struct flow {
        std::deque<arrival> last_packets;  // of messages, accepted or not
        std::deque<cycle_t> messages;
    };
    struct incoming_observer final : observer {
        void packet_on_wire(const std::uint8_t* bytes, std::uint32_t, std::uint32_t, bool is_flow_control,
                            bool lost, std::uint64_t, std::uint64_t last_byte_cycle) override {
            if (!is_flow_control && !lost) {
                m_tap->arrives(bytes, last_byte_cycle + m_tap->m_cable_cycles);
            }
        }
        arrival_tap* m_tap = nullptr;
    };

    void arrives(const std::uint8_t* bytes, cycle_t cycle) {
        const bool has_grh = (bytes[1] & 3u) == 3;
        const std::uint8_t* bth = bytes + ib::lrh_bytes + (has_grh ? ib::grh_bytes : 0);
        if (ib::is_rc_send(bth[0]) && (ib::is_last(bth[0]) || ib::is_only(bth[0]))) {
            m_flows[ib::load_be24(bth + 5)].last_packets.push_back({ib::load_be24(bth + 9), cycle});
        }
    }

    observer* m_next = nullptr;
    arrival_tap* m_peer = nullptr;
    cycle_t m_cable_cycles = 0;
    incoming_observer m_incoming;
    std::map<std::uint32_t, flow> m_flows;
};

}  // namespace hcasim

#endif
