#ifndef HCASIM_RTL_COSIM_LOCKSTEP_LOAD_H
#define HCASIM_RTL_COSIM_LOCKSTEP_LOAD_H

#include <array>
#include <cstdint>
#include <string_view>

#include "rtl_cosim/lockstep/lockstep_random.h"

namespace hcasim {

/// How much a stimulus offers.
enum class load_kind : std::uint8_t { idle, sparse, saturated, bursts };
constexpr unsigned load_kinds = 4;
constexpr std::array<std::string_view, load_kinds> load_names = {"idle", "sparse", "saturated", "bursts"};

/// Decides, cycle by cycle, whether an input is offered something.
class load {
public:
    void reset(load_kind kind) {
        m_kind = kind;
        m_on = false;
        m_left = 0;
    }
    load_kind kind() const { return m_kind; }

    /// Once per cycle and input. `per_1024`: share of the cycles when the load is saturated, 0..1024.
    bool offers(lockstep_random& random, std::uint32_t per_1024 = 1024) {
        switch (m_kind) {
            case load_kind::idle:
                return random.below(1500) == 0;
            case load_kind::sparse:
                return random.below(24) == 0;
            case load_kind::saturated:
                return random.chance(per_1024);
            case load_kind::bursts:
                if (m_left == 0) {
                    m_on = !m_on;
                    m_left = 1 + random.below(m_on ? 40 : 120);
                }
                --m_left;
                return m_on && random.chance(per_1024);
        }
        return false;
    }

private:
    load_kind m_kind = load_kind::sparse;
    bool m_on = false;
    std::uint32_t m_left = 0;
};

}  // namespace hcasim

#endif
