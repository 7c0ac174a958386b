#include "model/clock/channel_control.h"

#include <stdexcept>

namespace hcasim {

std::uint32_t channel_control::reset_control(const channel_config& config) {
    if (config.depth == 0 || config.latency_cycles == 0) {
        throw std::invalid_argument("channel depth and latency must be at least 1");
    }
    m_config = config;
    m_latency = config.latency_cycles;
    // Entries in flight occupy the ring too: latency beyond one cycle needs its own room to keep full rate.
    m_limit = config.depth + config.latency_cycles - 1;
    m_free_limit = config.stall.producer_per_1024 == 0 ? m_limit : 0;
    m_pop_block = config.stall.consumer_per_1024 == 0 ? 0 : never;
    std::uint32_t capacity = 1;
    while (capacity < m_limit) {
        capacity *= 2;
    }
    m_near_visible = {};
    m_far_visible.assign(capacity > m_near_visible.size() ? capacity : 0, 0);
    m_visible = m_far_visible.empty() ? m_near_visible.data() : m_far_visible.data();
    m_mask = capacity - 1;
    m_head = 0;
    m_level = 0;
    m_push_from = m_free_limit != 0 ? 1 : never;
    m_pop_from = never;
    if (m_consumer != nullptr) {
        m_consumer->filled_inputs() &= ~m_flag_clear;
    }
    m_last_pop = 0;
    m_refused = false;
    m_refusing = false;
    m_refused_cycles = 0;
    return capacity;
}

// Wakes the consumer for an entry that is not visible in the next cycle.
void channel_control::wake_late(cycle_t visible) { m_engine->wake_at(*m_consumer, visible); }

// drop() from a channel that was full or has refused its producer.
void channel_control::free_place(cycle_t now) {
    if (m_level == m_free_limit && !m_refusing) {
        m_push_from = now + 1;
    }
    if (m_refused) {
        m_refused = false;
        m_engine->wake_next(*m_producer);
    }
}

// drop() with entries left.
void channel_control::offer_next(cycle_t now) {
    cycle_t from = front_visible();
    if (from <= now) {
        // Its own wake was for a cycle that is past: without this the entry would wait for the next one.
        m_engine->wake_next(*m_consumer);
        from = now + 1;
    }
    m_pop_from = from | m_pop_block;
}

bool channel_control::is_ready() const {
    const std::uint32_t seen = m_level + (was_popped() ? 1u : 0u);
    return seen < m_limit && !was_pushed() && !stalled(m_config.stall.producer_per_1024, 1);
}

bool channel_control::is_valid() const {
    return has_visible() && !was_popped() && !stalled(m_config.stall.consumer_per_1024, 2);
}

// can_push() when something speaks against it; wakes the producer for when nothing does any more. Once it has
// been refused, every question comes here until it is granted.
bool channel_control::is_free() {
    if (m_refused) {
        return false;  // nothing has been popped since
    }
    if (was_pushed()) {
        m_engine->wake_next(*m_producer);
        return false;
    }
    const cycle_t now = m_engine->now();
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
    if (stalled(m_config.stall.producer_per_1024, 1)) {
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
bool channel_control::is_offered() {
    if (!has_visible()) {
        return false;
    }
    if (was_popped() || stalled(m_config.stall.consumer_per_1024, 2)) {
        m_engine->wake_next(*m_consumer);
        return false;
    }
    return true;
}

bool channel_control::stalled(std::uint32_t per_1024, std::uint64_t side) const {
    std::uint64_t x =
        (m_config.stall.seed * 2 + side) * 0x9e3779b97f4a7c15ULL + m_engine->now() * 0xd1342543de82ef95ULL;
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93ULL;
    x ^= x >> 32;
    return (x & 1023u) < per_1024;
}

}  // namespace hcasim
