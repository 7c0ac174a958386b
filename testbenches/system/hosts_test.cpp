#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "model/clock/cycle_time.h"
#include "testbenches/bench/scenario.h"
#include "testbenches/unit/catch.h"

namespace hcasim {
namespace {

scenario_config srp(std::uint32_t hosts = 3, std::uint32_t connections = 8) {
    scenario_config s;
    s.workload = workload_kind::srp;
    s.hosts = hosts;
    s.connections = connections;
    s.messages = 0;
    s.timer_shift = 12;
    s.connect_interval_ns = 50000;
    s.cm.rtu_late = 0.3;
    return s;
}

// Everything that a run has measured but the time of the host, as text.
std::string text_of(const run_result& r) {
    std::string t = std::to_string(r.cycles) + " " + r.violation + "\n";
    const auto add = [&t](std::uint64_t v) { t += " " + std::to_string(v); };
    for (const std::uint64_t v :
         {r.messages.posted, r.messages.completed, r.messages.failed, r.messages.flushed,
          r.messages.outstanding, r.messages.duplicated, r.gate.waited, r.gate.rejected_posts}) {
        add(v);
    }
    for (const auto* d : {&r.gate.wait_cycles, &r.gate.answer_cycles, &r.latency_cycles}) {
        for (const auto& [value, times] : d->values()) {
            add(value);
            add(times);
        }
    }
    for (const auto& [name, value] : r.events) {
        t += name;
        add(value);
    }
    for (const auto& [name, value] : r.counters) {
        t += name;
        add(value);
    }
    for (const qp_record& q : r.qps) {
        for (const std::uint64_t v :
             {std::uint64_t{q.host}, std::uint64_t{q.qpn}, q.gate_open_cycle, q.first_request_cycle,
              std::uint64_t{q.first_request_psn}, q.comm_est_cycle}) {
            add(v);
        }
    }
    for (const wqe_record& w : r.wqes) {
        t += "\n";
        add(w.host);
        add(w.qpn);
        add(w.wqe_index);
        for (const std::uint64_t c : w.cycle) {
            add(c);
        }
    }
    for (const tapped_packet& p : r.packets) {
        t += "\n";
        add(p.host);
        add(p.first_byte_cycle);
        add(p.last_byte_cycle);
        for (const std::uint8_t b : p.bytes) {
            t += static_cast<char>('a' + (b >> 4));
            t += static_cast<char>('a' + (b & 15));
        }
    }
    return t;
}

std::string run_text(const scenario_config& s, engine_kind engine = engine_kind::wheel,
                     std::uint64_t order = 0) {
    run_options o;
    o.engine = engine;
    o.order_seed = order;
    o.tap_packets = true;
    const run_result r = run_scenario(s, o);
    CHECK(r.violation == std::string());
    return text_of(r);
}

std::size_t first_difference(const std::string& a, const std::string& b) {
    std::size_t i = 0;
    while (i < a.size() && i < b.size() && a[i] == b[i]) {
        ++i;
    }
    return a.size() == b.size() && i == a.size() ? std::string::npos : i;
}

bool same(const std::string& a, const std::string& b) {
    const std::size_t at = first_difference(a, b);
    if (at != std::string::npos) {
        const std::size_t from = at < 100 ? 0 : at - 100;
        WARN("differs at " << at << ": " << a.substr(from, 200) << "\n  and: " << b.substr(from, 200));
    }
    return at == std::string::npos;
}

// ---- results are of the scenario alone

TEST_CASE("hosts: a run does not depend on the runs before it in the process") {
    const std::string alone = run_text(srp());
    scenario_config other = srp(2, 3);
    other.policy = gate_policy::reject;
    run_text(other);
    scenario_config faster = srp(2, 3);
    faster.hca.clock_mhz = 500;
    run_text(faster);
    CHECK(same(run_text(srp()), alone));
    scenario_config small = srp();
    small.hca.qp_context_cache.sets = 1;
    small.hca.qp_context_cache.ways = 2;
    run_text(small);
    CHECK(same(run_text(srp()), alone));
}

TEST_CASE("hosts: a run does not depend on engine, construction order or tick order") {
    const std::string reference = run_text(srp());
    CHECK(same(run_text(srp(), engine_kind::poll), reference));
    for (const std::uint64_t order : {1u, 2u, 3u}) {
        CHECK(same(run_text(srp(), engine_kind::wheel, order), reference));
    }
    CHECK(same(run_text(srp(), engine_kind::poll, 4), reference));
}

TEST_CASE(
    "hosts: with back-pressure on every channel engines and orders still agree and everything arrives") {
    scenario_config s = srp();
    s.hca.stall_per_1024 = 200;
    s.hca.stall_seed = 5;
    const std::string reference = run_text(s);
    CHECK(same(run_text(s, engine_kind::poll), reference));
    CHECK(same(run_text(s, engine_kind::wheel, 7), reference));
    CHECK(first_difference(run_text(srp()), reference) != std::string::npos);
}

TEST_CASE("hosts: another seed gives another run") {
    scenario_config s = srp();
    const std::string reference = run_text(s);
    s.seed = 2;
    CHECK(first_difference(run_text(s), reference) != std::string::npos);
}

// ---- what the gate costs and saves

TEST_CASE("hosts: with every RTU lost and `packet` among the openers no answer waits for a timer") {
    for (const std::uint32_t open_on :
         {std::uint32_t{open_on_packet}, std::uint32_t{open_on_packet | open_on_rtu},
          std::uint32_t{open_on_packet | open_on_comm_est}}) {
        scenario_config s = srp();
        s.cm.rtu_loss = 1;
        s.cm.rtu_repeat_loss = 1;
        s.open_on = open_on;
        const run_result r = run_scenario(s, {});
        CHECK(r.violation == std::string());
        CHECK(r.gate.opened_by[static_cast<std::size_t>(ib::gate_opener::packet)] == s.connections);
        CHECK(r.gate.answer_waited_cycles.count() == 0);
        CHECK(r.latency_cycles.max() < timer_cycles(20, s.timer_shift, 250));
        CHECK(r.messages.completed == std::uint64_t{s.connections} * 12);
    }
}

TEST_CASE("hosts: with `rtu` alone a lost RTU costs one REP timer") {
    scenario_config s = srp();
    s.cm.rtu_loss = 1;
    s.cm.rtu_late = 0;
    s.open_on = open_on_rtu;
    const run_result r = run_scenario(s, {});
    CHECK(r.violation == std::string());
    CHECK(r.gate.opened_by[static_cast<std::size_t>(ib::gate_opener::rtu)] == s.connections);
    CHECK(r.gate.answer_waited_cycles.count() == s.connections);
    // The command is behind the lost RTU; from REP to REP it is T(20). What is in front of the command (REP
    // to command: a MAD, a CM step, two modify_qp) is not waited for, what is behind the second RTU (two
    // MADs, two CM steps, one modify_qp) is: the difference is less than the time of three CM steps.
    const cycle_t timer = timer_cycles(20, s.timer_shift, 250);
    const cycle_t step = ns_to_cycles(s.cm.step_ns, 250);
    CHECK(r.gate.wait_cycles.min() > timer - step);
    CHECK(r.gate.wait_cycles.max() < timer + 3 * step);
}

TEST_CASE("hosts: with comm_est alone the event opens every gate") {
    scenario_config s = srp();
    s.cm.rtu_loss = 1;
    s.cm.rtu_repeat_loss = 1;
    s.open_on = open_on_comm_est;
    const run_result r = run_scenario(s, {});
    CHECK(r.violation == std::string());
    CHECK(r.gate.opened_by[static_cast<std::size_t>(ib::gate_opener::comm_est)] == s.connections);
    CHECK(r.gate.waited == s.connections);
    CHECK(r.gate.wait_cycles.max() < timer_cycles(20, s.timer_shift, 250));
}

TEST_CASE("hosts: the software queue costs every post, the gate none") {
    scenario_config s = srp();
    s.policy = gate_policy::software;
    s.host.software_queue_post_ns = 400;
    const run_result software = run_scenario(s, {});
    CHECK(software.violation == std::string());
    CHECK(software.gate.waited == s.connections);
    for (const wqe_record& w : software.wqes) {
        CHECK(w.cycle[static_cast<std::size_t>(stage::posted)] -
                  w.cycle[static_cast<std::size_t>(stage::submitted)] >=
              100);
    }
    s.policy = gate_policy::hardware;
    const run_result hardware = run_scenario(s, {});
    for (const wqe_record& w : hardware.wqes) {
        CHECK(w.cycle[static_cast<std::size_t>(stage::posted)] ==
              w.cycle[static_cast<std::size_t>(stage::submitted)]);
    }
}

TEST_CASE("hosts: a refused post is tried again until the QP is in RTS, and the order is kept") {
    scenario_config s = srp();
    s.policy = gate_policy::reject;
    const run_result r = run_scenario(s, {});
    CHECK(r.violation == std::string());
    CHECK(r.gate.rejected_posts >= s.connections);
    CHECK(r.messages.completed == std::uint64_t{s.connections} * 12);
    CHECK(r.messages.duplicated == 0);
}

TEST_CASE("hosts: a passive side that never hears an RTU gives up, and its sends come back flushed") {
    scenario_config s;
    s.timer_shift = 16;
    s.open_on = open_on_rtu;
    s.cm.rtu_loss = 1;
    s.cm.rtu_repeat_loss = 1;
    s.cm.max_retries = 3;
    const run_result r = run_scenario(s, {});
    CHECK(r.violation == std::string());
    CHECK(r.messages.flushed == 1);
    CHECK(r.messages.outstanding == 0);
    REQUIRE(r.qps.size() == 2);
    CHECK(r.qps[0].passive);
    CHECK(r.qps[0].final_state == ib::qp_state::err);
    CHECK(r.qps[0].first_request_cycle == 0);
}

TEST_CASE("hosts: a REQ that is never answered ends the run") {
    scenario_config s;
    s.timer_shift = 18;
    s.hca.link.faults[static_cast<std::size_t>(packet_class::cm_req)].loss = 1;
    const run_result r = run_scenario(s, {});
    CHECK(r.violation == std::string());
    CHECK(r.messages.posted == 0);
}

TEST_CASE("hosts: run.max_cycles ends a run early") {
    scenario_config s = srp();
    s.max_cycles = 300000;
    CHECK(run_scenario(s, {}).cycles <= 300000);
    run_options o;
    o.engine = engine_kind::poll;
    CHECK(run_scenario(s, o).cycles <= 300000);
}

// ---- everything arrives, once, in order

TEST_CASE("hosts: every workload delivers all its messages under loss of packets") {
    for (const workload_kind w :
         {workload_kind::one_send, workload_kind::srp, workload_kind::sdp, workload_kind::nvmf}) {
        for (const packet_class c : {packet_class::request, packet_class::response}) {
            for (const gate_policy policy :
                 {gate_policy::hardware, gate_policy::software, gate_policy::reject}) {
                scenario_config s = srp(3, 6);
                s.workload = w;
                s.messages = 20;
                s.message_bytes = 5000;
                s.queue_depth = 4;
                s.policy = policy;
                s.timer_shift = 14;
                s.hca.link.faults[static_cast<std::size_t>(c)].loss = 0.03;
                const run_result r = run_scenario(s, {});
                INFO("workload " << static_cast<int>(w) << " class " << static_cast<int>(c) << " policy "
                                 << static_cast<int>(policy));
                CHECK(r.violation == std::string());
                CHECK(r.messages.outstanding == 0);
                CHECK(r.messages.failed == 0);
                CHECK(r.messages.duplicated == 0);
                CHECK(r.messages.completed == (w == workload_kind::one_send ? 126u : 240u));
            }
        }
    }
}

TEST_CASE("hosts: lost REQ, REP, DREQ and DREP are made good by their timers") {
    for (const packet_class c : {packet_class::cm_req, packet_class::cm_rep, packet_class::cm_other}) {
        scenario_config s = srp(3, 6);
        s.timer_shift = 14;
        s.hca.link.faults[static_cast<std::size_t>(c)].loss = 0.4;
        const run_result r = run_scenario(s, {});
        INFO("class " << static_cast<int>(c));
        CHECK(r.violation == std::string());
        CHECK(r.messages.completed == 72);
    }
}

TEST_CASE("hosts: an MRA keeps the client from asking again") {
    scenario_config s = srp(2, 4);
    s.cm.step_ns = 2000000;
    s.timer_shift = 14;
    const auto resent = [](const run_result& r) {
        for (const auto& [name, value] : r.counters) {
            if (name == "cm.req_resent") {
                return value;
            }
        }
        return std::uint64_t{0};
    };
    const run_result without = run_scenario(s, {});
    CHECK(without.violation == std::string());
    CHECK(resent(without) > 0);
    // The MRA takes a CM step too: the timer must hold for that long, but not for REQ to REP.
    s.timer_shift = 9;
    s.cm.send_mra = true;
    const run_result with = run_scenario(s, {});
    CHECK(with.violation == std::string());
    CHECK(resent(with) == 0);
}

// ---- what cannot run

TEST_CASE("scenario: impossible combinations are named") {
    const auto refused = [](const scenario_config& s) -> std::string {
        try {
            run_scenario(s, {});
        } catch (const scenario_error& e) {
            return e.what();
        }
        return "";
    };
    const auto names = [](const std::string& line, const char* key) {
        return line.find(key) != std::string::npos && line.find('\n') == std::string::npos;
    };
    scenario_config s = srp();
    s.open_on = 0;
    CHECK(names(refused(s), "gate.open_on"));
    s = srp();
    s.policy = gate_policy::software;
    s.open_on = open_on_packet;
    CHECK(names(refused(s), "gate.policy"));
    s = srp();
    s.open_on = open_on_packet;
    s.hca.command_unit.rts_preload = false;
    CHECK(names(refused(s), "command_unit.rts_preload"));
    s = srp();
    s.connections = 15;
    s.hca.qps = 16;
    CHECK(names(refused(s), "hca.qps"));
    s = srp();
    s.connections = 1 << 20;
    s.hca.qps = 1 << 24;
    s.message_bytes = 65536;
    s.queue_depth = 1024;
    CHECK(names(refused(s), "traffic.queue_depth"));
    s = srp();
    s.workload = workload_kind::script;
    CHECK(names(refused(s), "[[connection]]"));
    s = srp();
    s.steps.emplace_back();
    CHECK(names(refused(s), "script"));
}

}  // namespace
}  // namespace hcasim
