#include "model/link/fault_injector.h"

#include <numeric>
#include <vector>

#include "model/ib/crc.h"
#include "model/ib/headers.h"
#include "testbenches/unit/catch.h"

namespace {

using namespace hcasim;  // NOLINT

std::size_t index_of(packet_class c) { return static_cast<std::size_t>(c); }

ib::packet packet_of(std::uint8_t op, std::size_t payload_bytes) {
    ib::packet p;
    ib::headers h;
    h.op = op;
    h.dlid = 9;
    h.dest_qpn = 5;
    p.size_bytes = static_cast<std::uint32_t>(ib::packet_bytes(h, payload_bytes));
    const std::size_t offset = ib::encode(h, payload_bytes, p.bytes);
    std::iota(p.bytes + offset, p.bytes + offset + payload_bytes, std::uint8_t{0});
    ib::seal(p.bytes, p.size_bytes);
    p.op = op;
    return p;
}

std::vector<int> verdicts(fault_injector& f, packet_class c, int n) {
    const ib::packet p = packet_of(ib::rc_send_only, 64);
    std::vector<int> all;
    for (int i = 0; i < n; ++i) {
        const auto v = f.judge(c, p);
        all.push_back((v.lost ? 1 : 0) + (v.corrupted ? 2 : 0) + (v.delay_ns != 0 ? 4 : 0));
    }
    return all;
}

}  // namespace

TEST_CASE("fault injector: the same seed gives the same verdicts, another seed others") {
    link_config config;
    config.faults[index_of(packet_class::request)] = {0.2, 0.3, 100, 0.1, 0.1};
    fault_injector f;
    f.reset(config, 1);
    CHECK(f.active());
    const auto first = verdicts(f, packet_class::request, 500);
    f.reset(config, 2);
    CHECK(verdicts(f, packet_class::request, 500) != first);
    f.reset(config, 1);
    CHECK(verdicts(f, packet_class::request, 500) == first);
}

TEST_CASE("fault injector: a class has its own generator, faults of one do not move those of another") {
    link_config config;
    config.faults[index_of(packet_class::request)].loss = 0.3;
    fault_injector f;
    f.reset(config, 7);
    const auto alone = verdicts(f, packet_class::request, 200);
    config.faults[index_of(packet_class::response)].loss = 0.5;
    f.reset(config, 7);
    std::vector<int> mixed;
    for (int i = 0; i < 200; ++i) {
        verdicts(f, packet_class::response, 3);
        mixed.push_back(verdicts(f, packet_class::request, 1)[0]);
    }
    CHECK(mixed == alone);
}

TEST_CASE("fault injector: 0 never, 1 always, a share in between") {
    link_config config;
    fault_injector f;
    f.reset(config, 1);
    CHECK_FALSE(f.active());
    CHECK(verdicts(f, packet_class::request, 100) == std::vector<int>(100, 0));
    config.faults[index_of(packet_class::request)].loss = 1;
    f.reset(config, 1);
    CHECK(verdicts(f, packet_class::request, 100) == std::vector<int>(100, 1));
    config.faults[index_of(packet_class::request)].loss = 0.25;
    f.reset(config, 1);
    const auto all = verdicts(f, packet_class::request, 10000);
    const int lost = std::accumulate(all.begin(), all.end(), 0);
    CHECK(lost > 2300);
    CHECK(lost < 2700);
}

TEST_CASE("fault injector: corruption is found by the VCRC, hidden corruption by the ICRC only") {
    link_config config;
    fault_injector f;
    for (const bool hidden : {false, true}) {
        config.faults[index_of(packet_class::request)] = {};
        (hidden ? config.faults[index_of(packet_class::request)].hidden_corruption
                : config.faults[index_of(packet_class::request)].corruption) = 1;
        f.reset(config, 3);
        int icrc_bad = 0;
        for (int i = 0; i < 500; ++i) {
            const ib::packet good = packet_of(ib::rc_send_only, 64);
            ib::packet p = good;
            const auto v = f.judge(packet_class::request, p);
            REQUIRE(v.corrupted);
            CHECK(std::equal(p.bytes, p.bytes + p.size_bytes, good.bytes));  // judging changes nothing
            f.corrupt(v, p);
            CHECK_FALSE(std::equal(p.bytes, p.bytes + p.size_bytes, good.bytes));
            CHECK(std::equal(p.bytes, p.bytes + ib::lrh_bytes, good.bytes));
            CHECK(ib::vcrc_is_good(p.bytes, p.size_bytes) == hidden);
            icrc_bad += ib::icrc_is_good(p.bytes, p.size_bytes) ? 0 : 1;
        }
        // Only the one byte of the BTH that the ICRC leaves out (the reserved byte of the destination QP)
        // escapes it.
        CHECK(icrc_bad > 470);
    }
}

TEST_CASE("fault injector: classes") {
    fault_injector f;
    f.reset({}, 1);
    CHECK(f.classify(packet_of(ib::rc_send_first, 256)) == packet_class::request);
    CHECK(f.classify(packet_of(ib::rc_acknowledge, 0)) == packet_class::response);
    CHECK(f.classify(packet_of(ib::ud_send_only, 64)) == packet_class::datagram);
    ib::packet flow;
    flow.is_flow_control = true;
    CHECK(f.classify(flow) == packet_class::flow_control);
}
