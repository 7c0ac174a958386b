// What a recorder makes of a run: records, distributions, counts, waves, packets.
#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

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
    FAIL("no event " << name);
    return 0;
}

std::uint64_t stage_sum(const run_result& r) {
    std::uint64_t sum = 0;
    for (const distribution& d : r.stages) {
        sum += d.sum();
    }
    return sum;
}

}  // namespace

TEST_CASE("recorder: the scenario's words are in the result") {
    scenario_config s;
    s.name = "srp_target";
    s.seed = 17;
    s.policy = gate_policy::reject;
    s.open_on = open_on_packet | open_on_comm_est;
    recorder_feed f(s);
    const run_result r = f.rec.finish(1234, {{"b", 2}, {"a", 1}});
    CHECK(r.scenario == "srp_target");
    CHECK(r.seed == 17);
    CHECK(r.clock_mhz == 250);
    CHECK(r.cycles == 1234);
    CHECK(r.gate_policy == "reject");
    CHECK(r.gate_open_on == std::vector<std::string>{"packet", "comm_est"});
    CHECK(r.counters == std::vector<std::pair<std::string, std::uint64_t>>{{"a", 1}, {"b", 2}});
    CHECK(std::is_sorted(r.events.begin(), r.events.end()));
    CHECK(event_count(r, "comm_est") == 0);
    CHECK(r.invariants_checked == 0);
}

TEST_CASE("recorder: one send, every stage") {
    recorder_feed f;
    f.connect();
    f.send(0, sq_psn, 1000);
    const run_result r = f.finish(2000);
    REQUIRE(r.wqes.size() == 1);
    const wqe_record& w = r.wqes[0];
    CHECK(w.host == 0);
    CHECK(w.qpn == data_qpn);
    CHECK(w.wqe_index == 0);
    CHECK(w.bytes == 64);
    CHECK(w.ended);
    CHECK(w.status == wc_status::success);
    CHECK(w.waited_for == gate_opener::none);
    for (unsigned s = 0; s < stage_count; ++s) {
        CHECK(w.cycle[s] == 1000 + stamp_offset[s]);
    }
    // submitted 0, posted 10, doorbell 20, pending 22, gate 22, grant 25, context 30, WQE 40, payload 50,
    // wire 60, sent 65, acked 100, completed 120
    const std::uint64_t lengths[stage_count] = {0, 10, 10, 2, 0, 3, 5, 10, 10, 10, 5, 35, 20};
    CHECK(r.stages[0].count() == 0);
    for (unsigned s = 1; s < stage_count; ++s) {
        INFO(name(static_cast<stage>(s)));
        CHECK(r.stages[s].count() == 1);
        CHECK(r.stages[s].sum() == lengths[s]);
    }
    CHECK(r.latency_cycles.sum() == 120);
    CHECK(stage_sum(r) == 120);
    CHECK(r.messages.posted == 1);
    CHECK(r.messages.completed == 1);
    CHECK(r.messages.outstanding == 0);
    CHECK(r.gate.waited == 0);
    CHECK(r.gate.wait_cycles.count() == 0);
}

TEST_CASE("recorder: an unsignaled send is complete when it ends") {
    recorder_feed f;
    f.connect();
    f.post(0, 1000);
    f.stamps(0, stage::doorbell, stage::acked, 1000);
    f.end(0, 1100, wc_status::success, false);
    f.stamp(0, stage::completed, 1100);  // the HCA may say so too
    const run_result r = f.finish(2000);
    CHECK(f.broken().empty());
    CHECK(r.latency_cycles.sum() == 100);
    CHECK(stage_sum(r) == 100);
}

TEST_CASE("recorder: stages add up to the latencies over many sends") {
    recorder_feed f;
    f.connect();
    f.connect(1);
    std::uint64_t cycle = 1000;
    for (std::uint16_t i = 0; i < 500; ++i) {
        f.send(i, sq_psn + i, cycle, i % 2 == 0 ? 0 : 0);
        f.send(i, sq_psn + i, cycle + 7, 1);
        cycle += 131 + i;
    }
    const run_result r = f.finish(cycle + 1000);
    CHECK(f.broken().empty());
    CHECK(r.latency_cycles.count() == 1000);
    CHECK(r.latency_cycles.sum() == 1000 * 120);
    CHECK(stage_sum(r) == r.latency_cycles.sum());
    CHECK(f.rec.checks(0) == 1000);
}

TEST_CASE("recorder: sends wait behind the gate") {
    recorder_feed f;
    f.rec.data_qp(0, data_qpn, true);
    f.to_rtr(90);
    f.rec.message_posted(0, data_qpn, 0, 36, 150, 160, 140);
    f.stamp(0, stage::doorbell, 170);
    f.stamp(0, stage::pending, 172);
    f.to_rts(500, gate_opener::packet);
    f.stamp(0, stage::gate, 502);
    for (unsigned s = 5; s < stage_count - 1; ++s) {
        f.stamp(0, static_cast<stage>(s), 480 + stamp_offset[s]);
    }
    f.end(0, 580);
    f.stamp(0, stage::completed, 600);
    // A second one finds the gate open.
    f.rec.message_posted(0, data_qpn, 1, 36, 700, 710, 690);
    f.stamps(1, stage::doorbell, stage::acked, 700);
    f.end(1, 800);
    f.stamp(1, stage::completed, 820);
    const run_result r = f.finish(1000);
    CHECK(f.broken().empty());
    CHECK(r.gate.waited == 1);
    CHECK(r.gate.wait_cycles.sum() == 502 - 172);
    CHECK(r.wqes[0].waited_for == gate_opener::packet);
    CHECK(r.wqes[1].waited_for == gate_opener::none);
    // Command's last byte to the answer's first byte: wire at 540 and 760.
    CHECK(r.gate.answer_cycles.count() == 2);
    CHECK(r.gate.answer_waited_cycles.sum() == 540 - 140);
    CHECK(r.gate.answer_ideal_cycles.sum() == 760 - 690);
    CHECK(r.gate.answer_cycles.sum() == 400 + 70);
    CHECK(r.wqes[0].command_arrived_cycle == 140);
    CHECK(r.gate.opened_by[static_cast<unsigned>(gate_opener::packet)] == 1);
    CHECK(r.gate.opened_by[static_cast<unsigned>(gate_opener::none)] == 0);
}

TEST_CASE("recorder: sends wait above the send queue") {
    recorder_feed f;
    f.connect();
    f.rec.message_posted(0, data_qpn, 0, 36, 50, 1010, 0);
    f.rec.software_waited(0, data_qpn, 0, gate_opener::rtu);
    f.stamps(0, stage::doorbell, stage::acked, 1000);
    f.end(0, 1100);
    f.stamp(0, stage::completed, 1120);
    f.rec.message_rejected(0, data_qpn, 60);
    f.rec.message_rejected(0, data_qpn, 70);
    const run_result r = f.finish(2000);
    CHECK(f.broken().empty());
    CHECK(r.gate.waited == 1);
    CHECK(r.gate.wait_cycles.sum() == 960);
    CHECK(r.wqes[0].waited_for == gate_opener::rtu);
    CHECK(r.stages[1].sum() == 960);
    CHECK(r.gate.rejected_posts == 2);
}

TEST_CASE("recorder: gate bits in the context") {
    scenario_config s;
    s.hca.send_scheduler.location = gate_location::context;
    recorder_feed f(s);
    f.rec.data_qp(0, data_qpn, true);
    f.to_rtr(90);
    SECTION("granted on trust just before the scheduler hears of the opening") {
        f.post(0, 150);
        f.stamps(0, stage::doorbell, stage::pending, 150);  // pending 172
        f.state(qp_state::rtr, qp_state::rts, 174, gate_opener::packet, sq_psn);
        f.stamp(0, stage::grant, 175);
        f.gate(gate_state::open, 177, true);
        f.stamps(0, stage::context, stage::acked, 150);
        f.end(0, 250);
        f.stamp(0, stage::completed, 270);
        const run_result r = f.finish(1000);
        CHECK(f.broken().empty());
        CHECK(r.gate.wait_cycles.sum() == 3);  // 172 to the grant
    }
    SECTION("granted on trust, turned away, granted again") {
        f.post(0, 150);
        f.stamps(0, stage::doorbell, stage::pending, 150);
        f.stamp(0, stage::grant, 175);
        f.state(qp_state::rtr, qp_state::rts, 200, gate_opener::packet, sq_psn);
        f.gate(gate_state::open, 202, true);
        f.stamp(0, stage::grant, 204);
        for (unsigned n = 6; n < stage_count - 1; ++n) {
            f.stamp(0, static_cast<stage>(n), 200 + stamp_offset[n]);
        }
        f.end(0, 300);
        f.stamp(0, stage::completed, 320);
        const run_result r = f.finish(1000);
        CHECK(f.broken().empty());
        CHECK(r.gate.wait_cycles.sum() == 202 - 172);
        CHECK(r.wqes[0].cycle[static_cast<unsigned>(stage::grant)] == 204);
    }
}

TEST_CASE("recorder: the record of a QP") {
    recorder_feed f;
    f.rec.data_qp(0, data_qpn, true);
    f.rec.data_qp(1, 0x17, false);
    f.to_rtr(90);
    f.hca().request_accepted(data_qpn, 1, true, 95);
    f.hca().comm_est(data_qpn, 96);
    f.rec.opener_seen(0, data_qpn, gate_opener::comm_est, 300);
    f.to_rts(100, gate_opener::packet);
    f.hca().late_opener(data_qpn, static_cast<std::uint8_t>(gate_opener::rtu), 700);
    f.hca().late_opener(data_qpn, static_cast<std::uint8_t>(gate_opener::rtu), 900);  // a repeated RTU
    f.rec.opener_seen(0, data_qpn, gate_opener::rtu, 650);
    f.send(0, sq_psn, 200);
    f.send(1, sq_psn + 1, 400);
    f.state(qp_state::rts, qp_state::err, 1000);
    f.state(qp_state::err, qp_state::reset, 1100);
    const run_result r = f.finish(2000);
    CHECK(f.broken().empty());
    REQUIRE(r.qps.size() == 2);
    const qp_record& q = r.qps[0];
    CHECK(q.host == 0);
    CHECK(q.qpn == data_qpn);
    CHECK(q.passive);
    CHECK(q.final_state == qp_state::reset);
    CHECK(q.opened_by == gate_opener::packet);
    CHECK(q.gate_open_cycle == 102);
    CHECK(q.first_request_cycle == 260);
    CHECK(q.first_request_psn == sq_psn);
    CHECK(q.comm_est_cycle == 96);
    CHECK(q.openers == std::vector<std::pair<gate_opener, std::uint64_t>>{{gate_opener::packet, 100},
                                                                          {gate_opener::comm_est, 300},
                                                                          {gate_opener::rtu, 700}});
    CHECK(r.qps[1].host == 1);
    CHECK_FALSE(r.qps[1].passive);
    CHECK(r.qps[1].gate_open_cycle == 0);
    CHECK(r.qps[1].openers.empty());
    CHECK(r.gate.opened_by[static_cast<unsigned>(gate_opener::packet)] == 1);
    CHECK(event_count(r, "comm_est") == 1);
    CHECK(event_count(r, "late_opener") == 2);
    CHECK(event_count(r, "gate_opened") == 1);
    CHECK(event_count(r, "qp_error") == 1);
}

TEST_CASE("recorder: an opener that software saw and that opened nothing is recorded") {
    scenario_config s;
    s.open_on = open_on_packet;
    recorder_feed f(s);
    f.rec.data_qp(0, data_qpn, true);
    f.to_rtr(90);
    f.rec.opener_seen(0, data_qpn, gate_opener::rtu, 95);
    const bool opens = GENERATE(false, true);
    if (opens) {
        f.to_rts(100, gate_opener::packet);
    }
    const run_result r = f.finish(200);
    if (opens) {
        REQUIRE(r.qps[0].openers.size() == 2);
        CHECK(r.qps[0].openers[0].first == gate_opener::packet);
        CHECK(r.qps[0].openers[1] == std::make_pair(gate_opener::rtu, std::uint64_t{95}));
    } else {
        CHECK(r.qps[0].openers.size() == 1);
        CHECK(r.qps[0].opened_by == gate_opener::none);
        CHECK(r.gate.opened_by[0] == 1);
    }
}

TEST_CASE("recorder: messages by what became of them") {
    recorder_feed f;
    f.connect();
    f.send(0, sq_psn, 200);
    for (std::uint16_t i = 1; i < 5; ++i) {
        f.post(i, 400);
        f.stamps(i, stage::doorbell, stage::gate, 400);
    }
    f.end(1, 500, wc_status::rnr_retry_exc_err);
    f.stamp(1, stage::completed, 520);
    f.state(qp_state::rts, qp_state::err, 505);
    f.end(2, 510, wc_status::wr_flush_err);
    f.end(3, 511, wc_status::wr_flush_err);
    f.stamp(2, stage::completed, 530);
    f.stamp(3, stage::completed, 531);
    f.rec.message_delivered(1, data_qpn, 1, true, 300);
    f.rec.message_delivered(1, data_qpn, 1, false, 310);
    const run_result r = f.finish(600, false);
    CHECK(f.broken().empty());
    CHECK(r.messages.posted == 5);
    CHECK(r.messages.completed == 1);
    CHECK(r.messages.failed == 1);
    CHECK(r.messages.flushed == 2);
    CHECK(r.messages.outstanding == 1);
    CHECK(r.messages.duplicated == 1);
    REQUIRE(r.wqes.size() == 5);
    CHECK(r.wqes[1].status == wc_status::rnr_retry_exc_err);
    CHECK(r.wqes[3].status == wc_status::wr_flush_err);
    CHECK_FALSE(r.wqes[4].ended);
    CHECK(r.wqes[4].cycle[static_cast<unsigned>(stage::pending)] == 422);  // as far as it came
    CHECK(r.latency_cycles.count() == 1);
}

TEST_CASE("recorder: only data QPs are measured") {
    recorder_feed f;
    f.connect();
    f.to_rtr(50, 0, 1);
    f.to_rts(60, gate_opener::command, 0, 1);
    f.send(0, sq_psn, 200, 0, 1);
    f.send(0, sq_psn, 300);
    const run_result r = f.finish(1000);
    CHECK(f.broken().empty());
    CHECK(r.messages.posted == 1);
    CHECK(r.latency_cycles.count() == 1);
    CHECK(r.wqes.size() == 1);
    CHECK(r.qps.size() == 1);
}

TEST_CASE("recorder: records of sends may be left out") {
    recorder_feed f;
    f.rec.set_keep_wqes(false);
    f.connect();
    f.send(0, sq_psn, 200);
    const run_result r = f.finish(1000);
    CHECK(r.wqes.empty());
    CHECK(r.latency_cycles.count() == 1);
    CHECK(r.messages.completed == 1);
}

TEST_CASE("recorder: outstanding sends beyond the first ring") {
    recorder_feed f;
    f.connect();
    constexpr std::uint16_t depth = 1000;
    std::uint16_t index = 0;
    std::uint64_t cycle = 1000;
    for (std::uint16_t round = 0; round < 70; ++round) {  // 70000 sends: beyond the index too
        const std::uint16_t first = index;
        for (std::uint16_t i = 0; i < depth; ++i) {
            f.post(static_cast<std::uint16_t>(first + i), cycle);
        }
        for (std::uint16_t i = 0; i < depth; ++i) {
            f.stamps(index, stage::doorbell, stage::acked, cycle);
            ++index;
        }
        for (std::uint16_t i = 0; i < depth; ++i) {
            f.end(static_cast<std::uint16_t>(first + i), cycle + 100);
            f.stamp(static_cast<std::uint16_t>(first + i), stage::completed, cycle + 120);
        }
        cycle += 1000;
    }
    const run_result r = f.finish(cycle);
    CHECK(f.broken().empty());
    CHECK(r.messages.completed == 70000);
    CHECK(r.latency_cycles.sum() == 70000 * 120);
}

TEST_CASE("recorder: QPs that share a slot are kept apart") {
    recorder_feed f;
    f.connect(0, 0x400);
    f.connect(0, 0x800);
    f.send(0, sq_psn, 200, 0, 0x400);
    f.send(0, sq_psn, 210, 0, 0x800);
    f.send(1, sq_psn + 1, 400, 0, 0x400);
    const run_result r = f.finish(1000);
    CHECK(f.broken().empty());
    REQUIRE(r.qps.size() == 2);
    CHECK(r.qps[0].first_request_cycle == 260);
    CHECK(r.qps[1].first_request_cycle == 270);
}

TEST_CASE("recorder: reset forgets the run") {
    recorder_feed f;
    f.connect();
    f.send(0, sq_psn, 200);
    f.request(sq_psn + 7, 400);
    REQUIRE(f.rec.violated());
    f.finish(1000);
    f.rec.reset({});
    CHECK_FALSE(f.rec.violated());
    CHECK(f.rec.violation().empty());
    CHECK(f.rec.checks(1) == 0);
    f.connect();
    f.send(0, sq_psn, 200);
    const run_result r = f.finish(1000);
    CHECK(f.broken().empty());
    CHECK(r.wqes.size() == 1);
    CHECK(r.qps.size() == 1);
    CHECK(r.messages.posted == 1);
}

TEST_CASE("recorder: packets are kept when asked for") {
    const bool keep = GENERATE(false, true);
    recorder_feed f;
    f.rec.set_tap(keep);
    f.connect();
    f.post(0, 150);
    f.request(sq_psn, 200);
    ib::headers h;
    h.op = ib::rc_send_only;
    h.psn = sq_psn + 1;
    f.post(1, 150);
    f.packet(h, 4, 300, 0, data_qpn, true);
    const std::uint8_t flow_control[6] = {};
    f.hca().packet_on_wire(flow_control, 6, 0, true, true, 310, 311);
    const run_result r = f.finish(1000, false);
    REQUIRE(r.packets.size() == (keep ? 2 : 0));
    CHECK(event_count(r, "packet_lost") == 1);
    if (keep) {
        CHECK(r.packets[0].host == 0);
        CHECK(r.packets[0].first_byte_cycle == 200);
        CHECK(r.packets[0].last_byte_cycle == 205);
        CHECK_FALSE(r.packets[0].lost);
        CHECK(r.packets[1].lost);
        CHECK(r.packets[1].bytes.size() == 8 + 12 + 4 + 4 + 2);
        CHECK(ib::decode(r.packets[1].bytes.data(), r.packets[1].bytes.size()).h.psn == sq_psn + 1);
    }
}

namespace {

using change = std::tuple<std::uint64_t, std::string, std::uint32_t, std::uint64_t>;

}  // namespace

TEST_CASE("recorder: waves of a data QP") {
    recorder_feed f;
    std::vector<change> changes;
    f.rec.set_wave([&](std::uint64_t cycle, const std::string& signal, std::uint32_t width,
                       std::uint64_t value) { changes.emplace_back(cycle, signal, width, value); });
    const std::string qp = "host0.qp_00004b";
    f.rec.data_qp(0, data_qpn, true);
    CHECK(changes == std::vector<change>{
                         {0, qp + ".state", 3, 0}, {0, qp + ".gate_open", 1, 0}, {0, qp + ".pending", 1, 0}});
    changes.clear();
    f.to_rtr(90);
    CHECK(changes == std::vector<change>{{80, qp + ".state", 3, 1}, {90, qp + ".state", 3, 2}});
    changes.clear();
    f.post(0, 100);
    f.post(1, 100);
    f.stamp(0, stage::pending, 122);
    f.stamp(1, stage::pending, 123);
    f.state(qp_state::rtr, qp_state::rts, 200, gate_opener::rtu, sq_psn);
    f.gate(gate_state::open, 202, true);
    f.stamp(0, stage::grant, 204);
    f.stamp(1, stage::grant, 206);
    f.state(qp_state::rts, qp_state::err, 300);
    f.gate(gate_state::flush, 302, false);
    CHECK(changes == std::vector<change>{{122, qp + ".pending", 1, 1},
                                         {200, qp + ".state", 3, 3},
                                         {202, qp + ".gate_open", 1, 1},
                                         {206, qp + ".pending", 1, 0},
                                         {300, qp + ".state", 3, 6},
                                         {302, qp + ".gate_open", 1, 0}});
}

TEST_CASE("recorder: waves of the first 64 data QPs, cycles never decrease") {
    recorder_feed f;
    std::vector<change> changes;
    f.rec.set_wave([&](std::uint64_t cycle, const std::string& signal, std::uint32_t width,
                       std::uint64_t value) { changes.emplace_back(cycle, signal, width, value); });
    for (std::uint32_t q = 0; q < 70; ++q) {
        f.connect(0, 0x100 + q);
    }
    std::vector<std::string> states;
    std::uint64_t latest = 0;
    for (const auto& [cycle, signal, width, value] : changes) {
        CHECK(cycle >= latest);
        latest = cycle;
        if (signal.find(".state") != std::string::npos) {
            states.push_back(signal);
        }
    }
    std::sort(states.begin(), states.end());
    states.erase(std::unique(states.begin(), states.end()), states.end());
    CHECK(states.size() == 64);
    CHECK(states.front() == "host0.qp_000100.state");
    CHECK(states.back() == "host0.qp_00013f.state");
    f.rec.set_wave({});
    changes.clear();
    f.state(qp_state::rts, qp_state::err, 300, gate_opener::none, 0, 0, 0x100);
    CHECK(changes.empty());
}
