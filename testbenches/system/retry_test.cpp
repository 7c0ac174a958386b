// Timers and repeats (scenarios B01, B10, B24).
#include <algorithm>
#include <vector>

#include "testbenches/system/contract.h"
#include "testbenches/system/two_hosts.h"
#include "testbenches/unit/catch.h"

using namespace hcasim;
using namespace hcasim::test;
using ib::qp_state;
using ib::wc_status;

namespace {

constexpr cycle_t firmware = 100;
constexpr cycle_t ack_timer = 4096;  // exponent 4 and shift 2: 1024 * 2^4 / 2^2
/// A SEND of 64 bytes is 90 bytes and 2 of framing, 1.84 cycles of 4X EDR.
constexpr cycle_t send_on_wire = 2;
/// 30 bytes and 2 of framing, 0.64 cycles.
constexpr cycle_t answer_on_wire = 1;

struct pair_of {
    test_qp& client;
    test_qp& server;
};

// Client in RTS; server in INIT with receives.
pair_of set_up(two_hosts& bench, std::uint8_t retry_cnt, std::uint8_t rnr_retry, std::uint32_t receives,
               const bench_config& config = {}) {
    bench.reset(config);
    test_qp& client = bench.create_qp(0, 2);
    test_qp& server = bench.create_qp(1, 5);
    bench.pair(client, server);
    client.attributes.retry_cnt = retry_cnt;
    client.attributes.rnr_retry = rnr_retry;
    bench.to_init(server);
    if (receives != 0) {
        bench.post_receives(server, receives);
    }
    bench.bring_to(client, qp_state::rts);
    bench.run_for(1000);
    return {client, server};
}

constexpr std::uint32_t rtr_mask = ib::attr_av | ib::attr_path_mtu | ib::attr_dest_qpn | ib::attr_rq_psn |
                                   ib::attr_max_dest_rd_atomic | ib::attr_min_rnr_timer;

}  // namespace

TEST_CASE("B01 a SEND to a QP in INIT: resent k times with its PSN until RTR, or until retry_cnt is used up",
          "[retry]") {
    two_hosts bench;
    // The first packet is decided about at a0; the ACK timer starts one cycle before its first byte, and a
    // repeat goes the way of a new grant, one cycle after the expiry.
    const cycle_t period = ack_timer + 1 + contract::eligible_to_wire - 1;
    for (std::uint8_t n : {std::uint8_t{2}, std::uint8_t{7}}) {
        std::vector<cycle_t> readies;
        for (cycle_t k = 0; k <= n + 1u; ++k) {
            for (const std::int64_t offset : {-1, 0, 2, 2000}) {
                readies.push_back(1000 + k * period + static_cast<cycle_t>(offset));
            }
        }
        for (const cycle_t ready : readies) {
            auto [client, server] = set_up(bench, n, 7, 4);
            const cycle_t ring = bench.now() + 300;
            const cycle_t a0 = ring + contract::doorbell_to_scheduler + contract::eligible_to_wire +
                               send_on_wire + contract::last_byte_to_decision;
            // A packet is accepted when its context, which is looked up 3 cycles before the decision, is read
            // after the state was written into it, which is one cycle before r. `ready` - 1000 is how much
            // later than the first packet that ends.
            const cycle_t r = a0 + ready - 1000 - contract::hit_cycles - 1;
            const cycle_t modify = r - contract::modify_to_state(firmware);
            const bool modify_first = modify < ring;
            if (modify_first) {
                bench.run_to(modify);
                bench.start_modify(server, qp_state::rtr, rtr_mask);
            }
            bench.run_to(ring);
            bench.send(client, 1);
            if (!modify_first) {
                bench.run_to(modify);
                bench.start_modify(server, qp_state::rtr, rtr_mask);
            }
            // The smallest k whose packet finds RTR: ceil(R / T').
            const cycle_t k = ready <= 1000 ? 0 : (ready - 1000 + period - 1) / period;
            INFO("retry_cnt " << int{n} << ", RTR " << ready << " - 1000 behind the first packet, k " << k);
            bench.run_until_idle();
            const auto sent = bench.requests_of(client);
            if (k <= n) {
                REQUIRE(sent.size() == 1 + k);
                for (std::size_t i = 0; i < sent.size(); ++i) {
                    CHECK(sent[i].h.psn == client.attributes.sq_psn);
                    CHECK(sent[i].first_byte == sent[0].first_byte + i * period);
                }
                CHECK(client.send_statuses() == statuses(1, wc_status::success));
                CHECK(server.received == numbers(1));
                REQUIRE(bench.host(1).watch.comm_ests.size() == 1);
                CHECK(bench.host(1).watch.comm_ests[0].second == a0 + k * period);
                CHECK(bench.events_of(1, ib::event_type::comm_est, server.qpn) == 1);
            } else {
                REQUIRE(sent.size() == 1u + n);
                CHECK(client.send_statuses() == statuses(1, wc_status::retry_exc_err));
                // One timer after the last repeat, to the cycle.
                REQUIRE(bench.host(0).watch.ends.size() == 1);
                CHECK(bench.host(0).watch.ends[0].cycle == sent.back().first_byte - 1 + ack_timer);
                CHECK(bench.state(client) == qp_state::err);
                CHECK(bench.host(1).watch.comm_ests.empty());
                bench.send(client, 2);
                bench.run_until_idle();
                CHECK(client.send_completions.size() == 3);
                CHECK(client.send_completions[1].status == wc_status::wr_flush_err);
                CHECK(client.send_completions[2].status == wc_status::wr_flush_err);
            }
            bench.check();
        }
    }
}

TEST_CASE("B01 a packet whose context was read in INIT and that is decided about in RTR leaves no trace",
          "[retry]") {
    two_hosts bench;
    for (int offset = -6; offset <= 6; ++offset) {
        INFO("decision - state = " << offset);
        auto [client, server] = set_up(bench, 7, 7, 4);
        // A life before this one has left its address in the context.
        bench.to_rtr(server);
        REQUIRE(bench.modify(server, qp_state::reset) == ib::modify_status::ok);
        server.rq_producer = 0;
        bench.to_init(server);
        bench.post_receives(server, 4);
        bench.run_for(1000);
        const cycle_t modify = bench.now();
        const cycle_t decision = modify + contract::modify_to_state(firmware) +
                                 static_cast<cycle_t>(static_cast<std::int64_t>(offset));
        bench.start_modify(server, qp_state::rtr, rtr_mask);
        bench.run_to(decision - contract::injection_to_lookup - contract::hit_cycles - 1);
        // Ahead of 0, which is what an INIT context expects, and behind what the QP expects.
        bench.inject(0, two_hosts::request_to(server, ib::rc_send_only, 0x7fffff), 64);
        bench.run_until_idle();
        CHECK(bench.query(server).expected_psn == server.attributes.rq_psn);
        bench.send(client, 3);
        bench.run_until_idle();
        CHECK(server.received == numbers(3));
        CHECK(client.send_statuses() == statuses(3, wc_status::success));
        bench.check();
    }
}

TEST_CASE("B10 an empty receive queue: RNR NAKs = ceil((p - a) / W'), the expected PSN does not move",
          "[retry]") {
    two_hosts bench;
    for (const std::uint8_t code : {std::uint8_t{1}, std::uint8_t{6}}) {
        // 10 us and 80 us at 250 MHz, timers divided by 4.
        const cycle_t wait = (code == 1 ? 2500 : 20000) / 4;
        // Decision, NAK pushed 1, at the peer's engine: channel 1, wire, propagation and pipeline, context,
        // channel 1.
        const cycle_t nak_back = 1 + 1 + answer_on_wire + contract::last_byte_to_decision + 1;
        // Then the wait, the release in the scheduler one cycle later, and the way of a grant.
        const cycle_t period =
            nak_back + wait + 1 + contract::eligible_to_wire + send_on_wire + contract::last_byte_to_decision;
        for (std::uint32_t naks = 0; naks <= 4; ++naks) {
            for (const std::int64_t offset : {0, 1, 100}) {
                if (naks == 0 && offset > 0) {
                    continue;
                }
                auto [client, server] = set_up(bench, 7, 7, 0);
                server.attributes.min_rnr_timer = code;
                bench.to_rtr(server);
                bench.run_for(500);
                const cycle_t a = bench.now() + contract::doorbell_to_scheduler + contract::eligible_to_wire +
                                  send_on_wire + contract::last_byte_to_decision;
                // Posted so that the receive engine knows of it at p; at the decision of that very cycle too.
                const cycle_t p =
                    a + naks * period + static_cast<cycle_t>(offset) - (offset > 0 ? period : 0);
                INFO("code " << int{code} << ", " << naks << " NAKs, offset " << offset);
                bench.send(client, 1);
                bench.run_to(p - contract::doorbell_passed_on);
                bench.post_receives(server, 1);
                bench.run_until_idle();
                const auto answers = bench.responses_to(client);
                REQUIRE(answers.size() == naks + 1);
                for (std::size_t i = 0; i < naks; ++i) {
                    CHECK(answers[i].h.syndrome == (0x20 | code));
                    CHECK(answers[i].h.psn == client.attributes.sq_psn);
                    CHECK(answers[i].h.msn == 0);
                }
                CHECK(answers.back().h.syndrome == 0x1f);
                CHECK(answers.back().h.msn == 1);
                const auto sent = bench.requests_of(client);
                REQUIRE(sent.size() == naks + 1);
                for (std::size_t i = 1; i < sent.size(); ++i) {
                    CHECK(sent[i].h.psn == client.attributes.sq_psn);
                    CHECK(sent[i].first_byte == sent[i - 1].first_byte + period);
                }
                CHECK(server.received == numbers(1));
                CHECK(client.send_statuses() == statuses(1, wc_status::success));
                REQUIRE(bench.host(1).watch.comm_ests.size() == 1);
                CHECK(bench.host(1).watch.comm_ests[0].second == a);
                bench.check();
            }
        }
    }
}

TEST_CASE("B10 rnr_retry bounds the repeats, used up it ends with RNR_RETRY_EXC_ERR", "[retry]") {
    two_hosts bench;
    for (const int value : {0, 1, 3, 6}) {
        const auto limit = static_cast<std::uint8_t>(value);
        INFO("rnr_retry " << int{limit});
        auto [client, server] = set_up(bench, 7, limit, 0);
        bench.to_rtr(server);
        bench.send(client, 3);
        bench.run_until_idle();
        std::size_t first_sent = 0;
        for (const wire_packet& p : bench.requests_of(client)) {
            first_sent += p.h.psn == client.attributes.sq_psn ? 1 : 0;
        }
        CHECK(first_sent == 1u + limit);
        const std::vector<wc_status> expected = {wc_status::rnr_retry_exc_err, wc_status::wr_flush_err,
                                                 wc_status::wr_flush_err};
        CHECK(client.send_statuses() == expected);
        CHECK(bench.state(client) == qp_state::err);
        CHECK(bench.host(1).watch.comm_ests.size() == 1);
        CHECK(bench.query(server).expected_psn == server.attributes.rq_psn);
        bench.check();
    }
}

TEST_CASE("B10 with the packet opener: the RNR-NAKed first packet opens the gate, once", "[retry]") {
    two_hosts bench;
    bench_config config;
    config.hca.receive_engine.infer_rts = true;
    bench.reset(config);
    test_qp& client = bench.create_qp(0, 2);
    test_qp& server = bench.create_qp(1, 5);
    bench.pair(client, server);
    bench.bring_to(client, qp_state::rts);
    bench.post_receives(client, 4);
    bench.to_init(server);
    bench.to_rtr(server, true);
    bench.send(server, 2);
    bench.send(client, 2);
    bench.run_for(3000);
    bench.poll();
    CHECK(client.received == numbers(2));
    bench.post_receives(server, 4);
    bench.run_until_idle();
    CHECK(server.received == numbers(2));
    CHECK(bench.host(1).watch.comm_ests.size() == 1);
    CHECK(bench.counter(1, "receive_engine.rnr_naks") >= 1);
    bench.check();
}

TEST_CASE("B24 no time-out when all is acknowledged, one expiry is one go-back-N", "[retry]") {
    two_hosts bench;
    {
        auto [client, server] = set_up(bench, 7, 7, 8);
        bench.to_rtr(server);
        bench.send(client, 5);
        bench.run_for(20 * ack_timer);
        bench.poll();
        CHECK(client.send_statuses() == statuses(5, wc_status::success));
        CHECK(bench.counter(0, "send_engine.timeouts") == 0);
        CHECK(bench.counter(0, "send_engine.rewinds") == 0);
        CHECK(bench.requests_of(client).size() == 5);
        bench.check();
    }
    // The timer of a message that is acknowledged is no timer of a later one.
    for (cycle_t later = ack_timer - 600; later <= ack_timer + 600; later += 50) {
        INFO("second message " << later << " cycles behind the first");
        auto [client, server] = set_up(bench, 7, 7, 8);
        bench.to_rtr(server);
        bench.send(client, 1);
        bench.run_for(later);
        bench.send(client, 1);
        bench.run_until_idle();
        CHECK(bench.counter(0, "send_engine.timeouts") == 0);
        CHECK(bench.requests_of(client).size() == 2);
        CHECK(server.received == numbers(2));
        bench.check();
    }
    {
        // The first pass of all packets is lost: one expiry repeats all of them once.
        auto [client, server] = set_up(bench, 7, 7, 8);
        bench.to_rtr(server);
        std::uint32_t seen = 0;
        bench.cable_from(0).passes = [&seen](const wire_packet&) { return ++seen > 5; };
        bench.send(client, 5);
        bench.run_until_idle();
        CHECK(bench.counter(0, "send_engine.timeouts") == 1);
        CHECK(bench.counter(0, "send_engine.rewinds") == 1);
        std::vector<std::uint32_t> twice = psns(client.attributes.sq_psn, 5);
        const std::vector<std::uint32_t> again = twice;
        twice.insert(twice.end(), again.begin(), again.end());
        CHECK(two_hosts::psns_of(bench.requests_of(client)) == twice);
        CHECK(server.received == numbers(5));
        bench.check();
    }
    {
        // The first of five is lost: one NAK (sequence error), though four packets are out of order; one
        // go-back-N, no time-out.
        auto [client, server] = set_up(bench, 7, 7, 8);
        bench.to_rtr(server);
        std::uint32_t seen = 0;
        bench.cable_from(0).passes = [&seen](const wire_packet&) { return ++seen != 1; };
        bench.send(client, 5);
        bench.run_until_idle();
        const auto answers = bench.responses_to(client);
        CHECK(std::count_if(answers.begin(), answers.end(),
                            [](const wire_packet& p) { return p.h.syndrome == 0x60; }) == 1);
        CHECK(bench.counter(0, "send_engine.timeouts") == 0);
        CHECK(bench.counter(0, "send_engine.rewinds") == 1);
        CHECK(server.received == numbers(5));
        CHECK(client.send_statuses() == statuses(5, wc_status::success));
        bench.check();
    }
    {
        // All answers of the first pass are lost: the repeats are acknowledged again and not executed.
        auto [client, server] = set_up(bench, 7, 7, 8);
        bench.to_rtr(server);
        std::uint32_t seen = 0;
        bench.cable_from(1).passes = [&seen](const wire_packet&) { return ++seen > 5; };
        bench.send(client, 5);
        bench.run_until_idle();
        CHECK(bench.counter(0, "send_engine.timeouts") == 1);
        CHECK(server.received == numbers(5));
        CHECK(server.receive_completions.size() == 5);
        CHECK(client.send_statuses() == statuses(5, wc_status::success));
        CHECK(bench.counter(1, "receive_engine.accepted") == 5);
        for (const wire_packet& p : bench.responses_to(client)) {
            CHECK(p.h.msn <= 5);
        }
        bench.check();
    }
}

TEST_CASE("B24 the ACK timer is off in RTR, with timeout 0, and in ERR", "[retry]") {
    two_hosts bench;
    auto [client, server] = set_up(bench, 7, 7, 8);
    bench.to_rtr(server);
    bench.send(server, 3);  // waits in RTR for ever
    bench.run_for(100 * ack_timer);
    CHECK(bench.counter(1, "send_engine.timeouts") == 0);
    bench.send(client, 2);
    bench.run_for(5000);
    bench.poll();
    CHECK(client.send_statuses() == statuses(2, wc_status::success));
    CHECK(bench.requests_of(server).empty());
    bench.check(false);

    auto [client2, server2] = set_up(bench, 7, 7, 8);
    client2.attributes.timeout = 0;
    REQUIRE(bench.modify(client2, qp_state::sqd) == ib::modify_status::ok);
    REQUIRE(bench.modify(client2, qp_state::sqd, ib::attr_timeout) == ib::modify_status::ok);
    REQUIRE(bench.modify(client2, qp_state::rts) == ib::modify_status::ok);
    bench.send(client2, 1);  // into INIT: dropped
    bench.run_for(100 * ack_timer);
    CHECK(bench.requests_of(client2).size() == 1);
    REQUIRE(bench.modify(client2, qp_state::err) == ib::modify_status::ok);
    bench.run_until_idle();
    CHECK(client2.send_statuses() == statuses(1, wc_status::wr_flush_err));
    bench.check();
}
