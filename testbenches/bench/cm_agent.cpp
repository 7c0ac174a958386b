#include "testbenches/bench/cm_agent.h"

#include "model/clock/cycle_time.h"

namespace hcasim {

namespace {

// Reasons of REJ (IBTA 12.6.7.2).
constexpr std::uint16_t reason_stale_connection = 10;

// Numbers of the message that MRA and REJ speak of.
constexpr std::uint8_t about_req = 0;
constexpr std::uint8_t about_rep = 1;

// Linux keeps the transactions of one connection apart by a sequence in the upper bits of the lower half.
constexpr std::uint32_t dreq_sequence = 2u << 30;
constexpr std::uint32_t comm_id_mask = (1u << 30) - 1;

}  // namespace

std::string_view name(cm_state state) {
    constexpr std::string_view names[] = {
        "IDLE",     "REQ_SENT",     "MRA_REQ_RCVD", "REP_RCVD",  "MRA_REP_SENT", "REQ_RCVD", "MRA_REQ_SENT",
        "REP_SENT", "MRA_REP_RCVD", "ESTABLISHED",  "DREQ_SENT", "DREQ_RCVD",    "TIMEWAIT"};
    return names[static_cast<std::size_t>(state)];
}

void cm_agent::reset(const cm_agent_config& config) {
    m_config = config;
    m_connections.clear();
    m_by_wire_id.clear();
    m_by_remote_id.clear();
    m_by_remote_qpn.clear();
    m_deadlines.clear();
    m_counters.clear();
    m_next_id = config.first_comm_id;
}

cycle_t cm_agent::t(std::uint32_t exponent) const {
    return timer_cycles(exponent, m_config.timer_shift, m_config.clock_mhz);
}
cycle_t cm_agent::reply_timeout(const ib::cm_message& req) const { return t(req.local_cm_response_timeout); }
cycle_t cm_agent::request_timeout(const ib::cm_message& req) const {
    return 2 * t(m_config.packet_life_time) + t(req.remote_cm_response_timeout);
}
cycle_t cm_agent::mra_timeout(const ib::cm_message& mra) const {
    return t(mra.service_timeout) + t(m_config.packet_life_time + 1);
}
cycle_t cm_agent::timewait_cycles(const ib::cm_message& rep) const {
    return 2 * t(m_config.packet_life_time) + t(rep.target_ack_delay);
}

void cm_agent::set_deadline(std::uint32_t id, connection& c, cycle_t deadline) {
    if (c.deadline != never) {
        m_deadlines.erase({c.deadline, id});
    }
    c.deadline = deadline;
    if (deadline != never) {
        m_deadlines.insert({deadline, id});
    }
}

void cm_agent::send(const connection& c, const ib::cm_message& m) { m_user.cm_send(c.lid, m); }

// REP, MRA, REJ and RTU belong to the transaction of the REQ.
ib::cm_message cm_agent::answer(const connection& c, ib::cm_attribute attribute) const {
    ib::cm_message m;
    m.attribute = attribute;
    m.transaction_id = c.req.transaction_id;
    m.local_comm_id = c.wire_id;
    m.remote_comm_id = c.remote_id;
    return m;
}

std::uint32_t cm_agent::connect(cycle_t now, std::uint16_t lid, ib::cm_message req) {
    const std::uint32_t id = m_next_id++;
    connection& c = m_connections[id];
    c.active = true;
    c.lid = lid;
    req.attribute = ib::cm_attribute::req;
    if (req.local_comm_id == 0) {
        req.local_comm_id = id;
    }
    if (req.ca_guid == 0) {
        req.ca_guid = m_config.ca_guid;
    }
    if (req.transaction_id == 0) {
        req.transaction_id = std::uint64_t{m_config.agent_number} << 32 | (req.local_comm_id & comm_id_mask);
    }
    c.wire_id = req.local_comm_id;
    m_by_wire_id[c.wire_id] = id;
    c.req = c.in_flight = req;
    c.state = cm_state::req_sent;
    c.retries_left = req.max_cm_retries;
    c.period = request_timeout(req);
    set_deadline(id, c, now + c.period);
    bump("cm.req_sent");
    send(c, req);
    return id;
}

void cm_agent::accept(cycle_t now, std::uint32_t id, ib::cm_message rep) {
    const auto it = m_connections.find(id);
    if (it == m_connections.end() ||
        (it->second.state != cm_state::req_rcvd && it->second.state != cm_state::mra_req_sent)) {
        return;
    }
    connection& c = it->second;
    if (rep.local_comm_id != 0 && rep.local_comm_id != c.wire_id) {
        m_by_wire_id.erase(c.wire_id);
        c.wire_id = rep.local_comm_id;
        m_by_wire_id[c.wire_id] = id;
    }
    rep.attribute = ib::cm_attribute::rep;
    rep.transaction_id = c.req.transaction_id;
    rep.local_comm_id = c.wire_id;
    rep.remote_comm_id = c.remote_id;
    if (rep.ca_guid == 0) {
        rep.ca_guid = m_config.ca_guid;
    }
    c.rep = c.in_flight = rep;
    c.state = cm_state::rep_sent;
    c.retries_left = c.req.max_cm_retries;
    c.period = reply_timeout(c.req);
    set_deadline(id, c, now + c.period);
    bump("cm.rep_sent");
    send(c, rep);
}

void cm_agent::ready(cycle_t now, std::uint32_t id) {
    (void)now;
    const auto it = m_connections.find(id);
    if (it == m_connections.end() ||
        (it->second.state != cm_state::rep_rcvd && it->second.state != cm_state::mra_rep_sent)) {
        return;
    }
    connection& c = it->second;
    c.state = cm_state::established;
    c.rtu = answer(c, ib::cm_attribute::rtu);
    bump("cm.rtu_sent");
    send(c, c.rtu);
}

void cm_agent::reject(cycle_t now, std::uint32_t id, std::uint16_t reason) {
    (void)now;
    const auto it = m_connections.find(id);
    if (it == m_connections.end()) {
        return;
    }
    const connection& c = it->second;
    ib::cm_message m = answer(c, ib::cm_attribute::rej);
    m.message_acknowledged = c.active ? about_rep : about_req;
    m.reject_reason = reason;
    bump("cm.rej_sent");
    send(c, m);
    forget(id);
}

void cm_agent::send_mra(cycle_t now, std::uint32_t id) {
    (void)now;
    const auto it = m_connections.find(id);
    if (it == m_connections.end()) {
        return;
    }
    connection& c = it->second;
    switch (c.state) {
        case cm_state::req_rcvd:
        case cm_state::mra_req_sent:
            c.state = cm_state::mra_req_sent;
            break;
        case cm_state::rep_rcvd:
        case cm_state::mra_rep_sent:
            c.state = cm_state::mra_rep_sent;
            break;
        default:
            return;
    }
    ib::cm_message m = answer(c, ib::cm_attribute::mra);
    m.message_acknowledged = c.active ? about_rep : about_req;
    m.service_timeout = static_cast<std::uint8_t>(m_config.mra_service_timeout);
    bump("cm.mra_sent");
    send(c, m);
}

bool cm_agent::notify_established(cycle_t now, std::uint32_t id) {
    advance(now);
    const auto it = m_connections.find(id);
    if (it == m_connections.end() ||
        (it->second.state != cm_state::rep_sent && it->second.state != cm_state::mra_rep_rcvd)) {
        bump("cm.comm_est_ignored");
        return false;
    }
    established(id, it->second, cm_evidence::comm_est);
    return true;
}

void cm_agent::established(std::uint32_t id, connection& c, cm_evidence how) {
    c.state = cm_state::established;
    stop_timer(id, c);
    m_user.cm_established(id, how);
}

void cm_agent::disconnect(cycle_t now, std::uint32_t id) {
    const auto it = m_connections.find(id);
    if (it == m_connections.end() || it->second.state != cm_state::established) {
        return;
    }
    connection& c = it->second;
    ib::cm_message m = answer(c, ib::cm_attribute::dreq);
    m.transaction_id =
        std::uint64_t{m_config.agent_number} << 32 | ((c.wire_id & comm_id_mask) | dreq_sequence);
    m.qpn = c.remote_qpn;
    c.in_flight = m;
    c.state = cm_state::dreq_sent;
    c.retries_left = c.req.max_cm_retries;
    c.period = request_timeout(c.req);
    set_deadline(id, c, now + c.period);
    bump("cm.dreq_sent");
    send(c, m);
}

void cm_agent::destroy(std::uint32_t id) { forget(id); }

void cm_agent::forget(std::uint32_t id) {
    const auto it = m_connections.find(id);
    if (it == m_connections.end()) {
        return;
    }
    connection& c = it->second;
    stop_timer(id, c);
    const auto erase_own = [id](auto& index, const auto& key) {
        const auto found = index.find(key);
        if (found != index.end() && found->second == id) {
            index.erase(found);
        }
    };
    erase_own(m_by_wire_id, c.wire_id);
    erase_own(m_by_remote_id, std::make_pair(c.remote_guid, c.remote_id));
    erase_own(m_by_remote_qpn, std::make_pair(c.remote_guid, c.remote_qpn));
    m_connections.erase(it);
}

void cm_agent::enter_timewait(cycle_t now, std::uint32_t id, connection& c) {
    c.state = cm_state::timewait;
    set_deadline(id, c, now + timewait_cycles(c.rep));
}

void cm_agent::advance(cycle_t now) {
    while (!m_deadlines.empty() && m_deadlines.begin()->first <= now) {
        const std::uint32_t id = m_deadlines.begin()->second;
        // A timer counts from when it was due, so that a host which looks late does not stretch the next
        // wait.
        timer(m_deadlines.begin()->first, id);
    }
}

void cm_agent::timer(cycle_t now, std::uint32_t id) {
    connection& c = m_connections.at(id);
    if (c.state == cm_state::timewait) {
        forget(id);
        return;
    }
    if (c.retries_left > 0) {
        --c.retries_left;
        set_deadline(id, c, now + c.period);
        switch (c.in_flight.attribute) {
            case ib::cm_attribute::req:
                bump("cm.req_resent");
                break;
            case ib::cm_attribute::rep:
                bump("cm.rep_resent");
                break;
            default:
                bump("cm.dreq_resent");
                break;
        }
        send(c, c.in_flight);
        return;
    }
    if (c.state == cm_state::dreq_sent) {
        enter_timewait(now, id, c);
        m_user.cm_disconnected(id);
        return;
    }
    const ib::cm_attribute unanswered = c.in_flight.attribute;
    bump("cm.gave_up");
    forget(id);
    m_user.cm_gave_up(id, unanswered);
}

cm_agent::connections::iterator cm_agent::find(const ib::cm_message& m) {
    const auto id = m_by_wire_id.find(m.remote_comm_id);
    if (id == m_by_wire_id.end()) {
        return m_connections.end();
    }
    const auto it = m_connections.find(id->second);
    // A side that has not heard from its peer yet does not know the peer's id.
    const bool knows_peer =
        it->second.state != cm_state::req_sent && it->second.state != cm_state::mra_req_rcvd;
    if (knows_peer && it->second.remote_id != m.local_comm_id) {
        return m_connections.end();
    }
    return it;
}

void cm_agent::receive(cycle_t now, std::uint16_t lid, const ib::cm_message& m) {
    advance(now);
    switch (m.attribute) {
        case ib::cm_attribute::req:
            receive_req(now, lid, m);
            break;
        case ib::cm_attribute::rep:
            receive_rep(m);
            break;
        case ib::cm_attribute::rtu:
            receive_rtu(m);
            break;
        case ib::cm_attribute::mra:
            receive_mra(now, m);
            break;
        case ib::cm_attribute::rej:
            receive_rej(m);
            break;
        case ib::cm_attribute::dreq:
            receive_dreq(now, lid, m);
            break;
        case ib::cm_attribute::drep:
            receive_drep(now, m);
            break;
    }
}

void cm_agent::receive_req(cycle_t now, std::uint16_t lid, const ib::cm_message& m) {
    const auto known = m_by_remote_id.find({m.ca_guid, m.local_comm_id});
    const auto reject_stale = [this, lid, &m] {
        ib::cm_message rej;
        rej.attribute = ib::cm_attribute::rej;
        rej.transaction_id = m.transaction_id;
        rej.remote_comm_id = m.local_comm_id;
        rej.message_acknowledged = about_req;
        rej.reject_reason = reason_stale_connection;
        bump("cm.rej_sent");
        m_user.cm_send(lid, rej);
    };
    if (known != m_by_remote_id.end()) {
        const connection& c = m_connections.at(known->second);
        bump("cm.req_duplicate");
        if (c.state == cm_state::mra_req_sent) {
            send_mra(now, known->second);
        } else if (c.state == cm_state::timewait) {
            reject_stale();
        }
        // REQ_RCVD: the user is at work. REP_SENT: the timer of the REP does it.
        return;
    }
    if (m_by_remote_qpn.count({m.ca_guid, m.qpn}) != 0) {
        // The peer has forgotten the connection of that QP; no packet would tell.
        reject_stale();
        return;
    }
    const std::uint32_t id = m_next_id++;
    connection& c = m_connections[id];
    c.lid = lid;
    c.req = m;
    c.wire_id = id;
    c.remote_id = m.local_comm_id;
    c.remote_guid = m.ca_guid;
    c.remote_qpn = m.qpn;
    c.state = cm_state::req_rcvd;
    m_by_wire_id[id] = id;
    m_by_remote_id[{m.ca_guid, m.local_comm_id}] = id;
    m_by_remote_qpn[{m.ca_guid, m.qpn}] = id;
    bump("cm.req_received");
    if (m_config.send_mra) {
        send_mra(now, id);
    }
    m_user.cm_request_received(id, m);
}

void cm_agent::receive_rep(const ib::cm_message& m) {
    const auto it = find(m);
    if (it == m_connections.end() || !it->second.active ||
        it->second.req.transaction_id != m.transaction_id) {
        bump("cm.rep_unknown");
        return;
    }
    connection& c = it->second;
    const std::uint32_t id = it->first;
    switch (c.state) {
        case cm_state::req_sent:
        case cm_state::mra_req_rcvd:
            stop_timer(id, c);
            c.state = cm_state::rep_rcvd;
            c.rep = m;
            c.remote_id = m.local_comm_id;
            c.remote_guid = m.ca_guid;
            c.remote_qpn = m.qpn;
            bump("cm.rep_received");
            m_user.cm_reply_received(id, m);
            break;
        case cm_state::mra_rep_sent:
            bump("cm.rep_duplicate");
            send_mra(0, id);
            break;
        case cm_state::established:
            bump("cm.rep_duplicate");
            bump("cm.rtu_resent");
            send(c, c.rtu);
            break;
        default:
            bump("cm.rep_duplicate");
            break;
    }
}

void cm_agent::receive_rtu(const ib::cm_message& m) {
    const auto it = find(m);
    if (it == m_connections.end() || it->second.active || it->second.req.transaction_id != m.transaction_id) {
        // After the last time-out there is nothing left that it could establish.
        bump("cm.rtu_late");
        return;
    }
    connection& c = it->second;
    switch (c.state) {
        case cm_state::rep_sent:
        case cm_state::mra_rep_rcvd:
            bump("cm.rtu_received");
            established(it->first, c, cm_evidence::rtu);
            break;
        case cm_state::established:
            bump("cm.rtu_duplicate");
            m_user.cm_rtu_again(it->first);
            break;
        default:
            bump("cm.rtu_late");
            break;
    }
}

void cm_agent::receive_mra(cycle_t now, const ib::cm_message& m) {
    const auto it = find(m);
    if (it == m_connections.end()) {
        bump("cm.mra_unknown");
        return;
    }
    connection& c = it->second;
    if (m.message_acknowledged == about_req &&
        (c.state == cm_state::req_sent || c.state == cm_state::mra_req_rcvd)) {
        c.state = cm_state::mra_req_rcvd;
    } else if (m.message_acknowledged == about_rep &&
               (c.state == cm_state::rep_sent || c.state == cm_state::mra_rep_rcvd)) {
        c.state = cm_state::mra_rep_rcvd;
    } else {
        bump("cm.mra_late");
        return;
    }
    bump("cm.mra_received");
    c.period = mra_timeout(m);
    set_deadline(it->first, c, now + c.period);
}

void cm_agent::receive_rej(const ib::cm_message& m) {
    const auto it = find(m);
    if (it == m_connections.end()) {
        bump("cm.rej_unknown");
        return;
    }
    const std::uint32_t id = it->first;
    switch (it->second.state) {
        case cm_state::req_sent:
        case cm_state::mra_req_rcvd:
        case cm_state::rep_sent:
        case cm_state::mra_rep_rcvd:
            bump("cm.rej_received");
            forget(id);
            m_user.cm_rejected(id, m);
            break;
        default:
            bump("cm.rej_late");
            break;
    }
}

void cm_agent::receive_dreq(cycle_t now, std::uint16_t lid, const ib::cm_message& m) {
    const auto it = find(m);
    ib::cm_message drep;
    drep.attribute = ib::cm_attribute::drep;
    drep.transaction_id = m.transaction_id;
    drep.local_comm_id = m.remote_comm_id;
    drep.remote_comm_id = m.local_comm_id;
    if (it == m_connections.end()) {
        // The peer must not wait for a connection that is gone here.
        bump("cm.dreq_unknown");
        m_user.cm_send(lid, drep);
        return;
    }
    connection& c = it->second;
    const std::uint32_t id = it->first;
    switch (c.state) {
        case cm_state::rep_sent:
        case cm_state::mra_rep_rcvd:
        case cm_state::established:
        case cm_state::dreq_sent: {
            bump("cm.dreq_received");
            const bool crossed = c.state == cm_state::dreq_sent;
            stop_timer(id, c);
            c.state = cm_state::dreq_rcvd;
            bump("cm.drep_sent");
            send(c, drep);
            enter_timewait(now, id, c);
            if (crossed) {
                m_user.cm_disconnected(id);
            } else {
                m_user.cm_disconnect_received(id);
            }
            break;
        }
        case cm_state::timewait:
            bump("cm.dreq_duplicate");
            bump("cm.drep_resent");
            send(c, drep);
            break;
        default:
            bump("cm.dreq_ignored");
            break;
    }
}

void cm_agent::receive_drep(cycle_t now, const ib::cm_message& m) {
    const auto it = find(m);
    if (it == m_connections.end() || it->second.state != cm_state::dreq_sent) {
        bump("cm.drep_late");
        return;
    }
    bump("cm.drep_received");
    enter_timewait(now, it->first, it->second);
    m_user.cm_disconnected(it->first);
}

cm_state cm_agent::state(std::uint32_t id) const {
    const auto it = m_connections.find(id);
    return it == m_connections.end() ? cm_state::idle : it->second.state;
}

std::vector<std::pair<std::string, std::uint64_t>> cm_agent::counters() const {
    return {m_counters.begin(), m_counters.end()};
}

std::uint64_t cm_agent::count(const std::string& counter) const {
    const auto it = m_counters.find(counter);
    return it == m_counters.end() ? 0 : it->second;
}

}  // namespace hcasim
