#ifndef HCASIM_MODEL_STATS_STAGE_H
#define HCASIM_MODEL_STATS_STAGE_H

#include <cstdint>
#include <string_view>

namespace hcasim {

/// The points a send passes, in order; each stamp is the cycle in which the point was reached. A stage is the
/// time from the point before to this one and bears the name of this one, so stages add up to completed -
/// submitted by construction; that each stamp is there and that none is earlier than the one before is
/// checked for every WQE.
enum class stage : std::uint8_t {
    submitted,  ///< the application has the message ready
    posted,     ///< WQE in memory: waits above the send queue (policy software, reject) and the per-post cost
    doorbell,   ///< doorbell word seen by the doorbell unit (MMIO latency, full FIFO)
    pending,    ///< the scheduler has set `pending` (doorbell FIFO)
    gate,       ///< `gate_open` and `pending` are both set: the wait behind the send gate
    grant,      ///< granted by the scheduler (arbitration, window, RNR wait)
    context,    ///< QP context in the send engine (hit or miss)
    wqe,        ///< WQE fetched
    payload,    ///< payload of the first packet gathered
    wire,       ///< first byte of the first packet on the link (VL arbitration, credits, other packets)
    sent,       ///< last byte of the last packet on the link
    acked,      ///< acknowledged by the peer (RC); for UD the same cycle as `sent`
    completed,  ///< CQE visible in host memory
};
constexpr unsigned stage_count = 13;

constexpr std::string_view name(stage s) {
    constexpr std::string_view names[stage_count] = {
        "submitted", "post",    "doorbell",  "doorbell_fifo", "gate_wait", "arbitration", "context",
        "wqe_fetch", "payload", "link_wait", "serialize",     "ack",       "completion"};
    return names[static_cast<unsigned>(s)];
}

}  // namespace hcasim

#endif
