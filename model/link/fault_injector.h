#ifndef HCASIM_MODEL_LINK_FAULT_INJECTOR_H
#define HCASIM_MODEL_LINK_FAULT_INJECTOR_H

#include <array>
#include <cstdint>
#include <random>
#include <set>

#include "model/ib/packet.h"
#include "model/link/link_config.h"

namespace hcasim {

/// Decides what happens to a packet on the wire. Every class draws from a generator of its own, so that
/// faults of one class do not move those of another.
class fault_injector {
public:
    struct verdict {
        bool lost = false;
        bool corrupted = false;
        bool hidden = false;    ///< corrupted, and the VCRC made right
        std::uint64_t bit = 0;  ///< corrupted: which bit of the packet flips
        std::uint64_t delay_ns = 0;
    };

    void reset(const link_config& config, std::uint64_t seed);
    bool active() const { return m_active; }
    bool may_lose_flow_control() const { return m_loses_flow_control; }

    /// What the packet is. An RTU whose transaction id has passed before is `cm_rtu_again`.
    packet_class classify(const ib::packet& p);

    /// Decides; changes nothing in the packet.
    verdict judge(packet_class c, const ib::packet& p);

    /// Flips the bit of a packet that was judged to be corrupted.
    static void corrupt(const verdict& v, ib::packet& p);

private:
    bool draw(packet_class c, double probability);

    std::array<fault_config, packet_class_count> m_faults;
    std::array<std::mt19937_64, packet_class_count> m_random;
    std::set<std::uint64_t> m_rtu_seen;  // transaction ids
    bool m_active = false;
    bool m_loses_flow_control = false;
};

}  // namespace hcasim

#endif
