#ifndef HCASIM_MODEL_CLOCK_CHANNEL_CORE_H
#define HCASIM_MODEL_CLOCK_CHANNEL_CORE_H

#include <cstdint>
#include <stdexcept>
#include <vector>

#include "model/clock/engine.h"

namespace hcasim {

/// Injected back-pressure: in a share of the cycles the channel refuses its producer, its consumer, or both.
/// A pure function of (seed, cycle), so that engines and tick orders cannot change it.
struct stall_pattern {
    std::uint64_t seed = 0;
    std::uint32_t producer_per_1024 = 0;  ///< 0..1023
    std::uint32_t consumer_per_1024 = 0;  ///< 0..1023
};

/// Depth, latency and injected stalls of a channel.
struct channel_config {
    std::uint32_t depth = 2;           ///< entries, 1..65536; 2 gives one entry per cycle
    std::uint32_t latency_cycles = 1;  ///< cycles from push to the first cycle in which it can be popped, 1..
    stall_pattern stall;
};

/// Registered valid/ready channel between two modules of one domain: at most one push and one pop per cycle.
///
/// Order independence without an update phase: an entry carries the first cycle in which it is visible (push
/// + latency), and a producer sees a slot freed in cycle n from n + 1 on. Nothing that happens in cycle n can
/// be seen in cycle n, so the order of the ticks within a cycle cannot matter. A push wakes the consumer for
/// the cycle of visibility; a pop wakes the producer only if it had been refused.
template <class T>
class channel_core {
public:
    channel_core() = default;
    channel_core(const channel_core&) = delete;
    channel_core& operator=(const channel_core&) = delete;

    void attach(engine& e) { m_engine = &e; }
    void set_consumer(tickable& consumer) { m_consumer = &consumer; }
    void set_producer(tickable& producer) { m_producer = &producer; }
    /// `bit` of the consumer's filled_inputs() is set while the channel holds something (and may stay set
    /// when it is shared).
    void set_flag(std::uint64_t bit, bool shared) {
        m_flag_set = bit;
        m_flag_clear = shared ? 0 : bit;
    }

    void reset(const channel_config& config) {
        if (config.depth == 0 || config.latency_cycles == 0) {
            throw std::invalid_argument("channel depth and latency must be at least 1");
        }
        m_config = config;
        m_latency = config.latency_cycles;
        // Entries in flight occupy the ring too: latency beyond one cycle needs its own room to keep full
        // rate.
        m_limit = config.depth + config.latency_cycles - 1;
        m_free_limit = config.stall.producer_per_1024 == 0 ? m_limit : 0;
        m_pop_block = config.stall.consumer_per_1024 == 0 ? 0 : never;
        std::uint32_t capacity = 1;
        while (capacity < m_limit) {
            capacity *= 2;
        }
        m_ring.assign(capacity, entry{});
        m_entries = m_ring.data();
        m_mask = capacity - 1;
        m_head = m_level = 0;
        m_push_from = m_free_limit != 0 ? 1 : never;
        m_pop_from = never;
        if (m_consumer != nullptr) {
            m_consumer->filled_inputs() &= ~m_flag_clear;
        }
        m_last_pop = 0;
        m_refused = m_refusing = false;
        m_refused_cycles = 0;
    }

    /// True when push() is allowed in this cycle. When it is not, the producer is woken as soon as it is.
    bool can_push() {
        const cycle_t now = m_engine->now();
        return now >= m_push_from || is_free(now);
    }

    /// Pushes one entry; can_push() must be true.
    void push(const T& value) { slot_for_push() = value; }

    /// Pushes T{}, to be filled in within this tick: for entries too large to be copied once more.
    T& push_new() {
        T& value = slot_for_push();
        value = T{};
        return value;
    }

    /// Pushes an entry that holds what an earlier one has left, to be filled in within this tick.
    T& push_slot() { return slot_for_push(); }

    /// True when front() and pop() are allowed in this cycle. The consumer is woken when that becomes so.
    bool can_pop() {
        const cycle_t now = m_engine->now();
        return now >= m_pop_from || (m_pop_block != 0 && is_offered(now));
    }

    /// True when an entry is visible, injected stalls or not: for ordering rules between channels.
    bool has_visible() const { return m_level != 0 && front_visible() <= m_engine->now(); }

    /// First cycle in which the front entry could be popped; an entry must be there.
    cycle_t front_visible() const { return m_entries[m_head & m_mask].visible; }

    const T& front() const { return m_entries[m_head & m_mask].value; }

    /// Removes the front entry; can_pop() must be true.
    T pop() {
        T value = front();
        drop();
        return value;
    }

    /// Removes the front entry unseen: for entries too large to be copied. can_pop() must be true. The entry
    /// stays what it is until the end of this cycle.
    void drop() {
        const cycle_t now = m_engine->now();
        m_last_pop = now;
        if (m_level == m_free_limit && !m_refusing) {
            m_push_from = now + 1;
        }
        ++m_head;
        if (--m_level == 0) {
            m_consumer->filled_inputs() &= ~m_flag_clear;
            m_pop_from = never;
        } else {
            cycle_t from = front_visible();
            if (from <= now) {
                // Its own wake was for a cycle that is past: without this the entry would wait for the next
                // one.
                m_engine->wake_next(*m_consumer);
                from = now + 1;
            }
            m_pop_from = from | m_pop_block;
        }
        if (m_refused) {
            m_refused = false;
            m_engine->wake_next(*m_producer);
        }
    }

    // What the other side of a channel shows in this cycle, for one that watches: asking changes nothing and
    // wakes nobody.

    /// What can_push() would say.
    bool is_ready() const {
        const cycle_t now = m_engine->now();
        const std::uint32_t seen = m_level + (m_last_pop == now ? 1u : 0u);
        return seen < m_limit && !was_pushed() && !stalled(m_config.stall.producer_per_1024, now, 1);
    }
    /// What can_pop() would say.
    bool is_valid() const {
        const cycle_t now = m_engine->now();
        return has_visible() && m_last_pop != now && !stalled(m_config.stall.consumer_per_1024, now, 2);
    }
    bool was_pushed() const { return newest().visible == m_engine->now() + m_latency; }
    bool was_popped() const { return m_last_pop == m_engine->now(); }
    /// The newest entry; one must be there.
    const T& back() const { return newest().value; }

    /// Entries inside, visible or not.
    std::uint32_t level() const { return m_level; }
    std::uint64_t pushed() const { return m_head + m_level; }
    /// Cycles in which a producer stood before a full channel, closed intervals only.
    std::uint64_t refused_cycles() const { return m_refused_cycles; }
    const channel_config& config() const { return m_config; }

private:
    struct entry {
        T value{};
        cycle_t visible = 0;
    };

    const entry& newest() const { return m_entries[(m_head + m_level - 1) & m_mask]; }

    T& slot_for_push() {
        const cycle_t now = m_engine->now();
        const std::uint32_t latency = m_latency;
        tickable& consumer = *m_consumer;
        entry& e = m_entries[(m_head + m_level) & m_mask];
        e.visible = now + latency;
        if (m_level == 0) {
            consumer.filled_inputs() |= m_flag_set;
            m_pop_from = (now + latency) | m_pop_block;
        }
        m_push_from = ++m_level < m_free_limit ? now + 1 : never;
        if (latency == 1) {
            m_engine->wake_next(consumer);
        } else {
            m_engine->wake_at(consumer, now + latency);
        }
        return e.value;
    }

    // The rare ends of the operations above, out of the code that every tick runs through.

    // can_push() when something speaks against it; wakes the producer for when nothing does any more. Once it
    // has been refused, every question comes here until it is granted.
    [[gnu::noinline]] bool is_free(cycle_t now) {
        if (was_pushed()) {
            m_engine->wake_next(*m_producer);
            return false;
        }
        const bool popped_now = m_last_pop == now;
        if (m_level + (popped_now ? 1u : 0u) >= m_limit) {
            if (!m_refusing) {
                m_refusing = true;
                m_refused_since = now;
                m_push_from = never;
            }
            if (popped_now) {
                m_engine->wake_next(*m_producer);
            } else {
                m_refused = true;
            }
            return false;
        }
        if (stalled(m_config.stall.producer_per_1024, now, 1)) {
            m_engine->wake_next(*m_producer);
            return false;
        }
        if (m_refusing) {
            m_refusing = false;
            m_refused_cycles += now - m_refused_since;
        }
        return true;
    }

    // can_pop() with injected stalls.
    [[gnu::noinline]] bool is_offered(cycle_t now) {
        if (!has_visible()) {
            return false;
        }
        if (m_last_pop == now || stalled(m_config.stall.consumer_per_1024, now, 2)) {
            m_engine->wake_next(*m_consumer);
            return false;
        }
        return true;
    }

    bool stalled(std::uint32_t per_1024, cycle_t now, std::uint64_t side) const {
        std::uint64_t x =
            (m_config.stall.seed * 2 + side) * 0x9e3779b97f4a7c15ULL + now * 0xd1342543de82ef95ULL;
        x ^= x >> 32;
        x *= 0xd6e8feb86659fd93ULL;
        x ^= x >> 32;
        return (x & 1023u) < per_1024;
    }

    // What every push and pop needs lies together. Both sides ask with one comparison: the cycles from which
    // they may go on are kept up to date by what happens to the channel, and are `never` where more has to be
    // looked at.
    alignas(64) engine* m_engine = nullptr;
    entry* m_entries = nullptr;
    tickable* m_consumer = nullptr;
    cycle_t m_push_from = never;
    cycle_t m_pop_from = never;
    std::uint64_t m_head = 0;  // counts all pops
    std::uint32_t m_level = 0;
    std::uint32_t m_mask = 0;
    std::uint32_t m_free_limit = 0;  // m_limit; 0 with injected stalls of the producer
    std::uint32_t m_latency = 1;
    std::uint64_t m_flag_set = 0;
    std::uint64_t m_flag_clear = 0;
    cycle_t m_pop_block = 0;  // `never` with injected stalls of the consumer
    cycle_t m_last_pop = 0;
    bool m_refused = false;   // the producer is to be woken by a pop
    bool m_refusing = false;  // ... and was refused first at m_refused_since
    tickable* m_producer = nullptr;
    cycle_t m_refused_since = 0;
    std::uint64_t m_refused_cycles = 0;
    std::uint32_t m_limit = 1;
    channel_config m_config;
    std::vector<entry> m_ring;
};

}  // namespace hcasim

#endif
