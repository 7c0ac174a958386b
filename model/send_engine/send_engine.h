#ifndef HCASIM_MODEL_SEND_ENGINE_SEND_ENGINE_H
#define HCASIM_MODEL_SEND_ENGINE_SEND_ENGINE_H

#include <array>
#include <cstdint>
#include <memory>
#include <queue>
#include <vector>

#include "model/clock/channel.h"
#include "model/clock/qp_table.h"
#include "model/clock/ring_queue.h"
#include "model/ib/headers.h"
#include "model/ib/messages.h"
#include "model/send_engine/outstanding_list.h"
#include "model/send_engine/send_engine_config.h"
#include "model/stats/observer.h"

namespace hcasim {

/// The requester half: fetches WQEs and payload, makes packets, keeps what is unacknowledged, retries, and
/// flushes. Cycle contract: docs/microarchitecture.md, "send engine".
class send_engine : public clocked_module {
public:
    static constexpr std::uint32_t vls = 15;

    send_engine(const sc_core::sc_module_name& name, clock_domain& domain, ib::packet_pool& pool);

    in_port<send_grant> grant_i;
    out_port<scheduler_update> update_o;
    out_port<qpc_request> context_o;
    in_port<qpc_response> context_i;
    out_port<dma_read> read_o;
    in_port<dma_read_done> read_i;
    in_port<acknowledge> acknowledge_i;
    in_port<sent_notice> sent_i;
    in_port<state_event> state_i;
    out_port<completion> completion_o;
    out_port<event> event_o;
    out_port<ib::packet*>& packet_o(std::uint32_t vl) { return *m_packet_o[vl]; }

    void reset(const send_engine_config& config, std::uint32_t qps, std::uint16_t lid, std::uint32_t data_vls,
               std::uint64_t clock_mhz, std::uint32_t timer_shift);
    void set_observer(observer* o) { m_observer = o; }
    void tick() override;

    struct counters_t {
        std::uint64_t packets = 0;
        std::uint64_t messages = 0;  ///< WQEs begun, repeats included
        std::uint64_t timeouts = 0;
        std::uint64_t rnr_naks = 0;
        std::uint64_t sequence_naks = 0;
        std::uint64_t rewinds = 0;
        std::uint64_t dropped_packets = 0;  ///< gathered and then overtaken by a rewind or a change of state
        std::uint64_t window_holds = 0;
        std::uint64_t flushed = 0;
        std::uint64_t stale_grants = 0;
        std::uint64_t ignored_acks = 0;
    };
    const counters_t& counters() const { return m_counters; }

private:
    static constexpr std::uint32_t none = ~std::uint32_t{0};
    static constexpr std::uint16_t idle = 0xffff;

    struct qp {
        std::uint32_t qpn = 0;
        std::uint32_t newest_psn = 0;  // of the packets made
        std::uint32_t epoch =
            0;  // moves with every rewind, error and reset: older packets and grants are void
        std::uint32_t first_psn = 0;  // with `rewind`
        std::uint32_t clock = none;   // its times in m_clocks
        outstanding_list::fifo outstanding;
        std::uint16_t next_index = 0;  // WQE that the next grant must begin with
        std::uint16_t resend_until = 0;
        std::uint16_t newest_sent = 0;  // newest WQE whose last packet has been made
        std::uint16_t slot = idle;      // in service
        // No field lies across two bytes, so that each is read as it has been written: a processor waits when
        // it reads a word of which it has just written a part.
        std::uint8_t retry_limit : 3, retry_left : 3;
        bool dead : 1;    // an error was reported; waits for ERR or SQE
        bool rewind : 1;  // the next packet has first_psn
        std::uint8_t rnr_limit : 3, rnr_left : 3;
        bool resend : 1;  // WQEs before resend_until had begun before a rewind
        bool held : 1;    // the scheduler was told to hold
        std::uint8_t timeout : 5;
        ib::qp_state state : 3;
        bool loaded : 1;    // the retry counters are those of the context
        bool began : 1;     // newest_sent is valid
        bool made_any : 1;  // newest_psn is valid
        bool notify_drained : 1;

        qp()
            : retry_limit(0),
              retry_left(0),
              dead(false),
              rewind(false),
              rnr_limit(0),
              rnr_left(0),
              resend(false),
              held(false),
              timeout(0),
              state(ib::qp_state::reset),
              loaded(false),
              began(false),
              made_any(false),
              notify_drained(false) {}
    };
    static_assert(sizeof(qp) == 36, "one for each QP slot: docs of qp_table");
    /// Times of a QP that waits for something; kept while `armed`.
    struct qp_clock {
        cycle_t armed = 0;      // due time of its entry in m_timers, 0 = none
        cycle_t deadline = 0;   // ACK timer, 0 = off
        cycle_t rnr_until = 0;  // RNR wait, 0 = none
    };
    enum class phase : std::uint8_t { context, fetch, wqes, sending, flush_wait, ended };
    struct service {
        send_grant grant;
        phase at = phase::context;
        std::uint32_t epoch = 0;
        std::uint32_t generation = 0;  // of this slot: payload under way belongs to it
        std::uint32_t in_flight = 0;   // packets between payload read and VL queue
        std::uint16_t count = 0;       // WQEs of the grant that are served (up to the end of the ring)
        std::uint16_t current = 0;
        bool used = false;
        std::uint32_t offset_bytes = 0;  // of the current WQE
        std::uint32_t next_psn = 0;
        ib::qp_context context;
        std::vector<ib::send_wqe> wqes;
    };
    struct gathered {
        ib::packet* packet = nullptr;
        std::uint32_t slot = 0;
        std::uint32_t generation = 0;
        std::uint32_t epoch = 0;
        bool waits_for_data = false;
    };
    struct timer {
        cycle_t due;
        std::uint32_t slot;
        bool operator>(const timer& other) const {
            return due != other.due ? due > other.due : slot > other.slot;
        }
    };
    struct finished {
        std::uint32_t slot = 0;
        scheduler_update update;
    };

    [[gnu::cold]] void take_state(const state_event& e);
    void take_acknowledge(const acknowledge& a);
    void take_context(const qpc_response& r);
    void take_data(std::uint32_t cookie);
    void take_grant();
    void run_timers();
    [[gnu::cold]] bool flush_outstanding();
    bool request_contexts();
    bool request_data();
    bool gather_next(std::uint32_t s, service& v);
    bool begin_message(std::uint32_t s, service& v, qp& q, const ib::send_wqe& w, std::uint32_t mtu);
    void gather_packet(std::uint32_t s, service& v, const qp& q, const ib::send_wqe& w, std::uint32_t bytes);
    bool emit();
    void finish(std::uint32_t s, bool write, const scheduler_update& update);
    void end_service(std::uint32_t s, scheduler_update update);
    [[gnu::cold]] void abort_service(std::uint32_t s);
    void left_service(const gathered& g);
    [[gnu::cold]] void give_back_service(qp& q);
    static bool may_begin(const qp& q, std::uint16_t index);
    static void tell_consumer(scheduler_update& u, const qp& q);
    [[gnu::cold]] void forget_outstanding(qp& q);
    void wake_window_waiter();
    std::uint16_t first_not_begun(const service& v) const;
    void retire_front(qp& q, ib::wc_status status);
    void complete(std::uint32_t qpn, const outstanding_send& send, ib::wc_status status);
    void progress(qp& q);
    void release(qp& q);
    [[gnu::cold]] void rewind(qp& q, bool hold);
    [[gnu::cold]] void fail(qp& q, ib::wc_status status, ib::qp_state to);
    const qp_clock& times(const qp& q) const;
    void set_deadline(qp& q);
    [[gnu::cold]] void set_rnr_wait(qp& q, cycle_t until);
    void stop_deadline(qp& q);
    [[gnu::cold]] void stop_clock(qp& q);
    void arm_timer(const qp& q, qp_clock& c, cycle_t due);
    qp_clock& clock_of(qp& q);
    void check_drained(qp& q);
    qp& at(std::uint32_t qpn) { return m_qps[qpn & m_mask]; }
    bool drain_queues();

    ib::packet_pool& m_pool;
    std::vector<std::unique_ptr<out_port<ib::packet*>>> m_packet_o;
    send_engine_config m_config;
    std::uint32_t m_mask = 0;
    std::uint16_t m_lid = 0;
    std::uint32_t m_data_vls = 1;
    std::uint64_t m_clock_mhz = 250;
    std::uint32_t m_timer_shift = 0;
    std::array<cycle_t, 32> m_timeout_cycles{};
    qp_table<qp> m_qps;
    std::vector<qp_clock> m_clocks;
    std::vector<std::uint32_t> m_free_clocks;
    outstanding_list m_outstanding;
    std::vector<service> m_services;
    ring_queue<std::uint32_t> m_free_services;
    ring_queue<std::uint32_t> m_want_context;
    ring_queue<std::uint32_t> m_want_wqes;
    ring_queue<std::uint32_t> m_sending;
    ring_queue<std::uint32_t> m_flush_wait;
    ring_queue<std::uint32_t> m_flush;        // QP slots whose outstanding sends are being flushed
    ring_queue<std::uint32_t> m_window_wait;  // QP slots that wait for room in the shared list
    ring_queue<gathered> m_gathered;
    std::size_t m_data_cursor = 0;                 // entries of m_gathered before it do not wait for data
    std::array<ring_queue<gathered>, vls> m_emit;  // made, waiting for room in the queue of their VL
    std::uint32_t m_emit_count = 0;
    std::uint32_t m_next_vl = 0;
    ring_queue<finished> m_finished;
    ring_queue<qpc_request> m_errors;
    ring_queue<scheduler_update> m_updates;
    /// A send whose CQE is to be made.
    struct finished_send {
        std::uint64_t wr_id = 0;
        std::uint32_t qpn = 0;
        std::uint32_t cqn = 0;
        std::uint32_t length_bytes = 0;
        std::uint16_t wqe_index = 0;
        ib::wc_status status = ib::wc_status::success;
    };
    ring_queue<finished_send> m_completions;
    struct late_event {
        event what;
        std::uint64_t after = 0;  // completions that were made before it
    };
    ring_queue<late_event> m_events;
    std::uint64_t m_completions_made = 0;
    std::uint64_t m_completions_pushed = 0;
    ring_queue<sent_notice> m_sent;
    std::priority_queue<timer, std::vector<timer>, std::greater<timer>> m_timers;
    std::array<qpc_modify, 2> m_to_error;  // to ERR, to SQE
    observer* m_observer = nullptr;
    counters_t m_counters;
};

}  // namespace hcasim

#endif
