// What opens a gate, and what does not (scenarios B05, B13, B18, B31).
#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "testbenches/system/contract.h"
#include "testbenches/system/two_hosts.h"
#include "testbenches/unit/catch.h"

using namespace hcasim;
using namespace hcasim::test;
using ib::gate_opener;
using ib::qp_state;
using ib::wc_status;

namespace {

constexpr cycle_t firmware = 100;

bench_config with_inference() {
    bench_config config;
    config.hca.receive_engine.infer_rts = true;
    return config;
}

// Actions of a test at given cycles, done in order of time.
class timetable {
public:
    explicit timetable(two_hosts& bench) : m_bench(bench) {}
    void at(cycle_t cycle, std::function<void()> act) { m_acts.emplace_back(cycle, std::move(act)); }
    void run() {
        std::stable_sort(m_acts.begin(), m_acts.end(),
                         [](const auto& a, const auto& b) { return a.first < b.first; });
        for (const auto& [cycle, act] : m_acts) {
            m_bench.run_to(cycle);
            act();
        }
    }

private:
    two_hosts& m_bench;
    std::vector<std::pair<cycle_t, std::function<void()>>> m_acts;
};

// Client in RTS; server in RTR with receives and `sends` WQEs that wait behind the gate.
struct waiting_server {
    test_qp& client;
    test_qp& server;
};
waiting_server set_up(two_hosts& bench, const bench_config& config, bool preload, std::uint32_t sends = 2,
                      std::uint32_t receives = 8) {
    bench.reset(config);
    test_qp& client = bench.create_qp(0, 2);
    test_qp& server = bench.create_qp(1, 5);
    bench.pair(client, server);
    bench.bring_to(client, qp_state::rts);
    bench.post_receives(client, 16);
    bench.to_init(server);
    if (receives != 0) {
        bench.post_receives(server, receives);
    }
    bench.to_rtr(server, preload);
    bench.send(server, sends);
    bench.run_for(1000);
    return {client, server};
}

// Asked in this cycle: a packet that is injected (not really sent by the client) is decided about later by
// this.
constexpr cycle_t injection_to_decision = contract::injection_to_lookup + contract::hit_cycles + 1;

}  // namespace

TEST_CASE("Openers alone and together, in every order and in the same cycle: the same end state",
          "[openers]") {
    two_hosts bench;
    // The state write of each opener is seen by the scheduler at base + its offset, were it alone.
    struct timing {
        std::int64_t rtu, packet, comm_est;
    };
    constexpr std::int64_t none = 1 << 30;
    std::vector<timing> cases = {{0, none, none}, {none, 0, none}, {none, none, 0}};
    for (std::int64_t offset = -8; offset <= 8; ++offset) {
        cases.push_back({0, offset, none});
        cases.push_back({none, offset, 0});
        cases.push_back({0, offset, 600});
        cases.push_back({600, offset, 0});
        cases.push_back({0, 600 + offset, 600});
    }
    // The command unit takes one command after the other: the second of two at the same time is later.
    for (const auto& [r, c] : {std::pair<int, int>{0, 0}, {0, 300}, {300, 0}, {0, 900}, {900, 0}}) {
        cases.push_back({r, none, c});
        for (const std::int64_t p : {-500, 150, 450, 1500}) {
            cases.push_back({r, p, c});
        }
    }
    for (const timing& t : cases) {
        INFO("rtu " << t.rtu << ", packet " << t.packet << ", comm_est " << t.comm_est);
        auto [client, server] = set_up(bench, with_inference(), true);
        const cycle_t base = bench.now() + 2000;
        const auto seen_at = [base](std::int64_t offset) { return base + static_cast<cycle_t>(offset); };
        timetable acts(bench);
        std::vector<pending_command> commands;
        const auto ask = [&, s = &server](gate_opener reason) {
            commands.push_back(bench.start_modify(*s, qp_state::rts, ib::rts_attributes_rc, reason));
        };
        if (t.rtu != none) {
            acts.at(seen_at(t.rtu) - contract::modify_to_state(firmware), [&] { ask(gate_opener::rtu); });
        }
        if (t.comm_est != none) {
            acts.at(seen_at(t.comm_est) - contract::modify_to_state(firmware),
                    [&] { ask(gate_opener::comm_est); });
        }
        const cycle_t decision = t.packet == none ? never : seen_at(t.packet) - 2;
        if (t.packet != none) {
            acts.at(decision - injection_to_decision, [&, s = &server, c = &client] {
                bench.inject(0, two_hosts::request_to(*s, ib::rc_send_only, c->attributes.sq_psn), 8);
            });
        }
        acts.run();
        bench.run_until_idle();

        // The end state knows nothing of the order.
        CHECK(bench.query(server).state == qp_state::rts);
        CHECK(two_hosts::psns_of(bench.requests_of(server)) == psns(server.attributes.sq_psn, 2));
        CHECK(server.send_statuses() == statuses(2, wc_status::success));
        CHECK(client.received == numbers(2));
        CHECK(bench.query(server).sq_psn == ((server.attributes.sq_psn + 2) & 0xffffffu));
        CHECK(server.receive_completions.size() == (t.packet == none ? 0u : 1u));

        // One opener won, at the first time at which one could (two in one cycle take turns at the context).
        const auto& gates = bench.host(1).watch.gates;
        std::vector<cycle_t> opened;
        for (const auto& g : gates) {
            if (g.qpn == server.qpn && g.open) {
                opened.push_back(g.cycle);
            }
        }
        REQUIRE(opened.size() == 1);
        const std::int64_t first = std::min({t.rtu, t.packet, t.comm_est});
        const bool contended = t.packet != none && (t.packet == t.rtu || t.packet == t.comm_est);
        // The packet's own context is looked up 3 cycles before the decision, 5 before the scheduler could
        // see its opening.
        const bool read_meets = t.packet != none && t.packet - 5 == first - 1;
        if (contended || read_meets) {
            CHECK((opened[0] == seen_at(first) || opened[0] == seen_at(first) + 1));
        } else {
            CHECK(opened[0] == seen_at(first));
        }
        // The look-up for the grant may meet the modify of the opener that comes too late: one of them waits
        // a cycle.
        const cycle_t lookup = opened[0] + contract::eligible_to_context_request + 1;
        const bool meets = lookup == seen_at(t.rtu) - 1 || lookup == seen_at(t.comm_est) - 1;
        const cycle_t expected = opened[0] + contract::eligible_to_wire_of(2);
        const cycle_t first_byte = bench.requests_of(server)[0].first_byte;
        // The mailbox of a second command shares the bus with the WQE and the payload.
        const cycle_t bus_wait = t.rtu != none && t.comm_est != none ? contract::bus(104) : 0;
        CHECK(first_byte >= expected);
        CHECK(first_byte <= expected + (meets ? 1 : 0) + bus_wait);
        const ib::command_mailbox end = bench.query(server);
        if (!contended && first == t.packet) {
            CHECK(end.reason == gate_opener::packet);
        } else if (!contended && !(t.rtu == t.comm_est)) {
            CHECK(end.reason == (first == t.rtu ? gate_opener::rtu : gate_opener::comm_est));
        }

        // Communication Established: of the packet, when it was decided about before the state came.
        if (t.packet == none || decision >= opened[0]) {
            CHECK(bench.host(1).watch.comm_ests.empty());
            CHECK(bench.events_of(1, ib::event_type::comm_est, server.qpn) == 0);
        } else {
            REQUIRE(bench.host(1).watch.comm_ests.size() == 1);
            CHECK(bench.host(1).watch.comm_ests[0].second == decision);
            CHECK(bench.events_of(1, ib::event_type::comm_est, server.qpn) == 1);
        }
        bench.check();
    }
}

TEST_CASE("A packet opens only a gate that has what RTS needs, Communication Established comes all the same",
          "[openers]") {
    two_hosts bench;
    for (const bool inference : {false, true}) {
        for (const bool preload : {false, true}) {
            INFO("inference " << inference << ", preload " << preload);
            auto [client, server] = set_up(bench, inference ? with_inference() : bench_config{}, preload);
            bench.send(client, 3);
            bench.run_until_idle();
            const bool opens = inference && preload;
            CHECK(server.received == numbers(3));
            CHECK(client.send_statuses() == statuses(3, wc_status::success));
            CHECK(bench.events_of(1, ib::event_type::comm_est, server.qpn) == 1);
            CHECK(bench.events_of(1, ib::event_type::qp_inferred_rts, server.qpn) == (opens ? 1u : 0u));
            CHECK(bench.requests_of(server).size() == (opens ? 2u : 0u));
            CHECK(bench.state(server) == (opens ? qp_state::rts : qp_state::rtr));
            // B13: the event was delivered, and software that answers it opens the gate.
            if (!opens) {
                REQUIRE(bench.wait(bench.start_modify(server, qp_state::rts, ib::rts_attributes_rc,
                                                      gate_opener::comm_est)) == ib::modify_status::ok);
                bench.run_until_idle();
                CHECK(bench.query(server).reason == gate_opener::comm_est);
            }
            CHECK(client.received == numbers(2));
            CHECK(two_hosts::psns_of(bench.requests_of(server)) == psns(server.attributes.sq_psn, 2));
            bench.check();
        }
    }
}

TEST_CASE("The preloaded attributes are all five or none", "[openers]") {
    two_hosts bench;
    bench.reset(with_inference());
    test_qp& server = bench.create_qp(1, 5);
    test_qp& client = bench.create_qp(0, 2);
    bench.pair(client, server);
    bench.to_init(server);
    constexpr std::uint32_t rtr = ib::attr_av | ib::attr_path_mtu | ib::attr_dest_qpn | ib::attr_rq_psn |
                                  ib::attr_max_dest_rd_atomic | ib::attr_min_rnr_timer;
    constexpr std::array<std::uint32_t, 5> five = {ib::attr_sq_psn, ib::attr_timeout, ib::attr_retry_cnt,
                                                   ib::attr_rnr_retry, ib::attr_max_qp_rd_atomic};
    for (std::uint32_t subset = 1; subset < 31; ++subset) {
        std::uint32_t mask = rtr;
        for (std::size_t i = 0; i < 5; ++i) {
            mask |= (subset >> i & 1u) != 0 ? five[i] : 0;
        }
        CHECK(bench.modify(server, qp_state::rtr, mask) == ib::modify_status::missing_attribute);
        CHECK(bench.state(server) == qp_state::init);
    }
    CHECK(bench.modify(server, qp_state::rtr, rtr | ib::rts_attributes_rc) == ib::modify_status::ok);
    bench.check();
}

TEST_CASE("Packets that a check refuses never open a gate and never raise Communication Established",
          "[openers]") {
    two_hosts bench;
    struct bad {
        const char* what;
        std::function<void(ib::headers&)> change;
        std::function<void(std::vector<std::uint8_t>&)> spoil;
        std::size_t payload = 8;
        bool ends_qp = false;  // answered by NAK invalid request, QP to ERR
    };
    const bad table[] = {
        {"ICRC: a payload bit", nullptr, [](auto& b) { b[20] = static_cast<std::uint8_t>(b[20] ^ 1); }},
        {"ICRC: a PSN bit", nullptr, [](auto& b) { b[19] = static_cast<std::uint8_t>(b[19] ^ 1); }},
        {"ICRC: the CRC itself", nullptr,
         [](auto& b) { b[b.size() - 4] = static_cast<std::uint8_t>(b[b.size() - 4] ^ 0x80); }},
        {"P_Key", [](ib::headers& h) { h.pkey = 0x7fff; }, nullptr},
        {"QPN of the same slot", [](ib::headers& h) { h.dest_qpn += 64; }, nullptr},
        {"QPN with upper bits", [](ib::headers& h) { h.dest_qpn |= 0x800000; }, nullptr},
        {"QPN of nobody", [](ib::headers& h) { h.dest_qpn = 33; }, nullptr},
        {"source LID", [](ib::headers& h) { h.slid = 7; }, nullptr},
        {"destination LID", [](ib::headers& h) { h.dlid = 7; }, nullptr},
        {"PSN one ahead", [](ib::headers& h) { h.psn = (h.psn + 1) & 0xffffffu; }, nullptr},
        {"PSN far ahead", [](ib::headers& h) { h.psn = (h.psn + 0x7fffff) & 0xffffffu; }, nullptr},
        {"PSN one behind", [](ib::headers& h) { h.psn = (h.psn - 1) & 0xffffffu; }, nullptr},
        {"PSN far behind", [](ib::headers& h) { h.psn = (h.psn - 0x800000) & 0xffffffu; }, nullptr},
        {"opcode: an ACK", [](ib::headers& h) { h.op = ib::rc_acknowledge; }, nullptr, 0},
        {"opcode: a read response", [](ib::headers& h) { h.op = ib::rc_read_response_only; }, nullptr},
        {"opcode: UD", [](ib::headers& h) { h.op = ib::ud_send_only; }, nullptr},
        {"opcode: SEND middle out of place", [](ib::headers& h) { h.op = ib::rc_send_middle; }, nullptr, 4096,
         true},
        {"opcode: SEND last out of place", [](ib::headers& h) { h.op = ib::rc_send_last; }, nullptr, 8, true},
        {"opcode: WRITE", [](ib::headers& h) { h.op = ib::rc_write_only; }, nullptr, 8, true},
        {"opcode: READ", [](ib::headers& h) { h.op = ib::rc_read_request; }, nullptr, 0, true},
        {"length: SEND first shorter than the MTU", [](ib::headers& h) { h.op = ib::rc_send_first; }, nullptr,
         8, true},
    };
    for (const bad& row : table) {
        INFO(row.what);
        auto [client, server] = set_up(bench, with_inference(), true);
        ib::headers h = two_hosts::request_to(server, ib::rc_send_only, client.attributes.sq_psn);
        if (row.change) {
            row.change(h);
        }
        bench.inject(0, h, row.payload, row.spoil);
        bench.run_until_idle();
        CHECK(bench.host(1).watch.comm_ests.empty());
        CHECK(bench.events_of(1, ib::event_type::comm_est, server.qpn) == 0);
        CHECK(bench.requests_of(server).empty());
        CHECK_FALSE(bench.host(1).adapter.gate_is_open(server.qpn));
        if (row.ends_qp) {
            CHECK(bench.state(server) == qp_state::err);
            CHECK(server.send_statuses() == statuses(2, wc_status::wr_flush_err));
        } else {
            CHECK(bench.state(server) == qp_state::rtr);
            // The right packet still does it, whatever came before.
            bench.send(client);
            bench.run_until_idle();
            CHECK(bench.host(1).watch.comm_ests.size() == 1);
            CHECK(bench.state(server) == qp_state::rts);
            CHECK(server.received == numbers(1));
            CHECK(client.received == numbers(2));
        }
        bench.check();
    }
}

TEST_CASE("B05 a second RTR to RTS is refused, and changes neither PSN nor what is under way", "[openers]") {
    two_hosts bench;
    for (const bool with_cur_state : {true, false}) {
        // From the same cycle to long after the last ACK.
        for (cycle_t n = 0; n <= 700; n += 7) {
            INFO("CUR_STATE " << with_cur_state << ", second modify " << n << " cycles behind the first");
            auto [client, server] = set_up(bench, {}, false);
            const pending_command first =
                bench.start_modify(server, qp_state::rts, ib::rts_attributes_rc, gate_opener::comm_est);
            bench.run_for(n);
            ib::command_mailbox m = two_hosts::modify_mailbox(
                server, qp_state::rts,
                ib::rts_attributes_rc |
                    (with_cur_state ? static_cast<std::uint32_t>(ib::attr_cur_state) : 0u),
                gate_opener::rtu);
            m.current_state = qp_state::rtr;
            const pending_command second = bench.start(1, m);
            bench.run_until_idle();
            CHECK(bench.result(first).status == ib::modify_status::ok);
            CHECK(bench.result(second).status == (with_cur_state ? ib::modify_status::wrong_current_state
                                                                 : ib::modify_status::unexpected_attribute));
            CHECK(two_hosts::psns_of(bench.requests_of(server)) == psns(server.attributes.sq_psn, 2));
            CHECK(client.received == numbers(2));
            CHECK(bench.query(server).reason == gate_opener::comm_est);
            CHECK(bench.query(server).sq_psn == ((server.attributes.sq_psn + 2) & 0xffffffu));
            bench.check();
        }
    }
}

TEST_CASE(
    "B05 RTR to RTS behind a packet that has done it: accepted without effect, refused with CUR_STATE = RTR",
    "[openers]") {
    two_hosts bench;
    for (const bool with_cur_state : {true, false}) {
        for (cycle_t n = 0; n <= 700; n += 7) {
            INFO("CUR_STATE " << with_cur_state << ", modify " << n << " cycles behind the packet");
            auto [client, server] = set_up(bench, with_inference(), true);
            bench.send(client);
            // The packet's modify is applied one cycle after the decision about it.
            bench.run_until([&] { return !bench.host(1).watch.comm_ests.empty(); }, 1);
            bench.run_for(2 + n);
            ib::command_mailbox m = two_hosts::modify_mailbox(
                server, qp_state::rts,
                ib::rts_attributes_rc |
                    (with_cur_state ? static_cast<std::uint32_t>(ib::attr_cur_state) : 0u),
                gate_opener::rtu);
            m.current_state = qp_state::rtr;
            m.attributes.sq_psn = 0x123456;  // must not come through
            const pending_command c = bench.start(1, m);
            bench.run_until_idle();
            CHECK(bench.result(c).status ==
                  (with_cur_state ? ib::modify_status::wrong_current_state : ib::modify_status::ok));
            CHECK(two_hosts::psns_of(bench.requests_of(server)) == psns(server.attributes.sq_psn, 2));
            CHECK(client.received == numbers(2));
            CHECK(bench.query(server).reason == gate_opener::packet);
            if (!with_cur_state) {
                CHECK(bench.host(1).watch.late_openers.size() == 1);
            }
            bench.check();
        }
    }
}

TEST_CASE("B18 Communication Established comes before any error event of the QP", "[openers]") {
    two_hosts bench;
    for (const bool inference : {false, true}) {
        auto [client, server] = set_up(bench, inference ? with_inference() : bench_config{}, inference);
        // A good packet and, right behind it, one that ends the QP.
        const std::uint32_t psn = client.attributes.sq_psn;
        bench.inject(0, two_hosts::request_to(server, ib::rc_send_only, psn), 8);
        bench.inject(0, two_hosts::request_to(server, ib::rc_write_only, psn + 1), 8);
        bench.run_until_idle();
        CHECK(bench.state(server) == qp_state::err);
        std::vector<ib::event_type> order;
        for (const ib::eqe& e : bench.host(1).events) {
            if (e.number == server.qpn) {
                order.push_back(e.type);
            }
        }
        REQUIRE(order.size() >= 2);
        CHECK(order.front() == ib::event_type::comm_est);
        CHECK(std::count(order.begin(), order.end(), ib::event_type::comm_est) == 1);
        CHECK(std::count(order.begin(), order.end(), ib::event_type::qp_fatal) == 1);
        CHECK(server.send_completions.size() == 2);
        bench.check();
    }
}

TEST_CASE("B31 more events than the event queue holds wait for the host, and none is lost", "[openers]") {
    two_hosts bench;
    constexpr std::uint32_t count = 48;
    bench_config config;
    config.eq_entries = 16;
    config.tell_event_queue = true;
    bench.reset(config);
    std::vector<test_qp*> clients, servers;
    for (std::uint32_t i = 0; i < count; ++i) {
        clients.push_back(&bench.create_qp(0, 2 + i));
        servers.push_back(&bench.create_qp(1, 2 + i));
        bench.pair(*clients[i], *servers[i]);
        bench.bring_to(*clients[i], qp_state::rts);
        bench.to_init(*servers[i]);
        bench.post_receives(*servers[i], 2);
        bench.to_rtr(*servers[i]);
    }
    bench.run_for(1000);
    bench.poll();
    bench.run_for(1000);
    for (test_qp* c : clients) {
        bench.send(*c);
    }
    // The host looks away: 16 events are told, the data goes on.
    bench.run_for(20000);
    CHECK(bench.counter(1, "completion_unit.event_queue_full") == 1);
    CHECK(bench.counter(1, "receive_engine.comm_est") == count);
    CHECK(bench.counter(0, "completion_unit.cqes") == count);
    bench.poll();
    std::size_t told = 0;
    for (test_qp* s : servers) {
        CHECK(s->received == numbers(1));
        told += bench.events_of(1, ib::event_type::comm_est, s->qpn);
    }
    CHECK(told == 16);
    bench.run_until([&] {
        std::size_t all = 0;
        for (test_qp* s : servers) {
            all += bench.events_of(1, ib::event_type::comm_est, s->qpn);
        }
        return all == count;
    });
    for (test_qp* s : servers) {
        CHECK(bench.events_of(1, ib::event_type::comm_est, s->qpn) == 1);
    }
    bench.run_until_idle();
    bench.check();
}

TEST_CASE("B31 first packets of many QPs in one burst: one Communication Established each, none lost",
          "[openers]") {
    two_hosts bench;
    constexpr std::uint32_t count = 48;
    for (const bool inference : {false, true}) {
        bench.reset(inference ? with_inference() : bench_config{});
        std::vector<test_qp*> clients, servers;
        for (std::uint32_t i = 0; i < count; ++i) {
            clients.push_back(&bench.create_qp(0, 2 + i));
            servers.push_back(&bench.create_qp(1, 2 + i));
            bench.pair(*clients[i], *servers[i]);
            bench.bring_to(*clients[i], qp_state::rts);
            bench.post_receives(*clients[i], 2);
            bench.to_init(*servers[i]);
            bench.post_receives(*servers[i], 2);
            bench.to_rtr(*servers[i], true);
            bench.send(*servers[i]);
        }
        bench.run_for(1000);
        for (test_qp* c : clients) {
            bench.send(*c, 2);
        }
        bench.run_until_idle();
        for (std::uint32_t i = 0; i < count; ++i) {
            CHECK(bench.events_of(1, ib::event_type::comm_est, servers[i]->qpn) == 1);
            CHECK(servers[i]->received == numbers(2));
            CHECK(clients[i]->received == numbers(inference ? 1 : 0));
        }
        bench.check();
    }
}
