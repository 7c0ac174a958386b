#include "model/qp_context_cache/qp_context_cache.h"

#include <cstring>
#include <string>

namespace hcasim {

namespace {

// Longest line of responses to one client before its further requests wait.
constexpr std::size_t response_limit = 8;

// Outstanding misses are kept as bits of one word.
constexpr int max_misses = 64;

gate_state gate_of(ib::qp_state state) {
    switch (state) {
        case ib::qp_state::rts:
            return gate_state::open;
        case ib::qp_state::err:
        case ib::qp_state::sqe:
            return gate_state::flush;
        default:
            return gate_state::closed;
    }
}

// Applies those attributes whose bit is in `mask`.
void assign(ib::qp_context& c, std::uint32_t mask, const ib::qp_attributes& a) {
    ib::qp_attributes& t = c.attributes;
    const auto take = [mask](ib::attribute bit, auto& to, const auto& from) {
        if ((mask & bit) != 0) {
            to = from;
        }
    };
    take(ib::attr_dest_qpn, t.dest_qpn, a.dest_qpn);
    take(ib::attr_rq_psn, t.rq_psn, a.rq_psn);
    take(ib::attr_rq_psn, c.responder.expected_psn, a.rq_psn);
    take(ib::attr_sq_psn, t.sq_psn, a.sq_psn);
    take(ib::attr_sq_psn, c.requester.next_psn, a.sq_psn);
    take(ib::attr_qkey, t.qkey, a.qkey);
    take(ib::attr_pkey_index, t.pkey, a.pkey);
    take(ib::attr_av, t.dlid, a.dlid);
    take(ib::attr_av, t.sl, a.sl);
    take(ib::attr_port, t.port, a.port);
    take(ib::attr_path_mtu, t.path_mtu, a.path_mtu);
    take(ib::attr_timeout, t.timeout, a.timeout);
    take(ib::attr_retry_cnt, t.retry_cnt, a.retry_cnt);
    take(ib::attr_rnr_retry, t.rnr_retry, a.rnr_retry);
    take(ib::attr_min_rnr_timer, t.min_rnr_timer, a.min_rnr_timer);
    take(ib::attr_max_qp_rd_atomic, t.max_rd_atomic, a.max_rd_atomic);
    take(ib::attr_max_dest_rd_atomic, t.max_dest_rd_atomic, a.max_dest_rd_atomic);
    t.en_sqd_async_notify = 0;
    take(ib::attr_en_sqd_async_notify, t.en_sqd_async_notify, a.en_sqd_async_notify);
    if ((mask & ib::rts_attributes_rc) == ib::rts_attributes_rc) {
        c.has_rts_attributes = 1;
    }
}

}  // namespace

qp_context_cache::qp_context_cache(const sc_core::sc_module_name& name, clock_domain& domain,
                                   ib::packet_pool& pool)
    : clocked_module(name, domain),
      request_i{{{"send_request_i", *this}, {"receive_request_i", *this}, {"command_request_i", *this}}},
      response_o{{{"send_response_o", *this}, {"receive_response_o", *this}, {"command_response_o", *this}}},
      state_o{{{"scheduler_state_o", *this}, {"send_state_o", *this}, {"receive_state_o", *this}}},
      fill_o("fill_o", *this),
      fill_i("fill_i", *this),
      writeback_o("writeback_o", *this),
      m_pool(pool) {
    tick_directly<qp_context_cache>();
    for (const auto& port : request_i) {
        m_request_inputs |= port.flag();
    }
    m_first_request_input = __builtin_ctzll(m_request_inputs);
}

void qp_context_cache::reset(const qp_context_cache_config& config, std::uint32_t qps,
                             std::uint64_t context_address) {
    if (config.replacement == replacement_policy::plru && (config.ways & (config.ways - 1)) != 0) {
        throw std::invalid_argument(
            "qp_context_cache.ways = " + std::to_string(config.ways) +
            ": pseudo-LRU needs a power of two (qp_context_cache.replacement = \"plru\")");
    }
    if (config.misses_outstanding > max_misses) {
        throw std::invalid_argument("qp_context_cache.misses_outstanding = " +
                                    std::to_string(config.misses_outstanding) + ": at most 64");
    }
    m_config = config;
    m_mask = qps - 1;
    m_address = context_address;
    m_tags.reset(config);
    m_data.assign(m_tags.lines(), {});
    m_misses.assign(config.misses_outstanding, {});
    m_replay.clear();
    m_waiting = 0;
    for (auto& queue : m_responses) {
        queue.clear();
    }
    m_answered = 0;
    m_next_client = 0;
    m_used_misses = 0;
    m_filled_misses = 0;
    m_counters = {};
}

// Its steps are inlined by force: the compiler does not know that a member function has this one caller.
void qp_context_cache::tick() {
    if (m_answered != 0) {
        drain_responses();
    }
    if (fill_i.can_pop()) {
        m_filled_misses |= std::uint64_t{1} << fill_i.pop().cookie;
    }
    // A line that was installed is not taken away before those that waited for it have been served.
    const bool installed = m_filled_misses != 0 && m_replay.empty() && install_filled();
    // One access to the arrays per cycle: those that waited for a fill first, then the clients in turn. A
    // client whose request cannot be served in this cycle (no entry to wait in, no room for an answer) does
    // not hold up the others.
    bool served = false;
    const bool replaying = !installed && !m_replay.empty();  // the install was this cycle's access
    if (replaying) {
        const waiting_request& w = m_replay.front();
        served = serve(w.from, w.request, true);
        if (served) {
            m_replay.pop_front();
            --m_waiting;
        }
    } else if (!installed) {
        auto asking =
            static_cast<std::uint32_t>((filled_inputs() & m_request_inputs) >> m_first_request_input);
        while (asking != 0 && !served) {
            const std::uint32_t from_next = asking & (~0u << m_next_client);
            const auto c = static_cast<client>(__builtin_ctz(from_next != 0 ? from_next : asking));
            asking &= ~(1u << c);
            if (request_i[c].can_pop() && serve(c, request_i[c].front(), false)) {
                request_i[c].drop();
                m_next_client = c + 1 == client_count ? 0 : c + 1;
                served = true;
            }
        }
    }
    // A request that could not be served is looked at again when what it lacks is there: room in a channel, a
    // response that leaves, a fill that ends. A fill may have waited for the last of the replayed requests.
    const bool more = m_filled_misses != 0 || !m_replay.empty() || (filled_inputs() & m_request_inputs) != 0;
    if (installed || (served && more)) {
        wake_next();
    }
}

[[gnu::always_inline]] inline void qp_context_cache::drain_responses() {
    for (std::uint32_t answered = m_answered; answered != 0; answered &= answered - 1) {
        const auto c = static_cast<std::uint32_t>(__builtin_ctz(answered));
        auto& queue = m_responses[c];
        if (queue.front().due > now() || !response_o[c].can_push()) {
            continue;
        }
        response_o[c].push(queue.front().response);
        if (queue.size() >= response_limit) {
            wake_next();  // a request may have waited for this
        }
        queue.pop_front();
        if (queue.empty()) {
            m_answered &= ~(1u << c);
        } else {
            wake_at(queue.front().due > now() ? queue.front().due : now() + 1);
        }
    }
}

// Puts the data of one finished fill into a line. True when it used the arrays in this cycle.
[[gnu::always_inline]] inline bool qp_context_cache::install_filled() {
    miss& m = m_misses[static_cast<std::size_t>(__builtin_ctzll(m_filled_misses))];
    const std::uint32_t line = m_tags.victim(m.slot);
    if (!evict(line)) {
        return false;
    }
    m_tags.install(line, m.slot);
    std::memcpy(&m_data[line], m.data.data(), sizeof(ib::qp_context));
    m_tags.touch(line);
    for (std::size_t i = 0; i < m.requests.size(); ++i) {
        m_replay.push_back(m.requests[i]);
    }
    m.requests.clear();
    m_used_misses &= ~(m_filled_misses & -m_filled_misses);
    m_filled_misses &= m_filled_misses - 1;
    return true;
}

// Makes a line free for another slot; false when its write-back has no room yet.
[[gnu::always_inline]] inline bool qp_context_cache::evict(std::uint32_t line) {
    if (!m_tags.is_valid(line)) {
        return true;
    }
    if (m_tags.is_dirty(line)) {
        if (!writeback_o.can_push()) {
            return false;
        }
        ib::packet* buffer = m_pool.get();
        std::memset(buffer->bytes + sizeof(ib::qp_context), 0,
                    ib::qp_context_slot_bytes - sizeof(ib::qp_context));
        std::memcpy(buffer->bytes, &m_data[line], sizeof(ib::qp_context));
        dma_write& w = writeback_o.push_slot();
        w.start(m_address + std::uint64_t{m_tags.slot_of(line)} * ib::qp_context_slot_bytes,
                ib::qp_context_slot_bytes);
        w.data = buffer->bytes;
        w.packet = buffer;
        ++m_counters.writebacks;
    }
    ++m_counters.evictions;
    return true;
}

bool qp_context_cache::serve(client from, const qpc_request& r, bool replayed) {
    if (m_responses[from].size() >= response_limit) {
        return false;
    }
    const std::uint32_t slot = r.qpn & m_mask;
    const std::uint32_t line = m_tags.find(slot);
    if (line != context_tags::none) {
        if (!perform(from, r, line, !replayed)) {
            return false;
        }
        m_counters.hits += replayed ? 0 : 1;
        return true;
    }
    // From here on the request waits for a fill. (One that is replayed finds its line: none is taken away
    // before all have been served.)
    if (m_waiting == m_config.waiting_requests) {
        return false;
    }
    for (std::uint64_t used = m_used_misses; used != 0; used &= used - 1) {
        miss& m = m_misses[static_cast<std::size_t>(__builtin_ctzll(used))];
        if (m.slot == slot) {
            m.requests.push_back({from, r});
            ++m_waiting;
            ++m_counters.merged;
            return true;
        }
    }
    const auto free =
        static_cast<std::uint32_t>(~m_used_misses == 0 ? max_misses : __builtin_ctzll(~m_used_misses));
    if (free >= m_misses.size() || !fill_o.can_push()) {
        return false;
    }
    miss& m = m_misses[free];
    m_used_misses |= std::uint64_t{1} << free;
    m.slot = slot;
    m.requests.push_back({from, r});
    ++m_waiting;
    fill_o.push({m_address + std::uint64_t{slot} * ib::qp_context_slot_bytes,
                 static_cast<std::uint32_t>(ib::qp_context_slot_bytes), free, m.data.data()});
    m_counters.misses += replayed ? 0 : 1;
    return true;
}

[[gnu::always_inline]] inline bool qp_context_cache::perform(client from, const qpc_request& r,
                                                             std::uint32_t line, bool was_hit) {
    ib::qp_context& c = m_data[line];
    const bool known = c.valid != 0 && c.qpn == r.qpn;
    if (r.operation == qpc_operation::read) {
        qpc_response& answer = respond(from);
        answer.cookie = r.cookie;
        answer.known = known;
        answer.applied = false;
        answer.was_hit = was_hit;
        answer.from = c.state;
        answer.context = c;
        m_tags.touch(line);
        return true;
    }
    qpc_response response;
    response.cookie = r.cookie;
    response.was_hit = was_hit;
    response.known = known;
    switch (r.operation) {
        case qpc_operation::read:
            break;
        case qpc_operation::write_requester:
            if (known && r.requester.life ==
                             c.requester.life) {  // else destroyed or reset in the meantime: nothing to keep
                c.requester = r.requester;
                m_tags.set_dirty(line);
            }
            break;
        case qpc_operation::write_responder:
            if (known && r.responder.life == c.responder.life) {
                c.responder = r.responder;
                m_tags.set_dirty(line);
            }
            break;
        case qpc_operation::modify:
            if (known) {
                if (!apply_modify(r, c, response)) {
                    return false;
                }
                m_tags.set_dirty(line);
            }
            response.context = c;
            respond(from) = response;
            break;
        case qpc_operation::create:
            response.from = c.state;
            if (c.valid == 0) {
                if (!can_announce()) {
                    return false;
                }
                const ib::qp_context before = c;
                c = *r.fresh;
                c.requester.life = before.requester.life + 1;
                c.responder.life = static_cast<std::uint16_t>(before.responder.life + 1);
                response.known = true;
                response.applied = true;
                m_tags.set_dirty(line);
                announce(c, true);
                if (is_watched(m_observer)) {
                    m_observer->state_changed(c.qpn, static_cast<std::uint8_t>(ib::qp_state::reset),
                                              static_cast<std::uint8_t>(c.state), 0, 0, now());
                }
            }
            response.context = c;
            respond(from) = response;
            break;
    }
    m_tags.touch(line);
    return true;
}

// False when a state event has no room yet; nothing is changed then.
bool qp_context_cache::apply_modify(const qpc_request& r, ib::qp_context& c, qpc_response& response) {
    const qpc_modify& m = *r.modify;
    response.from = c.state;
    const bool state_fits = (m.from_states >> static_cast<unsigned>(c.state) & 1u) != 0;
    if (!state_fits || (m.needs_rts_attributes && c.has_rts_attributes == 0)) {
        if (m.to == ib::qp_state::rts && c.state == ib::qp_state::rts && is_watched(m_observer)) {
            m_observer->late_opener(c.qpn, static_cast<std::uint8_t>(m.reason), now());
        }
        return true;
    }
    const bool changes = c.state != m.to || m.destroy || m.to == ib::qp_state::reset;
    if (changes && !can_announce()) {
        return false;
    }
    response.applied = true;
    const ib::qp_state before = c.state;
    assign(c, m.attribute_mask, m.attributes);
    c.state = m.to;
    if (before == ib::qp_state::rtr && m.to == ib::qp_state::rts) {
        c.opened_by = m.reason;
    }
    if (m.to == ib::qp_state::reset) {
        const ib::qp_context ended = c;
        c.requester = {};
        c.responder = {};
        c.requester.life = ended.requester.life + 1;
        c.responder.life = static_cast<std::uint16_t>(ended.responder.life + 1);
        c.has_rts_attributes = 0;
        c.opened_by = ib::gate_opener::none;
    }
    if (m.destroy) {
        c.valid = 0;
        c.state = ib::qp_state::reset;
    }
    if (changes) {
        announce(c, false);
        if (is_watched(m_observer)) {
            m_observer->state_changed(c.qpn, static_cast<std::uint8_t>(before),
                                      static_cast<std::uint8_t>(c.state), static_cast<std::uint8_t>(m.reason),
                                      c.requester.next_psn, now());
        }
    }
    return true;
}

bool qp_context_cache::can_announce() {
    bool room = true;
    for (auto& port : state_o) {
        room = port.can_push() && room;
    }
    return room;
}

void qp_context_cache::announce(const ib::qp_context& c, bool created) {
    state_event e;
    e.qpn = c.qpn;
    e.state = c.state;
    e.gate = gate_of(c.state);
    e.sl_class = c.resources.sl_class;
    e.created = created;
    e.notify_drained = c.attributes.en_sqd_async_notify != 0;
    for (auto& port : state_o) {
        port.push(e);
    }
}

// The response to be filled in by the caller; it holds an older one.
[[gnu::always_inline]] inline qpc_response& qp_context_cache::respond(client to) {
    auto& queue = m_responses[to];
    timed_response& t = queue.push_slot();
    t.due = now() + m_config.hit_cycles;
    m_answered |= 1u << to;
    if (queue.size() == 1) {
        wake_at(t.due);  // those behind it are woken for when they come to the front
    }
    return t.response;
}

}  // namespace hcasim
