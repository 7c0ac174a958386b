// What becomes of posts and doorbells in every state (scenarios B07, B08, B09, B19, B22, B27).
#include <string>
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

struct hosts {
    two_hosts& bench;
    test_qp& client;
    test_qp& server;
};

// Client in RTS, server in RTR with receives; nothing sent yet.
hosts connect(two_hosts& bench, const bench_config& config = {}, std::uint32_t receives = 8,
              bool preload = false) {
    bench.reset(config);
    test_qp& client = bench.create_qp(0, 2);
    test_qp& server = bench.create_qp(1, 5);
    bench.pair(client, server);
    bench.to_init(server);
    if (receives != 0) {
        bench.post_receives(server, receives);
    }
    bench.to_rtr(server, preload);
    bench.to_init(client);
    bench.post_receives(client, 16);
    bench.to_rtr(client);
    bench.to_rts(client);
    bench.run_for(1000);
    return {bench, client, server};
}

}  // namespace

TEST_CASE("B07 a QP in RTR answers and does not ask, in RTS its sends follow in order from SQ_PSN",
          "[posts]") {
    two_hosts bench;
    auto [b, client, server] = connect(bench);
    b.send(server, 4);
    b.send(client, 3);
    b.run_for(5000);
    b.poll();
    CHECK(b.requests_of(server).empty());
    const auto answers = b.responses_to(client);
    REQUIRE(answers.size() == 3);
    for (std::uint32_t i = 0; i < 3; ++i) {
        CHECK(answers[i].h.op == ib::rc_acknowledge);
        CHECK(answers[i].h.syndrome == 0x1f);
        CHECK(answers[i].h.msn == i + 1);
        CHECK(answers[i].h.psn == ((client.attributes.sq_psn + i) & 0xffffffu));
    }
    CHECK(client.send_statuses() == statuses(3, wc_status::success));
    CHECK(server.received == numbers(3));
    CHECK(b.state(server) == qp_state::rtr);

    b.to_rts(server);
    b.run_until_idle();
    CHECK(two_hosts::psns_of(b.requests_of(server)) == psns(server.attributes.sq_psn, 4));
    CHECK(client.received == numbers(4));
    CHECK(server.send_statuses() == statuses(4, wc_status::success));
    b.check();
}

TEST_CASE("B07 requests that are not modelled are answered by NAK invalid request in RTR, and end the QP",
          "[posts]") {
    two_hosts bench;
    for (const std::uint8_t op : {ib::rc_write_only, ib::rc_write_first, ib::rc_read_request}) {
        INFO("opcode " << int{op});
        auto [b, client, server] = connect(bench);
        b.send(server, 2);
        // A real SEND first: MSN 1 is what the NAK repeats.
        b.send(client);
        b.run_for(3000);
        b.inject(0, two_hosts::request_to(server, op, client.attributes.sq_psn + 1),
                 op == ib::rc_read_request ? 0 : 64);
        b.run_until_idle();
        const auto answers = b.responses_to(client);
        REQUIRE(answers.size() == 2);
        CHECK(answers[1].h.op == ib::rc_acknowledge);
        CHECK(answers[1].h.syndrome == 0x61);
        CHECK(answers[1].h.psn == ((client.attributes.sq_psn + 1) & 0xffffffu));
        CHECK(answers[1].h.msn == 1);
        CHECK(b.requests_of(server).empty());
        CHECK(b.state(server) == qp_state::err);
        CHECK(server.send_statuses() == statuses(2, wc_status::wr_flush_err));
        CHECK(b.events_of(1, ib::event_type::qp_fatal, server.qpn) == 1);
        b.check();
    }
}

TEST_CASE("B08 RTR to ERR flushes both queues in order, at the cycles of the contract, and later posts too",
          "[posts]") {
    two_hosts bench;
    auto [b, client, server] = connect(bench, {}, 3);
    b.send(server, 5);
    b.run_for(1000);
    const cycle_t s = b.now() + contract::modify_to_state(firmware);
    b.start_modify(server, qp_state::err);
    // Sends: a grant of 4 and one of 1. The first WQE read is answered at w; one CQE per cycle from then on;
    // the end of a grant is with the scheduler one cycle after its last CQE.
    // Receives: one after the other, each read when the one before has its CQE.
    const cycle_t first_receive =
        s + contract::context_hit + contract::read(sizeof(ib::receive_wqe)) + contract::cqe_to_host;
    const cycle_t per_receive = contract::read(sizeof(ib::receive_wqe)) + 1;
    for (std::size_t i = 0; i < 3; ++i) {
        b.run_to(first_receive + i * per_receive - 1);
        b.poll();
        CHECK(server.receive_completions.size() == i);
        b.run_for(1);
        b.poll();
        CHECK(server.receive_completions.size() == i + 1);
    }
    b.run_to(s + 2000);
    b.poll();
    const auto& ends = b.host(1).watch.ends;
    REQUIRE(ends.size() == 5);
    const cycle_t w = s + contract::eligible_to_context + contract::read(4 * 64);
    const cycle_t w2 = w + 3 + 1 + contract::eligible_to_context + contract::read(64);
    const cycle_t expected[] = {w, w + 1, w + 2, w + 3, w2};
    for (std::uint16_t i = 0; i < 5; ++i) {
        CHECK(ends[i].wqe_index == i);
        CHECK(ends[i].status == wc_status::wr_flush_err);
        CHECK(ends[i].cycle == expected[i]);
    }
    CHECK(server.send_statuses() == statuses(5, wc_status::wr_flush_err));
    CHECK(server.receive_statuses() == statuses(3, wc_status::wr_flush_err));
    for (std::uint16_t i = 0; i < 3; ++i) {
        CHECK(server.receive_completions[i].wqe_index == i);
        CHECK(server.receive_completions[i].wr_id == i);
    }

    b.send(server, 2);
    b.post_receives(server, 2);
    b.run_until_idle();
    CHECK(server.send_statuses() == statuses(7, wc_status::wr_flush_err));
    CHECK(server.receive_statuses() == statuses(5, wc_status::wr_flush_err));
    for (std::uint16_t i = 0; i < 7; ++i) {
        CHECK(server.send_completions[i].wqe_index == i);
    }
    CHECK(b.packets().empty());
    b.check();
}

TEST_CASE("B08 a doorbell that is under way while the QP goes to ERR is flushed, once, for every offset",
          "[posts]") {
    two_hosts bench;
    for (int offset = -10; offset <= 10; ++offset) {
        INFO("doorbell - state = " << offset);
        auto [b, client, server] = connect(bench, {}, 2);
        for (int i = 0; i < 5; ++i) {
            b.post_send(server);
        }
        b.ring(server, 2);
        b.run_for(500);
        const cycle_t ring_modify = b.now() + 50;
        const cycle_t s = ring_modify + contract::modify_to_state(firmware);
        const cycle_t d = s + static_cast<cycle_t>(static_cast<std::int64_t>(offset));
        b.run_to(ring_modify);
        b.start_modify(server, qp_state::err);
        b.run_to(d - contract::doorbell_to_scheduler);
        b.ring(server);
        b.run_until_idle();
        CHECK(server.send_statuses() == statuses(5, wc_status::wr_flush_err));
        CHECK(server.receive_statuses() == statuses(2, wc_status::wr_flush_err));
        CHECK(b.packets().empty());
        b.check();
    }
}

TEST_CASE("B08 RTR to RESET makes no CQE, and the QP begins anew", "[posts]") {
    two_hosts bench;
    auto [b, client, server] = connect(bench, {}, 3);
    b.send(server, 5);
    b.run_for(1000);
    REQUIRE(b.modify(server, qp_state::reset) == ib::modify_status::ok);
    b.run_until_idle();
    CHECK(server.send_completions.empty());
    CHECK(server.receive_completions.empty());
    CHECK(b.packets().empty());

    server.sq_producer = server.rq_producer = 0;
    server.next_message = 0;
    b.to_init(server);
    b.post_receives(server, 2);
    b.to_rtr(server);
    b.to_rts(server);
    b.send(server, 2);
    b.send(client, 2);
    b.run_until_idle();
    CHECK(server.send_statuses() == statuses(2, wc_status::success));
    CHECK(server.received == numbers(2));
    CHECK(client.received == numbers(2));
    CHECK(two_hosts::psns_of(b.requests_of(server)) == psns(server.attributes.sq_psn, 2));
    b.check();
}

TEST_CASE("B08 ERR in the middle of everything: what was posted comes back, in order, each once", "[posts]") {
    two_hosts bench;
    bench_config config;
    // From before the first grant to after the last ACK, in steps that are coprime to the packets' rhythm.
    for (cycle_t at = 0; at < 1400; at += 13) {
        INFO("ERR rung " << at << " cycles after the doorbells");
        auto [b, client, server] = connect(bench, config, 8);
        b.post_receives(client, 8);
        b.to_rts(server);
        b.send(server, 20, 64);
        b.send(client, 6, 64);
        b.run_for(at);
        b.start_modify(server, qp_state::err);
        b.run_for(2000);
        b.modify(client, qp_state::err);
        b.run_until_idle();
        REQUIRE(server.send_completions.size() == 20);
        bool flushed = false;
        for (std::uint16_t i = 0; i < 20; ++i) {
            CHECK(server.send_completions[i].wqe_index == i);
            const wc_status status = server.send_completions[i].status;
            CHECK((status == wc_status::wr_flush_err || (status == wc_status::success && !flushed)));
            flushed = flushed || status == wc_status::wr_flush_err;
        }
        REQUIRE(server.receive_completions.size() == 8);
        for (std::uint16_t i = 0; i < 8; ++i) {
            CHECK(server.receive_completions[i].wqe_index == i);
        }
        REQUIRE(client.send_completions.size() == 6);
        b.check();
    }
}

TEST_CASE("B08 a message of which only a part has come is flushed with its receive entry", "[posts]") {
    two_hosts bench;
    bench.reset({});
    test_qp& client = bench.create_qp(0, 2, 64, 16384);
    test_qp& server = bench.create_qp(1, 5, 64, 16384);
    bench.pair(client, server);
    client.attributes.timeout = 0;
    bench.bring_to(server, qp_state::rtr);
    bench.post_receives(server, 3);
    bench.bring_to(client, qp_state::rts);
    // The last packet of four is lost for good.
    bench.cable_from(0).passes = [](const wire_packet& p) { return p.h.op != ib::rc_send_last; };
    bench.send(client, 1, 16384);
    bench.run_for(10000);
    REQUIRE(bench.modify(server, qp_state::err) == ib::modify_status::ok);
    bench.run_until_idle();
    CHECK(server.receive_statuses() == statuses(3, wc_status::wr_flush_err));
    for (std::uint16_t i = 0; i < server.receive_completions.size(); ++i) {
        CHECK(server.receive_completions[i].wqe_index == i);
        CHECK(server.receive_completions[i].wr_id == i);
    }
    REQUIRE(bench.modify(client, qp_state::err) == ib::modify_status::ok);
    bench.run_until_idle();
    bench.check();
}

TEST_CASE(
    "B09 doorbells out of order, or the last one only: all is sent in order and needs no further doorbell",
    "[posts]") {
    two_hosts bench;
    for (const std::vector<std::uint16_t>& order : {std::vector<std::uint16_t>{1, 2, 3},
                                                    {3, 1, 2},
                                                    {2, 3, 1},
                                                    {3, 2, 1},
                                                    {3},
                                                    {3, 3, 3},
                                                    {2, 1, 3, 1}}) {
        for (const cycle_t gap : {0u, 1u, 2u, 7u, 300u}) {
            for (const bool in_rts : {false, true}) {
                INFO("first " << order[0] << ", doorbells " << order.size() << ", gap " << gap << ", RTS "
                              << in_rts);
                auto [b, client, server] = connect(bench);
                if (in_rts) {
                    b.to_rts(server);
                }
                for (int i = 0; i < 3; ++i) {
                    b.post_send(server);
                }
                for (const std::uint16_t producer : order) {
                    b.ring(server, producer);
                    b.run_for(gap);
                }
                b.run_for(1000);
                if (!in_rts) {
                    CHECK(b.requests_of(server).empty());
                    b.to_rts(server);
                }
                b.run_until_idle();
                CHECK(two_hosts::psns_of(b.requests_of(server)) == psns(server.attributes.sq_psn, 3));
                CHECK(client.received == numbers(3));
                CHECK(server.send_statuses() == statuses(3, wc_status::success));
                // Each doorbell again, after all is done: stale ones change nothing.
                for (const std::uint16_t producer : order) {
                    b.ring(server, producer);
                }
                b.ring(server, static_cast<std::uint16_t>(0 - 5));
                b.run_until_idle();
                CHECK(b.requests_of(server).size() == 3);
                b.check();
            }
        }
    }
}

TEST_CASE("B09 a doorbell for a QP number that the slot does not hold is harmless", "[posts]") {
    two_hosts bench;
    auto [b, client, server] = connect(bench);
    b.to_rts(server);
    b.doorbell(1, ib::encode(ib::doorbell{ib::doorbell_type::send_queue, server.qpn + 64, 9}));
    b.doorbell(1, ib::encode(ib::doorbell{ib::doorbell_type::send_queue, 17, 9}));
    b.doorbell(1, ib::encode(ib::doorbell{ib::doorbell_type::receive_queue, server.qpn + 64, 99}));
    b.doorbell(1, ib::encode(ib::doorbell{ib::doorbell_type::arm_cq, 77, 1}));
    b.doorbell(1, ~std::uint64_t{0});
    b.run_until_idle();
    CHECK(b.packets().empty());
    b.send(server, 2);
    b.run_until_idle();
    CHECK(client.received == numbers(2));
    b.check();
}

TEST_CASE("B09 a full doorbell FIFO stalls the MMIO path and loses nothing", "[posts]") {
    two_hosts bench;
    bench_config config;
    config.hca.doorbell_unit.fifo_depth = 1;
    bench.reset(config);
    constexpr std::uint32_t count = 16;
    std::vector<test_qp*> clients, servers;
    for (std::uint32_t i = 0; i < count; ++i) {
        clients.push_back(&bench.create_qp(0, 2 + i));
        servers.push_back(&bench.create_qp(1, 2 + i));
        bench.pair(*clients[i], *servers[i]);
        bench.bring_to(*clients[i], qp_state::rtr);
        bench.post_receives(*clients[i], 1);
        bench.bring_to(*servers[i], qp_state::rtr);
    }
    bench.run_for(1000);
    const cycle_t c = bench.now();
    for (test_qp* q : servers) {
        bench.send(*q);
    }
    bench.run_for(200);
    // One place: it is free again in the cycle after its entry has left, so a doorbell takes two cycles.
    for (std::uint32_t i = 0; i < count; ++i) {
        CHECK(bench.host(1).watch.stage_of(servers[i]->qpn, 0, stage::pending) ==
              c + contract::doorbell_to_scheduler + 2 * i);
    }
    CHECK(bench.counter(1, "doorbell_unit.full_events") > 0);
    for (test_qp* q : servers) {
        bench.to_rts(*q);
    }
    bench.run_until_idle();
    for (std::uint32_t i = 0; i < count; ++i) {
        CHECK(clients[i]->received == numbers(1));
        CHECK(servers[i]->send_statuses() == statuses(1, wc_status::success));
    }
    bench.check();
}

TEST_CASE("B09 the producer index passes 2^16 without a stall", "[posts]") {
    two_hosts bench;
    bench.reset({});
    test_qp& client = bench.create_qp(0, 2, 1024, 16);
    test_qp& server = bench.create_qp(1, 5, 1024, 16);
    bench.pair(client, server);
    bench.bring_to(server, qp_state::rtr);
    bench.bring_to(client, qp_state::rts);
    constexpr std::uint64_t total = 66000;
    std::uint64_t posted = 0;
    const std::uint32_t batch = 500;
    while (server.received.size() < total) {
        if (posted < total) {
            bench.post_receives(server, batch);
            for (std::uint32_t i = 0; i < batch; ++i) {
                bench.post_send(client, 8, static_cast<std::uint8_t>(i + 1 == batch ? 1 : 0));
            }
            bench.ring(client);
            posted += batch;
        }
        const std::size_t want = posted;
        bench.run_until([&] { return server.received.size() >= want; }, 256);
        // The driver tells how far it has read, so that the queue is never full.
        bench.doorbell(1,
                       ib::encode(ib::doorbell{ib::doorbell_type::arm_cq, 1,
                                               static_cast<std::uint16_t>(bench.host(1).cqs[1].consumer)}));
        bench.run_for(300);
    }
    CHECK(server.received == numbers(total));
    CHECK(client.send_completions.size() == total / batch);
    bench.run_until_idle();
    bench.check();
}

TEST_CASE("B19 receives posted in INIT are used by the first packet, without a doorbell after RTR",
          "[posts]") {
    two_hosts bench;
    auto [b, client, server] = connect(bench, {}, 2);
    b.send(client, 2);
    b.run_until_idle();
    CHECK(server.received == numbers(2));
    CHECK(server.receive_completions[0].wr_id == 0);
    CHECK(b.counter(1, "receive_engine.rnr_naks") == 0);
    CHECK(client.send_statuses() == statuses(2, wc_status::success));
    b.check();
}

TEST_CASE("B22 where a strict driver refuses a post, and what the hardware does with one in each state",
          "[posts]") {
    CHECK(ib::post_send_is_error(qp_state::reset));
    CHECK(ib::post_send_is_error(qp_state::init));
    CHECK(ib::post_send_is_error(qp_state::rtr));
    CHECK_FALSE(ib::post_send_is_error(qp_state::rts));
    CHECK_FALSE(ib::post_send_is_error(qp_state::sqd));
    CHECK_FALSE(ib::post_send_is_error(qp_state::sqe));
    CHECK_FALSE(ib::post_send_is_error(qp_state::err));

    two_hosts bench;
    struct row {
        qp_state state;
        std::size_t packets;
        std::vector<wc_status> completions;
    };
    // RC: SQE does not exist.
    const row table[] = {
        {qp_state::reset, 0, {}}, {qp_state::init, 0, {}},
        {qp_state::rtr, 0, {}},   {qp_state::rts, 2, statuses(2, wc_status::success)},
        {qp_state::sqd, 0, {}},   {qp_state::err, 0, statuses(2, wc_status::wr_flush_err)},
    };
    for (const row& r : table) {
        INFO("post in " << ib::name(r.state));
        bench.reset({});
        test_qp& client = bench.create_qp(0, 2);
        test_qp& server = bench.create_qp(1, 5);
        bench.pair(client, server);
        bench.bring_to(client, qp_state::rts);
        bench.post_receives(client, 4);
        bench.bring_to(server, r.state);
        bench.send(server, 2);
        bench.run_until_idle();
        CHECK(bench.requests_of(server).size() == r.packets);
        CHECK(server.send_statuses() == r.completions);
        bench.check();
    }
}

TEST_CASE("B27 RESET to RESET is valid, drain is ERR, a marker, and its flushed CQE", "[posts]") {
    two_hosts bench;
    bench.reset({});
    test_qp& client = bench.create_qp(0, 2);
    test_qp& server = bench.create_qp(1, 5);
    bench.pair(client, server);
    CHECK(bench.modify(server, qp_state::reset) == ib::modify_status::ok);
    CHECK(bench.state(server) == qp_state::reset);
    // Drain before the connection was ever made: from INIT, from RTR, and from RTS.
    for (const qp_state from : {qp_state::init, qp_state::rtr, qp_state::rts}) {
        INFO("drain from " << ib::name(from));
        bench.bring_to(server, from);
        CHECK(bench.modify(server, qp_state::err) == ib::modify_status::ok);
        server.send_completions.clear();
        server.receive_completions.clear();
        const std::uint16_t marker = bench.post_send(server);
        bench.ring(server);
        bench.post_receives(server, 1);
        bench.run_until([&, s = &server] {
            return s->send_completions.size() == 1 && s->receive_completions.size() == 1;
        });
        CHECK(server.send_completions[0].status == wc_status::wr_flush_err);
        CHECK(server.send_completions[0].wqe_index == marker);
        CHECK(server.receive_completions[0].status == wc_status::wr_flush_err);
        REQUIRE(bench.modify(server, qp_state::reset) == ib::modify_status::ok);
        server.sq_producer = server.rq_producer = 0;
        server.next_message = 0;
    }
    bench.check();
}
