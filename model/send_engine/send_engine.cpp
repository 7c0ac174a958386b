#include "model/send_engine/send_engine.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "model/clock/cycle_time.h"
#include "model/ib/crc.h"
#include "model/ib/psn.h"

namespace hcasim {

namespace {

constexpr std::uint32_t payload_cookie = 1u << 31;
constexpr std::uint32_t ignored_cookie = 1u << 30;

bool is_flushing(ib::qp_state state) { return state == ib::qp_state::err || state == ib::qp_state::sqe; }

}  // namespace

send_engine::send_engine(const sc_core::sc_module_name& name, clock_domain& domain, ib::packet_pool& pool)
    : clocked_module(name, domain),
      grant_i("grant_i", *this),
      update_o("update_o", *this),
      context_o("context_o", *this),
      context_i("context_i", *this),
      read_o("read_o", *this),
      read_i("read_i", *this),
      acknowledge_i("acknowledge_i", *this),
      sent_i("sent_i", *this),
      state_i("state_i", *this),
      completion_o("completion_o", *this),
      event_o("event_o", *this),
      m_pool(pool) {
    tick_directly<send_engine>();
    for (std::uint32_t vl = 0; vl < vls; ++vl) {
        m_packet_o.push_back(
            std::make_unique<out_port<ib::packet*>>(("packet_o_" + std::to_string(vl)).c_str(), *this));
    }
    const ib::qp_state targets[2] = {ib::qp_state::err, ib::qp_state::sqe};
    for (std::size_t i = 0; i < 2; ++i) {
        m_to_error[i].from_states =
            1u << static_cast<unsigned>(ib::qp_state::rts) | 1u << static_cast<unsigned>(ib::qp_state::sqd);
        m_to_error[i].to = targets[i];
    }
}

void send_engine::reset(const send_engine_config& config, std::uint32_t qps, std::uint16_t lid,
                        std::uint32_t data_vls, std::uint64_t clock_mhz, std::uint32_t timer_shift) {
    m_config = config;
    m_mask = qps - 1;
    m_lid = lid;
    m_data_vls = data_vls;
    m_clock_mhz = clock_mhz;
    m_timer_shift = timer_shift;
    for (std::uint32_t t = 0; t < 32; ++t) {
        m_timeout_cycles[t] = timer_cycles(t, timer_shift, clock_mhz);
    }
    m_qps.reset(qps);
    m_clocks.clear();
    m_free_clocks.clear();
    m_outstanding.reset(config.outstanding_messages);
    m_services.assign(config.slots, {});
    m_free_services.clear();
    for (std::uint32_t s = 0; s < config.slots; ++s) {
        m_free_services.push_back(s);
    }
    m_want_context.clear();
    m_want_wqes.clear();
    m_sending.clear();
    m_flush_wait.clear();
    m_flush.clear();
    m_window_wait.clear();
    m_gathered.clear();
    m_data_cursor = 0;
    for (auto& queue : m_emit) {
        queue.clear();
    }
    m_emit_count = 0;
    m_next_vl = 0;
    m_finished.clear();
    m_errors.clear();
    m_updates.clear();
    m_completions.clear();
    m_completions_made = 0;
    m_completions_pushed = 0;
    m_events.clear();
    m_sent.clear();
    m_timers = {};
    m_counters = {};
}

// Its steps are inlined by force: the compiler does not know that a member function has this one caller.
void send_engine::tick() {
    // What the edge brings, then what can go on, from the end of the pipeline to its start: a stage that is
    // freed in this cycle is not used twice.
    const std::uint64_t filled = filled_inputs();
    if (state_i.can_pop(filled)) {
        take_state(state_i.front());
        state_i.drop();
    }
    if (acknowledge_i.can_pop(filled)) {
        take_acknowledge(acknowledge_i.front());
        acknowledge_i.drop();
    }
    if (sent_i.can_pop(filled)) {
        m_sent.push_back(sent_i.front());
        sent_i.drop();
    }
    if (read_i.can_pop(filled)) {
        take_data(read_i.front().cookie);
        read_i.drop();
    }
    if (context_i.can_pop(filled)) {
        take_context(context_i.front());
        context_i.drop();
    }
    if (!m_sent.empty() || (!m_timers.empty() && m_timers.top().due <= now())) {
        run_timers();
    }
    bool again = (!m_flush.empty() || !m_flush_wait.empty()) && flush_outstanding();
    const bool has_packet = !m_gathered.empty() && !m_gathered.front().waits_for_data;
    again = ((has_packet || m_emit_count != 0) && emit()) || again;
    again = ((!m_want_wqes.empty() || !m_sending.empty()) && request_data()) || again;
    if (grant_i.can_pop(filled)) {
        take_grant();
    }
    if (!m_finished.empty() || !m_errors.empty() || !m_want_context.empty()) {
        again = request_contexts() || again;
    }
    if (!m_updates.empty() || !m_completions.empty() || !m_events.empty()) {
        again = drain_queues() || again;
    }
    if (again) {
        wake_next();
    }
}

// --- inputs
// -----------------------------------------------------------------------------------------------------------------------------

void send_engine::take_state(const state_event& e) {
    qp& q = at(e.qpn);
    if (e.created || e.state == ib::qp_state::reset) {
        forget_outstanding(q);
        const std::uint32_t epoch = q.epoch + 1;
        const std::uint16_t slot = q.slot;
        const std::uint32_t clock = q.clock;
        stop_clock(q);
        q = qp{};
        q.epoch = epoch;
        q.slot = slot;
        q.clock = clock;
        q.qpn = e.qpn;
        return;
    }
    q.state = e.state;
    if (is_flushing(e.state)) {
        give_back_service(q);
        ++q.epoch;
        q.dead = false;
        q.held = false;
        q.rewind = false;
        q.resend = false;
        stop_clock(q);
        if (!q.outstanding.empty()) {
            m_flush.push_back(e.qpn & m_mask);
        }
    }
    if (e.state == ib::qp_state::sqd) {
        q.notify_drained = e.notify_drained;
        check_drained(q);
    }
}

[[gnu::always_inline]] inline void send_engine::take_acknowledge(const acknowledge& a) {
    qp& q = at(a.qpn);
    // A PSN beyond all that was made is no answer to this QP's packets (a peer in another life may send one):
    // it acknowledges nothing.
    const bool beyond = !q.made_any || ib::psn_distance(a.psn, q.newest_psn) > 0;
    if (q.qpn != a.qpn || !ib::requester_is_on(q.state) || q.dead || q.outstanding.empty() || beyond) {
        ++m_counters.ignored_acks;
        return;
    }
    const std::uint8_t kind = a.syndrome >> 5;
    // ACK covers its PSN; a NAK of either sort covers what is before it.
    const std::uint32_t acked = kind == 0 ? a.psn : ib::psn_add(a.psn, ib::psn_mask);
    bool moved = false;
    while (!q.outstanding.empty() &&
           ib::psn_distance(acked, m_outstanding.front(q.outstanding).last_psn) >= 0) {
        retire_front(q, ib::wc_status::success);
        moved = true;
    }
    moved = moved || (!q.outstanding.empty() &&
                      ib::psn_distance(acked, m_outstanding.front(q.outstanding).first_psn) >= 0);
    if (moved) {
        progress(q);
    }
    if (kind != 0 && !q.outstanding.empty() &&
        ib::psn_distance(a.psn, m_outstanding.front(q.outstanding).first_psn) >= 0) {
        if (kind == 1) {
            ++m_counters.rnr_naks;
            if (q.rnr_left == 0) {
                fail(q, ib::wc_status::rnr_retry_exc_err, ib::qp_state::err);
            } else {
                q.rnr_left = (q.rnr_limit == 7 ? q.rnr_left : q.rnr_left - 1u) & 7u;
                rewind(q, true);
                const std::uint64_t wait_ns = ib::rnr_timer_ns(a.syndrome & 31u);
                set_rnr_wait(
                    q, now() + std::max<cycle_t>(1, ns_to_cycles(wait_ns, m_clock_mhz) >> m_timer_shift));
            }
        } else {
            switch (a.syndrome) {
                case ib::syndrome_nak_sequence:
                    ++m_counters.sequence_naks;
                    if (q.retry_left == 0) {
                        fail(q, ib::wc_status::retry_exc_err, ib::qp_state::err);
                    } else {
                        --q.retry_left;
                        rewind(q, false);
                    }
                    break;
                case ib::syndrome_nak_remote_access:
                    fail(q, ib::wc_status::rem_access_err, ib::qp_state::err);
                    break;
                case ib::syndrome_nak_remote_operational:
                    fail(q, ib::wc_status::rem_op_err, ib::qp_state::err);
                    break;
                default:
                    fail(q, ib::wc_status::rem_inv_req_err, ib::qp_state::err);
                    break;
            }
        }
    }
    check_drained(q);
}

[[gnu::always_inline]] inline void send_engine::take_context(const qpc_response& r) {
    if ((r.cookie & ignored_cookie) != 0) {
        return;
    }
    service& v = m_services[r.cookie];
    qp& q = at(v.grant.qpn);
    if (!r.known || v.epoch != q.epoch || (v.grant.flush != is_flushing(q.state))) {
        give_back_service(q);
        abort_service(r.cookie);
        return;
    }
    // The context may be older than the state: read before RTS was written into it, it has neither the PSN
    // nor the timers of RTS.
    if (!v.grant.flush && (!may_begin(q, v.grant.first) || !ib::requester_is_on(r.context.state))) {
        // Gate bits in the context, or closed since the grant: nothing of it has begun.
        q.next_index = v.grant.first;
        scheduler_update u;
        u.gate_was_closed = true;
        u.set_consumer = true;
        u.consumer = v.grant.first;
        finish(r.cookie, false, u);
        return;
    }
    v.context = r.context;
    if (is_watched(m_observer)) {
        for (std::uint16_t i = 0; i < v.grant.count; ++i) {
            m_observer->stamp(q.qpn, static_cast<std::uint16_t>(v.grant.first + i), stage::context, now());
        }
    }
    const ib::qp_attributes& a = r.context.attributes;
    q.timeout = a.timeout & 31u;
    q.retry_limit = a.retry_cnt & 7u;
    q.rnr_limit = a.rnr_retry & 7u;
    if (!q.loaded) {
        q.loaded = true;
        q.retry_left = q.retry_limit;
        q.rnr_left = q.rnr_limit;
    }
    v.next_psn = q.rewind ? q.first_psn : r.context.requester.next_psn;
    q.rewind = false;
    const std::uint32_t entries = 1u << r.context.resources.sq_log_entries;
    const std::uint32_t to_end = entries - (v.grant.first & (entries - 1));
    v.count = static_cast<std::uint16_t>(std::min<std::uint32_t>(v.grant.count, to_end));
    q.next_index = static_cast<std::uint16_t>(v.grant.first + v.count);
    v.at = phase::fetch;
    m_want_wqes.push_back(r.cookie);
}

[[gnu::always_inline]] inline void send_engine::take_data(std::uint32_t cookie) {
    if ((cookie & payload_cookie) != 0) {
        // Reads of one client are answered in order: it is the oldest packet that still waits.
        while (!m_gathered[m_data_cursor].waits_for_data) {
            ++m_data_cursor;
        }
        m_gathered[m_data_cursor++].waits_for_data = false;
        return;
    }
    service& v = m_services[cookie];
    qp& q = at(v.grant.qpn);
    if (v.epoch != q.epoch) {
        abort_service(cookie);
        return;
    }
    if (is_watched(m_observer)) {
        for (std::uint16_t i = 0; i < v.count; ++i) {
            m_observer->stamp(q.qpn, static_cast<std::uint16_t>(v.grant.first + i), stage::wqe, now());
        }
    }
    v.current = 0;
    v.offset_bytes = 0;
    if (v.grant.flush) {
        v.at = phase::flush_wait;
        m_flush_wait.push_back(cookie);
    } else {
        v.at = phase::sending;
        m_sending.push_back(cookie);
    }
}

[[gnu::always_inline]] inline void send_engine::take_grant() {
    if (m_free_services.empty()) {
        return;  // woken when one is free
    }
    const send_grant g = grant_i.pop();
    qp& q = at(g.qpn);
    if (q.qpn != g.qpn || q.slot != idle || g.first != q.next_index || q.dead ||
        g.flush != is_flushing(q.state)) {
        // Made before the scheduler knew of a rewind or a change of state.
        ++m_counters.stale_grants;
        scheduler_update u;
        u.qpn = g.qpn;
        u.end_service = true;
        if (q.qpn == g.qpn) {
            tell_consumer(u, q);
        }
        m_updates.push_back(u);
    } else {
        const std::uint32_t s = m_free_services.front();
        m_free_services.pop_front();
        service& v = m_services[s];
        v.grant = g;
        v.at = phase::context;
        v.epoch = q.epoch;
        ++v.generation;
        v.in_flight = 0;
        v.count = g.count;
        v.current = 0;
        v.offset_bytes = 0;
        v.used = true;
        q.slot = static_cast<std::uint16_t>(s);
        q.next_index = static_cast<std::uint16_t>(g.first + g.count);
        m_want_context.push_back(s);
    }
}

// --- pipeline
// -----------------------------------------------------------------------------------------------------------------------------

[[gnu::always_inline]] inline bool send_engine::request_contexts() {
    if (!context_o.can_push()) {
        return false;
    }
    // What ends grants goes before what begins them.
    if (!m_finished.empty()) {
        const finished& f = m_finished.front();
        const service& v = m_services[f.slot];
        qpc_request& r = context_o.push_slot();
        r.operation = qpc_operation::write_requester;
        r.qpn = v.grant.qpn;
        r.requester.next_psn = v.next_psn;
        r.requester.life = v.context.requester.life;
        end_service(f.slot, f.update);
        m_finished.pop_front();
    } else if (!m_errors.empty()) {
        context_o.push(m_errors.front());
        m_errors.pop_front();
    } else {
        const std::uint32_t s = m_want_context.front();
        m_want_context.pop_front();
        qpc_request& r = context_o.push_slot();
        r.operation = qpc_operation::read;
        r.qpn = m_services[s].grant.qpn;
        r.cookie = s;
    }
    return !m_finished.empty() || !m_errors.empty() || !m_want_context.empty();
}

// One DMA read per cycle: WQEs before payload, the grants in turn.
[[gnu::always_inline]] inline bool send_engine::request_data() {
    if (!m_want_wqes.empty()) {
        if (!read_o.can_push()) {
            return false;
        }
        const std::uint32_t s = m_want_wqes.front();
        m_want_wqes.pop_front();
        service& v = m_services[s];
        v.wqes.resize(std::max<std::size_t>(v.wqes.size(), v.count));
        const ib::qp_resources& r = v.context.resources;
        const std::uint32_t first = v.grant.first & ((1u << r.sq_log_entries) - 1);
        v.at = phase::wqes;
        read_o.push({r.sq_address + std::uint64_t{first} * sizeof(ib::send_wqe),
                     static_cast<std::uint32_t>(v.count * sizeof(ib::send_wqe)), s,
                     reinterpret_cast<std::uint8_t*>(v.wqes.data())});
        return !m_want_wqes.empty() || !m_sending.empty();
    }
    const std::size_t n = m_sending.size();
    for (std::size_t i = 0; i < n; ++i) {
        const std::uint32_t s = m_sending.front();
        m_sending.pop_front();
        service& v = m_services[s];
        const bool gathered_one = gather_next(s, v);
        if (v.used && v.at == phase::sending) {
            m_sending.push_back(s);
        }
        if (gathered_one) {
            // A packet without payload has nothing to wait for: no answer will wake this module for it.
            return !m_sending.empty() || !m_gathered.back().waits_for_data;
        }
    }
    return false;
}

// Goes one step on in a grant; true when a packet was begun.
[[gnu::always_inline]] inline bool send_engine::gather_next(std::uint32_t s, service& v) {
    qp& q = at(v.grant.qpn);
    if (v.epoch != q.epoch) {
        abort_service(s);
        return false;
    }
    const auto index = static_cast<std::uint16_t>(v.grant.first + v.current);
    if (v.offset_bytes == 0 && !may_begin(q, index)) {
        // Closed since the grant: no other message is begun.
        q.next_index = index;
        scheduler_update u;
        u.set_consumer = true;
        finish(s, true, u);
        return false;
    }
    if (v.in_flight >= m_config.payload_prefetch) {
        return false;  // emit() comes before this in the cycle in which it makes room
    }
    const ib::send_wqe& w = v.wqes[v.current];
    const std::uint32_t mtu = ib::mtu_bytes(v.context.attributes.path_mtu);
    const std::uint32_t rest = w.length_bytes - v.offset_bytes;
    const std::uint32_t bytes = std::min(rest, mtu);
    if (bytes != 0 && !read_o.can_push()) {
        return false;
    }
    if (v.offset_bytes == 0 && !begin_message(s, v, q, w, mtu)) {
        return false;
    }
    gather_packet(s, v, q, w, bytes);
    v.offset_bytes += bytes;
    if (v.offset_bytes == w.length_bytes) {
        v.offset_bytes = 0;
        ++v.current;
        const auto next = static_cast<std::uint16_t>(v.grant.first + v.current);
        if (v.current == v.count || !may_begin(q, next)) {
            q.next_index = next;
            scheduler_update u;
            u.set_consumer = v.current != v.grant.count;
            u.consumer = next;
            finish(s, true, u);
        }
    }
    return true;
}

// Checks what must hold before the first packet of a WQE; false when the grant waits or has ended here.
[[gnu::always_inline]] inline bool send_engine::begin_message(std::uint32_t s, service& v, qp& q,
                                                              const ib::send_wqe& w, std::uint32_t mtu) {
    const auto index = static_cast<std::uint16_t>(v.grant.first + v.current);
    const ib::service_type type = v.context.resources.service;
    const bool too_long = w.length_bytes > 1u << 31 || (type == ib::service_type::ud && w.length_bytes > mtu);
    if (w.wqe_index != index || w.opcode > 1 || too_long) {
        if (!q.outstanding.empty()) {
            return false;  // CQEs stay in order: the sends before it end first, and their end wakes this
                           // module
        }
        outstanding_send& bad = m_outstanding.push(q.outstanding);
        bad = {};
        bad.wr_id = w.wr_id;
        bad.cqn = v.context.resources.send_cqn;
        bad.length_bytes = w.length_bytes;
        bad.wqe_index = index;
        bad.first_psn = bad.last_psn = v.next_psn;
        fail(q, too_long ? ib::wc_status::loc_len_err : ib::wc_status::loc_qp_op_err,
             type == ib::service_type::ud ? ib::qp_state::sqe : ib::qp_state::err);
        q.next_index = static_cast<std::uint16_t>(index + 1);
        abort_service(s);
        return false;
    }
    if (q.outstanding.count() >= m_config.window_messages || m_outstanding.full()) {
        ++m_counters.window_holds;
        q.held = true;
        if (m_outstanding.full()) {
            m_window_wait.push_back(v.grant.qpn & m_mask);
        }
        q.next_index = index;
        scheduler_update u;
        u.set_consumer = true;
        u.consumer = index;
        u.hold = scheduler_update::hold_t::hold;
        finish(s, true, u);
        return false;
    }
    const std::uint32_t packets = w.length_bytes == 0 ? 1 : (w.length_bytes + mtu - 1) / mtu;
    outstanding_send& o = m_outstanding.push(q.outstanding);
    o.wr_id = w.wr_id;
    o.cqn = v.context.resources.send_cqn;
    o.length_bytes = w.length_bytes;
    o.wqe_index = index;
    o.signaled = (w.flags & ib::wqe_signaled) != 0;
    o.first_psn = v.next_psn;
    o.last_psn = ib::psn_add(v.next_psn, packets - 1);
    q.resend = q.resend && ib::index_distance(q.resend_until, static_cast<std::uint16_t>(index + 1)) > 0;
    ++m_counters.messages;
    return true;
}

[[gnu::always_inline]] inline void send_engine::gather_packet(std::uint32_t s, service& v, const qp& q,
                                                              const ib::send_wqe& w, std::uint32_t bytes) {
    const ib::qp_attributes& a = v.context.attributes;
    const bool first = v.offset_bytes == 0;
    const bool last = v.offset_bytes + bytes == w.length_bytes;
    const bool ud = v.context.resources.service == ib::service_type::ud;
    ib::headers h;
    h.sl = ud ? w.sl : a.sl;
    h.vl = static_cast<std::uint8_t>(h.sl % m_data_vls);
    h.slid = m_lid;
    h.dlid = ud ? w.remote_lid : a.dlid;
    h.pkey = a.pkey;
    h.psn = v.next_psn;
    const bool immediate = w.opcode == 1 && last;
    if (ud) {
        h.op = immediate ? ib::ud_send_only_imm : ib::ud_send_only;
        h.dest_qpn = w.remote_qpn;
        h.qkey = w.remote_qkey;
        h.src_qpn = q.qpn;
    } else {
        h.migrated = true;  // no alternate path is loaded: the state is "migrated" (IBTA 17.2.8)
        h.dest_qpn = a.dest_qpn;
        h.ack_request = last;
        if (first) {
            h.op = !last ? ib::rc_send_first : immediate ? ib::rc_send_only_imm : ib::rc_send_only;
        } else {
            h.op = !last ? ib::rc_send_middle : immediate ? ib::rc_send_last_imm : ib::rc_send_last;
        }
    }
    h.immediate = immediate ? w.immediate : 0;
    h.solicited = last && (w.flags & ib::wqe_solicited) != 0;
    ib::packet* p = m_pool.get();
    p->size_bytes = static_cast<std::uint32_t>(ib::packet_bytes(h, bytes));
    const std::size_t offset = ib::encode(h, bytes, p->bytes);
    p->vl = h.vl;
    p->op = h.op;
    p->qpn = q.qpn;
    p->psn = h.psn;
    p->has_wqe = true;
    p->wqe_index = static_cast<std::uint16_t>(v.grant.first + v.current);
    p->starts_message = first;
    p->ends_message = last;
    p->retransmitted = q.began && ib::index_distance(p->wqe_index, q.newest_sent) <= 0;
    if (bytes != 0) {
        read_o.push({w.address + v.offset_bytes, bytes, payload_cookie, p->bytes + offset});
    }
    gathered& g = m_gathered.push_slot();
    g.packet = p;
    g.slot = s;
    g.generation = v.generation;
    g.epoch = v.epoch;
    g.waits_for_data = bytes != 0;
    ++v.in_flight;
    v.next_psn = ib::psn_add(v.next_psn, 1);
}

// Finishes the oldest gathered packet when its data is there, and hands one packet to a VL queue.
[[gnu::always_inline]] inline bool send_engine::emit() {
    if (!m_gathered.empty() && !m_gathered.front().waits_for_data) {
        const gathered g = m_gathered.front();
        m_gathered.pop_front();
        m_data_cursor -= m_data_cursor != 0 ? 1 : 0;
        qp& q = at(g.packet->qpn);
        if (g.epoch != q.epoch || q.qpn != g.packet->qpn) {
            left_service(g);
            ++m_counters.dropped_packets;
            m_pool.put(g.packet);
        } else {
            ib::packet* p = g.packet;
            ib::seal(p->bytes, p->size_bytes);
            if (p->starts_message && is_watched(m_observer)) {
                m_observer->stamp(p->qpn, p->wqe_index, stage::payload, now());
            }
            if (!q.made_any || ib::psn_distance(p->psn, q.newest_psn) > 0) {
                q.newest_psn = p->psn;
            }
            q.made_any = true;
            p->queued_cycle = now();
            m_emit[p->vl].push_back(g);
            ++m_emit_count;
            if (p->ends_message) {
                if (!q.began || ib::index_distance(p->wqe_index, q.newest_sent) > 0) {
                    q.newest_sent = p->wqe_index;
                }
                q.began = true;
                if (!ib::is_ud(p->op) && q.timeout != 0 && times(q).deadline == 0) {
                    set_deadline(q);
                }
            }
        }
    }
    bool handed_on = false;
    if (m_emit_count != 0) {
        for (std::uint32_t i = 0; i < m_data_vls; ++i) {
            const std::uint32_t vl = m_next_vl + i < m_data_vls ? m_next_vl + i : m_next_vl + i - m_data_vls;
            if (m_emit[vl].empty() || !packet_o(vl).can_push()) {
                continue;
            }
            packet_o(vl).push(m_emit[vl].front().packet);
            left_service(m_emit[vl].front());
            m_emit[vl].pop_front();
            --m_emit_count;
            ++m_counters.packets;
            m_next_vl = vl + 1 == m_data_vls ? 0 : vl + 1;
            handed_on = true;
            break;
        }
    }
    return (!m_gathered.empty() && !m_gathered.front().waits_for_data) || (handed_on && m_emit_count > 0);
}

// --- ends
// -----------------------------------------------------------------------------------------------------------------------------

// SQD lets what had begun before a rewind be sent again and nothing else begin.
bool send_engine::may_begin(const qp& q, std::uint16_t index) {
    return q.state == ib::qp_state::rts ||
           (q.state == ib::qp_state::sqd && q.resend && ib::index_distance(q.resend_until, index) > 0);
}

// Where the scheduler is to go on, and what of it SQD does not hold.
void send_engine::tell_consumer(scheduler_update& u, const qp& q) {
    u.set_consumer = true;
    u.consumer = q.next_index;
    u.resend = q.resend && ib::index_distance(q.resend_until, q.next_index) > 0;
    u.resend_until = q.resend_until;
}

// A packet has left for its VL queue or was dropped: its grant may read for another one.
[[gnu::always_inline]] inline void send_engine::left_service(const gathered& g) {
    service& v = m_services[g.slot];
    if (v.used && v.generation == g.generation) {
        --v.in_flight;
    }
}

// What the QP's present grant has not begun is the next to be granted. A grant of an older epoch has no say:
// a rewind has set the index already.
void send_engine::give_back_service(qp& q) {
    if (q.slot != idle && m_services[q.slot].at != phase::ended && m_services[q.slot].epoch == q.epoch) {
        q.next_index = first_not_begun(m_services[q.slot]);
    }
}

void send_engine::forget_outstanding(qp& q) {
    const std::uint32_t entries = q.outstanding.count();
    m_outstanding.clear(q.outstanding);
    for (std::uint32_t i = 0; i < entries; ++i) {
        wake_window_waiter();
    }
}

// An entry of the shared list is free: the first QP that still waits for one goes on.
void send_engine::wake_window_waiter() {
    bool released = false;
    while (!released && !m_window_wait.empty()) {
        qp& waiting = m_qps[m_window_wait.front()];
        m_window_wait.pop_front();
        released = waiting.held && times(waiting).rnr_until == 0;
        release(waiting);
    }
}

std::uint16_t send_engine::first_not_begun(const service& v) const {
    if (v.at != phase::sending && v.at != phase::flush_wait) {
        return v.grant.first;
    }
    return static_cast<std::uint16_t>(v.grant.first + v.current + (v.offset_bytes != 0 ? 1 : 0));
}

void send_engine::abort_service(std::uint32_t s) {
    const service& v = m_services[s];
    const qp& q = at(v.grant.qpn);
    scheduler_update u;
    u.set_consumer = q.qpn == v.grant.qpn;
    u.consumer = q.next_index;
    finish(s, false, u);
}

void send_engine::finish(std::uint32_t s, bool write, const scheduler_update& update) {
    service& v = m_services[s];
    v.at = phase::ended;
    if (write) {
        m_finished.push_back({s, update});
    } else {
        end_service(s, update);
    }
}

void send_engine::end_service(std::uint32_t s, scheduler_update update) {
    service& v = m_services[s];
    qp& q = at(v.grant.qpn);
    update.qpn = v.grant.qpn;
    update.end_service = true;
    if (update.set_consumer) {
        // A rewind or a reset may have come after the grant was ended.
        tell_consumer(update, q);
    }
    if (update.hold == scheduler_update::hold_t::hold && !q.held) {
        update.hold = scheduler_update::hold_t::keep;  // released in the meantime
    }
    m_updates.push_back(update);
    v.used = false;
    q.slot = idle;
    if (m_free_services.empty()) {
        wake_next();  // a grant may have come that found no slot
    }
    m_free_services.push_back(s);
    check_drained(q);
}

[[gnu::always_inline]] inline void send_engine::retire_front(qp& q, ib::wc_status status) {
    const outstanding_send o = m_outstanding.front(q.outstanding);
    m_outstanding.pop(q.outstanding);
    if (is_watched(m_observer) && status == ib::wc_status::success) {
        m_observer->stamp(q.qpn, o.wqe_index, stage::acked, now());
    }
    complete(q.qpn, o, status);
    wake_window_waiter();
}

[[gnu::always_inline]] inline void send_engine::complete(std::uint32_t qpn, const outstanding_send& o,
                                                         ib::wc_status status) {
    const bool has_cqe = o.signaled || status != ib::wc_status::success;
    if (is_watched(m_observer)) {
        m_observer->wqe_ended(qpn, o.wqe_index, static_cast<std::uint8_t>(status), has_cqe, now());
        if (!has_cqe) {
            m_observer->stamp(qpn, o.wqe_index, stage::completed, now());
        }
    }
    m_counters.flushed += status == ib::wc_status::wr_flush_err ? 1 : 0;
    if (!has_cqe) {
        return;
    }
    finished_send& f = m_completions.push_slot();
    f.wr_id = o.wr_id;
    f.qpn = qpn;
    f.cqn = o.cqn;
    f.length_bytes = o.length_bytes;
    f.wqe_index = o.wqe_index;
    f.status = status;
    ++m_completions_made;
}

[[gnu::always_inline]] inline void send_engine::progress(qp& q) {
    q.retry_left = q.retry_limit;
    q.rnr_left = q.rnr_limit;
    if (q.outstanding.empty() || q.timeout == 0) {
        stop_deadline(q);
    } else {
        set_deadline(q);
    }
    if (q.held && times(q).rnr_until == 0 && q.outstanding.count() < m_config.window_messages) {
        release(q);
    }
}

void send_engine::release(qp& q) {
    if (!q.held || times(q).rnr_until != 0) {
        return;
    }
    q.held = false;
    scheduler_update u;
    u.qpn = q.qpn;
    u.hold = scheduler_update::hold_t::release;
    m_updates.push_back(u);
}

// Go-back-N to the oldest unacknowledged message: its WQE is the next to be granted and gets its PSN again.
void send_engine::rewind(qp& q, bool hold) {
    const outstanding_send& oldest = m_outstanding.front(q.outstanding);
    const auto begun = static_cast<std::uint16_t>(m_outstanding.back(q.outstanding).wqe_index + 1);
    if (!q.resend || ib::index_distance(begun, q.resend_until) > 0) {
        q.resend_until = begun;
    }
    q.resend = true;
    ++m_counters.rewinds;
    ++q.epoch;
    q.rewind = true;
    q.first_psn = oldest.first_psn;
    q.next_index = oldest.wqe_index;
    stop_deadline(q);
    forget_outstanding(q);
    scheduler_update u;
    u.qpn = q.qpn;
    tell_consumer(u, q);
    if (hold || q.held) {
        u.hold = hold ? scheduler_update::hold_t::hold : scheduler_update::hold_t::release;
        q.held = hold;
    }
    m_updates.push_back(u);
}

// The oldest unacknowledged send ends with `status` and the QP goes to an error state; the rest is flushed
// when the state has changed.
void send_engine::fail(qp& q, ib::wc_status status, ib::qp_state to) {
    give_back_service(q);
    retire_front(q, status);
    q.dead = true;
    ++q.epoch;
    stop_deadline(q);
    qpc_request r;
    r.operation = qpc_operation::modify;
    r.qpn = q.qpn;
    r.cookie = ignored_cookie;
    r.modify = &m_to_error[to == ib::qp_state::sqe ? 1 : 0];
    m_errors.push_back(r);
}

bool send_engine::flush_outstanding() {
    if (!m_flush.empty()) {
        qp& q = m_qps[m_flush.front()];
        if (!q.outstanding.empty() && is_flushing(q.state)) {
            retire_front(q, ib::wc_status::wr_flush_err);
        }
        if (q.outstanding.empty() || !is_flushing(q.state)) {
            m_flush.pop_front();
        }
    }
    const std::size_t n = m_flush_wait.size();
    for (std::size_t i = 0; i < n; ++i) {
        const std::uint32_t s = m_flush_wait.front();
        m_flush_wait.pop_front();
        service& v = m_services[s];
        qp& q = at(v.grant.qpn);
        if (v.epoch != q.epoch) {
            abort_service(s);
            continue;
        }
        if (!q.outstanding.empty()) {
            m_flush_wait.push_back(s);
            continue;
        }
        const ib::send_wqe& w = v.wqes[v.current];
        outstanding_send o;
        o.wr_id = w.wr_id;
        o.cqn = v.context.resources.send_cqn;
        o.length_bytes = w.length_bytes;
        o.wqe_index = static_cast<std::uint16_t>(v.grant.first + v.current);
        complete(q.qpn, o, ib::wc_status::wr_flush_err);
        ++v.current;
        if (v.current == v.count) {
            q.next_index = static_cast<std::uint16_t>(v.grant.first + v.current);
            scheduler_update u;
            u.set_consumer = v.current != v.grant.count;
            finish(s, false, u);
        } else {
            m_flush_wait.push_back(s);
        }
        break;  // one CQE per cycle
    }
    return !m_flush.empty() || !m_flush_wait.empty();
}

const send_engine::qp_clock& send_engine::times(const qp& q) const {
    static constexpr qp_clock stopped{};
    return q.clock == none ? stopped : m_clocks[q.clock];
}

send_engine::qp_clock& send_engine::clock_of(qp& q) {
    if (q.clock == none) {
        if (m_free_clocks.empty()) {
            m_free_clocks.push_back(static_cast<std::uint32_t>(m_clocks.size()));
            m_clocks.emplace_back();
        }
        q.clock = m_free_clocks.back();
        m_free_clocks.pop_back();
        m_clocks[q.clock] = {};
    }
    return m_clocks[q.clock];
}

void send_engine::set_deadline(qp& q) {
    qp_clock& c = clock_of(q);
    c.deadline = now() + m_timeout_cycles[q.timeout];
    arm_timer(q, c, c.deadline);
}

void send_engine::set_rnr_wait(qp& q, cycle_t until) {
    qp_clock& c = clock_of(q);
    c.rnr_until = until;
    arm_timer(q, c, until);
}

void send_engine::stop_deadline(qp& q) {
    if (q.clock != none) {
        m_clocks[q.clock].deadline = 0;
    }
}

void send_engine::stop_clock(qp& q) {
    if (q.clock != none) {
        m_clocks[q.clock].deadline = 0;
        m_clocks[q.clock].rnr_until = 0;
    }
}

// One entry per QP is in the heap; a deadline that moves back is looked at again when the entry comes up.
void send_engine::arm_timer(const qp& q, qp_clock& c, cycle_t due) {
    if (c.armed != 0 && c.armed <= due) {
        return;
    }
    c.armed = due;
    m_timers.push({due, q.qpn & m_mask});
    wake_at(due);
}

void send_engine::run_timers() {
    while (!m_timers.empty() && m_timers.top().due <= now()) {
        const timer t = m_timers.top();
        m_timers.pop();
        qp& q = m_qps[t.slot];
        if (q.clock == none) {
            continue;  // an entry that was left behind by an earlier one
        }
        const std::uint32_t clock = q.clock;
        if (m_clocks[clock].armed == t.due) {
            m_clocks[clock].armed = 0;
        }
        if (m_clocks[clock].rnr_until != 0 && m_clocks[clock].rnr_until <= now()) {
            m_clocks[clock].rnr_until = 0;
            release(q);
        }
        if (m_clocks[clock].deadline != 0 && m_clocks[clock].deadline <= now()) {
            m_clocks[clock].deadline = 0;
            if (!q.outstanding.empty() && ib::requester_is_on(q.state) && !q.dead) {
                ++m_counters.timeouts;
                if (q.retry_left == 0) {
                    fail(q, ib::wc_status::retry_exc_err, ib::qp_state::err);
                } else {
                    --q.retry_left;
                    rewind(q, false);
                }
            }
        }
        qp_clock& c = m_clocks[clock];
        if (c.rnr_until != 0) {
            arm_timer(q, c, c.rnr_until);
        }
        if (c.deadline != 0) {
            arm_timer(q, c, c.deadline);
        }
        if (c.armed == 0) {
            q.clock = none;
            m_free_clocks.push_back(clock);
        }
    }
    if (!m_sent.empty()) {
        if (m_sent.front().last_byte_cycle > now()) {
            wake_at(m_sent.front().last_byte_cycle);
        } else {
            const sent_notice n = m_sent.front();
            m_sent.pop_front();
            qp& q = at(n.qpn);
            if (q.qpn == n.qpn && !q.outstanding.empty() &&
                m_outstanding.front(q.outstanding).wqe_index == n.wqe_index) {
                retire_front(q, ib::wc_status::success);
                progress(q);
                check_drained(q);
            } else if (q.qpn == n.qpn && !q.outstanding.empty()) {
                // A send before it on another VL has not left yet: CQEs stay in order.
                m_sent.push_back(n);
            }
            if (!m_sent.empty()) {
                wake_at(std::max(m_sent.front().last_byte_cycle, now() + 1));
            }
        }
    }
}

void send_engine::check_drained(qp& q) {
    if (q.state == ib::qp_state::sqd && q.notify_drained && q.outstanding.empty() && q.slot == idle &&
        !q.rewind && !q.resend) {
        q.notify_drained = false;
        m_events.push_back({{ib::event_type::sq_drained, q.qpn}, m_completions_made});
        wake_next();
    }
}

[[gnu::always_inline]] inline bool send_engine::drain_queues() {
    bool more = false;
    if (!m_updates.empty() && update_o.can_push()) {
        update_o.push(m_updates.front());
        m_updates.pop_front();
        more = more || !m_updates.empty();
    }
    if (!m_completions.empty() && completion_o.can_push()) {
        const finished_send& f = m_completions.front();
        completion& c = completion_o.push_slot();
        c.cqn = f.cqn;
        c.entry = {};
        c.entry.wr_id = f.wr_id;
        c.entry.qpn = f.qpn;
        c.entry.length_bytes = f.length_bytes;
        c.entry.wqe_index = f.wqe_index;
        c.entry.status = f.status;
        m_completions.pop_front();
        ++m_completions_pushed;
        more = more || !m_completions.empty();
    }
    // SQ_DRAINED comes behind the CQEs that it tells of.
    if (!m_events.empty() && m_events.front().after <= m_completions_pushed && event_o.can_push()) {
        event_o.push(m_events.front().what);
        m_events.pop_front();
        more = more || !m_events.empty();
    }
    return more;
}

}  // namespace hcasim
