#ifndef HCASIM_RTL_COSIM_LOCKSTEP_LOCKSTEP_RANDOM_H
#define HCASIM_RTL_COSIM_LOCKSTEP_LOCKSTEP_RANDOM_H

#include <cstdint>
#include <initializer_list>

namespace hcasim {

/// Random numbers of a stimulus: the same for the same seed on every machine (xorshift64*, after Vigna 2016).
class lockstep_random {
public:
    void seed(std::uint64_t seed) {
        // Neighbouring seeds must not begin alike.
        m_state = (seed + 1) * 0x9e3779b97f4a7c15u;
        m_state ^= m_state >> 31;
        m_state = m_state == 0 ? 1 : m_state;
        for (int i = 0; i < 4; ++i) {
            bits();
        }
    }
    std::uint64_t bits() {
        m_state ^= m_state >> 12;
        m_state ^= m_state << 25;
        m_state ^= m_state >> 27;
        return m_state * 0x2545f4914f6cdd1du;
    }
    /// 0 .. n - 1; n at least 1.
    std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>((bits() >> 32) * n >> 32); }
    bool chance(std::uint32_t per_1024) { return (bits() >> 54) < per_1024; }
    template <class T>
    T one_of(std::initializer_list<T> values) {
        return *(values.begin() + below(static_cast<std::uint32_t>(values.size())));
    }

private:
    std::uint64_t m_state = 1;
};

}  // namespace hcasim

#endif
