// Random networks of modules, channels and timers: the trace is the same for both engines and for every tick
// order, with and without injected back-pressure. A module that breaks the law of the stamps shows that the
// comparison can fail.
#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <random>
#include <set>
#include <tuple>
#include <vector>

#include "model/clock/channel_core.h"
#include "model/clock/engine.h"
#include "testbenches/unit/catch.h"

using namespace hcasim;

namespace {

// (cycle, channel, 0 push or 1 pop, value); sorted, because the order within a cycle is that of the ticks.
using trace = std::vector<std::tuple<cycle_t, std::uint32_t, int, std::uint64_t>>;

std::uint64_t hash(std::uint64_t a, std::uint64_t b) {
    std::uint64_t x = a * 0x9e3779b97f4a7c15ULL + b + 1;
    x ^= x >> 29;
    x *= 0xbf58476d1ce4e5b9ULL;
    x ^= x >> 32;
    return x;
}

struct network_config {
    std::uint32_t modules = 5;
    std::vector<std::pair<std::uint32_t, std::uint32_t>>
        links;  // from, to; loops and parallel links are allowed
    std::vector<channel_config> channels;
    std::uint32_t max_think_cycles = 40;  // between an item's arrival and its leaving
    std::uint64_t items = 200;            // that the sources make
};

// Takes items from its inputs, holds each for a time that depends on the item, and sends it on through an
// output that depends on the item. Sources make items too. All decisions depend on items, never on how often
// tick() is called.
class node : public tickable {
public:
    struct port {
        channel_core<std::uint64_t>* channel;
        std::uint32_t id;
    };
    node(engine& e, trace& t, std::uint64_t id, const network_config& config)
        : m_engine(e), m_trace(t), m_id(id), m_config(config) {
        e.add(*this);
    }
    void start() {
        if (is_source) {
            m_next_item = 1;
            m_next_cycle = 1 + hash(m_id, 0) % m_config.max_think_cycles;
            m_engine.wake_at(*this, m_next_cycle);
        }
    }
    void tick() override {
        const cycle_t now = m_engine.now();
        for (const port& in : inputs) {
            if (m_held.size() < 4 && in.channel->can_pop()) {
                const std::uint64_t item = in.channel->pop();
                m_trace.emplace_back(now, in.id, 1, item);
                hold(item);
            }
        }
        if (is_source && m_next_item <= m_config.items && m_next_cycle <= now && m_held.size() < 4) {
            hold(hash(m_id, m_next_item) | 1);
            ++m_next_item;
            m_next_cycle = now + 1 + hash(m_id, m_next_item) % (m_config.max_think_cycles * 20);
            m_engine.wake_at(*this, m_next_cycle);
        }
        if (m_held.empty() || m_held.front().ready > now) {
            return;
        }
        // The oldest item leaves, or ends here after some hops (its low byte counts).
        const std::uint64_t item = m_held.front().item;
        const port* const out =
            outputs.empty() || item % 16 == 0 ? nullptr : &outputs[hash(item, m_id) % outputs.size()];
        if (out != nullptr) {
            if (!out->channel->can_push()) {
                return;
            }
            const std::uint64_t next = hash(item, 7);
            m_trace.emplace_back(now, out->id, 0, next);
            out->channel->push(next);
        }
        m_held.pop_front();
        // Room for the next, which may be waiting already; and the next of those that are held may be ready.
        m_engine.wake_at(*this, now + 1);
        if (!m_held.empty() && m_held.front().ready > now + 1) {
            m_engine.wake_at(*this, m_held.front().ready);
        }
    }

    std::vector<port> inputs, outputs;
    bool is_source = false;

private:
    struct held {
        std::uint64_t item;
        cycle_t ready;
    };
    void hold(std::uint64_t item) {
        // Now and then beyond the reach of the wheel.
        const std::uint64_t far = hash(item, 3) % 32 == 0 ? 700 : 0;
        const cycle_t ready = m_engine.now() + 1 + far + hash(item, m_id + 5) % m_config.max_think_cycles;
        m_held.push_back({item, ready});
        m_engine.wake_at(*this, ready);
    }

    engine& m_engine;
    trace& m_trace;
    const std::uint64_t m_id;
    const network_config& m_config;
    std::deque<held> m_held;
    std::uint64_t m_next_item = 1;
    cycle_t m_next_cycle = 0;
};

trace run(const network_config& config, engine_kind kind, std::uint64_t order_seed) {
    trace t;
    engine e;
    std::vector<std::unique_ptr<node>> nodes;
    for (std::uint32_t i = 0; i < config.modules; ++i) {
        nodes.push_back(std::make_unique<node>(e, t, i, config));
        nodes.back()->is_source = i % 3 == 0;
    }
    e.set_order_seed(order_seed);
    e.reset(kind);
    std::vector<std::unique_ptr<channel_core<std::uint64_t>>> channels;
    for (std::uint32_t c = 0; c < config.links.size(); ++c) {
        channels.push_back(std::make_unique<channel_core<std::uint64_t>>());
        node& from = *nodes[config.links[c].first];
        node& to = *nodes[config.links[c].second];
        channels[c]->attach(e);
        channels[c]->set_producer(from);
        channels[c]->set_consumer(to);
        channels[c]->reset(config.channels[c]);
        from.outputs.push_back({channels[c].get(), c});
        to.inputs.push_back({channels[c].get(), c});
    }
    for (auto& n : nodes) {
        n->start();
    }
    e.run_to(20'000);
    std::sort(t.begin(), t.end());
    return t;
}

network_config random_network(std::mt19937_64& random, std::uint32_t stall_per_1024) {
    network_config config;
    config.modules = 2 + static_cast<std::uint32_t>(random() % 12);
    const auto links = config.modules + static_cast<std::uint32_t>(random() % (2 * config.modules));
    for (std::uint32_t l = 0; l < links; ++l) {
        const auto from = static_cast<std::uint32_t>(random() % config.modules);
        const auto to = static_cast<std::uint32_t>(random() % config.modules);
        config.links.emplace_back(from, to);
        channel_config c;
        c.depth = 1 + static_cast<std::uint32_t>(random() % 4);
        c.latency_cycles = random() % 8 == 0 ? 600 : 1 + static_cast<std::uint32_t>(random() % 5);
        c.stall.seed = random();
        c.stall.producer_per_1024 = stall_per_1024;
        c.stall.consumer_per_1024 = stall_per_1024;
        config.channels.push_back(c);
    }
    config.max_think_cycles = 1 + static_cast<std::uint32_t>(random() % 60);
    return config;
}

}  // namespace

TEST_CASE("engine network: both engines and every tick order give the same trace") {
    const std::uint32_t stall = GENERATE(0u, 200u, 900u);
    std::mt19937_64 random(stall + 1);
    std::size_t events = 0;
    for (int round = 0; round < 25; ++round) {
        const network_config config = random_network(random, stall);
        const trace reference = run(config, engine_kind::poll, 0);
        events += reference.size();
        CHECK(run(config, engine_kind::wheel, 0) == reference);
        for (std::uint64_t seed = 1; seed <= 4; ++seed) {
            CHECK(run(config, engine_kind::wheel, seed) == reference);
        }
        CHECK(run(config, engine_kind::poll, 5) == reference);
    }
    CHECK(events > 25 * 500);
}

TEST_CASE("engine network: injected stalls change when, not what") {
    // One way from a source to a sink: the values and their order must be the same.
    network_config config;
    config.modules = 3;
    config.links = {{0, 1}, {1, 2}};
    const auto values = [](const trace& t) {
        std::vector<std::uint64_t> v;
        for (const auto& [cycle, channel, kind, value] : t) {
            if (channel == 1 && kind == 1) {
                v.push_back(value);
            }
        }
        return v;
    };
    channel_config free;
    config.channels = {free, free};
    config.items = 20;
    const trace undisturbed = run(config, engine_kind::wheel, 0);
    free.stall = {3, 700, 700};
    config.channels = {free, free};
    const trace stalled = run(config, engine_kind::wheel, 0);
    CHECK(values(undisturbed).size() > 10);
    CHECK(values(stalled) == values(undisturbed));
    CHECK(stalled != undisturbed);
}

namespace {

// Two modules that share a variable: what one writes in a cycle the other may or may not see in the same
// cycle.
trace run_shared(std::uint64_t order_seed, bool stamped) {
    trace t;
    engine e;
    struct writer : tickable {
        engine& e;
        std::uint64_t now_value = 0, before = 0;
        cycle_t written = 0;
        explicit writer(engine& owner) : e(owner) { e.add(*this); }
        void tick() override {
            before = now_value;
            now_value = hash(e.now(), 1);
            written = e.now();
            e.wake_at(*this, e.now() + 1);
        }
        // What is stamped with this cycle is not visible in it.
        std::uint64_t visible(bool by_stamp) const {
            return by_stamp && written == e.now() ? before : now_value;
        }
    } w(e);
    struct reader : tickable {
        engine& e;
        const writer& w;
        trace& t;
        bool stamped;
        reader(engine& owner, const writer& source, trace& target, bool by_stamp)
            : e(owner), w(source), t(target), stamped(by_stamp) {
            e.add(*this);
        }
        void tick() override {
            t.emplace_back(e.now(), 0, 1, w.visible(stamped));
            e.wake_at(*this, e.now() + 1);
        }
    } r(e, w, t, stamped);
    e.set_order_seed(order_seed);
    e.reset(engine_kind::wheel);
    e.wake_at(w, 1);
    e.wake_at(r, 1);
    e.run_to(100);
    return t;
}

}  // namespace

TEST_CASE("engine network: a shared variable without stamps depends on the order, with stamps it does not") {
    std::set<trace> unstamped, stamped;
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
        unstamped.insert(run_shared(seed, false));
        stamped.insert(run_shared(seed, true));
    }
    CHECK(unstamped.size() == 2);
    CHECK(stamped.size() == 1);
}
