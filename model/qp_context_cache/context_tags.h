#ifndef HCASIM_MODEL_QP_CONTEXT_CACHE_CONTEXT_TAGS_H
#define HCASIM_MODEL_QP_CONTEXT_CACHE_CONTEXT_TAGS_H

#include <cstdint>
#include <vector>

#include "model/qp_context_cache/qp_context_cache_config.h"

namespace hcasim {

/// Tags and replacement of the context cache. A line is set * ways + way.
class context_tags {
public:
    static constexpr std::uint32_t none = ~std::uint32_t{0};

    void reset(const qp_context_cache_config& config) {
        m_sets = config.sets;
        m_ways = config.ways;
        m_policy = config.replacement;
        m_lines.assign(std::size_t{m_sets} * m_ways, {});
        m_tree.assign(m_sets, 0);
        m_time = 0;
    }

    std::uint32_t find(std::uint32_t slot) const {
        const std::uint32_t base = (slot & (m_sets - 1)) * m_ways;
        for (std::uint32_t way = 0; way < m_ways; ++way) {
            if (m_lines[base + way].valid && m_lines[base + way].slot == slot) {
                return base + way;
            }
        }
        return none;
    }

    /// Line to be filled for `slot`: the first invalid way of its set, else the victim.
    std::uint32_t victim(std::uint32_t slot) const {
        const std::uint32_t set = slot & (m_sets - 1);
        const std::uint32_t base = set * m_ways;
        for (std::uint32_t way = 0; way < m_ways; ++way) {
            if (!m_lines[base + way].valid) {
                return base + way;
            }
        }
        return base + (m_policy == replacement_policy::plru ? plru_victim(set) : lru_victim(base));
    }

    void touch(std::uint32_t index) {
        m_lines[index].used = ++m_time;
        if (m_policy == replacement_policy::plru) {
            plru_touch(index / m_ways, index % m_ways);
        }
    }

    void install(std::uint32_t index, std::uint32_t slot) {
        m_lines[index] = {};
        m_lines[index].slot = slot;
        m_lines[index].valid = true;
    }

    std::uint32_t slot_of(std::uint32_t index) const { return m_lines[index].slot; }
    bool is_valid(std::uint32_t index) const { return m_lines[index].valid; }
    bool is_dirty(std::uint32_t index) const { return m_lines[index].dirty; }
    void set_dirty(std::uint32_t index) { m_lines[index].dirty = true; }
    std::uint32_t lines() const { return m_sets * m_ways; }

private:
    struct line {
        std::uint64_t used = 0;
        std::uint32_t slot = 0;
        bool valid = false;
        bool dirty = false;
    };

    std::uint32_t lru_victim(std::uint32_t base) const {
        std::uint32_t best = 0;
        std::uint64_t oldest = ~std::uint64_t{0};
        for (std::uint32_t way = 0; way < m_ways; ++way) {
            if (m_lines[base + way].used < oldest) {
                oldest = m_lines[base + way].used;
                best = way;
            }
        }
        return best;
    }

    // Tree pseudo-LRU: node n has children 2n + 1 and 2n + 2; a node's bit names the half that was used less
    // recently.
    std::uint32_t plru_victim(std::uint32_t set) const {
        std::uint32_t node = 0;
        std::uint32_t first = 0;
        std::uint32_t span = m_ways;
        while (span > 1) {
            span /= 2;
            const bool right = (m_tree[set] >> node & 1u) != 0;
            first += right ? span : 0;
            node = 2 * node + (right ? 2 : 1);
        }
        return first;
    }
    void plru_touch(std::uint32_t set, std::uint32_t way) {
        std::uint32_t node = 0;
        std::uint32_t first = 0;
        std::uint32_t span = m_ways;
        while (span > 1) {
            span /= 2;
            const bool right = way >= first + span;
            const std::uint32_t bit = 1u << node;
            m_tree[set] = right ? m_tree[set] & ~bit : m_tree[set] | bit;
            first += right ? span : 0;
            node = 2 * node + (right ? 2 : 1);
        }
    }

    std::uint32_t m_sets = 1;
    std::uint32_t m_ways = 1;
    replacement_policy m_policy = replacement_policy::lru;
    std::vector<line> m_lines;
    std::vector<std::uint32_t> m_tree;
    std::uint64_t m_time = 0;
};

}  // namespace hcasim

#endif
