#ifndef HCASIM_MODEL_SEND_ENGINE_OUTSTANDING_LIST_H
#define HCASIM_MODEL_SEND_ENGINE_OUTSTANDING_LIST_H

#include <cstdint>
#include <vector>

namespace hcasim {

/// A send that has been begun and is not completed.
struct outstanding_send {
    std::uint64_t wr_id = 0;
    std::uint32_t first_psn = 0;
    std::uint32_t last_psn = 0;
    std::uint32_t cqn = 0;
    std::uint32_t length_bytes = 0;
    std::uint16_t wqe_index = 0;
    bool signaled = false;
};

/// FIFOs of outstanding sends, one per QP, in one shared memory of linked entries (as on the chip). Each is a
/// ring of entries known by its tail.
class outstanding_list {
public:
    static constexpr std::uint32_t none = ~std::uint32_t{0};
    /// Bits of a FIFO's word that name its tail; the others count its entries.
    static constexpr std::uint32_t tail_bits = 21;
    /// Most entries of one FIFO, and of all together.
    static constexpr std::uint32_t max_count = (1u << (32 - tail_bits)) - 1;
    static constexpr std::uint32_t max_entries = 1u << tail_bits;
    /// One word, read and written as one: a processor waits when it reads a word of which it has just written
    /// a part.
    class fifo {
    public:
        std::uint32_t count() const { return m_word >> tail_bits; }
        bool empty() const { return count() == 0; }

    private:
        friend class outstanding_list;
        std::uint32_t tail() const { return m_word & (max_entries - 1); }
        void set(std::uint32_t tail, std::uint32_t count) { m_word = tail | count << tail_bits; }
        std::uint32_t m_word = 0;
    };
    static_assert(sizeof(fifo) == 4, "one for each QP");

    void reset(std::uint32_t entries) {
        m_entries.clear();
        m_limit = entries;
        m_free = none;
        m_used = 0;
    }
    bool full() const { return m_used == m_limit; }

    /// One more entry at the back of `f`, which holds what was there before and is to be filled in; full()
    /// must be false.
    outstanding_send& push(fifo& f) {
        std::uint32_t index = m_free;
        if (index == none) {
            index = static_cast<std::uint32_t>(m_entries.size());
            m_entries.emplace_back();
        } else {
            m_free = m_entries[index].next;
        }
        entry& e = m_entries[index];
        if (f.empty()) {
            e.next = index;
        } else {
            entry& tail = m_entries[f.tail()];
            e.next = tail.next;
            tail.next = index;
        }
        f.set(index, f.count() + 1);
        ++m_used;
        return e.send;
    }
    const outstanding_send& back(const fifo& f) const { return m_entries[f.tail()].send; }
    const outstanding_send& front(const fifo& f) const { return m_entries[m_entries[f.tail()].next].send; }
    void pop(fifo& f) {
        entry& tail = m_entries[f.tail()];
        const std::uint32_t index = tail.next;
        tail.next = m_entries[index].next;
        m_entries[index].next = m_free;
        m_free = index;
        f.set(f.tail(), f.count() - 1);
        --m_used;
    }
    void clear(fifo& f) {
        while (!f.empty()) {
            pop(f);
        }
    }

private:
    struct entry {
        outstanding_send send;
        std::uint32_t next = none;
    };
    std::vector<entry> m_entries;
    std::uint32_t m_limit = 0;
    std::uint32_t m_free = none;
    std::uint32_t m_used = 0;
};

}  // namespace hcasim

#endif
