#include "model/stats/distribution.h"

namespace hcasim {

void distribution::add(std::uint64_t value, std::uint64_t times) {
    if (times == 0) {
        return;
    }
    m_values[value] += times;
    m_count += times;
    m_sum += value * times;
}

void distribution::merge(const distribution& other) {
    for (const auto& [value, times] : other.m_values) {
        add(value, times);
    }
}

void distribution::clear() { *this = distribution{}; }

std::uint64_t distribution::min() const { return m_values.empty() ? 0 : m_values.begin()->first; }

std::uint64_t distribution::max() const { return m_values.empty() ? 0 : m_values.rbegin()->first; }

std::uint64_t distribution::mean_milli() const {
    return m_count == 0 ? 0 : (m_sum * 1000 + m_count / 2) / m_count;
}

std::uint64_t distribution::percentile(std::uint32_t per_mille) const {
    if (m_count == 0) {
        return 0;
    }
    std::uint64_t rank = (m_count * per_mille + 999) / 1000;
    rank = rank == 0 ? 1 : rank;
    std::uint64_t seen = 0;
    for (const auto& [value, times] : m_values) {
        seen += times;
        if (seen >= rank) {
            return value;
        }
    }
    return max();
}

}  // namespace hcasim
