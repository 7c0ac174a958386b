#include "testbenches/bench/recorder.h"

#include <algorithm>
#include <cstdio>
#include <deque>
#include <string_view>
#include <unordered_map>

#include "model/ib/byte_order.h"
#include "model/ib/headers.h"
#include "model/ib/messages.h"
#include "testbenches/bench/psn_watch.h"
#include "testbenches/bench/tracked_qp.h"

namespace hcasim {

namespace {

// The invariants by number; see recorder.h.
enum invariant : unsigned {
    stages_add_up = 0,
    request_state = 1,
    response_state = 2,
    comm_est_once = 3,
    request_psn = 4,
    post_order = 5,
    doorbell_monotone = 6,
    first_opener_wins = 7,
    late_opener_inert = 8,
    flush_complete = 9,
};
constexpr unsigned invariant_count = 10;

// Cycles by which what a block does may lag behind a change of state in the context cache that it has not
// heard of yet: a few channels and one packet or WQE in its hands. Scaled by the share of cycles that
// injected back-pressure takes away.
constexpr std::uint64_t pipeline_slack_cycles = 256;
// Time after which something that nothing holds back counts as lost: longer than any legal wait for other
// QPs.
constexpr std::uint64_t lost_after_cycles = 1'000'000;
// Responses that stand in channels and pipeline registers between the receive engine and the wire, beside the
// queues whose size is configured.
constexpr std::uint32_t packets_between_blocks = 64;
constexpr std::uint32_t wave_qps = 64;

std::string hex(std::uint32_t value, int digits) {
    char text[16];
    std::snprintf(text, sizeof text, "%0*x", digits, value);
    return text;
}

}  // namespace

struct recorder::run_state {
    std::vector<std::unique_ptr<host_observer>> hosts;
    wave_function wave;
    bool keep_packets = false;
    bool keep_wqes = true;

    run_result result;
    std::uint32_t open_on = 0;
    bool gate_on_chip = true;
    bool wire_loses = false;  // packets of an RC connection may get lost
    std::uint64_t slack_cycles = pipeline_slack_cycles;
    std::uint32_t responses_in_flight = 0;
    std::uint32_t slot_mask = 0;
    std::uint64_t wave_cycle = 0;
    std::uint32_t waved_qps = 0;
    std::array<std::uint64_t, invariant_count> checks{};

    std::deque<tracked_qp> qps;  // in order of appearance; addresses stay
    struct host_qps {
        std::vector<tracked_qp*> by_slot;  // slot = QPN modulo hca_config::qps
        std::unordered_map<std::uint32_t, tracked_qp*> by_qpn;
    };
    std::vector<host_qps> lookup;
    std::vector<tracked_qp*> data_qps;
    std::vector<std::uint32_t> host_of_lid;  // host + 1, 0 = not seen yet; up to the largest one seen

    struct {
        std::uint64_t comm_est = 0, gate_closed = 0, gate_opened = 0, late_opener = 0, packet_lost = 0,
                      qp_error = 0, request_repeated = 0;
    } events;

    tracked_qp& qp(std::uint32_t host, std::uint32_t qpn) {
        host_qps& h = lookup[host];
        tracked_qp*& cached = h.by_slot[qpn & slot_mask];
        if (cached == nullptr || cached->qpn != qpn) {
            tracked_qp*& known = h.by_qpn[qpn];
            if (known == nullptr) {
                known = &qps.emplace_back();
                known->host = host;
                known->qpn = qpn;
                known->result.host = host;
                known->result.qpn = qpn;
            }
            cached = known;
        }
        return *cached;
    }

    void violate(invariant rule, const tracked_qp& q, std::uint64_t cycle, const char* block,
                 const std::string& what) {
        if (++result.invariants_violated == 1) {
            result.violation =
                "cycle " + std::to_string(cycle) + ", host " + std::to_string(q.host) + ", " + block +
                ", QP 0x" + hex(q.qpn, 6) + ": " +
                (rule == stages_add_up ? std::string("stages") : "invariant " + std::to_string(rule)) + ": " +
                what;
        }
    }

    void emit(wave_signal& signal, std::uint32_t width, std::uint64_t value, std::uint64_t cycle) {
        if (!signal.name.empty() && signal.value != value && wave) {
            signal.value = value;
            wave_cycle = std::max(wave_cycle, cycle);
            wave(wave_cycle, signal.name, width, value);
        }
    }
    // The first value, which counts as a change.
    void draw(wave_signal& signal, const std::string& name, std::uint32_t width, std::uint64_t value,
              std::uint64_t cycle) {
        signal = {name, ~value};
        emit(signal, width, value, cycle);
    }

    void change_state(tracked_qp& q, ib::qp_state from, ib::qp_state to, ib::gate_opener opener,
                      std::uint32_t sq_psn, std::uint64_t cycle);
    void begin_life(tracked_qp& q, std::uint64_t cycle);
    void stamp(tracked_qp& q, std::uint16_t index, stage s, std::uint64_t cycle);
    void first_on_wire(tracked_qp& q, send_slot& w, std::uint64_t number, std::uint64_t cycle);
    void grant(tracked_qp& q, send_slot& w, std::uint64_t number, std::uint64_t cycle);
    void end(tracked_qp& q, std::uint16_t index, std::uint8_t status, bool has_cqe, std::uint64_t cycle);
    void close(tracked_qp& q, send_slot& w);
    void close_ended(tracked_qp& q);
    void count(tracked_qp& q, send_slot& w);
    void measure(const tracked_qp& q, send_slot& w);
    void on_request(tracked_qp& q, std::uint8_t op, std::uint32_t psn, std::uint64_t cycle);
    void on_response(tracked_qp& q, std::uint64_t cycle);
    void packet(std::uint32_t host, const std::uint8_t* bytes, std::uint32_t size_bytes, std::uint32_t qpn,
                std::uint64_t cycle);
    void communication_established(tracked_qp& q, std::uint64_t cycle);
    void doorbell(tracked_qp& q, std::uint16_t producer, std::uint64_t cycle);
    void check_at_end(tracked_qp& q, std::uint64_t cycle, bool idle);
};

class recorder::host_observer final : public observer {
public:
    host_observer(run_state& state, std::uint32_t host) : m_state(state), m_host(host) {}

    void stamp(std::uint32_t qpn, std::uint16_t wqe_index, stage s, std::uint64_t cycle) override {
        m_state.stamp(m_state.qp(m_host, qpn), wqe_index, s, cycle);
    }
    void wqe_ended(std::uint32_t qpn, std::uint16_t wqe_index, std::uint8_t status, bool has_cqe,
                   std::uint64_t cycle) override {
        m_state.end(m_state.qp(m_host, qpn), wqe_index, status, has_cqe, cycle);
    }
    void state_changed(std::uint32_t qpn, std::uint8_t from, std::uint8_t to, std::uint8_t opener,
                       std::uint32_t sq_psn, std::uint64_t cycle) override {
        m_state.change_state(m_state.qp(m_host, qpn), static_cast<ib::qp_state>(from),
                             static_cast<ib::qp_state>(to), static_cast<ib::gate_opener>(opener), sq_psn,
                             cycle);
    }
    void late_opener(std::uint32_t qpn, std::uint8_t opener, std::uint64_t cycle) override {
        tracked_qp& q = m_state.qp(m_host, qpn);
        ++m_state.events.late_opener;
        ++m_state.checks[first_opener_wins];
        ++m_state.checks[late_opener_inert];
        q.late_opener_seen = true;
        if (opener < ib::gate_opener_count && q.late_cycle[opener] == 0) {
            q.late_cycle[opener] = cycle;
        }
        if (q.late_in_life == 0) {
            q.late_in_life = cycle;
        }
        if (q.state == ib::qp_state::rtr || q.state == ib::qp_state::init) {
            m_state.violate(first_opener_wins, q, cycle, "qp_context_cache",
                            "an opener was turned away as late in state " + std::string(ib::name(q.state)));
        }
    }
    void gate_changed(std::uint32_t qpn, std::uint8_t gate, bool pending, std::uint64_t cycle) override {
        tracked_qp& q = m_state.qp(m_host, qpn);
        const bool open = static_cast<gate_state>(gate) == gate_state::open;
        if (open != q.gate_open) {
            ++(open ? m_state.events.gate_opened : m_state.events.gate_closed);
            q.gate_cycle = cycle;
        }
        q.gate_reported = true;
        q.gate_open = open;
        if (open && q.result.gate_open_cycle == 0) {
            q.result.gate_open_cycle = cycle;
        }
        if (open && !q.gate_was_open) {
            q.gate_was_open = true;
            if (q.late_in_life != 0 && cycle > q.late_in_life + m_state.slack_cycles) {
                m_state.violate(first_opener_wins, q, cycle, "send_scheduler",
                                "the gate opens only now, and an opener of cycle " +
                                    std::to_string(q.late_in_life) + " was late already");
            }
        }
        m_state.emit(q.wave_gate, 1, open ? 1 : 0, cycle);
        m_state.emit(q.wave_pending, 1, pending ? 1 : 0, cycle);
    }
    void packet_on_wire(const std::uint8_t* bytes, std::uint32_t size_bytes, std::uint32_t qpn,
                        bool is_flow_control, bool lost, std::uint64_t first_byte_cycle,
                        std::uint64_t last_byte_cycle) override {
        if (is_flow_control) {
            return;
        }
        m_state.events.packet_lost += lost ? 1 : 0;
        if (m_state.keep_packets) {
            m_state.result.packets.push_back(
                {m_host, first_byte_cycle, last_byte_cycle, lost, {bytes, bytes + size_bytes}});
        }
        m_state.packet(m_host, bytes, size_bytes, qpn, first_byte_cycle);
    }
    void request_accepted(std::uint32_t qpn, std::uint32_t /*psn*/, bool /*ends_message*/,
                          std::uint64_t cycle) override {
        tracked_qp& q = m_state.qp(m_host, qpn);
        ++m_state.checks[response_state];
        if (q.first_accepted_cycle == 0) {
            q.first_accepted_cycle = cycle;
        }
        if (!q.was_rtr && (q.state != ib::qp_state::reset || cycle > q.state_cycle + m_state.slack_cycles)) {
            m_state.violate(response_state, q, cycle, "receive_engine",
                            "request accepted in state " + std::string(ib::name(q.state)));
        }
    }
    void level(level_of structure, std::uint64_t value, std::uint64_t cycle) override {
        if (m_state.wave) {
            wave_signal signal;
            m_state.draw(signal, "host" + std::to_string(m_host) + "." + std::string(name(structure)), 16,
                         value, cycle);
        }
    }
    void comm_est(std::uint32_t qpn, std::uint64_t cycle) override {
        m_state.communication_established(m_state.qp(m_host, qpn), cycle);
    }
    void doorbell_merged(std::uint32_t qpn, std::uint16_t before, std::uint16_t offered, std::uint16_t after,
                         std::uint64_t cycle) override {
        ++m_state.checks[doorbell_monotone];
        m_state.doorbell(m_state.qp(m_host, qpn), offered, cycle);
        const std::uint16_t newer = ib::index_distance(offered, before) > 0 ? offered : before;
        if (after != newer) {
            m_state.violate(doorbell_monotone, m_state.qp(m_host, qpn), cycle, "doorbell_unit",
                            "producer index " + std::to_string(before) + " merged with " +
                                std::to_string(offered) + " gives " + std::to_string(after));
        }
    }

private:
    run_state& m_state;
    const std::uint32_t m_host;
};

// State

void recorder::run_state::begin_life(tracked_qp& q, std::uint64_t cycle) {
    // WQEs that were not done are gone without a CQE; what had ended is counted although its CQE may still be
    // on its way.
    for (; q.first != q.last; ++q.first) {
        send_slot& w = q.slot(q.first);
        if (w.record.ended) {
            count(q, w);
        }
        close(q, w);
    }
    q.first = q.last = q.next_on_wire = q.next_whole = q.next_end = q.announced = q.granted = q.rung = 0;
    q.latest_regrant = no_wqe;
    q.next_end_index = 0;
    q.has_ended = false;
    q.flush_seen = q.failure_seen = q.late_opener_seen = false;
    q.was_rtr = q.was_rts = false;
    q.first_accepted_cycle = 0;
    q.comm_ests = 0;
    q.psns.start(0);
    q.whole_known = true;
    q.late_in_life = 0;
    q.gate_was_open = false;
    emit(q.wave_pending, 1, 0, cycle);
}

void recorder::run_state::change_state(tracked_qp& q, ib::qp_state from, ib::qp_state to,
                                       ib::gate_opener opener, std::uint32_t sq_psn, std::uint64_t cycle) {
    using ib::qp_state;
    ++checks[late_opener_inert];
    // A QP that starts from RESET may be a new one with the number of one that was destroyed.
    if (from != q.state && from != qp_state::reset) {
        violate(late_opener_inert, q, cycle, "qp_context_cache",
                "state goes from " + std::string(ib::name(from)) + " to " + std::string(ib::name(to)) +
                    ", but it was " + std::string(ib::name(q.state)));
    }
    const bool requester_was_on = q.state == qp_state::rts || q.state == qp_state::sqd;
    const bool responder_was_on = requester_was_on || q.state == qp_state::rtr || q.state == qp_state::sqe;
    if (q.state == qp_state::rtr && to != qp_state::rtr) {
        q.left_rtr_cycle = cycle;
    }
    if (to == qp_state::reset || (from == qp_state::reset && q.state != qp_state::reset)) {
        if (q.state != qp_state::reset) {
            q.before_stop = q.state;
        }
        begin_life(q, cycle);
    }
    switch (to) {
        case qp_state::reset:
        case qp_state::err:
        case qp_state::sqe:
            q.requests_may_leave = q.requests_may_leave || requester_was_on;
            if (responder_was_on && to != qp_state::sqe) {
                q.responses_allowed = responses_in_flight;
            }
            q.whole_known = q.whole_known && to != qp_state::sqe;
            if (to != qp_state::reset && q.state != to) {
                q.before_stop = q.state;
                q.flush_seen = false;
                events.qp_error += to == qp_state::err ? 1 : 0;
            }
            break;
        case qp_state::rtr:
            q.was_rtr = true;
            q.first_accepted_cycle = 0;
            q.comm_ests = 0;
            q.requests_may_leave = false;
            break;
        case qp_state::rts:
            if (q.state != qp_state::rts) {
                q.opener = opener;
            }
            if (!q.was_rts) {
                q.was_rts = true;
                q.psns.start(sq_psn);
                q.late_opener_seen = false;
                ++checks[first_opener_wins];
                const bool allowed =
                    opener == ib::gate_opener::none || opener == ib::gate_opener::command ||
                    (opener == ib::gate_opener::rtu && (open_on & open_on_rtu) != 0) ||
                    (opener == ib::gate_opener::packet && (open_on & open_on_packet) != 0) ||
                    (opener == ib::gate_opener::comm_est && (open_on & open_on_comm_est) != 0);
                if (!allowed) {
                    violate(first_opener_wins, q, cycle, "qp_context_cache",
                            "the gate was opened by an opener that is not enabled");
                }
                if (q.result.openers.empty()) {
                    q.result.opened_by = opener;
                    q.result.openers.emplace_back(opener, cycle);
                }
            }
            break;
        case qp_state::init:
        case qp_state::sqd:
            break;
    }
    if (q.state != to) {
        q.state_cycle = cycle;
    }
    q.state = to;
    q.result.final_state = to;
    emit(q.wave_state, 3, static_cast<std::uint64_t>(to), cycle);
}

void recorder::run_state::communication_established(tracked_qp& q, std::uint64_t cycle) {
    ++events.comm_est;
    ++checks[comm_est_once];
    if (q.result.comm_est_cycle == 0) {
        q.result.comm_est_cycle = cycle;
    }
    if (q.state == ib::qp_state::reset && cycle <= q.left_rtr_cycle + slack_cycles) {
        return;  // of the life that has just ended: decided before the RESET was seen
    }
    if (++q.comm_ests > 1) {
        violate(comm_est_once, q, cycle, "receive_engine", "COMM_EST for the second time in one stay in RTR");
        return;
    }
    if (q.state == ib::qp_state::rtr) {
        return;
    }
    // The responder read the state when the packet came in; it may report after the state has changed, for
    // the packet's own sake or by chance in the same moment.
    const std::uint64_t accepted =
        q.first_accepted_cycle == 0 ? cycle : std::min(cycle, q.first_accepted_cycle);
    const bool by_packet = q.was_rts && q.opener == ib::gate_opener::packet;
    if (!q.was_rtr || (!by_packet && accepted > q.left_rtr_cycle + slack_cycles)) {
        violate(
            comm_est_once, q, cycle, "receive_engine",
            "COMM_EST in state " + std::string(ib::name(q.state)) + " without a request that came in RTR");
    }
}

// Stamps

void recorder::run_state::grant(tracked_qp& q, send_slot& w, std::uint64_t number, std::uint64_t cycle) {
    if (w.first_grant_cycle == 0) {
        w.first_grant_cycle = cycle;
    } else {
        if (number != q.latest_regrant + 1) {
            q.psns.go_back();
        }
        q.latest_regrant = number;
    }
    q.granted = number + 1;
    emit(q.wave_pending, 1, q.granted < q.announced ? 1 : 0, cycle);
}

// A doorbell announces every WQE before its producer index; the first that does is the one that counts.
void recorder::run_state::doorbell(tracked_qp& q, std::uint16_t producer, std::uint64_t cycle) {
    if (!q.posts_known) {
        return;
    }
    const std::int64_t end = q.number_of(producer);
    q.rung = std::max(q.rung, q.first);
    while (static_cast<std::int64_t>(q.rung) < end && q.rung < q.last) {
        q.slot(q.rung++).stamps.stamp(stage::doorbell, cycle);
    }
}

void recorder::run_state::stamp(tracked_qp& q, std::uint16_t index, stage s, std::uint64_t cycle) {
    if (!q.posts_known) {
        return;
    }
    send_slot* const w = q.find(index);
    const std::int64_t signed_number = q.number_of(index);
    const auto number = static_cast<std::uint64_t>(signed_number);
    if (w == nullptr) {
        if (signed_number < static_cast<std::int64_t>(q.first)) {
            // Done, and yet granted again: its acknowledge came after the decision to repeat it.
            if (s == stage::grant) {
                q.psns.go_back();
                q.latest_regrant = number;
            }
        } else if ((s == stage::grant || s == stage::wire) && !q.requester_stopped()) {
            ++checks[post_order];
            violate(post_order, q, cycle, s == stage::grant ? "send_scheduler" : "link",
                    "WQE " + std::to_string(index) + " was never posted");
        }
        return;
    }
    const bool was_on_wire = w->stamps.on_wire();
    w->stamps.stamp(s, cycle);
    switch (s) {
        case stage::pending:
            q.announced = std::max(q.announced, number + 1);
            emit(q.wave_pending, 1, q.granted < q.announced ? 1 : 0, cycle);
            break;
        case stage::grant:
            grant(q, *w, number, cycle);
            break;
        case stage::wire:
            if (!was_on_wire) {
                first_on_wire(q, *w, number, cycle);
            }
            break;
        case stage::acked:
            if (w->has_last_psn) {
                q.psns.acknowledged_in_hca(ib::psn_add(w->last_psn, 1));
            }
            break;
        case stage::completed:
            close_ended(q);
            break;
        default:
            break;
    }
}

void recorder::run_state::first_on_wire(tracked_qp& q, send_slot& w, std::uint64_t number,
                                        std::uint64_t cycle) {
    if (w.record.ended) {
        return;  // flushed while its packets waited for the wire
    }
    if (q.requester_stopped()) {
        ++checks[request_state];
        if (w.stamps[stage::payload] > q.state_cycle + slack_cycles) {
            violate(request_state, q, cycle, "send_engine",
                    "WQE " + std::to_string(w.record.wqe_index) + " is sent, made in cycle " +
                        std::to_string(w.stamps[stage::payload]) + " and the QP is in " +
                        std::string(ib::name(q.state)) + " since cycle " + std::to_string(q.state_cycle));
        }
        return;
    }
    ++checks[post_order];
    if (number != q.next_on_wire) {
        violate(post_order, q, cycle, "link",
                "WQE " + std::to_string(w.record.wqe_index) + " is on the wire, WQE " +
                    std::to_string(static_cast<std::uint16_t>(q.next_on_wire)) + " was next");
    }
    q.next_on_wire = number + 1;
}

void recorder::run_state::end(tracked_qp& q, std::uint16_t index, std::uint8_t status, bool has_cqe,
                              std::uint64_t cycle) {
    using ib::qp_state;
    constexpr auto success = static_cast<std::uint8_t>(ib::wc_status::success);
    constexpr auto flushed = static_cast<std::uint8_t>(ib::wc_status::wr_flush_err);
    ++checks[flush_complete];
    if (!q.was_rts && q.state != qp_state::err) {
        // After RESET the engine may have one in its hands, if the QP was sending or being flushed.
        const bool in_hand = q.state == qp_state::reset && q.before_stop != qp_state::rtr &&
                             q.before_stop != qp_state::init && q.before_stop != qp_state::reset &&
                             cycle <= q.state_cycle + slack_cycles;
        if (!in_hand) {
            violate(flush_complete, q, cycle, "send_engine",
                    "WQE " + std::to_string(index) + " ended in state " + std::string(ib::name(q.state)));
        }
        return;
    }
    const bool stopped = q.state == qp_state::err || q.state == qp_state::sqe;
    if (stopped && status != flushed && (q.flush_seen || !q.was_rts)) {
        violate(flush_complete, q, cycle, "send_engine",
                "WQE " + std::to_string(index) + " ended with status " + std::to_string(status) +
                    (q.flush_seen ? " after an older one was flushed" : " in a QP that never was in RTS"));
    } else if (!stopped && status == flushed && !q.failure_seen) {
        violate(flush_complete, q, cycle, "send_engine",
                "WQE " + std::to_string(index) + " was flushed in state " + std::string(ib::name(q.state)));
    }
    q.flush_seen = q.flush_seen || status == flushed;
    q.failure_seen = q.failure_seen || (status != flushed && status != success);
    q.latest_end_cycle = cycle;
    if (!q.posts_known) {
        if (q.has_ended && index != q.next_end_index) {
            violate(flush_complete, q, cycle, "send_engine",
                    "WQE " + std::to_string(index) + " ended, WQE " + std::to_string(q.next_end_index) +
                        " was next");
        }
        q.has_ended = true;
        q.next_end_index = static_cast<std::uint16_t>(index + 1);
        return;
    }
    const auto next = static_cast<std::uint16_t>(q.next_end);
    if (index != next || q.next_end == q.last) {
        const bool again = ib::index_distance(index, next) < 0;
        const bool unknown = !again && q.find(index) == nullptr;
        violate(flush_complete, q, cycle, "send_engine",
                "WQE " + std::to_string(index) +
                    (again     ? std::string(" ended twice")
                     : unknown ? std::string(" ended and was never posted")
                               : " ended before WQE " + std::to_string(next)));
        return;
    }
    send_slot& w = q.slot(q.next_end);
    ++q.next_end;
    w.record.ended = true;
    w.record.status = static_cast<ib::wc_status>(status);
    if (!has_cqe) {
        w.stamps.stamp(stage::completed, cycle);
    }
    if (status != success) {
        // What failed or was flushed need not come on the wire any more.
        q.next_on_wire = std::max(q.next_on_wire, q.next_end);
        q.next_whole = std::max(q.next_whole, q.next_end);
    }
    close_ended(q);
}

// CQEs become visible in the order in which they were made.
void recorder::run_state::close_ended(tracked_qp& q) {
    while (q.first != q.next_end) {
        send_slot& w = q.slot(q.first);
        if (w.stamps[stage::completed] == 0) {
            return;
        }
        count(q, w);
        if (w.record.status == ib::wc_status::success) {
            measure(q, w);
        }
        close(q, w);
        ++q.first;
    }
}

void recorder::run_state::count(tracked_qp& q, send_slot& w) {
    if (!q.is_data) {
        return;
    }
    switch (w.record.status) {
        case ib::wc_status::success:
            ++result.messages.completed;
            break;
        case ib::wc_status::wr_flush_err:
            ++result.messages.flushed;
            break;
        default:
            ++result.messages.failed;
            break;
    }
}

void recorder::run_state::close(tracked_qp& q, send_slot& w) {
    w.record.cycle = w.stamps.all();
    if (q.is_data && keep_wqes) {
        result.wqes[w.order] = w.record;
    }
}

void recorder::run_state::measure(const tracked_qp& q, send_slot& w) {
    if (!q.is_data) {
        return;
    }
    if (!gate_on_chip) {
        w.stamps.gate_in_context(q.gate_open ? q.gate_cycle : 0);
    }
    const send_stamps& at = w.stamps;
    wqe_record& r = w.record;
    ++checks[stages_add_up];
    if (const stage wrong = at.first_wrong(); wrong != stage::submitted) {
        const auto before = static_cast<stage>(static_cast<unsigned>(wrong) - 1);
        violate(stages_add_up, q, at[stage::completed], "hca",
                "WQE " + std::to_string(r.wqe_index) + " has no right end of " + std::string(name(wrong)) +
                    ": cycle " + std::to_string(at[wrong]) + ", and " + std::string(name(before)) +
                    " ended in cycle " + std::to_string(at[before]));
        return;
    }
    for (unsigned s = 1; s < stage_count; ++s) {
        result.stages[s].add(at.all()[s] - at.all()[s - 1]);
    }
    result.latency_cycles.add(at[stage::completed] - at[stage::submitted]);

    std::uint64_t wait = at[stage::gate] - at[stage::pending];
    if (w.waited_in_software) {
        wait = at[stage::posted] - at[stage::submitted];
    } else if (wait != 0) {
        r.waited_for = q.opener;
    }
    const bool waited = w.waited_in_software || wait != 0;
    if (waited) {
        ++result.gate.waited;
        result.gate.wait_cycles.add(wait);
    }
    if (r.command_arrived_cycle != 0) {
        const std::uint64_t wire = at[stage::wire];
        const std::uint64_t answer = wire > r.command_arrived_cycle ? wire - r.command_arrived_cycle : 0;
        result.gate.answer_cycles.add(answer);
        (waited ? result.gate.answer_waited_cycles : result.gate.answer_ideal_cycles).add(answer);
    }
}

// Wire

void recorder::run_state::packet(std::uint32_t host, const std::uint8_t* bytes, std::uint32_t size_bytes,
                                 std::uint32_t qpn, std::uint64_t cycle) {
    if (size_bytes < ib::lrh_bytes) {
        return;
    }
    const unsigned next_header = bytes[1] & 3u;  // LNH: 2 BTH, 3 GRH
    const std::size_t bth = next_header == 3 ? ib::lrh_bytes + ib::grh_bytes : ib::lrh_bytes;
    if (next_header < 2 || size_bytes < bth + ib::bth_bytes) {
        return;
    }
    const std::size_t lid = ib::load_be16(bytes + 6);
    if (lid >= host_of_lid.size()) {
        host_of_lid.resize(lid + 1);
    }
    host_of_lid[lid] = host + 1;
    const std::uint8_t op = bytes[bth];
    const std::uint32_t psn = ib::load_be24(bytes + bth + 9);
    tracked_qp& q = qp(host, qpn);
    if (ib::is_rc_request(op) || ib::is_ud(op)) {
        on_request(q, op, psn, cycle);
    } else if (ib::is_rc_response(op)) {
        on_response(q, cycle);
        const std::size_t peer_lid = ib::load_be16(bytes + 2);
        const std::uint32_t peer_host = peer_lid < host_of_lid.size() ? host_of_lid[peer_lid] : 0;
        if (op == ib::rc_acknowledge && peer_host != 0 &&
            size_bytes >= bth + ib::bth_bytes + ib::aeth_bytes) {
            const auto& peers = lookup[peer_host - 1].by_qpn;
            const auto peer = peers.find(ib::load_be24(bytes + bth + 5));
            if (peer != peers.end()) {
                // An ACK covers its own PSN, any NAK only those before it.
                const bool positive = bytes[bth + ib::bth_bytes] >> 5 == 0;
                peer->second->psns.acknowledged_on_wire(positive ? ib::psn_add(psn, 1) : psn);
            }
        }
    }
}

void recorder::run_state::on_request(tracked_qp& q, std::uint8_t op, std::uint32_t psn, std::uint64_t cycle) {
    const bool requester_on = q.state == ib::qp_state::rts || q.state == ib::qp_state::sqd;
    ++checks[request_state];
    if (!requester_on) {
        if (!q.requests_may_leave) {
            violate(request_state, q, cycle, "send_engine",
                    "request on the wire in state " + std::string(ib::name(q.state)));
            return;
        }
    }
    if (q.result.first_request_cycle == 0) {
        q.result.first_request_cycle = cycle;
        q.result.first_request_psn = psn;
    }
    if (!q.was_rts) {
        return;  // left over from before RESET
    }
    ++checks[request_psn];
    const std::uint32_t expected = q.psns.next();
    const psn_watch::verdict verdict = q.psns.on_request(psn, q.posts_known);
    switch (verdict) {
        case psn_watch::verdict::fresh:
            break;
        case psn_watch::verdict::repeated:
            ++events.request_repeated;
            return;
        default:
            violate(q.late_opener_seen ? late_opener_inert : request_psn, q, cycle, "send_engine",
                    "request with PSN 0x" + hex(psn, 6) +
                        (verdict == psn_watch::verdict::gap ? " leaves some out"
                         : verdict == psn_watch::verdict::repeat_unasked
                             ? " is sent again without go-back-N"
                             : " is sent again, and the HCA knows that it was acknowledged") +
                        ", the next new one is 0x" + hex(expected, 6) +
                        (q.late_opener_seen ? ", and a late opener came before it" : ""));
            return;
    }
    q.late_opener_seen = false;
    if (q.posts_known && q.whole_known && requester_on && (ib::is_last(op) || ib::is_only(op))) {
        ++checks[post_order];
        if (q.next_whole >= q.last) {
            violate(post_order, q, cycle, "send_engine", "more messages on the wire than were posted");
            return;
        }
        send_slot& w = q.slot(q.next_whole);
        w.last_psn = psn;
        w.has_last_psn = true;
        ++q.next_whole;
    }
}

void recorder::run_state::on_response(tracked_qp& q, std::uint64_t cycle) {
    ++checks[response_state];
    switch (q.state) {
        case ib::qp_state::rtr:
        case ib::qp_state::rts:
        case ib::qp_state::sqd:
        case ib::qp_state::sqe:
            return;
        default:
            break;
    }
    if (q.responses_allowed == 0) {
        violate(response_state, q, cycle, "receive_engine",
                "response on the wire in state " + std::string(ib::name(q.state)));
        return;
    }
    --q.responses_allowed;
}

// End of the run

void recorder::run_state::check_at_end(tracked_qp& q, std::uint64_t cycle, bool idle) {
    const auto is_lost = [&](std::uint64_t since) { return idle || cycle > since + lost_after_cycles; };
    if (q.state == ib::qp_state::rts && q.gate_reported && gate_on_chip) {
        ++checks[doorbell_monotone];
        if (!q.gate_open && is_lost(std::max(q.state_cycle, q.gate_cycle))) {
            violate(doorbell_monotone, q, cycle, "send_scheduler",
                    "the gate is closed, and the QP is in RTS since cycle " + std::to_string(q.state_cycle));
        }
    }
    if (q.next_end != q.last) {
        const send_slot& w = q.slot(q.next_end);
        const std::string wqe = "WQE " + std::to_string(w.record.wqe_index);
        const std::uint64_t pending = w.stamps[stage::pending];
        const std::uint64_t gate = w.stamps[stage::gate];
        const bool stopped = q.state == ib::qp_state::err || q.state == ib::qp_state::sqe;
        if (pending != 0 && stopped) {
            ++checks[flush_complete];
            if (is_lost(std::max({pending, q.state_cycle, q.latest_end_cycle}))) {
                violate(flush_complete, q, cycle, "send_engine", wqe + " was not flushed");
            }
        }
        // The oldest WQE of its QP: neither window nor retry can hold it.
        if (pending != 0 && q.state == ib::qp_state::rts && w.first_grant_cycle == 0 && q.gate_open) {
            ++checks[doorbell_monotone];
            if (is_lost(std::max({pending, gate, q.gate_cycle, q.latest_end_cycle}))) {
                violate(doorbell_monotone, q, cycle, "send_scheduler",
                        wqe + " is pending since cycle " + std::to_string(pending) +
                            ", the gate is open since cycle " + std::to_string(q.gate_cycle) +
                            ", and it was never granted");
            }
        }
        // Begun, and nothing is left to do that could end it; without a retry timer a lost packet may do
        // that.
        if (idle && w.first_grant_cycle != 0 && !stopped && q.was_rts) {
            ++checks[doorbell_monotone];
            if (!wire_loses) {
                violate(doorbell_monotone, q, cycle, "hca",
                        wqe + " was granted in cycle " + std::to_string(w.first_grant_cycle) +
                            " and never ended");
            }
        }
    }
    if (q.first != q.next_end) {
        const send_slot& w = q.slot(q.first);
        ++checks[stages_add_up];
        if (is_lost(q.latest_end_cycle)) {
            violate(
                stages_add_up, q, cycle, "completion_unit",
                "WQE " + std::to_string(w.record.wqe_index) + " has ended, and its CQE never became visible");
        }
    }
}

// Facade

recorder::recorder(std::uint32_t hosts) : m_state(new run_state) {
    for (std::uint32_t h = 0; h < hosts; ++h) {
        m_state->hosts.push_back(std::make_unique<host_observer>(*m_state, h));
    }
    reset(scenario_config{});
}

recorder::~recorder() = default;

void recorder::reset(const scenario_config& scenario) {
    run_state fresh;
    fresh.hosts = std::move(m_state->hosts);
    fresh.wave = std::move(m_state->wave);
    fresh.keep_packets = m_state->keep_packets;
    fresh.keep_wqes = m_state->keep_wqes;
    *m_state = std::move(fresh);
    run_state& s = *m_state;

    s.result.scenario = scenario.name;
    s.result.seed = scenario.seed;
    s.result.clock_mhz = scenario.hca.clock_mhz;
    constexpr const char* policies[] = {"hardware", "software", "reject"};
    s.result.gate_policy = policies[static_cast<unsigned>(scenario.policy)];
    constexpr const char* openers[] = {"rtu", "packet", "comm_est"};
    for (unsigned i = 0; i < 3; ++i) {
        if ((scenario.open_on >> i & 1u) != 0) {
            s.result.gate_open_on.emplace_back(openers[i]);
        }
    }
    s.open_on = scenario.open_on;
    s.gate_on_chip = scenario.hca.send_scheduler.location == gate_location::on_chip;
    for (const packet_class c : {packet_class::request, packet_class::response}) {
        const fault_config& f = scenario.hca.link.faults[static_cast<std::size_t>(c)];
        s.wire_loses = s.wire_loses || f.loss > 0 || f.corruption > 0 || f.hidden_corruption > 0;
    }
    s.slack_cycles = pipeline_slack_cycles * 1024 / (1024 - std::min(scenario.hca.stall_per_1024, 1023u));
    s.responses_in_flight =
        scenario.hca.link.tx_queue_packets + scenario.hca.receive_engine.slots + packets_between_blocks;

    std::uint32_t slots = 1;
    while (slots < scenario.hca.qps) {
        slots *= 2;
    }
    s.slot_mask = slots - 1;
    s.lookup.resize(s.hosts.size());
    for (auto& h : s.lookup) {
        h.by_slot.assign(slots, nullptr);
    }
}

observer& recorder::of_host(std::uint32_t host) { return *m_state->hosts.at(host); }

void recorder::set_wave(wave_function wave) { m_state->wave = std::move(wave); }
void recorder::set_tap(bool keep_packets) { m_state->keep_packets = keep_packets; }
void recorder::set_keep_wqes(bool keep) { m_state->keep_wqes = keep; }

void recorder::data_qp(std::uint32_t host, std::uint32_t qpn, bool passive) {
    run_state& s = *m_state;
    tracked_qp& q = s.qp(host, qpn);
    q.posts_known = true;
    q.result.passive = passive;
    if (q.is_data) {
        return;
    }
    q.is_data = true;
    s.data_qps.push_back(&q);
    if (s.wave && s.waved_qps < wave_qps) {
        ++s.waved_qps;
        const std::string prefix = "host" + std::to_string(host) + ".qp_" + hex(qpn, 6);
        s.draw(q.wave_state, prefix + ".state", 3, static_cast<std::uint64_t>(q.state), q.state_cycle);
        s.draw(q.wave_gate, prefix + ".gate_open", 1, q.gate_open ? 1 : 0, q.state_cycle);
        s.draw(q.wave_pending, prefix + ".pending", 1, 0, q.state_cycle);
    }
}

void recorder::message_posted(std::uint32_t host, std::uint32_t qpn, std::uint16_t wqe_index,
                              std::uint32_t bytes, std::uint64_t submitted_cycle, std::uint64_t posted_cycle,
                              std::uint64_t command_arrived_cycle) {
    run_state& s = *m_state;
    tracked_qp& q = s.qp(host, qpn);
    if (!q.posts_known) {
        // Watched from here on; what it sent before is not known.
        q.posts_known = true;
        q.whole_known = !q.has_ended && q.result.first_request_cycle == 0;
        q.first = q.last = q.next_on_wire = q.next_whole = q.next_end = wqe_index;
    }
    ++s.checks[post_order];
    if (wqe_index != static_cast<std::uint16_t>(q.last)) {
        s.violate(post_order, q, posted_cycle, "host software",
                  "WQE " + std::to_string(wqe_index) + " was posted, WQE " +
                      std::to_string(static_cast<std::uint16_t>(q.last)) + " was next");
        return;
    }
    if (q.last - q.first == q.ring.size()) {
        q.grow();
    }
    send_slot& w = q.slot(q.last);
    w = send_slot{};
    ++q.last;
    wqe_record& r = w.record;
    r.host = host;
    r.qpn = qpn;
    r.wqe_index = wqe_index;
    r.bytes = bytes;
    w.stamps.stamp(stage::submitted, submitted_cycle);
    w.stamps.stamp(stage::posted, posted_cycle);
    r.command_arrived_cycle = command_arrived_cycle;
    if (q.is_data) {
        ++s.result.messages.posted;
        if (s.keep_wqes) {
            w.order = s.result.wqes.size();
            s.result.wqes.push_back(r);
        }
    }
}

void recorder::message_rejected(std::uint32_t /*host*/, std::uint32_t /*qpn*/, std::uint64_t /*cycle*/) {
    ++m_state->result.gate.rejected_posts;
}

void recorder::message_delivered(std::uint32_t /*host*/, std::uint32_t /*qpn*/, std::uint64_t /*message_id*/,
                                 bool first_time, std::uint64_t /*cycle*/) {
    m_state->result.messages.duplicated += first_time ? 0 : 1;
}

void recorder::opener_seen(std::uint32_t host, std::uint32_t qpn, ib::gate_opener opener,
                           std::uint64_t cycle) {
    auto& seen = m_state->qp(host, qpn).seen_cycle[static_cast<unsigned>(opener)];
    if (seen == 0) {
        seen = cycle;
    }
}

void recorder::software_waited(std::uint32_t host, std::uint32_t qpn, std::uint16_t wqe_index,
                               ib::gate_opener opener) {
    if (send_slot* const w = m_state->qp(host, qpn).find(wqe_index)) {
        w->waited_in_software = true;
        w->record.waited_for = opener;
    }
}

bool recorder::violated() const { return m_state->result.invariants_violated != 0; }
const std::string& recorder::violation() const { return m_state->result.violation; }
std::uint64_t recorder::checks(unsigned invariant) const { return m_state->checks.at(invariant); }

run_result recorder::finish(std::uint64_t cycles,
                            const std::vector<std::pair<std::string, std::uint64_t>>& counters, bool idle) {
    run_state& s = *m_state;
    for (tracked_qp& q : s.qps) {
        s.check_at_end(q, cycles, idle);
        if (q.is_data && s.keep_wqes) {
            for (std::uint64_t n = q.first; n != q.last; ++n) {
                s.close(q, q.slot(n));
            }
        }
    }
    run_result& r = s.result;
    r.cycles = cycles;
    r.messages.outstanding =
        r.messages.posted - r.messages.completed - r.messages.failed - r.messages.flushed;
    for (tracked_qp* const q : s.data_qps) {
        qp_record& record = q->result;
        if (!record.openers.empty() && record.gate_open_cycle == 0) {
            record.gate_open_cycle =
                record.openers.front().second;  // gate bits in the context: the state is the gate
        }
        if (record.passive) {
            ++r.gate.opened_by[static_cast<unsigned>(record.opened_by)];
        }
        // Behind the winner, the others in the order of their cycles: when they reached the HCA, or else when
        // software saw them.
        const std::size_t winners = record.openers.size();
        for (unsigned o = 1; o < ib::gate_opener_count; ++o) {
            const auto opener = static_cast<ib::gate_opener>(o);
            const std::uint64_t cycle = q->late_cycle[o] != 0 ? q->late_cycle[o] : q->seen_cycle[o];
            if (cycle != 0 && (q->late_cycle[o] != 0 || opener != record.opened_by)) {
                record.openers.emplace_back(opener, cycle);
            }
        }
        std::stable_sort(record.openers.begin() + static_cast<std::ptrdiff_t>(winners), record.openers.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
        r.qps.push_back(record);
    }
    r.events = {{"comm_est", s.events.comm_est},
                {"gate_closed", s.events.gate_closed},
                {"gate_opened", s.events.gate_opened},
                {"late_opener", s.events.late_opener},
                {"packet_lost", s.events.packet_lost},
                {"qp_error", s.events.qp_error},
                {"request_repeated", s.events.request_repeated}};
    r.counters = counters;
    std::sort(r.counters.begin(), r.counters.end());
    for (unsigned rule = 1; rule < invariant_count; ++rule) {
        r.invariants_checked += s.checks[rule] != 0 ? 1 : 0;
    }
    run_result finished = std::move(r);
    r.violation = finished.violation;  // violation() still answers
    return finished;
}

}  // namespace hcasim
