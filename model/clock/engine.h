#ifndef HCASIM_MODEL_CLOCK_ENGINE_H
#define HCASIM_MODEL_CLOCK_ENGINE_H

#include <cstdint>
#include <limits>
#include <queue>
#include <typeinfo>
#include <vector>

namespace hcasim {

/// Cycles of a clock domain since reset. Cycle 0 is the reset; the first edge is cycle 1.
using cycle_t = std::uint64_t;
constexpr cycle_t never = std::numeric_limits<cycle_t>::max();

/// How a domain finds the modules to tick: `wheel` keeps the cycles in which each is due and jumps over the
/// rest, `poll` ticks every module in every cycle and is the oracle for `wheel`.
enum class engine_kind : std::uint8_t { wheel, poll };

class engine;

/// What an engine ticks. A tick without work must change nothing: `poll` gives many of these.
class tickable {
public:
    tickable() = default;
    tickable(const tickable&) = delete;
    tickable& operator=(const tickable&) = delete;
    virtual ~tickable() = default;

    /// One clock edge; engine::now() is its cycle.
    virtual void tick() = 0;

    /// Which inputs hold something, visible or not, one bit per claimed input: so that a tick looks at
    /// channels with content only.
    std::uint64_t& filled_inputs() { return m_filled_inputs; }
    /// A bit of filled_inputs() for one more input. The 64th and all after it share one.
    std::uint64_t claim_input() { return std::uint64_t{1} << (m_inputs < 63 ? m_inputs++ : 63); }

protected:
    using tick_function = void (*)(tickable&);
    /// For the constructor of a module that is ticked often: spares the look into the table of virtual
    /// functions. Of no effect on classes derived from Module.
    template <class Module>
    void tick_directly() {
        m_direct = [](tickable& t) { static_cast<Module&>(t).Module::tick(); };
        m_direct_class = &typeid(Module);
    }

private:
    friend class engine;
    tick_function m_direct = nullptr;
    const std::type_info* m_direct_class = nullptr;
    std::uint64_t* m_next = nullptr;  // word of the engine with the bit that makes it due in the next cycle
    std::uint64_t m_bit = 0;          // that bit
    std::uint64_t m_filled_inputs = 0;
    std::uint32_t m_word = 0;  // slot / 64
    std::uint32_t m_slot = 0;
    std::uint32_t m_inputs = 0;
};

/// The cycle loop of a clock domain, free of SystemC so that it can be tested and timed alone.
///
/// A wake is a (cycle, module) pair and each is kept apart: a wake for n+1 that arrives while the module is
/// still due at n is a second bit, so none can be merged away.
class engine {
public:
    engine();

    /// Adds a module; its place in the tick order is the order of adding.
    void add(tickable& module);

    /// Permutes the tick order (a test of order independence; 0 restores the order of adding). Only before
    /// the first cycle.
    void set_order_seed(std::uint64_t seed);

    /// Back to cycle 0 with no wakes pending; modules stay.
    void reset(engine_kind kind);

    /// The cycle being ticked, or the last one ticked.
    cycle_t now() const { return m_now; }
    engine_kind kind() const { return m_kind; }

    /// Ticks `module` in `cycle`, which must be later than now().
    void wake_at(tickable& module, cycle_t cycle);

    /// Ticks `module` in the cycle after now().
    void wake_next(tickable& module) { *module.m_next |= module.m_bit; }

    /// First cycle in which a module is due; `never` when none is. Under `poll` that is now() + 1.
    cycle_t next_due() const;

    /// Ticks all cycles up to and including `last`, or until stop() or a changed horizon; returns the number
    /// of cycles in which at least one module was ticked.
    std::uint64_t run_to(cycle_t last);

    /// Ends run_to() after the present cycle.
    void stop() {
        m_stopped = true;
        m_look_up_at = 0;
    }
    bool stopped() const { return m_stopped; }

    /// Makes run_to() return after the present cycle so that the caller can look outside again.
    void yield() {
        m_yield = true;
        m_look_up_at = 0;
    }

    std::uint64_t ticks() const { return m_ticks; }

private:
    static constexpr std::uint32_t wheel_slots = 512;
    static constexpr std::uint32_t occupancy_words = wheel_slots / 64;

    struct far_wake {
        cycle_t cycle;
        std::uint32_t slot;
        bool operator>(const far_wake& other) const {
            return cycle != other.cycle ? cycle > other.cycle : slot > other.slot;
        }
    };

    /// A module and what ticks it, which layout() finds out.
    struct seat {
        tickable* module = nullptr;
        tickable::tick_function tick = nullptr;
    };

    void set(std::uint32_t wheel_slot, const tickable& module) {
        m_bits[wheel_slot * m_words + module.m_word] |= module.m_bit;
        m_occupied[wheel_slot >> 6] |= std::uint64_t{1} << (wheel_slot & 63);
        m_occupied_words |= 1u << (wheel_slot >> 6);
    }
    // What is not needed in every tick stays out of the code that is.
    [[gnu::noinline]] void wake_far(tickable& module, cycle_t cycle);
    bool has_next() const;
    cycle_t next_on_wheel() const;
    [[gnu::noinline]] void move_far(cycle_t cycle);
    template <bool OneWord>
    std::uint64_t run_wheel(cycle_t last);
    bool look_up(cycle_t next, cycle_t last);
    template <bool OneWord>
    std::uint64_t tick_due(cycle_t cycle);
    template <unsigned First, unsigned Count>
    static void tick_seat(const seat* seats, unsigned n);
    static std::uint64_t tick_all(const seat* seats, std::uint64_t due);
    std::uint64_t run_poll(cycle_t last);
    void seat_as_added();
    void layout();

    cycle_t m_now = 0;
    std::uint64_t* m_next =
        nullptr;  // m_rows: due in the cycle after m_now; most wakes, apart from the wheel
    /// First cycle that must not be ticked without looking up: beyond the end, with a far wake, or any when
    /// run_to() is to end. One comparison per cycle stands for all of them.
    cycle_t m_look_up_at = 0;
    bool m_stopped = false;
    bool m_yield = false;
    engine_kind m_kind = engine_kind::wheel;
    std::uint32_t m_words = 1;
    std::uint32_t m_occupied_words = 0;  // bit per word of m_occupied that is not 0
    cycle_t m_first_far = never;         // cycle of m_far.top()
    std::uint64_t m_ticks = 0;
    std::vector<std::uint64_t> m_bits;
    std::uint64_t m_occupied[occupancy_words] = {};
    std::vector<std::uint64_t> m_rows;  // a row for the next cycle and one for that which is being ticked
    std::vector<seat> m_seats;          // in tick order
    std::vector<tickable*> m_added;
    std::priority_queue<far_wake, std::vector<far_wake>, std::greater<far_wake>> m_far;
};

}  // namespace hcasim

#endif
