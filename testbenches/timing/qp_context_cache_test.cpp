// Cycle contract of the QP context cache: docs/microarchitecture.md, "QP context cache".
#include "model/qp_context_cache/qp_context_cache.h"

#include <map>
#include <random>

#include "testbenches/timing/block_bench.h"
#include "testbenches/unit/catch.h"

namespace {

using namespace hcasim;        // NOLINT
using namespace hcasim::test;  // NOLINT
using ib::qp_state;

constexpr engine_kind both[] = {engine_kind::wheel, engine_kind::poll};
constexpr std::uint64_t contexts = 0x10000;

struct cache_bench : block_bench {
    using qc = qp_context_cache;
    ib::packet_pool pool;
    qp_context_cache block{"cache", domain, pool};
    stimulus<qpc_request> send{*this, "send", block.request_i[qc::send_client]};
    stimulus<qpc_request> receive{*this, "receive", block.request_i[qc::receive_client]};
    stimulus<qpc_request> command{*this, "command", block.request_i[qc::command_client]};
    capture<qpc_response> to_send{*this, "to_send", block.response_o[qc::send_client]};
    capture<qpc_response> to_receive{*this, "to_receive", block.response_o[qc::receive_client]};
    capture<qpc_response> to_command{*this, "to_command", block.response_o[qc::command_client]};
    capture<state_event> scheduler{*this, "scheduler", block.state_o[qc::to_scheduler]};
    capture<state_event> engine_state{*this, "send_state", block.state_o[qc::to_send]};
    capture<state_event> receive_state{*this, "receive_state", block.state_o[qc::to_receive]};
    fixed_latency_memory memory{*this, block.fill_o, block.fill_i, 50};
    capture<dma_write> writeback{*this, "writeback", block.writeback_o};
    qp_context_cache_config config;

    cache_bench() {
        // As the host interface has it: a write of the cache goes before any read of the cache.
        memory.requests.hold = [this] { return writeback.wire.core().has_visible(); };
        writeback.then = [this](const dma_write& w, cycle_t) {
            std::memcpy(&memory.bytes[w.address], w.data, w.bytes);
            pool.put(w.packet);
        };
    }
    static qpc_request read(std::uint32_t qpn) {
        qpc_request r;
        r.operation = qpc_operation::read;
        r.qpn = qpn;
        r.cookie = qpn;
        return r;
    }
    /// Reads one context after another, each alone; returns the slots that were fetched.
    std::vector<std::uint64_t> fetched(const std::vector<std::uint32_t>& qpns) {
        memory.requests.seen.clear();
        for (const std::uint32_t qpn : qpns) {
            send.visible_at(domain.now() + 5, read(qpn));
            run_to(domain.now() + 100);
        }
        std::vector<std::uint64_t> slots;
        for (const auto& e : memory.requests.seen) {
            slots.push_back((e.value.address - contexts) / ib::qp_context_slot_bytes);
        }
        return slots;
    }

protected:
    void reset_block() override {
        pool.reclaim();
        std::fill(memory.bytes.begin(), memory.bytes.end(), std::uint8_t{0});
        for (std::uint32_t slot = 0; slot < 64; ++slot) {
            ib::qp_context c;
            c.qpn = slot;
            c.valid = 1;
            c.state = qp_state::rtr;
            c.requester.next_psn = 1000 + slot;
            memory.put(contexts + slot * ib::qp_context_slot_bytes, c);
        }
        block.reset(config, 64, contexts);
    }
};

// Visible response of a miss that is looked up at n, with M cycles of memory: the answer is here at f = n + 1
// + M + 1, the request is looked up at f + 1.
struct miss_walk {
    cycle_t n, memory, hit_cycles;
    cycle_t filled() const { return n + 1 + memory + 1; }
    cycle_t response() const { return filled() + 1 + hit_cycles + 1; }
};

}  // namespace

TEST_CASE("context cache: miss, then hit") {
    cache_bench b;
    for (const engine_kind kind : both) {
        for (std::uint32_t hit_cycles : {1u, 2u, 5u}) {
            b.config.hit_cycles = hit_cycles;
            b.start(kind);
            const miss_walk t{20, b.memory.cycles(), hit_cycles};
            b.send.visible_at(t.n, b.read(3));
            b.send.visible_at(200, b.read(3));
            b.run_to(300);
            CHECK(b.memory.requests.cycles() == std::vector<cycle_t>{t.n + 1});
            CHECK(b.to_send.cycles() == std::vector<cycle_t>{t.response(), 200 + hit_cycles + 1});
            CHECK_FALSE(b.to_send.seen[0].value.was_hit);
            CHECK(b.to_send.seen[1].value.was_hit);
            CHECK(b.to_send.seen[1].value.context.requester.next_psn == 1003);
        }
    }
}

TEST_CASE("context cache: hits follow each other, one per cycle, clients take turns") {
    cache_bench b;
    b.start();
    b.send.visible_at(20, b.read(3));
    b.run_to(150);
    b.to_send.seen.clear();
    for (cycle_t i = 0; i < 4; ++i) {
        b.send.visible_at(200 + i, b.read(3));
    }
    b.run_to(300);
    CHECK(b.to_send.cycles() == std::vector<cycle_t>{203, 204, 205, 206});
    // All three at once: the turn is behind the send engine, which was served last.
    b.send.visible_at(400, b.read(3));
    b.receive.visible_at(400, b.read(3));
    b.command.visible_at(400, b.read(3));
    b.run_to(500);
    CHECK(b.to_receive.cycles() == std::vector<cycle_t>{403});
    CHECK(b.to_command.cycles() == std::vector<cycle_t>{404});
    CHECK(b.to_send.cycles().back() == 405);
}

TEST_CASE(
    "context cache: requests for a slot under way are merged and served after the fill, in order of "
    "arrival") {
    cache_bench b;
    b.start();
    const miss_walk t{20, b.memory.cycles(), 2};
    b.receive.visible_at(t.n, b.read(3));
    b.send.visible_at(t.n + 5, b.read(3));
    qpc_request w;
    w.operation = qpc_operation::write_requester;
    w.qpn = 3;
    w.requester.next_psn = 7777;
    b.send.visible_at(t.n + 6, w);
    b.receive.visible_at(t.n + 7, b.read(3));
    b.run_to(200);
    CHECK(b.memory.requests.seen.size() == 1);
    CHECK(b.block.counters().merged == 3);
    REQUIRE(b.to_receive.cycles() == std::vector<cycle_t>{t.response(), t.response() + 3});
    CHECK(b.to_send.cycles() == std::vector<cycle_t>{t.response() + 1});
    CHECK(b.to_send.seen[0].value.context.requester.next_psn == 1003);
    CHECK(b.to_receive.seen[1].value.context.requester.next_psn == 7777);
}

TEST_CASE("context cache: a miss does not hold up hits, misses_outstanding bounds the fills") {
    cache_bench b;
    b.config.misses_outstanding = 2;
    b.start();
    b.receive.visible_at(10, b.read(9));
    b.run_to(100);
    const miss_walk t{200, b.memory.cycles(), 2};
    b.send.visible_at(t.n, b.read(3));
    b.send.visible_at(t.n + 1, b.read(4));
    b.send.visible_at(t.n + 2, b.read(5));  // no entry is free: waits
    b.receive.visible_at(t.n + 4, b.read(9));
    b.run_to(400);
    CHECK(b.to_receive.cycles().back() == t.n + 4 + 3);
    // The first fill is installed at f; the arrays are busy at f (install) and f + 1 (its request); the third
    // is looked up at f + 2. The fill of the second comes at f + 1 and waits until nothing is to be served:
    // installed at f + 2.
    REQUIRE(b.memory.requests.seen.size() == 4);
    CHECK(b.to_send.cycles()[0] == t.response());
    CHECK(b.to_send.cycles()[1] == t.response() + 2);
    CHECK(b.memory.requests.seen[3].cycle == t.filled() + 4 + 1);
    CHECK(b.to_send.seen.size() == 3);
}

TEST_CASE(
    "context cache: waiting_requests bounds those that wait for a fill or for their turn, hits of others "
    "pass") {
    cache_bench b;
    for (const engine_kind kind : both) {
        b.config.waiting_requests = 3;
        b.start(kind);
        b.command.visible_at(10, b.read(9));
        b.run_to(100);
        const miss_walk t{200, b.memory.cycles(), 2};
        b.send.visible_at(t.n, b.read(3));         // waits for its fill
        b.receive.visible_at(t.n + 1, b.read(3));  // merged: two wait
        b.send.visible_at(t.n + 2, b.read(4));     // three
        b.send.visible_at(t.n + 3, b.read(5));  // stays in its channel, and so does one that would be merged
        b.receive.visible_at(t.n + 4, b.read(3));
        b.command.visible_at(t.n + 5, b.read(9));
        b.run_to(400);
        CHECK(b.block.counters().merged == 1);
        CHECK(b.to_command.cycles().back() == t.n + 5 + 3);
        // 3 is installed at f and answers at f + 1 and f + 2; 4, here at f + 2, is installed at f + 3 and
        // answers at f + 4. The clients' turn comes at f + 5, behind the command unit: 5 is a miss, 3 a hit
        // by now.
        const cycle_t f = t.filled();
        REQUIRE(b.memory.requests.seen.size() == 4);
        CHECK(b.memory.requests.cycles().back() == f + 5 + 1);
        REQUIRE(b.to_send.seen.size() == 3);
        CHECK(b.to_send.cycles()[0] == f + 1 + 3);
        CHECK(b.to_send.cycles()[1] == f + 4 + 3);
        REQUIRE(b.to_receive.seen.size() == 2);
        CHECK(b.to_receive.cycles() == std::vector<cycle_t>{f + 2 + 3, f + 6 + 3});
        CHECK_FALSE(b.to_receive.seen[0].value.was_hit);
        CHECK(b.to_receive.seen[1].value.was_hit);

        b.config.waiting_requests = 1;
        b.start(kind);
        b.send.visible_at(t.n, b.read(3));
        b.receive.visible_at(t.n + 1, b.read(4));  // a miss entry is free, a place to wait is not
        b.run_to(400);
        CHECK(b.memory.requests.cycles() == std::vector<cycle_t>{t.n + 1, f + 2 + 1});
        CHECK(b.to_receive.cycles() ==
              std::vector<cycle_t>{miss_walk{f + 2, b.memory.cycles(), 2}.response()});
    }
}

TEST_CASE("context cache: LRU victims, by hand") {
    cache_bench b;
    b.config.sets = 1;
    b.config.ways = 4;
    b.start();
    CHECK(b.fetched({1, 2, 3, 4}) == std::vector<std::uint64_t>{1, 2, 3, 4});
    CHECK(b.fetched({1, 3}).empty());
    // Least recent first: 2 4 1 3. 5 takes the place of 2, 6 of 4; then 1 3 5 6.
    CHECK(b.fetched({5, 6}) == std::vector<std::uint64_t>{5, 6});
    CHECK(b.fetched({1, 3}).empty());
    CHECK(b.fetched({2}) == std::vector<std::uint64_t>{2});  // takes the place of 5
    CHECK(b.fetched({6, 1, 3, 2}).empty());
    CHECK(b.fetched({5}) == std::vector<std::uint64_t>{5});
    CHECK(b.block.counters().evictions == 4);
    CHECK(b.block.counters().writebacks == 0);
}

TEST_CASE("context cache: tree pseudo-LRU victims, by hand") {
    cache_bench b;
    b.config.sets = 1;
    b.config.ways = 4;
    b.config.replacement = replacement_policy::plru;
    b.start();
    // Ways 0 1 2 3 hold 1 2 3 4. A touch turns the bits on its path away from itself.
    CHECK(b.fetched({1, 2, 3, 4}) == std::vector<std::uint64_t>{1, 2, 3, 4});
    // After 4: root says left, left node says way 0 (2 was last there), right node says way 2. Touch 1: root
    // right, left node way 1.
    CHECK(b.fetched({1}).empty());
    // Victim: root right, right node way 2 = 3. True LRU would take 2.
    CHECK(b.fetched({5}) == std::vector<std::uint64_t>{5});
    CHECK(b.fetched({2, 1, 4}).empty());
    // 2: root right, left node way 0. 1: root right, left node way 1. 4: root left, right node way 2. Victim:
    // left, way 1 = 2.
    CHECK(b.fetched({6}) == std::vector<std::uint64_t>{6});
    CHECK(b.fetched({1, 4, 5, 6}).empty());
    CHECK(b.fetched({2}) == std::vector<std::uint64_t>{2});
}

TEST_CASE(
    "context cache: a dirty victim is written back before its place is used, and comes back with what was "
    "written") {
    cache_bench b;
    b.config.sets = 1;
    b.config.ways = 1;
    b.start();
    qpc_request w;
    w.operation = qpc_operation::write_requester;
    w.qpn = 1;
    w.requester.next_psn = 4242;
    b.send.visible_at(10, w);
    b.run_to(150);
    const miss_walk t{200, b.memory.cycles(), 2};
    b.send.visible_at(t.n, b.read(2));
    b.run_to(300);
    // Written back in the cycle of the install.
    CHECK(b.writeback.cycles() == std::vector<cycle_t>{t.filled() + 1});
    CHECK(b.to_send.cycles().back() == t.response());
    b.send.visible_at(400, b.read(1));
    b.run_to(500);
    CHECK(b.to_send.seen.back().value.context.requester.next_psn == 4242);
    CHECK(b.pool.in_use() == 0);
}

TEST_CASE("context cache: a full write-back channel holds the install, nothing is lost") {
    cache_bench b;
    b.config.sets = 1;
    b.config.ways = 1;
    b.start();
    for (std::uint32_t i = 0; i < 6; ++i) {
        qpc_request w;
        w.operation = qpc_operation::write_requester;
        w.qpn = i + 1;
        w.requester.next_psn = 5000 + i;
        b.send.visible_at(10 + i, w);
    }
    b.writeback.closed_until(800);
    b.run_to(2000);
    for (std::uint32_t i = 0; i < 6; ++i) {
        b.send.visible_at(2010 + i, b.read(i + 1));
    }
    b.run_to(4000);
    REQUIRE(b.to_send.seen.size() == 6);
    for (const auto& e : b.to_send.seen) {
        CHECK(e.value.context.requester.next_psn == 5000 + e.value.cookie - 1);
    }
}

TEST_CASE(
    "context cache: modify tells all three listeners at n + 1, or waits until the last of them has room") {
    cache_bench b;
    for (const engine_kind kind : both) {
        b.start(kind);
        b.command.visible_at(10, b.read(3));
        b.run_to(150);
        qpc_modify m;
        m.from_states = 1u << static_cast<unsigned>(qp_state::rtr);
        m.to = qp_state::rts;
        m.attribute_mask = ib::attr_sq_psn;
        m.attributes.sq_psn = 99;
        qpc_request r;
        r.operation = qpc_operation::modify;
        r.qpn = 3;
        r.modify = &m;
        b.command.visible_at(200, r);
        b.run_to(300);
        CHECK(b.scheduler.cycles() == std::vector<cycle_t>{201});
        CHECK(b.engine_state.cycles() == std::vector<cycle_t>{201});
        CHECK(b.receive_state.cycles() == std::vector<cycle_t>{201});
        CHECK(b.scheduler.seen[0].value.gate == gate_state::open);
        CHECK(b.to_command.cycles().back() == 203);
        CHECK(b.to_command.seen.back().value.applied);
        CHECK(b.to_command.seen.back().value.from == qp_state::rtr);
        CHECK(b.to_command.seen.back().value.context.requester.next_psn == 99);
        // A second time: the state is not one of those it applies to. Nothing changes, above all no PSN.
        m.attributes.sq_psn = 11;
        b.command.visible_at(310, r);
        b.run_to(350);
        CHECK_FALSE(b.to_command.seen.back().value.applied);
        CHECK(b.to_command.seen.back().value.context.requester.next_psn == 99);
        CHECK(b.scheduler.seen.size() == 1);
        // One listener takes nothing until 600: two changes fill its channel, the third waits. None of the
        // others sees it either.
        qpc_modify turns[3];
        const qp_state targets[] = {qp_state::sqd, qp_state::rts, qp_state::err};
        b.receive_state.closed_until(600);
        for (std::size_t i = 0; i < 3; ++i) {
            turns[i].from_states = ~0u;
            turns[i].to = targets[i];
            r.modify = &turns[i];
            b.command.visible_at(400 + i, r);
        }
        b.receive.visible_at(410, b.read(3));  // others are served meanwhile, from the state before the third
        b.run_to(599);
        CHECK(b.scheduler.seen.size() == 3);
        CHECK(b.to_receive.seen.size() == 1);
        CHECK(b.to_receive.seen[0].value.context.state == qp_state::rts);
        b.run_to(700);
        // Popped at 600, free for a push at 601, visible 602.
        REQUIRE(b.scheduler.seen.size() == 4);
        CHECK(b.scheduler.seen[3].cycle == 602);
        CHECK(b.engine_state.seen[3].cycle == 602);
        CHECK(b.receive_state.seen[3].cycle == 602);
        CHECK(b.scheduler.seen[3].value.gate == gate_state::flush);
    }
}

TEST_CASE("context cache: create, a QPN of another life, and writes of a life that has ended") {
    cache_bench b;
    b.start();
    // Slot 3 holds QP 3; QP 67 has the same slot.
    b.send.visible_at(10, b.read(67));
    b.run_to(150);
    CHECK_FALSE(b.to_send.seen[0].value.known);
    ib::qp_context fresh;
    fresh.qpn = 67;
    fresh.valid = 1;
    qpc_request create;
    create.operation = qpc_operation::create;
    create.qpn = 67;
    create.fresh = &fresh;
    b.command.visible_at(200, create);
    b.run_to(250);
    CHECK_FALSE(b.to_command.seen.back().value.applied);  // occupied
    CHECK(b.scheduler.seen.empty());
    qpc_modify destroy;
    destroy.from_states = ~0u;
    destroy.to = qp_state::reset;
    destroy.destroy = true;
    qpc_request d;
    d.operation = qpc_operation::modify;
    d.qpn = 3;
    d.modify = &destroy;
    b.command.visible_at(260, d);
    b.command.visible_at(270, create);
    b.run_to(300);
    CHECK(b.to_command.seen.back().value.applied);
    REQUIRE(b.scheduler.seen.size() == 2);
    CHECK(b.scheduler.seen[0].cycle == 261);
    CHECK(b.scheduler.seen[1].cycle == 271);
    CHECK(b.scheduler.seen[1].value.created);
    b.send.visible_at(310, b.read(3));
    b.send.visible_at(320, b.read(67));
    b.run_to(350);
    CHECK_FALSE(b.to_send.seen[1].value.known);
    REQUIRE(b.to_send.seen[2].value.known);
    // RESET while halves of the old life are on their way.
    qpc_modify reset;
    reset.from_states = ~0u;
    reset.to = qp_state::reset;
    d.qpn = 67;
    d.modify = &reset;
    b.command.visible_at(400, d);
    qpc_request w;
    w.qpn = 67;
    w.operation = qpc_operation::write_requester;
    w.requester = b.to_send.seen[2].value.context.requester;
    w.requester.next_psn = 31;
    b.send.visible_at(401, w);
    w.operation = qpc_operation::write_responder;
    w.responder = b.to_send.seen[2].value.context.responder;
    w.responder.rq_consumer = 32;
    b.receive.visible_at(401, w);
    b.send.visible_at(410, b.read(67));
    b.run_to(450);
    CHECK(b.to_send.seen[3].value.context.requester.next_psn == 0);
    CHECK(b.to_send.seen[3].value.context.responder.rq_consumer == 0);
}

TEST_CASE("context cache: a client that does not take its answers holds up only itself") {
    cache_bench b;
    b.start();
    b.send.visible_at(10, b.read(3));
    b.run_to(150);
    b.to_send.closed_until(600);
    for (cycle_t i = 0; i < 20; ++i) {
        b.send.visible_at(200 + i, b.read(3));
    }
    b.receive.visible_at(400, b.read(3));
    b.run_to(900);
    CHECK(b.to_receive.cycles() == std::vector<cycle_t>{403});
    CHECK(b.to_send.seen.size() == 21);
}

TEST_CASE("context cache: results do not depend on its size, on back-pressure or on the engine") {
    cache_bench b;
    const auto run = [&b](engine_kind kind, std::uint32_t stall, std::uint64_t seed) {
        b.start(kind, stall, seed);
        std::mt19937 random(7);
        // Each client works on QPs of its own, since the order between clients may change.
        for (std::uint32_t i = 0; i < 120; ++i) {
            qpc_request r = b.read(static_cast<std::uint32_t>(random() % 12));
            r.cookie = i;
            if (random() % 3 == 0) {
                r.operation = qpc_operation::write_requester;
                r.requester.next_psn = i;
            }
            b.send.visible_at(20 + i * 3, r);
            qpc_request q = b.read(static_cast<std::uint32_t>(12 + random() % 12));
            q.cookie = i;
            if (random() % 3 == 0) {
                q.operation = qpc_operation::write_responder;
                q.responder.expected_psn = i;
            }
            b.receive.visible_at(20 + i * 3, q);
        }
        b.run_to(20000);
        // The answers for each QP in order; those for different QPs may pass each other.
        std::map<std::uint32_t, std::vector<std::uint64_t>> seen;
        for (const auto& e : b.to_send.seen) {
            seen[e.value.context.qpn].push_back(std::uint64_t{e.value.cookie} << 32 |
                                                e.value.context.requester.next_psn);
        }
        for (const auto& e : b.to_receive.seen) {
            seen[e.value.context.qpn].push_back(std::uint64_t{e.value.cookie} << 32 |
                                                e.value.context.responder.expected_psn);
        }
        CHECK(b.pool.in_use() == 0);
        return seen;
    };
    const auto reference = run(engine_kind::wheel, 0, 1);
    for (const auto policy : {replacement_policy::lru, replacement_policy::plru}) {
        for (const std::uint32_t sets : {1u, 4u, 64u}) {
            for (const std::uint32_t ways : {1u, 2u, 4u}) {
                for (const std::uint32_t misses : {1u, 8u}) {
                    b.config.replacement = policy;
                    b.config.sets = sets;
                    b.config.ways = ways;
                    b.config.misses_outstanding = misses;
                    for (const std::uint32_t stall : {0u, 300u}) {
                        CHECK(run(engine_kind::wheel, stall, sets + ways) == reference);
                        const std::vector<cycle_t> cycles = b.to_send.cycles();
                        CHECK(run(engine_kind::poll, stall, sets + ways) == reference);
                        CHECK(b.to_send.cycles() == cycles);
                    }
                }
            }
        }
    }
}
