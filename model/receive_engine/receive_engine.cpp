#include "model/receive_engine/receive_engine.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "model/ib/crc.h"
#include "model/ib/psn.h"

namespace hcasim {

namespace {

constexpr std::uint32_t flush_cookie = 1u << 30;
constexpr std::uint32_t infer_cookie = 1u << 31;
constexpr std::uint32_t error_cookie = 1u << 29;

bool is_flushing(ib::qp_state state) { return state == ib::qp_state::err; }

// Receive WQEs of 24-bit MSN credits (IBTA table 46): codes 0..30 stand for 0, 1, 2, 3, 4, 6, 8, 12, 16 ...
std::uint8_t credit_code(std::uint32_t available) {
    std::uint8_t code = 0;
    for (std::uint8_t c = 1; c < 31; ++c) {
        const std::uint32_t value = c < 2 ? c : c % 2 == 0 ? 1u << c / 2 : 3u << (c - 3) / 2;
        if (value <= available) {
            code = c;
        }
    }
    return code;
}

}  // namespace

receive_engine::receive_engine(const sc_core::sc_module_name& name, clock_domain& domain,
                               ib::packet_pool& pool)
    : clocked_module(name, domain),
      packet_i("packet_i", *this),
      doorbell_i("doorbell_i", *this),
      state_i("state_i", *this),
      context_o("context_o", *this),
      context_i("context_i", *this),
      read_o("read_o", *this),
      read_i("read_i", *this),
      write_o("write_o", *this),
      acknowledge_o("acknowledge_o", *this),
      completion_o("completion_o", *this),
      event_o("event_o", *this),
      m_pool(pool) {
    tick_directly<receive_engine>();
    for (std::uint32_t vl = 0; vl < vls; ++vl) {
        m_packet_o.push_back(
            std::make_unique<out_port<ib::packet*>>(("packet_o_" + std::to_string(vl)).c_str(), *this));
    }
    const auto bit = [](ib::qp_state s) { return 1u << static_cast<unsigned>(s); };
    m_to_error.from_states =
        bit(ib::qp_state::rtr) | bit(ib::qp_state::rts) | bit(ib::qp_state::sqd) | bit(ib::qp_state::sqe);
    m_to_error.to = ib::qp_state::err;
    m_infer.from_states = bit(ib::qp_state::rtr);
    m_infer.to = ib::qp_state::rts;
    m_infer.needs_rts_attributes = true;
    m_infer.reason = ib::gate_opener::packet;
}

void receive_engine::reset(const receive_engine_config& config, std::uint32_t qps, std::uint16_t lid,
                           std::uint32_t data_vls) {
    m_config = config;
    m_mask = qps - 1;
    m_lid = lid;
    m_data_vls = data_vls;
    m_qps.reset(qps);
    m_replies.clear();
    m_active.assign(config.slots, {});
    m_free_active.assign((config.slots + 63) / 64, ~std::uint64_t{0});
    m_slots.assign(config.slots, {});
    m_oldest = 0;
    m_count = 0;
    m_decided = 0;
    m_requests.clear();
    m_completions.clear();
    m_events.clear();
    for (auto& waiting : m_waiting_replies) {
        waiting.clear();
    }
    m_waiting_vls = 0;
    m_flush.clear();
    m_flush_step = flush_step::context;
    m_counters = {};
}

// Its steps are inlined by force: the compiler does not know that a member function has this one caller.
void receive_engine::tick() {
    if (state_i.can_pop()) {
        take_state(state_i.pop());
    }
    if (doorbell_i.can_pop()) {
        const receive_doorbell d = doorbell_i.pop();
        qp& q = at(d.qpn);
        if (q.qpn == d.qpn && ib::index_distance(d.producer, q.producer) > 0) {
            q.producer = d.producer;
            if (is_flushing(q.state) && !q.flushing) {
                q.flushing = true;
                m_flush.push_back(d.qpn & m_mask);
            }
        }
    }
    if (context_i.can_pop()) {
        take_context(context_i.front());
        context_i.drop();
    }
    if (read_i.can_pop()) {
        const std::uint32_t cookie = read_i.pop().cookie;
        if (cookie == flush_cookie) {
            m_flush_step = flush_step::complete;
        } else {
            m_slots[cookie].wqe_here = true;
        }
    }
    const std::size_t slots_before = m_count;
    if (m_waiting_vls != 0) {
        send_waiting_replies();
    }
    bool again = complete();
    again = decide() || again;
    again = take_packet() || again;
    if (is_watched(m_observer) && m_count != slots_before) {
        m_observer->level(level_of::packets_at_work, m_count, now());
    }
    again = run_flush() || again;
    again = drain_queues() || again;
    if (again) {
        wake_next();
    }
}

void receive_engine::take_state(const state_event& e) {
    qp& q = at(e.qpn);
    if (e.created || e.state == ib::qp_state::reset) {
        const std::uint16_t active_index = q.active;
        const bool flushing = q.flushing;
        if (q.reply_waits) {
            m_pool.put(take_reply(q));
        }
        q = qp{};
        q.qpn = e.qpn;
        q.active = active_index;
        q.flushing = flushing;
        if (active_index != idle) {
            m_active[active_index].known = false;  // what is in the engine belongs to the life that has ended
        }
    }
    q.state = e.state;
    q.error_asked = q.error_asked && !is_flushing(e.state);
    if (is_flushing(e.state) && !q.flushing) {
        q.flushing = true;
        m_flush.push_back(e.qpn & m_mask);
    }
}

// --- arrival
// ------------------------------------------------------------------------------------------------------------------------------

// True when the packet can be decided in the next cycle: its QP's responder half is here already, so no
// context will wake this module for it.
[[gnu::always_inline]] inline bool receive_engine::take_packet() {
    if (m_count == m_slots.size() || !packet_i.can_pop()) {
        return false;
    }
    ib::packet* p = packet_i.pop();
    ++m_counters.packets;
    slot& s = slot_at(m_count);
    s.d = ib::decode(p->bytes, p->size_bytes);
    const ib::decoded_packet& d = s.d;
    const bool icrc_good = ib::icrc_is_good(p->bytes, p->size_bytes);
    if (!d.good || !icrc_good || d.h.dlid != m_lid) {
        ++(!icrc_good ? m_counters.icrc_errors : m_counters.bad_packets);
        m_pool.put(p);
        return false;
    }
    qp& q = at(d.h.dest_qpn);
    if (q.active != idle && m_active[q.active].qpn != d.h.dest_qpn) {
        ++m_counters.unknown_qp;  // an older or newer life of the slot is in the engine
        m_pool.put(p);
        return false;
    }
    s.packet = p;
    s.what = action::undecided;
    s.needs_wqe = false;
    s.wqe_here = false;
    s.first = false;
    s.last = false;
    s.to_error = false;
    s.syndrome = 0;
    s.reply_psn = 0;
    s.msn = 0;
    s.wqe_index = 0;
    ++m_count;
    if (q.active == idle) {
        const std::uint32_t i = take_active();
        active& a = m_active[i];
        a.qpn = d.h.dest_qpn;
        a.users = 0;
        a.here = false;
        a.known = false;
        a.dirty = false;
        a.refusing = false;
        a.failed = false;
        q.active = static_cast<std::uint16_t>(i);
        qpc_request& r = m_requests.push_slot();
        r.operation = qpc_operation::read;
        r.qpn = d.h.dest_qpn;
        r.cookie = i;
    }
    s.active = q.active;
    ++m_active[q.active].users;
    return m_active[q.active].here;
}

// Index of a free entry of m_active: there are as many as slots.
[[gnu::always_inline]] inline std::uint32_t receive_engine::take_active() {
    std::uint32_t word = 0;
    while (m_free_active[word] == 0) {
        ++word;
    }
    const std::uint64_t free = m_free_active[word];
    m_free_active[word] = free & (free - 1);
    return word * 64 + static_cast<std::uint32_t>(__builtin_ctzll(free));
}

[[gnu::always_inline]] inline void receive_engine::take_context(const qpc_response& r) {
    if (r.cookie == error_cookie) {
        return;
    }
    if (r.cookie == infer_cookie) {
        if (r.applied) {
            m_events.push_back({ib::event_type::qp_inferred_rts, r.context.qpn});
        }
        return;
    }
    if (r.cookie == flush_cookie) {
        m_flush_context = r.context;
        m_flush_known = r.known;
        m_flush_step = flush_step::fetch;
        return;
    }
    active& a = m_active[r.cookie];
    a.here = true;
    a.known = r.known;
    a.context = r.context;
}

// --- decision, in order
// -------------------------------------------------------------------------------------------------------------------

bool receive_engine::decide() {
    if (m_decided == m_count) {
        return false;
    }
    slot& s = slot_at(m_decided);
    active& a = m_active[s.active];
    if (!a.here) {
        return false;  // the context's arrival wakes this module
    }
    if (!decide(s, a, at(a.qpn))) {
        return false;  // a channel without room wakes this module
    }
    ++m_decided;
    return true;
}

bool receive_engine::decide(slot& s, active& a, qp& q) {
    const ib::headers& h = s.d.h;
    const auto drop = [&s](std::uint64_t& counter) {
        ++counter;
        s.what = action::drop;
        return true;
    };
    if (!a.known || q.qpn != a.qpn) {
        return drop(m_counters.unknown_qp);
    }
    const ib::qp_context& c = a.context;
    const bool rc = c.resources.service == ib::service_type::rc;
    if (rc == ib::is_ud(h.op) || h.pkey != c.attributes.pkey || (rc && h.slid != c.attributes.dlid) ||
        (!rc && h.qkey != c.attributes.qkey)) {
        return drop(m_counters.failed_checks);
    }
    if (ib::is_rc_response(h.op)) {
        if (!ib::requester_is_on(q.state) || h.op != ib::rc_acknowledge) {
            return drop(m_counters.wrong_state);
        }
        if (!acknowledge_o.can_push()) {
            return false;
        }
        acknowledge_o.push({a.qpn, h.psn, h.syndrome});
        ++m_counters.acks;
        s.what = action::drop;
        return true;
    }
    // The context may be older than the state: read before RTR was written into it, it has neither the PSN
    // nor the address of RTR.
    if (!ib::responder_is_on(q.state) || !ib::responder_is_on(c.state) || q.error_asked || a.refusing) {
        return drop(m_counters.wrong_state);
    }
    if (!rc) {
        return decide_datagram(s, a, q);
    }
    ib::responder_context& r = a.context.responder;
    const std::int32_t distance = ib::psn_distance(h.psn, r.expected_psn);
    s.msn = r.msn;
    if (distance < 0) {
        ++m_counters.duplicates;
        s.what = action::acknowledge_only;
        s.reply_psn = ib::psn_add(r.expected_psn, ib::psn_mask);
        s.syndrome = ack_syndrome(q, r);
        return true;
    }
    if (distance > 0) {
        if (r.nak_sent != 0) {
            return drop(m_counters.duplicates);
        }
        r.nak_sent = 1;
        a.dirty = true;
        ++m_counters.sequence_naks;
        s.what = action::negative;
        s.reply_psn = r.expected_psn;
        s.syndrome = ib::syndrome_nak_sequence;
        return true;
    }
    const std::uint32_t mtu = ib::mtu_bytes(c.attributes.path_mtu);
    s.first = ib::is_first(h.op) || ib::is_only(h.op) || h.op == ib::rc_send_only_imm;
    s.last = ib::is_last(h.op) || ib::is_only(h.op);
    const bool in_sequence = ib::is_rc_send(h.op) && s.first == (r.in_message == 0);
    const bool length_fits = s.last ? s.d.payload_bytes <= mtu : s.d.payload_bytes == mtu;
    if (!in_sequence || !length_fits) {
        ++m_counters.other_naks;
        a.refusing = true;
        s.what = action::negative;
        s.to_error = true;
        s.reply_psn = h.psn;
        s.syndrome = ib::syndrome_nak_invalid_request;
        return true;
    }
    const bool has_wqe = !s.first || r.rq_consumer != q.producer;
    if (has_wqe && s.first && !read_o.can_push()) {
        return false;
    }
    // The packet has passed every check a valid one must pass: it proves that the peer is in RTS, even if it
    // is now answered by an RNR NAK.
    if (q.state == ib::qp_state::rtr && r.comm_est_raised == 0) {
        r.comm_est_raised = 1;
        a.dirty = true;
        ++m_counters.comm_est;
        m_events.push_back({ib::event_type::comm_est, a.qpn});
        if (is_watched(m_observer)) {
            m_observer->comm_est(a.qpn, now());
        }
        if (m_config.infer_rts) {
            ++m_counters.inferences_asked;
            qpc_request m;
            m.operation = qpc_operation::modify;
            m.qpn = a.qpn;
            m.cookie = infer_cookie;
            m.modify = &m_infer;
            m_requests.push_back(m);
        }
    }
    if (!has_wqe) {
        ++m_counters.rnr_naks;
        s.what = action::negative;
        s.reply_psn = h.psn;
        s.syndrome = static_cast<std::uint8_t>(ib::syndrome_rnr_nak | c.attributes.min_rnr_timer);
        return true;
    }
    a.dirty = true;
    r.expected_psn = ib::psn_add(r.expected_psn, 1);
    r.nak_sent = 0;
    r.in_message = s.last ? 0 : 1;
    if (s.last) {
        r.msn = (r.msn + 1) & ib::psn_mask;
    }
    s.msn = r.msn;
    s.what = action::receive;
    s.reply_psn = h.psn;
    if (s.first) {
        fetch_wqe(s, c, r);
    } else {
        s.wqe_index = static_cast<std::uint16_t>(r.rq_consumer - 1);
    }
    s.syndrome = ack_syndrome(q, r);
    ++m_counters.accepted;
    if (is_watched(m_observer)) {
        m_observer->request_accepted(a.qpn, h.psn, s.last, now());
    }
    return true;
}

bool receive_engine::decide_datagram(slot& s, active& a, qp& q) {
    ib::responder_context& r = a.context.responder;
    if (r.rq_consumer == q.producer) {
        ++m_counters.no_receive_wqe;
        s.what = action::drop;
        return true;
    }
    if (!read_o.can_push()) {
        return false;
    }
    s.first = s.last = true;
    s.what = action::receive;
    a.dirty = true;
    fetch_wqe(s, a.context, r);
    ++m_counters.accepted;
    return true;
}

void receive_engine::fetch_wqe(slot& s, const ib::qp_context& c, ib::responder_context& r) {
    const std::uint32_t index = r.rq_consumer & ((1u << c.resources.rq_log_entries) - 1);
    const auto cookie = static_cast<std::uint32_t>(&s - m_slots.data());
    read_o.push({c.resources.rq_address + std::uint64_t{index} * sizeof(ib::receive_wqe),
                 static_cast<std::uint32_t>(sizeof(ib::receive_wqe)), cookie,
                 reinterpret_cast<std::uint8_t*>(&s.wqe)});
    s.needs_wqe = true;
    s.wqe_index = r.rq_consumer;
    r.rq_consumer = static_cast<std::uint16_t>(r.rq_consumer + 1);
}

std::uint8_t receive_engine::ack_syndrome(const qp& q, const ib::responder_context& r) const {
    const std::uint8_t code = m_config.credit_info
                                  ? credit_code(static_cast<std::uint16_t>(q.producer - r.rq_consumer))
                                  : ib::credit_code_none;
    return static_cast<std::uint8_t>(ib::syndrome_ack | code);
}

// --- completion, in order
// -----------------------------------------------------------------------------------------------------------------

[[gnu::always_inline]] inline bool receive_engine::complete() {
    if (m_decided == 0) {
        return false;
    }
    slot& s = m_slots[m_oldest];
    active& a = m_active[s.active];
    switch (a.failed ? action::drop : s.what) {
        case action::receive:
            if ((s.needs_wqe && !s.wqe_here) || !complete_receive(s, a)) {
                return false;
            }
            break;
        case action::acknowledge_only:
        case action::negative:
            reply(s, a);
            if (s.to_error) {
                a.failed = true;
                ask_error(at(a.qpn));
            }
            break;
        default:
            // Behind a packet that has ended the QP: the WQE that was taken for this one is not lost.
            if (s.needs_wqe) {
                if (!s.wqe_here) {
                    return false;
                }
                flush_wqe(a.context, s.wqe.wr_id, s.wqe_index);
            }
            break;
    }
    if (s.packet != nullptr) {
        m_pool.put(s.packet);
    }
    release(s.active);
    m_oldest = m_oldest + 1 == m_slots.size() ? 0 : m_oldest + 1;
    --m_count;
    --m_decided;
    return m_decided != 0;
}

[[gnu::always_inline]] inline bool receive_engine::complete_receive(slot& s, active& a) {
    ib::responder_context& r = a.context.responder;
    const ib::headers& h = s.d.h;
    const bool ud = ib::is_ud(h.op);
    const auto bytes = static_cast<std::uint32_t>(s.d.payload_bytes);
    // A datagram's buffer begins with room for a GRH, there or not (IBTA 11.4.1.2).
    const std::uint32_t skip = ud ? static_cast<std::uint32_t>(ib::grh_bytes) : 0;
    const std::uint64_t address = s.first ? s.wqe.address + skip : r.message_address;
    const std::uint32_t room =
        s.first ? s.wqe.length_bytes - std::min(s.wqe.length_bytes, skip) : r.message_room_bytes;
    const std::uint64_t wr_id = s.first ? s.wqe.wr_id : r.message_wr_id;
    const std::uint32_t before = s.first ? 0 : r.message_bytes;
    const bool fits = bytes <= room;
    if (fits && bytes != 0 && !write_o.can_push()) {
        return false;
    }
    const bool replies = !ud && (h.ack_request || !fits);
    if (!fits) {
        s.syndrome = ib::syndrome_nak_invalid_request;
    }
    if (replies) {
        reply(s, a);
    }
    if (fits && bytes != 0) {
        dma_write& w = write_o.push_slot();
        w.start(address, bytes);
        w.data = s.packet->bytes + s.d.payload_offset;
        w.packet = s.packet;
        s.packet = nullptr;  // the host interface gives it back
    }
    r.message_address = address + bytes;
    r.message_room_bytes = room - std::min(room, bytes);
    r.message_wr_id = wr_id;
    r.message_bytes = before + bytes;
    if (s.last || !fits) {
        completion& c = m_completions.push_slot();
        c = {};
        c.cqn = a.context.resources.receive_cqn;
        c.entry.wr_id = wr_id;
        c.entry.qpn = a.qpn;
        c.entry.length_bytes = before + bytes + skip;
        c.entry.is_receive = 1;
        c.entry.has_immediate = ib::has_immediate(h.op) ? 1 : 0;
        c.entry.immediate = h.immediate;
        c.entry.src_qpn = h.src_qpn;
        c.entry.slid = h.slid;
        c.entry.sl = h.sl;
        c.entry.wqe_index = s.wqe_index;
        c.entry.status = fits ? ib::wc_status::success : ib::wc_status::loc_len_err;
    }
    if (!fits) {
        ++m_counters.other_naks;
        if (!ud) {
            a.failed = true;
            r.in_message = 0;  // this message has its CQE; one that was begun behind it gets its own when its
                               // first packet comes up
            ask_error(at(a.qpn));
        }
    }
    return true;
}

// Never waits: the engine must take requests whether or not its answers can leave, or two cards that send to
// each other over one VL could stop each other for ever. An answer without room waits beside the queue, one
// per QP; a later one of the QP covers it (IBTA 9.7.5.1: acknowledges may be coalesced).
void receive_engine::reply(const slot& s, const active& a) {
    const ib::qp_attributes& t = a.context.attributes;
    const auto vl = static_cast<std::uint8_t>(t.sl % m_data_vls);
    ib::headers h;
    h.vl = vl;
    h.sl = t.sl;
    h.dlid = t.dlid;
    h.slid = m_lid;
    h.op = ib::rc_acknowledge;
    h.migrated = true;
    h.pkey = t.pkey;
    h.dest_qpn = t.dest_qpn;
    h.psn = s.reply_psn;
    h.syndrome = s.syndrome;
    h.msn = s.msn;
    ib::packet* p = m_pool.get();
    p->size_bytes = static_cast<std::uint32_t>(ib::packet_bytes(h, 0));
    ib::encode(h, 0, p->bytes);
    ib::seal(p->bytes, p->size_bytes);
    p->vl = vl;
    p->op = h.op;
    p->qpn = a.qpn;
    p->psn = h.psn;
    p->queued_cycle = now();
    auto& waiting = m_waiting_replies[vl];
    if (waiting.empty() && packet_o(vl).can_push()) {
        packet_o(vl).push(p);
        return;
    }
    qp& q = at(a.qpn);
    if (!q.reply_waits) {
        q.reply_waits = true;
        m_replies[a.qpn & m_mask] = p;
        waiting.push_back(a.qpn & m_mask);
        m_waiting_vls |= 1u << vl;
        return;
    }
    ++m_counters.merged_replies;
    // A NAK is not covered by the repeated acknowledge of what is before it.
    ib::packet*& before = m_replies[a.qpn & m_mask];
    if (ib::psn_distance(p->psn, before->psn) >= 0) {
        std::swap(p, before);
    }
    m_pool.put(p);
}

ib::packet* receive_engine::take_reply(qp& q) {
    const auto waiting = m_replies.find(q.qpn & m_mask);
    ib::packet* p = waiting->second;
    m_replies.erase(waiting);
    q.reply_waits = false;
    return p;
}

void receive_engine::send_waiting_replies() {
    for (std::uint32_t left = m_waiting_vls; left != 0; left &= left - 1) {
        const auto vl = static_cast<std::uint32_t>(__builtin_ctz(left));
        auto& waiting = m_waiting_replies[vl];
        while (!waiting.empty()) {
            qp& q = m_qps[waiting.front()];
            if (q.reply_waits) {
                if (!packet_o(vl).can_push()) {
                    break;  // the channel wakes this module
                }
                packet_o(vl).push(take_reply(q));
            }
            waiting.pop_front();
        }
        if (waiting.empty()) {
            m_waiting_vls &= ~(1u << vl);
        }
    }
}

void receive_engine::release(std::uint32_t index) {
    active& a = m_active[index];
    if (--a.users != 0) {
        return;
    }
    if (a.known && a.dirty) {
        qpc_request& r = m_requests.push_slot();
        r.operation = qpc_operation::write_responder;
        r.qpn = a.qpn;
        r.responder = a.context.responder;
    }
    m_free_active[index / 64] |= std::uint64_t{1} << index % 64;
    at(a.qpn).active = idle;
}

void receive_engine::ask_error(qp& q) {
    if (q.error_asked || q.state == ib::qp_state::err) {
        return;
    }
    q.error_asked = true;
    qpc_request r;
    r.operation = qpc_operation::modify;
    r.qpn = q.qpn;
    r.cookie = error_cookie;
    r.modify = &m_to_error;
    m_requests.push_back(r);
    m_events.push_back({ib::event_type::qp_fatal, q.qpn});
}

// --- flush of a receive queue, one QP at a time
// -------------------------------------------------------------------------------------------

bool receive_engine::run_flush() {
    if (m_flush.empty()) {
        return false;
    }
    qp& q = m_qps[m_flush.front()];
    switch (m_flush_step) {
        case flush_step::context: {
            if (q.active != idle) {
                return false;  // its last packets end first; their end is in this module
            }
            qpc_request r;
            r.operation = qpc_operation::read;
            r.qpn = q.qpn;
            r.cookie = flush_cookie;
            m_requests.push_back(r);
            m_flush_step = flush_step::wait;
            return true;
        }
        case flush_step::fetch: {
            ib::responder_context& c = m_flush_context.responder;
            if (m_flush_known && is_flushing(q.state) && c.in_message != 0) {
                c.in_message = 0;  // a message of which the last packet has not come
                flush_wqe(m_flush_context, c.message_wr_id, static_cast<std::uint16_t>(c.rq_consumer - 1));
                return true;
            }
            if (!m_flush_known || !is_flushing(q.state) || c.rq_consumer == q.producer) {
                if (m_flush_known && is_flushing(q.state)) {
                    qpc_request r;
                    r.operation = qpc_operation::write_responder;
                    r.qpn = m_flush_context.qpn;
                    r.responder = c;
                    m_requests.push_back(r);
                }
                q.flushing = false;
                m_flush.pop_front();
                m_flush_step = flush_step::context;
                return true;
            }
            if (!read_o.can_push()) {
                return false;
            }
            const ib::qp_resources& r = m_flush_context.resources;
            const std::uint32_t index = c.rq_consumer & ((1u << r.rq_log_entries) - 1);
            read_o.push({r.rq_address + std::uint64_t{index} * sizeof(ib::receive_wqe),
                         static_cast<std::uint32_t>(sizeof(ib::receive_wqe)), flush_cookie,
                         reinterpret_cast<std::uint8_t*>(&m_flush_wqe)});
            m_flush_step = flush_step::wait;
            return false;
        }
        case flush_step::complete: {
            if (is_flushing(q.state)) {
                ib::responder_context& c = m_flush_context.responder;
                flush_wqe(m_flush_context, m_flush_wqe.wr_id, c.rq_consumer);
                c.rq_consumer = static_cast<std::uint16_t>(c.rq_consumer + 1);
            }
            m_flush_step = flush_step::fetch;
            return true;
        }
        default:
            return false;
    }
}

void receive_engine::flush_wqe(const ib::qp_context& context, std::uint64_t wr_id, std::uint16_t index) {
    completion f;
    f.cqn = context.resources.receive_cqn;
    f.entry.wr_id = wr_id;
    f.entry.qpn = context.qpn;
    f.entry.is_receive = 1;
    f.entry.wqe_index = index;
    f.entry.status = ib::wc_status::wr_flush_err;
    m_completions.push_back(f);
    ++m_counters.flushed;
}

[[gnu::always_inline]] inline bool receive_engine::drain_queues() {
    bool more = false;
    if (!m_requests.empty() && context_o.can_push()) {
        context_o.push(m_requests.front());
        m_requests.pop_front();
        more = more || !m_requests.empty();
    }
    if (!m_completions.empty() && completion_o.can_push()) {
        completion_o.push(m_completions.front());
        m_completions.pop_front();
        more = more || !m_completions.empty();
    }
    if (!m_events.empty() && event_o.can_push()) {
        event_o.push(m_events.front());
        m_events.pop_front();
        more = more || !m_events.empty();
    }
    return more;
}

}  // namespace hcasim
