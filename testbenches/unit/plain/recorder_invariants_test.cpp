// Each invariant: a right sequence passes, and each way to break it is caught under its own number.
#include <cstdint>
#include <string>

#include "testbenches/unit/catch.h"
#include "testbenches/unit/recorder_feed.h"

using namespace hcasim;
using namespace hcasim::test;
using ib::gate_opener;
using ib::qp_state;
using ib::wc_status;

namespace {

scenario_config opened_by(std::uint32_t open_on) {
    scenario_config s;
    s.open_on = open_on;
    return s;
}

// `invariant` was broken in this cycle by this block on host 0's QP, and no other before it.
std::string broken(std::uint64_t cycle, const std::string& block, const std::string& invariant) {
    return "cycle " + std::to_string(cycle) + ", host 0, " + block + ", QP 0x00004b: " + invariant;
}

}  // namespace

TEST_CASE("recorder: a right run violates nothing and checks something") {
    recorder_feed f;
    f.connect(0);
    f.connect(1);
    f.send(0, sq_psn, 200);
    f.acknowledge(sq_psn, ib::syndrome_ack | 31, 290);
    f.send(0, sq_psn, 210, 1);
    f.send(1, sq_psn + 1, 400);
    const run_result r = f.finish(1000);
    CHECK(f.broken().empty());
    CHECK(r.invariants_violated == 0);
    CHECK(r.violation.empty());
    CHECK(f.rec.checks(0) == 3);  // three sends
    CHECK(f.rec.checks(1) == 3);  // three requests
    CHECK(f.rec.checks(2) == 1);  // one response
    CHECK(f.rec.checks(4) == 3);
    CHECK(f.rec.checks(3) == 0);
    CHECK(r.invariants_checked == 8);  // all but COMM_EST; the doorbell's by the gate at the end
}

// 1

TEST_CASE("recorder, invariant 1: no request before RTS") {
    recorder_feed f;
    SECTION("in RESET, unknown to all") {}
    SECTION("in INIT") { f.state(qp_state::reset, qp_state::init, 50); }
    SECTION("in RTR") { f.to_rtr(50); }
    f.request(0, 100);
    CHECK(f.broken() == broken(100, "send_engine", "invariant 1"));
    CHECK(f.rec.violated());
}

TEST_CASE("recorder, invariant 1: a datagram counts as a request, with and without GRH") {
    recorder_feed f;
    SECTION("local") { f.request(0, 100, ib::ud_send_only); }
    SECTION("global") { f.request(0, 100, ib::ud_send_only, 0, data_qpn, true); }
    CHECK(f.broken() == broken(100, "send_engine", "invariant 1"));
}

TEST_CASE("recorder, invariant 1: SQD sends what has begun") {
    recorder_feed f;
    f.connect();
    f.post(0, 110);
    f.state(qp_state::rts, qp_state::sqd, 150);
    f.request(sq_psn, 200);
    CHECK(f.broken().empty());
}

TEST_CASE("recorder, invariant 1: what was made before ERR may leave, what was made after may not") {
    const bool late = GENERATE(false, true);
    recorder_feed f;
    f.connect();
    f.post(0, 200);
    f.stamps(0, stage::doorbell, stage::wqe, 200);
    f.state(qp_state::rts, qp_state::err, 500);
    const std::uint64_t made = late ? 500 + 257 : 500 + 256;
    f.stamp(0, stage::payload, made);
    f.request(sq_psn, 2000);
    f.stamp(0, stage::wire, 2000);
    CHECK(f.broken() == (late ? broken(2000, "send_engine", "invariant 1") : ""));
}

TEST_CASE("recorder, invariant 1: injected stalls stretch the allowance") {
    scenario_config s;
    s.hca.stall_per_1024 = 512;
    const bool late = GENERATE(false, true);
    recorder_feed f(s);
    f.connect();
    f.post(0, 200);
    f.stamps(0, stage::doorbell, stage::wqe, 200);
    f.state(qp_state::rts, qp_state::err, 500);
    f.stamp(0, stage::payload, 500 + 512 + (late ? 1 : 0));
    f.stamp(0, stage::wire, 2000);
    CHECK(f.rec.violated() == late);
}

TEST_CASE("recorder, invariant 1: what is left of a life before RESET is gone by RTR") {
    const bool in_rtr = GENERATE(false, true);
    recorder_feed f;
    f.connect();
    f.state(qp_state::rts, qp_state::reset, 500);
    f.state(qp_state::reset, qp_state::init, 600);
    if (in_rtr) {
        f.state(qp_state::init, qp_state::rtr, 700);
    }
    f.request(sq_psn, 800);
    CHECK(f.rec.violated() == in_rtr);
}

TEST_CASE("recorder, invariant 1: a QP that never was in RTS has nothing to leave in ERR") {
    recorder_feed f;
    f.to_rtr(50);
    f.state(qp_state::rtr, qp_state::err, 100);
    f.request(0, 101);
    CHECK(f.broken() == broken(101, "send_engine", "invariant 1"));
}

// 2

TEST_CASE("recorder, invariant 2: responses from RTR on") {
    recorder_feed f;
    f.to_rtr(50);
    f.acknowledge(7, ib::syndrome_ack, 60, 0);
    f.to_rts(100);
    f.acknowledge(8, ib::syndrome_ack, 110, 0);
    f.state(qp_state::rts, qp_state::sqd, 120);
    f.acknowledge(9, ib::syndrome_ack, 130, 0);
    CHECK(f.broken().empty());
    CHECK(f.rec.checks(2) == 3);
}

TEST_CASE("recorder, invariant 2: no response before RTR") {
    recorder_feed f;
    SECTION("in RESET") {}
    SECTION("in INIT") { f.state(qp_state::reset, qp_state::init, 50); }
    f.acknowledge(7, ib::syndrome_rnr_nak, 100, 0);
    CHECK(f.broken() == broken(100, "receive_engine", "invariant 2"));
}

TEST_CASE("recorder, invariant 2: in ERR only what was on its way") {
    scenario_config s;
    s.hca.link.tx_queue_packets = 2;
    s.hca.receive_engine.slots = 3;
    recorder_feed f(s);
    f.to_rtr(50);
    f.state(qp_state::rtr, qp_state::err, 100);
    for (std::uint32_t i = 0; i < 2 + 3 + 64; ++i) {
        f.acknowledge(i, ib::syndrome_ack, 101 + i, 0);
    }
    CHECK(f.broken().empty());
    f.acknowledge(99, ib::syndrome_ack, 300, 0);
    CHECK(f.broken() == broken(300, "receive_engine", "invariant 2"));
}

TEST_CASE("recorder, invariant 2: no request is accepted before RTR") {
    recorder_feed f;
    f.state(qp_state::reset, qp_state::init, 50);
    f.hca().request_accepted(data_qpn, 5, true, 60);
    CHECK(f.broken() == broken(60, "receive_engine", "invariant 2"));
}

// 3

TEST_CASE("recorder, invariant 3: COMM_EST once per stay in RTR") {
    recorder_feed f;
    f.to_rtr(50);
    f.hca().request_accepted(data_qpn, 5, true, 60);
    f.hca().comm_est(data_qpn, 61);
    CHECK(f.broken().empty());
    SECTION("not twice in RTR") {
        f.hca().comm_est(data_qpn, 70);
        CHECK(f.broken() == broken(70, "receive_engine", "invariant 3"));
    }
    SECTION("not again in RTS") {
        f.to_rts(65);
        f.hca().comm_est(data_qpn, 70);
        CHECK(f.broken() == broken(70, "receive_engine", "invariant 3"));
    }
    SECTION("but again in the next stay") {
        f.state(qp_state::rtr, qp_state::reset, 80);
        f.to_rtr(100);
        f.hca().comm_est(data_qpn, 110);
        CHECK(f.broken().empty());
    }
    SECTION("not in the next life before RTR") {
        f.state(qp_state::rtr, qp_state::reset, 80);
        f.state(qp_state::reset, qp_state::init, 90);
        f.hca().comm_est(data_qpn, 91);
        CHECK(f.broken() == broken(91, "receive_engine", "invariant 3"));
    }
}

TEST_CASE("recorder, invariant 3: none when RTS was there before any request") {
    recorder_feed f;
    f.to_rtr(50);
    f.to_rts(100, gate_opener::rtu);
    SECTION("request long after RTS") {
        f.hca().request_accepted(data_qpn, 5, true, 357);
        f.hca().comm_est(data_qpn, 358);
        CHECK(f.broken() == broken(358, "receive_engine", "invariant 3"));
    }
    SECTION("no request at all") {
        f.hca().comm_est(data_qpn, 400);
        CHECK(f.broken() == broken(400, "receive_engine", "invariant 3"));
    }
    SECTION("request that was in the responder's hands at that moment") {
        f.hca().request_accepted(data_qpn, 5, true, 356);
        f.hca().comm_est(data_qpn, 400);
        CHECK(f.broken().empty());
    }
}

TEST_CASE("recorder, invariant 3: the packet that opens the gate may raise it after RTS") {
    recorder_feed f;
    f.to_rtr(50);
    f.to_rts(100, gate_opener::packet);
    f.hca().request_accepted(data_qpn, 5, true, 110);
    f.hca().comm_est(data_qpn, 5000);
    CHECK(f.broken().empty());
}

// 4

TEST_CASE("recorder, invariant 4: SQ_PSN first, then one by one") {
    recorder_feed f;
    f.connect();
    SECTION("not the next") {
        f.request(sq_psn + 1, 200);
        CHECK(f.broken() == broken(200, "send_engine", "invariant 4"));
    }
    SECTION("not one before") {
        f.request(sq_psn - 1, 200);
        CHECK(f.broken() == broken(200, "send_engine", "invariant 4"));
    }
    SECTION("gap later") {
        f.post(0, 150);
        f.request(sq_psn, 200, ib::rc_send_first);
        f.request(sq_psn + 1, 210, ib::rc_send_middle);
        CHECK(f.broken().empty());
        f.request(sq_psn + 3, 220, ib::rc_send_last);
        CHECK(f.broken() == broken(220, "send_engine", "invariant 4"));
    }
    SECTION("the same again") {
        f.post(0, 150);
        f.request(sq_psn, 200);
        f.request(sq_psn, 210);
        CHECK(f.broken() == broken(210, "send_engine", "invariant 4"));
    }
}

TEST_CASE("recorder, invariant 4: SQD and back does not start the PSN again") {
    const bool restarts = GENERATE(false, true);
    recorder_feed f;
    f.connect();
    f.send(0, sq_psn, 200);
    f.state(qp_state::rts, qp_state::sqd, 400);
    f.state(qp_state::sqd, qp_state::rts, 500, gate_opener::command, sq_psn);
    f.post(1, 550);
    f.request(restarts ? sq_psn : sq_psn + 1, 600);
    CHECK(f.rec.violated() == restarts);
}

TEST_CASE("recorder, invariant 4: go-back-N repeats from the oldest unacknowledged") {
    recorder_feed f;
    f.connect();
    f.connect(1);
    f.send(0, sq_psn, 200);  // acknowledged
    for (std::uint16_t i = 1; i < 4; ++i) {
        f.post(i, 400);
        f.stamps(i, stage::doorbell, stage::payload, 400);
        f.request(sq_psn + i, 460 + 10u * i);
        f.stamps(i, stage::wire, stage::sent, 400 + 10u * i);
    }
    SECTION("without a new grant it is no go-back-N") {
        f.request(sq_psn + 1, 1000);
        CHECK(f.broken() == broken(1000, "send_engine", "invariant 4"));
    }
    f.stamp(1, stage::grant, 900);
    SECTION("from the oldest, in order, then new ones") {
        f.request(sq_psn + 1, 1000);
        f.request(sq_psn + 2, 1010);
        f.request(sq_psn + 3, 1020);
        f.post(4, 1025);
        f.request(sq_psn + 4, 1030);
        CHECK(f.broken().empty());
    }
    SECTION("not from one that is acknowledged") {
        f.request(sq_psn, 1000);
        CHECK(f.broken() == broken(1000, "send_engine", "invariant 4"));
    }
    SECTION("nothing left out in the repeat") {
        f.request(sq_psn + 1, 1000);
        f.request(sq_psn + 3, 1010);
        CHECK(f.broken() == broken(1010, "send_engine", "invariant 4"));
    }
    SECTION("but what the peer has acknowledged") {
        f.request(sq_psn + 1, 1000);
        f.acknowledge(sq_psn + 2, ib::syndrome_ack, 1005);
        f.request(sq_psn + 3, 1010);
        CHECK(f.broken() == "");
    }
    SECTION("a NAK acknowledges only what is before it") {
        f.request(sq_psn + 1, 1000);
        f.acknowledge(sq_psn + 2, ib::syndrome_nak_sequence, 1005);
        f.request(sq_psn + 3, 1010);
        CHECK(f.broken() == broken(1010, "send_engine", "invariant 4"));
    }
}

TEST_CASE("recorder, invariant 4: a repeat that an acknowledge overtook is legal") {
    recorder_feed f;
    f.connect();
    f.post(0, 200);
    f.stamps(0, stage::doorbell, stage::payload, 200);
    f.request(sq_psn, 260);
    f.stamps(0, stage::wire, stage::sent, 200);
    f.stamp(0, stage::grant, 900);  // timer
    f.stamp(0, stage::acked, 910);
    f.end(0, 910);
    f.stamp(0, stage::completed, 930);
    f.request(sq_psn, 1000);  // stood in the VL queue
    CHECK(f.broken() == "");
}

TEST_CASE("recorder, invariant 4: PSNs wrap at 2^24") {
    recorder_feed f;
    f.rec.data_qp(0, data_qpn, true);
    f.to_rtr(50);
    f.state(qp_state::rtr, qp_state::rts, 100, gate_opener::rtu, 0xfffffe);
    f.post(0, 110);
    f.request(0xfffffe, 200, ib::rc_send_first);
    f.request(0xffffff, 210, ib::rc_send_middle);
    f.request(0, 220, ib::rc_send_middle);
    f.request(1, 230, ib::rc_send_last);
    CHECK(f.broken().empty());
}

TEST_CASE("recorder, invariant 4: holds for a QP whose posts are not known") {
    recorder_feed f;
    f.to_rtr(50, 0, 1);
    f.to_rts(100, gate_opener::command, 0, 1);
    f.request(sq_psn, 200, ib::ud_send_only, 0, 1);
    f.request(sq_psn + 1, 210, ib::ud_send_only, 0, 1);
    CHECK(f.broken().empty());
    f.request(sq_psn + 3, 220, ib::ud_send_only, 0, 1);
    CHECK(f.broken() == "cycle 220, host 0, send_engine, QP 0x000001: invariant 4");
}

// 5

TEST_CASE("recorder, invariant 5: WQEs on the wire in post order") {
    recorder_feed f;
    f.connect();
    f.post(0, 200);
    f.post(1, 200);
    SECTION("right") {
        f.stamp(0, stage::wire, 300);
        f.stamp(1, stage::wire, 310);
        CHECK(f.broken().empty());
    }
    SECTION("one overtakes") {
        f.stamp(1, stage::wire, 300);
        CHECK(f.broken() == broken(300, "link", "invariant 5"));
    }
    SECTION("one that was not posted is granted") {
        f.stamp(2, stage::grant, 300);
        CHECK(f.broken() == broken(300, "send_scheduler", "invariant 5"));
    }
    SECTION("one that was not posted is sent") {
        f.stamp(2, stage::wire, 300);
        CHECK(f.broken() == broken(300, "link", "invariant 5"));
    }
    SECTION("more messages than posts") {
        f.request(sq_psn, 300);
        f.request(sq_psn + 1, 310);
        CHECK(f.broken().empty());
        f.request(sq_psn + 2, 320);
        CHECK(f.broken() == broken(320, "send_engine", "invariant 5"));
    }
    SECTION("posts with a hole") {
        f.post(3, 300);
        CHECK(f.broken() == broken(310, "host software", "invariant 5"));
    }
}

TEST_CASE("recorder, invariant 5: order survives the wrap of the index") {
    recorder_feed f;
    f.connect();
    std::uint32_t psn = sq_psn;
    std::uint64_t cycle = 1000;
    for (std::uint32_t i = 0; i < 65536 + 10; ++i, ++psn, cycle += 200) {
        f.send(static_cast<std::uint16_t>(i), psn & 0xffffff, cycle);
    }
    REQUIRE(f.broken().empty());
    f.post(10, cycle);
    f.post(11, cycle);
    f.stamp(11, stage::wire, cycle + 100);
    CHECK(f.rec.violated());
    CHECK(f.finish(cycle + 1000, false).messages.completed == 65536 + 10);
}

// 6

TEST_CASE("recorder, invariant 6: merges of the producer index are monotone") {
    recorder_feed f;
    const auto merge = [&f](std::uint16_t before, std::uint16_t offered, std::uint16_t after) {
        f.hca().doorbell_merged(data_qpn, before, offered, after, 10);
    };
    merge(5, 7, 7);
    merge(7, 6, 7);
    merge(7, 7, 7);
    merge(0xffff, 2, 2);
    merge(2, 0xffff, 2);
    CHECK(f.broken().empty());
    CHECK(f.rec.checks(6) == 5);
    SECTION("goes back") { merge(7, 5, 5); }
    SECTION("goes back over the wrap") { merge(2, 0xffff, 0xffff); }
    SECTION("loses the newer") { merge(5, 7, 5); }
    SECTION("invents one") { merge(5, 7, 8); }
    SECTION("adds like a counter") { merge(5, 7, 12); }
    CHECK(f.broken() == broken(10, "doorbell_unit", "invariant 6"));
}

TEST_CASE("recorder, invariant 6: no wake-up is lost") {
    const bool idle = GENERATE(false, true);
    recorder_feed f;
    f.connect();
    f.post(0, 200);
    f.stamps(0, stage::doorbell, stage::pending, 200);
    SECTION("pending, open, and never a gate stamp") {}
    SECTION("pending, open, and never granted") { f.stamp(0, stage::gate, 222); }
    SECTION("the gate never opened for the scheduler") { f.gate(gate_state::closed, 300); }
    const std::uint64_t end = idle ? 400 : 302 + 1'000'000;
    f.finish(end, idle);
    CHECK(f.broken() == broken(end, "send_scheduler", "invariant 6"));
}

TEST_CASE("recorder, invariant 6: what may still come is not lost") {
    recorder_feed f;
    f.connect();
    f.post(0, 200);
    f.stamps(0, stage::doorbell, stage::gate, 200);
    SECTION("the run was cut short") { f.finish(5000, false); }
    SECTION("granted") {
        f.stamp(0, stage::grant, 300);
        f.finish(5000, false);
    }
    CHECK(f.broken().empty());
}

TEST_CASE("recorder, invariant 6: what was begun ends before all is quiet, unless packets get lost") {
    const bool lossy = GENERATE(false, true);
    scenario_config s;
    s.hca.link.faults[static_cast<std::size_t>(packet_class::response)].loss = lossy ? 0.1 : 0.0;
    recorder_feed f(s);
    f.connect();
    f.post(0, 200);
    f.stamps(0, stage::doorbell, stage::sent, 200);
    f.finish(5000, true);
    CHECK(f.broken() == (lossy ? "" : broken(5000, "hca", "invariant 6")));
}

TEST_CASE("recorder, invariant 6: what is not announced need not be granted") {
    recorder_feed f;
    f.connect();
    f.post(0, 200);
    f.finish(5000, true);
    CHECK(f.broken().empty());
}

// 7

TEST_CASE("recorder, invariant 7: only an enabled opener opens") {
    const auto opener = GENERATE(gate_opener::rtu, gate_opener::packet, gate_opener::comm_est);
    const std::uint32_t bit = 1u << (static_cast<unsigned>(opener) - 1);
    const bool enabled = GENERATE(false, true);
    recorder_feed f(opened_by(enabled ? bit : 7u & ~bit));
    f.to_rtr(50);
    f.to_rts(100, opener);
    CHECK(f.broken() == (enabled ? "" : broken(100, "qp_context_cache", "invariant 7")));
}

TEST_CASE("recorder, invariant 7: the active side needs none") {
    recorder_feed f(opened_by(0));
    f.to_rtr(50);
    f.to_rts(100, gate_opener::command);
    CHECK(f.broken().empty());
}

TEST_CASE("recorder, invariant 7: nobody is late before the gate is open") {
    recorder_feed f;
    f.to_rtr(50);
    SECTION("turned away in RTR") {
        f.hca().late_opener(data_qpn, static_cast<std::uint8_t>(gate_opener::packet), 60);
        CHECK(f.broken() == broken(60, "qp_context_cache", "invariant 7"));
    }
    SECTION("late after RTS") {
        f.to_rts(100);
        f.hca().late_opener(data_qpn, static_cast<std::uint8_t>(gate_opener::packet), 101);
        CHECK(f.broken().empty());
    }
    SECTION("the scheduler hears of it much later") {
        f.state(qp_state::rtr, qp_state::rts, 100, gate_opener::rtu, sq_psn);
        f.hca().late_opener(data_qpn, static_cast<std::uint8_t>(gate_opener::packet), 101);
        f.gate(gate_state::open, 101 + 257);
        CHECK(f.broken() == broken(101 + 257, "send_scheduler", "invariant 7"));
    }
}

// 8

TEST_CASE("recorder, invariant 8: late openers change nothing") {
    recorder_feed f;
    f.connect();
    f.post(0, 150);
    f.post(1, 150);
    f.request(sq_psn, 200);
    f.hca().late_opener(data_qpn, static_cast<std::uint8_t>(gate_opener::comm_est), 210);
    SECTION("the PSN goes on") {
        f.request(sq_psn + 1, 220);
        CHECK(f.broken().empty());
    }
    SECTION("the PSN starts again") {
        f.request(sq_psn, 220);
        CHECK(f.broken() == broken(220, "send_engine", "invariant 8"));
    }
    SECTION("the state was set back unseen") {
        f.state(qp_state::rtr, qp_state::rts, 220, gate_opener::rtu, sq_psn);
        CHECK(f.broken() == broken(220, "qp_context_cache", "invariant 8"));
    }
}

TEST_CASE("recorder, invariant 8: a QP number may be used again") {
    recorder_feed f;
    f.connect();
    f.send(0, sq_psn, 200);
    f.state(qp_state::rts, qp_state::err, 400);
    f.to_rtr(500);  // from RESET: destroyed and created
    f.to_rts(600);
    f.send(0, sq_psn, 700);
    f.finish(1000);
    CHECK(f.broken().empty());
}

// 9

namespace {

// Three posts in RTR, announced, then ERR in cycle 500.
void flush_from_rtr(recorder_feed& f) {
    f.rec.data_qp(0, data_qpn, true);
    f.to_rtr(90);
    for (std::uint16_t i = 0; i < 3; ++i) {
        f.post(i, 200);
        f.stamps(i, stage::doorbell, stage::pending, 200);
    }
    f.state(qp_state::rtr, qp_state::err, 500);
    f.gate(gate_state::flush, 502, true);
}

void flush(recorder_feed& f, std::uint16_t index, std::uint64_t cycle) {
    f.end(index, cycle, wc_status::wr_flush_err);
    f.stamp(index, stage::completed, cycle + 20);
}

}  // namespace

TEST_CASE("recorder, invariant 9: RTR to ERR flushes all in order") {
    recorder_feed f;
    flush_from_rtr(f);
    SECTION("all three") {
        flush(f, 0, 600);
        flush(f, 1, 610);
        flush(f, 2, 620);
        const run_result r = f.finish(1000);
        CHECK(f.broken().empty());
        CHECK(r.messages.flushed == 3);
        CHECK(r.messages.outstanding == 0);
    }
    SECTION("a later post too") {
        for (std::uint16_t i = 0; i < 3; ++i) {
            flush(f, i, 600 + i);
        }
        f.post(3, 700);
        f.stamps(3, stage::doorbell, stage::pending, 700);
        const bool flushed = GENERATE(false, true);
        if (flushed) {
            flush(f, 3, 800);
        }
        f.finish(1000);
        CHECK(f.broken() == (flushed ? "" : broken(1000, "send_engine", "invariant 9")));
    }
    SECTION("out of order") {
        flush(f, 1, 600);
        CHECK(f.broken() == broken(600, "send_engine", "invariant 9"));
    }
    SECTION("twice") {
        flush(f, 0, 600);
        flush(f, 0, 610);
        CHECK(f.broken() == broken(610, "send_engine", "invariant 9"));
    }
    SECTION("one too many") {
        for (std::uint16_t i = 0; i < 4; ++i) {
            flush(f, i, 600 + 10u * i);
        }
        CHECK(f.broken() == broken(630, "send_engine", "invariant 9"));
    }
    SECTION("one lost") {
        flush(f, 0, 600);
        flush(f, 1, 610);
        const bool idle = GENERATE(false, true);
        const std::uint64_t end = idle ? 700 : 610 + 1'000'001;
        f.finish(end, idle);
        CHECK(f.broken() == broken(end, "send_engine", "invariant 9"));
    }
    SECTION("with another status") {
        f.end(0, 600, wc_status::retry_exc_err);
        CHECK(f.broken() == broken(600, "send_engine", "invariant 9"));
    }
    SECTION("as success") {
        f.end(0, 600);
        CHECK(f.broken() == broken(600, "send_engine", "invariant 9"));
    }
}

TEST_CASE("recorder, invariant 9: RTR to RESET ends none") {
    recorder_feed f;
    f.rec.data_qp(0, data_qpn, true);
    f.to_rtr(90);
    f.post(0, 200);
    f.stamps(0, stage::doorbell, stage::pending, 200);
    f.state(qp_state::rtr, qp_state::reset, 500);
    SECTION("right") {
        const run_result r = f.finish(1000);
        CHECK(f.broken().empty());
        CHECK(r.messages.outstanding == 1);
    }
    SECTION("wrong") {
        f.end(0, 501, wc_status::wr_flush_err);
        CHECK(f.broken() == broken(501, "send_engine", "invariant 9"));
    }
}

TEST_CASE("recorder, invariant 9: RTS to RESET may end what is in the engine's hands, no more") {
    recorder_feed f;
    f.connect();
    f.post(0, 200);
    f.state(qp_state::rts, qp_state::reset, 500);
    f.end(0, 756);
    CHECK(f.broken().empty());
    f.end(1, 757);
    CHECK(f.broken() == broken(757, "send_engine", "invariant 9"));
}

TEST_CASE("recorder, invariant 9: nothing ends in RTR") {
    recorder_feed f;
    f.rec.data_qp(0, data_qpn, true);
    f.to_rtr(90);
    f.post(0, 200);
    f.end(0, 300);
    CHECK(f.broken() == broken(300, "send_engine", "invariant 9"));
}

TEST_CASE("recorder, invariant 9: the one that failed, then flushes only") {
    recorder_feed f;
    f.connect();
    for (std::uint16_t i = 0; i < 4; ++i) {
        f.post(i, 200);
        f.stamps(i, stage::doorbell, stage::gate, 200);
    }
    f.end(0, 300, wc_status::retry_exc_err);
    f.stamp(0, stage::completed, 320);
    f.state(qp_state::rts, qp_state::err, 305);
    f.gate(gate_state::flush, 307, true);
    flush(f, 1, 310);
    SECTION("right") {
        flush(f, 2, 320);
        flush(f, 3, 330);
        const run_result r = f.finish(1000);
        CHECK(f.broken().empty());
        CHECK(r.messages.failed == 1);
        CHECK(r.messages.flushed == 3);
    }
    SECTION("success after a flush") {
        f.end(2, 320);
        CHECK(f.broken() == broken(320, "send_engine", "invariant 9"));
    }
    SECTION("a second reason") {
        f.end(2, 320, wc_status::rem_op_err);
        CHECK(f.broken() == broken(320, "send_engine", "invariant 9"));
    }
}

TEST_CASE("recorder, invariant 9: no flush in RTS") {
    recorder_feed f;
    f.connect();
    f.post(0, 200);
    f.end(0, 300, wc_status::wr_flush_err);
    CHECK(f.broken() == broken(300, "send_engine", "invariant 9"));
}

TEST_CASE("recorder, invariant 9: in order on a QP whose posts are not known") {
    recorder_feed f;
    f.to_rtr(50, 0, 1);
    f.to_rts(100, gate_opener::command, 0, 1);
    f.end(0xffff, 200, wc_status::success, true, 0, 1);
    f.end(0, 210, wc_status::success, true, 0, 1);
    CHECK(f.broken().empty());
    f.end(2, 220, wc_status::success, true, 0, 1);
    CHECK(f.broken() == "cycle 220, host 0, send_engine, QP 0x000001: invariant 9");
}

TEST_CASE("recorder, invariant 9: WQEs end in order in RTS too") {
    recorder_feed f;
    f.connect();
    f.post(0, 200);
    f.post(1, 200);
    f.end(1, 300);
    CHECK(f.broken() == broken(300, "send_engine", "invariant 9"));
}

// Stages

TEST_CASE("recorder, stages: each one missing is found") {
    for (unsigned missing = 1; missing < stage_count - 1; ++missing) {
        recorder_feed f;
        f.connect();
        f.post(0, 200);
        for (unsigned s = 2; s < stage_count - 1; ++s) {
            if (s != missing) {
                f.stamp(0, static_cast<stage>(s), 200 + stamp_offset[s]);
            }
        }
        f.end(0, 300);
        f.stamp(0, stage::completed, 320);
        INFO(name(static_cast<stage>(missing)));
        // `posted` comes with the post and cannot be missing.
        CHECK(f.broken() == (missing == 1 ? "" : broken(320, "hca", "stages")));
    }
}

TEST_CASE("recorder, stages: each one too early is found") {
    for (unsigned early = 2; early < stage_count; ++early) {
        for (const bool wrong : {false, true}) {
            recorder_feed f;
            f.connect();
            f.post(0, 200);
            for (unsigned s = 2; s < stage_count; ++s) {
                if (s == stage_count - 1) {
                    f.end(0, 300);
                }
                const std::uint64_t before = 200 + stamp_offset[s - 1];
                f.stamp(0, static_cast<stage>(s),
                        s == early ? before - (wrong ? 1 : 0) : 200 + stamp_offset[s]);
            }
            INFO(name(static_cast<stage>(early))
                 << (wrong ? ": one cycle too early" : ": in the same cycle"));
            CHECK(f.rec.violated() == wrong);
        }
    }
}

TEST_CASE("recorder, stages: a CQE that never becomes visible is found") {
    recorder_feed f;
    f.connect();
    f.post(0, 200);
    f.stamps(0, stage::doorbell, stage::acked, 200);
    f.end(0, 300);
    const bool idle = GENERATE(false, true);
    const run_result r = f.finish(1000, idle);
    CHECK(f.broken() == (idle ? broken(1000, "completion_unit", "stages") : ""));
    CHECK(r.messages.outstanding == 1);
}

TEST_CASE("recorder: the first violation is kept, all are counted") {
    recorder_feed f;
    f.request(0, 100);
    f.acknowledge(7, ib::syndrome_ack, 110, 0);
    const run_result r = f.finish(200);
    CHECK(r.invariants_violated == 2);
    CHECK(r.violation ==
          "cycle 100, host 0, send_engine, QP 0x00004b: invariant 1: request on the wire in state RESET");
}

TEST_CASE("recorder: packets that are none of its business") {
    recorder_feed f;
    std::uint8_t bytes[64] = {};
    f.hca().packet_on_wire(bytes, 6, 0, true, false, 10, 11);    // flow control
    f.hca().packet_on_wire(bytes, 4, 0, false, false, 10, 11);   // cut short
    f.hca().packet_on_wire(bytes, 64, 0, false, false, 10, 11);  // raw, LNH 0
    bytes[1] = 3;
    f.hca().packet_on_wire(bytes, 59, 0, false, false, 10, 11);  // no room for GRH and BTH
    CHECK(f.broken().empty());
    CHECK(f.rec.checks(1) == 0);
    f.hca().packet_on_wire(bytes, 60, 0, false, false, 10, 11);
    CHECK(f.rec.checks(1) == 1);
}
