// Maps of a user's Verilog: what is read, and what is said of a bad one.
#include <string>
#include <vector>

#include "testbenches/program/input_error.h"
#include "testbenches/program/rtl_map_file.h"
#include "testbenches/program/scenario_file.h"
#include "testbenches/unit/catch.h"

namespace {

using hcasim::input_error;
using hcasim::parse_rtl_map;
using hcasim::rtl_map;

const std::string head =
    "schema = \"hcasim.rtl_map/1\"\nblock = \"send_scheduler\"\ntop = \"mine\"\n";  // lines 1 to 3

struct bad_map {
    const char* kind;
    std::string text;
    const char* place;
    const char* fragment;
};

}  // namespace

TEST_CASE("a map is read as it is written", "[rtl_map]") {
    const rtl_map m = parse_rtl_map(head + R"(compare = "order"
[clock]
port = "clk"
[reset]
port = "rst"
active = "high"
[parameters]
DEPTH = 4
WIDTH = "log2 QPS"
[constants]
enable = 1
[ports]
grant_qpn_o = "queue"
[policies]
cfg_burst_i = 1
[doorbell]
valid = "dv"
qpn = "dq"
[gate]
axi_lite = "s_"
address_base = 0x1000
address_per_qp = 8
open = 3
)",
                                    "m.toml");
    CHECK(m.block == "send_scheduler");
    CHECK(m.top == "mine");
    CHECK(m.compare == rtl_map::comparison::order);
    CHECK(m.clock == "clk");
    CHECK(m.reset == "rst");
    CHECK_FALSE(m.reset_is_low);
    CHECK(m.parameters.at("DEPTH") == 4);
    CHECK(m.size_parameters.at("WIDTH") == "log2 QPS");
    CHECK(m.constants.at("enable") == 1);
    CHECK(m.ports.at("grant_qpn_o") == "queue");
    CHECK(m.policies.at("cfg_burst_i") == 1);
    CHECK(m.doorbell.valid == "dv");
    CHECK(m.doorbell.ready.empty());
    CHECK(m.gate.axi_lite == "s_");
    CHECK(m.gate.address_base == 0x1000);
    CHECK(m.gate.address_per_qp == 8);
    CHECK(m.gate.open == 3);
    CHECK(m.gate.closed == 0);
}

TEST_CASE("what a map leaves out is as the project has it", "[rtl_map]") {
    const rtl_map m = parse_rtl_map(head, "m.toml");
    CHECK(m.compare == rtl_map::comparison::cycle);
    CHECK(m.clock == "clk_i");
    CHECK(m.reset == "rst_ni");
    CHECK(m.reset_is_low);
    CHECK(m.latency_cycles == 0);
}

TEST_CASE("a bad map gives one line", "[rtl_map]") {
    const std::vector<bad_map> maps = {
        {"empty", "", "m.toml:1:1: schema", "is missing"},
        {"other schema", "schema = \"hcasim.scenario/1\"\n", "m.toml:1:1: schema", "hcasim.scenario/1"},
        {"no block", "schema = \"hcasim.rtl_map/1\"\n", "m.toml:1:1: block", "is missing"},
        {"unknown block", "schema = \"hcasim.rtl_map/1\"\nblock = \"send_schedular\"\ntop = \"m\"\n", "block",
         "did you mean 'send_scheduler'?"},
        {"no top", "schema = \"hcasim.rtl_map/1\"\nblock = \"doorbell_unit\"\n", "top", "is missing"},
        {"unknown key", head + "compar = \"order\"\n", "m.toml:4:", "did you mean 'compare'?"},
        {"unknown key of a table", head + "[doorbell]\nvlaid = \"v\"\n",
         "m.toml:5:", "did you mean 'valid'?"},
        {"unknown comparison", head + "compare = \"ordr\"\n", "m.toml:4:", "did you mean 'order'?"},
        {"comparison by order of another block",
         "schema = \"hcasim.rtl_map/1\"\nblock = \"doorbell_unit\"\ntop = \"m\"\ncompare = \"order\"\n",
         "compare", "only send_scheduler"},
        {"name of wrong type", head + "[clock]\nport = 1\n", "m.toml:5:", "is not a string"},
        {"empty name", head + "[grant]\nready = \"\"\n", "m.toml:5:", "leave the key out"},
        {"negative constant", head + "[constants]\nenable = -1\n", "m.toml:5:", "an integer from 0"},
        {"latency of wrong type", head + "latency_cycles = \"2\"\n",
         "m.toml:4:", "an integer from 0 to 1000"},
        {"table that is a number", head + "gate = 1\n", "m.toml:4:", "is not a table"},
        {"reset of neither kind", head + "[reset]\nactive = \"up\"\n", "m.toml:5:", "one of low, high"},
        {"syntax", head + "[gate\n", "m.toml:4:", "TOML"},
    };
    for (const bad_map& bad : maps) {
        INFO(bad.kind);
        std::string line;
        try {
            parse_rtl_map(bad.text, "m.toml");
        } catch (const input_error& error) {
            line = error.what();
        }
        INFO(line);
        CHECK(line.find(bad.place) != std::string::npos);
        CHECK(line.find(bad.fragment) != std::string::npos);
        CHECK(line.find('\n') == std::string::npos);
    }
}

TEST_CASE("Verilog in the place of a block is chosen as true, false or shadow", "[rtl_map]") {
    const std::string scenario = "schema = \"hcasim.scenario/1\"\n";
    const auto with = [&scenario](const std::string& text, const std::vector<std::string>& sets = {}) {
        return hcasim::parse_scenario(scenario + text, "s.toml", sets).config.rtl;
    };
    CHECK_FALSE(with("").any());
    CHECK(with("[rtl]\nlink_tx = true\n").link_tx == hcasim::rtl_mode::verilog);
    CHECK(with("[rtl]\nlink_tx = \"shadow\"\n").link_tx == hcasim::rtl_mode::shadow);
    const auto all = with("[rtl]\nlink_rx = false\nall = true\n");
    CHECK(all.send_scheduler == hcasim::rtl_mode::verilog);
    CHECK(all.link_rx == hcasim::rtl_mode::model);
    const auto set = with("", {"rtl.all=shadow", "rtl.doorbell_unit=true"});
    CHECK(set.doorbell_unit == hcasim::rtl_mode::verilog);
    CHECK(set.qp_context_cache == hcasim::rtl_mode::shadow);
    CHECK_THROWS_AS(with("[rtl]\nlink_tx = 1\n"), input_error);
    CHECK_THROWS_AS(with("", {"rtl.send_scheduler=maybe"}), input_error);
}
