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
    m_bits.assign(std::size_t{wheel_slots} * m_words, 0);
    std::fill(std::begin(m_occupied), std::end(m_occupied), 0);
    for (std::uint32_t i = 0; i < m_modules.size(); ++i) {
        m_modules[i]->m_slot = i;
    }
}

void engine::reset(engine_kind kind) {
    layout();
    m_far = {};
    m_now = 0;
    m_ticks = 0;
    m_kind = kind;
    m_stopped = false;
    m_yield = false;
}

void engine::wake_far(tickable& module, cycle_t cycle) {
    if (cycle <= m_now) {
        throw std::logic_error("wake for cycle " + std::to_string(cycle) + " asked in cycle " + std::to_string(m_now));
    }
    if (cycle != never && m_kind == engine_kind::wheel) {
        m_far.push({cycle, module.m_slot});
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
    const cycle_t near = next_on_wheel();
    return m_far.empty() ? near : std::min(near, m_far.top().cycle);
}

void engine::tick_due(cycle_t cycle) {
    while (!m_far.empty() && m_far.top().cycle == cycle) {
        set(static_cast<std::uint32_t>(cycle & (wheel_slots - 1)), m_far.top().slot);
        m_far.pop();
    }
    const auto slot = static_cast<std::uint32_t>(cycle & (wheel_slots - 1));
    m_occupied[slot >> 6] &= ~(std::uint64_t{1} << (slot & 63));
    std::uint64_t* bits = &m_bits[std::size_t{slot} * m_words];
    for (std::uint32_t w = 0; w < m_words; ++w) {
        std::uint64_t due = bits[w];
        bits[w] = 0;
        while (due != 0) {
            const auto bit = static_cast<std::uint32_t>(__builtin_ctzll(due));
            due &= due - 1;
            ++m_ticks;
            m_modules[w * 64 + bit]->tick();
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
        if (m_kind == engine_kind::wheel) {
            tick_due(next);
        } else {
            tick_all();
        }
        ++active_cycles;
    }
    return active_cycles;
}

}  // namespace hcasim
