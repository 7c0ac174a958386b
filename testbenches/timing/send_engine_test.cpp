// Cycle contract of the send engine: docs/microarchitecture.md, "Send engine".
#include "testbenches/timing/send_engine_bench.h"
#include "testbenches/unit/catch.h"

namespace {

using namespace hcasim;        // NOLINT
using namespace hcasim::test;  // NOLINT
using ib::qp_state;
using ib::wc_status;
using hold_t = scheduler_update::hold_t;

std::vector<std::uint32_t> psns(const send_engine_bench& b) {
    std::vector<std::uint32_t> all;
    for (const seen_packet& p : b.packets.seen) {
        all.push_back(p.h.psn);
    }
    return all;
}
std::vector<std::uint64_t> wr_ids(const send_engine_bench& b) {
    std::vector<std::uint64_t> all;
    for (const auto& e : b.cqe.seen) {
        all.push_back(e.value.entry.wr_id);
    }
    return all;
}
std::vector<wc_status> statuses(const send_engine_bench& b) {
    std::vector<wc_status> all;
    for (const auto& e : b.cqe.seen) {
        all.push_back(e.value.entry.status);
    }
    return all;
}
constexpr engine_kind both[] = {engine_kind::wheel, engine_kind::poll};

// Rows of the table "Send engine" for a grant visible at g, with M cycles of memory (L + T of the document).
struct walk {
    cycle_t g, memory;
    cycle_t context() const { return g + 1 + 2 + 1; }           // request channel, hit_cycles = 2, channel
    cycle_t wqe() const { return context() + 1 + memory + 1; }  // request channel, memory, channel
    cycle_t payload() const { return wqe() + 1 + memory + 1; }
    cycle_t packet() const { return payload() + 1; }  // visible to link tx
};

}  // namespace

TEST_CASE("send engine: grant to packet, cycle by cycle") {
    send_engine_bench b;
    for (const engine_kind kind : both) {
        b.start(kind);
        b.open(send_context(1));
        b.post(1, 0, 64);
        const walk t{20, b.memory.cycles()};
        b.grant.visible_at(t.g, {1, 0, 1, false});
        b.run_to(400);
        // The context request at g, the WQE read at c, the payload read at w, each visible one cycle later.
        REQUIRE(b.contexts.requests.seen.size() == 2);
        CHECK(b.contexts.requests.seen[0].cycle == t.g + 1);
        CHECK(b.memory.requests.cycles() == std::vector<cycle_t>{t.context() + 1, t.wqe() + 1});
        REQUIRE(b.packets.seen.size() == 1);
        CHECK(b.packets.seen[0].cycle == t.packet());
        CHECK(b.packets.seen[0].h.psn == 100);
        CHECK(b.packets.seen[0].h.op == ib::rc_send_only);
        CHECK(b.packets.seen[0].h.ack_request);
        // x = w: the last payload read; write-back and update are pushed in the same cycle.
        CHECK(b.contexts.requests.seen[1].cycle == t.wqe() + 1);
        CHECK(b.contexts.requests.seen[1].value.operation == qpc_operation::write_requester);
        CHECK(b.contexts.table[1].requester.next_psn == 101);
        REQUIRE(b.update.seen.size() == 1);
        CHECK(b.update.seen[0].cycle == t.wqe() + 1);
        CHECK(b.update.seen[0].value.end_service);
        CHECK_FALSE(b.update.seen[0].value.set_consumer);
        CHECK(b.pool.in_use() == 0);
    }
}

TEST_CASE("send engine: a grant of four WQEs reads one payload per cycle") {
    send_engine_bench b;
    b.start();
    b.open(send_context(1));
    for (std::uint16_t i = 0; i < 4; ++i) {
        b.post(1, i, 64);
    }
    const walk t{20, b.memory.cycles()};
    b.grant.visible_at(t.g, {1, 0, 4, false});
    b.run_to(400);
    REQUIRE(b.packets.seen.size() == 4);
    for (cycle_t i = 0; i < 4; ++i) {
        CHECK(b.packets.seen[i].cycle == t.packet() + i);
        CHECK(b.packets.seen[i].h.psn == 100 + i);
    }
    CHECK(b.update.cycles() == std::vector<cycle_t>{t.wqe() + 3 + 1});
}

TEST_CASE("send engine: not more payload reads of a grant under way than payload_prefetch") {
    send_engine_bench b;
    b.config.payload_prefetch = 2;
    b.start();
    b.open(send_context(1));
    b.post(1, 0, 256 * 3);
    const walk t{20, b.memory.cycles()};
    b.grant.visible_at(t.g, {1, 0, 1, false});
    b.run_to(600);
    // The third read waits for the first packet, which goes at the payload cycle; then in the same cycle.
    CHECK(b.memory.requests.cycles() ==
          std::vector<cycle_t>{t.context() + 1, t.wqe() + 1, t.wqe() + 2, t.payload() + 1});
    REQUIRE(b.packets.seen.size() == 3);
    CHECK(b.packets.seen[0].h.op == ib::rc_send_first);
    CHECK(b.packets.seen[1].h.op == ib::rc_send_middle);
    CHECK(b.packets.seen[2].h.op == ib::rc_send_last);
    CHECK_FALSE(b.packets.seen[1].h.ack_request);
    CHECK(b.packets.seen[2].h.ack_request);
    CHECK(b.packets.seen[2].cycle == t.payload() + 1 + b.memory.cycles() + 1 + 1);
}

TEST_CASE("send engine: payload reads wait while the queue of the VL is full") {
    send_engine_bench b;
    b.start();
    b.open(send_context(1));
    b.post(1, 0, 256 * 64);
    b.grant.visible_at(20, {1, 0, 1, false});
    b.packets.ports[0]->closed_until(1500);
    b.run_to(1490);
    // Two packets in the channel, payload_prefetch between read and queue, one WQE read: nothing more may be
    // begun.
    CHECK(b.memory.requests.seen.size() == 1 + 2 + b.config.payload_prefetch);
    b.run_to(6000);
    CHECK(b.packets.seen.size() == 64);
    CHECK(psns(b).back() == 163);
}

TEST_CASE("send engine: zero-length messages need no read") {
    send_engine_bench b;
    b.start();
    b.open(send_context(1));
    b.post(1, 0, 0);
    const walk t{20, b.memory.cycles()};
    b.grant.visible_at(t.g, {1, 0, 1, false});
    b.run_to(400);
    CHECK(b.memory.requests.seen.size() == 1);
    REQUIRE(b.packets.seen.size() == 1);
    // Gathered at w, made at w + 1, visible at w + 2.
    CHECK(b.packets.seen[0].cycle == t.wqe() + 2);
    CHECK(b.packets.seen[0].payload_bytes == 0);
}

TEST_CASE("send engine: a packet without payload waits for those before it") {
    send_engine_bench b;
    b.start();
    b.open(send_context(1));
    b.post(1, 0, 64);
    b.post(1, 1, 0);
    const walk t{20, b.memory.cycles()};
    b.grant.visible_at(t.g, {1, 0, 2, false});
    b.run_to(400);
    REQUIRE(b.packets.seen.size() == 2);
    CHECK(b.packets.seen[0].wqe_index == 0);
    CHECK(b.packets.seen[0].cycle == t.packet());
    CHECK(b.packets.seen[1].cycle == t.packet() + 1);
}

TEST_CASE("send engine: an acknowledge retires what it covers, one CQE per cycle") {
    send_engine_bench b;
    for (const engine_kind kind : both) {
        b.start(kind);
        b.open(send_context(1));
        for (std::uint16_t i = 0; i < 4; ++i) {
            b.post(1, i, 64, i == 1 ? 0 : ib::wqe_signaled);
        }
        b.grant.visible_at(20, {1, 0, 4, false});
        b.ack.visible_at(300, {1, 102, ib::syndrome_ack});
        b.run_to(400);
        // WQE 1 is not signaled. A CQE pushed at a is visible at a + 1.
        CHECK(b.cqe.cycles() == std::vector<cycle_t>{301, 302});
        CHECK(wr_ids(b) == std::vector<std::uint64_t>{1000, 1002});
        b.ack.visible_at(420, {1, 103, ib::syndrome_ack});
        b.run_to(500);
        CHECK(b.cqe.seen.size() == 3);
        CHECK(b.cqe.seen.back().cycle == 421);
    }
}

TEST_CASE("send engine: the window holds a QP and an acknowledge releases it") {
    send_engine_bench b;
    b.config.window_messages = 2;
    b.start();
    b.open(send_context(1));
    for (std::uint16_t i = 0; i < 4; ++i) {
        b.post(1, i, 64);
    }
    const walk t{20, b.memory.cycles()};
    b.grant.visible_at(t.g, {1, 0, 4, false});
    b.run_to(300);
    CHECK(psns(b) == std::vector<std::uint32_t>{100, 101});
    REQUIRE(b.update.seen.size() == 1);
    // Messages begin at w and w + 1; at w + 2 the third finds the window closed and the grant ends there.
    CHECK(b.update.seen[0].cycle == t.wqe() + 2 + 1);
    CHECK(b.update.seen[0].value.end_service);
    CHECK(b.update.seen[0].value.set_consumer);
    CHECK(b.update.seen[0].value.consumer == 2);
    CHECK(b.update.seen[0].value.hold == hold_t::hold);
    b.ack.visible_at(310, {1, 100, ib::syndrome_ack});
    b.run_to(320);
    REQUIRE(b.update.seen.size() == 2);
    CHECK(b.update.seen[1].cycle == 311);
    CHECK(b.update.seen[1].value.hold == hold_t::release);
    CHECK_FALSE(b.update.seen[1].value.end_service);
}

TEST_CASE("send engine: the acknowledge timer expires after exactly T and the oldest message is sent again") {
    send_engine_bench b;
    for (const engine_kind kind : both) {
        b.start(kind);
        b.open(send_context(1, 1));
        b.post(1, 0, 64);
        b.post(1, 1, 64);
        const walk t{20, b.memory.cycles()};
        b.grant.visible_at(t.g, {1, 0, 2, false});
        // Armed at p, the cycle in which the first last packet is made; T(1) = 8.192 us = 2048 cycles. The
        // update is pushed at p + T.
        const cycle_t expiry = t.payload() + 2048;
        b.run_to(expiry);
        REQUIRE(b.update.seen.size() == 1);
        b.run_to(expiry + 1);
        REQUIRE(b.update.seen.size() == 2);
        CHECK(b.update.seen[1].value.set_consumer);
        CHECK(b.update.seen[1].value.consumer == 0);
        CHECK_FALSE(b.update.seen[1].value.end_service);
        CHECK(b.block.counters().timeouts == 1);
        const walk again{expiry + 10, b.memory.cycles()};
        b.grant.visible_at(again.g, {1, 0, 2, false});
        b.run_to(again.packet() + 1);
        CHECK(psns(b) == std::vector<std::uint32_t>{100, 101, 100, 101});
        CHECK(b.packets.seen[2].retransmitted);
        CHECK(b.contexts.table[1].requester.next_psn == 102);
        b.ack.visible_at(again.packet() + 20, {1, 101, ib::syndrome_ack});
        b.run_to(again.packet() + 5000);
        CHECK(wr_ids(b) == std::vector<std::uint64_t>{1000, 1001});
        CHECK(b.block.counters().timeouts == 1);
    }
}

TEST_CASE("send engine: progress starts the acknowledge timer again") {
    send_engine_bench b;
    b.start();
    b.open(send_context(1, 1));
    b.post(1, 0, 64);
    b.post(1, 1, 64);
    b.grant.visible_at(20, {1, 0, 2, false});
    b.ack.visible_at(1500, {1, 100, ib::syndrome_ack});
    b.run_to(1500 + 2048);
    CHECK(b.block.counters().timeouts == 1);  // at exactly 1500 + T
    CHECK(b.update.seen.size() == 1);         // told one cycle later
    b.run_to(1500 + 2048 + 1);
    REQUIRE(b.update.seen.size() == 2);
    CHECK(b.update.seen[1].value.consumer == 1);
}

TEST_CASE("send engine: retries used up end the oldest message, the rest is flushed in order") {
    send_engine_bench b;
    for (const engine_kind kind : both) {
        b.start(kind);
        ib::qp_context c = send_context(1, 1);
        c.attributes.retry_cnt = 0;
        b.open(c);
        for (std::uint16_t i = 0; i < 6; ++i) {
            b.post(1, i, 64);
        }
        b.grant.visible_at(20, {1, 0, 3, false});
        b.run_to(3000);
        CHECK(b.contexts.table[1].state == qp_state::err);
        CHECK(statuses(b) == std::vector<wc_status>{wc_status::retry_exc_err, wc_status::wr_flush_err,
                                                    wc_status::wr_flush_err});
        b.grant.visible_at(3010, {1, 3, 3, true});
        b.run_to(3300);
        CHECK(wr_ids(b) == std::vector<std::uint64_t>{1000, 1001, 1002, 1003, 1004, 1005});
        CHECK(b.pool.in_use() == 0);
    }
}

TEST_CASE("send engine: an RNR NAK holds the QP for exactly the time of its code") {
    send_engine_bench b;
    for (const engine_kind kind : both) {
        b.start(kind);
        b.open(send_context(1));
        b.post(1, 0, 64);
        b.grant.visible_at(20, {1, 0, 1, false});
        const cycle_t nak = 300;
        b.ack.visible_at(nak, {1, 100, static_cast<std::uint8_t>(ib::syndrome_rnr_nak | 1)});
        // Code 1 is 10 us = 2500 cycles.
        b.run_to(nak + 2500);
        REQUIRE(b.update.seen.size() == 2);
        CHECK(b.update.seen[1].cycle == nak + 1);
        CHECK(b.update.seen[1].value.hold == hold_t::hold);
        CHECK(b.update.seen[1].value.consumer == 0);
        b.run_to(nak + 2500 + 1);
        REQUIRE(b.update.seen.size() == 3);
        CHECK(b.update.seen[2].value.hold == hold_t::release);
    }
}

TEST_CASE("send engine: RNR retries used up") {
    send_engine_bench b;
    b.start();
    ib::qp_context c = send_context(1);
    c.attributes.rnr_retry = 0;
    b.open(c);
    b.post(1, 0, 64);
    b.grant.visible_at(20, {1, 0, 1, false});
    b.ack.visible_at(300, {1, 100, static_cast<std::uint8_t>(ib::syndrome_rnr_nak | 1)});
    b.run_to(400);
    CHECK(statuses(b) == std::vector<wc_status>{wc_status::rnr_retry_exc_err});
    CHECK(b.cqe.seen[0].cycle == 301);
    CHECK(b.contexts.table[1].state == qp_state::err);
}

TEST_CASE("send engine: a sequence NAK goes back at once, with the old PSN") {
    send_engine_bench b;
    b.start();
    b.open(send_context(1));
    for (std::uint16_t i = 0; i < 3; ++i) {
        b.post(1, i, 64);
    }
    b.grant.visible_at(20, {1, 0, 3, false});
    // Expected PSN 101: 100 is acknowledged by it, 101 and 102 are sent again.
    b.ack.visible_at(300, {1, 101, ib::syndrome_nak_sequence});
    b.grant.visible_at(320, {1, 1, 2, false});
    b.run_to(600);
    CHECK(wr_ids(b) == std::vector<std::uint64_t>{1000});
    REQUIRE(b.update.seen.size() >= 2);
    CHECK(b.update.seen[1].cycle == 301);
    CHECK(b.update.seen[1].value.consumer == 1);
    CHECK(psns(b) == std::vector<std::uint32_t>{100, 101, 102, 101, 102});
}

TEST_CASE("send engine: a NAK of an invalid request ends the QP") {
    send_engine_bench b;
    b.start();
    b.open(send_context(1));
    b.post(1, 0, 64);
    b.grant.visible_at(20, {1, 0, 1, false});
    b.ack.visible_at(300, {1, 100, ib::syndrome_nak_invalid_request});
    b.run_to(400);
    CHECK(statuses(b) == std::vector<wc_status>{wc_status::rem_inv_req_err});
    CHECK(b.contexts.table[1].state == qp_state::err);
}

TEST_CASE(
    "send engine: SQD finishes the message that has begun, begins no other, and tells when it is drained") {
    send_engine_bench b;
    for (cycle_t shift = 0; shift < 8; ++shift) {
        b.start();
        b.open(send_context(1));
        for (std::uint16_t i = 0; i < 4; ++i) {
            b.post(1, i, 256 * 2);
        }
        const walk t{20, b.memory.cycles()};
        b.grant.visible_at(t.g, {1, 0, 4, false});
        // Packets begin at w, w + 1, ...: two per message. At s only messages that began before s are
        // finished. payload_prefetch (4) stops the row.
        const cycle_t s = t.wqe() + shift;
        b.contexts.change(1, qp_state::sqd, s, false, true);
        b.run_to(800);
        const std::size_t messages = std::min<std::size_t>((shift + 1) / 2, 2);
        CAPTURE(shift);
        CHECK(b.packets.seen.size() == 2 * messages);
        REQUIRE(b.update.seen.size() == 1);
        CHECK(b.update.seen[0].value.end_service);
        CHECK(b.update.seen[0].value.set_consumer);
        CHECK(b.update.seen[0].value.consumer == messages);
        CHECK(b.events.seen.size() == (messages == 0 ? 1 : 0));
        if (messages != 0) {
            b.ack.visible_at(900, {1, static_cast<std::uint32_t>(99 + 2 * messages), ib::syndrome_ack});
            b.run_to(1000);
            CHECK(b.cqe.seen.size() == messages);
            REQUIRE(b.events.seen.size() == 1);
            CHECK(b.events.seen[0].cycle == 900 + messages);  // with the last CQE
            CHECK(b.events.seen[0].value.type == ib::event_type::sq_drained);
        }
    }
}

TEST_CASE("send engine: ERR at any cycle of a grant loses no WQE and flushes in order") {
    send_engine_bench b;
    for (const engine_kind kind : both) {
        for (cycle_t s = 18; s < 160; ++s) {
            b.start(kind);
            b.open(send_context(1));
            for (std::uint16_t i = 0; i < 8; ++i) {
                b.post(1, i, 64);
            }
            b.grant.visible_at(20, {1, 0, 4, false});
            b.contexts.change(1, qp_state::err, s);
            b.run_to(300);
            // The scheduler would go on where the engine says, else behind the grant.
            REQUIRE(b.update.seen.size() == 1);
            const std::uint16_t next =
                b.update.seen[0].value.set_consumer ? b.update.seen[0].value.consumer : std::uint16_t{4};
            b.grant.visible_at(310, {1, next, static_cast<std::uint16_t>(8 - next), true});
            b.run_to(600);
            CAPTURE(s);
            std::vector<std::uint64_t> all;
            for (std::uint64_t i = 0; i < 8; ++i) {
                all.push_back(1000 + i);
            }
            CHECK(wr_ids(b) == all);
            CHECK(b.pool.in_use() == 0);
        }
    }
}

TEST_CASE("send engine: a timeout without retries left in any cycle of a later grant loses no WQE") {
    send_engine_bench b;
    for (cycle_t g = 2000; g < 2200; ++g) {
        b.start();
        ib::qp_context c = send_context(1, 1);
        c.attributes.retry_cnt = 0;
        b.open(c);
        for (std::uint16_t i = 0; i < 8; ++i) {
            b.post(1, i, 64);
        }
        b.grant.visible_at(20, {1, 0, 1, false});
        b.grant.visible_at(g, {1, 1, 4, false});  // the timer expires at 20 + 108 + 2048 = 2176
        b.run_to(2600);
        CAPTURE(g);
        REQUIRE(b.update.seen.size() == 2);
        const std::uint16_t next =
            b.update.seen[1].value.set_consumer ? b.update.seen[1].value.consumer : std::uint16_t{5};
        b.grant.visible_at(2610, {1, next, static_cast<std::uint16_t>(8 - next), true});
        b.run_to(2900);
        CHECK(wr_ids(b) == std::vector<std::uint64_t>{1000, 1001, 1002, 1003, 1004, 1005, 1006, 1007});
        CHECK(statuses(b)[0] == wc_status::retry_exc_err);
    }
}

TEST_CASE("send engine: ERR after go-back-N flushes what was to be sent again, too") {
    send_engine_bench b;
    for (cycle_t s = 300; s < 500; ++s) {
        b.start();
        b.open(send_context(1));
        for (std::uint16_t i = 0; i < 8; ++i) {
            b.post(1, i, 64);
        }
        b.grant.visible_at(20, {1, 0, 2, false});
        b.grant.visible_at(296, {1, 2, 4, false});  // at work when the NAK comes
        b.ack.visible_at(298, {1, 100, ib::syndrome_nak_sequence});
        b.contexts.change(1, qp_state::err, s);
        b.run_to(700);
        CAPTURE(s);
        const std::uint16_t next = b.update.seen.back().value.consumer;
        REQUIRE(b.update.seen.back().value.set_consumer);
        b.grant.visible_at(710, {1, next, static_cast<std::uint16_t>(8 - next), true});
        b.run_to(1000);
        CHECK(wr_ids(b) == std::vector<std::uint64_t>{1000, 1001, 1002, 1003, 1004, 1005, 1006, 1007});
    }
}

TEST_CASE("send engine: RESET forgets everything and makes no CQE") {
    send_engine_bench b;
    for (cycle_t s = 18; s < 160; ++s) {
        b.start();
        b.open(send_context(1));
        for (std::uint16_t i = 0; i < 4; ++i) {
            b.post(1, i, 64);
        }
        b.grant.visible_at(20, {1, 0, 4, false});
        b.contexts.change(1, qp_state::reset, s);
        b.run_to(300);
        b.ack.visible_at(310, {1, 103, ib::syndrome_ack});
        b.run_to(400);
        CAPTURE(s);
        CHECK(b.cqe.seen.empty());
        CHECK(b.pool.in_use() == 0);
        REQUIRE(b.update.seen.size() == 1);
        CHECK(b.update.seen[0].value.end_service);
    }
}

TEST_CASE(
    "send engine: a full list of all QPs holds, and every way of getting room lets a waiting QP go on") {
    send_engine_bench b;
    b.config.outstanding_messages = 16;
    for (const qp_state end : {qp_state::rts, qp_state::err, qp_state::reset}) {
        b.start();
        b.open(send_context(1));
        b.open(send_context(2));
        for (std::uint16_t i = 0; i < 16; ++i) {
            b.post(1, i, 0);
        }
        b.post(2, 0, 0);
        b.grant.visible_at(20, {1, 0, 16, false});
        b.grant.visible_at(200, {2, 0, 1, false});
        b.run_to(500);
        REQUIRE(b.update.seen.size() == 2);
        CHECK(b.update.seen[1].value.qpn == 2);
        CHECK(b.update.seen[1].value.hold == hold_t::hold);
        if (end == qp_state::rts) {
            b.ack.visible_at(600, {1, 100, ib::syndrome_ack});
        } else {
            b.contexts.change(1, end, 600);
        }
        b.run_to(700);
        const auto released = [](const auto& e) {
            return e.value.qpn == 2 && e.value.hold == hold_t::release;
        };
        CHECK(std::any_of(b.update.seen.begin(), b.update.seen.end(), released));
    }
}

TEST_CASE("send engine: a grant ends at the end of the ring") {
    send_engine_bench b;
    b.start();
    b.open(send_context(1));
    // The engine expects WQE 0 first; 62 in four rounds of its ring is reached by granting in order.
    b.config.window_messages = 128;
    b.start();
    b.open(send_context(1));
    for (std::uint16_t i = 0; i < 66; ++i) {
        b.post(1, i, 0);
        if (i == 61) {
            b.grant.visible_at(20, {1, 0, 62, false});
            b.run_to(400);
        }
    }
    b.grant.visible_at(420, {1, 62, 4, false});
    b.run_to(600);
    REQUIRE(b.update.seen.size() == 2);
    CHECK(b.update.seen[1].value.set_consumer);
    CHECK(b.update.seen[1].value.consumer == 64);
    b.grant.visible_at(620, {1, 64, 2, false});
    b.run_to(800);
    CHECK(b.packets.seen.size() == 66);
    CHECK(b.packets.seen.back().wqe_index == 65);
}

TEST_CASE("send engine: a UD message is complete when its last byte is on the wire") {
    send_engine_bench b;
    for (const engine_kind kind : both) {
        b.start(kind);
        ib::qp_context c = send_context(1);
        c.resources.service = ib::service_type::ud;
        b.open(c);
        ib::send_wqe w;
        w.wqe_index = 0;
        w.flags = ib::wqe_signaled;
        w.length_bytes = 64;
        w.address = send_data;
        w.remote_lid = 12;
        w.remote_qpn = 1;
        w.remote_qkey = 0x80010000;
        w.sl = 1;
        b.post(1, w);
        b.grant.visible_at(20, {1, 0, 1, false});
        b.sent.visible_at(300, {1, 0, 310});
        b.run_to(400);
        REQUIRE(b.packets.seen.size() == 1);
        CHECK(b.packets.seen[0].vl == 1);
        CHECK(b.packets.seen[0].h.op == ib::ud_send_only);
        CHECK(b.packets.seen[0].h.dlid == 12);
        CHECK(b.packets.seen[0].h.src_qpn == 1);
        CHECK(b.cqe.cycles() == std::vector<cycle_t>{311});  // pushed at 310
    }
}

TEST_CASE(
    "send engine: a bad datagram ends the QP in SQE, what was granted to be flushed is flushed even when RTS "
    "comes back first") {
    send_engine_bench b;
    for (cycle_t s = 301; s < 420; s += 3) {
        b.start();
        ib::qp_context c = send_context(1);
        c.resources.service = ib::service_type::ud;
        b.open(c);
        b.post(1, 0, 100000);
        b.post(1, 1, 64);
        b.post(1, 2, 64);
        b.grant.visible_at(20, {1, 0, 1, false});
        b.run_to(290);
        CHECK(statuses(b) == std::vector<wc_status>{wc_status::loc_len_err});
        CHECK(b.contexts.table[1].state == qp_state::sqe);
        b.grant.visible_at(300, {1, 1, 2, true});
        b.contexts.change(1, qp_state::rts, s);
        b.run_to(700);
        CAPTURE(s);
        REQUIRE(b.update.seen.size() == 2);
        // Either they were flushed, or they are to be granted again; not lost.
        const scheduler_update& u = b.update.seen[1].value;
        const std::size_t flushed = b.cqe.seen.size() - 1;
        CHECK((u.set_consumer ? u.consumer : 3u) == 1 + flushed);
    }
}

TEST_CASE("send engine: gate bits in the context: a grant that finds the gate closed is given back") {
    send_engine_bench b;
    b.start();
    b.open(send_context(1));
    b.contexts.change(1, qp_state::sqd, 10);
    b.post(1, 0, 64);
    const walk t{20, b.memory.cycles()};
    b.grant.visible_at(t.g, {1, 0, 1, false});
    b.run_to(100);
    REQUIRE(b.update.seen.size() == 1);
    CHECK(b.update.seen[0].cycle == t.context() + 1);
    CHECK(b.update.seen[0].value.gate_was_closed);
    CHECK(b.update.seen[0].value.consumer == 0);
    CHECK(b.memory.requests.seen.empty());
}

TEST_CASE("send engine: a grant made before a rewind was known is returned at once") {
    send_engine_bench b;
    b.start();
    b.open(send_context(1));
    b.post(1, 0, 64);
    b.grant.visible_at(20, {1, 3, 2, false});  // the engine knows that WQE 0 is next
    b.run_to(60);
    REQUIRE(b.update.seen.size() == 1);
    CHECK(b.update.seen[0].cycle == 21);
    CHECK(b.update.seen[0].value.end_service);
    CHECK(b.update.seen[0].value.consumer == 0);
    CHECK(b.contexts.requests.seen.empty());
}

TEST_CASE("send engine: back-pressure on every channel changes times only") {
    send_engine_bench b;
    const auto run = [&b](engine_kind kind, std::uint32_t stall, std::uint64_t seed) {
        b.start(kind, stall, seed);
        for (std::uint32_t qpn = 1; qpn <= 4; ++qpn) {
            b.open(send_context(qpn));
            for (std::uint16_t i = 0; i < 12; ++i) {
                b.post(qpn, i, (i * 7u + qpn) % 5 * 130);
            }
        }
        b.packets.then = [&b](const seen_packet& p) {
            if (p.h.ack_request) {
                b.ack.visible_at(p.cycle + 40, {p.qpn, p.h.psn, ib::syndrome_ack});
            }
        };
        std::map<std::uint32_t, std::uint16_t> next;
        b.update.then = [&](const scheduler_update& u, cycle_t at) {
            if (u.end_service && next[u.qpn] < 12) {
                b.grant.visible_at(at + 2, {u.qpn, next[u.qpn], 4, false});
                next[u.qpn] = static_cast<std::uint16_t>(next[u.qpn] + 4);
            }
        };
        for (std::uint32_t qpn = 1; qpn <= 4; ++qpn) {
            b.grant.visible_at(20, {qpn, 0, 4, false});
            next[qpn] = 4;
        }
        b.run_to(8000);
        b.packets.then = {};
        b.update.then = {};
        std::map<std::uint32_t, std::vector<std::uint64_t>> seen;
        for (const seen_packet& p : b.packets.seen) {
            seen[p.qpn].push_back(std::uint64_t{p.h.psn} << 32 | std::uint64_t{p.h.op} << 16 |
                                  p.payload_bytes);
        }
        for (const auto& e : b.cqe.seen) {
            seen[100 + e.value.entry.qpn].push_back(e.value.entry.wr_id);
        }
        return seen;
    };
    const auto reference = run(engine_kind::wheel, 0, 1);
    CHECK(reference.at(104).size() == 12);
    std::vector<cycle_t> cycles = b.cqe.cycles();
    CHECK(run(engine_kind::poll, 0, 1) == reference);
    CHECK(b.cqe.cycles() == cycles);
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
        CHECK(run(engine_kind::wheel, 300, seed) == reference);
        cycles = b.cqe.cycles();
        CHECK(run(engine_kind::poll, 300, seed) == reference);
        CHECK(b.cqe.cycles() == cycles);
    }
}
