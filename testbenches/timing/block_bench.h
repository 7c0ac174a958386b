#ifndef HCASIM_TESTBENCHES_TIMING_BLOCK_BENCH_H
#define HCASIM_TESTBENCHES_TIMING_BLOCK_BENCH_H

#include <algorithm>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <systemc>
#include <utility>
#include <vector>

#include "model/clock/channel.h"
#include "model/clock/clock_domain.h"
#include "model/clock/clocked_module.h"
#include "model/ib/messages.h"

// A bench for one block: every input of the block is a stimulus, every output a capture. Cycles are as in
// docs/microarchitecture.md: a message that is visible at r has been pushed at r - 1; a capture takes each
// message in the first cycle in which it is visible, so the cycle it notes is the cycle of visibility and a
// message that came a cycle earlier or later is seen as such.

namespace hcasim::test {

/// What a bench resets at the start of each run.
class bench_part {
public:
    virtual ~bench_part() = default;
    virtual void restart(const stall_pattern& stall) = 0;
};

/// Clock domain and parts of a bench. One elaboration serves any number of runs.
class block_bench {
public:
    block_bench() : domain("domain", sc_core::sc_time(4, sc_core::SC_NS)) {}
    virtual ~block_bench() = default;

    clock_domain domain;

    /// Back to cycle 0: reset_block() applies the block's configuration. `stall_per_1024` is injected into
    /// every channel.
    void start(engine_kind kind = engine_kind::wheel, std::uint32_t stall_per_1024 = 0,
               std::uint64_t stall_seed = 1) {
        if (!m_elaborated) {
            m_elaborated = true;
            sc_core::sc_start(sc_core::SC_ZERO_TIME);
        }
        domain.reset(kind);
        std::uint64_t number = 0;
        for (bench_part* part : m_parts) {
            stall_pattern stall;
            stall.seed = stall_seed * 256 + number++;
            stall.producer_per_1024 = stall_per_1024;
            stall.consumer_per_1024 = stall_per_1024;
            part->restart(stall);
        }
        reset_block();
        domain.set_horizon(never);
    }
    /// Runs until the edge of `cycle` is over.
    void run_to(cycle_t cycle) {
        const sc_core::sc_time end = domain.time_of(cycle) + sc_core::sc_time(1, sc_core::SC_NS);
        if (end > sc_core::sc_time_stamp()) {
            sc_core::sc_start(end - sc_core::sc_time_stamp());
        }
    }
    void add(bench_part& part) { m_parts.push_back(&part); }

protected:
    virtual void reset_block() = 0;

private:
    std::vector<bench_part*> m_parts;
    bool m_elaborated = false;
};

/// Pushes a script into an input of the block.
template <class T>
class stimulus : public clocked_module, public bench_part {
public:
    template <class Port>
    stimulus(block_bench& bench, const sc_core::sc_module_name& name, Port& port, std::uint32_t depth = 2,
             std::uint32_t latency_cycles = 1)
        : clocked_module(name, bench.domain), out("out", *this), wire("wire", bench.domain) {
        m_config.depth = depth;
        m_config.latency_cycles = latency_cycles;
        out.bind(wire);
        port.bind(wire);
        bench.add(*this);
    }
    out_port<T> out;
    channel<T> wire;
    std::vector<cycle_t> pushed;                  ///< cycles of the pushes
    std::function<void(const T&, cycle_t)> then;  ///< what goes with each push

    /// The block can take `value` at `cycle`, or as soon as the channel allows; in the order of the cycles.
    void visible_at(cycle_t cycle, const T& value) {
        const cycle_t push = cycle - m_config.latency_cycles;
        const auto later = [push](const std::pair<cycle_t, T>& e) { return e.first > push; };
        m_script.insert(std::find_if(m_script.begin(), m_script.end(), later), {push, value});
        domain().wake_at(*this, std::max(push, now() + 1));
    }
    std::size_t waiting() const { return m_script.size(); }

    void tick() override {
        if (m_script.empty() || m_script.front().first > now()) {
            return;
        }
        if (!out.can_push()) {
            return;
        }
        const T value = m_script.front().second;
        m_script.pop_front();
        out.push(value);
        pushed.push_back(now());
        if (then) {
            then(value, now());
        }
        if (!m_script.empty()) {
            wake_at(std::max(m_script.front().first, now() + 1));
        }
    }
    void restart(const stall_pattern& stall) override {
        channel_config c = m_config;
        c.stall = stall;
        wire.reset(c);
        m_script.clear();
        pushed.clear();
    }

private:
    channel_config m_config;
    std::deque<std::pair<cycle_t, T>> m_script;
};

/// Takes what an output of the block gives.
template <class T>
class capture : public clocked_module, public bench_part {
public:
    template <class Port>
    capture(block_bench& bench, const sc_core::sc_module_name& name, Port& port, std::uint32_t depth = 2,
            std::uint32_t latency_cycles = 1)
        : clocked_module(name, bench.domain), in("in", *this), wire("wire", bench.domain) {
        m_config.depth = depth;
        m_config.latency_cycles = latency_cycles;
        port.bind(wire);
        in.bind(wire);
        bench.add(*this);
    }
    struct entry {
        cycle_t cycle;
        T value;
    };
    in_port<T> in;
    channel<T> wire;
    std::vector<entry> seen;  ///< cycle of visibility (of the pop, when the capture was closed)
    std::function<void(const T&, cycle_t)> then;  ///< reaction to each message

    std::function<bool()> hold;  ///< takes nothing while this is true

    /// Takes nothing before `cycle`.
    void closed_until(cycle_t cycle) {
        m_open = cycle;
        domain().wake_at(*this, std::max(cycle, now() + 1));
    }
    std::vector<cycle_t> cycles() const {
        std::vector<cycle_t> all;
        for (const entry& e : seen) {
            all.push_back(e.cycle);
        }
        return all;
    }
    void tick() override {
        if (now() < m_open || !in.can_pop()) {
            return;
        }
        if (hold && hold()) {
            wake_next();
            return;
        }
        const T value = in.pop();
        seen.push_back({now(), value});
        if (then) {
            then(value, now());
        }
    }
    void restart(const stall_pattern& stall) override {
        channel_config c = m_config;
        c.stall = stall;
        wire.reset(c);
        seen.clear();
        m_open = 0;
    }

private:
    channel_config m_config;
    cycle_t m_open = 0;
};

/// Host memory behind a DMA read port: a read visible at r is answered so that the answer is visible at r +
/// cycles + 1, in order.
class fixed_latency_memory {
public:
    template <class Out, class In>
    fixed_latency_memory(block_bench& bench, Out& read_o, In& read_i, cycle_t cycles)
        : requests(bench, "dma_read", read_o),
          answers(bench, "dma_read_done", read_i),
          bytes(1u << 20),
          m_cycles(cycles) {
        requests.then = [this](const dma_read& r, cycle_t at) {
            std::memcpy(r.destination, &bytes[r.address], r.bytes);
            answers.visible_at(at + m_cycles + 1, {r.cookie});
        };
    }
    capture<dma_read> requests;
    stimulus<dma_read_done> answers;
    std::vector<std::uint8_t> bytes;

    template <class T>
    void put(std::uint64_t address, const T& value) {
        std::memcpy(&bytes[address], &value, sizeof(T));
    }
    void set_cycles(cycle_t cycles) { m_cycles = cycles; }
    cycle_t cycles() const { return m_cycles; }

private:
    cycle_t m_cycles;
};

}  // namespace hcasim::test

#endif
