#ifndef HCASIM_RTL_COSIM_LOCKSTEP_COVERAGE_H
#define HCASIM_RTL_COSIM_LOCKSTEP_COVERAGE_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace hcasim {

/// Functional coverage: a list of situations that a stimulus is to bring about, and how often it did.
class coverage {
public:
    /// Declares a situation ("doorbell and gate in the same cycle"); before the first cycle.
    std::size_t point(const std::string& name) {
        m_names.push_back(name);
        m_hits.push_back(0);
        return m_names.size() - 1;
    }
    /// Declares `count` situations name + " 0" ... ; the first one's number.
    std::size_t points(const std::string& name, std::size_t count) {
        const std::size_t first = m_names.size();
        for (std::size_t i = 0; i < count; ++i) {
            point(name + " " + std::to_string(i));
        }
        return first;
    }
    void hit(std::size_t point) { ++m_hits[point]; }
    void hit_if(bool happened, std::size_t point) { m_hits[point] += happened ? 1 : 0; }

    std::size_t size() const { return m_names.size(); }
    const std::string& name(std::size_t point) const { return m_names[point]; }
    std::uint64_t hits(std::size_t point) const { return m_hits[point]; }
    std::size_t covered() const {
        std::size_t n = 0;
        for (const std::uint64_t hits : m_hits) {
            n += hits != 0 ? 1 : 0;
        }
        return n;
    }
    void clear() { m_hits.assign(m_hits.size(), 0); }

private:
    std::vector<std::string> m_names;
    std::vector<std::uint64_t> m_hits;
};

}  // namespace hcasim

#endif
