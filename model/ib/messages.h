#ifndef HCASIM_MODEL_IB_MESSAGES_H
#define HCASIM_MODEL_IB_MESSAGES_H

#include <array>
#include <cstdint>
#include <cstring>

#include "model/ib/command.h"
#include "model/ib/packet.h"
#include "model/ib/qp_context.h"
#include "model/ib/work_queue.h"

// What travels through the channels between the blocks of the HCA.

namespace hcasim {

/// 8-byte MMIO write to a UAR page, from the host interface to the doorbell unit.
struct doorbell_write {
    std::uint64_t word = 0;
};

/// Producer index of a send queue, from the doorbell unit to the send scheduler.
struct send_doorbell {
    std::uint32_t qpn = 0;
    std::uint16_t producer = 0;
};

/// Producer index of a receive queue, from the doorbell unit to the receive engine.
struct receive_doorbell {
    std::uint32_t qpn = 0;
    std::uint16_t producer = 0;
};

/// Arms a CQ, from the doorbell unit to the completion unit.
struct cq_doorbell {
    std::uint32_t cqn = 0;
    std::uint16_t consumer = 0;
    bool event_queue = false;  ///< the consumer index is that of the event queue
};

/// A command to be fetched, from the host interface to the command unit.
struct command_doorbell {
    std::uint64_t mailbox_address = 0;
};

/// Read of host memory. The data is in `destination` when the response with the same cookie arrives; the
/// requester keeps the buffer until then. Responses of one requester come in the order of its requests.
struct dma_read {
    std::uint64_t address = 0;
    std::uint32_t bytes = 0;
    std::uint32_t cookie = 0;
    std::uint8_t* destination = nullptr;
};
struct dma_read_done {
    std::uint32_t cookie = 0;
};

/// Posted write to host memory: from `data` (kept by `packet`, which the host interface gives back to the
/// pool) or, when `data` is null, from `small`. With `interrupt` the write (which may be of 0 bytes) is
/// followed by an interrupt.
struct dma_write {
    /// A write of `n` bytes to `a` with nothing else said; `small` is left as it is, for entries that are
    /// filled in where they lie.
    void start(std::uint64_t a, std::uint32_t n) {
        address = a;
        bytes = n;
        interrupt = false;
        completes_wqe = false;
        wqe_index = 0;
        qpn = 0;
        data = nullptr;
        packet = nullptr;
    }

    std::uint64_t address = 0;
    std::uint32_t bytes = 0;
    bool interrupt = false;
    bool completes_wqe = false;  ///< a CQE of a send: stamps `completed` for (qpn, wqe_index)
    std::uint16_t wqe_index = 0;
    std::uint32_t qpn = 0;
    const std::uint8_t* data = nullptr;
    ib::packet* packet = nullptr;
    std::array<std::uint8_t, 64> small{};
};

/// State of the send gate of a QP as the scheduler knows it.
enum class gate_state : std::uint8_t {
    closed,  ///< nothing is granted
    open,    ///< RTS
    flush,   ///< ERR, SQE: WQEs are granted to be completed with flush status
};

/// A change of QP state, from the context cache (where the state lives) to scheduler, send engine and receive
/// engine.
struct state_event {
    std::uint32_t qpn = 0;
    ib::qp_state state = ib::qp_state::reset;
    gate_state gate = gate_state::closed;
    std::uint8_t sl_class = 0;
    bool created = false;  ///< first event of a new QP: indices start at 0
    bool notify_drained = false;
};

enum class qpc_operation : std::uint8_t {
    read,             ///< context by value
    write_requester,  ///< requester half; no response
    write_responder,  ///< responder half; no response
    modify,           ///< compare state, apply attributes, change state (one atomic step)
    create,           ///< new context in place of whatever the slot held
};

/// What `modify` does. Lives in the requester's memory until the response.
struct qpc_modify {
    std::uint32_t from_states = 0;  ///< bit per ib::qp_state in which the change applies
    ib::qp_state to = ib::qp_state::err;
    bool needs_rts_attributes = false;  ///< applies only when has_rts_attributes is set
    ib::gate_opener reason = ib::gate_opener::none;
    std::uint32_t attribute_mask = 0;
    ib::qp_attributes attributes;
    bool destroy = false;  ///< context becomes invalid
};

struct qpc_request {
    qpc_operation operation = qpc_operation::read;
    std::uint32_t qpn = 0;
    std::uint32_t cookie = 0;
    ib::requester_context requester;
    ib::responder_context responder;
    const qpc_modify* modify = nullptr;
    const ib::qp_context* fresh = nullptr;  ///< create
};

/// Response to read, modify and create. `known` is false when the slot holds no QP of that number.
struct qpc_response {
    std::uint32_t cookie = 0;
    bool known = false;
    bool applied = false;  ///< modify: the state was one of from_states
    bool was_hit = false;
    ib::qp_state from = ib::qp_state::reset;  ///< modify: state before
    ib::qp_context context;
};

/// WQEs [first, first + count) of a QP are to be sent (or flushed), from the send scheduler to the send
/// engine.
struct send_grant {
    std::uint32_t qpn = 0;
    std::uint16_t first = 0;
    std::uint16_t count = 0;
    bool flush = false;
};

/// What the send engine tells the scheduler about a QP.
struct scheduler_update {
    std::uint32_t qpn = 0;
    bool end_service = false;   ///< the grant is done
    bool set_consumer = false;  ///< next WQE to grant is `consumer` (go-back-N, or the grant was not used up)
    std::uint16_t consumer = 0;
    bool resend = false;  ///< with set_consumer: WQEs before `resend_until` had begun and are granted even
                          ///< while the gate is closed (SQD)
    std::uint16_t resend_until = 0;
    enum class hold_t : std::uint8_t { keep, hold, release } hold = hold_t::keep;  ///< window, RNR wait
    bool gate_was_closed = false;  ///< gate bits in the context: the state was not RTS
};

/// An acknowledge packet for the requester half, from the receive engine to the send engine.
struct acknowledge {
    std::uint32_t qpn = 0;
    std::uint32_t psn = 0;
    std::uint8_t syndrome = 0;
};

/// A CQE to be written, to the completion unit.
struct completion {
    std::uint32_t cqn = 0;
    ib::cqe entry;
};

/// An event to be written, to the completion unit.
struct event {
    ib::event_type type = ib::event_type::completion;
    std::uint32_t number = 0;
};

/// A CQ or the EQ is set up, from the command unit to the completion unit.
struct queue_setup {
    bool is_event_queue = false;
    std::uint32_t cqn = 0;
    std::uint64_t address = 0;
    std::uint32_t entries = 0;
};

/// Credits of a VL, from link_rx to link_tx: what the peer has announced, or what is to be announced to it.
struct credit_update {
    bool from_peer = false;  ///< fccl is the peer's; else ours
    bool at_once = false;    ///< ours: send a flow-control packet now, not at the next period
    std::uint8_t vl = 0;
    std::uint16_t fccl = 0;
};

/// An unacknowledged (UD) message has begun on the wire, from link_tx to the send engine, which completes it
/// when the last byte has left.
struct sent_notice {
    std::uint32_t qpn = 0;
    std::uint16_t wqe_index = 0;
    std::uint64_t last_byte_cycle = 0;
};

}  // namespace hcasim

#endif
