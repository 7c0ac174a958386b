// The registered channel, cycle by cycle.
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "model/clock/channel_core.h"
#include "model/clock/engine.h"
#include "testbenches/unit/catch.h"

using namespace hcasim;

namespace {

class part : public tickable {
public:
    explicit part(engine& e) { e.add(*this); }
    void tick() override {
        if (on_tick) {
            on_tick();
        }
    }
    std::function<void()> on_tick;
};

// A producer and a consumer with one channel; both engines, both tick orders.
struct line {
    explicit line(const channel_config& config, engine_kind kind, bool consumer_first)
        : a(e), b(e), producer(consumer_first ? b : a), consumer(consumer_first ? a : b) {
        channel.attach(e);
        channel.set_producer(producer);
        channel.set_consumer(consumer);
        e.reset(kind);
        channel.reset(config);
    }
    engine e;
    part a, b;
    part& producer;
    part& consumer;
    channel_core<int> channel;
};

template <class Check>
void in_all_orders(const channel_config& config, const Check& check) {
    for (const auto kind : {engine_kind::wheel, engine_kind::poll}) {
        for (const bool consumer_first : {false, true}) {
            INFO((kind == engine_kind::wheel ? "wheel" : "poll")
                 << (consumer_first ? ", consumer first" : ", producer first"));
            line l(config, kind, consumer_first);
            check(l);
        }
    }
}

channel_config size(std::uint32_t depth, std::uint32_t latency) {
    channel_config c;
    c.depth = depth;
    c.latency_cycles = latency;
    return c;
}

using cycles = std::vector<cycle_t>;

}  // namespace

TEST_CASE("channel: an entry can be popped after exactly its latency") {
    for (const std::uint32_t latency : {1u, 2u, 3u, 17u, 511u, 512u, 2000u}) {
        in_all_orders(size(2, latency), [&](line& l) {
            cycles popped;
            cycle_t earliest_visible = 0;
            l.producer.on_tick = [&] {
                if (l.e.now() == 10 && l.channel.can_push()) {
                    l.channel.push(42);
                }
            };
            l.consumer.on_tick = [&] {
                if (earliest_visible == 0 && l.channel.has_visible()) {
                    earliest_visible = l.e.now();
                }
                if (l.channel.can_pop()) {
                    CHECK(l.channel.front() == 42);
                    CHECK(l.channel.front_visible() == l.e.now());
                    CHECK(l.channel.pop() == 42);
                    popped.push_back(l.e.now());
                }
            };
            l.e.wake_at(l.producer, 10);
            l.e.run_to(10 + latency - 1);
            CHECK(popped.empty());
            CHECK(l.channel.level() == 1);
            l.e.run_to(5000);
            CHECK(popped == cycles{10 + latency});
            CHECK(earliest_visible == 10 + latency);
            CHECK(l.channel.level() == 0);
            CHECK(l.channel.pushed() == 1);
        });
    }
}

// A producer that always has something: how many go in while nobody pops, and when.
TEST_CASE("channel: depth entries, and one more for each cycle of latency beyond the first") {
    for (const auto& [depth, latency] : std::vector<std::pair<std::uint32_t, std::uint32_t>>{
             {1, 1}, {2, 1}, {1, 3}, {2, 4}, {5, 1}, {16, 10}}) {
        in_all_orders(size(depth, latency), [&, depth = depth, latency = latency](line& l) {
            cycles pushed;
            l.producer.on_tick = [&] {
                if (l.channel.can_push()) {
                    pushed.push_back(l.e.now());
                    l.channel.push(0);
                    l.e.wake_at(l.producer, l.e.now() + 1);
                }
            };
            l.e.wake_at(l.producer, 1);
            l.e.run_to(100);
            cycles expected;
            for (cycle_t c = 1; c <= depth + latency - 1; ++c) {
                expected.push_back(c);
            }
            CHECK(pushed == expected);
        });
    }
}

TEST_CASE("channel: a slot freed in cycle n can be filled in n + 1, by a producer that slept") {
    for (const std::uint32_t depth : {1u, 2u, 4u}) {
        in_all_orders(size(depth, 1), [&](line& l) {
            cycles pushed;
            l.producer.on_tick = [&] {
                if (l.channel.can_push()) {
                    pushed.push_back(l.e.now());
                    l.channel.push(0);
                    l.e.wake_at(l.producer, l.e.now() + 1);
                }
            };
            l.consumer.on_tick = [&] {
                if ((l.e.now() == 50 || l.e.now() == 60) && l.channel.can_pop()) {
                    l.channel.pop();
                }
            };
            l.e.wake_at(l.producer, 1);
            l.e.wake_at(l.consumer, 50);
            l.e.wake_at(l.consumer, 60);
            l.e.run_to(100);
            REQUIRE(pushed.size() == depth + 2);
            CHECK(pushed[depth] == 51);
            CHECK(pushed[depth + 1] == 61);
            // Refused from depth + 1 to 51 and from 52 to 61.
            CHECK(l.channel.refused_cycles() == 51 - (depth + 1) + 61 - 52);
        });
    }
}

TEST_CASE("channel: a refusal in the cycle of the pop is not forgotten") {
    in_all_orders(size(1, 1), [](line& l) {
        // The producer asks for the first time in the very cycle in which the only slot is freed.
        cycles pushed;
        l.producer.on_tick = [&] {
            if ((l.e.now() == 1 || l.e.now() >= 20) && pushed.size() < 2 && l.channel.can_push()) {
                pushed.push_back(l.e.now());
                l.channel.push(0);
            }
        };
        l.consumer.on_tick = [&] {
            if (l.e.now() == 20 && l.channel.can_pop()) {
                l.channel.pop();
            }
        };
        l.e.wake_at(l.producer, 1);
        l.e.wake_at(l.producer, 20);
        l.e.wake_at(l.consumer, 20);
        l.e.run_to(100);
        CHECK(pushed == cycles{1, 21});
        CHECK(l.channel.refused_cycles() == 1);
    });
}

TEST_CASE("channel: one push and one pop per cycle") {
    in_all_orders(size(4, 1), [](line& l) {
        cycles pushed, popped;
        l.producer.on_tick = [&] {
            while (pushed.size() < 3 && l.channel.can_push()) {
                pushed.push_back(l.e.now());
                l.channel.push(static_cast<int>(pushed.size()));
            }
        };
        l.consumer.on_tick = [&] {
            while (l.e.now() >= 10 && l.channel.can_pop()) {
                CHECK(l.channel.pop() == static_cast<int>(popped.size() + 1));
                popped.push_back(l.e.now());
            }
        };
        l.e.wake_at(l.producer, 1);
        l.e.wake_at(l.consumer, 10);
        l.e.run_to(100);
        CHECK(pushed == cycles{1, 2, 3});
        CHECK(popped == cycles{10, 11, 12});
    });
}

TEST_CASE("channel: rate of a full stream") {
    // depth + latency - 1 entries per round trip of latency + 1 cycles, at most one per cycle.
    for (const auto& [depth, latency, period] :
         std::vector<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>>{
             {1, 1, 2}, {2, 1, 1}, {2, 5, 1}, {2, 100, 1}, {8, 1, 1}}) {
        in_all_orders(size(depth, latency), [&, latency = latency, period = period](line& l) {
            constexpr std::uint64_t entries = 300;
            std::uint64_t pushed = 0;
            cycles popped;
            l.producer.on_tick = [&] {
                if (pushed < entries && l.channel.can_push()) {
                    l.channel.push(0);
                    ++pushed;
                    l.e.wake_at(l.producer, l.e.now() + 1);
                }
            };
            l.consumer.on_tick = [&] {
                if (l.channel.can_pop()) {
                    l.channel.pop();
                    popped.push_back(l.e.now());
                }
            };
            l.e.wake_at(l.producer, 1);
            l.e.run_to(10'000);
            REQUIRE(popped.size() == entries);
            CHECK(popped.front() == 1 + latency);
            CHECK(popped.back() == 1 + latency + (entries - 1) * period);
        });
    }
}

TEST_CASE("channel: full rate needs depth 2, whatever the latency") {
    // One entry fewer in flight than the round trip: every (latency + 1)th cycle is lost.
    in_all_orders(size(1, 4), [](line& l) {
        std::uint64_t pushed = 0;
        cycles popped;
        l.producer.on_tick = [&] {
            if (pushed < 41 && l.channel.can_push()) {
                l.channel.push(0);
                ++pushed;
                l.e.wake_at(l.producer, l.e.now() + 1);
            }
        };
        l.consumer.on_tick = [&] {
            if (l.channel.can_pop()) {
                l.channel.pop();
                popped.push_back(l.e.now());
            }
        };
        l.e.wake_at(l.producer, 1);
        l.e.run_to(10'000);
        REQUIRE(popped.size() == 41);
        CHECK(popped.back() - popped.front() == 40 / 4 * 5);
    });
}

TEST_CASE("channel: a consumer that pops late finds all, in order") {
    in_all_orders(size(8, 1), [](line& l) {
        int pushed = 0;
        std::vector<std::pair<cycle_t, int>> popped;
        l.producer.on_tick = [&] {
            if (pushed < 5 && l.channel.can_push()) {
                l.channel.push(pushed++);
                l.e.wake_at(l.producer, l.e.now() + 1);
            }
        };
        l.consumer.on_tick = [&] {
            if (l.e.now() >= 1000 && l.channel.can_pop()) {
                const int value = l.channel.pop();
                popped.emplace_back(l.e.now(), value);
            }
        };
        l.e.wake_at(l.producer, 1);
        l.e.wake_at(l.consumer, 1000);
        l.e.run_to(2000);
        CHECK(popped ==
              std::vector<std::pair<cycle_t, int>>{{1000, 0}, {1001, 1}, {1002, 2}, {1003, 3}, {1004, 4}});
    });
}

TEST_CASE("channel: injected stalls delay, and lose nothing") {
    for (const auto& [producer, consumer] : std::vector<std::pair<std::uint32_t, std::uint32_t>>{
             {512, 0}, {0, 512}, {300, 700}, {1023, 0}, {0, 1023}, {1023, 1023}}) {
        channel_config config = size(2, 1);
        config.stall = {7, producer, consumer};
        std::vector<std::pair<cycle_t, int>> reference;
        in_all_orders(config, [&](line& l) {
            int pushed = 0;
            std::vector<std::pair<cycle_t, int>> popped;
            l.producer.on_tick = [&] {
                if (pushed < 50 && l.channel.can_push()) {
                    l.channel.push(pushed++);
                    l.e.wake_at(l.producer, l.e.now() + 1);
                }
            };
            l.consumer.on_tick = [&] {
                if (l.channel.can_pop()) {
                    const int value = l.channel.pop();
                    popped.emplace_back(l.e.now(), value);
                }
            };
            l.e.wake_at(l.producer, 1);
            l.e.run_to(400'000);
            REQUIRE(popped.size() == 50);
            for (int i = 0; i < 50; ++i) {
                CHECK(popped[static_cast<std::size_t>(i)].second == i);
            }
            // Half of the cycles stalled: about twice as long. Never as fast as without.
            CHECK(popped.back().first > 51);
            if (reference.empty()) {
                reference = popped;
            }
            CHECK(popped == reference);
        });
    }
}

TEST_CASE("channel: the share of stalled cycles is what was asked for") {
    for (const std::uint32_t share : {1u, 100u, 512u, 900u, 1023u}) {
        channel_config config = size(1, 1);
        config.stall = {share, share, 0};
        line l(config, engine_kind::poll, false);
        std::uint64_t refused = 0;
        l.producer.on_tick = [&] { refused += l.channel.can_push() ? 0 : 1; };
        constexpr std::uint64_t cycles_run = 102'400;
        l.e.run_to(cycles_run);
        const double expected = 100.0 * share;
        CHECK(static_cast<double>(refused) > expected * 0.95 - 50);
        CHECK(static_cast<double>(refused) < expected * 1.05 + 50);
    }
}

TEST_CASE("channel: a seed is a pattern of its own") {
    const auto pattern = [](std::uint64_t seed) {
        channel_config config = size(1, 1);
        config.stall = {seed, 512, 0};
        line l(config, engine_kind::poll, false);
        std::vector<bool> refused;
        l.producer.on_tick = [&] { refused.push_back(!l.channel.can_push()); };
        l.e.run_to(200);
        return refused;
    };
    CHECK(pattern(1) == pattern(1));
    CHECK(pattern(1) != pattern(2));
}

TEST_CASE("channel: reset empties it, and a size of nothing is refused") {
    line l(size(2, 1), engine_kind::wheel, false);
    l.producer.on_tick = [&] {
        if (l.channel.can_push()) {
            l.channel.push(1);
        }
    };
    l.e.wake_at(l.producer, 1);
    l.e.run_to(1);
    CHECK(l.channel.level() == 1);
    l.e.reset(engine_kind::wheel);
    l.channel.reset(size(3, 2));
    CHECK(l.channel.level() == 0);
    CHECK(l.channel.pushed() == 0);
    CHECK(l.channel.config().depth == 3);
    CHECK_THROWS_AS(l.channel.reset(size(0, 1)), std::invalid_argument);
    CHECK_THROWS_AS(l.channel.reset(size(1, 0)), std::invalid_argument);
}
