#ifndef HCASIM_TESTBENCHES_BENCH_ARRIVAL_TAP_H
#define HCASIM_TESTBENCHES_BENCH_ARRIVAL_TAP_H

#include <cstdint>
#include <deque>
#include <map>

#include "model/clock/engine.h"
#include "model/stats/observer.h"

namespace hcasim {

/// Stands between an HCA and its observer and notes, for each QP, when the messages came in that the HCA
/// accepted, in order. What software cannot know: how long ago the command arrived that it is about to
/// answer.
class arrival_tap final : public observer {
public:
    void reset(observer& next) {
        m_next = &next;
        m_arrivals.clear();
    }
    /// Cycle of the oldest message of this QP that was not taken yet; 0 when there is none.
    cycle_t take(std::uint32_t qpn) {
        auto& queue = m_arrivals[qpn];
        if (queue.empty()) {
            return 0;
        }
        const cycle_t cycle = queue.front();
        queue.pop_front();
        return cycle;
    }

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
    void packet_on_wire(const std::uint8_t* bytes, std::uint32_t size_bytes, std::uint32_t qpn,
                        bool is_flow_control, bool lost, std::uint64_t first_byte_cycle,
                        std::uint64_t last_byte_cycle) override {
        m_next->packet_on_wire(bytes, size_bytes, qpn, is_flow_control, lost, first_byte_cycle,
                               last_byte_cycle);
    }
    void request_accepted(std::uint32_t qpn, std::uint32_t psn, bool ends_message,
                          std::uint64_t cycle) override {
        if (ends_message) {
            m_arrivals[qpn].push_back(cycle);
        }
        m_next->request_accepted(qpn, psn, ends_message, cycle);
    }
    void comm_est(std::uint32_t qpn, std::uint64_t cycle) override { m_next->comm_est(qpn, cycle); }
    void doorbell_merged(std::uint32_t qpn, std::uint16_t before, std::uint16_t offered, std::uint16_t after,
                         std::uint64_t cycle) override {
        m_next->doorbell_merged(qpn, before, offered, after, cycle);
    }

private:
    observer* m_next = nullptr;
    std::map<std::uint32_t, std::deque<cycle_t>> m_arrivals;
};

}  // namespace hcasim

#endif
