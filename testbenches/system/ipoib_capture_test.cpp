#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "model/clock/cycle_time.h"
#include "testbenches/bench/scenario.h"
#include "testbenches/program/scenario_file.h"
#include "testbenches/unit/catch.h"
#include "testbenches/unit/golden_frames.h"
#include "testbenches/unit/source_directory.h"

namespace hcasim {
namespace {

// Frames of the capture: who sends, when after the first frame of its group (0: not given by the scenario),
// size, and the last six bytes. Equal CRCs over the whole packet and equal size stand for equal bytes where
// no golden frame has them all.
struct captured {
    int frame;
    std::uint32_t host;
    std::uint64_t at_ns;
    std::size_t bytes;
    const char* crcs;
};

constexpr std::uint64_t second_group_ns = 2000000;

const std::vector<captured> frames = {
    {7, 1, 0, 290, "397ce8620f36"},
    {8, 0, 260890, 290, "d34885d7d6f2"},
    {9, 1, 410601, 290, "f7bc82694e1f"},
    {10, 1, 414304, 114, "0acca5df24a8"},
    {11, 0, 0, 30, "a80355503081"},
    {27, 2, second_group_ns, 290, "99786043b5aa"},
    {28, 1, second_group_ns + 215769, 290, "52006eb287cf"},
    {29, 2, second_group_ns + 322036, 290, "6f0775c8a396"},
    {30, 2, second_group_ns + 329293, 118, "b59eef7e57dd"},
    {31, 1, 0, 30, "f365c52dfa24"},
    {34, 1, second_group_ns + 561424, 290, "3cfa0836cfb8"},
    {35, 2, second_group_ns + 910268, 290, "ad2a18c61c40"},
    {36, 1, second_group_ns + 1059704, 134, "638ce8ca27c6"},
    {37, 1, second_group_ns + 1061850, 290, "1ec5dc493bd5"},
    {38, 2, 0, 30, "4aee54f2225b"},
    {39, 2, second_group_ns + 1098112, 134, "78140b859eaf"},
    {40, 1, 0, 30, "59e8ec0639bb"},
};

std::string last_bytes(const std::vector<std::uint8_t>& bytes) {
    constexpr char digits[] = "0123456789abcdef";
    std::string text;
    for (std::size_t i = bytes.size() - 6; i < bytes.size(); ++i) {
        text += digits[bytes[i] >> 4];
        text += digits[bytes[i] & 15];
    }
    return text;
}

run_result replay(scenario_config& scenario) {
    scenario = load_scenario(source_directory() + "/traces/ipoib_cm_race.toml", {});
    run_options options;
    options.tap_packets = true;
    return run_scenario(scenario, options);
}

TEST_CASE("the IPoIB-CM capture is on the links byte for byte and at its times") {
    scenario_config scenario;
    const run_result result = replay(scenario);
    CHECK(result.violation == std::string());
    REQUIRE(!result.packets.empty());

    const auto& packets = result.packets;
    const auto find = [&packets](const std::string& crcs, std::size_t bytes) {
        return std::find_if(packets.begin(), packets.end(), [&](const tapped_packet& p) {
            return p.bytes.size() == bytes && last_bytes(p.bytes) == crcs;
        });
    };
    const auto first = find(frames.front().crcs, frames.front().bytes);
    REQUIRE(first != packets.end());
    for (const captured& c : frames) {
        INFO("frame " << c.frame);
        const auto p = find(c.crcs, c.bytes);
        REQUIRE(p != packets.end());
        CHECK(p->host == c.host);
        CHECK(!p->lost);
        if (c.at_ns != 0) {
            CHECK(p->first_byte_cycle - first->first_byte_cycle ==
                  ns_to_cycles(c.at_ns, scenario.hca.clock_mhz));
        }
    }
    for (const char* name : {"capture_34_req", "capture_35_rep", "capture_36_send", "capture_37_rtu",
                             "capture_38_ack", "capture_09_rtu", "capture_11_ack"}) {
        INFO(name);
        const auto& golden = golden_frame_named(name).bytes;
        CHECK(std::count_if(packets.begin(), packets.end(),
                            [&golden](const tapped_packet& p) { return p.bytes == golden; }) == 1);
    }
    // Beside them only the three path queries.
    CHECK(packets.size() == frames.size() + 3);
}

TEST_CASE("a SEND ahead of its RTU raises COMM_EST once and the RTU after it changes nothing") {
    scenario_config scenario;
    const run_result result = replay(scenario);
    const auto qp = std::find_if(result.qps.begin(), result.qps.end(),
                                 [](const qp_record& q) { return q.qpn == 0x6c004b; });
    REQUIRE(qp != result.qps.end());
    CHECK(qp->passive);
    CHECK(qp->comm_est_cycle != 0);
    CHECK(qp->opened_by == ib::gate_opener::packet);
    CHECK(qp->final_state == ib::qp_state::rts);
    REQUIRE(qp->openers.size() == 2);
    CHECK(qp->openers[1].first == ib::gate_opener::rtu);
    CHECK(result.messages.posted == 4);
    CHECK(result.messages.completed == 4);
    CHECK(result.messages.duplicated == 0);
}

}  // namespace
}  // namespace hcasim
