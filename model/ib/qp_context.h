#ifndef HCASIM_MODEL_IB_QP_CONTEXT_H
#define HCASIM_MODEL_IB_QP_CONTEXT_H

#include <cstdint>

#include "model/ib/qp_state.h"

namespace hcasim::ib {

/// What opened a send gate.
enum class gate_opener : std::uint8_t { none, rtu, packet, comm_est, command };
constexpr unsigned gate_opener_count = 5;

/// Attributes that software gives with modify_qp; which of them are meant says the mask.
struct qp_attributes {
    std::uint32_t dest_qpn = 0;
    std::uint32_t rq_psn = 0;
    std::uint32_t sq_psn = 0;
    std::uint32_t qkey = 0;
    std::uint16_t pkey = 0xffff;  ///< the P_Key itself; the table of one entry per QP stands for PKEY_INDEX
    std::uint16_t dlid = 0;       ///< address vector
    std::uint8_t sl = 0;          ///< address vector, 0..15
    std::uint8_t port = 1;
    std::uint8_t path_mtu = 5;       ///< code 1..5
    std::uint8_t timeout = 0;        ///< exponent 0..31, 0 = no timer
    std::uint8_t retry_cnt = 0;      ///< 0..7
    std::uint8_t rnr_retry = 0;      ///< 0..7, 7 = without limit
    std::uint8_t min_rnr_timer = 0;  ///< code 0..31
    std::uint8_t max_rd_atomic = 0;
    std::uint8_t max_dest_rd_atomic = 0;
    std::uint8_t en_sqd_async_notify = 0;
    std::uint16_t reserved = 0;
};

/// What create_qp fixes for the life of the QP.
struct qp_resources {
    std::uint64_t sq_address = 0;  ///< ring of send_wqe
    std::uint64_t rq_address = 0;  ///< ring of receive_wqe
    std::uint32_t send_cqn = 0;
    std::uint32_t receive_cqn = 0;
    std::uint8_t sq_log_entries = 0;  ///< 0..15
    std::uint8_t rq_log_entries = 0;  ///< 0..15
    service_type service = service_type::rc;
    std::uint8_t sl_class = 0;  ///< service level by which the scheduler arbitrates, 0..15
    std::uint32_t reserved = 0;
};

/// Requester half: written by the send engine only.
struct requester_context {
    std::uint32_t next_psn = 0;  ///< PSN of the next new request packet
    std::uint32_t life = 0;      ///< moves with create and RESET: a write of an earlier life is void
};

/// Responder half: written by the receive engine only.
struct responder_context {
    std::uint32_t expected_psn = 0;
    std::uint32_t msn = 0;
    std::uint16_t rq_consumer = 0;  ///< next receive WQE
    std::uint8_t in_message = 0;    ///< between FIRST and LAST
    std::uint8_t nak_sent = 0;      ///< a sequence NAK is out for expected_psn
    std::uint8_t comm_est_raised = 0;
    std::uint8_t reserved = 0;
    std::uint16_t life = 0;             ///< as in requester_context
    std::uint64_t message_address = 0;  ///< where the next bytes of the present message go
    std::uint64_t message_wr_id = 0;
    std::uint32_t message_room_bytes = 0;
    std::uint32_t message_bytes = 0;  ///< received so far
};

/// QP context as it lies in the HCA's context memory in the host (one slot of 256 bytes per QP) and in a line
/// of the context cache. Every byte has a name, so that none has a value by chance.
struct qp_context {
    std::uint32_t qpn =
        0;  ///< all 24 bits: a packet or doorbell for an older QP of the same slot does not match
    qp_state state = qp_state::reset;
    std::uint8_t valid = 0;               ///< created and not destroyed
    std::uint8_t has_rts_attributes = 0;  ///< the five attributes of RTS are here: a packet may open the gate
    gate_opener opened_by = gate_opener::none;
    qp_resources resources;
    qp_attributes attributes;
    requester_context requester;
    responder_context responder;
};
constexpr std::uint64_t qp_context_slot_bytes = 256;
static_assert(sizeof(qp_context) <= qp_context_slot_bytes);

}  // namespace hcasim::ib

#endif
