// The recorder at its boundaries: the last cycle that is tolerated, lives of a QP, what is counted.
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

std::uint64_t event_count(const run_result& r, const std::string& name) {
    for (const auto& e : r.events) {
        if (e.first == name) {
            return e.second;
        }
    }
    return ~std::uint64_t{0};
}

void late(recorder_feed& f, gate_opener opener, std::uint64_t cycle) {
    f.hca().late_opener(data_qpn, static_cast<std::uint8_t>(opener), cycle);
}

bool says(const recorder_feed& f, const std::string& words) {
    return f.rec.violation().find(words) != std::string::npos;
}

}  // namespace

TEST_CASE("recorder: 256 cycles of slack and not one more") {
    const std::uint64_t over = GENERATE(0u, 1u);
    recorder_feed f;
    f.to_rtr(50);
    SECTION("gate after a late opener") {
        f.state(qp_state::rtr, qp_state::rts, 100, gate_opener::rtu, sq_psn);
        late(f, gate_opener::packet, 101);
        f.gate(gate_state::open, 101 + 256 + over);
    }
    SECTION("request accepted after RESET") {
        f.state(qp_state::rtr, qp_state::reset, 100);
        f.hca().request_accepted(data_qpn, 1, true, 100 + 256 + over);
    }
    SECTION("COMM_EST after ERR") {
        f.state(qp_state::rtr, qp_state::err, 100);
        f.hca().comm_est(data_qpn, 100 + 256 + over);
    }
    SECTION("COMM_EST at any time for a request before") {
        f.state(qp_state::rtr, qp_state::err, 100);
        f.hca().request_accepted(data_qpn, 1, true, 100 + 256 + over);
        f.hca().comm_est(data_qpn, 5000);
    }
    CHECK(f.rec.violated() == (over != 0));
}

TEST_CASE("recorder: a million cycles is not lost yet") {
    const std::uint64_t over = GENERATE(0u, 1u);
    recorder_feed f;
    f.connect();
    f.post(0, 200);
    std::uint64_t since = 0;
    SECTION("the grant, since it was pending") {
        f.stamps(0, stage::doorbell, stage::pending, 200);
        since = 222;
    }
    SECTION("the grant, since the gate") {
        f.stamps(0, stage::doorbell, stage::pending, 200);
        f.stamp(0, stage::gate, 400);
        since = 400;
    }
    SECTION("the grant, since the gate was opened again") {
        f.stamps(0, stage::doorbell, stage::gate, 200);
        f.gate(gate_state::closed, 250);
        f.gate(gate_state::open, 450);
        since = 450;
    }
    SECTION("the grant, since the one before has ended") {
        f.stamps(0, stage::doorbell, stage::acked, 200);
        f.end(0, 600);
        f.stamp(0, stage::completed, 620);
        f.post(1, 200);
        f.stamps(1, stage::doorbell, stage::gate, 200);
        since = 600;
    }
    SECTION("the gate, since RTS") {
        f.gate(gate_state::closed, 120);
        f.state(qp_state::rts, qp_state::sqd, 300);
        f.state(qp_state::sqd, qp_state::rts, 500);
        since = 500;
    }
    SECTION("the gate, since it was closed") {
        f.gate(gate_state::closed, 520);
        since = 520;
    }
    SECTION("the flush, since ERR") {
        f.stamps(0, stage::doorbell, stage::pending, 200);
        f.state(qp_state::rts, qp_state::err, 700);
        since = 700;
    }
    SECTION("the flush, since the doorbell") {
        f.state(qp_state::rts, qp_state::err, 210);
        f.stamps(0, stage::doorbell, stage::pending, 700);
        since = 722;
    }
    SECTION("the flush, since the one before") {
        f.post(1, 200);
        f.stamps(0, stage::doorbell, stage::pending, 200);
        f.stamps(1, stage::doorbell, stage::pending, 200);
        f.state(qp_state::rts, qp_state::err, 300);
        f.end(0, 800, wc_status::wr_flush_err);
        f.stamp(0, stage::completed, 820);
        since = 800;
    }
    SECTION("the CQE") {
        f.stamps(0, stage::doorbell, stage::acked, 200);
        f.end(0, 300);
        since = 300;
    }
    f.finish(since + 1'000'000 + over, false);
    CHECK(f.rec.violated() == (over != 0));
}

TEST_CASE("recorder: each check is counted") {
    recorder_feed f;
    const auto counts = [&f](unsigned rule, std::uint64_t before) { return f.rec.checks(rule) - before; };
    f.rec.data_qp(0, data_qpn, true);
    f.to_rtr(90);
    CHECK(f.rec.checks(8) == 2);  // two changes of state
    f.hca().request_accepted(data_qpn, 1, true, 95);
    CHECK(f.rec.checks(2) == 1);
    f.hca().comm_est(data_qpn, 96);
    CHECK(f.rec.checks(3) == 1);
    f.to_rts(100);
    CHECK(f.rec.checks(7) == 1);
    CHECK(f.rec.checks(8) == 3);
    late(f, gate_opener::packet, 110);
    CHECK(f.rec.checks(7) == 2);
    CHECK(f.rec.checks(8) == 4);
    std::uint64_t before = f.rec.checks(5);
    f.post(0, 200);
    CHECK(counts(5, before) == 1);
    before = f.rec.checks(5);
    f.request(sq_psn, 260);
    CHECK(counts(5, before) == 1);  // a message is whole
    CHECK(f.rec.checks(1) == 1);
    CHECK(f.rec.checks(4) == 1);
    before = f.rec.checks(5);
    f.stamp(0, stage::wire, 260);
    f.stamp(0, stage::wire, 400);
    CHECK(counts(5, before) == 1);  // first transmission only
    f.post(1, 500);
    f.stamps(1, stage::doorbell, stage::payload, 500);
    f.state(qp_state::rts, qp_state::err, 560);
    f.stamp(1, stage::wire, 570);
    CHECK(f.rec.checks(1) == 2);
    f.post(2, 600);
    f.stamps(2, stage::doorbell, stage::pending, 600);
    CHECK(f.rec.checks(9) == 0);
    f.end(0, 700);
    CHECK(f.rec.checks(9) == 1);
    CHECK(f.rec.checks(0) == 0);
    f.finish(800, false);
    CHECK(f.rec.checks(9) == 2);  // WQE 1 waits for its flush
    CHECK(f.rec.checks(0) == 1);  // WQE 0 for its CQE
    CHECK_FALSE(f.rec.violated());
}

TEST_CASE("recorder: what is looked at when a run ends is counted") {
    recorder_feed f;
    f.connect();
    f.post(0, 200);
    f.stamps(0, stage::doorbell, stage::gate, 200);
    const std::uint64_t before = f.rec.checks(6);
    f.finish(800, false);
    CHECK(f.rec.checks(6) == before + 2);  // the gate, and the WQE before it
}

TEST_CASE("recorder: repeats and lost gates are counted as events") {
    recorder_feed f;
    f.connect();
    f.post(0, 200);
    f.stamps(0, stage::doorbell, stage::payload, 200);
    f.request(sq_psn, 260);
    f.stamps(0, stage::wire, stage::sent, 200);
    f.stamp(0, stage::grant, 900);
    f.request(sq_psn, 1000);
    f.gate(gate_state::closed, 1100);
    f.gate(gate_state::closed, 1101);
    f.gate(gate_state::open, 1200);
    const run_result r = f.finish(2000, false);
    CHECK(event_count(r, "request_repeated") == 1);
    CHECK(event_count(r, "gate_closed") == 1);
    CHECK(event_count(r, "gate_opened") == 2);
    CHECK(r.qps[0].gate_open_cycle == 102);
}

TEST_CASE("recorder: a gate that is reported closed is not an opening") {
    recorder_feed f;
    f.rec.data_qp(0, data_qpn, true);
    f.gate(gate_state::closed, 40);
    f.to_rtr(90);
    f.state(qp_state::rtr, qp_state::rts, 100, gate_opener::rtu, sq_psn);
    late(f, gate_opener::packet, 101);
    f.gate(gate_state::open, 102);
    f.gate(gate_state::closed, 1000);
    f.gate(gate_state::open, 2000);  // open before: the late opener was late indeed
    const run_result r = f.finish(3000);
    CHECK(f.broken().empty());
    CHECK(r.qps[0].gate_open_cycle == 102);
}

TEST_CASE("recorder: violations say what it was") {
    recorder_feed f;
    f.connect();
    f.post(0, 200);
    f.post(1, 200);
    SECTION("ended twice") {
        f.stamps(0, stage::doorbell, stage::acked, 200);
        f.end(0, 300);
        f.end(0, 310);
        CHECK(says(f, "WQE 0 ended twice"));
    }
    SECTION("never posted") {
        f.end(7, 310);
        CHECK(says(f, "WQE 7 ended and was never posted"));
    }
    SECTION("before another") {
        f.end(1, 310);
        CHECK(says(f, "WQE 1 ended before WQE 0"));
    }
    SECTION("left out") {
        f.request(sq_psn + 1, 310);
        CHECK(says(f, "PSN 0x732329 leaves some out, the next new one is 0x732328"));
    }
    SECTION("without go-back-N") {
        f.request(sq_psn, 310);
        f.request(sq_psn, 320);
        CHECK(says(f, "without go-back-N"));
    }
    SECTION("acknowledged") {
        f.stamps(0, stage::doorbell, stage::payload, 200);
        f.request(sq_psn, 310);
        f.stamps(0, stage::wire, stage::acked, 200);
        f.stamp(1, stage::grant, 330);
        f.stamp(1, stage::grant, 340);
        f.request(sq_psn, 350);
        CHECK(says(f, "knows that it was acknowledged"));
    }
}

TEST_CASE("recorder: only a grant explains a repeat of a send that is done") {
    const auto s = GENERATE(stage::grant, stage::context, stage::gate, stage::wire);
    recorder_feed f;
    f.connect();
    f.post(0, 200);
    f.stamps(0, stage::doorbell, stage::acked, 200);
    f.request(sq_psn, 260);  // after `acked`: what the HCA knows is not tied to this PSN
    f.end(0, 300);
    f.stamp(0, stage::completed, 320);
    f.stamp(0, s, 400);
    REQUIRE(f.broken().empty());
    f.request(sq_psn, 500);
    CHECK(f.rec.violated() == (s != stage::grant));
}

TEST_CASE("recorder: a flush after a failure may come before the state changes, after a success it may not") {
    const auto first = GENERATE(wc_status::success, wc_status::retry_exc_err);
    recorder_feed f;
    f.connect();
    f.post(0, 200);
    f.post(1, 200);
    f.stamps(0, stage::doorbell, stage::acked, 200);
    f.end(0, 300, first);
    f.end(1, 301, wc_status::wr_flush_err);
    CHECK(f.rec.violated() == (first == wc_status::success));
}

TEST_CASE("recorder: a failure of an earlier life explains no flush") {
    recorder_feed f;
    f.connect();
    f.post(0, 200);
    f.end(0, 300, wc_status::retry_exc_err);
    f.state(qp_state::rts, qp_state::err, 310);
    f.state(qp_state::err, qp_state::reset, 400);
    f.to_rtr(500);
    f.to_rts(600);
    f.post(0, 700);
    f.end(0, 800, wc_status::wr_flush_err);
    CHECK(f.broken() == "cycle 800, host 0, send_engine, QP 0x00004b: invariant 9");
}

TEST_CASE("recorder: every stay in ERR has its own flush") {
    recorder_feed f;
    f.connect();
    f.post(0, 200);
    f.state(qp_state::rts, qp_state::err, 300);
    f.end(0, 310, wc_status::wr_flush_err);
    f.stamp(0, stage::completed, 330);
    f.state(qp_state::err, qp_state::reset, 400);
    f.to_rtr(500);
    f.to_rts(600);
    f.send(0, sq_psn, 700);
    f.post(1, 900);
    f.post(2, 900);
    f.state(qp_state::rts, qp_state::err, 950);
    f.end(1, 960, wc_status::rem_op_err);  // the reason; nothing was flushed in this stay
    f.end(2, 970, wc_status::wr_flush_err);
    CHECK(f.broken().empty());
}

TEST_CASE("recorder: a datagram QP goes on after SQE") {
    recorder_feed f;
    f.connect();
    f.send(0, sq_psn, 200);
    f.post(1, 400);
    f.post(2, 400);
    f.state(qp_state::rts, qp_state::sqe, 450);
    f.end(1, 460, wc_status::loc_len_err);
    f.stamp(1, stage::completed, 480);
    f.end(2, 470, wc_status::wr_flush_err);
    f.stamp(2, stage::completed, 490);
    f.acknowledge(1, ib::syndrome_ack, 480, 0);  // SQE stops the requester only
    f.state(qp_state::sqe, qp_state::rts, 500, gate_opener::command, sq_psn + 1);
    f.send(3, sq_psn + 1, 600);
    const run_result r = f.finish(1000);
    CHECK(f.broken().empty());
    CHECK(r.messages.completed == 2);
}

TEST_CASE("recorder: responses may leave after SQE and ERR") {
    recorder_feed f;
    f.connect();
    f.state(qp_state::rts, qp_state::sqe, 300);
    f.state(qp_state::sqe, qp_state::err, 310);
    f.acknowledge(1, ib::syndrome_ack, 320, 0);
    CHECK(f.broken().empty());
}

TEST_CASE("recorder: a stay in RTR ends once") {
    recorder_feed f;
    f.to_rtr(50);
    f.to_rts(100);
    f.state(qp_state::rts, qp_state::err, 5000);
    f.hca().request_accepted(data_qpn, 1, true, 5100);
    f.hca().comm_est(data_qpn, 5101);  // 5000 cycles after the stay
    CHECK(f.broken() == "cycle 5101, host 0, receive_engine, QP 0x00004b: invariant 3");
}

TEST_CASE("recorder: errors are counted when a QP goes there") {
    recorder_feed f;
    f.connect();
    f.state(qp_state::rts, qp_state::err, 300);
    f.state(qp_state::err, qp_state::err, 310);
    f.state(qp_state::err, qp_state::reset, 320);
    CHECK(event_count(f.finish(400), "qp_error") == 1);
}

TEST_CASE("recorder: posts that become known late") {
    recorder_feed f;
    f.to_rtr(50, 0, 1);
    f.to_rts(60, gate_opener::command, 0, 1);
    SECTION("after requests: how many messages there are is not known") {
        f.request(sq_psn, 100, ib::rc_send_only, 0, 1);
        f.end(0, 110, wc_status::success, true, 0, 1);
        f.post(1, 200, 0, 1);
        f.request(sq_psn + 1, 260, ib::rc_send_only, 0, 1);
        f.request(sq_psn + 2, 270, ib::rc_send_only, 0, 1);
        CHECK(f.broken().empty());
    }
    SECTION("before any: it is") {
        f.post(0, 200, 0, 1);
        f.request(sq_psn, 260, ib::rc_send_only, 0, 1);
        f.request(sq_psn + 1, 270, ib::rc_send_only, 0, 1);
        CHECK(f.broken() == "cycle 270, host 0, send_engine, QP 0x000001: invariant 5");
    }
    SECTION("all of them, from an index of its own") {
        for (std::uint16_t i = 100; i < 110; ++i) {
            f.post(i, 200, 0, 1);
            f.stamp(i, stage::wire, 300u + i, 0, 1);
            f.end(i, 400u + i, wc_status::success, false, 0, 1);
        }
        CHECK(f.broken().empty());
        f.end(105, 600, wc_status::success, true, 0, 1);
        CHECK(f.broken() == "cycle 600, host 0, send_engine, QP 0x000001: invariant 9");
    }
}

TEST_CASE("recorder: order of ends starts again with a life, posts not known") {
    recorder_feed f;
    f.to_rtr(50, 0, 1);
    f.to_rts(60, gate_opener::command, 0, 1);
    f.end(0, 70, wc_status::success, true, 0, 1);
    f.end(1, 71, wc_status::success, true, 0, 1);
    f.to_rtr(500, 0, 1);
    f.to_rts(600, gate_opener::command, 0, 1);
    f.end(0, 700, wc_status::success, true, 0, 1);
    CHECK(f.broken().empty());
}

TEST_CASE("recorder: a data QP whose software never posts") {
    recorder_feed f;
    f.connect();
    f.stamp(0, stage::grant, 200);
    CHECK(f.broken() == "cycle 200, host 0, send_scheduler, QP 0x00004b: invariant 5");
}

TEST_CASE("recorder: late openers of an earlier life are not held against the next") {
    recorder_feed f;
    f.connect();
    late(f, gate_opener::packet, 110);
    f.state(qp_state::rts, qp_state::reset, 300);
    f.to_rtr(500);
    f.to_rts(600);  // gate 602, long after cycle 110
    f.post(0, 700);
    f.request(sq_psn + 1, 800);
    // The PSN is wrong, but not because of that opener.
    CHECK(f.broken() == "cycle 800, host 0, send_engine, QP 0x00004b: invariant 4");
}

TEST_CASE("recorder: the gate of a second life must not open late either") {
    recorder_feed f;
    f.connect();
    f.state(qp_state::rts, qp_state::reset, 300);
    f.to_rtr(500);
    f.state(qp_state::rtr, qp_state::rts, 600, gate_opener::rtu, sq_psn);
    late(f, gate_opener::packet, 601);
    f.gate(gate_state::closed, 602);
    f.gate(gate_state::open, 900);
    CHECK(f.broken() == "cycle 900, host 0, send_scheduler, QP 0x00004b: invariant 7");
}

TEST_CASE("recorder: software's view of the opener that won is not a second opener") {
    recorder_feed f;
    f.rec.data_qp(0, data_qpn, true);
    f.to_rtr(90);
    f.rec.opener_seen(0, data_qpn, gate_opener::rtu, 95);
    f.to_rts(100, gate_opener::rtu);
    CHECK(f.finish(200).qps[0].openers.size() == 1);
}

TEST_CASE("recorder: doorbells stamp what they announce, once") {
    recorder_feed f;
    f.connect();
    for (std::uint16_t i = 0; i < 4; ++i) {
        f.post(i, 200);
    }
    f.hca().doorbell_merged(data_qpn, 0, 2, 2, 300);  // 0 and 1
    f.hca().doorbell_merged(data_qpn, 2, 1, 2, 310);  // stale
    f.hca().doorbell_merged(data_qpn, 2, 2, 2, 320);  // again
    f.hca().doorbell_merged(data_qpn, 2, 3, 3, 330);  // 2
    f.hca().doorbell_merged(data_qpn, 3, 9, 9, 340);  // 3, and more than was posted
    const run_result r = f.finish(1000, false);
    constexpr auto doorbell = static_cast<unsigned>(stage::doorbell);
    REQUIRE(r.wqes.size() == 4);
    CHECK(r.wqes[0].cycle[doorbell] == 300);
    CHECK(r.wqes[1].cycle[doorbell] == 300);
    CHECK(r.wqes[2].cycle[doorbell] == 330);
    CHECK(r.wqes[3].cycle[doorbell] == 340);
}

TEST_CASE("recorder: doorbells of a QP that is not watched, and in a later life") {
    recorder_feed f;
    f.hca().doorbell_merged(7, 0, 2, 2, 300);
    f.connect();
    f.send(0, sq_psn, 200);
    f.send(1, sq_psn + 1, 400);
    f.hca().doorbell_merged(data_qpn, 0, 2, 2, 600);  // all done: nothing to stamp
    f.state(qp_state::rts, qp_state::reset, 700);
    f.to_rtr(800);
    f.to_rts(900);
    f.post(0, 1000);
    f.hca().doorbell_merged(data_qpn, 0, 1, 1, 1020);
    const run_result r = f.finish(2000, false);
    CHECK(f.broken().empty());
    CHECK(r.wqes[1].cycle[static_cast<unsigned>(stage::doorbell)] == 420);
    CHECK(r.wqes[2].cycle[static_cast<unsigned>(stage::doorbell)] == 1020);
}

TEST_CASE("recorder: as built it keeps no packets") {
    recorder_feed f;
    f.request(1, 100);
    CHECK(f.finish(200).packets.empty());
}

TEST_CASE("recorder: messages are counted against posts in every life, but not after SQE") {
    const auto stop = GENERATE(qp_state::reset, qp_state::err, qp_state::sqe);
    recorder_feed f;
    f.connect();
    f.send(0, sq_psn, 200);
    f.state(qp_state::rts, stop, 400);
    if (stop == qp_state::sqe) {
        f.state(qp_state::sqe, qp_state::rts, 500);
        f.request(sq_psn + 1, 600);
    } else {
        f.to_rtr(500);
        f.to_rts(550);
        f.request(sq_psn, 600);
    }
    CHECK(f.rec.violated() == (stop != qp_state::sqe));
}

TEST_CASE("recorder: no response is on its way when INIT goes to ERR") {
    recorder_feed f;
    f.state(qp_state::reset, qp_state::init, 50);
    f.state(qp_state::init, qp_state::err, 100);
    f.acknowledge(1, ib::syndrome_ack, 101, 0);
    CHECK(f.broken() == "cycle 101, host 0, receive_engine, QP 0x00004b: invariant 2");
}

TEST_CASE("recorder: stamps of a WQE that was not posted") {
    recorder_feed f;
    f.connect();
    f.stamp(0, stage::context, 200);  // says nothing about the scheduler or the link
    f.stamp(0, stage::completed, 210);
    CHECK(f.broken().empty());
    f.state(qp_state::rts, qp_state::err, 300);
    f.stamp(0, stage::grant, 310);  // the grant that flushes nothing
    CHECK(f.broken().empty());
}

TEST_CASE("recorder: posts that become known after an end or after a request") {
    const bool ended = GENERATE(false, true);
    recorder_feed f;
    f.to_rtr(50, 0, 1);
    f.to_rts(60, gate_opener::command, 0, 1);
    if (ended) {
        f.end(0, 110, wc_status::success, true, 0, 1);
    } else {
        f.request(sq_psn, 100, ib::rc_send_only, 0, 1);
    }
    f.post(1, 200, 0, 1);
    f.request(ended ? sq_psn : sq_psn + 1, 260, ib::rc_send_only, 0, 1);
    f.request(ended ? sq_psn + 1 : sq_psn + 2, 270, ib::rc_send_only, 0, 1);
    CHECK(f.broken().empty());
}

TEST_CASE("recorder: an acknowledge without room for its AETH acknowledges nothing") {
    recorder_feed f;
    f.connect();
    f.connect(1);
    for (std::uint16_t i = 0; i < 3; ++i) {
        f.post(i, 200);
        f.stamps(i, stage::doorbell, stage::payload, 200);
        f.request(sq_psn + i, 260u + i);
        f.stamps(i, stage::wire, stage::sent, 200);
    }
    f.stamp(0, stage::grant, 400);
    f.request(sq_psn, 410);
    const std::uint32_t bytes = GENERATE(23u, 24u);
    ib::headers h;
    h.op = ib::rc_acknowledge;
    h.psn = sq_psn + 1;
    h.syndrome = ib::syndrome_ack;
    h.slid = 2;
    h.dlid = 1;
    h.dest_qpn = data_qpn;
    std::uint8_t packet[64] = {};
    ib::encode(h, 0, packet);
    f.hca(1).packet_on_wire(packet, bytes, data_qpn, false, false, 415, 416);
    f.request(sq_psn + 2, 420);  // leaves out what that acknowledges
    CHECK(f.rec.violated() == (bytes == 23));
}
