// Nothing is lost: under injected back-pressure on every channel, with caches too small for the QPs, with
// faults on every class of packets, with state changes in the middle of traffic (scenario B30, invariants 6
// and 10).
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "testbenches/system/two_hosts.h"
#include "testbenches/unit/catch.h"

using namespace hcasim;
using namespace hcasim::test;
using ib::qp_state;
using ib::wc_status;

namespace {

// `pairs` connections with traffic both ways. The servers' sends are posted in RTR; the gates open in
// different ways: by the client's first packet, by modify_qp, or by both at about the same time.
struct traffic {
    std::uint32_t pairs = 6;
    std::uint32_t messages = 12;
    std::uint32_t bytes = 64;
    std::uint32_t buffer_bytes = 64;
    std::uint8_t timeout = 7;  // T = 32768 cycles: longer than a message waits under the worst stalls
    bool open_by_command = true;
};

struct connection {
    test_qp* client;
    test_qp* server;
};

std::vector<connection> start(two_hosts& bench, const bench_config& config, const traffic& t) {
    bench.reset(config);
    std::vector<connection> all;
    for (std::uint32_t i = 0; i < t.pairs; ++i) {
        connection c{&bench.create_qp(0, 2 + i, 64, t.buffer_bytes),
                     &bench.create_qp(1, 2 + i, 64, t.buffer_bytes)};
        bench.pair(*c.client, *c.server);
        c.client->attributes.timeout = c.server->attributes.timeout = t.timeout;
        c.client->attributes.sl = c.server->attributes.sl = static_cast<std::uint8_t>(i % 2);
        bench.bring_to(*c.client, qp_state::rts);
        bench.post_receives(*c.client, t.messages);
        bench.to_init(*c.server);
        bench.post_receives(*c.server, t.messages);
        bench.to_rtr(*c.server, true);
        all.push_back(c);
    }
    for (const connection& c : all) {
        for (std::uint32_t i = 0; i < t.messages; ++i) {
            bench.post_send(*c.server, t.bytes);
            if (i % 3 == 0) {
                bench.ring(*c.server);
            }
        }
        bench.ring(*c.server);
        bench.send(*c.client, t.messages, t.bytes);
    }
    if (t.open_by_command) {
        for (const connection& c : all) {
            bench.start_modify(*c.server, qp_state::rts, ib::rts_attributes_rc, ib::gate_opener::rtu);
        }
    }
    return all;
}

bool finished(const std::vector<connection>& all, std::uint32_t messages) {
    for (const connection& c : all) {
        for (const test_qp* q : {c.client, c.server}) {
            if (q->received.size() < messages || q->send_completions.size() < messages) {
                return false;
            }
        }
    }
    return true;
}

void check_delivery(const std::vector<connection>& all, std::uint32_t messages) {
    for (const connection& c : all) {
        for (const test_qp* q : {c.client, c.server}) {
            INFO("host " << q->host << ", QP " << q->qpn);
            CHECK(q->received == numbers(messages));
            CHECK(q->send_statuses() == statuses(messages, wc_status::success));
        }
    }
}

bench_config with_inference() {
    bench_config config;
    config.hca.receive_engine.infer_rts = true;
    return config;
}

}  // namespace

TEST_CASE("Back-pressure injected on every channel: all delivered once and in order, no wake-up lost",
          "[stress]") {
    two_hosts bench;
    for (const std::uint32_t per_1024 : {100u, 300u, 500u, 700u, 900u}) {
        for (std::uint64_t seed = 1; seed <= 4; ++seed) {
            for (const auto location : {gate_location::on_chip, gate_location::context}) {
                INFO("stall " << per_1024 << ", seed " << seed << ", gate in context "
                              << (location == gate_location::context));
                bench_config config = with_inference();
                config.hca.stall_per_1024 = per_1024;
                config.hca.stall_seed = seed;
                config.hca.send_scheduler.location = location;
                config.hca.qp_context_cache.sets = seed % 2 == 0 ? 2 : 64;
                config.hca.qp_context_cache.ways = seed % 2 == 0 ? 1 : 4;
                traffic t;
                t.timeout = 0;  // a lost wake-up is not to be healed by a retry
                t.open_by_command = seed > 2;
                const auto all = start(bench, config, t);
                bench.run_until_idle();
                check_delivery(all, t.messages);
                CHECK(bench.counter(0, "send_engine.rewinds") == 0);
                CHECK(bench.counter(1, "send_engine.rewinds") == 0);
                bench.check();
            }
        }
    }
}

TEST_CASE("Back-pressure with long messages, a small window and short queues", "[stress]") {
    two_hosts bench;
    for (const std::uint32_t per_1024 : {0u, 400u, 800u}) {
        for (std::uint64_t seed = 1; seed <= 2; ++seed) {
            INFO("stall " << per_1024 << ", seed " << seed);
            bench_config config = with_inference();
            config.hca.stall_per_1024 = per_1024;
            config.hca.stall_seed = seed;
            config.hca.send_engine.window_messages = 2;
            config.hca.send_engine.slots = 2;
            config.hca.send_engine.outstanding_messages = 16;
            config.hca.receive_engine.slots = 2;
            config.hca.link.tx_queue_packets = 1;
            config.hca.link.vl_buffer_bytes = 8448;
            config.hca.qp_context_cache.sets = 1;
            config.hca.qp_context_cache.ways = 1;
            config.hca.qp_context_cache.misses_outstanding = 1;
            config.hca.doorbell_unit.fifo_depth = 1;
            config.hca.host_interface.reads_outstanding = 2;
            traffic t;
            t.timeout = 0;
            t.pairs = 4;
            t.messages = 6;
            t.bytes = t.buffer_bytes = 10000;  // three packets
            const auto all = start(bench, config, t);
            bench.run_until_idle();
            check_delivery(all, t.messages);
            bench.check();
        }
    }
}

TEST_CASE("Invariant 10: the size of the context cache changes when, never what", "[stress]") {
    two_hosts bench;
    // What each QP sends and answers, in order, without the times.
    using sequence = std::vector<std::tuple<std::uint8_t, std::uint32_t, std::uint32_t, std::size_t>>;
    std::map<std::pair<std::uint32_t, std::uint32_t>, sequence> first_requests, first_answers;
    std::vector<cycle_t> ends;
    bool first = true;
    for (const auto& [sets, ways] :
         {std::pair<std::uint32_t, std::uint32_t>{64, 4}, {1, 1}, {1, 2}, {2, 2}}) {
        for (const auto replacement : {replacement_policy::lru, replacement_policy::plru}) {
            INFO(sets << " sets of " << ways << " ways");
            bench_config config = with_inference();
            config.hca.qp_context_cache.sets = sets;
            config.hca.qp_context_cache.ways = ways;
            config.hca.qp_context_cache.replacement = replacement;
            traffic t;
            t.timeout = 0;
            const auto all = start(bench, config, t);
            bench.run_until_idle();
            check_delivery(all, t.messages);
            bench.check();
            ends.push_back(bench.now());
            std::map<std::pair<std::uint32_t, std::uint32_t>, sequence> requests, answers;
            for (const wire_packet& p : bench.packets()) {
                auto& of = ib::is_rc_request(p.h.op) ? requests : answers;
                of[{p.host, p.h.dest_qpn}].emplace_back(
                    p.h.op, p.h.psn, ib::is_rc_request(p.h.op) ? 0 : p.h.msn, p.payload_bytes);
            }
            if (first) {
                first = false;
                first_requests = requests;
                first_answers = answers;
            }
            CHECK(requests == first_requests);
            CHECK(answers == first_answers);
        }
    }
    CHECK(ends[2] > ends[0]);  // one line for six QPs is slower
}

TEST_CASE(
    "Loss, delay and corruption of requests and answers, 10 % each: all delivered exactly once, in order",
    "[stress]") {
    two_hosts bench;
    for (const packet_class faulty : {packet_class::request, packet_class::response}) {
        for (const char* kind : {"loss", "delay", "corruption", "hidden_corruption", "all"}) {
            for (std::uint64_t seed = 1; seed <= 2; ++seed) {
                INFO("class " << static_cast<int>(faulty) << ", " << kind << ", seed " << seed);
                bench_config config = with_inference();
                config.hca.seed = seed;
                const std::string k = kind;
                fault_config& f = config.hca.link.faults[static_cast<std::size_t>(faulty)];
                f.loss = k == "loss" || k == "all" ? 0.1 : 0;
                f.delay = k == "delay" || k == "all" ? 0.1 : 0;
                f.delay_ns = 6000;
                f.corruption = k == "corruption" || k == "all" ? 0.1 : 0;
                f.hidden_corruption = k == "hidden_corruption" || k == "all" ? 0.1 : 0;
                traffic t;
                t.timeout = 5;
                t.bytes = t.buffer_bytes = 600;
                const auto all = start(bench, config, t);
                bench.run_until([&] { return finished(all, t.messages); }, 256);
                bench.run_until_idle();
                check_delivery(all, t.messages);
                bench.check();
            }
        }
    }
}

TEST_CASE("Loss of messages of several packets: repeated from their first packet, delivered once",
          "[stress]") {
    two_hosts bench;
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        INFO("seed " << seed);
        bench_config config = with_inference();
        config.hca.seed = seed;
        for (const packet_class c : {packet_class::request, packet_class::response}) {
            config.hca.link.faults[static_cast<std::size_t>(c)].loss = 0.03;
            config.hca.link.faults[static_cast<std::size_t>(c)].hidden_corruption = 0.02;
        }
        traffic t;
        t.timeout = 6;
        t.pairs = 3;
        t.bytes = t.buffer_bytes = 10000;
        const auto all = start(bench, config, t);
        bench.run_until([&] { return finished(all, t.messages); }, 256);
        bench.run_until_idle();
        check_delivery(all, t.messages);
        bench.check();
    }
}

TEST_CASE("Loss and corruption of flow-control packets: credits come back", "[stress]") {
    two_hosts bench;
    for (std::uint64_t seed = 1; seed <= 2; ++seed) {
        INFO("seed " << seed);
        bench_config config = with_inference();
        config.hca.seed = seed;
        config.hca.link.vl_buffer_bytes = 8448;
        config.hca.link.credit_update_bytes = 4096;
        fault_config& f = config.hca.link.faults[static_cast<std::size_t>(packet_class::flow_control)];
        f.loss = 0.1;
        f.corruption = 0.1;
        traffic t;
        t.timeout = 8;
        t.bytes = t.buffer_bytes = 4096;
        const auto all = start(bench, config, t);
        bench.run_until([&] { return finished(all, t.messages); }, 256);
        check_delivery(all, t.messages);
        bench.check(false);
    }
}

TEST_CASE("Credits of packets that are lost on the wire come back with the next flow-control packet",
          "[stress]") {
    two_hosts bench;
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        INFO("seed " << seed);
        bench_config config = with_inference();
        config.hca.seed = seed;
        // Room for two packets of the MTU: two lost ones take all credits.
        config.hca.link.vl_buffer_bytes = 8448;
        config.hca.link.faults[static_cast<std::size_t>(packet_class::request)].loss = 0.15;
        traffic t;
        t.timeout = 6;
        t.pairs = 4;
        t.bytes = t.buffer_bytes = 4096;
        const auto all = start(bench, config, t);
        bench.run_until([&] { return finished(all, t.messages); }, 256, 20'000'000);
        bench.run_until_idle();
        check_delivery(all, t.messages);
        CHECK(bench.counter(0, "link.rx_resyncs") + bench.counter(1, "link.rx_resyncs") > 0);
        bench.check();
    }
}

TEST_CASE("Everything lost for good is reported, and each post comes back once", "[stress]") {
    two_hosts bench;
    bench_config config = with_inference();
    traffic t;
    t.timeout = 2;
    const auto all = start(bench, config, t);
    // The cable is cut in the middle of the traffic.
    bench.run_for(1500);
    for (std::uint32_t h = 0; h < 2; ++h) {
        bench.cable_from(h).passes = [](const wire_packet&) { return false; };
    }
    bench.run_until_idle();
    for (const connection& c : all) {
        for (const test_qp* q : {c.client, c.server}) {
            INFO("host " << q->host << ", QP " << q->qpn);
            REQUIRE(q->send_completions.size() == t.messages);
            bool failed = false;
            for (std::uint16_t i = 0; i < t.messages; ++i) {
                CHECK(q->send_completions[i].wqe_index == i);
                const wc_status status = q->send_completions[i].status;
                if (failed) {
                    CHECK(status == wc_status::wr_flush_err);
                } else {
                    CHECK((status == wc_status::success || status == wc_status::retry_exc_err ||
                           status == wc_status::wr_flush_err));
                }
                failed = failed || status != wc_status::success;
            }
            // Delivered are the messages from the first on without a gap.
            CHECK(q->received == numbers(q->received.size()));
        }
    }
    bench.check();
}

TEST_CASE("RESET under traffic: the next life of the QP knows nothing of the one before", "[stress]") {
    two_hosts bench;
    for (const bool small_cache : {false, true}) {
        for (cycle_t at = 0; at < 420; at += 3) {
            INFO("RESET rung " << at << " cycles after the doorbells, small cache " << small_cache);
            bench_config config = with_inference();
            config.hca.command_unit.modify_qp_ns = 4;
            if (small_cache) {
                config.hca.qp_context_cache.sets = config.hca.qp_context_cache.ways = 1;
            }
            bench.reset(config);
            test_qp& client = bench.create_qp(0, 2);
            test_qp& server = bench.create_qp(1, 5);
            bench.pair(client, server);
            bench.bring_to(client, qp_state::rts);
            bench.post_receives(client, 20);
            bench.to_init(server);
            bench.post_receives(server, 20);
            bench.to_rtr(server, true);
            bench.send(server, 10);
            bench.send(client, 12);
            bench.run_for(at);
            REQUIRE(bench.modify(server, qp_state::reset) == ib::modify_status::ok);
            REQUIRE(bench.modify(client, qp_state::reset) == ib::modify_status::ok);
            // The new life, with other PSNs, as fast as the driver can.
            for (test_qp* q : {&client, &server}) {
                q->sq_producer = q->rq_producer = 0;
                q->next_message = 100;
                q->attributes.sq_psn = (q->attributes.sq_psn + 3) & 0xffffffu;
                q->attributes.rq_psn = (q->attributes.rq_psn + 3) & 0xffffffu;
            }
            bench.to_init(server);
            bench.post_receives(server, 4);
            bench.to_rtr(server, true);
            bench.send(server, 2);
            bench.run_for(600);
            CHECK(bench.state(server) == qp_state::rtr);
            bench.poll();
            for (test_qp* q : {&client, &server}) {
                q->received.clear();
                q->send_completions.clear();
                q->receive_completions.clear();
            }
            bench.bring_to(client, qp_state::rts);
            bench.post_receives(client, 4);
            const std::size_t events = bench.host(1).watch.comm_ests.size();
            bench.send(client, 3);
            bench.run_until_idle();
            CHECK(bench.host(1).watch.comm_ests.size() == events + 1);
            CHECK(bench.state(server) == qp_state::rts);
            CHECK(server.received == std::vector<std::uint64_t>{100, 101, 102});
            CHECK(client.received == std::vector<std::uint64_t>{100, 101});
            REQUIRE(server.receive_completions.size() == 3);
            CHECK(server.receive_completions[0].wr_id == 0);
            CHECK(client.send_statuses() == statuses(3, wc_status::success));
            CHECK(server.send_statuses() == statuses(2, wc_status::success));
            bench.check();
        }
    }
}

TEST_CASE("DESTROY under traffic: another QP of the same slot knows nothing of the one before", "[stress]") {
    two_hosts bench;
    for (const bool same_number : {false, true}) {
        for (cycle_t at = 0; at < 420; at += 7) {
            INFO("DESTROY rung " << at << " cycles after the doorbells, same number " << same_number);
            bench_config config = with_inference();
            config.hca.command_unit.modify_qp_ns = config.hca.command_unit.create_qp_ns = 4;
            bench.reset(config);
            test_qp& client = bench.create_qp(0, 2);
            test_qp& old_server = bench.create_qp(1, 5);
            bench.pair(client, old_server);
            client.attributes.timeout = 0;
            bench.bring_to(client, qp_state::rts);
            bench.to_init(old_server);
            bench.post_receives(old_server, 20);
            bench.to_rtr(old_server, true);
            bench.send(old_server, 10);
            bench.send(client, 12);
            bench.run_for(at);
            REQUIRE(bench.destroy(old_server) == ib::modify_status::ok);
            CHECK(bench.modify(old_server, qp_state::init) == ib::modify_status::unknown_qp);
            bench.run_for(2000);
            bench.poll();
            const std::uint32_t qpn = same_number ? 5 : 5 + 64;
            test_qp& other = bench.create_qp(0, 3);
            // Polled completions find their QP by number: the old one has no more.
            bench.host(1).qps.pop_back();
            test_qp& server = bench.create_qp(1, qpn);
            bench.pair(other, server);
            bench.bring_to(other, qp_state::rts);
            bench.post_receives(other, 4);
            bench.to_init(server);
            bench.post_receives(server, 4);
            bench.to_rtr(server, true);
            bench.send(server, 2);
            bench.run_for(1000);
            CHECK(bench.state(server) == qp_state::rtr);
            const std::size_t events = bench.host(1).watch.comm_ests.size();
            bench.send(other, 3);
            bench.run_until_idle();
            CHECK(bench.host(1).watch.comm_ests.size() == events + 1);
            CHECK(server.received == numbers(3));
            CHECK(other.received == numbers(2));
            REQUIRE(server.receive_completions.size() == 3);
            CHECK(server.receive_completions[0].wr_id == 0);
            bench.modify(client, qp_state::err);
            bench.run_until_idle();
            bench.check();
        }
    }
}

TEST_CASE("Packets that stream in through RESET and a new RTR are not taken for the new life", "[stress]") {
    two_hosts bench;
    for (cycle_t at = 0; at < 200; at += 5) {
        INFO("RESET rung " << at << " cycles into the stream");
        bench_config config = with_inference();
        // A stream without a gap: small packets on a fast link, short firmware times.
        config.hca.command_unit.modify_qp_ns = 4;
        config.hca.link.speed = link_speed::ndr;
        bench.reset(config);
        test_qp& client = bench.create_qp(0, 2, 16, 1u << 20);
        test_qp& server = bench.create_qp(1, 5, 16, 1u << 20);
        bench.pair(client, server);
        client.attributes.path_mtu = server.attributes.path_mtu = 1;
        client.attributes.timeout = 0;
        bench.bring_to(client, qp_state::rts);
        bench.to_init(server);
        bench.post_receives(server, 2);
        bench.to_rtr(server, true);
        bench.send(client, 1, 1u << 20);
        bench.run_for(400 + at);
        REQUIRE(bench.modify(server, qp_state::reset) == ib::modify_status::ok);
        const std::size_t events = bench.host(1).watch.comm_ests.size();
        server.sq_producer = server.rq_producer = 0;
        server.attributes.rq_psn = (client.attributes.sq_psn + 0x400000) & 0xffffffu;
        bench.to_init(server);
        bench.post_receives(server, 2);
        bench.to_rtr(server, true);
        bench.send(server, 1, 64);
        bench.run_until_idle();
        // No packet of the stream has the PSN that the new life expects.
        CHECK(bench.host(1).watch.comm_ests.size() == events);
        CHECK(bench.state(server) == qp_state::rtr);
        CHECK(bench.query(server).expected_psn == server.attributes.rq_psn);
        CHECK(bench.requests_of(server).empty());
        bench.modify(client, qp_state::err);
        bench.run_until_idle();
        bench.check();
    }
}
