#ifndef HCASIM_MODEL_SEND_SCHEDULER_READY_BITMAP_H
#define HCASIM_MODEL_SEND_SCHEDULER_READY_BITMAP_H

#include <cstdint>
#include <vector>

namespace hcasim {

/// Set of QP slots as a hierarchical bitmap: each word of a level says which of the 64 words below it are not
/// empty. Setting, clearing and finding the next member after a position touch one word per level (four
/// levels for 2^24 QPs).
class ready_bitmap {
public:
    static constexpr std::uint32_t none = ~std::uint32_t{0};

    void reset(std::uint32_t size) {
        m_levels.clear();
        std::uint32_t words = size;
        do {
            words = (words + 63) / 64;
            m_levels.emplace_back(words, 0);
        } while (words > 1);
    }

    void set(std::uint32_t index) {
        for (auto& level : m_levels) {
            std::uint64_t& word = level[index >> 6];
            const bool was_empty = word == 0;
            word |= std::uint64_t{1} << (index & 63);
            if (!was_empty) {
                return;
            }
            index >>= 6;
        }
    }

    void clear(std::uint32_t index) {
        for (auto& level : m_levels) {
            std::uint64_t& word = level[index >> 6];
            word &= ~(std::uint64_t{1} << (index & 63));
            if (word != 0) {
                return;
            }
            index >>= 6;
        }
    }

    bool test(std::uint32_t index) const { return (m_levels[0][index >> 6] >> (index & 63) & 1u) != 0; }
    bool any() const { return m_levels.back()[0] != 0; }

    /// First member at or after `from`, else the first member; `none` when empty.
    std::uint32_t next(std::uint32_t from) const {
        const std::uint32_t found = next_without_wrap(from);
        return found != none || from == 0 ? found : next_without_wrap(0);
    }

private:
    std::uint32_t next_without_wrap(std::uint32_t from) const {
        std::uint32_t index = from;
        std::uint32_t level = 0;
        while (level < m_levels.size()) {
            const auto& words = m_levels[level];
            if (index >> 6 < words.size()) {
                const std::uint64_t rest = words[index >> 6] & (~std::uint64_t{0} << (index & 63));
                if (rest != 0) {
                    index = (index & ~63u) + static_cast<std::uint32_t>(__builtin_ctzll(rest));
                    while (level != 0) {
                        --level;
                        index =
                            index * 64 + static_cast<std::uint32_t>(__builtin_ctzll(m_levels[level][index]));
                    }
                    return index;
                }
            }
            index = (index >> 6) + 1;
            ++level;
        }
        return none;
    }

    std::vector<std::vector<std::uint64_t>> m_levels;  // [0] has one bit per member
};

}  // namespace hcasim

#endif
