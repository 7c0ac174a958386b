#ifndef HCASIM_MODEL_LINK_VL_ARBITER_H
#define HCASIM_MODEL_LINK_VL_ARBITER_H

#include <array>
#include <cstdint>

#include "model/link/link_config.h"

namespace hcasim {

/// Arbitration among data VLs (IBTA 7.6.9): a high- and a low-priority table of weights in units of 64 bytes,
/// weighted round robin within each; a limit of high-priority bytes after which a low-priority packet may go.
class vl_arbiter {
public:
    static constexpr std::uint32_t none = ~std::uint32_t{0};

    void reset(const link_config& config) {
        for (std::uint32_t vl = 0; vl < 15; ++vl) {
            const bool used = vl < config.data_vls;
            m_low.weight[vl] = used ? config.low_weight[vl] : 0;
            m_high.weight[vl] = used ? config.high_weight[vl] : 0;
        }
        m_low.restart();
        m_high.restart();
        m_limit = config.high_limit;
        m_high_left = limit_bytes();
    }

    /// Chooses among the VLs of `candidates` (bit per VL) and charges nothing; `none` when no table has one
    /// of them.
    std::uint32_t choose(std::uint32_t candidates) {
        const std::uint32_t high = candidates & m_high.members;
        const std::uint32_t low = candidates & m_low.members;
        if (high != 0 && (low == 0 || m_high_left > 0 || m_limit == 255)) {
            m_from_high = true;
            return m_high.choose(high);
        }
        if (low != 0) {
            m_from_high = false;
            return m_low.choose(low);
        }
        return none;
    }

    /// The chosen VL has sent a packet.
    void charge(std::uint32_t size_bytes) {
        const auto units = static_cast<std::int64_t>((size_bytes + 63) / 64);
        if (m_from_high) {
            m_high.left -= units;
            m_high_left -= size_bytes;
        } else {
            m_low.left -= units;
            m_high_left = limit_bytes();
        }
    }

private:
    struct table {
        std::array<std::uint32_t, 15> weight{};
        std::uint32_t members = 0;
        std::uint32_t current = 0;
        std::int64_t left = 0;
        void restart() {
            members = 0;
            for (std::uint32_t vl = 0; vl < 15; ++vl) {
                members |= weight[vl] != 0 ? 1u << vl : 0u;
            }
            current = 0;
            left = weight[0];
        }
        std::uint32_t choose(std::uint32_t candidates) {
            if ((candidates >> current & 1u) == 0 || left <= 0) {
                do {
                    current = current == 14 ? 0 : current + 1;
                } while ((candidates >> current & 1u) == 0);
                left = weight[current];
            }
            return current;
        }
    };
    // Limit 0: one high-priority packet, then a low-priority one may go.
    std::int64_t limit_bytes() const { return m_limit == 0 ? 1 : std::int64_t{4096} * m_limit; }

    table m_low;
    table m_high;
    std::uint32_t m_limit = 0;
    std::int64_t m_high_left = 1;
    bool m_from_high = false;
};

}  // namespace hcasim

#endif
