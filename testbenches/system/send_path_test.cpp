// The yardstick of `hcasim bench` and the model do the same work: every packet on the wire and every CQE in
// the same cycle, with the same bytes. That makes the plain loop an oracle for the blocks, too.
#include <systemc>

#include <fstream>
#include <sstream>

#include "testbenches/bench/bench_command.h"
#include "testbenches/bench/model_send_path.h"
#include "testbenches/bench/plain_send_path.h"
#include "testbenches/unit/catch.h"

namespace {

using hcasim::engine_kind;
using hcasim::model_send_path;
using hcasim::plain_send_path;
using hcasim::send_path_config;
using hcasim::send_path_result;

struct variant {
    const char* name;
    send_path_config config;
};

std::vector<variant> variants() {
    std::vector<variant> all;
    send_path_config c;
    all.push_back({"default card", c});
    c.hca.qp_context_cache.sets = 8;
    all.push_back({"context misses", c});
    c.gate_interval_cycles = 50;
    c.payload_bytes = 5000;
    all.push_back({"late gates, two packets per message", c});
    c = {};
    c.hca.send_engine.window_messages = 4;
    c.hca.send_engine.outstanding_messages = 100;
    c.payload_bytes = 0;
    all.push_back({"small windows, no payload", c});
    c = {};
    c.hca.doorbell_unit.fifo_depth = 2;
    c.hca.doorbell_unit.coalesce = false;
    c.hca.qp_context_cache.sets = 1;
    c.hca.qp_context_cache.misses_outstanding = 2;
    c.hca.host_interface.reads_outstanding = 8;
    c.hca.send_engine.slots = 4;
    c.hca.link.width = hcasim::link_width::x1;
    c.payload_bytes = 256;
    all.push_back({"everything small", c});
    c = {};
    c.hca.link.vl_buffer_bytes = 1024;
    c.hca.link.credit_update_bytes = 256;
    c.hca.send_scheduler.arbitration = hcasim::arbitration_policy::weighted;
    c.hca.send_scheduler.burst = 1;
    c.depth = 2;
    all.push_back({"few credits, weighted", c});
    return all;
}

}  // namespace

TEST_CASE("the plain send path and the model agree in every cycle") {
    model_send_path model("model", model_send_path::host_side::inside);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    plain_send_path plain;
    for (const variant& v : variants()) {
        for (const std::uint32_t interval : {200u, 20u, 0u}) {
            for (const std::uint64_t seed : {1u, 2u}) {
                INFO(v.name << ", interval " << interval << ", seed " << seed);
                send_path_config c = v.config;
                c.interval_cycles = interval;
                c.seed = seed;
                const hcasim::cycle_t cycles = interval == 200 ? 60'000 : 15'000;
                plain.reset(c, plain_send_path::form::poll);
                plain.run_to(cycles);
                const send_path_result expected = plain.result();
                CHECK(expected.completions > (interval == 200 ? 200u : 100u));
                plain.reset(c, plain_send_path::form::skip);
                plain.run_to(cycles);
                CHECK(plain.result().digest == expected.digest);
                for (const engine_kind engine : {engine_kind::wheel, engine_kind::poll}) {
                    model.reset(c, engine);
                    model.run_to(cycles);
                    CHECK(model.result().packets == expected.packets);
                    CHECK(model.result().completions == expected.completions);
                    CHECK(model.result().digest == expected.digest);
                    model.stop();
                }
            }
        }
    }
}

TEST_CASE("the host behind TLM drives the same path in both engines") {
    model_send_path model("model", model_send_path::host_side::tlm);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    for (const std::uint32_t words : {1u, 16u}) {
        send_path_config c;
        c.interval_cycles = 20;
        std::vector<std::uint64_t> digests;
        for (const engine_kind engine : {engine_kind::wheel, engine_kind::poll}) {
            model.reset(c, engine, words);
            model.run_to(15'000);
            CHECK(model.result().completions > 500);
            digests.push_back(model.result().digest);
            model.stop();
        }
        CHECK(digests[0] == digests[1]);
    }
}

TEST_CASE("bench compares, prints and writes its JSON") {
    REQUIRE(hcasim::bench_command({"--quick", "--json", "bench_command_test.json"}) == 0);
    std::ifstream file("bench_command_test.json");
    std::stringstream text;
    text << file.rdbuf();
    CHECK(text.str().find("\"schema\": \"hcasim.bench/1\"") != std::string::npos);
    CHECK(text.str().find("\"same_results\": true") != std::string::npos);
    CHECK(text.str().find("\"goals\"") != std::string::npos);
}

TEST_CASE("bench refuses what it does not know") {
    CHECK(hcasim::bench_command({"--repeat", "3"}) == 2);
    CHECK(hcasim::bench_command({"--repeats", "0"}) == 2);
    CHECK(hcasim::bench_command({"--repeats"}) == 2);
    CHECK(hcasim::bench_command({"--json", "/nowhere/at/all.json"}) == 2);
    CHECK(hcasim::bench_command({"--help"}) == 0);
}
