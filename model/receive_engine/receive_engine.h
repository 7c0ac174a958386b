#ifndef HCASIM_MODEL_RECEIVE_ENGINE_RECEIVE_ENGINE_H
#define HCASIM_MODEL_RECEIVE_ENGINE_RECEIVE_ENGINE_H

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "model/clock/channel.h"
#include "model/clock/qp_table.h"
#include "model/clock/ring_queue.h"
#include "model/ib/headers.h"
#include "model/ib/messages.h"
#include "model/receive_engine/receive_engine_config.h"
#include "model/stats/observer.h"

namespace hcasim {

/// The responder half: checks packets, finds receive WQEs, writes payload, acknowledges, raises Communication
/// Established and infers RTS. Also hands acknowledges of the peer to the send engine. Cycle contract:
/// docs/microarchitecture.md, "receive engine".
class receive_engine : public clocked_module {
public:
    static constexpr std::uint32_t vls = 15;

    receive_engine(const sc_core::sc_module_name& name, clock_domain& domain, ib::packet_pool& pool);

    in_port<ib::packet*> packet_i;
    in_port<receive_doorbell> doorbell_i;
    in_port<state_event> state_i;
    out_port<qpc_request> context_o;
    in_port<qpc_response> context_i;
    out_port<dma_read> read_o;
    in_port<dma_read_done> read_i;
    out_port<dma_write> write_o;
    out_port<acknowledge> acknowledge_o;
    out_port<completion> completion_o;
    out_port<event> event_o;
    out_port<ib::packet*>& packet_o(std::uint32_t vl) { return *m_packet_o[vl]; }

    void reset(const receive_engine_config& config, std::uint32_t qps, std::uint16_t lid,
               std::uint32_t data_vls);
    void set_observer(observer* o) { m_observer = o; }
    void tick() override;

    struct counters_t {
        std::uint64_t packets = 0;
        std::uint64_t icrc_errors = 0;
        std::uint64_t bad_packets = 0;  ///< not decodable
        std::uint64_t unknown_qp = 0;
        std::uint64_t wrong_state = 0;    ///< dropped silently: state takes no such packet
        std::uint64_t failed_checks = 0;  ///< P_Key, Q_Key, source LID, service type
        std::uint64_t accepted = 0;
        std::uint64_t duplicates = 0;
        std::uint64_t sequence_naks = 0;
        std::uint64_t rnr_naks = 0;
        std::uint64_t other_naks = 0;
        std::uint64_t merged_replies = 0;  ///< ACKs that waited for room and were covered by a later one
        std::uint64_t acks = 0;
        std::uint64_t no_receive_wqe = 0;  ///< UD packets dropped for want of a receive WQE
        std::uint64_t comm_est = 0;
        std::uint64_t inferences_asked = 0;
        std::uint64_t flushed = 0;
    };
    const counters_t& counters() const { return m_counters; }

private:
    static constexpr std::uint16_t idle = 0xffff;

    /// On the chip for every QP slot.
    struct qp {
        std::uint32_t qpn = 0;
        std::uint16_t producer = 0;   // of the receive queue
        std::uint16_t active = idle;  // entry of m_active
        ib::qp_state state = ib::qp_state::reset;
        bool flushing = false;
        bool error_asked : 1;
        bool reply_waits : 1;  // it found its VL queue full: in m_replies; a later one takes its place

        qp() : error_asked(false), reply_waits(false) {}
    };
    static_assert(sizeof(qp) <= 12, "one for each QP slot: docs of qp_table");
    /// Responder half of a QP while packets of it are in the engine.
    struct active {
        std::uint32_t qpn = 0;
        std::uint32_t users = 0;
        bool here = false;
        bool known = false;
        bool dirty = false;
        bool refusing = false;  // a packet was decided that ends the QP: no request behind it is accepted
        bool failed = false;    // ... and has come up: what was accepted behind it is dropped
        ib::qp_context context;
    };
    enum class action : std::uint8_t { undecided, drop, receive, acknowledge_only, negative };
    struct slot {
        ib::packet* packet = nullptr;
        ib::decoded_packet d;
        std::uint32_t active = idle;
        action what = action::undecided;
        bool needs_wqe = false;
        bool wqe_here = false;
        bool first = false;
        bool last = false;
        std::uint8_t syndrome = 0;
        std::uint32_t reply_psn = 0;
        std::uint32_t msn = 0;
        bool to_error = false;
        std::uint16_t wqe_index = 0;
        ib::receive_wqe wqe;
    };

    void take_state(const state_event& e);
    bool take_packet();
    std::uint32_t take_active();
    /// The n-th slot from the oldest one on, n < m_slots.size().
    slot& slot_at(std::size_t n) {
        n += m_oldest;
        return m_slots[n < m_slots.size() ? n : n - m_slots.size()];
    }
    void take_context(const qpc_response& r);
    bool decide();
    bool decide(slot& s, active& a, qp& q);
    bool decide_datagram(slot& s, active& a, qp& q);
    void fetch_wqe(slot& s, const ib::qp_context& c, ib::responder_context& r);
    std::uint8_t ack_syndrome(const qp& q, const ib::responder_context& r) const;
    bool complete();
    bool complete_receive(slot& s, active& a);
    void reply(const slot& s, const active& a);
    ib::packet* take_reply(qp& q);
    void send_waiting_replies();
    void release(std::uint32_t active_index);
    bool run_flush();
    void flush_wqe(const ib::qp_context& context, std::uint64_t wr_id, std::uint16_t index);
    bool drain_queues();
    void ask_error(qp& q);
    qp& at(std::uint32_t qpn) { return m_qps[qpn & m_mask]; }

    ib::packet_pool& m_pool;
    std::vector<std::unique_ptr<out_port<ib::packet*>>> m_packet_o;
    receive_engine_config m_config;
    std::uint32_t m_mask = 0;
    std::uint16_t m_lid = 0;
    std::uint32_t m_data_vls = 1;
    qp_table<qp> m_qps;
    std::vector<active> m_active;
    std::vector<std::uint64_t> m_free_active;  // bit per entry
    std::vector<slot> m_slots;                 // ring in the order of arrival
    std::size_t m_oldest = 0;
    std::size_t m_count = 0;    // slots in use
    std::size_t m_decided = 0;  // of these, the oldest that are decided
    ring_queue<qpc_request> m_requests;
    ring_queue<completion> m_completions;
    ring_queue<event> m_events;
    std::unordered_map<std::uint32_t, ib::packet*> m_replies;      // those that wait, by QP slot
    std::array<ring_queue<std::uint32_t>, vls> m_waiting_replies;  // QP slots
    std::uint32_t m_waiting_vls = 0;                               // bit per queue of these that is not empty
    ring_queue<std::uint32_t> m_flush;  // QP slots whose receive queue is being flushed
    enum class flush_step : std::uint8_t {
        context,
        fetch,
        complete,
        wait
    } m_flush_step = flush_step::context;
    ib::qp_context m_flush_context;
    ib::receive_wqe m_flush_wqe;
    bool m_flush_known = false;
    qpc_modify m_to_error;
    qpc_modify m_infer;
    observer* m_observer = nullptr;
    counters_t m_counters;
};

}  // namespace hcasim

#endif
