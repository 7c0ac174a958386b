#ifndef HCASIM_MODEL_IB_QP_STATE_H
#define HCASIM_MODEL_IB_QP_STATE_H

#include <cstdint>
#include <string_view>

namespace hcasim::ib {

/// Queue pair states of IBTA vol. 1, chapter 10.3.1. `sqd` covers draining and drained.
enum class qp_state : std::uint8_t { reset, init, rtr, rts, sqd, sqe, err };
constexpr unsigned qp_state_count = 7;

/// Transport service of a queue pair.
enum class service_type : std::uint8_t { rc, ud };

/// Attributes of modify_qp as a bit mask (IBTA 11.2.5.2; names as in ibv_modify_qp).
enum attribute : std::uint32_t {
    attr_none = 0,
    attr_state = 1u << 0,
    attr_cur_state = 1u << 1,
    attr_en_sqd_async_notify = 1u << 2,
    attr_access_flags = 1u << 3,
    attr_pkey_index = 1u << 4,
    attr_port = 1u << 5,
    attr_qkey = 1u << 6,
    attr_av = 1u << 7,
    attr_path_mtu = 1u << 8,
    attr_timeout = 1u << 9,
    attr_retry_cnt = 1u << 10,
    attr_rnr_retry = 1u << 11,
    attr_rq_psn = 1u << 12,
    attr_max_qp_rd_atomic = 1u << 13,
    attr_alt_path = 1u << 14,
    attr_min_rnr_timer = 1u << 15,
    attr_sq_psn = 1u << 16,
    attr_max_dest_rd_atomic = 1u << 17,
    attr_path_mig_state = 1u << 18,
    attr_dest_qpn = 1u << 20,
};

/// The five attributes that RTR->RTS of an RC QP requires; INIT->RTR accepts them too as hcasim's documented
/// extension, so that a packet may open the gate (docs/microarchitecture.md, "send gate").
constexpr std::uint32_t rts_attributes_rc =
    attr_sq_psn | attr_timeout | attr_retry_cnt | attr_rnr_retry | attr_max_qp_rd_atomic;

/// Why a modify_qp was refused; `ok` when it was not.
enum class modify_status : std::uint8_t {
    ok,
    bad_transition,        ///< the pair (from, to) is not in IBTA table 91..96
    missing_attribute,     ///< a required attribute is not in the mask
    unexpected_attribute,  ///< an attribute is in the mask that this transition does not take
    wrong_current_state,   ///< CUR_STATE given and not the QP's state
    unknown_qp,
    bad_value,    ///< an attribute's value is out of range
    bad_command,  ///< opcode or length of the command not known
};

/// Checks a modify_qp request against the transition tables of IBTA 11.2.5.2. `mask` is the set of attributes
/// given (without attr_state). `preload_extension` allows the five RTS attributes on INIT->RTR of an RC QP.
modify_status check_modify(service_type service, qp_state from, qp_state to, std::uint32_t mask,
                           bool preload_extension);

/// True where posting to the send queue is an immediate error by IBTA 11.4.1.1 (RESET, INIT, RTR).
constexpr bool post_send_is_error(qp_state state) {
    return state == qp_state::reset || state == qp_state::init || state == qp_state::rtr;
}
/// True where the responder half works (RTR, RTS, SQD, SQE).
constexpr bool responder_is_on(qp_state state) {
    return state == qp_state::rtr || state == qp_state::rts || state == qp_state::sqd ||
           state == qp_state::sqe;
}
/// True where the requester half may have packets on the wire (RTS, SQD).
constexpr bool requester_is_on(qp_state state) { return state == qp_state::rts || state == qp_state::sqd; }

/// Upper-case name as the IBTA writes it ("RTR").
std::string_view name(qp_state state);
std::string_view name(modify_status status);

}  // namespace hcasim::ib

#endif
