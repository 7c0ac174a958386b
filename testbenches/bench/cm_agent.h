#ifndef HCASIM_TESTBENCHES_BENCH_CM_AGENT_H
#define HCASIM_TESTBENCHES_BENCH_CM_AGENT_H

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/clock/engine.h"
#include "model/ib/mad.h"

namespace hcasim {

/// States of a connection (IBTA 12.9.7), both sides.
enum class cm_state : std::uint8_t {
    idle,
    req_sent,      // active
    mra_req_rcvd,  // active
    rep_rcvd,      // active
    mra_rep_sent,  // active
    req_rcvd,      // passive
    mra_req_sent,  // passive
    rep_sent,      // passive
    mra_rep_rcvd,  // passive
    established,
    dreq_sent,
    dreq_rcvd,
    timewait,
};
std::string_view name(cm_state state);

/// How the passive side learned that the active side is ready.
enum class cm_evidence : std::uint8_t { rtu, comm_est };

/// What a CM agent asks of its host and tells it. `id` is the local communication id.
class cm_user {
public:
    virtual ~cm_user() = default;
    /// The MAD is to be sent to QP1 of the port with this LID.
    virtual void cm_send(std::uint16_t lid, const ib::cm_message& m) = 0;
    /// A new REQ has come; answer with accept() or reject().
    virtual void cm_request_received(std::uint32_t id, const ib::cm_message& req) = 0;
    /// A REP has come; answer with ready() when the QP is in RTS, or with reject().
    virtual void cm_reply_received(std::uint32_t id, const ib::cm_message& rep) = 0;
    /// The passive side's REP is answered.
    virtual void cm_established(std::uint32_t id, cm_evidence how) = 0;
    /// An RTU has come for a connection that was established already.
    virtual void cm_rtu_again(std::uint32_t id) = 0;
    virtual void cm_rejected(std::uint32_t id, const ib::cm_message& rej) = 0;
    /// REQ (active) or REP (passive) was sent as often as allowed without an answer; the connection is gone.
    virtual void cm_gave_up(std::uint32_t id, ib::cm_attribute message) = 0;
    /// A DREQ has come; the DREP is sent.
    virtual void cm_disconnect_received(std::uint32_t id) = 0;
    /// This side's DREQ is answered, or will not be.
    virtual void cm_disconnected(std::uint32_t id) = 0;
};

/// Timers and identity of an agent.
struct cm_agent_config {
    std::uint64_t clock_mhz = 250;
    std::uint32_t timer_shift = 0;           ///< every T is divided by 2^this
    std::uint32_t packet_life_time = 18;     ///< exponent
    std::uint32_t mra_service_timeout = 24;  ///< exponent
    bool send_mra = false;                   ///< an MRA goes out before the user hears of a REQ
    std::uint64_t ca_guid = 0;
    std::uint32_t agent_number = 1;  ///< upper half of its transaction ids
    std::uint32_t first_comm_id = 1;
};

/// The communication manager of one port, both sides of IBTA 12.9 with the rules of Linux's ib_cm where the
/// standard leaves a choice. Plain C++: time is what the caller says. Within one cycle a time-out comes
/// before a message.
class cm_agent {
public:
    explicit cm_agent(cm_user& user) : m_user(user) {}

    void reset(const cm_agent_config& config);

    /// Active side: sends `req` to the port `lid` and returns the local communication id. Ids and transaction
    /// id of `req` are filled in when 0; `max_cm_retries` and the response timeouts in it rule the timers of
    /// both sides.
    std::uint32_t connect(cycle_t now, std::uint16_t lid, ib::cm_message req);
    /// Passive side: sends `rep` in answer to the REQ of `id`. A local communication id in `rep` that is not
    /// 0 replaces the agent's own; the connection's id stays what it was.
    void accept(cycle_t now, std::uint32_t id, ib::cm_message rep);
    /// Active side: sends the RTU.
    void ready(cycle_t now, std::uint32_t id);
    /// Either side before establishment: sends REJ with this reason.
    void reject(cycle_t now, std::uint32_t id, std::uint16_t reason);
    /// Either side: MRA for the message in hand (REQ or REP), which stretches the peer's timer.
    void send_mra(cycle_t now, std::uint32_t id);
    /// The HCA has raised Communication Established for the QP of `id`. False when that is no news.
    bool notify_established(cycle_t now, std::uint32_t id);
    /// Sends a DREQ.
    void disconnect(cycle_t now, std::uint32_t id);
    /// Forgets a connection without a word.
    void destroy(std::uint32_t id);

    /// A MAD from QP1 of the port `lid`.
    void receive(cycle_t now, std::uint16_t lid, const ib::cm_message& m);

    /// Timers due up to and including `now`.
    void advance(cycle_t now);
    /// Cycle of the next timer; `never` when none runs.
    cycle_t next_deadline() const { return m_deadlines.empty() ? never : m_deadlines.begin()->first; }

    /// idle for an unknown id.
    cm_state state(std::uint32_t id) const;
    /// What was sent, sent again, dropped: ("cm.rep_resent", 3), sorted by name.
    std::vector<std::pair<std::string, std::uint64_t>> counters() const;
    std::uint64_t count(const std::string& counter) const;

    /// Wait for the answer to a REP: T(local CM response timeout of the REQ), in cycles.
    cycle_t reply_timeout(const ib::cm_message& req) const;
    /// Wait for the answer to a REQ: 2 T(packet life time) + T(remote CM response timeout), in cycles.
    cycle_t request_timeout(const ib::cm_message& req) const;
    /// Stretched wait after an MRA: T(service timeout) + T(ACK timeout of the path), in cycles.
    cycle_t mra_timeout(const ib::cm_message& mra) const;
    /// 2 T(packet life time) + T(target ACK delay), in cycles.
    cycle_t timewait_cycles(const ib::cm_message& rep) const;

private:
    struct connection {
        cm_state state = cm_state::idle;
        bool active = false;
        std::uint16_t lid = 0;
        std::uint32_t wire_id = 0;  // what the peer knows this side by
        std::uint32_t remote_id = 0;
        std::uint64_t remote_guid = 0;
        std::uint32_t remote_qpn = 0;
        ib::cm_message req;
        ib::cm_message rep;
        ib::cm_message in_flight;  // what the timer sends again
        ib::cm_message rtu;
        std::uint32_t retries_left = 0;
        cycle_t period = 0;
        cycle_t deadline = never;
    };
    using connections = std::map<std::uint32_t, connection>;

    cycle_t t(std::uint32_t exponent) const;
    void bump(const char* counter, std::uint64_t by = 1) { m_counters[counter] += by; }
    void set_deadline(std::uint32_t id, connection& c, cycle_t deadline);
    void stop_timer(std::uint32_t id, connection& c) { set_deadline(id, c, never); }
    void send(const connection& c, const ib::cm_message& m);
    ib::cm_message answer(const connection& c, ib::cm_attribute attribute) const;
    void enter_timewait(cycle_t now, std::uint32_t id, connection& c);
    void forget(std::uint32_t id);
    void timer(cycle_t now, std::uint32_t id);
    // The connection that a message of the peer names by (remote id, local id); end() when there is none.
    connections::iterator find(const ib::cm_message& m);
    void receive_req(cycle_t now, std::uint16_t lid, const ib::cm_message& m);
    void receive_rep(const ib::cm_message& m);
    void receive_rtu(const ib::cm_message& m);
    void receive_mra(cycle_t now, const ib::cm_message& m);
    void receive_rej(const ib::cm_message& m);
    void receive_dreq(cycle_t now, std::uint16_t lid, const ib::cm_message& m);
    void receive_drep(cycle_t now, const ib::cm_message& m);
    void established(std::uint32_t id, connection& c, cm_evidence how);

    cm_user& m_user;
    cm_agent_config m_config;
    connections m_connections;
    std::map<std::uint32_t, std::uint32_t> m_by_wire_id;
    std::map<std::pair<std::uint64_t, std::uint32_t>, std::uint32_t>
        m_by_remote_id;  // (CA GUID, remote communication id)
    std::map<std::pair<std::uint64_t, std::uint32_t>, std::uint32_t>
        m_by_remote_qpn;  // (CA GUID, remote QPN)
    std::set<std::pair<cycle_t, std::uint32_t>> m_deadlines;
    std::map<std::string, std::uint64_t> m_counters;
    std::uint32_t m_next_id = 1;
};

}  // namespace hcasim

#endif
