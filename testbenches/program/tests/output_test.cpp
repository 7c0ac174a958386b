// How results are written: JSON, CSV, VCD, JUnit, differences.
#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "testbenches/program/json_difference.h"
#include "testbenches/program/junit.h"
#include "testbenches/program/run_csv.h"
#include "testbenches/program/run_json.h"
#include "testbenches/program/run_summary.h"
#include "testbenches/program/vcd_writer.h"
#include "testbenches/unit/catch.h"

namespace {

using hcasim::stage;
using hcasim::stage_count;
using nlohmann::ordered_json;

hcasim::run_result small_result() {
    hcasim::run_result r;
    r.scenario = "small \"quoted\" \xff";
    r.seed = 42;
    r.clock_mhz = 250;
    r.cycles = 5000;
    r.gate_policy = "hardware";
    r.gate_open_on = {"rtu", "packet"};
    r.messages.posted = r.messages.completed = 1;
    r.gate.waited = 1;
    r.gate.opened_by[static_cast<std::size_t>(hcasim::ib::gate_opener::packet)] = 1;
    r.gate.wait_cycles.add(100);
    r.events = {{"comm_est", 1}};
    r.counters = {{"link.packets", 9}};
    r.invariants_checked = 10;
    r.host_seconds = 0.5;
    hcasim::wqe_record w;
    w.qpn = 7;
    w.bytes = 64;
    w.ended = true;
    w.waited_for = hcasim::ib::gate_opener::packet;
    for (unsigned i = 0; i < stage_count; ++i) {
        w.cycle[i] = 1000 + 100 * i;
        r.stages[i].add(i == 0 ? 0 : 100);
    }
    w.cycle[static_cast<std::size_t>(stage::acked)] = 0;
    r.latency_cycles.add(1200);
    r.wqes = {w};
    hcasim::qp_record qp;
    qp.qpn = 7;
    qp.passive = true;
    qp.final_state = hcasim::ib::qp_state::rts;
    qp.opened_by = hcasim::ib::gate_opener::packet;
    qp.openers = {{hcasim::ib::gate_opener::packet, 1400}, {hcasim::ib::gate_opener::rtu, 1500}};
    r.qps = {qp};
    return r;
}

std::vector<std::string> keys_of(const ordered_json& j) {
    std::vector<std::string> keys;
    for (const auto& [key, value] : j.items()) {
        keys.push_back(key);
    }
    return keys;
}

}  // namespace

TEST_CASE("the JSON of a run has the keys that other tools rely on, in order") {
    const ordered_json j = hcasim::run_json(small_result(), "0123456789abcdef", true);
    CHECK(keys_of(j) == std::vector<std::string>{"schema", "scenario", "seed", "clock_mhz", "cycles",
                                                 "config_hash", "messages", "gate", "events",
                                                 "latency_cycles", "stages", "qps", "counters", "invariants",
                                                 "host_seconds", "simulated_cycles_per_second"});
    CHECK(j["schema"] == "hcasim.run/1");
    CHECK(keys_of(j["messages"]) ==
          std::vector<std::string>{"posted", "completed", "failed", "flushed", "outstanding", "duplicated"});
    CHECK(keys_of(j["gate"]["opened_by"]) == std::vector<std::string>{"rtu", "packet", "comm_est"});
    CHECK(keys_of(j["latency_cycles"]) ==
          std::vector<std::string>{"count", "min", "mean", "p50", "p90", "p99", "p99_9", "max"});
    CHECK(j["stages"].size() == stage_count - 1);
    CHECK(j["stages"]["gate_wait"]["p50"] == 100);
    CHECK(j["gate"]["wait_cycles"]["max"] == 100);
    CHECK(j["qps"][0]["final_state"] == "RTS");
    CHECK(j["qps"][0]["opened_by"] == "packet");
    CHECK(j["qps"][0]["openers"].size() == 2);
    CHECK(j["simulated_cycles_per_second"] == 10000.0);
}

TEST_CASE("a golden result is the JSON without the speed of this computer") {
    hcasim::run_result r = small_result();
    const std::string golden = hcasim::json_text(hcasim::run_json(r, "h", false));
    r.host_seconds = 77;
    CHECK(hcasim::json_text(hcasim::run_json(r, "h", false)) == golden);
    CHECK(golden.find("host_seconds") == std::string::npos);
}

TEST_CASE("JSON text is JSON") {
    const ordered_json j = hcasim::run_json(small_result(), "h", true);
    const std::string text = hcasim::json_text(j);
    CHECK(text.back() == '\n');
    const ordered_json again = ordered_json::parse(text);
    CHECK(again["gate"] == j["gate"]);
    CHECK(again["qps"] == j["qps"]);
    // A byte that is not UTF-8 becomes the replacement character.
    CHECK(again["scenario"] == "small \"quoted\" \xef\xbf\xbd");
}

TEST_CASE("a mean is exact to the thousandth") {
    hcasim::distribution d;
    d.add(1);
    d.add(2, 2);
    CHECK(hcasim::distribution_json(d).dump() ==
          R"({"count":3,"min":1,"mean":1.667,"p50":2,"p90":2,"p99":2,"p99_9":2,"max":2})");
    CHECK(hcasim::distribution_json({})["mean"] == 0.0);
}

TEST_CASE("CSV has a line per send") {
    CHECK(
        hcasim::run_csv(small_result()) ==
        "host,qpn,wqe_index,bytes,status,ended,waited_for,command_arrived_cycle,submitted_cycle,posted_cycle,"
        "doorbell_cycle,pending_cycle,gate_cycle,grant_cycle,context_cycle,wqe_cycle,payload_cycle,wire_"
        "cycle,"
        "sent_cycle,acked_cycle,completed_cycle\n"
        "0,7,0,64," +
            std::string(hcasim::ib::name(hcasim::ib::wc_status::success)) +
            ",1,packet,,1000,1100,1200,1300,1400,1500,1600,1700,1800,1900,2000,,2200\n");
}

TEST_CASE("VCD: scopes, order of cycles, last value of a cycle, widths") {
    hcasim::vcd_writer vcd;
    vcd.change(20, "host0.link.level", 4, 5);
    vcd.change(10, "host0.gate", 1, 1);
    vcd.change(20, "host0.link.level", 4, 21);  // cut to four bits
    vcd.change(30, "host0.gate", 1, 1);         // no change
    vcd.change(40, "host1.gate", 1, 0);
    vcd.change(5, "host0.link", 64, ~std::uint64_t{0});
    CHECK(vcd.signals() == 4);
    std::ostringstream out;
    vcd.write(out, 250, 50);
    CHECK(out.str() ==
          "$version hcasim $end\n$comment 1 cycle = 4 ns $end\n$timescale 1ns $end\n"
          "$scope module host0 $end\n$var wire 1 \" gate $end\n$var wire 64 $ link [63:0] $end\n"
          "$scope module link $end\n$var wire 4 ! level [3:0] $end\n$upscope $end\n$upscope $end\n"
          "$scope module host1 $end\n$var wire 1 # gate $end\n$upscope $end\n$enddefinitions $end\n"
          "#20\nb" +
              std::string(64, '1') + " $\n#40\n1\"\n#80\nb101 !\n#160\n0#\n#200\n");
}

TEST_CASE("VCD: a clock without a whole number of nanoseconds counts picoseconds") {
    hcasim::vcd_writer vcd;
    vcd.change(3, "x", 1, 1);
    std::ostringstream out;
    vcd.write(out, 300, 3);
    CHECK(out.str().find("$timescale 1ps $end") != std::string::npos);
    CHECK(out.str().find("#10000\n1!\n") != std::string::npos);
}

TEST_CASE("VCD: without a change it is still a file") {
    hcasim::vcd_writer vcd;
    std::ostringstream out;
    vcd.write(out, 250, 1);
    CHECK(out.str().find("$enddefinitions $end\n#4\n") != std::string::npos);
}

TEST_CASE("VCD: many signals have codes of their own") {
    hcasim::vcd_writer vcd;
    for (int i = 0; i < 10000; ++i) {
        vcd.change(1, "s" + std::to_string(i), 1, 1);
    }
    std::ostringstream out;
    vcd.write(out, 1000, 1);
    std::istringstream in{out.str()};
    std::vector<std::string> codes;
    for (std::string word; in >> word;) {
        if (word == "$var") {
            in >> word >> word >> word;
            codes.push_back(word);
        }
    }
    std::sort(codes.begin(), codes.end());
    CHECK(codes.size() == 10000);
    CHECK(std::unique(codes.begin(), codes.end()) == codes.end());
}

TEST_CASE("differences are told key by key") {
    const ordered_json expected = {{"a", 1}, {"b", {{"c", {1, 2, 3}}, {"d/e", "x"}}}, {"gone", true}};
    const ordered_json actual = {{"b", {{"c", {1, 5}}, {"d/e", "y"}}}, {"a", 1}, {"come", nullptr}};
    const auto differences = hcasim::json_differences(expected, actual);
    REQUIRE(differences.size() == 5);
    const auto is = [&](std::size_t i, const char* pointer, const char* was, const char* now) {
        return differences[i].pointer == pointer && differences[i].expected == was &&
               differences[i].actual == now;
    };
    CHECK(is(0, "/b/c/1", "2", "5"));
    CHECK(is(1, "/b/c/2", "3", "nothing"));
    CHECK(is(2, "/b/d~1e", "\"x\"", "\"y\""));
    CHECK(is(3, "/gone", "true", "nothing"));
    CHECK(is(4, "/come", "nothing", "null"));
    CHECK(hcasim::json_differences(expected, expected).empty());
}

TEST_CASE("JUnit text is escaped") {
    using outcome_t = hcasim::junit_case::outcome_t;
    const std::string xml =
        hcasim::junit_xml("s", {{"a<b>&\"c'", 1.5, outcome_t::failed, "x\ny", "1 < 2\x01"},
                                {"good", 0, outcome_t::passed, "", ""},
                                {"bad", 0, outcome_t::error, "m", ""}});
    CHECK(xml.find("tests=\"3\" failures=\"1\" errors=\"1\" time=\"1.500\"") != std::string::npos);
    CHECK(xml.find("name=\"a&lt;b&gt;&amp;&quot;c&apos;\"") != std::string::npos);
    CHECK(xml.find("message=\"x&#10;y\">1 &lt; 2?</failure>") != std::string::npos);
    CHECK(xml.find("<error message=\"m\"></error>") != std::string::npos);
}

TEST_CASE("numbers for people") {
    CHECK(hcasim::grouped(0) == "0");
    CHECK(hcasim::grouped(999) == "999");
    CHECK(hcasim::grouped(1000) == "1,000");
    CHECK(hcasim::grouped(1234567) == "1,234,567");
    CHECK(hcasim::time_text(1, 250) == "4 ns");
    CHECK(hcasim::time_text(1, 300) == "3.33 ns");
    CHECK(hcasim::time_text(1024, 250) == "4.096 us");
    CHECK(hcasim::time_text(250000000, 250) == "1.000 s");
}

TEST_CASE("the summary says in words what the gate did and what became of the RTUs") {
    hcasim::run_result r = small_result();
    hcasim::scenario_config scenario;
    std::string text = hcasim::run_summary(r, scenario, "h");
    CHECK(text.find("1 waited, for 100 cycles (400 ns). Gates opened: 1 by packet.") != std::string::npos);
    CHECK(text.find("RTU did not arrive") == std::string::npos);
    r.counters = {{"cm.rtu_sent", 1}};
    text = hcasim::run_summary(r, scenario, "h");
    CHECK(text.find("1 of 1 RTU did not arrive. No send waited for the REP timer (1,073,741,824 cycles") !=
          std::string::npos);
    const std::uint64_t timer_cycles = std::uint64_t{1024} << 20;
    for (unsigned i = static_cast<unsigned>(stage::gate); i < stage_count; ++i) {
        r.wqes[0].cycle[i] += timer_cycles;
    }
    CHECK(hcasim::run_summary(r, scenario, "h").find("1 send waited until the REP timer") !=
          std::string::npos);
    for (std::size_t begin = 0, end = 0; (end = text.find('\n', begin)) != std::string::npos;
         begin = end + 1) {
        CHECK(end - begin <= 140);
    }
}
