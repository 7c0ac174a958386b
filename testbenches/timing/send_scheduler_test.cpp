// Cycle contract of the send scheduler and the send gate: docs/microarchitecture.md, "Send scheduler and send
// gate".
#include "model/send_scheduler/send_scheduler.h"

#include <map>
#include <random>

#include "testbenches/timing/block_bench.h"
#include "testbenches/unit/catch.h"

namespace {

using namespace hcasim;        // NOLINT
using namespace hcasim::test;  // NOLINT
using ib::qp_state;
using hold_t = scheduler_update::hold_t;

constexpr engine_kind both[] = {engine_kind::wheel, engine_kind::poll};

struct scheduler_bench : block_bench {
    send_scheduler block{"send_scheduler", domain};
    stimulus<send_doorbell> doorbell{*this, "doorbell", block.doorbell_i};
    stimulus<state_event> state{*this, "state", block.state_i};
    stimulus<scheduler_update> update{*this, "update", block.update_i};
    capture<send_grant> grant{*this, "grant", block.grant_o};
    send_scheduler_config config;

    void change(cycle_t visible, std::uint32_t qpn, qp_state to, bool created = false, std::uint8_t sl = 0) {
        state_event e;
        e.qpn = qpn;
        e.state = to;
        e.gate = to == qp_state::rts                          ? gate_state::open
                 : to == qp_state::err || to == qp_state::sqe ? gate_state::flush
                                                              : gate_state::closed;
        e.sl_class = sl;
        e.created = created;
        state.visible_at(visible, e);
    }
    /// The engine is done with a grant.
    void end(cycle_t visible, std::uint32_t qpn, hold_t hold = hold_t::keep) {
        scheduler_update u;
        u.qpn = qpn;
        u.end_service = true;
        u.hold = hold;
        update.visible_at(visible, u);
    }
    std::vector<std::uint32_t> granted() const {
        std::vector<std::uint32_t> all;
        for (const auto& e : grant.seen) {
            all.push_back(e.value.qpn);
        }
        return all;
    }

protected:
    void reset_block() override { block.reset(config, 64); }
};

}  // namespace

TEST_CASE("send scheduler: doorbell visible at d, gate open: grant visible at d + 2") {
    scheduler_bench b;
    for (const engine_kind kind : both) {
        b.start(kind);
        b.change(10, 5, qp_state::init, true);
        b.change(11, 5, qp_state::rts);
        const cycle_t d = 20;
        b.doorbell.visible_at(d, {5, 6});
        b.run_to(100);
        REQUIRE(b.grant.seen.size() == 1);
        CHECK(b.grant.seen[0].cycle == d + 2);
        CHECK(b.grant.seen[0].value.first == 0);
        CHECK(b.grant.seen[0].value.count == 4);  // burst
        CHECK_FALSE(b.grant.seen[0].value.flush);
        b.end(110, 5);
        b.run_to(200);
        REQUIRE(b.grant.seen.size() == 2);
        CHECK(b.grant.seen[1].cycle == 112);
        CHECK(b.grant.seen[1].value.first == 4);
        CHECK(b.grant.seen[1].value.count == 2);
        b.end(210, 5);
        b.run_to(300);
        CHECK(b.grant.seen.size() == 2);
    }
}

TEST_CASE(
    "send scheduler: doorbell against gate opening, -8 to +8 cycles: one grant, pushed at max(d, s) + 1") {
    scheduler_bench b;
    for (const gate_location location : {gate_location::on_chip, gate_location::context}) {
        for (const engine_kind kind : both) {
            for (int offset = -8; offset <= 8; ++offset) {
                b.config.location = location;
                b.start(kind);
                b.change(5, 5, qp_state::init, true);
                b.change(6, 5, qp_state::rtr);
                const cycle_t s = 40;
                const cycle_t d = static_cast<cycle_t>(40 + offset);
                b.doorbell.visible_at(d, {5, 1});
                b.change(s, 5, qp_state::rts);
                CAPTURE(offset);
                if (location == gate_location::context && offset < 0) {
                    // The engine fetches the context, finds RTR, and gives the grant back 4 cycles after it
                    // saw it. In the meantime, or after it, the gate is opened; either way the QP is granted
                    // again.
                    scheduler_update u;
                    u.qpn = 5;
                    u.end_service = true;
                    u.gate_was_closed = true;
                    u.set_consumer = true;
                    u.consumer = 0;
                    const cycle_t back = d + 2 + 4;
                    b.update.visible_at(back, u);
                    b.run_to(100);
                    REQUIRE(b.grant.seen.size() == 2);
                    CHECK(b.grant.seen[0].cycle == d + 2);
                    CHECK(b.grant.seen[1].cycle == std::max(back, s) + 2);
                    continue;
                }
                b.run_to(100);
                REQUIRE(b.grant.seen.size() == 1);
                CHECK(b.grant.seen[0].cycle == std::max(d, s) + 2);
            }
        }
    }
}

TEST_CASE("send scheduler: a doorbell in RTR sets pending and nothing more") {
    scheduler_bench b;
    b.start();
    b.change(5, 5, qp_state::init, true);
    b.change(6, 5, qp_state::rtr);
    b.doorbell.visible_at(20, {5, 3});
    b.run_to(1000);
    CHECK(b.grant.seen.empty());
    CHECK(b.block.is_pending(5));
    CHECK_FALSE(b.block.gate_is_open(5));
    CHECK(b.block.counters().doorbells_closed == 1);
}

TEST_CASE("send scheduler: closing at s: the last grant may be pushed at s, none after") {
    scheduler_bench b;
    for (const engine_kind kind : both) {
        for (cycle_t s = 18; s < 26; ++s) {
            b.start(kind);
            b.change(5, 5, qp_state::init, true);
            b.change(6, 5, qp_state::rts);
            b.doorbell.visible_at(20, {5, 1});  // grant pushed at 21
            b.change(s, 5, qp_state::sqd);
            b.run_to(100);
            CAPTURE(s);
            CHECK(b.grant.seen.size() == (s >= 21 ? 1 : 0));
            b.change(110, 5, qp_state::rts);
            b.end(115, 5);
            b.run_to(200);
            CHECK(b.grant.seen.size() == 1);
        }
    }
}

TEST_CASE("send scheduler: ERR grants what is pending with the flush mark, later doorbells too") {
    scheduler_bench b;
    b.start();
    b.change(5, 5, qp_state::init, true);
    b.change(6, 5, qp_state::rtr);
    b.doorbell.visible_at(20, {5, 2});
    b.change(30, 5, qp_state::err);
    b.end(40, 5);
    b.doorbell.visible_at(50, {5, 3});
    b.run_to(100);
    REQUIRE(b.grant.seen.size() == 2);
    CHECK(b.grant.seen[0].cycle == 32);
    CHECK(b.grant.seen[0].value.flush);
    CHECK(b.grant.seen[1].cycle == 52);
    CHECK(b.grant.seen[1].value.first == 2);
    CHECK(b.grant.seen[1].value.flush);
}

TEST_CASE("send scheduler: RESET and create set both indices to 0, doorbells of another QPN do nothing") {
    scheduler_bench b;
    b.start();
    b.change(5, 5, qp_state::init, true);
    b.doorbell.visible_at(10, {5, 7});
    b.doorbell.visible_at(11, {5 + 64, 9});
    b.change(20, 5, qp_state::reset);
    b.change(30, 5, qp_state::rts);
    b.run_to(100);
    CHECK(b.grant.seen.empty());
    CHECK(b.block.counters().stale_doorbells == 1);
    b.doorbell.visible_at(110, {5, 1});
    b.doorbell.visible_at(111, {5, 1});       // again
    b.doorbell.visible_at(112, {5, 0x9000});  // behind by the 16-bit window
    b.run_to(200);
    REQUIRE(b.grant.seen.size() == 1);
    CHECK(b.grant.seen[0].value.first == 0);
    CHECK(b.grant.seen[0].value.count == 1);
    CHECK(b.block.counters().stale_doorbells == 3);
    b.change(210, 5 + 64, qp_state::init, true);
    b.change(211, 5 + 64, qp_state::rts);
    b.doorbell.visible_at(220, {5 + 64, 2});
    b.run_to(300);
    // The slot is still in service for the old QP until its update comes.
    CHECK(b.grant.seen.size() == 1);
    b.end(310, 5);
    b.run_to(400);
    REQUIRE(b.grant.seen.size() == 2);
    CHECK(b.grant.seen[1].cycle == 312);
    CHECK(b.grant.seen[1].value.qpn == 5 + 64);
}

TEST_CASE("send scheduler: hold, release, set_consumer") {
    scheduler_bench b;
    b.start();
    b.change(5, 5, qp_state::init, true);
    b.change(6, 5, qp_state::rts);
    b.doorbell.visible_at(20, {5, 8});
    scheduler_update u;
    u.qpn = 5;
    u.end_service = true;
    u.set_consumer = true;
    u.consumer = 2;
    u.hold = hold_t::hold;
    b.update.visible_at(30, u);
    b.run_to(100);
    CHECK(b.grant.seen.size() == 1);
    scheduler_update release;
    release.qpn = 5;
    release.hold = hold_t::release;
    b.update.visible_at(110, release);
    b.run_to(200);
    REQUIRE(b.grant.seen.size() == 2);
    CHECK(b.grant.seen[1].cycle == 112);
    CHECK(b.grant.seen[1].value.first == 2);
    // Go-back-N while in service: granted from there as soon as the service ends.
    scheduler_update back;
    back.qpn = 5;
    back.set_consumer = true;
    back.consumer = 0;
    b.update.visible_at(210, back);
    b.end(220, 5);
    b.run_to(300);
    REQUIRE(b.grant.seen.size() == 3);
    CHECK(b.grant.seen[2].cycle == 222);
    CHECK(b.grant.seen[2].value.first == 0);
    // A hold does not stand against a flush.
    b.end(310, 5, hold_t::hold);
    b.change(320, 5, qp_state::err);
    b.run_to(400);
    REQUIRE(b.grant.seen.size() == 4);
    CHECK(b.grant.seen[3].cycle == 322);
}

TEST_CASE("send scheduler: a full grant channel holds the arbiter, one grant per cycle") {
    scheduler_bench b;
    for (const engine_kind kind : both) {
        b.start(kind);
        for (std::uint32_t q = 0; q < 8; ++q) {
            b.change(10 + 2 * q, q, qp_state::init, true);
            b.change(11 + 2 * q, q, qp_state::rts);
        }
        b.grant.closed_until(100);
        for (std::uint32_t q = 0; q < 8; ++q) {
            b.doorbell.visible_at(50 + q, {q, 1});
        }
        b.run_to(200);
        std::vector<cycle_t> expected;
        for (cycle_t i = 0; i < 8; ++i) {
            expected.push_back(100 + i);
        }
        CHECK(b.grant.cycles() == expected);
    }
}

namespace {

// All QPs pending with many WQEs; the engine ends each grant in the cycle in which it sees it. Returns the
// order of the first `n` grants after all are pending.
std::vector<std::uint32_t> order(scheduler_bench& b,
                                 const std::vector<std::pair<std::uint32_t, std::uint8_t>>& qps,
                                 std::size_t n) {
    b.config.burst = 1;
    b.start();
    cycle_t at = 5;
    for (const auto& [qpn, sl] : qps) {
        b.change(at++, qpn, qp_state::init, true, sl);
    }
    for (const auto& [qpn, sl] : qps) {
        b.doorbell.visible_at(at, {qpn, 1000});
        ++at;
    }
    // Opened while the grant channel is closed to the first two: they are the first two in the order of
    // opening.
    for (const auto& [qpn, sl] : qps) {
        b.change(at++, qpn, qp_state::rts, false, sl);
    }
    b.grant.closed_until(at + 50);
    b.grant.then = [&b](const send_grant& g, cycle_t now) { b.end(now + 2, g.qpn); };
    b.run_to(at + 400);
    b.grant.then = {};
    std::vector<std::uint32_t> all = b.granted();
    all.erase(all.begin(), all.begin() + 2);
    all.resize(n);
    return all;
}

}  // namespace

TEST_CASE("send scheduler: round robin by slot, by hand") {
    scheduler_bench b;
    // 3 and 7 are granted first (they open first). The search then begins behind 7: 20, 41, 3, 7, 20 ...
    CHECK(order(b, {{3, 0}, {7, 0}, {20, 0}, {41, 0}}, 8) ==
          std::vector<std::uint32_t>{20, 41, 3, 7, 20, 41, 3, 7});
}

TEST_CASE("send scheduler: strict priority, by hand") {
    scheduler_bench b;
    b.config.arbitration = arbitration_policy::strict;
    // Service level 2 wins whenever it is eligible: a grant of a QP takes 4 cycles (visible +1, end +2,
    // eligible +1), so with two of them each second place is free for the lower ones, highest first.
    const auto seen = order(b, {{3, 0}, {7, 0}, {20, 2}, {41, 2}, {42, 1}}, 9);
    CHECK(seen[0] == 20);
    CHECK(seen[1] == 41);
    CHECK(seen[2] == 42);
}

TEST_CASE("send scheduler: weighted turns, by hand") {
    scheduler_bench b;
    b.config.arbitration = arbitration_policy::weighted;
    b.config.weight = {1, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    std::vector<std::pair<std::uint32_t, std::uint8_t>> qps;
    for (std::uint32_t i = 0; i < 8; ++i) {
        qps.emplace_back(i, 0);       // 0..7 at level 0
        qps.emplace_back(16 + i, 1);  // 16..23 at level 1
    }
    const auto seen = order(b, qps, 18);
    // Turns of one grant of level 0 and two of level 1, whatever the phase.
    std::size_t level_1 = 0;
    for (std::size_t i = 0; i < 18; ++i) {
        level_1 += seen[i] >= 16 ? 1 : 0;
        if (i >= 2) {
            CHECK((seen[i] >= 16) + (seen[i - 1] >= 16) + (seen[i - 2] >= 16) == 2);
        }
    }
    CHECK(level_1 == 12);
}

TEST_CASE(
    "send scheduler: gate bits in the context: parked until a state event, not parked when it came during "
    "the service") {
    scheduler_bench b;
    b.config.location = gate_location::context;
    b.start();
    b.change(5, 5, qp_state::init, true);
    b.change(6, 5, qp_state::rtr);
    b.doorbell.visible_at(20, {5, 1});
    scheduler_update u;
    u.qpn = 5;
    u.end_service = true;
    u.gate_was_closed = true;
    u.set_consumer = true;
    b.update.visible_at(40, u);
    b.run_to(100);
    CHECK(b.grant.cycles() == std::vector<cycle_t>{22});
    CHECK(b.block.counters().closed_grants == 1);
    b.doorbell.visible_at(110, {5, 2});  // a doorbell does not end it
    b.run_to(150);
    CHECK(b.grant.seen.size() == 1);
    b.change(160, 5, qp_state::rts);
    b.run_to(200);
    REQUIRE(b.grant.seen.size() == 2);
    CHECK(b.grant.seen[1].cycle == 162);
    CHECK(b.grant.seen[1].value.count == 2);
}

TEST_CASE("send scheduler: no lost wake-up under back-pressure, wheel and poll identical") {
    scheduler_bench b;
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
        std::vector<cycle_t> cycles[2];
        for (const engine_kind kind : both) {
            b.start(kind, 300, seed);
            std::mt19937_64 random(seed);
            std::map<std::uint32_t, std::uint32_t> wqes;
            b.grant.then = [&](const send_grant& g, cycle_t at) {
                CHECK(g.first == wqes[g.qpn]);
                wqes[g.qpn] += g.count;
                b.end(at + 2 + g.qpn % 5, g.qpn);
            };
            for (std::uint32_t q = 0; q < 12; ++q) {
                b.change(10 + q, q, qp_state::init, true);
            }
            for (std::uint32_t q = 0; q < 12; ++q) {
                const cycle_t near = 100 + 40 * q;
                b.doorbell.visible_at(near + random() % 9, {q, static_cast<std::uint16_t>(3 + q)});
                b.change(near + random() % 9, q, qp_state::rts);
                b.doorbell.visible_at(near + 10 + random() % 20, {q, static_cast<std::uint16_t>(9 + q)});
            }
            b.run_to(3000);
            b.grant.then = {};
            for (std::uint32_t q = 0; q < 12; ++q) {
                CHECK(wqes[q] == 9 + q);
            }
            cycles[kind == engine_kind::poll] = b.grant.cycles();
        }
        CHECK(cycles[0] == cycles[1]);
    }
}
