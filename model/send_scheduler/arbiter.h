#ifndef HCASIM_MODEL_SEND_SCHEDULER_ARBITER_H
#define HCASIM_MODEL_SEND_SCHEDULER_ARBITER_H

#include <array>
#include <cstdint>

#include "model/send_scheduler/ready_bitmap.h"
#include "model/send_scheduler/send_scheduler_config.h"

namespace hcasim {

/// Chooses among eligible QP slots. Round robin: one ring over all. Weighted: the service levels take turns
/// of `weight` grants, round robin within each; a level without an eligible QP loses the rest of its turn.
/// Strict: the highest service level that has one.
class arbiter {
public:
    void reset(const send_scheduler_config& config, std::uint32_t qps) {
        m_config = config;
        const std::uint32_t rings = config.arbitration == arbitration_policy::round_robin ? 1 : 16;
        m_rings = rings;
        for (std::uint32_t i = 0; i < rings; ++i) {
            m_ready[i].reset(qps);
            m_next[i] = 0;
        }
        m_nonempty = 0;
        m_turn = 0;
        m_left = config.weight[0];
        m_qps = qps;
    }

    void set(std::uint32_t slot, std::uint8_t sl) {
        const std::uint32_t ring = m_rings == 1 ? 0 : sl & 15u;
        m_ready[ring].set(slot);
        m_nonempty |= 1u << ring;
    }
    void clear(std::uint32_t slot, std::uint8_t sl) {
        const std::uint32_t ring = m_rings == 1 ? 0 : sl & 15u;
        m_ready[ring].clear(slot);
        if (!m_ready[ring].any()) {
            m_nonempty &= ~(1u << ring);
        }
    }
    bool any() const { return m_nonempty != 0; }

    /// Takes the next slot out; any() must be true.
    std::uint32_t take() {
        const std::uint32_t ring = choose_ring();
        const std::uint32_t slot = m_ready[ring].next(m_next[ring]);
        m_next[ring] = slot + 1 == m_qps ? 0 : slot + 1;
        m_ready[ring].clear(slot);
        if (!m_ready[ring].any()) {
            m_nonempty &= ~(1u << ring);
        }
        return slot;
    }

private:
    std::uint32_t choose_ring() {
        if (m_config.arbitration == arbitration_policy::round_robin) {
            return 0;
        }
        if (m_config.arbitration == arbitration_policy::strict) {
            return 31u - static_cast<std::uint32_t>(__builtin_clz(m_nonempty));
        }
        if ((m_nonempty >> m_turn & 1u) == 0 || m_left == 0) {
            do {
                m_turn = (m_turn + 1) & 15u;
            } while ((m_nonempty >> m_turn & 1u) == 0);
            m_left = m_config.weight[m_turn];
        }
        --m_left;
        return m_turn;
    }

    send_scheduler_config m_config;
    std::array<ready_bitmap, 16> m_ready;
    std::array<std::uint32_t, 16> m_next{};
    std::uint32_t m_rings = 1;
    std::uint32_t m_nonempty = 0;
    std::uint32_t m_turn = 0;
    std::uint32_t m_left = 1;
    std::uint32_t m_qps = 1;
};

}  // namespace hcasim

#endif
