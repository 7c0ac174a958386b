// Cycle contract of the doorbell unit: docs/microarchitecture.md, "Doorbell unit".
#include "model/doorbell_unit/doorbell_unit.h"

#include <map>
#include <random>

#include "model/ib/psn.h"
#include "testbenches/timing/block_bench.h"
#include "testbenches/unit/catch.h"

namespace {

using namespace hcasim;        // NOLINT
using namespace hcasim::test;  // NOLINT
using ib::doorbell_type;

constexpr engine_kind both[] = {engine_kind::wheel, engine_kind::poll};

struct doorbell_bench : block_bench {
    doorbell_unit block{"doorbell_unit", domain};
    stimulus<doorbell_write> write{*this, "write", block.write_i};
    capture<send_doorbell> send{*this, "send", block.send_o};
    capture<receive_doorbell> receive{*this, "receive", block.receive_o};
    capture<cq_doorbell> cq{*this, "cq", block.cq_o};
    doorbell_unit_config config;

    void ring(cycle_t visible, std::uint32_t number, std::uint16_t index,
              doorbell_type type = doorbell_type::send_queue) {
        write.visible_at(visible, {ib::encode(ib::doorbell{type, number, index})});
    }
    /// The k-th doorbell that went to the scheduler.
    std::pair<std::uint32_t, std::uint32_t> sent(std::size_t k) const {
        return {send.seen[k].value.qpn, send.seen[k].value.producer};
    }

protected:
    void reset_block() override { block.reset(config, 64); }
};

using pair = std::pair<std::uint32_t, std::uint32_t>;

}  // namespace

TEST_CASE("doorbell unit: an idle unit takes two cycles") {
    doorbell_bench b;
    for (const engine_kind kind : both) {
        b.start(kind);
        const cycle_t r = 20;
        b.ring(r, 5, 1);
        b.run_to(r + 1);
        CHECK(b.send.seen.empty());
        b.run_to(r + 2);
        CHECK(b.send.cycles() == std::vector<cycle_t>{r + 2});
        CHECK(b.sent(0) == pair{5, 1});
    }
}

TEST_CASE("doorbell unit: one doorbell per cycle passes, of all types") {
    doorbell_bench b;
    b.start();
    for (std::uint32_t i = 0; i < 10; ++i) {
        b.ring(20 + i, i, 1);
    }
    b.ring(40, 7, 9, doorbell_type::receive_queue);
    b.ring(41, 8, 9, doorbell_type::arm_cq);
    b.write.visible_at(42, {std::uint64_t{77} << 56});
    b.run_to(100);
    for (std::uint32_t i = 0; i < 10; ++i) {
        CHECK(b.send.seen[i].cycle == 22 + i);
    }
    CHECK(b.receive.cycles() == std::vector<cycle_t>{41});
    CHECK(b.cq.cycles() == std::vector<cycle_t>{42});
    CHECK(b.block.counters().unknown == 1);
    CHECK(b.block.counters().received == 13);
}

TEST_CASE("doorbell unit: a QP that waits in the FIFO only moves its index, and only forward") {
    doorbell_bench b;
    for (const engine_kind kind : both) {
        b.start(kind);
        b.send.closed_until(200);
        // Two places in the channel, then the FIFO.
        b.ring(20, 1, 1);
        b.ring(21, 2, 1);
        b.ring(22, 3, 1);
        b.ring(23, 4, 1);
        b.ring(30, 3, 7);
        b.ring(31, 3, 5);       // stale
        b.ring(32, 4, 0xfff0);  // 16-bit window: behind 1
        b.run_to(300);
        REQUIRE(b.send.seen.size() == 4);
        CHECK(b.sent(2) == pair{3, 7});
        CHECK(b.sent(3) == pair{4, 1});
        CHECK(b.block.counters().coalesced == 1);
        CHECK(b.block.counters().stale == 2);
        CHECK(b.block.fifo_level() == 0);
    }
}

TEST_CASE("doorbell unit: an entry that leaves at n cannot be merged into at n") {
    doorbell_bench b;
    b.start();
    b.ring(20, 5, 1);
    b.ring(21, 5, 2);  // the entry leaves at 21: a new one
    b.run_to(100);
    REQUIRE(b.send.seen.size() == 2);
    CHECK(b.sent(0) == pair{5, 1});
    CHECK(b.send.cycles() == std::vector<cycle_t>{22, 23});
}

TEST_CASE("doorbell unit: a full FIFO stalls the MMIO path, a place freed at n is used at n + 1") {
    doorbell_bench b;
    for (const engine_kind kind : both) {
        b.config.fifo_depth = 2;
        b.start(kind);
        const cycle_t open = 200;
        b.send.closed_until(open);
        for (std::uint32_t i = 0; i < 8; ++i) {
            b.ring(20 + i, i, 1);
        }
        b.run_to(150);
        // 0 and 1 in the channel, 2 and 3 in the FIFO, 4 and 5 in the channel of the input: 6 and 7 have not
        // been pushed.
        CHECK(b.write.waiting() == 2);
        CHECK(b.block.counters().full_events == 1);
        CHECK(b.block.fifo_level() == 2);
        b.run_to(400);
        // The capture takes QP 0 at 200, the channel has room at 201: QP 2 leaves the FIFO at 201. QP 4
        // enters at 202, the input has room at 203.
        CHECK(b.write.pushed[6] == open + 3);
        REQUIRE(b.send.seen.size() == 8);
        for (std::uint32_t i = 0; i < 8; ++i) {
            CHECK(b.send.seen[i].cycle == open + i);
            CHECK(b.sent(i) == pair{i, 1});
        }
    }
}

TEST_CASE("doorbell unit: a QP that is in a full FIFO is merged, not stalled") {
    doorbell_bench b;
    b.config.fifo_depth = 1;
    b.start();
    b.send.closed_until(200);
    b.ring(20, 1, 1);
    b.ring(21, 2, 1);
    b.ring(22, 3, 1);
    b.run_to(50);
    const std::uint64_t full_events = b.block.counters().full_events;
    b.ring(60, 3, 2);
    b.run_to(100);
    CHECK(b.block.counters().coalesced == 1);
    CHECK(b.block.counters().full_events == full_events);
}

TEST_CASE("doorbell unit: without coalescing every doorbell has its place") {
    doorbell_bench b;
    b.config.coalesce = false;
    b.start();
    b.send.closed_until(200);
    for (std::uint16_t i = 1; i <= 6; ++i) {
        b.ring(20u + i, 5, i);
    }
    b.run_to(300);
    REQUIRE(b.send.seen.size() == 6);
    CHECK(b.sent(5) == pair{5, 6});
}

TEST_CASE("doorbell unit: under back-pressure no index is lost and none goes back") {
    doorbell_bench b;
    b.config.fifo_depth = 4;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        std::vector<cycle_t> cycles[2];
        for (const engine_kind kind : both) {
            b.start(kind, 400, seed);
            std::mt19937_64 random(seed);
            std::map<std::uint32_t, std::uint16_t> last;
            for (std::uint32_t i = 0; i < 200; ++i) {
                const auto qpn = static_cast<std::uint32_t>(random() % 9);
                last[qpn] = static_cast<std::uint16_t>(last[qpn] + 1 + random() % 3);
                b.ring(20 + i, qpn, last[qpn]);
            }
            b.run_to(3000);
            std::map<std::uint32_t, std::uint16_t> seen;
            for (const auto& e : b.send.seen) {
                CHECK(ib::index_distance(e.value.producer, seen[e.value.qpn]) > 0);
                seen[e.value.qpn] = e.value.producer;
            }
            CHECK(seen == last);
            cycles[kind == engine_kind::poll] = b.send.cycles();
        }
        CHECK(cycles[0] == cycles[1]);
    }
}
