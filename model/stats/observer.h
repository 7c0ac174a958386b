#ifndef HCASIM_MODEL_STATS_OBSERVER_H
#define HCASIM_MODEL_STATS_OBSERVER_H

#include <cstdint>
#include <string_view>

#include "model/stats/stage.h"

namespace hcasim {

/// Structures whose fill level is visible.
enum class level_of : std::uint8_t { doorbell_fifo, grants_at_work, packets_at_work };
constexpr unsigned level_count = 3;
constexpr std::string_view name(level_of l) {
    constexpr std::string_view names[level_count] = {"doorbell_fifo", "grants_at_work", "packets_at_work"};
    return names[static_cast<unsigned>(l)];
}

/// Watches one HCA. Blocks call it where things happen; it must not act back on them. Cycles are those of the
/// HCA's clock domain. Enumerations of model/ib come as their numbers. Every method has an empty default.
class observer {
public:
    virtual ~observer() = default;

    /// WQE (qpn, wqe_index) has reached a stage in `cycle`. May come again for a WQE that is sent again; the
    /// last one counts.
    virtual void stamp(std::uint32_t qpn, std::uint16_t wqe_index, stage s, std::uint64_t cycle) {
        (void)qpn, (void)wqe_index, (void)s, (void)cycle;
    }
    /// A send CQE was made with this ib::wc_status, or the WQE ended without one (unsignaled success).
    virtual void wqe_ended(std::uint32_t qpn, std::uint16_t wqe_index, std::uint8_t status, bool has_cqe,
                           std::uint64_t cycle) {
        (void)qpn, (void)wqe_index, (void)status, (void)has_cqe, (void)cycle;
    }
    /// ib::qp_state changed in the context; `opener` is the ib::gate_opener that asked, `sq_psn` the PSN of
    /// the next request.
    virtual void state_changed(std::uint32_t qpn, std::uint8_t from, std::uint8_t to, std::uint8_t opener,
                               std::uint32_t sq_psn, std::uint64_t cycle) {
        (void)qpn, (void)from, (void)to, (void)opener, (void)sq_psn, (void)cycle;
    }
    /// Somebody asked to open a gate that was open already.
    virtual void late_opener(std::uint32_t qpn, std::uint8_t opener, std::uint64_t cycle) {
        (void)qpn, (void)opener, (void)cycle;
    }
    /// The scheduler's gate of this QP changed (gate_state as number); `pending` as it was then.
    virtual void gate_changed(std::uint32_t qpn, std::uint8_t gate, bool pending, std::uint64_t cycle) {
        (void)qpn, (void)gate, (void)pending, (void)cycle;
    }
    /// A packet starts on the wire. `lost` when fault injection drops it there.
    virtual void packet_on_wire(const std::uint8_t* bytes, std::uint32_t size_bytes, std::uint32_t qpn,
                                bool is_flow_control, bool lost, std::uint64_t first_byte_cycle,
                                std::uint64_t last_byte_cycle) {
        (void)bytes, (void)size_bytes, (void)qpn, (void)is_flow_control, (void)lost, (void)first_byte_cycle,
            (void)last_byte_cycle;
    }
    /// A request packet was accepted by the responder (first of its QP in RTR raises COMM_EST elsewhere).
    virtual void request_accepted(std::uint32_t qpn, std::uint32_t psn, bool ends_message,
                                  std::uint64_t cycle) {
        (void)qpn, (void)psn, (void)ends_message, (void)cycle;
    }
    /// A structure holds `value` entries from `cycle` on.
    virtual void level(level_of structure, std::uint64_t value, std::uint64_t cycle) {
        (void)structure, (void)value, (void)cycle;
    }
    /// COMM_EST was raised for this QP.
    virtual void comm_est(std::uint32_t qpn, std::uint64_t cycle) { (void)qpn, (void)cycle; }
    /// The doorbell unit merged a doorbell: producer index before and after.
    virtual void doorbell_merged(std::uint32_t qpn, std::uint16_t before, std::uint16_t offered,
                                 std::uint16_t after, std::uint64_t cycle) {
        (void)qpn, (void)before, (void)offered, (void)after, (void)cycle;
    }
};

/// True when there is an observer. Its calls are kept apart from the code that runs without one.
inline bool is_watched(const observer* o) { return __builtin_expect(o != nullptr ? 1 : 0, 0) != 0; }

}  // namespace hcasim

#endif
