#include "testbenches/bench/cm_agent.h"

#include <algorithm>
#include <string>
#include <vector>

#include "model/clock/cycle_time.h"
#include "testbenches/unit/catch.h"
#include "testbenches/unit/cm_pair.h"

namespace hcasim {
namespace {

using ib::cm_attribute;
using words = std::vector<std::string>;

// T(20) and T(18) of the pair's agents, at 250 MHz, divided by 2^10.
constexpr cycle_t t20 = timer_cycles(20, 10, 250);
constexpr cycle_t t18 = timer_cycles(18, 10, 250);

auto loses_all(cm_attribute attribute) {
    return [attribute](const cm_pair::sent_mad& s) { return s.m.attribute == attribute; };
}
auto loses_first(cm_pair& pair, cm_attribute attribute, std::size_t number) {
    return [&pair, attribute, number](const cm_pair::sent_mad& s) {
        return s.m.attribute == attribute && pair.count(attribute) <= number;
    };
}

TEST_CASE("CM: a connection is made with REQ, REP and RTU and ends with DREQ and DREP") {
    cm_pair p;
    const std::uint32_t id = p.connect();
    p.run_to(1000);
    CHECK(p.active.heard == words{"reply"});
    CHECK(p.passive.heard == words{"request", "established by rtu"});
    CHECK(p.active.agent.state(id) == cm_state::established);
    CHECK(p.passive.agent.state(p.passive.last_id) == cm_state::established);
    CHECK(p.passive.established_at == 1 + 3 * p.flight_cycles);
    CHECK(p.active.agent.next_deadline() == never);
    CHECK(p.passive.agent.next_deadline() == never);

    p.active.agent.disconnect(p.now, id);
    p.run_to(2000);
    CHECK(p.active.heard == words{"reply", "disconnected"});
    CHECK(p.passive.heard == words{"request", "established by rtu", "disconnect"});
    CHECK(p.active.agent.state(id) == cm_state::timewait);
    CHECK(p.passive.agent.state(p.passive.last_id) == cm_state::timewait);
    // 2 T(packet life time) + T(target ACK delay), and the pair's REP says 0.
    const cycle_t timewait = 2 * t18 + timer_cycles(0, 10, 250);
    p.run_to(1100 + timewait - 1);
    CHECK(p.passive.agent.state(p.passive.last_id) == cm_state::timewait);
    p.run_to(1100 + timewait);
    CHECK(p.passive.agent.state(p.passive.last_id) == cm_state::idle);
    CHECK(p.active.agent.state(id) == cm_state::timewait);
    p.run_to(1200 + timewait);
    CHECK(p.active.agent.state(id) == cm_state::idle);
}

TEST_CASE("CM: REP, MRA, REJ and RTU have the transaction id of the REQ, DREQ and DREP one of their own") {
    cm_pair p;
    const std::uint32_t id = p.connect();
    p.run_to(1000);
    p.active.agent.disconnect(p.now, id);
    p.run_to(2000);
    REQUIRE(p.sent.size() == 5);
    CHECK(p.sent[1].m.transaction_id == p.sent[0].m.transaction_id);
    CHECK(p.sent[2].m.transaction_id == p.sent[0].m.transaction_id);
    CHECK(p.sent[3].m.transaction_id != p.sent[0].m.transaction_id);
    CHECK(p.sent[4].m.transaction_id == p.sent[3].m.transaction_id);
}

TEST_CASE("CM: a lost RTU comes again with the REP that T(REQ.local CM response timeout) brings") {
    for (const std::size_t lost : {1u, 2u, 5u}) {
        cm_pair p;
        p.loses = loses_first(p, cm_attribute::rtu, lost);
        p.connect();
        p.run_to(20 * t20);
        const cycle_t rep_at = 1 + p.flight_cycles;
        CHECK(p.passive.established_at == rep_at + lost * t20 + 2 * p.flight_cycles);
        CHECK(p.passive.agent.count("cm.rep_resent") == lost);
        CHECK(p.active.agent.count("cm.rtu_resent") == lost);
        const auto reps = p.times(cm_attribute::rep);
        REQUIRE(reps.size() == lost + 1);
        for (std::size_t i = 0; i < reps.size(); ++i) {
            CHECK(reps[i] == rep_at + i * t20);
        }
    }
}

TEST_CASE("CM: without any RTU the passive side gives up after 16 REPs") {
    cm_pair p;
    p.loses = loses_all(cm_attribute::rtu);
    p.connect();
    const cycle_t rep_at = 1 + p.flight_cycles;
    p.run_to(rep_at + 16 * t20 - 1);
    CHECK(p.count(cm_attribute::rep) == 16);
    CHECK(p.passive.heard == words{"request"});
    p.run_to(rep_at + 16 * t20);
    CHECK(p.passive.heard == words{"request", "gave up REP"});
    CHECK(p.passive.gave_up_at == rep_at + 16 * t20);
    CHECK(p.passive.agent.state(p.passive.last_id) == cm_state::idle);
}

TEST_CASE("CM: the number of REPs follows from REQ.max CM retries") {
    for (const unsigned retries : {0u, 1u, 7u}) {
        cm_pair p;
        p.loses = loses_all(cm_attribute::rtu);
        ib::cm_message req = cm_pair::request();
        req.max_cm_retries = static_cast<std::uint8_t>(retries);
        p.active.agent.connect(p.now, cm_pair::lid_passive, req);
        p.run_to(20 * t20);
        CHECK(p.count(cm_attribute::rep) == retries + 1);
        CHECK(p.passive.gave_up_at == 1 + p.flight_cycles + (retries + 1) * t20);
    }
}

TEST_CASE("CM: a lost REQ comes again after 2 T(packet life time) + T(remote CM response timeout)") {
    cm_pair p;
    p.loses = loses_all(cm_attribute::req);
    p.connect();
    const cycle_t period = 2 * t18 + t20;
    p.run_to(20 * period);
    const auto reqs = p.times(cm_attribute::req);
    REQUIRE(reqs.size() == 16);
    for (std::size_t i = 0; i < reqs.size(); ++i) {
        CHECK(reqs[i] == 1 + i * period);
    }
    CHECK(p.active.heard == words{"gave up REQ"});
    CHECK(p.active.gave_up_at == 1 + 16 * period);
}

TEST_CASE("CM: an RTU in the cycle of the last time-out is too late") {
    for (const cycle_t early : {cycle_t{1}, cycle_t{0}}) {
        cm_pair p;
        p.active.gets_ready = false;
        ib::cm_message req = cm_pair::request();
        req.max_cm_retries = 0;
        const std::uint32_t id = p.active.agent.connect(p.now, cm_pair::lid_passive, req);
        const cycle_t timeout = 1 + p.flight_cycles + t20;
        p.run_to(timeout - p.flight_cycles - early);
        p.active.agent.ready(p.now, id);
        p.run_to(timeout + 1000);
        if (early == 1) {
            CHECK(p.passive.heard == words{"request", "established by rtu"});
        } else {
            CHECK(p.passive.heard == words{"request", "gave up REP"});
            CHECK(p.passive.agent.count("cm.rtu_late") == 1);
        }
    }
}

TEST_CASE("CM: a REP that is repeated draws the RTU again, a second RTU changes nothing") {
    cm_pair p;
    p.loses = loses_first(p, cm_attribute::rtu, 1);
    const std::uint32_t id = p.connect();
    p.run_to(2 * t20);
    REQUIRE(p.passive.heard.back() == "established by rtu");
    ib::cm_message rtu = p.sent.back().m;
    REQUIRE(rtu.attribute == cm_attribute::rtu);
    p.passive.agent.receive(p.now, cm_pair::lid_active, rtu);
    p.passive.agent.receive(p.now, cm_pair::lid_active, rtu);
    CHECK(p.passive.agent.count("cm.rtu_duplicate") == 2);
    CHECK(p.passive.heard == words{"request", "established by rtu", "rtu again", "rtu again"});
    CHECK(p.passive.agent.state(p.passive.last_id) == cm_state::established);
    CHECK(p.active.agent.state(id) == cm_state::established);
}

TEST_CASE("CM: COMM_EST establishes and stops the REP timer, once") {
    cm_pair p;
    p.loses = loses_all(cm_attribute::rtu);
    p.connect();
    p.run_to(1000);
    CHECK(p.passive.agent.notify_established(p.now, p.passive.last_id));
    CHECK(!p.passive.agent.notify_established(p.now, p.passive.last_id));
    p.run_to(40 * t20);
    CHECK(p.count(cm_attribute::rep) == 1);
    CHECK(p.passive.heard == words{"request", "established by comm_est"});
    CHECK(!p.passive.agent.notify_established(p.now, 0x777));
}

TEST_CASE("CM: RTU, COMM_EST and a repeated RTU in any order end in the same state") {
    std::vector<int> order{0, 1, 2};
    do {
        cm_pair p;
        p.loses = loses_all(cm_attribute::rtu);
        p.connect();
        p.run_to(1000);
        const ib::cm_message rtu = p.sent.back().m;
        REQUIRE(rtu.attribute == cm_attribute::rtu);
        for (const int what : order) {
            if (what == 1) {
                p.passive.agent.notify_established(p.now, p.passive.last_id);
            } else {
                p.passive.agent.receive(p.now, cm_pair::lid_active, rtu);
            }
        }
        CHECK(p.passive.agent.state(p.passive.last_id) == cm_state::established);
        CHECK(p.passive.agent.next_deadline() == never);
        CHECK(std::count_if(p.passive.heard.begin(), p.passive.heard.end(),
                            [](const std::string& w) { return w.find("established") == 0; }) == 1);
    } while (std::next_permutation(order.begin(), order.end()));
}

TEST_CASE("CM: after a DREQ an RTU neither establishes nor stops anything") {
    cm_pair p;
    const std::uint32_t id = p.connect();
    p.run_to(1000);
    const ib::cm_message rtu = p.sent.back().m;
    p.active.agent.disconnect(p.now, id);
    p.run_to(2000);
    const cycle_t deadline = p.passive.agent.next_deadline();
    p.passive.agent.receive(p.now, cm_pair::lid_active, rtu);
    CHECK(p.passive.agent.state(p.passive.last_id) == cm_state::timewait);
    CHECK(p.passive.agent.next_deadline() == deadline);
    CHECK(p.passive.agent.count("cm.rtu_late") == 1);
}

TEST_CASE("CM: a DREQ may come before the RTU") {
    cm_pair p;
    p.loses = loses_all(cm_attribute::rtu);
    const std::uint32_t id = p.connect();
    p.run_to(1000);
    p.active.agent.disconnect(p.now, id);
    p.run_to(2000);
    CHECK(p.passive.heard == words{"request", "disconnect"});
    CHECK(p.active.heard == words{"reply", "disconnected"});
}

TEST_CASE("CM: an MRA stretches the active side's wait to T(service timeout) + T(ACK timeout)") {
    cm_pair p;
    p.passive.accepts = false;
    p.connect();
    p.run_to(1 + p.flight_cycles);
    p.passive.agent.send_mra(p.now, p.passive.last_id);
    CHECK(p.passive.agent.state(p.passive.last_id) == cm_state::mra_req_sent);
    const cycle_t arrives = 1 + 2 * p.flight_cycles;
    p.run_to(arrives);
    CHECK(p.active.agent.next_deadline() == arrives + timer_cycles(24, 10, 250) + timer_cycles(19, 10, 250));
    ib::cm_message rep;
    rep.qpn = 0x200;
    p.passive.agent.accept(p.now, p.passive.last_id, rep);
    p.run_to(p.now + 1000);
    CHECK(p.passive.heard == words{"request", "established by rtu"});
    CHECK(p.count(cm_attribute::req) == 1);
}

TEST_CASE("CM: an MRA for the REP stretches the passive side's wait") {
    cm_pair p;
    p.active.gets_ready = false;
    const std::uint32_t id = p.connect();
    p.run_to(1 + 2 * p.flight_cycles);
    p.active.agent.send_mra(p.now, id);
    const cycle_t arrives = 1 + 3 * p.flight_cycles;
    p.run_to(arrives);
    CHECK(p.passive.agent.state(p.passive.last_id) == cm_state::mra_rep_rcvd);
    const cycle_t deadline = arrives + timer_cycles(24, 10, 250) + timer_cycles(19, 10, 250);
    CHECK(p.passive.agent.next_deadline() == deadline);
    p.run_to(deadline);
    CHECK(p.count(cm_attribute::rep) == 2);
    p.run_to(deadline + p.flight_cycles);
    CHECK(p.active.agent.count("cm.mra_sent") == 2);
    CHECK(p.passive.agent.notify_established(p.now, p.passive.last_id));
}

TEST_CASE("CM: a repeated REQ is answered by what its state has: nothing, MRA, nothing, REJ 10") {
    cm_pair p;
    p.passive.accepts = false;
    p.connect();
    p.run_to(1 + p.flight_cycles);
    const ib::cm_message req = p.sent.front().m;
    const auto again = [&] {
        const std::size_t before = p.sent.size();
        p.passive.agent.receive(p.now, cm_pair::lid_active, req);
        return words(p.sent.size() == before ? 0 : 1, std::string(ib::name(p.sent.back().m.attribute)));
    };
    CHECK(again().empty());
    p.passive.agent.send_mra(p.now, p.passive.last_id);
    CHECK(again() == words{"MRA"});
    p.passive.agent.accept(p.now, p.passive.last_id, {});
    CHECK(again().empty());
    CHECK(p.passive.heard == words{"request"});
    p.run_to(p.now + 1000);
    p.active.agent.disconnect(p.now, 0x100);
    p.run_to(p.now + 1000);
    REQUIRE(p.passive.agent.state(p.passive.last_id) == cm_state::timewait);
    CHECK(again() == words{"REJ"});
    CHECK(p.sent.back().m.reject_reason == 10);
}

TEST_CASE("CM: a new REQ from a QP that is connected is stale") {
    cm_pair p;
    p.connect();
    p.run_to(1000);
    // The same QPN with another communication id: the peer has started anew.
    p.connect();
    p.run_to(2000);
    CHECK(p.active.heard == words{"reply", "rejected 10"});
    CHECK(p.passive.heard == words{"request", "established by rtu"});
    CHECK(p.passive.agent.state(p.passive.last_id) == cm_state::established);
}

TEST_CASE("CM: a REJ ends the wait of either side") {
    {
        cm_pair p;
        p.passive.accepts = false;
        p.connect();
        p.run_to(1 + p.flight_cycles);
        p.passive.agent.reject(p.now, p.passive.last_id, 28);
        p.run_to(40 * t20);
        CHECK(p.active.heard == words{"rejected 28"});
        CHECK(p.count(cm_attribute::req) == 1);
    }
    {
        cm_pair p;
        p.active.gets_ready = false;
        const std::uint32_t id = p.connect();
        p.run_to(1 + 2 * p.flight_cycles);
        p.active.agent.reject(p.now, id, 3);
        p.run_to(40 * t20);
        CHECK(p.passive.heard == words{"request", "rejected 3"});
        CHECK(p.count(cm_attribute::rep) == 1);
    }
}

TEST_CASE("CM: what names no connection: DREQ gets a DREP, the rest nothing") {
    cm_pair p;
    for (const cm_attribute attribute : {cm_attribute::dreq, cm_attribute::rep, cm_attribute::rtu,
                                         cm_attribute::mra, cm_attribute::rej, cm_attribute::drep}) {
        ib::cm_message m;
        m.attribute = attribute;
        m.transaction_id = 77;
        m.local_comm_id = 5;
        m.remote_comm_id = 6;
        p.sent.clear();
        p.passive.agent.receive(p.now, cm_pair::lid_active, m);
        INFO(ib::name(attribute));
        if (attribute == cm_attribute::dreq) {
            REQUIRE(p.sent.size() == 1);
            CHECK(p.sent[0].m.attribute == cm_attribute::drep);
            CHECK(p.sent[0].m.transaction_id == 77);
            CHECK(p.sent[0].m.local_comm_id == 6);
            CHECK(p.sent[0].m.remote_comm_id == 5);
        } else {
            CHECK(p.sent.empty());
        }
    }
    CHECK(p.passive.heard.empty());
}

TEST_CASE("CM: a DREP that is lost is asked for again, and at last not waited for") {
    {
        cm_pair p;
        const std::uint32_t id = p.connect();
        p.run_to(1000);
        p.loses = loses_first(p, cm_attribute::drep, 2);
        p.active.agent.disconnect(p.now, id);
        p.run_to(1000 + 4 * (2 * t18 + t20));
        CHECK(p.active.heard.back() == "disconnected");
        CHECK(p.active.agent.count("cm.dreq_resent") == 2);
    }
    {
        cm_pair p;
        const std::uint32_t id = p.connect();
        p.run_to(1000);
        p.loses = loses_all(cm_attribute::drep);
        p.active.agent.disconnect(p.now, id);
        p.run_to(1000 + 20 * (2 * t18 + t20));
        CHECK(p.active.heard.back() == "disconnected");
        CHECK(p.count(cm_attribute::dreq) == 16);
    }
}

TEST_CASE("CM: both sides may disconnect at once") {
    cm_pair p;
    const std::uint32_t id = p.connect();
    p.run_to(1000);
    p.active.agent.disconnect(p.now, id);
    p.passive.agent.disconnect(p.now, p.passive.last_id);
    p.run_to(2000);
    CHECK(p.active.agent.state(id) == cm_state::timewait);
    CHECK(p.passive.agent.state(p.passive.last_id) == cm_state::timewait);
    CHECK(p.active.heard.back() == "disconnected");
    CHECK(p.passive.heard.back() == "disconnected");
}

TEST_CASE("CM: timers are divided by the shift, their ratios stay") {
    cm_pair p;
    cm_agent_config c;
    for (const std::uint32_t shift : {0u, 5u, 12u}) {
        c.timer_shift = shift;
        p.active.agent.reset(c);
        const ib::cm_message req = cm_pair::request();
        CHECK(p.active.agent.reply_timeout(req) == (cycle_t{1} << 30) >> shift);
        CHECK(p.active.agent.request_timeout(req) == ((cycle_t{1} << 29) + (cycle_t{1} << 30)) >> shift);
    }
}

}  // namespace
}  // namespace hcasim
