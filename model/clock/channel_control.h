#ifndef HCASIM_MODEL_CLOCK_CHANNEL_CONTROL_H
#define HCASIM_MODEL_CLOCK_CHANNEL_CONTROL_H

#include <algorithm>
#include <array>
#include <cstdint>
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

/// What a channel does whatever its entries are: who may go on when, who is woken, which place of the ring is
/// meant. What most pushes and pops need is inline and has hardly a branch; the rest is one piece of code for
/// all channels.
class channel_control {
public:
    channel_control(const channel_control&) = delete;
    channel_control& operator=(const channel_control&) = delete;

    void attach(engine& e) { m_engine = &e; }
    void set_consumer(tickable& consumer) { m_consumer = &consumer; }
    void set_producer(tickable& producer) { m_producer = &producer; }
    /// `bit` of the consumer's filled_inputs() is set while the channel holds something (and may stay set
    /// when it is shared).
    void set_flag(std::uint64_t bit, bool shared) {
        m_flag_set = bit;
        m_flag_clear = shared ? 0 : bit;
    }

    /// True when push() is allowed in this cycle. When it is not, the producer is woken as soon as it is.
    bool can_push() { return m_engine->now() >= m_push_from || is_free(); }

    /// True when front() and pop() are allowed in this cycle. The consumer is woken when that becomes so.
    bool can_pop() { return m_engine->now() >= m_pop_from || (m_pop_block != 0 && is_offered()); }

    /// True when an entry is visible, injected stalls or not: for ordering rules between channels.
    bool has_visible() const { return m_level != 0 && front_visible() <= m_engine->now(); }

    /// First cycle in which the front entry could be popped; an entry must be there.
    cycle_t front_visible() const { return m_visible[front_place()]; }

    /// Removes the front entry; can_pop() must be true. The entry stays what it is until the end of this
    /// cycle.
    void drop() {
        const cycle_t now = m_engine->now();
        m_last_pop = now;
        if (m_push_from == never) {
            free_place(now);
        }
        ++m_head;
        if (--m_level == 0) {
            m_consumer->filled_inputs() &= ~m_flag_clear;
            m_pop_from = never;
        } else {
            offer_next(now);
        }
    }

    // What the other side of a channel shows in this cycle, for one that watches: asking changes nothing and
    // wakes nobody.

    /// What can_push() would say.
    bool is_ready() const;
    /// What can_pop() would say.
    bool is_valid() const;
    bool was_pushed() const { return m_visible[newest_place()] == m_engine->now() + m_latency; }
    bool was_popped() const { return m_last_pop == m_engine->now(); }

    /// Entries inside, visible or not.
    std::uint32_t level() const { return m_level; }
    std::uint64_t pushed() const { return m_head + m_level; }
    /// Cycles in which a producer stood before a full channel, closed intervals only.
    std::uint64_t refused_cycles() const { return m_refused_cycles; }
    const channel_config& config() const { return m_config; }

protected:
    channel_control() = default;
    ~channel_control() = default;

    /// Empties the channel; returns the number of places in its ring.
    std::uint32_t reset_control(const channel_config& config);

    /// Place of the entry that is pushed with this; can_push() must be true.
    std::uint32_t enter() {
        const cycle_t now = m_engine->now();
        const cycle_t visible = now + m_latency;
        const std::uint32_t place = (static_cast<std::uint32_t>(m_head) + m_level) & m_mask;
        m_visible[place] = visible;
        tickable& consumer = *m_consumer;
        consumer.filled_inputs() |= m_flag_set;
        m_pop_from = std::min(m_pop_from, visible | m_pop_block);  // `never` when it was empty
        m_push_from = ++m_level < m_free_limit ? now + 1 : never;
        if (m_latency == 1) {
            m_engine->wake_next(consumer);
        } else {
            wake_late(visible);
        }
        return place;
    }

    std::uint32_t front_place() const { return static_cast<std::uint32_t>(m_head) & m_mask; }
    std::uint32_t newest_place() const { return (static_cast<std::uint32_t>(m_head) + m_level - 1) & m_mask; }

private:
    [[gnu::noinline]] void wake_late(cycle_t visible);
    [[gnu::noinline]] void free_place(cycle_t now);
    [[gnu::noinline]] void offer_next(cycle_t now);
    [[gnu::noinline]] bool is_free();
    [[gnu::noinline]] bool is_offered();
    bool stalled(std::uint32_t per_1024, std::uint64_t side) const;

    // What every push and pop needs lies together. Both sides ask with one comparison: the cycles from which
    // they may go on are kept up to date by what happens to the channel, and are `never` where more has to be
    // looked at.
    alignas(64) engine* m_engine = nullptr;
    tickable* m_consumer = nullptr;
    cycle_t m_push_from = never;
    cycle_t m_pop_from = never;
    std::uint64_t m_head = 0;  // counts all pops
    std::uint32_t m_level = 0;
    std::uint32_t m_mask = 0;
    cycle_t* m_visible = nullptr;    // first cycle of visibility, by place; set by reset_control()
    std::uint32_t m_free_limit = 0;  // m_limit; 0 with injected stalls of the producer
    std::uint32_t m_latency = 1;
    std::array<cycle_t, 2> m_near_visible{};  // of a ring of at most two places
    std::uint64_t m_flag_set = 0;
    std::uint64_t m_flag_clear = 0;
    cycle_t m_pop_block = 0;  // `never` with injected stalls of the consumer
    cycle_t m_last_pop = 0;
    bool m_refused = false;   // the producer is to be woken by a pop
    bool m_refusing = false;  // ... and was refused first at m_refused_since
    std::uint32_t m_limit = 1;
    tickable* m_producer = nullptr;
    cycle_t m_refused_since = 0;
    std::uint64_t m_refused_cycles = 0;
    channel_config m_config;
    std::vector<cycle_t> m_far_visible;  // of a larger ring
};

}  // namespace hcasim

#endif
