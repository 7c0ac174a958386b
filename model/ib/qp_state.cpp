#include "model/ib/qp_state.h"

namespace hcasim::ib {

namespace {

// One move of the modify_qp tables (IBTA vol. 1, 11.2.5.2). The mask of a request must hold all of `required`
// and nothing beside `required` and `optional`.
struct transition {
    qp_state from;
    qp_state to;
    bool rc;  // exists for RC
    bool ud;  // exists for UD
    std::uint32_t rc_required;
    std::uint32_t rc_optional;
    std::uint32_t ud_required;
    std::uint32_t ud_optional;
};

// What an established RC queue pair takes on each move into RTS.
constexpr std::uint32_t rc_running =
    attr_cur_state | attr_alt_path | attr_access_flags | attr_min_rnr_timer | attr_path_mig_state;
constexpr std::uint32_t ud_running = attr_cur_state | attr_qkey;

// The moves to RESET and ERR are not listed: they are valid from every state and take no attribute.
constexpr transition transitions[] = {
    {qp_state::reset, qp_state::init, true, true, attr_pkey_index | attr_port | attr_access_flags, attr_none,
     attr_pkey_index | attr_port | attr_qkey, attr_none},
    {qp_state::init, qp_state::init, true, true, attr_none, attr_pkey_index | attr_port | attr_access_flags,
     attr_none, attr_pkey_index | attr_port | attr_qkey},
    {qp_state::init, qp_state::rtr, true, true,
     attr_av | attr_path_mtu | attr_dest_qpn | attr_rq_psn | attr_max_dest_rd_atomic | attr_min_rnr_timer,
     attr_alt_path | attr_access_flags | attr_pkey_index, attr_none, attr_pkey_index | attr_qkey},
    {qp_state::rtr, qp_state::rts, true, true, rts_attributes_rc, rc_running, attr_sq_psn, ud_running},
    {qp_state::rts, qp_state::rts, true, true, attr_none, rc_running, attr_none, ud_running},
    {qp_state::rts, qp_state::sqd, true, true, attr_none, attr_en_sqd_async_notify, attr_none,
     attr_en_sqd_async_notify},
    {qp_state::sqd, qp_state::rts, true, true, attr_none, rc_running, attr_none, ud_running},
    {qp_state::sqd, qp_state::sqd, true, true, attr_none,
     attr_port | attr_av | attr_timeout | attr_retry_cnt | attr_rnr_retry | attr_max_qp_rd_atomic |
         attr_max_dest_rd_atomic | attr_alt_path | attr_access_flags | attr_pkey_index | attr_min_rnr_timer |
         attr_path_mig_state,
     attr_none, attr_pkey_index | attr_qkey},
    // An RC queue pair is never in SQE.
    {qp_state::sqe, qp_state::rts, false, true, attr_none, attr_none, attr_none, ud_running},
};

constexpr bool is_state(qp_state state) { return static_cast<unsigned>(state) < qp_state_count; }

modify_status check_mask(std::uint32_t mask, std::uint32_t required, std::uint32_t optional) {
    if ((mask & required) != required) {
        return modify_status::missing_attribute;
    }
    if ((mask & ~(required | optional)) != 0) {
        return modify_status::unexpected_attribute;
    }
    return modify_status::ok;
}

}  // namespace

modify_status check_modify(service_type service, qp_state from, qp_state to, std::uint32_t mask,
                           bool preload_extension) {
    // The target state comes apart from the mask, so the bit that announces it says nothing new.
    mask &= ~std::uint32_t{attr_state};
    if (!is_state(from) || !is_state(to)) {
        return modify_status::bad_transition;
    }
    if (to == qp_state::reset || to == qp_state::err) {
        return check_mask(mask, attr_none, attr_none);
    }
    const bool rc = service == service_type::rc;
    for (const transition& t : transitions) {
        if (t.from != from || t.to != to || !(rc ? t.rc : t.ud)) {
            continue;
        }
        std::uint32_t required = rc ? t.rc_required : t.ud_required;
        const std::uint32_t optional = rc ? t.rc_optional : t.ud_optional;
        const bool preload = preload_extension && rc && from == qp_state::init && to == qp_state::rtr &&
                             (mask & rts_attributes_rc) != 0;
        if (preload) {
            // All five or none: a queue pair with a part of them could not be moved to RTS by a packet.
            required |= rts_attributes_rc;
        }
        return check_mask(mask, required, optional);
    }
    return modify_status::bad_transition;
}

std::string_view name(qp_state state) {
    switch (state) {
        case qp_state::reset:
            return "RESET";
        case qp_state::init:
            return "INIT";
        case qp_state::rtr:
            return "RTR";
        case qp_state::rts:
            return "RTS";
        case qp_state::sqd:
            return "SQD";
        case qp_state::sqe:
            return "SQE";
        case qp_state::err:
            return "ERR";
    }
    return "unknown";
}

std::string_view name(modify_status status) {
    switch (status) {
        case modify_status::ok:
            return "ok";
        case modify_status::bad_transition:
            return "bad_transition";
        case modify_status::missing_attribute:
            return "missing_attribute";
        case modify_status::unexpected_attribute:
            return "unexpected_attribute";
        case modify_status::wrong_current_state:
            return "wrong_current_state";
        case modify_status::unknown_qp:
            return "unknown_qp";
        case modify_status::bad_value:
            return "bad_value";
        case modify_status::bad_command:
            return "bad_command";
    }
    return "unknown";
}

}  // namespace hcasim::ib
