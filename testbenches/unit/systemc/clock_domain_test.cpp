// The clock domain in SystemC time: where its edges are, how far it runs ahead, when inputs become visible.
// One elaboration per test case, so no sections and no generators here.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <systemc>
#include <tuple>
#include <utility>
#include <vector>

#include "model/clock/clock_domain.h"
#include "model/clock/clocked_module.h"
#include "model/clock/synchronizer.h"
#include "testbenches/unit/catch.h"

using namespace hcasim;
using sc_core::sc_time;

namespace {

sc_time ns(std::uint64_t t) { return sc_time::from_value(t * 1'000'000); }  // the resolution is 1 fs
sc_time fs(std::uint64_t t) { return sc_time::from_value(t); }

// Calls a function in each tick; notes the cycles, the SystemC times and the domain's own times of the ticks.
class probe : public clocked_module {
public:
    probe(const char* name, clock_domain& domain) : clocked_module(name, domain) {}
    void tick() override {
        cycles.push_back(now());
        kernel_times.push_back(sc_core::sc_time_stamp());
        local_times.push_back(sc_core::sc_time_stamp() + domain().local_offset());
        if (on_tick) {
            on_tick();
        }
    }
    void wake(cycle_t cycle) { domain().wake_at(*this, cycle); }
    void again() { wake_next(); }

    std::function<void()> on_tick;
    std::vector<cycle_t> cycles;
    std::vector<sc_time> kernel_times, local_times;
};

// Something outside the domain that acts at given times.
class actor : public sc_core::sc_module {
public:
    SC_HAS_PROCESS(actor);
    explicit actor(const sc_core::sc_module_name& name) : sc_core::sc_module(name) { SC_THREAD(run); }
    void at(const sc_time& time, std::function<void()> action) {
        m_actions.emplace_back(time, std::move(action));
    }

private:
    void run() {
        for (const auto& [time, action] : m_actions) {
            if (time > sc_core::sc_time_stamp()) {
                wait(time - sc_core::sc_time_stamp());
            }
            action();
        }
    }
    std::vector<std::pair<sc_time, std::function<void()>>> m_actions;
};

using cycles = std::vector<cycle_t>;

// Pops what is visible in a tick and notes (cycle, value).
struct receiver {
    receiver(probe& p, synchronizer<int>& s) {
        s.set_consumer(p);
        p.on_tick = [this, &p, &s] {
            while (s.can_pop()) {
                got.emplace_back(p.domain().now(), s.pop());
            }
        };
    }
    std::vector<std::pair<cycle_t, int>> got;
};

}  // namespace

TEST_CASE("clock domain: a clock needs a period") {
    CHECK_THROWS_AS(clock_domain("clock", sc_core::SC_ZERO_TIME), std::invalid_argument);
}

TEST_CASE("clock domain: without run-ahead each edge is at its own time") {
    clock_domain clock("clock", ns(4));
    probe p("p", clock);
    clock.reset(engine_kind::wheel);
    CHECK(clock.period() == ns(4));
    CHECK(clock.time_of(3) == ns(12));
    for (const cycle_t c : cycles{1, 2, 10, 5000}) {
        p.wake(c);
    }
    sc_core::sc_start(ns(40));
    CHECK(p.cycles == cycles{1, 2});  // sc_start() leaves what is due at its very end to the next one
    sc_core::sc_start(fs(1));
    CHECK(p.cycles == cycles{1, 2, 10});
    sc_core::sc_start(ns(20'000));
    CHECK(p.cycles == cycles{1, 2, 10, 5000});
    for (std::size_t i = 0; i < p.cycles.size(); ++i) {
        CHECK(p.kernel_times[i] == ns(4 * p.cycles[i]));
        CHECK(p.local_times[i] == p.kernel_times[i]);
    }
}

TEST_CASE("clock domain: an idle domain leaves SystemC nothing to do") {
    clock_domain clock("clock", ns(4));
    probe p("p", clock);
    clock.reset(engine_kind::wheel);
    p.wake(1'000'000'000);
    const auto deltas = sc_core::sc_delta_count();
    sc_core::sc_start(ns(4'000'000'001));
    CHECK(p.cycles == cycles{1'000'000'000});
    CHECK(sc_core::sc_delta_count() - deltas <= 2);
}

TEST_CASE("clock domain: run-ahead without a horizon ends when nothing is left to do") {
    clock_domain clock("clock", ns(4));
    probe p("p", clock);
    clock.reset(engine_kind::wheel);
    clock.set_run_ahead(true);
    p.wake(3);
    p.wake(10'000);
    sc_core::sc_start(ns(100));
    CHECK(p.cycles == cycles{3, 10'000});
    CHECK(clock.now() == 10'000);
}

TEST_CASE("clock domain: with run-ahead one activation does all that nobody can see") {
    clock_domain clock("clock", ns(4));
    probe p("p", clock);
    clock.reset(engine_kind::wheel);
    clock.set_run_ahead(true);
    clock.set_horizon(1000);
    p.on_tick = [&] { p.again(); };
    p.wake(1);
    const auto deltas = sc_core::sc_delta_count();
    sc_core::sc_start(ns(5));
    REQUIRE(p.cycles.size() == 1000);
    CHECK(sc_core::sc_delta_count() - deltas <= 2);
    for (std::size_t i = 0; i < 1000; ++i) {
        CHECK(p.cycles[i] == i + 1);
        CHECK(p.kernel_times[i] == ns(4));
        CHECK(p.local_times[i] == ns(4 * (i + 1)));
    }
}

namespace {

void check_horizon(bool run_ahead) {
    clock_domain clock("clock", ns(4));
    probe p("p", clock);
    clock.reset(engine_kind::wheel);
    clock.set_run_ahead(run_ahead);
    p.on_tick = [&] { p.again(); };
    p.wake(1);
    clock.set_horizon(5);
    sc_core::sc_start(ns(400));
    CHECK(p.cycles == cycles{1, 2, 3, 4, 5});
    clock.set_horizon(103);
    CHECK(clock.horizon() == 103);
    sc_core::sc_start(ns(16));
    CHECK(p.cycles.back() == 103);
    CHECK(p.cycles.size() == 103);
}

}  // namespace

TEST_CASE("clock domain: the horizon is the last cycle and can be moved on, run-ahead off") {
    check_horizon(false);
}
TEST_CASE("clock domain: the horizon is the last cycle and can be moved on, run-ahead on") {
    check_horizon(true);
}

namespace {

// Inputs at and around edges, into a domain that is busy in every cycle, from a process that is elaborated
// before or after the domain.
void check_inputs(bool run_ahead, bool actor_first, engine_kind kind) {
    std::unique_ptr<actor> outside;
    if (actor_first) {
        outside = std::make_unique<actor>("outside");
    }
    clock_domain clock("clock", ns(4));
    probe p("p", clock), busy("busy", clock);
    synchronizer<int> one("one", clock), three("three", clock);
    if (!actor_first) {
        outside = std::make_unique<actor>("outside");
    }
    probe q("q", clock);
    receiver r(p, one), r3(q, three);
    busy.on_tick = [&] { busy.again(); };
    clock.reset(kind);
    one.reset(1);
    three.reset(3);
    clock.set_run_ahead(run_ahead);
    clock.set_horizon(1000);
    busy.wake(1);
    std::vector<std::pair<cycle_t, int>> expected, expected3;
    const auto input = [&](const sc_time& time, const sc_time& delay, int value) {
        outside->at(time, [&, delay, value] {
            one.write(value, delay);
            three.write(value, delay);
        });
        const cycle_t visible = (time + delay).value() / ns(4).value() + 1;
        expected.emplace_back(visible, value);
        expected3.emplace_back(visible + 2, value);
    };
    input(fs(1), sc_core::SC_ZERO_TIME, 1);            // edge 1
    input(ns(100) - fs(1), sc_core::SC_ZERO_TIME, 2);  // just before edge 25: edge 25
    input(ns(100), sc_core::SC_ZERO_TIME, 3);          // at edge 25: edge 26
    input(ns(100) + fs(1), sc_core::SC_ZERO_TIME, 4);  // edge 26
    input(ns(102), ns(2), 5);                          // arrives at edge 26: edge 27
    input(ns(103), ns(397), 6);                        // at edge 125: edge 126
    input(ns(1000), ns(4), 7);
    sc_core::sc_start(ns(5000));
    CHECK(r.got == expected);
    CHECK(r3.got == expected3);
    CHECK(r.got[2].first == 26);
    CHECK(busy.cycles.size() == 1000);
    CHECK(busy.cycles.back() == 1000);
}

}  // namespace

TEST_CASE("clock domain: an input is visible at the first edge strictly after it") {
    check_inputs(false, false, engine_kind::wheel);
}
TEST_CASE("clock domain: the same with the outside elaborated first") {
    check_inputs(false, true, engine_kind::wheel);
}
TEST_CASE("clock domain: the same with run-ahead") { check_inputs(true, false, engine_kind::wheel); }
TEST_CASE("clock domain: the same with run-ahead, the outside elaborated first") {
    check_inputs(true, true, engine_kind::wheel);
}
TEST_CASE("clock domain: the same with the engine poll") { check_inputs(false, false, engine_kind::poll); }
TEST_CASE("clock domain: the same with the engine poll and run-ahead") {
    check_inputs(true, true, engine_kind::poll);
}

TEST_CASE("clock domain: run-ahead goes up to pending SystemC activity and no further") {
    clock_domain clock("clock", ns(4));
    probe busy("busy", clock);
    actor outside("outside");
    clock.reset(engine_kind::wheel);
    clock.set_run_ahead(true);
    clock.set_horizon(10'000);
    busy.on_tick = [&] { busy.again(); };
    busy.wake(1);
    cycles seen;
    for (const sc_time& t : {ns(202), ns(400), ns(400) + fs(1), ns(403), ns(404) - fs(1)}) {
        outside.at(t, [&] { seen.push_back(clock.now()); });
    }
    sc_core::sc_start(ns(5));
    CHECK(clock.now() == 50);  // edge 50 is at 200 ns
    sc_core::sc_start(ns(195));
    CHECK(clock.now() == 50);
    sc_core::sc_start(ns(40'000));
    // At 400 ns edge 100 may be ticked before or after; later edges may not.
    REQUIRE(seen.size() == 5);
    CHECK(seen[0] == 50);
    CHECK((seen[1] == 99 || seen[1] == 100));
    CHECK(seen[2] == 100);
    CHECK(seen[3] == 100);
    CHECK(seen[4] == 100);
    CHECK(busy.cycles.size() == 10'000);
}

TEST_CASE("clock domain: activity in later delta cycles of the same time is waited for") {
    clock_domain clock("clock", ns(4));
    probe p("p", clock), busy("busy", clock);
    synchronizer<int> in("in", clock);
    struct delta_chain : sc_core::sc_module {
        SC_HAS_PROCESS(delta_chain);
        delta_chain(const sc_core::sc_module_name& name, synchronizer<int>& target)
            : sc_core::sc_module(name), in(target) {
            SC_THREAD(run);
        }
        void run() {
            wait(ns(40));
            for (int i = 0; i < 5; ++i) {
                wait(sc_core::SC_ZERO_TIME);
                in.write(i, sc_core::SC_ZERO_TIME);
            }
        }
        synchronizer<int>& in;
    } chain("chain", in);
    receiver r(p, in);
    busy.on_tick = [&] { busy.again(); };
    clock.reset(engine_kind::wheel);
    in.reset(1);
    clock.set_run_ahead(true);
    clock.set_horizon(100);
    busy.wake(1);
    sc_core::sc_start(ns(1000));
    CHECK(r.got == std::vector<std::pair<cycle_t, int>>{{11, 0}, {11, 1}, {11, 2}, {11, 3}, {11, 4}});
}

namespace {

// A module that calls out in cycle 10 and lets something happen 6 ns later, which comes back as an input.
void check_called_outside(bool tells, bool delta) {
    clock_domain clock("clock", ns(4));
    probe p("p", clock), busy("busy", clock);
    synchronizer<int> in("in", clock);
    receiver r(p, in);
    struct echo : sc_core::sc_module {
        SC_HAS_PROCESS(echo);
        echo(const sc_core::sc_module_name& name, synchronizer<int>& target)
            : sc_core::sc_module(name), in(target) {
            SC_METHOD(run);
            sensitive << event;
            dont_initialize();
        }
        void run() { in.write(1, sc_core::SC_ZERO_TIME); }
        sc_core::sc_event event;
        synchronizer<int>& in;
    } outside("outside", in);
    clock.reset(engine_kind::wheel);
    in.reset(1);
    clock.set_run_ahead(true);
    clock.set_horizon(1000);
    busy.on_tick = [&] {
        busy.again();
        if (clock.now() == 10) {
            // The domain may be ahead of SystemC: a delay counts from its own time.
            outside.event.notify(clock.local_offset() + (delta ? sc_core::SC_ZERO_TIME : ns(6)));
            if (tells) {
                clock.called_outside();
            }
        }
    };
    busy.wake(1);
    if (tells) {
        sc_core::sc_start(ns(5000));
        // 40 ns + 6 ns is between edges 11 and 12; at 40 ns itself it is edge 11.
        CHECK(r.got == std::vector<std::pair<cycle_t, int>>{{delta ? 11u : 12u, 1}});
    } else {
        CHECK_THROWS_WITH(sc_core::sc_start(ns(5000)), has_part("set_run_ahead(false)"));
    }
}

}  // namespace

TEST_CASE("clock domain: who calls outside says so, and run-ahead waits for the echo") {
    check_called_outside(true, false);
}
TEST_CASE("clock domain: the echo may come at the same time") { check_called_outside(true, true); }
TEST_CASE("clock domain: an echo that was not announced is an error, not a wrong cycle") {
    check_called_outside(false, false);
}

TEST_CASE("clock domain: an input to a cycle that is past is an error") {
    clock_domain clock("clock", ns(4));
    probe p("p", clock);
    synchronizer<int> in("in", clock);
    receiver r(p, in);
    probe busy("busy", clock);
    busy.on_tick = [&] { busy.again(); };
    clock.reset(engine_kind::wheel);
    in.reset(2);
    clock.set_run_ahead(true);
    clock.set_horizon(100);
    busy.wake(1);
    sc_core::sc_start(ns(8));
    CHECK(clock.now() == 100);
    CHECK_THROWS_AS(in.write(1, sc_core::SC_ZERO_TIME), std::logic_error);
    CHECK_THROWS_AS(in.write(1, ns(391)), std::logic_error);  // 399 ns: edge 100
    CHECK_NOTHROW(in.write(2, ns(392)));                      // 400 ns: edge 101, latency 2
    clock.set_horizon(200);
    sc_core::sc_start(ns(1000));
    CHECK(r.got == std::vector<std::pair<cycle_t, int>>{{102, 2}});
}

TEST_CASE("clock domain: without run-ahead sc_start in steps, inputs between them") {
    clock_domain clock("clock", ns(4));
    probe p("p", clock), busy("busy", clock);
    synchronizer<int> in("in", clock);
    receiver r(p, in);
    busy.on_tick = [&] { busy.again(); };
    clock.reset(engine_kind::wheel);
    in.reset(1);
    busy.wake(1);
    std::vector<std::pair<cycle_t, int>> expected;
    std::uint64_t time_ns = 0;
    for (int i = 0; i < 200; ++i) {
        const std::uint64_t step = 1 + static_cast<std::uint64_t>(i * 7 % 13);
        sc_core::sc_start(ns(step));
        time_ns += step;
        in.write(i, sc_core::SC_ZERO_TIME);
        expected.emplace_back(time_ns / 4 + 1, i);
    }
    sc_core::sc_start(ns(100));
    CHECK(r.got == expected);
}

TEST_CASE("clock domain: reset starts a second run as the first, at the present time") {
    clock_domain clock("clock", ns(4));
    probe p("p", clock), busy("busy", clock);
    synchronizer<int> in("in", clock);
    receiver r(p, in);
    busy.on_tick = [&] { busy.again(); };
    std::vector<std::vector<std::pair<cycle_t, int>>> runs;
    std::vector<cycles> ticks;
    for (int run = 0; run < 3; ++run) {
        clock.reset(run == 1 ? engine_kind::poll : engine_kind::wheel);
        in.reset(2);
        clock.set_run_ahead(run != 0);
        clock.set_horizon(30);
        CHECK(clock.now() == 0);
        CHECK(clock.time_of(2) == sc_core::sc_time_stamp() + ns(8));
        r.got.clear();
        busy.cycles.clear();
        busy.wake(1);
        in.write(5, ns(10));
        in.write(6, ns(12));
        p.wake(900);  // beyond the horizon: must not come in the next run
        sc_core::sc_start(ns(123) + fs(static_cast<std::uint64_t>(run) * 777));
        runs.push_back(r.got);
        ticks.push_back(busy.cycles);
    }
    CHECK(runs[0] == std::vector<std::pair<cycle_t, int>>{{4, 5}, {5, 6}});
    CHECK(runs[1] == runs[0]);
    CHECK(runs[2] == runs[0]);
    CHECK(ticks[0].size() == 30);
    CHECK(ticks[1] == ticks[0]);
    CHECK(ticks[2] == ticks[0]);
}

TEST_CASE("clock domain: stop ends it until reset") {
    clock_domain clock("clock", ns(4));
    probe p("p", clock);
    clock.reset(engine_kind::wheel);
    p.on_tick = [&] {
        p.again();
        if (clock.now() == 7) {
            clock.stop();
        }
    };
    p.wake(1);
    sc_core::sc_start(ns(1000));
    CHECK(p.cycles.back() == 7);
    clock.reset(engine_kind::wheel);
    p.wake(1);
    sc_core::sc_start(ns(5));
    CHECK(p.cycles.back() == 1);
}

namespace {

struct two_domains_config {
    std::uint64_t period_a_ns, period_b_ns;
    std::uint32_t latency_a, latency_b;  // of the synchronizers into a and into b
    bool b_first = false;
    bool run_ahead = false;
    bool sparse = false;            // a writes now and then only, b is busy
    std::uint64_t origin_b_ns = 0;  // when b is reset
};

// Each domain writes its cycle number to the other in (nearly) every cycle. What was written at time t is
// visible at floor((t - origin) / period) + latency.
void check_two_domains(const two_domains_config& c) {
    std::unique_ptr<clock_domain> a, b;
    const auto make_a = [&] { a = std::make_unique<clock_domain>("a", ns(c.period_a_ns)); };
    const auto make_b = [&] { b = std::make_unique<clock_domain>("b", ns(c.period_b_ns)); };
    if (c.b_first) {
        make_b();
        make_a();
    } else {
        make_a();
        make_b();
    }
    probe in_a("in_a", *a), in_b("in_b", *b), out_a("out_a", *a), out_b("out_b", *b);
    synchronizer<int> to_a("to_a", *a), to_b("to_b", *b);
    receiver got_a(in_a, to_a), got_b(in_b, to_b);
    std::vector<std::pair<cycle_t, int>> expected_a, expected_b;
    constexpr cycle_t last = 2000;
    a->reset(engine_kind::wheel);
    to_a.reset(c.latency_a);
    if (c.origin_b_ns != 0) {
        sc_core::sc_start(ns(c.origin_b_ns));
    }
    b->reset(engine_kind::wheel);
    to_b.reset(c.latency_b);
    out_a.on_tick = [&] {
        const cycle_t n = a->now();
        to_b.write(static_cast<int>(n), a->local_offset());
        const std::uint64_t t = n * c.period_a_ns - c.origin_b_ns;
        expected_b.emplace_back(t / c.period_b_ns + c.latency_b, static_cast<int>(n));
        if (n < last) {
            a->wake_at(out_a, n + (c.sparse ? 1 + n * 7 % 23 : 1));
        }
    };
    out_b.on_tick = [&] {
        const cycle_t n = b->now();
        to_a.write(static_cast<int>(n), b->local_offset());
        const std::uint64_t t = n * c.period_b_ns + c.origin_b_ns;
        expected_a.emplace_back(t / c.period_a_ns + c.latency_a, static_cast<int>(n));
        if (n < last) {
            out_b.again();
        }
    };
    for (clock_domain* d : {a.get(), b.get()}) {
        d->set_run_ahead(c.run_ahead);
    }
    out_a.wake(c.origin_b_ns / c.period_a_ns + 1);
    out_b.wake(1);
    sc_core::sc_start(ns(4 * last * (c.period_a_ns + c.period_b_ns)));
    CHECK(expected_a.size() >= last);
    CHECK(expected_b.size() >= (c.sparse ? last / 23 : last - c.origin_b_ns / c.period_a_ns));
    CHECK(got_a.got == expected_a);
    CHECK(got_b.got == expected_b);
}

}  // namespace

TEST_CASE("two clock domains: 4 ns and 3 ns") { check_two_domains({4, 3, 1, 1}); }
TEST_CASE("two clock domains: elaborated the other way round") { check_two_domains({4, 3, 2, 2, true}); }
TEST_CASE("two clock domains: with run-ahead") { check_two_domains({4, 3, 2, 3, false, true}); }
TEST_CASE("two clock domains: with run-ahead, elaborated the other way round") {
    check_two_domains({4, 3, 1, 1, true, true});
}
TEST_CASE("two clock domains: equal periods") { check_two_domains({4, 4, 1, 1, false, false}); }
TEST_CASE("two clock domains: equal periods, the other way round, with run-ahead") {
    check_two_domains({4, 4, 1, 1, true, true});
}
TEST_CASE("two clock domains: equal periods with run-ahead") { check_two_domains({4, 4, 1, 2, false, true}); }
TEST_CASE("two clock domains: one much slower, with run-ahead") {
    check_two_domains({4, 100, 2, 2, false, true});
}
TEST_CASE("two clock domains: one seldom writes, the other is busy and runs ahead") {
    check_two_domains({5, 3, 2, 2, false, true, true});
}
TEST_CASE("two clock domains: seldom and busy, the other way round") {
    check_two_domains({5, 3, 1, 1, true, true, true});
}
TEST_CASE("two clock domains: one starts later") {
    check_two_domains({4, 3, 1, 2, false, false, false, 101});
}
TEST_CASE("two clock domains: one starts later, with run-ahead") {
    check_two_domains({4, 3, 2, 1, true, true, false, 101});
}

// A value goes to and fro between two domains; where it is when shows each crossing exactly.
TEST_CASE("two clock domains: to and fro between equal clocks takes one edge each way") {
    clock_domain a("a", ns(4)), b("b", ns(4));
    probe in_a("in_a", a), in_b("in_b", b);
    synchronizer<int> to_a("to_a", a), to_b("to_b", b);
    to_a.set_consumer(in_a);
    to_b.set_consumer(in_b);
    std::vector<std::pair<cycle_t, int>> at_a, at_b;
    in_a.on_tick = [&] {
        while (to_a.can_pop()) {
            at_a.emplace_back(a.now(), to_a.pop());
            to_b.write(at_a.back().second + 1, a.local_offset());
        }
    };
    in_b.on_tick = [&] {
        while (to_b.can_pop()) {
            at_b.emplace_back(b.now(), to_b.pop());
            if (at_b.size() < 5) {
                to_a.write(at_b.back().second + 1, b.local_offset());
            }
        }
    };
    for (clock_domain* d : {&a, &b}) {
        d->reset(engine_kind::wheel);
        d->set_run_ahead(true);
        d->set_horizon(1000);
    }
    to_a.reset(1);
    to_b.reset(1);
    to_a.write(0, ns(39));
    sc_core::sc_start(ns(4000));
    CHECK(at_a == std::vector<std::pair<cycle_t, int>>{{10, 0}, {12, 2}, {14, 4}, {16, 6}, {18, 8}});
    CHECK(at_b == std::vector<std::pair<cycle_t, int>>{{11, 1}, {13, 3}, {15, 5}, {17, 7}, {19, 9}});
}

TEST_CASE("synchronizer: order is kept when a later write has less delay") {
    clock_domain clock("clock", ns(4));
    probe p("p", clock);
    synchronizer<int> in("in", clock);
    receiver r(p, in);
    clock.reset(engine_kind::wheel);
    in.reset(1);
    in.write(1, ns(100));
    in.write(2, ns(10));
    sc_core::sc_start(ns(400));
    CHECK(r.got == std::vector<std::pair<cycle_t, int>>{{26, 1}, {26, 2}});
}

TEST_CASE("clocked module: sleeps until it is woken") {
    clock_domain clock("clock", ns(4));
    probe p("p", clock), q("q", clock);
    clock.reset(engine_kind::wheel);
    p.on_tick = [&] { clock.wake_at(q, clock.now() + 3); };
    p.wake(5);
    sc_core::sc_start(ns(400));
    CHECK(p.cycles == cycles{5});
    CHECK(q.cycles == cycles{8});
    CHECK(&p.domain() == &clock);
}
