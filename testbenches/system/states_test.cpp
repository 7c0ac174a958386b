// Moves between states, their attributes, and draining (scenarios B13, B14, B15, B26).
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "testbenches/system/contract.h"
#include "testbenches/system/two_hosts.h"
#include "testbenches/unit/catch.h"

using namespace hcasim;
using namespace hcasim::test;
using ib::modify_status;
using ib::qp_state;
using ib::wc_status;

namespace {

constexpr qp_state all_states[] = {qp_state::reset, qp_state::init, qp_state::rtr, qp_state::rts,
                                   qp_state::sqd,   qp_state::sqe,  qp_state::err};

struct move {
    std::uint32_t required, optional;
};

// IBTA 11.2.5.2 as facts section 1.2 has it, written down anew. Empty: not a valid move.
using moves = std::map<std::pair<qp_state, qp_state>, move>;

moves rc_moves() {
    using namespace ib;
    const std::uint32_t running =
        attr_cur_state | attr_alt_path | attr_access_flags | attr_min_rnr_timer | attr_path_mig_state;
    moves m;
    m[{qp_state::reset, qp_state::init}] = {attr_pkey_index | attr_port | attr_access_flags, 0};
    m[{qp_state::init, qp_state::init}] = {0, attr_pkey_index | attr_port | attr_access_flags};
    m[{qp_state::init, qp_state::rtr}] = {
        attr_av | attr_path_mtu | attr_dest_qpn | attr_rq_psn | attr_max_dest_rd_atomic | attr_min_rnr_timer,
        attr_alt_path | attr_access_flags | attr_pkey_index};
    m[{qp_state::rtr, qp_state::rts}] = {
        attr_sq_psn | attr_timeout | attr_retry_cnt | attr_rnr_retry | attr_max_qp_rd_atomic, running};
    m[{qp_state::rts, qp_state::rts}] = {0, running};
    m[{qp_state::rts, qp_state::sqd}] = {0, attr_en_sqd_async_notify};
    m[{qp_state::sqd, qp_state::sqd}] = {0, attr_port | attr_av | attr_timeout | attr_retry_cnt |
                                                attr_rnr_retry | attr_max_qp_rd_atomic |
                                                attr_max_dest_rd_atomic | attr_alt_path | attr_access_flags |
                                                attr_pkey_index | attr_min_rnr_timer | attr_path_mig_state};
    m[{qp_state::sqd, qp_state::rts}] = {0, running};
    for (const qp_state s : all_states) {
        m[{s, qp_state::reset}] = {0, 0};
        m[{s, qp_state::err}] = {0, 0};
    }
    return m;
}

moves ud_moves() {
    using namespace ib;
    moves m;
    m[{qp_state::reset, qp_state::init}] = {attr_pkey_index | attr_port | attr_qkey, 0};
    m[{qp_state::init, qp_state::init}] = {0, attr_pkey_index | attr_port | attr_qkey};
    m[{qp_state::init, qp_state::rtr}] = {0, attr_pkey_index | attr_qkey};
    m[{qp_state::rtr, qp_state::rts}] = {attr_sq_psn, attr_cur_state | attr_qkey};
    m[{qp_state::rts, qp_state::rts}] = {0, attr_cur_state | attr_qkey};
    m[{qp_state::rts, qp_state::sqd}] = {0, attr_en_sqd_async_notify};
    m[{qp_state::sqd, qp_state::sqd}] = {0, attr_pkey_index | attr_qkey};
    m[{qp_state::sqd, qp_state::rts}] = {0, attr_cur_state | attr_qkey};
    m[{qp_state::sqe, qp_state::rts}] = {0, attr_cur_state | attr_qkey};
    for (const qp_state s : all_states) {
        m[{s, qp_state::reset}] = {0, 0};
        m[{s, qp_state::err}] = {0, 0};
    }
    return m;
}

// Attributes that differ in everything from those of pair().
ib::qp_attributes other_attributes() {
    ib::qp_attributes a;
    a.dest_qpn = 0x4321;
    a.rq_psn = 0x111111;
    a.sq_psn = 0x222222;
    a.qkey = 0x33333333;
    a.pkey = 0x8001;
    a.dlid = 0x44;
    a.sl = 1;
    a.port = 2;
    a.path_mtu = 3;
    a.timeout = 9;
    a.retry_cnt = 3;
    a.rnr_retry = 4;
    a.min_rnr_timer = 17;
    a.max_rd_atomic = 8;
    a.max_dest_rd_atomic = 9;
    a.en_sqd_async_notify = 1;
    return a;
}

std::string text(const ib::qp_attributes& a) {
    std::string t;
    for (const std::uint64_t v :
         {std::uint64_t{a.dest_qpn}, std::uint64_t{a.rq_psn}, std::uint64_t{a.sq_psn}, std::uint64_t{a.qkey},
          std::uint64_t{a.pkey}, std::uint64_t{a.dlid}, std::uint64_t{a.sl}, std::uint64_t{a.port},
          std::uint64_t{a.path_mtu}, std::uint64_t{a.timeout}, std::uint64_t{a.retry_cnt},
          std::uint64_t{a.rnr_retry}, std::uint64_t{a.min_rnr_timer}, std::uint64_t{a.max_rd_atomic},
          std::uint64_t{a.max_dest_rd_atomic}}) {
        t += std::to_string(v) + " ";
    }
    return t;
}

// A UD QP in SQE: its send was longer than the MTU.
void bring_to_sqe(two_hosts& bench, test_qp& qp) {
    bench.bring_to(qp, qp_state::rts);
    bench.post_send(qp, 5000);
    bench.ring(qp);
    bench.run_until([&] { return !qp.send_completions.empty(); });
    bench.run_for(500);
}

void walk(const moves& table, ib::service_type service) {
    two_hosts bench;
    bench.reset({});
    std::uint32_t qpn = 2;
    const bool rc = service == ib::service_type::rc;
    for (const qp_state from : all_states) {
        if (from == qp_state::sqe && rc) {
            continue;  // an RC QP is never in SQE
        }
        for (const qp_state to : all_states) {
            INFO((rc ? "RC " : "UD ") << ib::name(from) << " to " << ib::name(to));
            // A fresh QP for each pair, in slots that have been used before once there are no others.
            test_qp& qp = bench.create_qp(1, qpn++, 16, 8192, 1, service);
            qp.attributes.dest_qpn = 7;
            qp.attributes.dlid = 1;
            qp.attributes.qkey = 0x80010000;
            qp.attributes.retry_cnt = 7;
            if (from == qp_state::sqe) {
                bring_to_sqe(bench, qp);
            } else {
                bench.bring_to(qp, from);
            }
            const ib::command_mailbox before = bench.query(qp);
            REQUIRE(before.state == from);
            const auto move_of = table.find({from, to});
            qp.attributes = other_attributes();
            const auto refused = [&](std::uint32_t mask, modify_status why) {
                CHECK(bench.modify(qp, to, mask) == why);
                const ib::command_mailbox after = bench.query(qp);
                CHECK(after.state == from);
                CHECK(text(after.attributes) == text(before.attributes));
                CHECK(after.sq_psn == before.sq_psn);
                CHECK(after.expected_psn == before.expected_psn);
            };
            if (move_of == table.end()) {
                for (const std::uint32_t mask :
                     {0u, static_cast<std::uint32_t>(ib::rts_attributes_rc), 0x1fffffu & ~2u}) {
                    refused(mask, modify_status::bad_transition);
                }
            } else {
                const move m = move_of->second;
                // One that is required left out, one that is not taken added: nothing at all changes.
                for (std::uint32_t bit = 1; bit <= ib::attr_dest_qpn; bit <<= 1) {
                    if (bit == ib::attr_state || bit == 1u << 19) {
                        continue;
                    }
                    const bool preload = rc && from == qp_state::init && to == qp_state::rtr &&
                                         (bit & ib::rts_attributes_rc) != 0;
                    if ((m.required & bit) != 0) {
                        refused((m.required | m.optional) & ~bit &
                                    ~static_cast<std::uint32_t>(ib::attr_cur_state),
                                modify_status::missing_attribute);
                    } else if (preload) {
                        refused(m.required | bit, modify_status::missing_attribute);  // five or none
                    } else if ((m.optional & bit) == 0 && bit != ib::attr_cur_state) {
                        refused(m.required | bit, modify_status::unexpected_attribute);
                    }
                }
                std::uint32_t mask = m.required | m.optional;
                mask &= ~static_cast<std::uint32_t>(ib::attr_cur_state);
                CHECK(bench.modify(qp, to, mask) == modify_status::ok);
                const ib::command_mailbox after = bench.query(qp);
                CHECK(after.state == to);
                if ((mask & ib::attr_sq_psn) != 0) {
                    CHECK(after.sq_psn == 0x222222);
                }
                if ((mask & ib::attr_rq_psn) != 0) {
                    CHECK(after.expected_psn == 0x111111);
                }
            }
        }
    }
    bench.run_until_idle();
    bench.check();
}

}  // namespace

TEST_CASE("B15 B26 every pair of states of an RC QP: valid moves with all they need, others change nothing",
          "[states]") {
    walk(rc_moves(), ib::service_type::rc);
}

TEST_CASE("B15 B26 every pair of states of a UD QP, SQE included", "[states]") {
    walk(ud_moves(), ib::service_type::ud);
}

TEST_CASE("B26 a value out of range changes nothing, whatever else is right", "[states]") {
    two_hosts bench;
    bench.reset({});
    test_qp& client = bench.create_qp(0, 2);
    test_qp& qp = bench.create_qp(1, 5);
    bench.pair(client, qp);
    bench.bring_to(qp, qp_state::rtr);
    const ib::command_mailbox before = bench.query(qp);
    const auto refused = [&](auto change) {
        ib::command_mailbox m = two_hosts::modify_mailbox(qp, qp_state::rts, ib::rts_attributes_rc);
        change(m.attributes);
        const pending_command c = bench.start(1, m);
        CHECK(bench.wait(c) == modify_status::bad_value);
        const ib::command_mailbox after = bench.query(qp);
        CHECK(after.state == qp_state::rtr);
        CHECK(text(after.attributes) == text(before.attributes));
        CHECK(after.sq_psn == before.sq_psn);
    };
    refused([](ib::qp_attributes& a) { a.timeout = 32; });
    refused([](ib::qp_attributes& a) { a.retry_cnt = 8; });
    refused([](ib::qp_attributes& a) { a.rnr_retry = 8; });
    refused([](ib::qp_attributes& a) { a.sq_psn = 0x1000000; });
    bench.to_rts(qp);
    bench.check();
}

TEST_CASE("Commands for nobody, of no kind, and out of range are refused", "[states]") {
    two_hosts bench;
    bench.reset({});
    test_qp& qp = bench.create_qp(1, 5);
    ib::command_mailbox m = two_hosts::modify_mailbox(qp, qp_state::init, 0);
    m.number = 5 + 64;  // the slot of QP 5, another QP
    CHECK(bench.wait(bench.start(1, m)) == modify_status::unknown_qp);
    m.number = 9;
    CHECK(bench.wait(bench.start(1, m)) == modify_status::unknown_qp);
    m = {};
    m.opcode = static_cast<ib::command_opcode>(99);
    CHECK(bench.wait(bench.start(1, m)) == modify_status::bad_command);
    m = {};
    m.opcode = ib::command_opcode::create_cq;
    m.number = 2;
    m.ring_entries = 48;  // not a power of two
    CHECK(bench.wait(bench.start(1, m)) == modify_status::bad_value);
    m = {};
    m.opcode = ib::command_opcode::create_qp;
    m.number = 5;  // is there
    CHECK(bench.wait(bench.start(1, m)) == modify_status::bad_value);
    CHECK(bench.modify(qp, static_cast<qp_state>(9)) == modify_status::bad_transition);
    CHECK(bench.state(qp) == qp_state::reset);
    bench.check();
}

namespace {

struct running_pair {
    test_qp& client;
    test_qp& server;
};

running_pair run_pair(two_hosts& bench, const bench_config& config = {}) {
    bench.reset(config);
    test_qp& client = bench.create_qp(0, 2);
    test_qp& server = bench.create_qp(1, 5);
    bench.pair(client, server);
    bench.bring_to(client, qp_state::rts);
    bench.post_receives(client, 32);
    bench.bring_to(server, qp_state::rts);
    bench.post_receives(server, 32);
    bench.run_for(1000);
    return {client, server};
}

}  // namespace

TEST_CASE("B14 SQD: what has begun ends, then the event, posts stay, back in RTS they go out", "[states]") {
    two_hosts bench;
    for (const bool lossy : {false, true}) {
        for (cycle_t at = 0; at < 1000; at += 23) {
            INFO("SQD rung " << at << " cycles after the doorbell, first passes lost " << lossy);
            auto [client, server] = run_pair(bench);
            std::uint32_t seen = 0;
            if (lossy) {
                // Every third packet of the server is lost once: draining includes the repeats.
                bench.cable_from(1).passes = [&seen](const wire_packet& p) {
                    return !ib::is_rc_request(p.h.op) || ++seen > 12 || seen % 3 != 0;
                };
            }
            bench.send(server, 10);
            bench.run_for(at);
            server.attributes.en_sqd_async_notify = 1;
            const pending_command c = bench.start_modify(server, qp_state::sqd, ib::attr_en_sqd_async_notify);
            bool drained = false;
            std::size_t done_at_event = 0;
            bench.run_until(
                [&, s = &server] {
                    if (!drained && bench.events_of(1, ib::event_type::sq_drained, s->qpn) != 0) {
                        drained = true;
                        done_at_event = s->send_completions.size();
                    }
                    return drained && bench.done(c);
                },
                1);
            CHECK(bench.result(c).status == modify_status::ok);
            bench.run_for(20000);
            bench.poll();
            // The event came when the last CQE was there, and nothing was begun behind it.
            const std::size_t begun = server.send_completions.size();
            CHECK(done_at_event == begun);
            CHECK(client.received == numbers(begun));
            CHECK(bench.events_of(1, ib::event_type::sq_drained, server.qpn) == 1);
            const std::size_t sent = bench.requests_of(server).size();
            CHECK(bench.state(server) == qp_state::sqd);

            bench.send(server, 3);
            bench.send(client, 2);  // the responder half goes on
            bench.run_for(20000);
            bench.poll();
            CHECK(bench.requests_of(server).size() == sent);
            CHECK(server.received == numbers(2));

            REQUIRE(bench.modify(server, qp_state::rts) == modify_status::ok);
            bench.run_until_idle();
            CHECK(client.received == numbers(13));
            CHECK(server.send_statuses() == statuses(13, wc_status::success));
            bench.check();
        }
    }
}

TEST_CASE("B14 SQD without notification makes no event, SQD of an idle queue drains at once, not from ERR",
          "[states]") {
    two_hosts bench;
    auto [client, server] = run_pair(bench);
    REQUIRE(bench.modify(server, qp_state::sqd) == modify_status::ok);
    bench.run_for(5000);
    bench.poll();
    CHECK(bench.events_of(1, ib::event_type::sq_drained, server.qpn) == 0);
    REQUIRE(bench.modify(server, qp_state::rts) == modify_status::ok);
    server.attributes.en_sqd_async_notify = 1;
    REQUIRE(bench.modify(server, qp_state::sqd, ib::attr_en_sqd_async_notify) == modify_status::ok);
    bench.run_for(500);
    bench.poll();
    CHECK(bench.events_of(1, ib::event_type::sq_drained, server.qpn) == 1);
    REQUIRE(bench.modify(server, qp_state::err) == modify_status::ok);
    CHECK(bench.modify(server, qp_state::sqd) == modify_status::bad_transition);
    CHECK(bench.state(server) == qp_state::err);
    bench.run_until_idle();
    bench.check();
}

TEST_CASE("B14 the gate closes on SQD: RTS, SQD and RTS in turns lose nothing and repeat nothing",
          "[states]") {
    two_hosts bench;
    for (const auto location : {gate_location::on_chip, gate_location::context}) {
        for (std::uint64_t seed = 0; seed < 4; ++seed) {
            INFO("seed " << seed);
            bench_config config;
            config.hca.send_scheduler.location = location;
            config.hca.command_unit.modify_qp_ns = 4;
            config.hca.stall_per_1024 = seed == 0 ? 0 : 300;
            config.hca.stall_seed = seed;
            config.hca.qp_context_cache.sets = config.hca.qp_context_cache.ways = seed % 2 == 0 ? 4 : 1;
            auto [client, server] = run_pair(bench, config);
            for (std::uint32_t round = 0; round < 12; ++round) {
                bench.send(server, 2);
                bench.run_for(37 * round + seed);
                REQUIRE(bench.modify(server, qp_state::sqd) == modify_status::ok);
                bench.run_for(11 * round);
                REQUIRE(bench.modify(server, qp_state::rts) == modify_status::ok);
            }
            bench.run_until_idle();
            CHECK(client.received == numbers(24));
            CHECK(two_hosts::psns_of(bench.requests_of(server)) == psns(server.attributes.sq_psn, 24));
            CHECK(server.send_statuses() == statuses(24, wc_status::success));
            bench.check();
        }
    }
}
