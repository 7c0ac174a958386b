// The doorbell against the state write, cycle by cycle (scenarios B04, B05).
#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "testbenches/system/contract.h"
#include "testbenches/system/two_hosts.h"
#include "testbenches/unit/catch.h"

using namespace hcasim;
using namespace hcasim::test;
using ib::qp_state;

namespace {

constexpr cycle_t firmware = 100;  // modify_qp_ns = 400

struct race {
    cycle_t doorbell = 0;  // d: seen by the scheduler
    cycle_t state = 0;     // s: seen by the scheduler
    cycle_t first_byte = 0;
};

// Host 1's QP is in RTR with one WQE written. Its doorbell and its modify_qp to RTS are rung so that the
// scheduler sees them at cycles d and s with d - s = offset. `evict_at(s)`, when not 0, is the cycle in which
// another QP's context takes the place of the QP's own in the cache.
race run_race(two_hosts& bench, const bench_config& config, int offset, cycle_t evict_after_state = 0) {
    bench.reset(config);
    test_qp& client = bench.create_qp(0, 2);
    test_qp& server = bench.create_qp(1, 2);
    test_qp& other = bench.create_qp(1, 3);
    bench.pair(client, server);
    other.attributes = server.attributes;
    bench.bring_to(other, qp_state::init);
    bench.bring_to(client, qp_state::rts);
    bench.post_receives(client, 1);
    bench.bring_to(server, qp_state::rtr);
    bench.run_for(1000);
    bench.post_send(server);

    race r;
    const cycle_t modify_at = bench.now() + 50;
    r.state = modify_at + contract::modify_to_state(firmware);
    r.doorbell = r.state + static_cast<cycle_t>(static_cast<std::int64_t>(offset));
    const cycle_t doorbell_at = r.doorbell - contract::doorbell_to_scheduler;
    std::vector<std::pair<cycle_t, std::function<void()>>> acts;
    acts.emplace_back(modify_at, [&] { bench.start_modify(server, qp_state::rts, ib::rts_attributes_rc); });
    acts.emplace_back(doorbell_at, [&] { bench.ring(server); });
    if (evict_after_state != 0) {
        // A packet to the other QP, which is in INIT and drops it: its look-up misses and the line is
        // installed read(256) later.
        const cycle_t inject_at =
            r.state + evict_after_state - contract::read(256) - contract::injection_to_lookup;
        acts.emplace_back(inject_at,
                          [&] { bench.inject(0, two_hosts::request_to(other, ib::rc_send_only, 0), 0); });
    }
    std::sort(acts.begin(), acts.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [cycle, act] : acts) {
        bench.run_to(cycle);
        act();
    }
    bench.run_until_idle();

    const host_watch& watch = bench.host(1).watch;
    CHECK(watch.stage_of(server.qpn, 0, stage::pending) == r.doorbell);
    const auto sent = bench.requests_of(server);
    REQUIRE(sent.size() == 1);  // transmitted, and only once
    CHECK(sent[0].h.psn == server.attributes.sq_psn);
    CHECK(server.send_statuses() == statuses(1, ib::wc_status::success));
    CHECK(client.received == numbers(1));
    r.first_byte = sent[0].first_byte;
    bench.check();
    return r;
}

}  // namespace

TEST_CASE("B04 on chip: one transmission at max(d, s) + 265 for every offset of the doorbell", "[gate]") {
    two_hosts bench;
    for (int offset = -8; offset <= 8; ++offset) {
        INFO("doorbell - state = " << offset);
        const race r = run_race(bench, bench_config{}, offset);
        const auto& gates = bench.host(1).watch.gates;
        REQUIRE(!gates.empty());
        CHECK(gates.back().cycle == r.state);
        CHECK(r.first_byte == std::max(r.doorbell, r.state) + contract::eligible_to_wire);
    }
}

TEST_CASE("B04 on chip, context evicted behind the state write: a miss later, and once", "[gate]") {
    two_hosts bench;
    bench_config config;
    config.hca.qp_context_cache.sets = 1;
    config.hca.qp_context_cache.ways = 1;
    for (int offset = -8; offset <= 8; ++offset) {
        INFO("doorbell - state = " << offset);
        const race r = run_race(bench, config, offset, 1);
        CHECK(r.first_byte ==
              std::max(r.doorbell, r.state) + contract::eligible_to_wire + contract::miss_penalty);
    }
}

TEST_CASE("B04 gate bit in the context: one transmission for every offset of the doorbell", "[gate]") {
    two_hosts bench;
    bench_config config;
    config.hca.send_scheduler.location = gate_location::context;
    for (int offset = -8; offset <= 8; ++offset) {
        INFO("doorbell - state = " << offset);
        const race r = run_race(bench, config, offset);
        // The context is looked up at d + 3 whatever the gate is, the state is written at s - 1. Read after
        // the write, the grant goes on; read before it, it goes back: there 7 cycles after the doorbell
        // (context at d + 6, update 1), and the QP is eligible again then or at s.
        const cycle_t lookup = r.doorbell + contract::eligible_to_context_request + 1;
        if (lookup > r.state - 1) {
            CHECK(r.first_byte == r.doorbell + contract::eligible_to_wire);
        } else if (lookup < r.state - 1) {
            const cycle_t back = r.doorbell + contract::eligible_to_context + 1;
            CHECK(r.first_byte == std::max(back, r.state) + contract::eligible_to_wire);
        } else {
            // Both want the arrays in this cycle; it was the send engine's turn, so it reads before the
            // write.
            CHECK(r.first_byte ==
                  r.doorbell + contract::eligible_to_context + 1 + contract::eligible_to_wire);
        }
    }
}

TEST_CASE("B04 gate bit in an evicted context: one transmission for every offset of the doorbell", "[gate]") {
    two_hosts bench;
    bench_config config;
    config.hca.send_scheduler.location = gate_location::context;
    config.hca.qp_context_cache.sets = 1;
    config.hca.qp_context_cache.ways = 1;
    for (cycle_t evict_after_state : {0u, 1u, 2u, 4u}) {
        for (int offset = -8; offset <= 8; ++offset) {
            INFO("doorbell - state = " << offset << ", evicted " << evict_after_state << " after the state");
            const race r = run_race(bench, config, offset, evict_after_state);
            // At most a grant that comes back and one miss more than with the bit on chip.
            CHECK(r.first_byte <= std::max(r.doorbell, r.state) + contract::eligible_to_wire +
                                      contract::eligible_to_context + 1 + 2 * contract::miss_penalty);
        }
    }
}
