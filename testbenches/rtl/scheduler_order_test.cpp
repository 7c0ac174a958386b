// The comparison by order: it accepts another machine that does the same, and finds one that loses, repeats
// or lets go too early.
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>
#include <string>
#include <systemc>
#include <vector>

#include "rtl_cosim/lockstep/scheduler_order.h"
#include "rtl_cosim/wrap/child_process.h"
#include "rtl_cosim/wrap/rtl_places.h"
#include "testbenches/program/rtl_map_file.h"
#include "testbenches/unit/catch.h"
#include "testbenches/unit/source_directory.h"

using namespace hcasim;

namespace {

namespace fs = std::filesystem;

const std::string& examples() {
    static const std::string directory = source_directory() + "/rtl_cosim/examples";
    return directory;
}

std::string changed_example(const std::string& from, const std::string& to) {
    std::ifstream in(examples() + "/second_scheduler.v");
    std::ostringstream text;
    text << in.rdbuf();
    std::string verilog = text.str();
    const std::size_t at = verilog.find(from);
    REQUIRE(at != std::string::npos);
    verilog.replace(at, from.size(), to);
    // Named after what it holds: the next run finds it compiled.
    const fs::path file = fs::path(HCASIM_RTL_CACHE_DIRECTORY) / "variants" /
                          ("second_scheduler." + std::to_string(std::hash<std::string>{}(verilog)) + ".v");
    fs::create_directories(file.parent_path());
    std::ofstream(file) << verilog;
    return file.string();
}

order_result compare(const std::string& file, std::uint64_t cycles) {
    set_rtl_places({source_directory() + "/rtl_cosim", HCASIM_RTL_CACHE_DIRECTORY});
    const rtl_map map = read_rtl_map(examples() + "/second_scheduler.toml");
    scheduler_reference reference;
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    verilog_source source;
    source.top = map.top;
    source.files = {file};
    source.parameters = map.parameters;
    source.strict = false;
    mapped_scheduler own(source, map);
    return run_scheduler_order(reference, own, cycles, 1, 0);
}

bool there_is_no_verilator() {
    if (find_in_path("verilator").empty()) {
        WARN("skipped: verilator is not installed");
        return true;
    }
    return false;
}

}  // namespace

TEST_CASE("the second scheduler does the same in its own time", "[scheduler_order]") {
    if (there_is_no_verilator()) {
        return;
    }
    const order_result r = compare(examples() + "/second_scheduler.v", 200000);
    CHECK(r.violation.empty());
    CHECK(r.wqes > 1000);
    CHECK(r.model_wait_cycles.count() == r.wqes);
    CHECK(r.verilog_wait_cycles.count() == r.wqes);
    CHECK(r.model_wait_cycles.min() == 1);
}

TEST_CASE("a doorbell that is lost while its queue is in service is found", "[scheduler_order]") {
    if (there_is_no_verilator()) {
        return;
    }
    const order_result r = compare(changed_example("!was_empty || rang[q]", "!was_empty"), 400000);
    CHECK(r.violation.find("were never granted, its gate is open") != std::string::npos);
}

TEST_CASE("a gate that does not close is found", "[scheduler_order]") {
    if (there_is_no_verilator()) {
        return;
    }
    const order_result r = compare(
        changed_example("enabled[q]    <= enabled_next;", "enabled[q]    <= enabled[q] || enabled_next;"),
        400000);
    CHECK(r.violation.find("granted while the gate is closed") != std::string::npos);
}

TEST_CASE("an enable that does not wake is found", "[scheduler_order]") {
    if (there_is_no_verilator()) {
        return;
    }
    const order_result r = compare(changed_example("(write_now || status_now || bell_now) && enabled_next",
                                                   "(status_now || bell_now) && enabled_next"),
                                   400000);
    CHECK(r.violation.find("were never granted, its gate is open") != std::string::npos);
}

TEST_CASE("a map that does not fit the design says which port", "[scheduler_order]") {
    if (there_is_no_verilator()) {
        return;
    }
    set_rtl_places({source_directory() + "/rtl_cosim", HCASIM_RTL_CACHE_DIRECTORY});
    rtl_map map = read_rtl_map(examples() + "/second_scheduler.toml");
    verilog_source source;
    source.top = map.top;
    source.files = {examples() + "/second_scheduler.v"};
    source.parameters = map.parameters;
    source.strict = false;
    const auto message = [&source](const rtl_map& m) -> std::string {
        try {
            const mapped_scheduler s(source, m);
        } catch (const verilog_error& error) {
            return error.what();
        }
        return "";
    };
    CHECK(message(map).empty());
    rtl_map wrong = map;
    wrong.grant.valid = "request_vald";
    CHECK(message(wrong).find("grant.valid = \"request_vald\": second_scheduler has no such port") !=
          std::string::npos);
    wrong = map;
    wrong.constants.erase("enable");
    CHECK(message(wrong).find("input enable of second_scheduler is not in the map") != std::string::npos);
    wrong = map;
    wrong.doorbell.qpn = "request_queue";
    CHECK(message(wrong).find("is an output of second_scheduler") != std::string::npos);
    wrong = map;
    wrong.gate.valid = "doorbell_valid";
    CHECK(message(wrong).find("has axi_lite and valid") != std::string::npos);
}

TEST_CASE("plans bring the races that they are for", "[scheduler_order]") {
    std::uint64_t doorbells = 0;
    std::uint64_t same_cycle = 0;
    std::uint64_t closings = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        const scheduler_plan plan = make_scheduler_plan(seed, 16, 4000);
        std::vector<std::uint16_t> posted(16, 0);
        std::vector<bool> open(16, false);
        cycle_t last = 0;
        std::uint32_t bell_of = 0;
        cycle_t bell_at = 0;
        for (const auto& s : plan.steps) {
            REQUIRE(s.cycle >= last);
            last = s.cycle;
            if (s.is_gate) {
                REQUIRE(open[s.qpn] != s.opens);
                open[s.qpn] = s.opens;
                closings += s.opens ? 0 : 1;
                same_cycle += s.opens && bell_at == s.cycle && bell_of == s.qpn ? 1 : 0;
            } else {
                ++doorbells;
                REQUIRE(s.producer > posted[s.qpn]);
                posted[s.qpn] = s.producer;
                bell_of = s.qpn;
                bell_at = s.cycle;
            }
        }
        for (std::uint32_t q = 0; q < 16; ++q) {
            CHECK(open[q]);
            CHECK(posted[q] == plan.posted[q]);
        }
    }
    CHECK(doorbells > 1000);
    CHECK(same_cycle > 10);
    CHECK(closings > 10);
}
