// Bad scenarios: each gives one line that says where, which key, what was wrong and what was expected.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "testbenches/program/scenario_file.h"
#include "testbenches/unit/catch.h"

namespace {

using hcasim::input_error;
using hcasim::parse_scenario;

const std::string head = "schema = \"hcasim.scenario/1\"\n";
const std::string script = head + "workload = \"script\"\n";
const std::string two_hosts =
    "[[connection]]\nactive_host = \"b\"\npassive_host = \"a\"\nactive_lid = 2\npassive_lid = 1\n"
    "active_qpn = 0x10\npassive_qpn = 0x11\npassive_psn = 1\n";
const std::string one_step = "[[step]]\nat_ns = 0\nhost = \"b\"\naction = \"req\"\n";

struct bad_scenario {
    const char* kind;
    std::string text;
    const char* place;  ///< "LINE:COL"; "LINE" for syntax errors, whose column is the TOML library's affair
    const char* key;    ///< what stands behind the place
    const char* fragment;  ///< must be in the rest of the line
};

std::vector<bad_scenario> bad_scenarios() {
    return {
        {"empty file", "", "1:1", "file", "is empty"},
        {"blank file", " \r\n\t\n", "1:1", "file", "is empty"},
        {"byte order mark only", "\xef\xbb\xbf\n", "1:1", "file", "is empty"},
        {"binary", head + std::string("seed\0= 1\n", 9), "2:5", "file", "zero byte"},
        {"UTF-16", std::string("\xff\xfes\0c\0", 6), "1:4", "file", "zero byte"},
        {"not UTF-8", head + "name = \"\xff\xfe\"\n", "2", "name", "utf-8"},
        {"no schema", "seed = 1\n", "1:1", "schema", "is missing; expected schema = \"hcasim.scenario/1\""},
        {"other schema", "schema = \"hcasim.sweep/1\"\n", "1:10", "schema", "hcasim.sweep/1"},
        {"schema of wrong type", "schema = 1\n", "1:10", "schema", "the integer 1"},

        {"value missing", head + "seed =\n", "2", "seed", "expected value"},
        {"line without =", head + "seed\n", "2", "seed", "expected '='"},
        {"string not closed", head + "name = \"abc\n", "2", "name", "expected valid TOML"},
        {"table header not closed", head + "[gate\n", "2", "gate", "expected ']'"},
        {"table header without name", head + " [[[step]]]\n", "2:4", "syntax", "without a name"},
        {"table header of a dot", head + "[.gate]\n", "2:2", "syntax", "without a name"},
        {"table header of blanks", head + "[[ \n", "2:3", "syntax", "without a name"},
        {"array not closed", head + "[gate]\nopen_on = [\"rtu\",\n", "3", "gate.open_on",
         "expected valid TOML"},
        {"truncated", head + "[gate]\npol", "3", "gate.pol", "expected valid TOML"},
        {"key given twice", head + "[gate]\npolicy = \"reject\"\npolicy = \"reject\"\n", "4", "gate.policy",
         "is given a second time"},
        {"table given twice", head + "[gate]\n[cm]\n[gate]\n", "4", "gate", "is given a second time"},

        {"unknown table", head + "[gat]\npolicy = \"reject\"\n", "2:2", "gat",
         "is not a known table; expected one of cm"},
        {"unknown table, nearest", head + "[hosts]\n", "2:2", "hosts", "did you mean 'host'?"},
        {"unknown key", head + "[gate]\npolcy = \"reject\"\n", "3:1", "gate.polcy",
         "did you mean 'gate.policy'?"},
        {"unknown key like none", head + "zzzzzzzzz = 1\n", "2:1", "zzzzzzzzz", "`hcasim params`"},
        {"key in the wrong table", head + "[cm]\npolicy = \"reject\"\n", "3:1", "cm.policy",
         "did you mean 'gate.policy'?"},
        {"top key behind a table", head + "[gate]\nseed = 1\n", "3:1", "gate.seed", "did you mean 'seed'?"},
        {"quoted key with a dot", head + "\"gate.policy\" = \"reject\"\n", "2:1", "gate.policy",
         "without quotes"},
        {"value for a table", head + "gate = 3\n", "2:8", "gate", "expected a table, written [gate]"},
        {"table for a value", head + "[seed]\nx = 1\n", "2:1", "seed", "is a table; expected an integer"},
        {"array of tables for a table", head + "[[gate]]\npolicy = \"reject\"\n", "2:1", "gate",
         "is an array"},

        {"float for integer", head + "seed = 1.5\n", "2:8", "seed", "is the float 1.5; expected an integer"},
        {"string for integer", head + "seed = \"1\"\n", "2:8", "seed", "is the string \"1\""},
        {"boolean for integer", head + "seed = true\n", "2:8", "seed", "is the boolean true"},
        {"array for integer", head + "seed = [1]\n", "2:8", "seed", "is an array"},
        {"date for integer", head + "seed = 2020-01-01\n", "2:8", "seed", "is a date or time"},
        {"negative", head + "seed = -1\n", "2:8", "seed", "is -1, which is negative"},
        {"more than 64 bits", head + "seed = 99999999999999999999\n", "2", "seed", "64 bits"},
        {"too small", head + "[topology]\nhosts = 1\n", "3:9", "topology.hosts", "is 1, which is too small"},
        {"too large", head + "[topology]\nhosts = 1000\n", "3:9", "topology.hosts",
         "expected an integer from 2"},
        {"not a power of two", head + "[hca]\nqps = 1000\n", "3:7", "hca.qps", "which is not a power of two"},

        {"probability above one", head + "[cm]\nrtu_loss = 1.1\n", "3:12", "cm.rtu_loss",
         "is 1.1, which is too large; expected a number from 0 to 1"},
        {"negative probability", head + "[cm]\nrtu_loss = -0.1\n", "3:12", "cm.rtu_loss", "too small"},
        {"probability nan", head + "[cm]\nrtu_loss = nan\n", "3:12", "cm.rtu_loss", "no finite number"},
        {"probability inf", head + "[cm]\nrtu_loss = -inf\n", "3:12", "cm.rtu_loss", "no finite number"},
        {"string for number", head + "[cm]\nrtu_loss = \"1\"\n", "3:12", "cm.rtu_loss", "is the string"},
        {"integer for boolean", head + "[cm]\ndisconnect = 1\n", "3:14", "cm.disconnect",
         "is the integer 1; expected true or false"},
        {"integer for text", head + "name = 5\n", "2:8", "name", "expected a string"},
        {"control character in text", head + "name = \"a\\u0007b\"\n", "2:8", "name", "control character"},

        {"unknown choice", head + "[gate]\npolicy = \"hardwre\"\n", "3:10", "gate.policy",
         "did you mean 'hardware'?"},
        {"unknown choice like none", head + "[gate]\npolicy = \"zzz\"\n", "3:10", "gate.policy",
         "expected one of hardware, software, reject"},
        {"integer for choice", head + "[gate]\npolicy = 1\n", "3:10", "gate.policy", "is the integer 1"},
        {"empty list", head + "[gate]\nopen_on = []\n", "3:11", "gate.open_on", "is an empty list"},
        {"string for list", head + "[gate]\nopen_on = \"rtu\"\n", "3:11", "gate.open_on", "like [\"rtu\"]"},
        {"unknown in list", head + "[gate]\nopen_on = [\"rtu\", \"pakcet\"]\n", "3:11", "gate.open_on",
         "did you mean 'packet'?"},
        {"integer in list", head + "[gate]\nopen_on = [1]\n", "3:11", "gate.open_on", "holds the integer 1"},
        {"twice in list", head + "[gate]\nopen_on = [\"rtu\", \"rtu\"]\n", "3:11", "gate.open_on", "twice"},

        {"script without steps", script + two_hosts, "2:12", "step", "is missing"},
        {"script without connections", script + one_step, "2:12", "connection", "is missing"},
        {"steps without script", head + one_step, "2:1", "step", "workload = \"script\""},
        {"step is a table", script + "[step]\nat_ns = 0\n" + two_hosts, "3:1", "step",
         "each headed [[step]]"},
        {"step is a list of numbers", script + "step = [1]\n" + two_hosts, "3:9", "step",
         "holds the integer 1"},
        {"step with unknown key", script + one_step + "atns = 1\n" + two_hosts, "7:1", "step[0].atns",
         "did you mean 'at_ns'?"},
        {"step with unknown action",
         script + "[[step]]\nat_ns = 0\nhost = \"a\"\naction = \"snd\"\n" + two_hosts, "6:10",
         "step[0].action", "did you mean 'send'?"},
        {"step with unknown host",
         script + "[[step]]\nat_ns = 0\nhost = \"x\"\naction = \"req\"\n" + two_hosts, "5:8", "step[0].host",
         "expected one of a, b"},
        {"step with unknown connection", script + one_step + "connection = 1\n" + two_hosts, "7:14",
         "step[0].connection", "0 to 0"},
        {"negative time", script + "[[step]]\nat_ns = -5\nhost = \"a\"\naction = \"req\"\n" + two_hosts,
         "4:9", "step[0].at_ns", "which is negative"},
        {"fractional time", script + "[[step]]\nat_ns = 0.5\nhost = \"a\"\naction = \"req\"\n" + two_hosts,
         "4:9", "step[0].at_ns", "is the float 0.5"},
        {"step without time", script + "[[step]]\nhost = \"a\"\naction = \"req\"\n" + two_hosts, "3:1",
         "step[0].at_ns", "is missing"},
        {"second step is wrong", script + one_step + "[[step]]\n" + two_hosts, "7:1", "step[1].at_ns",
         "is missing"},
        {"connection without a host", script + one_step + "[[connection]]\nactive_host = \"a\"\n", "7:1",
         "connection[0].passive_host", "is missing"},
        {"connection with one host",
         script + one_step + "[[connection]]\nactive_host = \"a\"\npassive_host = \"a\"\n", "7:1",
         "connection[0]", "two hosts"},
        {"connection with unknown host",
         script + one_step + "[[connection]]\nactive_host = \"q\"\npassive_host = \"a\"\n", "8:15",
         "connection[0].active_host", "expected one of a, b"},
        {"connection field misspelt", script + one_step + two_hosts + "retry_coun = 7\n", "15:1",
         "connection[0].retry_coun", "did you mean 'retry_count'?"},
        {"connection payload without number", script + one_step + two_hosts + "active_payload = \"00\"\n",
         "15:1", "connection[0].active_payload", "did you mean 'active_payload_1'?"},
        {"connection field of wrong type", script + one_step + two_hosts + "active_psn = 1.5\n", "15:14",
         "connection[0].active_psn", "is the float 1.5"},
    };
}

struct bad_override {
    std::string assignment;
    const char* fragment;
};

std::string message_of(const std::string& text, const std::vector<std::string>& overrides) {
    try {
        static_cast<void>(parse_scenario(text, "dir/x.toml", overrides));
    } catch (const input_error& error) {
        return error.what();
    }
    return "no error";
}

bool is_one_line(const std::string& message) {
    return std::none_of(message.begin(), message.end(),
                        [](char c) { return static_cast<unsigned char>(c) < 0x20; });
}

}  // namespace

TEST_CASE("every kind of bad scenario gives its one line") {
    for (const bad_scenario& bad : bad_scenarios()) {
        const std::string message = message_of(bad.text, {});
        INFO(bad.kind << ": " << message);
        CHECK(is_one_line(message));
        const std::string place = std::string("dir/x.toml:") + bad.place + ":";
        CHECK(message.substr(0, place.size()) == place);
        const std::string key = std::string(": ") + bad.key + ": ";
        const auto key_at = message.find(key);
        REQUIRE(key_at != std::string::npos);
        CHECK(message.find_first_not_of("0123456789:", std::string("dir/x.toml").size()) == key_at + 1);
        CHECK(message.find(bad.fragment, key_at) != std::string::npos);
    }
}

TEST_CASE("of several faults the first one in the file is told") {
    CHECK(message_of(head + "seed = -1\n[cm]\nrtu_loss = 7\n", {}).find("x.toml:2:8: seed") !=
          std::string::npos);
    CHECK(
        message_of(head + "[cm]\nrtu_loss = 7\n[gate]\npolicy = 1\n", {}).find("x.toml:3:12: cm.rtu_loss") !=
        std::string::npos);
}

TEST_CASE("a scenario cut off anywhere is a fault or a shorter scenario, never a crash") {
    const std::string whole = script + "[gate]\nopen_on = [\"rtu\", \"packet\"]\n" + one_step + two_hosts;
    for (std::size_t size = 0; size <= whole.size(); ++size) {
        const std::string message = message_of(whole.substr(0, size), {});
        INFO(message);
        CHECK(is_one_line(message));
    }
}

TEST_CASE("a scenario with any byte changed is a fault or another scenario, never a crash") {
    const std::string whole = script + "[gate]\nopen_on = [\"rtu\", \"packet\"]\n" + one_step + two_hosts;
    for (std::size_t at = 0; at < whole.size(); ++at) {
        for (const int flip : {0x01, 0x20, 0x80, 0xff}) {
            std::string text = whole;
            text[at] = static_cast<char>(static_cast<unsigned char>(text[at]) ^ flip);
            const std::string message = message_of(text, {});
            INFO(message);
            CHECK(is_one_line(message));
        }
    }
}

TEST_CASE("deep nesting is a fault, not a crash") {
    CHECK(message_of(head + "seed = " + std::string(100000, '[') + "\n", {}).find("x.toml:2:") !=
          std::string::npos);
}

TEST_CASE("bad overrides are told by the option they came in") {
    const std::vector<bad_override> bad{
        {"seed", "has no '='"},
        {"=3", "is not a known key"},
        {"sed=3", "did you mean 'seed'?"},
        {"step=3", "is not a known key"},
        {"schema=x", "is not a known key"},
        {"gate=3", "is not a known key"},
        {"seed=", "'' is not a value"},
        {"seed=x", "'x' is not a value; expected an integer"},
        {"seed=1.5", "is the float 1.5"},
        {"seed=-1", "is negative"},
        {"hca.qps=17", "is not a power of two"},
        {"cm.rtu_loss=2", "is 2, which is too large"},
        {"cm.rtu_loss=nan", "no finite number"},
        {"cm.disconnect=yes", "'yes' is not a value; expected true or false"},
        {"gate.policy=hardwar", "did you mean 'hardware'?"},
        {"gate.policy=", "expected one of hardware"},
        {"link.width=4", "did you mean '4x'?"},
        {"gate.open_on=rtu", "like [\"rtu\"]"},
        {"gate.open_on=[]", "is an empty list"},
        {"gate.open_on=[\"rtu\",\"pakcet\"]", "did you mean 'packet'?"},
        {"seed=1\nname=\"x\"", "is not a value"},
    };
    for (const bad_override& b : bad) {
        const std::string message = message_of(head, {b.assignment});
        INFO(message);
        CHECK(is_one_line(message));
        CHECK(message.substr(0, 6) == "--set ");
        CHECK(message.find(b.fragment) != std::string::npos);
    }
}

TEST_CASE("a combination that cannot run is told where the first of its keys was given") {
    const auto file = parse_scenario(head + "[qp_context_cache]\nways = 3\n", "x.toml", {"hca.qps=64"});
    CHECK(std::string(file.located(hcasim::scenario_error("qp_context_cache.ways: is bad")).what()) ==
          "x.toml:3:8: qp_context_cache.ways: is bad");
    CHECK(std::string(
              file.located(hcasim::scenario_error("hca.qps: too few for topology.connections")).what()) ==
          "--set hca.qps=64: hca.qps: too few for topology.connections");
    CHECK(std::string(file.located(hcasim::scenario_error("topology.connections: too many")).what()) ==
          "x.toml:1:1: topology.connections: too many");
}

TEST_CASE("a combination that cannot run is refused when the scenario is read") {
    const std::string only_packet = head + "[gate]\nopen_on = [\"packet\"]\n";
    CHECK(message_of(only_packet, {}) == "no error");
    const std::string message = message_of(only_packet, {"gate.policy=software"});
    INFO(message);
    CHECK(is_one_line(message));
    CHECK(message.find("--set gate.policy=software: gate.policy and gate.open_on: ") == 0);
    CHECK(message_of(head + "[topology]\nconnections = 1000\n[hca]\nqps = 16\n", {})
              .find("x.toml:3:15: topology.connections and hca.qps: ") != std::string::npos);
    CHECK(message_of(script + one_step + two_hosts + "active_psn = 1\nactive_pns = 1\n", {})
              .find("x.toml:16:1: connection[0].active_pns: is not a known key") != std::string::npos);
    CHECK(message_of(script + one_step + two_hosts + "active_psn = 0x1000000\n", {})
              .find("x.toml:15:14: connection[0].active_psn") != std::string::npos);
    const std::string wrong_side = "[[step]]\nat_ns = 0\nhost = \"a\"\naction = \"req\"\n";
    CHECK(message_of(script + wrong_side + two_hosts + "active_psn = 1\n", {}).find("x.toml:3:1: step[0]") !=
          std::string::npos);
}
