// Whole runs of host software: loss of the RTU to the cycle, faults on every class of packets, back-pressure,
// and results that do not depend on how they were computed (scenarios B03, B13, invariants 7, 8 and 10).
#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "model/ib/headers.h"
#include "testbenches/bench/scenario.h"
#include "testbenches/unit/catch.h"

using namespace hcasim;

namespace {

scenario_config srp(std::uint32_t hosts = 3, std::uint32_t connections = 6) {
    scenario_config s;
    s.workload = workload_kind::srp;
    s.hosts = hosts;
    s.connections = connections;
    s.messages = 0;
    s.timer_shift = 12;
    s.connect_interval_ns = 20000;
    return s;
}

std::uint64_t counter(const run_result& r, const std::string& name) {
    for (const auto& list : {r.counters, r.events}) {
        for (const auto& [key, value] : list) {
            if (key == name) {
                return value;
            }
        }
    }
    return 0;
}

void check_all_accounted(const run_result& r) {
    CHECK(r.violation == std::string());
    CHECK(r.messages.outstanding == 0);
    CHECK(r.messages.duplicated == 0);
    CHECK(r.messages.posted == r.messages.completed + r.messages.failed + r.messages.flushed);
}

// What left every host: by host, destination and QP, requests and answers apart, in order, without times.
using packet_streams =
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, bool>, std::vector<std::string>>;

packet_streams sequences(const run_result& r) {
    packet_streams s;
    for (const tapped_packet& p : r.packets) {
        const auto byte = [&p](std::size_t i) { return std::uint32_t{p.bytes[i]}; };
        const std::uint32_t qpn = byte(13) << 16 | byte(14) << 8 | byte(15);
        if (qpn > 1) {
            s[{p.host, byte(2) << 8 | byte(3), qpn, ib::is_rc_request(p.bytes[8])}].emplace_back(
                p.bytes.begin(), p.bytes.end());
        }
    }
    return s;
}

}  // namespace

TEST_CASE("B03 with `rtu` alone each further lost RTU costs exactly T(CM response timeout)", "[scenarios]") {
    std::map<std::uint64_t, std::uint64_t> gate_opens;  // by the number of REPs sent again
    for (std::uint64_t seed = 1; seed <= 24; ++seed) {
        scenario_config s = srp(2, 1);
        s.seed = seed;
        s.open_on = open_on_rtu;
        s.cm.rtu_loss = 1;
        s.cm.rtu_repeat_loss = 0.6;
        const run_result r = run_scenario(s, {});
        check_all_accounted(r);
        const std::uint64_t k = counter(r, "cm.rep_resent");
        REQUIRE(k >= 1);
        const auto passive =
            std::find_if(r.qps.begin(), r.qps.end(), [](const qp_record& q) { return q.passive; });
        REQUIRE(passive != r.qps.end());
        CHECK(passive->opened_by == ib::gate_opener::rtu);
        const auto [it, is_new] = gate_opens.emplace(k, passive->gate_open_cycle);
        INFO("seed " << seed << ", k " << k);
        CHECK((is_new || it->second == passive->gate_open_cycle));
    }
    REQUIRE(gate_opens.size() >= 3);
    REQUIRE(gate_opens.count(1) == 1);
    const cycle_t t = 1024u * (1u << 20) >> 12;  // T(20) / 2^12
    for (const auto& [k, cycle] : gate_opens) {
        CHECK(cycle == gate_opens[1] + (k - 1) * t);
    }
}

TEST_CASE("Every class of packets, every kind of fault at 10 %: all delivered once or reported",
          "[scenarios]") {
    for (unsigned c = 0; c < packet_class_count; ++c) {
        for (const char* kind : {"loss", "delay", "corruption", "hidden_corruption"}) {
            INFO("class " << c << ", " << kind);
            scenario_config s = srp();
            s.timer_shift = 14;
            s.messages = 20;
            s.seed = 3 + c;
            const std::string k = kind;
            fault_config& f = s.hca.link.faults[c];
            f.loss = k == "loss" ? 0.1 : 0;
            f.delay = k == "delay" ? 0.1 : 0;
            f.delay_ns = 30000;
            f.corruption = k == "corruption" ? 0.1 : 0;
            f.hidden_corruption = k == "hidden_corruption" ? 0.1 : 0;
            const run_result r = run_scenario(s, {});
            check_all_accounted(r);
            CHECK(r.messages.failed == 0);
            CHECK(r.messages.completed == 2u * 6 * 20);
        }
    }
}

TEST_CASE("All faults at once with small caches and back-pressure", "[scenarios]") {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        INFO("seed " << seed);
        scenario_config s = srp();
        s.timer_shift = 13;
        s.seed = seed;
        s.cm.rtu_loss = 0.3;
        s.cm.rtu_late = 0.3;
        s.open_on = open_on_rtu | open_on_packet | open_on_comm_est;
        s.hca.stall_per_1024 = 200;
        s.hca.stall_seed = seed;
        s.hca.qp_context_cache.sets = 2;
        s.hca.qp_context_cache.ways = 1;
        for (fault_config& f : s.hca.link.faults) {
            f.loss = 0.04;
            f.delay = 0.04;
            f.delay_ns = 10000;
            f.corruption = 0.02;
            f.hidden_corruption = 0.02;
        }
        const run_result r = run_scenario(s, {});
        check_all_accounted(r);
    }
}

TEST_CASE("Back-pressure on every channel of every HCA: all runs end, nothing but time differs",
          "[scenarios]") {
    for (const workload_kind w : {workload_kind::srp, workload_kind::nvmf, workload_kind::sdp}) {
        packet_streams undisturbed;
        for (const std::uint32_t per_1024 : {0u, 150u, 450u, 750u}) {
            INFO("workload " << static_cast<int>(w) << ", stall " << per_1024);
            scenario_config s = srp();
            s.workload = w;
            s.timer_shift = 10;
            s.hca.stall_per_1024 = per_1024;
            s.hca.stall_seed = 5;
            run_options options;
            options.tap_packets = true;
            const run_result r = run_scenario(s, options);
            check_all_accounted(r);
            CHECK(r.messages.failed == 0);
            if (per_1024 == 0) {
                undisturbed = sequences(r);
            }
            CHECK((sequences(r) == undisturbed));
        }
    }
}

TEST_CASE(
    "Invariant 10 with host software: the same packets for any context cache and for both gate locations",
    "[scenarios]") {
    packet_streams first;
    for (const auto& [sets, ways] :
         {std::pair<std::uint32_t, std::uint32_t>{64, 4}, {1, 1}, {1, 2}, {4, 2}}) {
        for (const auto location : {gate_location::on_chip, gate_location::context}) {
            INFO(sets << " x " << ways << ", gate in context " << (location == gate_location::context));
            scenario_config s = srp(3, 12);
            s.hca.qp_context_cache.sets = sets;
            s.hca.qp_context_cache.ways = ways;
            s.hca.send_scheduler.location = location;
            run_options options;
            options.tap_packets = true;
            const run_result r = run_scenario(s, options);
            check_all_accounted(r);
            if (first.empty()) {
                first = sequences(r);
                REQUIRE(!first.empty());
            }
            CHECK((sequences(r) == first));
        }
    }
}

TEST_CASE("Invariant 8 with host software: any openers, any fate of the RTU, the same packets in the end",
          "[scenarios]") {
    packet_streams first;
    for (std::uint32_t open_on = 1; open_on < 8; ++open_on) {
        for (const double lost : {0.0, 0.5, 1.0}) {
            for (const double late : {0.0, 1.0}) {
                INFO("open_on " << open_on << ", RTU lost " << lost << ", late " << late);
                scenario_config s = srp();
                s.timer_shift = 14;
                s.open_on = open_on;
                s.cm.rtu_loss = lost;
                s.cm.rtu_late = late;
                run_options options;
                options.tap_packets = true;
                const run_result r = run_scenario(s, options);
                check_all_accounted(r);
                CHECK(r.messages.failed == 0);
                if (first.empty()) {
                    first = sequences(r);
                }
                CHECK((sequences(r) == first));
                for (const qp_record& q : r.qps) {
                    CHECK(q.final_state == ib::qp_state::rts);
                }
            }
        }
    }
}

TEST_CASE("Invariant 7: where the packet comes before the RTU, packet <= comm_est <= rtu", "[scenarios]") {
    const auto answers = [](std::uint32_t open_on) {
        scenario_config s = srp(2, 1);
        s.open_on = open_on;
        s.cm.rtu_late = 1;
        s.cm.rtu_late_ns = 400000;
        const run_result r = run_scenario(s, {});
        check_all_accounted(r);
        const auto passive =
            std::find_if(r.qps.begin(), r.qps.end(), [](const qp_record& q) { return q.passive; });
        REQUIRE(passive != r.qps.end());
        return passive->gate_open_cycle;
    };
    const std::uint64_t packet = answers(open_on_packet);
    const std::uint64_t comm_est = answers(open_on_comm_est);
    const std::uint64_t rtu = answers(open_on_rtu);
    CHECK(packet < comm_est);
    CHECK(comm_est < rtu);
    // The first one wins: together they are as good as the best.
    CHECK(answers(open_on_packet | open_on_comm_est | open_on_rtu) == packet);
    CHECK(answers(open_on_comm_est | open_on_rtu) == comm_est);
}

TEST_CASE("Under faults, back-pressure and small caches too, engine and order change nothing",
          "[scenarios]") {
    std::vector<std::string> all;
    for (const engine_kind engine : {engine_kind::wheel, engine_kind::poll}) {
        for (const std::uint64_t order : {0u, 7u, 12345u}) {
            scenario_config s = srp(2, 3);
            s.timer_shift = 14;
            s.cm.step_ns = 5000;
            s.hca.command_unit.modify_qp_ns = 2000;
            s.hca.stall_per_1024 = 300;
            s.hca.stall_seed = 9;
            s.hca.qp_context_cache.sets = s.hca.qp_context_cache.ways = 1;
            s.hca.send_scheduler.location = gate_location::context;
            for (fault_config& f : s.hca.link.faults) {
                f.loss = 0.05;
                f.delay = 0.05;
                f.delay_ns = 5000;
                f.hidden_corruption = 0.03;
            }
            run_options options;
            options.engine = engine;
            options.order_seed = order;
            options.tap_packets = true;
            const run_result r = run_scenario(s, options);
            check_all_accounted(r);
            std::string text = std::to_string(r.cycles);
            for (const auto& [key, value] : r.counters) {
                text += " " + key + "=" + std::to_string(value);
            }
            for (const tapped_packet& p : r.packets) {
                text += "\n" + std::to_string(p.host) + " " + std::to_string(p.first_byte_cycle) + " " +
                        std::to_string(p.last_byte_cycle) + (p.lost ? " lost " : " ") +
                        std::string(p.bytes.begin(), p.bytes.end());
            }
            for (const wqe_record& w : r.wqes) {
                text += "\n" + std::to_string(w.host) + " " + std::to_string(w.qpn) + " " +
                        std::to_string(w.wqe_index) + " " + std::to_string(static_cast<int>(w.status));
                for (const std::uint64_t c : w.cycle) {
                    text += " " + std::to_string(c);
                }
            }
            all.push_back(text);
        }
    }
    for (std::size_t i = 1; i < all.size(); ++i) {
        INFO("variant " << i);
        CHECK(all[i] == all[0]);
    }
}
