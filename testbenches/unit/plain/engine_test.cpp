#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "model/clock/engine.h"
#include "testbenches/unit/catch.h"

using namespace hcasim;

namespace {

// Calls a function in each tick and notes the cycles.
class probe : public tickable {
public:
    explicit probe(engine& e) : m_engine(e) { e.add(*this); }
    void tick() override {
        cycles.push_back(m_engine.now());
        if (on_tick) {
            on_tick();
        }
    }
    std::vector<cycle_t> cycles;
    std::function<void()> on_tick;

private:
    engine& m_engine;
};

using cycles = std::vector<cycle_t>;

}  // namespace

TEST_CASE("engine: a wake is a tick in exactly its cycle, at every distance") {
    for (const cycle_t start : {cycle_t{0}, cycle_t{1}, cycle_t{511}, cycle_t{1000}, cycle_t{1} << 40}) {
        for (const cycle_t distance : std::vector<cycle_t>{1, 2, 63, 64, 65, 510, 511, 512, 513, 1023, 1024,
                                                           1025, 100'000, 1'000'000'000}) {
            engine e;
            probe p(e);
            e.reset(engine_kind::wheel);
            if (start != 0) {
                e.wake_at(p, start);
            }
            bool first = true;
            p.on_tick = [&] {
                if (first) {
                    first = false;
                    e.wake_at(p, start + distance);
                }
            };
            if (start == 0) {
                first = false;
                e.wake_at(p, distance);
            }
            CHECK(e.run_to(start + distance - 1) == (start == 0 ? 0 : 1));
            CHECK(e.next_due() == start + distance);
            CHECK(e.run_to(never - 1) == 1);
            CHECK(p.cycles.back() == start + distance);
            CHECK(e.next_due() == never);
            CHECK(e.ticks() == p.cycles.size());
        }
    }
}

TEST_CASE("engine: two wakes for one cycle are one tick, for two cycles two") {
    engine e;
    probe p(e);
    e.reset(engine_kind::wheel);
    e.wake_at(p, 5);
    e.wake_at(p, 5);
    e.wake_at(p, 700);
    e.wake_at(p, 700);
    e.wake_at(p, 6);
    CHECK(e.run_to(1000) == 3);
    CHECK(p.cycles == cycles{5, 6, 700});
}

TEST_CASE("engine: a wake for the next cycle while due in this one is kept") {
    engine e;
    probe waker(e), sleeper(e);
    e.reset(engine_kind::wheel);
    const bool before = GENERATE(false, true);  // the other is ticked before or after it is woken
    probe& first = before ? sleeper : waker;
    probe& second = before ? waker : sleeper;
    e.wake_at(first, 10);
    e.wake_at(second, 10);
    waker.on_tick = [&] { e.wake_at(sleeper, e.now() + 1); };
    e.run_to(100);
    CHECK(sleeper.cycles == cycles{10, 11});
    CHECK(waker.cycles == cycles{10});
}

TEST_CASE("engine: a wake from far and one from near for the same cycle") {
    engine e;
    probe p(e), q(e);
    e.reset(engine_kind::wheel);
    e.wake_at(p, 2000);
    e.wake_at(q, 1600);
    q.on_tick = [&] { e.wake_at(p, 2000); };
    CHECK(e.run_to(3000) == 2);
    CHECK(p.cycles == cycles{2000});
}

TEST_CASE("engine: a far wake for the slot that is being ticked") {
    engine e;
    probe p(e);
    e.reset(engine_kind::wheel);
    e.wake_at(p, 100);
    p.on_tick = [&] {
        if (e.now() < 100 + 5 * 512) {
            e.wake_at(p, e.now() + 512);
        }
    };
    e.run_to(10'000);
    CHECK(p.cycles == cycles{100, 612, 1124, 1636, 2148, 2660});
}

TEST_CASE("engine: a wake for now or the past is refused") {
    engine e;
    probe p(e);
    e.reset(engine_kind::wheel);
    CHECK_THROWS_AS(e.wake_at(p, 0), std::logic_error);
    e.wake_at(p, 50);
    int refused = 0;
    p.on_tick = [&] {
        for (const cycle_t cycle : {cycle_t{50}, cycle_t{49}, cycle_t{0}}) {
            try {
                e.wake_at(p, cycle);
            } catch (const std::logic_error&) {
                ++refused;
            }
        }
    };
    e.run_to(100);
    CHECK(refused == 3);
    CHECK(p.cycles == cycles{50});
}

TEST_CASE("engine: a wake for never is none") {
    engine e;
    probe p(e);
    e.reset(engine_kind::wheel);
    e.wake_at(p, never);
    CHECK(e.next_due() == never);
    CHECK(e.run_to(never - 1) == 0);
    CHECK(e.run_to(never) == 0);
    CHECK(e.now() == 0);
    e.wake_at(p, 3);
    CHECK(e.run_to(never) == 1);
    CHECK(e.now() == 3);
}

TEST_CASE("engine: run_to is inclusive and jumps over idle cycles") {
    engine e;
    probe p(e);
    e.reset(engine_kind::wheel);
    e.wake_at(p, 7);
    e.wake_at(p, 8);
    CHECK(e.run_to(7) == 1);
    CHECK(e.now() == 7);
    CHECK(e.run_to(7) == 0);
    CHECK(e.run_to(1'000'000) == 1);
    CHECK(e.now() == 8);
    CHECK(e.ticks() == 2);
}

TEST_CASE("engine: poll ticks all in every cycle") {
    engine e;
    probe p(e), q(e);
    e.reset(engine_kind::poll);
    CHECK(e.next_due() == 1);
    CHECK(e.run_to(3) == 3);
    CHECK(p.cycles == cycles{1, 2, 3});
    CHECK(q.cycles == cycles{1, 2, 3});
    CHECK(e.ticks() == 6);
    engine none;
    none.reset(engine_kind::poll);
    CHECK(none.next_due() == never);
}

TEST_CASE("engine: stop and yield end run_to after the cycle, stop for good") {
    const auto kind = GENERATE(engine_kind::wheel, engine_kind::poll);
    engine e;
    probe first(e), second(e);
    e.reset(kind);
    const auto wake_all = [&] {
        e.wake_at(first, e.now() + 1);
        e.wake_at(second, e.now() + 1);
    };
    wake_all();
    first.on_tick = [&] {
        wake_all();
        if (e.now() == 3) {
            e.yield();
        }
        if (e.now() == 5) {
            e.stop();
        }
    };
    CHECK(e.run_to(100) == 3);
    CHECK(second.cycles == cycles{1, 2, 3});  // the rest of the cycle is ticked
    CHECK(e.run_to(100) == 2);
    CHECK(e.stopped());
    CHECK(e.run_to(100) == 0);
    e.reset(kind);
    CHECK_FALSE(e.stopped());
}

TEST_CASE("engine: reset forgets wakes near and far and starts at cycle 0") {
    engine e;
    probe p(e);
    e.reset(engine_kind::wheel);
    e.wake_at(p, 3);
    e.run_to(3);
    e.wake_at(p, 10);
    e.wake_at(p, 5000);
    e.reset(engine_kind::wheel);
    CHECK(e.now() == 0);
    CHECK(e.ticks() == 0);
    CHECK(e.next_due() == never);
    CHECK(e.run_to(10'000) == 0);
    p.cycles.clear();
    e.wake_at(p, 4000);
    CHECK(e.run_to(10'000) == 1);
    CHECK(p.cycles == cycles{4000});
}

TEST_CASE("engine: more modules than bits in a word") {
    engine e;
    std::vector<std::unique_ptr<probe>> all(200);
    for (auto& p : all) {
        p = std::make_unique<probe>(e);
    }
    e.reset(engine_kind::wheel);
    for (std::size_t i = 0; i < all.size(); ++i) {
        e.wake_at(*all[i], 1 + i % 7);
        e.wake_at(*all[i], 1000 + i);
    }
    e.run_to(5000);
    for (std::size_t i = 0; i < all.size(); ++i) {
        CHECK(all[i]->cycles == cycles{1 + i % 7, 1000 + i});
    }
}

TEST_CASE("engine: the tick order is that of adding, or a permutation by seed") {
    engine e;
    std::vector<std::unique_ptr<probe>> all;
    std::vector<int> order;
    for (int i = 0; i < 70; ++i) {
        all.push_back(std::make_unique<probe>(e));
        all.back()->on_tick = [&order, i] { order.push_back(i); };
    }
    const auto run = [&](std::uint64_t seed, engine_kind kind) {
        e.set_order_seed(seed);
        e.reset(kind);
        order.clear();
        for (auto& p : all) {
            e.wake_at(*p, 1);
        }
        e.run_to(1);
        return order;
    };
    std::vector<int> natural(70);
    std::iota(natural.begin(), natural.end(), 0);
    CHECK(run(0, engine_kind::wheel) == natural);
    CHECK(run(0, engine_kind::poll) == natural);
    std::set<std::vector<int>> orders;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        const auto permuted = run(seed, engine_kind::wheel);
        CHECK(permuted == run(seed, engine_kind::poll));
        CHECK(std::set<int>(permuted.begin(), permuted.end()).size() == 70);
        orders.insert(permuted);
    }
    CHECK(orders.size() == 20);
    CHECK(run(0, engine_kind::wheel) == natural);
}

// The engine against the plainest one there can be: a set of (cycle, module).
TEST_CASE("engine: random wakes tick as a sorted set does") {
    std::mt19937_64 random(1);
    for (int round = 0; round < 50; ++round) {
        engine e;
        const std::size_t modules = 1 + random() % 100;
        std::vector<std::unique_ptr<probe>> all;
        std::set<std::pair<cycle_t, std::size_t>> due;
        std::vector<std::pair<cycle_t, std::size_t>> ticked, expected;
        std::uint64_t wakes = 0;
        const auto wake = [&](std::size_t i) {
            const std::uint64_t reach = std::uint64_t{1} << (random() % 14);
            const cycle_t cycle = e.now() + 1 + random() % reach;
            due.insert({cycle, i});
            e.wake_at(*all[i], cycle);
            ++wakes;
        };
        for (std::size_t i = 0; i < modules; ++i) {
            all.push_back(std::make_unique<probe>(e));
            all.back()->on_tick = [&, i] {
                ticked.emplace_back(e.now(), i);
                for (std::uint64_t n = random() % 3; n != 0 && wakes < 3000; --n) {
                    wake(random() % modules);
                }
            };
        }
        e.reset(engine_kind::wheel);
        for (int i = 0; i < 20; ++i) {
            wake(random() % modules);
        }
        bool same = true;
        while (!due.empty()) {
            const auto next = *due.begin();
            same = same && e.next_due() == next.first;
            e.run_to(next.first);
            // A tick can only wake for later cycles, so those of this one are known now.
            expected.clear();
            while (!due.empty() && due.begin()->first == next.first) {
                expected.push_back(*due.begin());
                due.erase(due.begin());
            }
            same = same && ticked == expected;
            ticked.clear();
            if (!same) {
                break;
            }
        }
        CHECK(same);
        CHECK(e.next_due() == never);
    }
}

namespace {

// Says in its constructor how it is ticked, as the blocks of the card do.
class direct_probe : public tickable {
public:
    explicit direct_probe(engine& e) {
        e.add(*this);
        tick_directly<direct_probe>();
    }
    void tick() override { ++ticks; }
    int ticks = 0;
};

// Takes the place of such a block.
class replaced_probe final : public direct_probe {
public:
    using direct_probe::direct_probe;
    void tick() override { ++own_ticks; }
    int own_ticks = 0;
};

}  // namespace

TEST_CASE("engine: a block that is ticked directly gives way to a class derived from it") {
    for (const bool reset : {false, true}) {
        for (const std::uint64_t order : {0u, 1u, 2u, 3u}) {
            engine e;
            probe before(e);
            direct_probe block(e);
            replaced_probe other(e);
            direct_probe after(e);
            e.set_order_seed(order);
            if (reset) {
                e.reset(engine_kind::wheel);
            }
            // Alone, in pairs and all together.
            for (cycle_t cycle = 1; cycle <= 16; ++cycle) {
                const std::vector<tickable*> all{&before, &block, &other, &after};
                for (std::size_t i = 0; i < all.size(); ++i) {
                    if ((cycle >> i & 1) != 0) {
                        e.wake_at(*all[i], cycle);
                    }
                }
            }
            CHECK(e.run_to(20) == 16 - 1);
            CHECK(before.cycles == cycles{1, 3, 5, 7, 9, 11, 13, 15});
            CHECK(block.ticks == 8);
            CHECK(other.own_ticks == 8);
            CHECK(other.ticks == 0);
            CHECK(after.ticks == 8);
        }
    }
}
