#include "model/clock/engine.h"

#include <algorithm>
#include <random>
#include <stdexcept>
#include <string>

namespace hcasim {

engine::engine() { layout(); }

void engine::add(tickable& module) {
    m_added.push_back(&module);
    seat_as_added();
    layout();
}

void engine::set_order_seed(std::uint64_t seed) {
    seat_as_added();
    if (seed != 0) {
        // Fisher-Yates by hand: std::shuffle may differ between standard libraries.
        std::mt19937_64 random(seed);
        for (std::size_t i = m_seats.size(); i > 1; --i) {
            std::swap(m_seats[i - 1], m_seats[random() % i]);
        }
    }
    layout();
}

void engine::seat_as_added() {
    m_seats.resize(m_added.size());
    for (std::size_t i = 0; i < m_added.size(); ++i) {
        m_seats[i].module = m_added[i];
    }
}

void engine::layout() {
    m_words = static_cast<std::uint32_t>((m_seats.size() + 63) / 64);
    m_words = std::max(m_words, 1u);
    m_rows.assign(std::size_t{2} * m_words, 0);
    m_next = m_rows.data();
    m_bits.assign(std::size_t{wheel_slots} * m_words, 0);
    std::fill(std::begin(m_occupied), std::end(m_occupied), 0);
    m_occupied_words = 0;
    for (std::uint32_t i = 0; i < m_seats.size(); ++i) {
        tickable& module = *m_seats[i].module;
        module.m_slot = i;
        module.m_word = i / 64;
        module.m_next = m_next + i / 64;
        module.m_bit = std::uint64_t{1} << (i & 63);
        const bool direct = module.m_direct != nullptr && typeid(module) == *module.m_direct_class;
        m_seats[i].tick = direct ? module.m_direct : [](tickable& t) { t.tick(); };
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

void engine::wake_at(tickable& module, cycle_t cycle) {
    const cycle_t later = cycle - m_now - 1;
    if (later == 0) {
        wake_next(module);
    } else if (later < wheel_slots - 1) {
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
        m_look_up_at = std::min(m_look_up_at, m_first_far);
    }
}

// Some module is due in the cycle after m_now.
bool engine::has_next() const {
    return std::any_of(m_next, m_next + m_words, [](std::uint64_t due) { return due != 0; });
}

cycle_t engine::next_on_wheel() const {
    const auto first = static_cast<std::uint32_t>((m_now + 1) & (wheel_slots - 1));
    std::uint32_t word = first >> 6;
    std::uint64_t bits = m_occupied[word] & (~std::uint64_t{0} << (first & 63));
    if (bits == 0) {
        if (m_occupied_words == 0) {
            return never;
        }
        // The words after this one, in the order of the wheel; this one, with what lies before `first`, last.
        const std::uint32_t turn = word + 1;
        const std::uint32_t twice = m_occupied_words | m_occupied_words << occupancy_words;
        word = (turn + static_cast<std::uint32_t>(__builtin_ctz(twice >> turn))) & (occupancy_words - 1);
        bits = m_occupied[word];
    }
    const std::uint32_t slot = word * 64 + static_cast<std::uint32_t>(__builtin_ctzll(bits));
    return m_now + 1 + ((slot - first) & (wheel_slots - 1));
}

cycle_t engine::next_due() const {
    if (m_kind == engine_kind::poll) {
        return m_seats.empty() ? never : m_now + 1;
    }
    return has_next() ? m_now + 1 : std::min(next_on_wheel(), m_first_far);
}

void engine::move_far(cycle_t cycle) {
    while (!m_far.empty() && m_far.top().cycle == cycle) {
        set(static_cast<std::uint32_t>(cycle & (wheel_slots - 1)), *m_seats[m_far.top().slot].module);
        m_far.pop();
    }
    m_first_far = m_far.empty() ? never : m_far.top().cycle;
}

// False when run_to() is to end before `next`.
bool engine::look_up(cycle_t next, cycle_t last) {
    if (m_stopped || m_yield || next > last) {
        return false;
    }
    if (m_first_far == next) {
        move_far(next);
    }
    m_look_up_at = std::min(last + 1, m_first_far);
    return true;
}

// Each seat has a call of its own, found by comparisons: where the target of an indirect call changes from
// one time to the next, some processors guess it wrong nearly always (5 to 7 ns a tick), of a branch hardly
// ever.
template <unsigned First, unsigned Count>
[[gnu::always_inline]] inline void engine::tick_seat(const seat* seats, unsigned n) {
    if constexpr (Count == 1) {
        seats[First].tick(*seats[First].module);
        asm volatile("" : : "i"(First));  // else a compiler may make one call of all of them
    } else if (n < First + Count / 2) {
        tick_seat<First, Count / 2>(seats, n);
    } else {
        tick_seat<First + Count / 2, Count / 2>(seats, n);
    }
}

// Ticks what `due`, which is not 0, has a bit for; returns the number of ticks.
std::uint64_t engine::tick_all(const seat* seats, std::uint64_t due) {
    std::uint64_t ticks = 0;
    do {
        const auto n = static_cast<unsigned>(__builtin_ctzll(due));
        due &= due - 1;
        ++ticks;
        tick_seat<0, 64>(seats, n);
    } while (due != 0);
    return ticks;
}

// Returns the number of ticks.
template <bool OneWord>
inline std::uint64_t engine::tick_due(cycle_t cycle) {
    const auto slot = static_cast<std::uint32_t>(cycle & (wheel_slots - 1));
    const std::uint32_t words = OneWord ? 1 : m_words;
    std::uint64_t* const wheel = &m_bits[std::size_t{slot} * words];
    // All words are taken before the first tick: what a tick wakes is for the cycle after it.
    std::uint64_t* const next = m_next;
    std::uint64_t on_wheel = wheel[0];
    const std::uint64_t first = next[0] | on_wheel;
    next[0] = 0;
    for (std::uint32_t w = 1; w < words; ++w) {
        on_wheel |= wheel[w];
        next[words + w] = next[w] | wheel[w];
        next[w] = 0;
    }
    if (on_wheel != 0) {
        std::fill(wheel, wheel + words, 0);
        const std::uint64_t left = m_occupied[slot >> 6] &= ~(std::uint64_t{1} << (slot & 63));
        m_occupied_words &= ~(std::uint32_t{left == 0} << (slot >> 6));
    }
    std::uint64_t ticks = first != 0 ? tick_all(m_seats.data(), first) : 0;
    for (std::uint32_t w = 1; w < words; ++w) {
        if (next[words + w] != 0) {
            ticks += tick_all(&m_seats[std::size_t{w} * 64], next[words + w]);
        }
    }
    return ticks;
}

template <bool OneWord>
std::uint64_t engine::run_wheel(cycle_t last) {
    std::uint64_t active_cycles = 0;
    last = std::min(last, never - 1);
    m_look_up_at = 0;
    for (;;) {
        const cycle_t next =
            (OneWord ? *m_next != 0 : has_next()) ? m_now + 1 : std::min(next_on_wheel(), m_first_far);
        if (next >= m_look_up_at && !look_up(next, last)) {
            return active_cycles;
        }
        m_now = next;
        m_ticks += tick_due<OneWord>(next);
        ++active_cycles;
    }
}

std::uint64_t engine::run_poll(cycle_t last) {
    std::uint64_t active_cycles = 0;
    while (!m_stopped && !m_yield && !m_seats.empty() && m_now < last) {
        ++m_now;
        // By the virtual function: what is ticked directly under `wheel` is held against it.
        for (const seat& s : m_seats) {
            s.module->tick();
        }
        m_ticks += m_seats.size();
        ++active_cycles;
    }
    return active_cycles;
}

std::uint64_t engine::run_to(cycle_t last) {
    m_yield = false;
    if (m_kind == engine_kind::poll) {
        return run_poll(last);
    }
    return m_words == 1 ? run_wheel<true>(last) : run_wheel<false>(last);
}

}  // namespace hcasim
