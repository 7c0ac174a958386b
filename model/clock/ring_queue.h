#ifndef HCASIM_MODEL_CLOCK_RING_QUEUE_H
#define HCASIM_MODEL_CLOCK_RING_QUEUE_H

#include <cstddef>
#include <utility>
#include <vector>

namespace hcasim {

/// FIFO in one block of memory that grows by doubling and never shrinks: no allocation in steady state.
template <class T>
class ring_queue {
public:
    bool empty() const { return m_head == m_tail; }
    std::size_t size() const { return m_tail - m_head; }
    T& front() { return m_entries[m_head & m_mask]; }
    const T& front() const { return m_entries[m_head & m_mask]; }
    T& back() { return m_entries[(m_tail - 1) & m_mask]; }
    T& operator[](std::size_t i) { return m_entries[(m_head + i) & m_mask]; }
    const T& operator[](std::size_t i) const { return m_entries[(m_head + i) & m_mask]; }
    void push_back(const T& value) { push_slot() = value; }
    /// One more entry at the back, which holds what was there before.
    T& push_slot() {
        if (m_tail - m_head == m_capacity) {
            grow();
        }
        return m_entries[m_tail++ & m_mask];
    }
    void pop_front() { ++m_head; }
    void clear() { m_head = m_tail = 0; }

private:
    [[gnu::cold]] void grow() {
        std::vector<T> larger(m_entries.empty() ? 8 : m_entries.size() * 2);
        const std::size_t n = size();
        for (std::size_t i = 0; i < n; ++i) {
            larger[i] = std::move((*this)[i]);
        }
        m_entries.swap(larger);
        m_capacity = m_entries.size();
        m_mask = m_capacity - 1;
        m_head = 0;
        m_tail = n;
    }
    std::vector<T> m_entries;
    std::size_t m_capacity = 0;
    std::size_t m_mask = 0;
    std::size_t m_head = 0;
    std::size_t m_tail = 0;
};

}  // namespace hcasim

#endif
