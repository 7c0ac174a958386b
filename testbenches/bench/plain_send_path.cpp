#include "testbenches/bench/plain_send_path.h"

#include <queue>
#include <stdexcept>

#include "model/clock/cycle_time.h"
#include "model/doorbell_unit/doorbell_fifo.h"
#include "model/ib/crc.h"
#include "model/ib/headers.h"
#include "model/ib/psn.h"
#include "model/link/serializer.h"
#include "model/link/vl_arbiter.h"
#include "model/qp_context_cache/context_tags.h"
#include "model/send_engine/outstanding_list.h"
#include "model/send_scheduler/arbiter.h"

namespace hcasim {

namespace {

enum block : unsigned {
    driver_block,
    doorbell_block,
    scheduler_block,
    cache_block,
    send_block,
    link_block,
    peer_block,
    completion_block,
    dma_block,
    block_count
};
constexpr unsigned all_blocks = (1u << block_count) - 1;
constexpr unsigned bit(block b) { return 1u << b; }

constexpr std::uint32_t most_vls = 15;
constexpr std::uint32_t none = ~std::uint32_t{0};

/// Register stage of two entries between two blocks: what is pushed in a cycle is there in the next, and a
/// place that is freed in a cycle is free in the next.
template <class T, block Producer, block Consumer, std::uint32_t Depth = 2>
class stage_fifo {
public:
    static constexpr block producer = Producer;
    static constexpr block consumer = Consumer;

    void clear() { *this = stage_fifo{}; }
    bool can_push(cycle_t now) const { return m_tail - m_head + (m_last_pop == now ? 1u : 0u) < Depth; }
    bool can_pop(cycle_t now) const { return m_tail - m_head > (m_last_push == now ? 1u : 0u); }
    bool popped_in(cycle_t now) const { return m_last_pop == now; }
    bool empty() const { return m_head == m_tail; }
    T& push(cycle_t now) {
        m_last_push = now;
        return m_entries[m_tail++ & (Depth - 1)];
    }
    const T& front() const { return m_entries[m_head & (Depth - 1)]; }
    void pop(cycle_t now) {
        m_last_pop = now;
        ++m_head;
    }

    bool refused = false;

private:
    static_assert((Depth & (Depth - 1)) == 0);
    T m_entries[Depth] = {};
    std::uint32_t m_head = 0;
    std::uint32_t m_tail = 0;
    cycle_t m_last_push = 0;
    cycle_t m_last_pop = 0;
};

struct plain_write {
    std::uint64_t address = 0;
    std::uint32_t bytes = 0;
    std::array<std::uint8_t, 64> data{};
};
struct context_request {
    std::uint32_t qpn = 0;
    std::uint32_t slot = 0;
    bool write = false;
    std::uint32_t next_psn = 0;
};
struct short_completion {
    std::uint64_t wr_id = 0;
    std::uint32_t qpn = 0;
    std::uint32_t length_bytes = 0;
    std::uint16_t wqe_index = 0;
};
struct timed_packet {
    ib::packet* packet = nullptr;
    cycle_t visible = 0;
};

}  // namespace

class plain_send_path::loop_base {
public:
    virtual ~loop_base() = default;
    virtual void run_to(cycle_t last) = 0;
    virtual const send_path_result& result() const = 0;
};

template <bool Skip>
class plain_send_path::loop final : public loop_base {
public:
    explicit loop(const send_path_config& config) : m_config(config) {
        const hca_config& h = config.hca;
        m_mask = h.qps - 1;
        m_host.reset(config);
        m_states.reset(config);
        m_peer.reset(config);
        m_doorbells.reset(h.doorbell_unit.fifo_depth, h.qps, h.doorbell_unit.coalesce);
        m_arbiter.reset(h.send_scheduler, h.qps);
        m_scheduled.assign(h.qps, {});
        m_tags.reset(h.qp_context_cache);
        m_lines.assign(m_tags.lines(), {});
        m_misses.assign(h.qp_context_cache.misses_outstanding, {});
        m_senders.assign(h.qps, {});
        m_outstanding.reset(h.send_engine.outstanding_messages);
        m_services.assign(h.send_engine.slots, {});
        for (std::uint32_t s = 0; s < h.send_engine.slots; ++s) {
            m_free_services.push_back(s);
        }
        m_timeout_cycles.fill(0);
        for (std::uint32_t t = 0; t < 32; ++t) {
            m_timeout_cycles[t] = timer_cycles(t, h.timer_shift, h.clock_mhz);
        }
        m_serializer.reset(h.link.speed, h.link.width, h.clock_mhz);
        m_vl_arbiter.reset(h.link);
        for (vl_state& v : m_vls) {
            receive_credits own;
            own.reset(h.link.vl_buffer_bytes);
            v.own_fccl = own.fccl();
        }
        m_period_cycles = std::max<cycle_t>(1, m_serializer.cycles_of(65536));
        wake(driver_block, 1);
        wake(link_block, 1);
    }

    void run_to(cycle_t last) override {
        for (;;) {
            const cycle_t next = next_due();
            if (next > last) {
                return;
            }
            m_now = next;
            const unsigned due = take_due();
            if ((due & bit(driver_block)) != 0)
                tick_driver();
            if ((due & bit(doorbell_block)) != 0)
                tick_doorbell();
            if ((due & bit(scheduler_block)) != 0)
                tick_scheduler();
            if ((due & bit(cache_block)) != 0)
                tick_cache();
            if ((due & bit(send_block)) != 0)
                tick_send();
            if ((due & bit(link_block)) != 0)
                tick_link();
            if ((due & bit(peer_block)) != 0)
                tick_peer();
            if ((due & bit(completion_block)) != 0)
                tick_completion();
            if ((due & bit(dma_block)) != 0)
                tick_dma();
        }
    }
    const send_path_result& result() const override { return m_host.result(); }

private:
    // --- when
    // ---------------------------------------------------------------------------------------------------

    void wake(block b, cycle_t cycle) {
        if constexpr (Skip) {
            if (cycle - m_now < wheel_cycles) {
                const auto slot = static_cast<std::uint32_t>(cycle % wheel_cycles);
                m_due[slot] |= bit(b);
                m_occupied[slot / 64] |= std::uint64_t{1} << slot % 64;
            } else if (cycle != never) {
                m_far.push({cycle, b});
            }
        } else {
            static_cast<void>(b);
            static_cast<void>(cycle);
        }
    }
    void wake_next(block b) { wake(b, m_now + 1); }

    cycle_t next_due() const {
        if constexpr (!Skip) {
            return m_now + 1;
        } else {
            const cycle_t far = m_far.empty() ? never : m_far.top().first;
            const auto first = static_cast<std::uint32_t>((m_now + 1) % wheel_cycles);
            std::uint32_t word = first / 64;
            std::uint64_t bits = m_occupied[word] & ~std::uint64_t{0} << first % 64;
            for (std::uint32_t i = 0; i <= wheel_cycles / 64; ++i) {
                if (bits != 0) {
                    const std::uint32_t slot = word * 64 + static_cast<std::uint32_t>(__builtin_ctzll(bits));
                    return std::min(far, m_now + 1 + (slot - first) % wheel_cycles);
                }
                word = (word + 1) % (wheel_cycles / 64);
                bits = m_occupied[word];
            }
            return far;
        }
    }
    unsigned take_due() {
        if constexpr (!Skip) {
            return all_blocks;
        } else {
            const auto slot = static_cast<std::uint32_t>(m_now % wheel_cycles);
            unsigned due = m_due[slot];
            m_due[slot] = 0;
            m_occupied[slot / 64] &= ~(std::uint64_t{1} << slot % 64);
            while (!m_far.empty() && m_far.top().first == m_now) {
                due |= bit(m_far.top().second);
                m_far.pop();
            }
            return due;
        }
    }

    // --- between blocks
    // -------------------------------------------------------------------------------------------

    template <class Fifo>
    bool can_push(Fifo& f) {
        if (f.can_push(m_now)) {
            return true;
        }
        if constexpr (Skip) {
            if (f.popped_in(m_now)) {
                wake_next(Fifo::producer);
            } else {
                f.refused = true;
            }
        }
        return false;
    }
    template <class Fifo>
    auto& push(Fifo& f) {
        wake_next(Fifo::consumer);
        return f.push(m_now);
    }
    template <class Fifo>
    void pop(Fifo& f) {
        f.pop(m_now);
        if constexpr (Skip) {
            if (f.refused) {
                f.refused = false;
                wake_next(Fifo::producer);
            }
            if (!f.empty()) {
                wake_next(Fifo::consumer);
            }
        }
    }

    // --- host and gates
    // -------------------------------------------------------------------------------------------

    void tick_driver() {
        if (m_states.next_cycle() <= m_now) {
            const state_event e = m_states.take();
            push(m_scheduler_state) = e;
            push(m_send_state) = e;
        }
        wake(driver_block, m_states.next_cycle());
        if (!m_has_word) {
            m_has_word = m_host.post(m_now, m_word);
        }
        if (m_has_word && can_push(m_doorbell_words)) {
            push(m_doorbell_words) = m_word;
            m_has_word = false;
        }
        if constexpr (Skip) {
            if (!m_has_word) {
                wake(driver_block, m_host.next_post(m_now));
            }
        }
    }

    // --- doorbell unit
    // --------------------------------------------------------------------------------------------

    void tick_doorbell() {
        const bool was_full = m_doorbells.full();
        const bool was_empty = m_doorbells.empty();
        bool left = false;
        if (!was_empty && can_push(m_send_doorbells)) {
            push(m_send_doorbells) = {m_doorbells.front_qpn(), m_doorbells.front_producer()};
            m_doorbells.pop();
            left = true;
        }
        bool blocked = false;
        if (m_doorbell_words.can_pop(m_now)) {
            const ib::doorbell d = ib::decode_doorbell(m_doorbell_words.front());
            if (d.type == ib::doorbell_type::send_queue) {
                blocked = m_doorbells.offer(d.number, d.index, was_full) == doorbell_fifo::outcome::full;
            } else if (can_push(m_cq_doorbells)) {
                push(m_cq_doorbells) = d.index;
            } else {
                blocked = true;
            }
            if (!blocked) {
                pop(m_doorbell_words);
            }
        }
        if ((left && (!m_doorbells.empty() || blocked)) || (was_empty && !m_doorbells.empty())) {
            wake_next(doorbell_block);
        }
    }

    // --- scheduler
    // ------------------------------------------------------------------------------------------------

    struct scheduled_qp {
        std::uint32_t qpn = 0;
        std::uint16_t producer = 0;
        std::uint16_t consumer = 0;
        std::uint8_t sl = 0;
        bool gate_open = false;
        bool in_service = false;
        bool held = false;
        bool ready = false;
    };

    void tick_scheduler() {
        const bool refused = m_arbiter.any() && !can_push(m_grants);
        if (m_arbiter.any() && !refused) {
            scheduled_qp& q = m_scheduled[m_arbiter.take()];
            const auto waiting = static_cast<std::uint16_t>(q.producer - q.consumer);
            const auto count = static_cast<std::uint16_t>(
                std::min<std::uint32_t>(waiting, m_config.hca.send_scheduler.burst));
            push(m_grants) = {q.qpn, q.consumer, count, false};
            q.ready = false;
            q.in_service = true;
            q.consumer = static_cast<std::uint16_t>(q.consumer + count);
        }
        if (m_scheduler_state.can_pop(m_now)) {
            const state_event& e = m_scheduler_state.front();
            scheduled_qp& q = m_scheduled[e.qpn & m_mask];
            q.qpn = e.qpn;
            q.sl = e.sl_class;
            q.gate_open = e.gate == gate_state::open;
            refresh(q);
            pop(m_scheduler_state);
        }
        if (m_send_doorbells.can_pop(m_now)) {
            const send_doorbell d = m_send_doorbells.front();
            scheduled_qp& q = m_scheduled[d.qpn & m_mask];
            if (q.qpn == d.qpn && ib::index_distance(d.producer, q.producer) > 0) {
                q.producer = d.producer;
                refresh(q);
            }
            pop(m_send_doorbells);
        }
        if (m_updates_stage.can_pop(m_now)) {
            const scheduler_update& u = m_updates_stage.front();
            scheduled_qp& q = m_scheduled[u.qpn & m_mask];
            q.in_service = q.in_service && !u.end_service;
            if (u.set_consumer) {
                q.consumer = u.consumer;
            }
            if (u.hold != scheduler_update::hold_t::keep) {
                q.held = u.hold == scheduler_update::hold_t::hold;
            }
            refresh(q);
            pop(m_updates_stage);
        }
        if (m_arbiter.any() && !refused) {
            wake_next(scheduler_block);
        }
    }
    void refresh(scheduled_qp& q) {
        const bool ready = q.producer != q.consumer && q.gate_open && !q.in_service && !q.held;
        if (ready != q.ready) {
            q.ready = ready;
            const std::uint32_t slot = q.qpn & m_mask;
            ready ? m_arbiter.set(slot, q.sl) : m_arbiter.clear(slot, q.sl);
        }
    }

    // --- context cache
    // --------------------------------------------------------------------------------------------

    struct miss {
        bool used = false;
        bool filled = false;
        std::uint32_t slot = 0;
        ring_queue<context_request> requests;
        std::array<std::uint8_t, ib::qp_context_slot_bytes> data{};
    };
    struct timed_answer {
        cycle_t due = 0;
        std::uint32_t slot = 0;
    };

    void tick_cache() {
        if (!m_answers.empty() && m_answers.front().due <= m_now && can_push(m_context_answers)) {
            push(m_context_answers) = m_answers.front().slot;
            m_answers.pop_front();
            if (!m_answers.empty()) {
                wake(cache_block, std::max(m_answers.front().due, m_now + 1));
            }
        }
        if (m_cache_reads_done.can_pop(m_now)) {
            m_misses[m_cache_reads_done.front()].filled = true;
            pop(m_cache_reads_done);
        }
        const bool installed = m_used_misses != 0 && m_replay.empty() && install_filled();
        bool stuck = false;
        const bool replaying = !installed && !m_replay.empty();
        if (replaying) {
            stuck = !serve(m_replay.front());
            if (!stuck) {
                m_replay.pop_front();
                --m_waiting;
            }
        } else if (!installed && m_context_requests.can_pop(m_now)) {
            stuck = !serve(m_context_requests.front());
            if (!stuck) {
                pop(m_context_requests);
            }
        }
        if (installed || stuck || replaying) {
            wake_next(cache_block);
        }
    }
    bool install_filled() {
        for (miss& m : m_misses) {
            if (!m.used || !m.filled) {
                continue;
            }
            const std::uint32_t line = m_tags.victim(m.slot);
            if (m_tags.is_valid(line) && m_tags.is_dirty(line)) {
                if (!can_push(m_cache_writes)) {
                    return false;
                }
                ib::packet* buffer = m_pool.get();
                std::memset(buffer->bytes, 0, ib::qp_context_slot_bytes);
                std::memcpy(buffer->bytes, &m_lines[line], sizeof(ib::qp_context));
                buffer->qpn = m_tags.slot_of(line);
                push(m_cache_writes) = buffer;
            }
            m_tags.install(line, m.slot);
            std::memcpy(&m_lines[line], m.data.data(), sizeof(ib::qp_context));
            m_tags.touch(line);
            while (!m.requests.empty()) {
                m_replay.push_back(m.requests.front());
                m.requests.pop_front();
            }
            m.used = false;
            m.filled = false;
            --m_used_misses;
            return true;
        }
        return false;
    }
    bool serve(const context_request& r) {
        if (m_answers.size() >= 8) {
            return false;
        }
        const std::uint32_t slot = r.qpn & m_mask;
        const std::uint32_t line = m_tags.find(slot);
        if (line != context_tags::none) {
            if (r.write) {
                m_lines[line].requester.next_psn = r.next_psn;
                m_tags.set_dirty(line);
            } else {
                // The grant waits for its context: it can have it now, and be told of it in time.
                const ib::qp_context& c = m_lines[line];
                service& v = m_services[r.slot];
                v.sq_address = c.resources.sq_address;
                v.sq_entries = 1u << c.resources.sq_log_entries;
                v.attributes = c.attributes;
                v.next_psn = c.requester.next_psn;
                m_answers.push_back({m_now + m_config.hca.qp_context_cache.hit_cycles, r.slot});
                wake(cache_block, std::max(m_answers.front().due, m_now + 1));
            }
            m_tags.touch(line);
            return true;
        }
        if (m_waiting == m_config.hca.qp_context_cache.waiting_requests) {
            return false;
        }
        miss* free = nullptr;
        for (miss& m : m_misses) {
            if (m.used && m.slot == slot) {
                m.requests.push_back(r);
                ++m_waiting;
                return true;
            }
            if (!m.used && free == nullptr) {
                free = &m;
            }
        }
        if (free == nullptr || !can_push(m_cache_reads)) {
            return false;
        }
        free->used = true;
        free->slot = slot;
        free->requests.push_back(r);
        ++m_waiting;
        push(m_cache_reads) = {m_host.context_address() + std::uint64_t{slot} * ib::qp_context_slot_bytes,
                               static_cast<std::uint32_t>(ib::qp_context_slot_bytes),
                               static_cast<std::uint32_t>(free - m_misses.data()), free->data.data()};
        ++m_used_misses;
        return true;
    }

    // --- send engine
    // ----------------------------------------------------------------------------------------------

    struct sender {
        bool held = false;
        std::uint8_t timeout = 0;
        outstanding_list::fifo outstanding;
        cycle_t armed = 0;
        cycle_t deadline = 0;
    };
    struct service {
        send_grant grant;
        std::uint32_t generation = 0;
        std::uint32_t in_flight = 0;
        std::uint16_t count = 0;
        std::uint16_t current = 0;
        bool sending = false;
        std::uint32_t offset_bytes = 0;
        std::uint32_t next_psn = 0;
        std::uint64_t sq_address = 0;
        std::uint32_t sq_entries = 1;
        ib::qp_attributes attributes;
        std::array<ib::send_wqe, 64> wqes;
    };
    struct gathered {
        ib::packet* packet = nullptr;
        std::uint32_t slot = 0;
        std::uint32_t generation = 0;
        bool waits_for_data = false;
    };
    struct finished {
        std::uint32_t slot = 0;
        scheduler_update update;
    };

    void tick_send() {
        if (m_send_state.can_pop(m_now)) {
            pop(m_send_state);  // creation and RTS: a QP of this path has no other state to keep
        }
        if (m_acks.can_pop(m_now)) {
            take_acknowledge(m_acks.front());
            pop(m_acks);
        }
        if (m_send_reads_done.can_pop(m_now)) {
            take_data(m_send_reads_done.front());
            pop(m_send_reads_done);
        }
        if (m_context_answers.can_pop(m_now)) {
            take_context(m_context_answers.front());
            pop(m_context_answers);
        }
        run_timers();
        bool again = emit();
        again = request_data() || again;
        if (!m_free_services.empty() && m_grants.can_pop(m_now)) {
            take_grant(m_grants.front());
            pop(m_grants);
            again = true;
        }
        again = request_contexts() || again;
        if (!m_updates.empty() && can_push(m_updates_stage)) {
            push(m_updates_stage) = m_updates.front();
            m_updates.pop_front();
            again = again || !m_updates.empty();
        }
        if (!m_completions.empty() && can_push(m_completions_stage)) {
            push(m_completions_stage) = m_completions.front();
            m_completions.pop_front();
            again = again || !m_completions.empty();
        }
        if (again) {
            wake_next(send_block);
        }
    }

    void take_acknowledge(const acknowledge& a) {
        sender& q = m_senders[a.qpn & m_mask];
        bool moved = false;
        while (!q.outstanding.empty() &&
               ib::psn_distance(a.psn, m_outstanding.front(q.outstanding).last_psn) >= 0) {
            const outstanding_send& o = m_outstanding.front(q.outstanding);
            if (o.signaled) {
                m_completions.push_back({o.wr_id, a.qpn, o.length_bytes, o.wqe_index});
            }
            m_outstanding.pop(q.outstanding);
            bool released = false;
            while (!released && !m_window_wait.empty()) {
                released = release(m_window_wait.front());
                m_window_wait.pop_front();
            }
            moved = true;
        }
        moved = moved || (!q.outstanding.empty() &&
                          ib::psn_distance(a.psn, m_outstanding.front(q.outstanding).first_psn) >= 0);
        if (!moved) {
            return;
        }
        if (q.outstanding.empty() || q.timeout == 0) {
            q.deadline = 0;
        } else {
            arm_deadline(q, a.qpn & m_mask);
        }
        if (q.outstanding.count() < m_config.hca.send_engine.window_messages) {
            release(a.qpn);
        }
    }
    bool release(std::uint32_t qpn) {
        sender& q = m_senders[qpn & m_mask];
        if (!q.held) {
            return false;
        }
        q.held = false;
        scheduler_update u;
        u.qpn = qpn;
        u.hold = scheduler_update::hold_t::release;
        m_updates.push_back(u);
        return true;
    }

    void take_data(std::uint32_t cookie) {
        if (cookie == none) {
            while (!m_gathered[m_data_cursor].waits_for_data) {
                ++m_data_cursor;
            }
            m_gathered[m_data_cursor++].waits_for_data = false;
            return;
        }
        service& v = m_services[cookie];
        v.current = 0;
        v.offset_bytes = 0;
        v.sending = true;
        m_sending.push_back(cookie);
    }
    void take_context(std::uint32_t s) {
        service& v = m_services[s];
        m_senders[v.grant.qpn & m_mask].timeout = v.attributes.timeout;
        const std::uint32_t to_end = v.sq_entries - (v.grant.first & (v.sq_entries - 1));
        v.count = static_cast<std::uint16_t>(std::min<std::uint32_t>(v.grant.count, to_end));
        m_want_wqes.push_back(s);
    }
    void take_grant(const send_grant& g) {
        const std::uint32_t s = m_free_services.front();
        m_free_services.pop_front();
        service& v = m_services[s];
        v.grant = g;
        ++v.generation;
        v.in_flight = 0;
        v.sending = false;
        m_want_context.push_back(s);
    }

    bool request_contexts() {
        if (m_finished.empty() && m_want_context.empty()) {
            return false;
        }
        if (!can_push(m_context_requests)) {
            return false;
        }
        context_request& r = push(m_context_requests);
        if (!m_finished.empty()) {
            finished f = m_finished.front();
            m_finished.pop_front();
            service& v = m_services[f.slot];
            r = {v.grant.qpn, f.slot, true, v.next_psn};
            sender& q = m_senders[v.grant.qpn & m_mask];
            f.update.qpn = v.grant.qpn;
            f.update.end_service = true;
            if (f.update.hold == scheduler_update::hold_t::hold && !q.held) {
                f.update.hold = scheduler_update::hold_t::keep;
            }
            m_updates.push_back(f.update);
            if (m_free_services.empty()) {
                wake_next(send_block);  // a grant may have come that found no slot
            }
            m_free_services.push_back(f.slot);
        } else {
            const std::uint32_t s = m_want_context.front();
            m_want_context.pop_front();
            r = {m_services[s].grant.qpn, s, false, 0};
        }
        return !m_finished.empty() || !m_want_context.empty();
    }

    bool request_data() {
        if (!m_want_wqes.empty()) {
            if (!can_push(m_send_reads)) {
                return false;
            }
            const std::uint32_t s = m_want_wqes.front();
            m_want_wqes.pop_front();
            service& v = m_services[s];
            const std::uint32_t first = v.grant.first & (v.sq_entries - 1);
            push(m_send_reads) = {v.sq_address + std::uint64_t{first} * sizeof(ib::send_wqe),
                                  static_cast<std::uint32_t>(v.count * sizeof(ib::send_wqe)), s,
                                  reinterpret_cast<std::uint8_t*>(v.wqes.data())};
            return !m_want_wqes.empty() || !m_sending.empty();
        }
        const std::size_t n = m_sending.size();
        for (std::size_t i = 0; i < n; ++i) {
            const std::uint32_t s = m_sending.front();
            m_sending.pop_front();
            const bool gathered_one = gather_next(s);
            if (m_services[s].sending) {
                m_sending.push_back(s);
            }
            if (gathered_one) {
                return !m_sending.empty() || !m_gathered.back().waits_for_data;
            }
        }
        return false;
    }
    bool gather_next(std::uint32_t s) {
        service& v = m_services[s];
        if (v.in_flight >= m_config.hca.send_engine.payload_prefetch) {
            return false;
        }
        const ib::send_wqe& w = v.wqes[v.current];
        const ib::qp_attributes& a = v.attributes;
        const std::uint32_t mtu = ib::mtu_bytes(a.path_mtu);
        const std::uint32_t bytes = std::min(w.length_bytes - v.offset_bytes, mtu);
        if (bytes != 0 && !can_push(m_send_reads)) {
            return false;
        }
        if (v.offset_bytes == 0 && !begin_message(s, w, mtu)) {
            return false;
        }
        gather_packet(s, w, a, bytes);
        v.offset_bytes += bytes;
        if (v.offset_bytes == w.length_bytes) {
            v.offset_bytes = 0;
            if (++v.current == v.count) {
                scheduler_update u;
                u.set_consumer = v.current != v.grant.count;
                u.consumer = static_cast<std::uint16_t>(v.grant.first + v.current);
                finish(s, u);
            }
        }
        return true;
    }
    bool begin_message(std::uint32_t s, const ib::send_wqe& w, std::uint32_t mtu) {
        service& v = m_services[s];
        sender& q = m_senders[v.grant.qpn & m_mask];
        const auto index = static_cast<std::uint16_t>(v.grant.first + v.current);
        if (w.wqe_index != index || w.opcode > 1 || w.length_bytes > 1u << 31) {
            throw std::logic_error("plain send path: bad WQE");
        }
        if (q.outstanding.count() >= m_config.hca.send_engine.window_messages || m_outstanding.full()) {
            q.held = true;
            if (m_outstanding.full()) {
                m_window_wait.push_back(v.grant.qpn);
            }
            scheduler_update u;
            u.set_consumer = true;
            u.consumer = index;
            u.hold = scheduler_update::hold_t::hold;
            finish(s, u);
            return false;
        }
        const std::uint32_t packets = w.length_bytes == 0 ? 1 : (w.length_bytes + mtu - 1) / mtu;
        outstanding_send& o = m_outstanding.push(q.outstanding);
        o.wr_id = w.wr_id;
        o.length_bytes = w.length_bytes;
        o.wqe_index = index;
        o.signaled = (w.flags & ib::wqe_signaled) != 0;
        o.first_psn = v.next_psn;
        o.last_psn = ib::psn_add(v.next_psn, packets - 1);
        return true;
    }
    void gather_packet(std::uint32_t s, const ib::send_wqe& w, const ib::qp_attributes& a,
                       std::uint32_t bytes) {
        service& v = m_services[s];
        const bool first = v.offset_bytes == 0;
        const bool last = v.offset_bytes + bytes == w.length_bytes;
        const bool immediate = w.opcode == 1 && last;
        ib::headers h;
        h.sl = a.sl;
        h.vl = static_cast<std::uint8_t>(h.sl % m_config.hca.link.data_vls);
        h.slid = m_config.hca.lid;
        h.dlid = a.dlid;
        h.pkey = a.pkey;
        h.psn = v.next_psn;
        h.migrated = true;
        h.dest_qpn = a.dest_qpn;
        h.ack_request = last;
        h.immediate = immediate ? w.immediate : 0;
        h.solicited = last && (w.flags & ib::wqe_solicited) != 0;
        if (first) {
            h.op = !last ? ib::rc_send_first : immediate ? ib::rc_send_only_imm : ib::rc_send_only;
        } else {
            h.op = !last ? ib::rc_send_middle : immediate ? ib::rc_send_last_imm : ib::rc_send_last;
        }
        ib::packet* p = m_pool.get();
        p->size_bytes = static_cast<std::uint32_t>(ib::packet_bytes(h, bytes));
        const std::size_t offset = ib::encode(h, bytes, p->bytes);
        p->vl = h.vl;
        p->qpn = v.grant.qpn;
        p->psn = h.psn;
        p->wqe_index = static_cast<std::uint16_t>(v.grant.first + v.current);
        p->ends_message = last;
        if (bytes != 0) {
            push(m_send_reads) = {w.address + v.offset_bytes, bytes, none, p->bytes + offset};
        }
        m_gathered.push_back({p, s, v.generation, bytes != 0});
        ++v.in_flight;
        v.next_psn = ib::psn_add(v.next_psn, 1);
    }
    void finish(std::uint32_t s, const scheduler_update& u) {
        m_services[s].sending = false;
        m_finished.push_back({s, u});
    }

    bool emit() {
        if (!m_gathered.empty() && !m_gathered.front().waits_for_data) {
            const gathered g = m_gathered.front();
            m_gathered.pop_front();
            m_data_cursor -= m_data_cursor != 0 ? 1 : 0;
            ib::packet* p = g.packet;
            sender& q = m_senders[p->qpn & m_mask];
            ib::seal(p->bytes, p->size_bytes);
            m_emit[p->vl].push_back(g);
            ++m_emit_count;
            if (p->ends_message && q.deadline == 0 && q.timeout != 0) {
                arm_deadline(q, p->qpn & m_mask);
            }
        }
        bool handed_on = false;
        if (m_emit_count != 0) {
            const std::uint32_t vls = m_config.hca.link.data_vls;
            for (std::uint32_t i = 0; i < vls; ++i) {
                const std::uint32_t vl = m_next_vl + i < vls ? m_next_vl + i : m_next_vl + i - vls;
                if (m_emit[vl].empty() || !can_push(m_vl_queues[vl])) {
                    continue;
                }
                const gathered& g = m_emit[vl].front();
                service& v = m_services[g.slot];
                v.in_flight -= v.generation == g.generation ? 1 : 0;
                push(m_vl_queues[vl]) = {g.packet, m_now + 1};
                m_emit[vl].pop_front();
                --m_emit_count;
                m_next_vl = vl + 1 == vls ? 0 : vl + 1;
                handed_on = true;
                break;
            }
        }
        return (!m_gathered.empty() && !m_gathered.front().waits_for_data) || (handed_on && m_emit_count > 0);
    }

    void arm_deadline(sender& q, std::uint32_t slot) {
        q.deadline = m_now + m_timeout_cycles[q.timeout];
        if (q.armed == 0 || q.armed > q.deadline) {
            q.armed = q.deadline;
            m_timers.push({q.deadline, slot});
            wake(send_block, q.deadline);
        }
    }
    void run_timers() {
        while (!m_timers.empty() && m_timers.top().first <= m_now) {
            const std::uint32_t slot = m_timers.top().second;
            sender& q = m_senders[slot];
            m_timers.pop();
            q.armed = 0;
            if (q.deadline != 0) {
                if (q.deadline <= m_now) {
                    throw std::logic_error("plain send path: an acknowledge is missing");
                }
                q.armed = q.deadline;
                m_timers.push({q.deadline, slot});
                wake(send_block, q.deadline);
            }
        }
    }

    // --- link
    // -----------------------------------------------------------------------------------------------------

    struct vl_state {
        transmit_credits credits;
        std::uint16_t own_fccl = 0;
        bool announce_now = true;
        std::uint32_t quiet_periods = 0;
        cycle_t ready_since = 0;
    };

    void tick_link() {
        if (m_credits.can_pop(m_now)) {
            const std::uint32_t vl = m_credits.front().vl;
            if (!may_send(vl)) {
                m_vls[vl].ready_since = m_now;
            }
            m_vls[vl].credits.set_limit(m_credits.front().fccl);
            pop(m_credits);
        }
        const std::uint32_t vls = m_config.hca.link.data_vls;
        constexpr std::uint32_t repeated_periods = 2;
        if (!m_quiet || Skip) {
            if (m_now % m_period_cycles == 0) {
                for (std::uint32_t vl = 0; vl < vls; ++vl) {
                    if (m_vls[vl].quiet_periods < repeated_periods) {
                        ++m_vls[vl].quiet_periods;
                        m_vls[vl].announce_now = true;
                        m_announce = true;
                    }
                }
            }
            m_quiet = true;
            for (std::uint32_t vl = 0; vl < vls; ++vl) {
                m_quiet = m_quiet && m_vls[vl].quiet_periods >= repeated_periods;
            }
            if (!m_quiet) {
                wake_for_period();
            }
        }
        if (m_wire_free > m_now) {
            wake(link_block, m_wire_free);
            return;
        }
        if ((m_announce && send_flow_control()) || send_packet()) {
            wake(link_block, std::max(m_wire_free, m_now + 1));
        }
    }
    void wake_for_period() {
        if constexpr (Skip) {
            if (m_period_wake <= m_now) {
                m_period_wake = (m_now / m_period_cycles + 1) * m_period_cycles;
                wake(link_block, m_period_wake);
            }
        }
    }
    bool send_flow_control() {
        const std::uint32_t vls = m_config.hca.link.data_vls;
        for (std::uint32_t i = 0; i < vls; ++i) {
            const std::uint32_t vl = (m_next_flow_vl + i) % vls;
            vl_state& v = m_vls[vl];
            if (!v.announce_now) {
                continue;
            }
            v.announce_now = false;
            ib::packet* p = m_pool.get();
            p->is_flow_control = true;
            p->size_bytes = ib::flow_control_packet_bytes;
            p->vl = static_cast<std::uint8_t>(vl);
            ib::encode(ib::flow_control_packet{static_cast<std::uint8_t>(m_initializing ? 1 : 0), p->vl,
                                               v.credits.fctbs(), v.own_fccl},
                       p->bytes);
            m_next_flow_vl = vl + 1;
            if (vl + 1 == vls) {
                m_initializing = false;
            }
            put_on_wire(p, m_now);
            return true;
        }
        m_announce = false;
        return false;
    }
    bool may_send(std::uint32_t vl) const {
        return m_vl_queues[vl].can_pop(m_now) &&
               m_vls[vl].credits.may_send(credit_blocks(m_vl_queues[vl].front().packet->size_bytes));
    }
    bool send_packet() {
        std::uint32_t candidates = 0;
        for (std::uint32_t vl = 0; vl < m_config.hca.link.data_vls; ++vl) {
            if (may_send(vl)) {
                candidates |= 1u << vl;
            }
        }
        if (candidates == 0) {
            return false;
        }
        const std::uint32_t vl = m_vl_arbiter.choose(candidates);
        if (vl == vl_arbiter::none) {
            return false;
        }
        const timed_packet t = m_vl_queues[vl].front();
        pop(m_vl_queues[vl]);
        m_vls[vl].credits.sent(credit_blocks(t.packet->size_bytes));
        m_vls[vl].quiet_periods = 0;
        if (m_quiet) {
            m_quiet = false;
            wake_for_period();
        }
        m_vl_arbiter.charge(t.packet->size_bytes);
        const bool wire_was_idle = m_wire_free < m_now;
        put_on_wire(t.packet, wire_was_idle ? m_now : std::max(t.visible, m_vls[vl].ready_since));
        return true;
    }
    void put_on_wire(ib::packet* p, cycle_t available) {
        const serializer::span span =
            m_serializer.send(available, p->size_bytes + m_config.hca.link.framing_bytes);
        m_wire_free = m_serializer.free_cycle();
        p->first_byte_cycle = span.first_cycle;
        p->last_byte_cycle = span.last_cycle;
        m_wire.push_back({p, m_now + m_config.propagation_cycles});
        wake(peer_block, m_now + m_config.propagation_cycles);
    }

    // --- peer
    // -----------------------------------------------------------------------------------------------------

    void tick_peer() {
        if (!m_wire.empty() && m_wire.front().visible <= m_now) {
            ib::packet* p = m_wire.front().packet;
            m_wire.pop_front();
            m_host.see(*p);
            m_peer.take(*p, m_now);
            m_pool.put(p);
            if (!m_wire.empty()) {
                wake(peer_block, std::max(m_wire.front().visible, m_now + 1));
            }
        }
        if (m_peer.next_acknowledge() <= m_now && can_push(m_acks)) {
            push(m_acks) = m_peer.take_acknowledge();
        }
        if (m_peer.has_credits() && can_push(m_credits)) {
            push(m_credits) = m_peer.take_credits();
            if (m_peer.has_credits()) {
                wake_next(peer_block);
            }
        }
        if constexpr (Skip) {
            if (m_peer.next_acknowledge() > m_now) {
                wake(peer_block, m_peer.next_acknowledge());
            } else {
                wake_next(peer_block);
            }
        }
    }

    // --- completion unit
    // ------------------------------------------------------------------------------------------

    void tick_completion() {
        if (m_cq_doorbells.can_pop(m_now)) {
            m_cq_consumer = m_cq_doorbells.front();
            pop(m_cq_doorbells);
            m_cq_armed = static_cast<std::uint16_t>(m_cq_producer) == m_cq_consumer;
            if (!m_cq_armed) {
                raise_event();
            }
        }
        if (m_events != 0) {
            if (can_push(m_completion_writes)) {
                --m_events;
                ib::eqe entry;
                entry.type = ib::event_type::completion;
                entry.phase =
                    static_cast<std::uint8_t>((m_eq_producer / send_path_host::eq_entries + 1) & 1u);
                plain_write& w = push(m_completion_writes);
                w.address = m_host.eq_address() + m_eq_producer % send_path_host::eq_entries * sizeof entry;
                w.bytes = sizeof entry;
                std::memcpy(w.data.data(), &entry, sizeof entry);
                ++m_eq_producer;
                m_interrupt = true;
                wake_next(completion_block);
            }
        } else if (m_interrupt) {
            if (can_push(m_completion_writes)) {
                push(m_completion_writes).bytes = 0;
                m_interrupt = false;
                wake_next(completion_block);
            }
        } else if (m_completions_stage.can_pop(m_now) && can_push(m_completion_writes)) {
            const short_completion c = m_completions_stage.front();
            pop(m_completions_stage);
            wake_next(completion_block);
            constexpr std::uint32_t entries = send_path_host::cq_entries;
            if (static_cast<std::uint16_t>(m_cq_producer - m_cq_consumer) >= entries) {
                throw std::logic_error("plain send path: CQ overrun");
            }
            ib::cqe e;
            e.wr_id = c.wr_id;
            e.qpn = c.qpn;
            e.length_bytes = c.length_bytes;
            e.wqe_index = c.wqe_index;
            e.phase = static_cast<std::uint8_t>((m_cq_producer / entries + 1) & 1u);
            plain_write& w = push(m_completion_writes);
            w.address = m_host.cq_address() + std::uint64_t{m_cq_producer % entries} * sizeof e;
            w.bytes = sizeof e;
            std::memcpy(w.data.data(), &e, sizeof e);
            ++m_cq_producer;
            if (m_cq_armed) {
                m_cq_armed = false;
                raise_event();
            }
        }
    }
    void raise_event() {
        ++m_events;
        wake_next(completion_block);
    }

    // --- host interface
    // -------------------------------------------------------------------------------------------

    struct pending_read {
        cycle_t due = 0;
        std::uint32_t cookie = 0;
    };

    void tick_dma() {
        finish_read(m_cache_pending, m_cache_reads_done);
        finish_read(m_send_pending, m_send_reads_done);
        const bool read = issue_read();
        const bool wrote = issue_write();
        if (read || wrote) {
            wake_next(dma_block);
        }
    }
    template <class Done>
    void finish_read(ring_queue<pending_read>& pending, Done& done) {
        if (pending.empty() || pending.front().due > m_now || !can_push(done)) {
            return;
        }
        push(done) = pending.front().cookie;
        pending.pop_front();
        if (m_reads_outstanding-- == m_config.hca.host_interface.reads_outstanding) {
            wake_next(dma_block);
        }
        if (!pending.empty()) {
            wake(dma_block, std::max(pending.front().due, m_now + 1));
        }
    }
    bool issue_read() {
        if (m_reads_outstanding == m_config.hca.host_interface.reads_outstanding) {
            return false;
        }
        // The two clients in turn; a context that is being written back must not be read before it is
        // written.
        bool cache_waits = false;
        for (unsigned i = 0; i < 2; ++i) {
            if ((i == 0) == m_cache_is_next) {
                if (!m_cache_reads.can_pop(m_now)) {
                    continue;
                }
                if (m_cache_writes.can_pop(m_now)) {
                    cache_waits = true;
                    continue;
                }
                do_read(m_cache_reads, m_cache_pending);
                m_cache_is_next = false;
                return true;
            }
            if (m_send_reads.can_pop(m_now)) {
                do_read(m_send_reads, m_send_pending);
                m_cache_is_next = true;
                return true;
            }
        }
        return cache_waits;
    }
    template <class Reads>
    void do_read(Reads& reads, ring_queue<pending_read>& pending) {
        const dma_read& r = reads.front();
        m_host.read(r.address, r.destination, r.bytes);
        m_down_free = std::max(m_now + m_config.read_cycles, m_down_free) + transfer_cycles(r.bytes);
        pending.push_back({m_down_free, r.cookie});
        ++m_reads_outstanding;
        wake(dma_block, std::max(pending.front().due, m_now + 1));
        pop(reads);
    }
    bool issue_write() {
        const bool context = m_cache_writes.can_pop(m_now);
        if (!context && !m_completion_writes.can_pop(m_now)) {
            return false;
        }
        if (m_up_free > m_now) {
            wake(dma_block, m_up_free);
            return false;
        }
        if (context) {
            ib::packet* buffer = m_cache_writes.front();
            do_write(m_host.context_address() + std::uint64_t{buffer->qpn} * ib::qp_context_slot_bytes,
                     buffer->bytes, ib::qp_context_slot_bytes);
            m_pool.put(buffer);
            pop(m_cache_writes);
        } else {
            const plain_write& w = m_completion_writes.front();
            do_write(w.address, w.data.data(), w.bytes);
            pop(m_completion_writes);
        }
        return true;
    }
    void do_write(std::uint64_t address, const std::uint8_t* data, std::uint32_t bytes) {
        m_up_free = m_now + transfer_cycles(bytes);
        if (bytes != 0 && m_host.write(address, data, bytes, m_up_free + m_config.write_cycles)) {
            wake(driver_block, m_up_free + m_config.write_cycles);
        }
    }
    cycle_t transfer_cycles(std::uint32_t bytes) const {
        const host_interface_config& h = m_config.hca.host_interface;
        const std::uint32_t tlps = bytes == 0 ? 1 : (bytes + 255) / 256;
        return (bytes + tlps * h.tlp_overhead_bytes + h.bytes_per_cycle - 1) / h.bytes_per_cycle;
    }

    // --------------------------------------------------------------------------------------------------------------

    using far_wake = std::pair<cycle_t, block>;
    using timer = std::pair<cycle_t, std::uint32_t>;
    static constexpr std::uint32_t wheel_cycles = 512;

    send_path_config m_config;
    cycle_t m_now = 0;
    std::array<unsigned, wheel_cycles> m_due{};
    std::array<std::uint64_t, wheel_cycles / 64> m_occupied{};
    std::priority_queue<far_wake, std::vector<far_wake>, std::greater<>> m_far;

    send_path_host m_host;
    send_path_states m_states;
    send_path_peer m_peer;
    ib::packet_pool m_pool;
    std::uint32_t m_mask = 0;
    bool m_has_word = false;
    std::uint64_t m_word = 0;

    stage_fifo<std::uint64_t, driver_block, doorbell_block> m_doorbell_words;
    stage_fifo<state_event, driver_block, scheduler_block> m_scheduler_state;
    stage_fifo<state_event, driver_block, send_block> m_send_state;
    stage_fifo<send_doorbell, doorbell_block, scheduler_block> m_send_doorbells;
    stage_fifo<std::uint16_t, doorbell_block, completion_block> m_cq_doorbells;
    stage_fifo<send_grant, scheduler_block, send_block> m_grants;
    stage_fifo<scheduler_update, send_block, scheduler_block> m_updates_stage;
    stage_fifo<context_request, send_block, cache_block> m_context_requests;
    stage_fifo<std::uint32_t, cache_block, send_block> m_context_answers;
    stage_fifo<dma_read, cache_block, dma_block> m_cache_reads;
    stage_fifo<dma_read, send_block, dma_block> m_send_reads;
    stage_fifo<std::uint32_t, dma_block, cache_block> m_cache_reads_done;
    stage_fifo<std::uint32_t, dma_block, send_block> m_send_reads_done;
    stage_fifo<ib::packet*, cache_block, dma_block> m_cache_writes;
    stage_fifo<plain_write, completion_block, dma_block> m_completion_writes;
    stage_fifo<short_completion, send_block, completion_block> m_completions_stage;
    stage_fifo<acknowledge, peer_block, send_block> m_acks;
    stage_fifo<credit_update, peer_block, link_block> m_credits;
    std::array<stage_fifo<timed_packet, send_block, link_block, 16>, most_vls> m_vl_queues;
    ring_queue<timed_packet> m_wire;

    doorbell_fifo m_doorbells;
    arbiter m_arbiter;
    std::vector<scheduled_qp> m_scheduled;

    context_tags m_tags;
    std::vector<ib::qp_context> m_lines;
    std::vector<miss> m_misses;
    std::uint32_t m_used_misses = 0;
    ring_queue<context_request> m_replay;
    std::uint32_t m_waiting = 0;
    ring_queue<timed_answer> m_answers;

    std::vector<sender> m_senders;
    outstanding_list m_outstanding;
    std::vector<service> m_services;
    ring_queue<std::uint32_t> m_free_services;
    ring_queue<std::uint32_t> m_want_context;
    ring_queue<std::uint32_t> m_want_wqes;
    ring_queue<std::uint32_t> m_sending;
    ring_queue<std::uint32_t> m_window_wait;
    ring_queue<gathered> m_gathered;
    std::size_t m_data_cursor = 0;
    std::array<ring_queue<gathered>, most_vls> m_emit;
    std::uint32_t m_emit_count = 0;
    std::uint32_t m_next_vl = 0;
    ring_queue<finished> m_finished;
    ring_queue<scheduler_update> m_updates;
    ring_queue<short_completion> m_completions;
    std::array<cycle_t, 32> m_timeout_cycles{};
    std::priority_queue<timer, std::vector<timer>, std::greater<>> m_timers;

    serializer m_serializer;
    vl_arbiter m_vl_arbiter;
    std::array<vl_state, most_vls> m_vls;
    cycle_t m_period_cycles = 1;
    cycle_t m_period_wake = 0;
    cycle_t m_wire_free = 0;
    std::uint32_t m_next_flow_vl = 0;
    bool m_initializing = true;
    bool m_announce = true;
    bool m_quiet = false;

    std::uint32_t m_cq_producer = 0;
    std::uint16_t m_cq_consumer = 0;
    bool m_cq_armed = false;
    std::uint32_t m_events = 0;
    std::uint32_t m_eq_producer = 0;
    bool m_interrupt = false;

    ring_queue<pending_read> m_cache_pending;
    ring_queue<pending_read> m_send_pending;
    std::uint32_t m_reads_outstanding = 0;
    bool m_cache_is_next = true;
    cycle_t m_down_free = 0;
    cycle_t m_up_free = 0;
};

plain_send_path::plain_send_path() = default;
plain_send_path::~plain_send_path() = default;

void plain_send_path::reset(const send_path_config& config, form f) {
    if (f == form::poll) {
        m_loop = std::make_unique<loop<false>>(config);
    } else {
        m_loop = std::make_unique<loop<true>>(config);
    }
}

void plain_send_path::run_to(cycle_t last) { m_loop->run_to(last); }

const send_path_result& plain_send_path::result() const { return m_loop->result(); }

}  // namespace hcasim
