// Good scenarios: what they set, and what --set may look like.
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "testbenches/program/config_hash.h"
#include "testbenches/program/nearest_name.h"
#include "testbenches/program/scenario_file.h"
#include "testbenches/unit/catch.h"

namespace {

using hcasim::config_hash;
using hcasim::parse_scenario;
using hcasim::scenario_config;

const std::string head = "schema = \"hcasim.scenario/1\"\n";
const std::string connection =
    "[[connection]]\nactive_host = \"b\"\npassive_host = \"a\"\nactive_lid = 2\npassive_lid = 1\n"
    "active_qpn = 0x10\npassive_qpn = 0x11\nactive_psn = 0x732328\npassive_psn = 0\n"
    "active_private_data = \"0405\"\n";

scenario_config config_of(const std::string& text, const std::vector<std::string>& overrides = {}) {
    return parse_scenario(head + text, "x.toml", overrides).config;
}

}  // namespace

TEST_CASE("a scenario sets what it names and nothing else") {
    const auto file = parse_scenario(head +
                                         "name = \"mine\"\nworkload = \"srp\"\nseed = 7\n"
                                         "[gate]\npolicy = \"software\"\nopen_on = [\"comm_est\", \"rtu\"]\n"
                                         "[cm]\nrtu_loss = 1\nrtu_late = 0.25\nsend_mra = true\n"
                                         "[link]\nwidth = \"12x\"\n[fault.request]\nloss = 0.5\n",
                                     "x.toml", {});
    CHECK(file.config.name == "mine");
    CHECK(file.config.workload == hcasim::workload_kind::srp);
    CHECK(file.config.seed == 7);
    CHECK(file.config.policy == hcasim::gate_policy::software);
    CHECK(file.config.open_on == (hcasim::open_on_comm_est | hcasim::open_on_rtu));
    CHECK(file.config.cm.rtu_loss == 1.0);
    CHECK(file.config.cm.rtu_late == 0.25);
    CHECK(file.config.cm.send_mra);
    CHECK(file.config.hca.link.width == hcasim::link_width::x12);
    CHECK(file.config.hca.link.faults[static_cast<std::size_t>(hcasim::packet_class::request)].loss == 0.5);
    CHECK(file.config.hca.qps == scenario_config{}.hca.qps);
    CHECK(file.given_at.size() == 10);
    CHECK(file.given_at.at("cm.rtu_late") == "x.toml:10:12");
}

TEST_CASE("line ends, a byte order mark and dotted keys do not matter") {
    const std::string text = head + "seed = 3\n[gate]\npolicy = \"reject\"\n";
    std::string crlf = "\xef\xbb\xbf";
    for (const char c : text) {
        crlf += c == '\n' ? "\r\n" : std::string(1, c);
    }
    const scenario_config config = parse_scenario(crlf, "x.toml", {}).config;
    CHECK(config.seed == 3);
    CHECK(config.policy == hcasim::gate_policy::reject);
    CHECK(config_of("gate.policy = \"reject\"\ngate.location = \"context\"\n").policy ==
          hcasim::gate_policy::reject);
}

TEST_CASE("overrides are TOML values or bare words, and the last one counts") {
    const scenario_config config = config_of(
        "seed = 1\n[gate]\npolicy = \"reject\"\n",
        {"gate.policy=software", "seed=5", " seed = 6 ", "name=1.0", "link.width=2x", "link.speed=\"hdr\"",
         "cm.rtu_loss=1", "gate.open_on=[\"comm_est\"]", "cm.disconnect=false"});
    CHECK(config.policy == hcasim::gate_policy::software);
    CHECK(config.seed == 6);
    CHECK(config.name == "1.0");
    CHECK(config.hca.link.width == hcasim::link_width::x2);
    CHECK(config.hca.link.speed == hcasim::link_speed::hdr);
    CHECK(config.cm.rtu_loss == 1.0);
    CHECK(config.open_on == hcasim::open_on_comm_est);
    CHECK_FALSE(config.cm.disconnect);
}

TEST_CASE("a script has steps and connections") {
    const scenario_config config =
        config_of("workload = \"script\"\n" + connection +
                  "[[step]]\nat_ns = 5\nhost = \"b\"\naction = \"req\"\n"
                  "[[step]]\nat_ns = 9\nhost = \"a\"\naction = \"rep\"\nconnection = 0\n");
    REQUIRE(config.script_connections.size() == 1);
    CHECK(config.script_connections[0].active_host == 1);
    CHECK(config.script_connections[0].passive_host == 0);
    const auto& fields = config.script_connections[0].fields;
    REQUIRE(fields.size() == 7);
    CHECK(std::find(fields.begin(), fields.end(),
                    std::pair<std::string, std::string>{"active_psn", std::to_string(0x732328)}) !=
          fields.end());
    CHECK(std::find(fields.begin(), fields.end(),
                    std::pair<std::string, std::string>{"active_private_data", "0405"}) != fields.end());
    REQUIRE(config.steps.size() == 2);
    CHECK(config.steps[0].at_ns == 5);
    CHECK(config.steps[0].host == "b");
    CHECK(config.steps[1].action == "rep");
}

TEST_CASE("every default is a value that a scenario may give") {
    scenario_config defaults;
    hcasim::parameter_list list;
    defaults.describe(list);
    REQUIRE(list.all().size() > 50);
    for (const hcasim::parameter& p : list.all()) {
        INFO(p.key << " = " << value_text(p));
        CHECK_NOTHROW(config_of("", {p.key + "=" + value_text(p)}));
        CHECK_FALSE(p.meaning.empty());
        CHECK_FALSE(p.unit.empty());
    }
}

TEST_CASE("the configuration hash stands for everything but the seed") {
    const std::string hash = config_hash(config_of(""));
    CHECK(hash.size() == 16);
    CHECK(hash.find_first_not_of("0123456789abcdef") == std::string::npos);
    CHECK(config_hash(config_of("seed = 99\n")) == hash);
    CHECK(config_hash(config_of("[cm]\nrtu_loss = 0.0\n")) == hash);
    CHECK(config_hash(config_of("", {"cm.rtu_loss=0"})) == hash);
    CHECK(config_hash(config_of("[cm]\nrtu_loss = 0.5\n")) != hash);
    const std::string steps =
        "workload = \"script\"\n" + connection + "[[step]]\nhost = \"b\"\naction = \"req\"\nat_ns = ";
    CHECK(config_hash(config_of(steps + "1\n")) != config_hash(config_of(steps + "2\n")));
}

TEST_CASE("nearest names") {
    CHECK(hcasim::edit_distance("", "abc") == 3);
    CHECK(hcasim::edit_distance("packet", "pakcet") == 1);
    CHECK(hcasim::edit_distance("Kitten", "sitting") == 3);
    CHECK(hcasim::nearest_name("regres", {"run", "regress"}) == "regress");
    CHECK(hcasim::nearest_name("soft", {"hardware", "software"}) == "software");
    CHECK(hcasim::nearest_name("zzz", {"run", "regress"}).empty());
    CHECK(hcasim::nearest_name(std::string(100000, 'x'), {"run"}).empty());
    CHECK(hcasim::nearest_key("policy", {"gate.policy", "seed"}) == "gate.policy");
    CHECK(hcasim::nearest_key("cm.polcy", {"gate.policy", "seed"}) == "gate.policy");
}
