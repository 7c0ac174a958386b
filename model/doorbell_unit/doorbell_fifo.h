#ifndef HCASIM_MODEL_DOORBELL_UNIT_DOORBELL_FIFO_H
#define HCASIM_MODEL_DOORBELL_UNIT_DOORBELL_FIFO_H

#include <cstdint>
#include <vector>

#include "model/clock/qp_table.h"
#include "model/ib/psn.h"

namespace hcasim {

/// FIFO of QPs whose doorbell has come and has not reached the scheduler. With coalescing a QP stands in it
/// at most once and a further doorbell only moves its producer index, and only forward (16-bit window):
/// indices that come late or out of order are harmless.
class doorbell_fifo {
public:
    enum class outcome : std::uint8_t { queued, coalesced, stale, full };

    void reset(std::uint32_t depth, std::uint32_t qps, bool coalesce) {
        m_depth = depth;
        m_mask = qps - 1;
        m_coalesce = coalesce;
        m_ring.assign(depth, {});
        m_place.reset(qps);
        m_head = 0;
        m_level = 0;
    }

    /// `was_full`: the FIFO was full at the clock edge; a place freed in this cycle is not used before the
    /// next.
    outcome offer(std::uint32_t qpn, std::uint16_t producer, bool was_full) {
        std::uint32_t& place = m_place[qpn & m_mask];
        if (m_coalesce && place != 0 && m_ring[place - 1].qpn == qpn) {
            entry& e = m_ring[place - 1];
            if (ib::index_distance(producer, e.producer) <= 0) {
                return outcome::stale;
            }
            e.producer = producer;
            return outcome::coalesced;
        }
        if (was_full || m_level == m_depth) {
            return outcome::full;
        }
        std::uint32_t slot = m_head + m_level;
        slot = slot >= m_depth ? slot - m_depth : slot;
        m_ring[slot] = {qpn, producer};
        ++m_level;
        place = slot + 1;
        return outcome::queued;
    }

    std::uint32_t level() const { return m_level; }
    bool full() const { return m_level == m_depth; }
    bool empty() const { return m_level == 0; }
    std::uint32_t front_qpn() const { return m_ring[m_head].qpn; }
    std::uint16_t front_producer() const { return m_ring[m_head].producer; }

    void pop() {
        std::uint32_t& place = m_place[m_ring[m_head].qpn & m_mask];
        if (place == m_head + 1) {
            place = 0;
        }
        m_head = m_head + 1 == m_depth ? 0 : m_head + 1;
        --m_level;
    }

    /// Producer index that waits for this QP, or `otherwise`.
    std::uint16_t waiting(std::uint32_t qpn, std::uint16_t otherwise) const {
        const std::uint32_t place = m_place[qpn & m_mask];
        return place != 0 && m_ring[place - 1].qpn == qpn ? m_ring[place - 1].producer : otherwise;
    }

private:
    struct entry {
        std::uint32_t qpn = 0;
        std::uint16_t producer = 0;
    };
    std::vector<entry> m_ring;
    qp_table<std::uint32_t> m_place;  // per QP slot: ring position + 1 of its newest entry, 0 = none
    std::uint32_t m_depth = 1;
    std::uint32_t m_mask = 0;
    std::uint32_t m_head = 0;
    std::uint32_t m_level = 0;
    bool m_coalesce = true;
};

}  // namespace hcasim

#endif
