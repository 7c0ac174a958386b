#ifndef HCASIM_MODEL_IB_WORK_QUEUE_H
#define HCASIM_MODEL_IB_WORK_QUEUE_H

#include <cstdint>
#include <string_view>

// Layouts of what host and HCA share in host memory: WQE, CQE, EQE, command mailbox, doorbell word. They are
// hcasim's own (every vendor has its own); each is a trivially copyable struct in host byte order whose size
// is part of the contract.

namespace hcasim::ib {

/// Work-completion status; the numbers are those of ibv_wc_status (rdma-core libibverbs/verbs.h).
enum class wc_status : std::uint8_t {
    success = 0,
    loc_len_err = 1,
    loc_qp_op_err = 2,
    wr_flush_err = 5,
    rem_inv_req_err = 9,
    rem_access_err = 10,
    rem_op_err = 11,
    retry_exc_err = 12,
    rnr_retry_exc_err = 13,
};
std::string_view name(wc_status status);

/// Send work-queue entry, 64 bytes. One gather element.
struct send_wqe {
    std::uint8_t opcode = 0;         ///< 0 SEND, 1 SEND with immediate
    std::uint8_t flags = 0;          ///< wqe_flag bits
    std::uint16_t wqe_index = 0;     ///< index modulo 2^16; the HCA checks it against the one it expects
    std::uint32_t length_bytes = 0;  ///< payload, 0..2^31
    std::uint64_t address = 0;       ///< payload in host memory
    std::uint32_t lkey = 0;
    std::uint32_t immediate = 0;
    std::uint16_t remote_lid = 0;  ///< UD address vector
    std::uint8_t sl = 0;           ///< UD service level
    std::uint8_t reserved0 = 0;
    std::uint32_t remote_qpn = 0;   ///< UD
    std::uint32_t remote_qkey = 0;  ///< UD
    std::uint32_t reserved1 = 0;
    std::uint64_t wr_id = 0;
    std::uint64_t reserved2[2] = {};
};
static_assert(sizeof(send_wqe) == 64);

enum wqe_flag : std::uint8_t {
    wqe_signaled = 1,   ///< a CQE on success too
    wqe_solicited = 2,  ///< solicited-event bit in the last packet
};

/// Receive work-queue entry, 32 bytes. One scatter element.
struct receive_wqe {
    std::uint64_t address = 0;
    std::uint32_t length_bytes = 0;
    std::uint32_t lkey = 0;
    std::uint64_t wr_id = 0;
    std::uint64_t reserved = 0;
};
static_assert(sizeof(receive_wqe) == 32);

/// Completion-queue entry, 64 bytes. `phase` is (lap + 1) & 1 of the entry's lap through the ring, so that a
/// poller sees a new one in zeroed memory as phase 1.
struct cqe {
    std::uint64_t wr_id = 0;
    std::uint32_t qpn = 0;
    std::uint32_t length_bytes = 0;  ///< receive: bytes received
    std::uint32_t immediate = 0;
    std::uint32_t src_qpn = 0;  ///< UD receive
    std::uint16_t wqe_index = 0;
    std::uint16_t slid = 0;  ///< receive
    wc_status status = wc_status::success;
    std::uint8_t is_receive = 0;
    std::uint8_t has_immediate = 0;
    std::uint8_t sl = 0;
    std::uint8_t reserved[31] = {};
    std::uint8_t phase = 0;
};
static_assert(sizeof(cqe) == 64);

/// Event types; COMM_EST has the number of the Mellanox event (Linux include/linux/mlx5/device.h).
enum class event_type : std::uint8_t {
    completion = 0x00,  ///< a CQ that was armed has a CQE; number = CQN
    comm_est = 0x02,    ///< communication established; number = QPN
    sq_drained = 0x03,
    cq_error = 0x04,  ///< CQ overrun; number = CQN
    qp_fatal = 0x05,
    qp_inferred_rts = 0x40,  ///< hcasim: the HCA has moved the QP to RTS by itself; number = QPN
    command = 0x0a,          ///< a command is done; number = token
};
std::string_view name(event_type type);

/// Event-queue entry, 16 bytes. `phase` as in cqe.
struct eqe {
    std::uint32_t number = 0;
    event_type type = event_type::completion;
    std::uint8_t reserved[10] = {};
    std::uint8_t phase = 0;
};
static_assert(sizeof(eqe) == 16);

/// Doorbell word: one 8-byte MMIO write to a UAR page.
enum class doorbell_type : std::uint8_t { send_queue = 0, receive_queue = 1, arm_cq = 2, event_queue = 3 };
struct doorbell {
    doorbell_type type = doorbell_type::send_queue;
    std::uint32_t number = 0;  ///< QPN or CQN, 24 bits
    std::uint16_t index =
        0;  ///< producer index (queues) or consumer index (CQ, event queue): a position, never a count
};
constexpr std::uint64_t encode(const doorbell& d) {
    return static_cast<std::uint64_t>(d.type) << 56 | std::uint64_t{d.number & 0xffffffu} << 32 | d.index;
}
constexpr doorbell decode_doorbell(std::uint64_t word) {
    return {static_cast<doorbell_type>(word >> 56), static_cast<std::uint32_t>(word >> 32) & 0xffffffu,
            static_cast<std::uint16_t>(word)};
}

// The BAR: page 0 is the command page, pages 1.. are UAR pages.
constexpr std::uint64_t bar_page_bytes = 4096;
constexpr std::uint64_t bar_command_offset = 0x000;   ///< 8 bytes: address of the command mailbox
constexpr std::uint64_t uar_doorbell_offset = 0x800;  ///< 8 bytes, within a UAR page
constexpr std::uint64_t bar_bytes = 64 * bar_page_bytes;

}  // namespace hcasim::ib

#endif
