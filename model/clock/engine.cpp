#include "model/clock/engine.h"

#include <algorithm>
#include <random>
#include <stdexcept>
#include <string>

namespace hcasim {

engine::engine() { layout(); }

void engine::add(tickable& module) {
    m_added.push_back(&module);
    m_modules = m_added;
    layout();
}

void engine::set_order_seed(std::uint64_t seed) {
    m_modules = m_added;
    if (seed != 0) {
        // Fisher-Yates by hand: std::shuffle may differ between standard libraries.
        std::mt19937_64 random(seed);
        for (std::size_t i = m_modules.size(); i > 1; --i) {
            std::swap(m_modules[i - 1], m_modules[random() % i]);
        }
    }
    layout();
}

void engine::layout() {
    m_words = static_cast<std::uint32_t>((m_modules.size() + 63) / 64);
    m_words = std::max(m_words, 1u);
    m_next.assign(std::size_t{2} * m_words, 0);
    m_next_row = m_next.data();
    m_has_next = false;
    m_bits.assign(std::size_t{wheel_slots} * m_words, 0);
    std::fill(std::begin(m_occupied), std::end(m_occupied), 0);
    for (std::uint32_t i = 0; i < m_modules.size(); ++i) {
        m_modules[i]->m_slot = i;
        m_modules[i]->m_bit = std::uint64_t{1} << (i & 63);
    }
}

void engine::reset(engine_kind kind) {
    layout();
    m_now = 0;
    m_far = {};
    m_first_far = never;
    m_ticks = 0;
    m_kind = kind;
    m_stopped = false;
    m_yield = false;
}

void engine::wake_later(tickable& module, cycle_t cycle) {
    if (cycle - m_now - 1 < wheel_slots - 1) {
        set(static_cast<std::uint32_t>(cycle & (wheel_slots - 1)), module);
    } else {
        wake_far(module, cycle);
    }
}

void engine::wake_far(tickable& module, cycle_t cycle) {
    if (cycle <= m_now) {
        throw std::logic_error("wake for cycle " + std::to_string(cycle) + " asked in cycle " +
                               std::to_string(m_now));
    }
    if (cycle != never && m_kind == engine_kind::wheel) {
        m_far.push({cycle, module.m_slot});
        m_first_far = m_far.top().cycle;
    }
}

cycle_t engine::next_on_wheel() const {
    const auto first = static_cast<std::uint32_t>((m_now + 1) & (wheel_slots - 1));
    std::uint32_t word = first >> 6;
    std::uint64_t bits = m_occupied[word] & (~std::uint64_t{0} << (first & 63));
    for (std::uint32_t i = 0; i <= occupancy_words; ++i) {
        if (bits != 0) {
            const std::uint32_t slot = word * 64 + static_cast<std::uint32_t>(__builtin_ctzll(bits));
            return m_now + 1 + ((slot - first) & (wheel_slots - 1));
        }
        word = (word + 1) & (occupancy_words - 1);
        bits = m_occupied[word];
    }
    return never;
}

cycle_t engine::next_due() const {
    if (m_kind == engine_kind::poll) {
        return m_modules.empty() ? never : m_now + 1;
    }
    return m_has_next ? m_now + 1 : std::min(next_on_wheel(), m_first_far);
}

void engine::move_far(cycle_t cycle) {
    while (!m_far.empty() && m_far.top().cycle == cycle) {
        set(static_cast<std::uint32_t>(cycle & (wheel_slots - 1)), *m_modules[m_far.top().slot]);
        m_far.pop();
    }
    m_first_far = m_far.empty() ? never : m_far.top().cycle;
}

template <bool OneWord>
inline void engine::tick_due(cycle_t cycle) {
    if (m_first_far == cycle) {
        move_far(cycle);
    }
    const auto slot = static_cast<std::uint32_t>(cycle & (wheel_slots - 1));
    std::uint64_t& occupancy = m_occupied[slot >> 6];
    const std::uint64_t occupied = std::uint64_t{1} << (slot & 63);
    const bool on_wheel = (occupancy & occupied) != 0;
    occupancy &= ~occupied;
    m_has_next = false;
    const std::uint32_t words = OneWord ? 1 : m_words;
    std::uint64_t* const next = m_next_row;
    m_next_row = &m_next[next == m_next.data() ? words : 0];
    for (std::uint32_t w = 0; w < words; ++w) {
        std::uint64_t due = next[w];
        next[w] = 0;
        if (on_wheel) {
            std::uint64_t& bits = m_bits[std::size_t{slot} * words + w];
            due |= bits;
            bits = 0;
        }
        tickable* const* const modules = &m_modules[std::size_t{w} * 64];
        while (due != 0) {
            const auto bit = static_cast<std::uint32_t>(__builtin_ctzll(due));
            due &= due - 1;
            ++m_ticks;
            modules[bit]->tick();
        }
    }
}

void engine::tick_all() {
    for (tickable* module : m_modules) {
        module->tick();
    }
    m_ticks += m_modules.size();
}

std::uint64_t engine::run_to(cycle_t last) {
    std::uint64_t active_cycles = 0;
    m_yield = false;
    while (!m_stopped && !m_yield) {
        const cycle_t next = next_due();
        if (next > last || next == never) {
            break;
        }
        m_now = next;
        if (m_kind == engine_kind::poll) {
            tick_all();
        } else if (m_words == 1) {
            tick_due<true>(next);
        } else {
            tick_due<false>(next);
        }
        ++active_cycles;
    }
    return active_cycles;
}

}  // namespace hcasim
