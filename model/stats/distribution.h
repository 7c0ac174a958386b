#ifndef HCASIM_MODEL_STATS_DISTRIBUTION_H
#define HCASIM_MODEL_STATS_DISTRIBUTION_H

#include <cstdint>
#include <map>

namespace hcasim {

/// Exact distribution of an integer quantity (cycles). Percentiles are nearest-rank: the smallest value with
/// at least that share of the samples at or below it. The mean is exact too: sum and count are integers.
class distribution {
public:
    void add(std::uint64_t value, std::uint64_t times = 1);
    void merge(const distribution& other);
    void clear();

    std::uint64_t count() const { return m_count; }
    std::uint64_t sum() const { return m_sum; }
    std::uint64_t min() const;  ///< 0 when empty
    std::uint64_t max() const;  ///< 0 when empty
    /// Mean in thousandths, rounded half up; 0 when empty.
    std::uint64_t mean_milli() const;
    /// `per_mille` 0..1000: 500 is p50, 999 is p99.9. 0 when empty.
    std::uint64_t percentile(std::uint32_t per_mille) const;
    const std::map<std::uint64_t, std::uint64_t>& values() const { return m_values; }

private:
    std::map<std::uint64_t, std::uint64_t> m_values;
    std::uint64_t m_count = 0;
    std::uint64_t m_sum = 0;
};

}  // namespace hcasim

#endif
