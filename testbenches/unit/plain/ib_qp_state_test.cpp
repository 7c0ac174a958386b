#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "model/ib/qp_state.h"
#include "testbenches/unit/catch.h"

using namespace hcasim::ib;

namespace {

constexpr std::array<qp_state, qp_state_count> all_states = {qp_state::reset, qp_state::init, qp_state::rtr,
                                                             qp_state::rts,   qp_state::sqd,  qp_state::sqe,
                                                             qp_state::err};

// The attributes beside attr_state, each a bit that a mask of the walk may have.
const std::vector<std::uint32_t> all_attributes = {attr_cur_state,
                                                   attr_en_sqd_async_notify,
                                                   attr_access_flags,
                                                   attr_pkey_index,
                                                   attr_port,
                                                   attr_qkey,
                                                   attr_av,
                                                   attr_path_mtu,
                                                   attr_timeout,
                                                   attr_retry_cnt,
                                                   attr_rnr_retry,
                                                   attr_rq_psn,
                                                   attr_max_qp_rd_atomic,
                                                   attr_alt_path,
                                                   attr_min_rnr_timer,
                                                   attr_sq_psn,
                                                   attr_max_dest_rd_atomic,
                                                   attr_path_mig_state,
                                                   attr_dest_qpn};

constexpr std::uint32_t attribute_bits = (1u << 21) - 1u - attr_state - (1u << 19);

// The rules a second time, as sentences of the man page rather than as a table: what a mask must and may
// hold.
struct rule {
    bool valid;
    std::uint32_t required;
    std::uint32_t optional;
};

rule rule_for(service_type service, qp_state from, qp_state to) {
    const bool rc = service == service_type::rc;
    const auto move = [&](qp_state a, qp_state b) { return from == a && to == b; };
    if (to == qp_state::reset || to == qp_state::err) {
        return {true, 0, 0};
    }
    const std::uint32_t key = rc ? attr_access_flags : attr_qkey;
    if (move(qp_state::reset, qp_state::init)) {
        return {true, attr_pkey_index | attr_port | key, 0};
    }
    if (move(qp_state::init, qp_state::init)) {
        return {true, 0, attr_pkey_index | attr_port | key};
    }
    if (move(qp_state::init, qp_state::rtr)) {
        if (!rc) {
            return {true, 0, attr_pkey_index | attr_qkey};
        }
        return {true,
                attr_av | attr_path_mtu | attr_dest_qpn | attr_rq_psn | attr_max_dest_rd_atomic |
                    attr_min_rnr_timer,
                attr_alt_path | attr_access_flags | attr_pkey_index};
    }
    if (to == qp_state::rts) {
        const std::uint32_t optional =
            rc ? attr_cur_state | attr_alt_path | attr_access_flags | attr_min_rnr_timer | attr_path_mig_state
               : attr_cur_state | attr_qkey;
        if (from == qp_state::rtr) {
            return {true,
                    rc ? attr_sq_psn | attr_timeout | attr_retry_cnt | attr_rnr_retry | attr_max_qp_rd_atomic
                       : std::uint32_t{attr_sq_psn},
                    optional};
        }
        const bool from_running =
            from == qp_state::rts || from == qp_state::sqd || (!rc && from == qp_state::sqe);
        return {from_running, 0, optional};
    }
    if (move(qp_state::rts, qp_state::sqd)) {
        return {true, 0, attr_en_sqd_async_notify};
    }
    if (move(qp_state::sqd, qp_state::sqd)) {
        if (!rc) {
            return {true, 0, attr_pkey_index | attr_qkey};
        }
        return {true, 0,
                attr_port | attr_av | attr_timeout | attr_retry_cnt | attr_rnr_retry | attr_max_qp_rd_atomic |
                    attr_max_dest_rd_atomic | attr_alt_path | attr_access_flags | attr_pkey_index |
                    attr_min_rnr_timer | attr_path_mig_state};
    }
    return {false, 0, 0};
}

modify_status expected(const rule& r, std::uint32_t mask) {
    if (!r.valid) {
        return modify_status::bad_transition;
    }
    if ((r.required & ~mask) != 0) {
        return modify_status::missing_attribute;
    }
    return (mask & ~(r.required | r.optional)) != 0 ? modify_status::unexpected_attribute : modify_status::ok;
}

// Masks of the walk that check_modify answers otherwise than the rules; every set of attributes is tried.
std::uint64_t wrong_answers(service_type service, qp_state from, qp_state to, bool preload_extension) {
    const rule plain = rule_for(service, from, to);
    rule preloaded = plain;
    preloaded.required |= rts_attributes_rc;
    const bool may_preload =
        preload_extension && service == service_type::rc && from == qp_state::init && to == qp_state::rtr;
    std::uint64_t wrong = 0;
    // Counts through the subsets of attribute_bits in ascending order.
    std::uint32_t mask = 0;
    do {
        const bool preloads = may_preload && (mask & rts_attributes_rc) != 0;
        const modify_status answer = check_modify(service, from, to, mask, preload_extension);
        wrong += answer != expected(preloads ? preloaded : plain, mask);
        mask = (mask - attribute_bits) & attribute_bits;
    } while (mask != 0);
    return wrong;
}

constexpr std::uint32_t init_to_rtr_rc =
    attr_av | attr_path_mtu | attr_dest_qpn | attr_rq_psn | attr_max_dest_rd_atomic | attr_min_rnr_timer;

}  // namespace

TEST_CASE("ib: modify_qp follows the IBTA tables for every state and target and set of attributes") {
    for (const service_type service : {service_type::rc, service_type::ud}) {
        for (const qp_state from : all_states) {
            for (const qp_state to : all_states) {
                for (const bool preload_extension : {false, true}) {
                    INFO((service == service_type::rc ? "RC " : "UD ") << name(from) << " to " << name(to));
                    CHECK(wrong_answers(service, from, to, preload_extension) == 0);
                }
            }
        }
    }
}

TEST_CASE("ib: modify_qp takes exactly the documented moves") {
    const auto moves = [](service_type service) {
        std::string text;
        for (const qp_state from : all_states) {
            for (const qp_state to : all_states) {
                if (check_modify(service, from, to, 0, false) != modify_status::bad_transition) {
                    text += std::string{name(from)} + ">" + std::string{name(to)} + " ";
                }
            }
        }
        return text;
    };
    const std::string both =
        "RESET>RESET RESET>INIT RESET>ERR INIT>RESET INIT>INIT INIT>RTR INIT>ERR "
        "RTR>RESET RTR>RTS RTR>ERR RTS>RESET RTS>RTS RTS>SQD RTS>ERR "
        "SQD>RESET SQD>RTS SQD>SQD SQD>ERR ";
    CHECK(moves(service_type::rc) == both + "SQE>RESET SQE>ERR ERR>RESET ERR>ERR ");
    CHECK(moves(service_type::ud) == both + "SQE>RESET SQE>RTS SQE>ERR ERR>RESET ERR>ERR ");
}

TEST_CASE("ib: modify_qp to RESET and ERR takes the state alone") {
    for (const qp_state from : all_states) {
        for (const qp_state to : {qp_state::reset, qp_state::err}) {
            CHECK(check_modify(service_type::rc, from, to, 0, true) == modify_status::ok);
            for (const std::uint32_t attribute : all_attributes) {
                CHECK(check_modify(service_type::rc, from, to, attribute, true) ==
                      modify_status::unexpected_attribute);
            }
        }
    }
}

TEST_CASE("ib: modify_qp refuses timer attributes where they do not belong") {
    // IBV_QP_TIMEOUT is a matter of RTR to RTS and of SQD, not of a running queue pair.
    CHECK(check_modify(service_type::rc, qp_state::rts, qp_state::rts, attr_timeout, false) ==
          modify_status::unexpected_attribute);
    CHECK(check_modify(service_type::rc, qp_state::sqd, qp_state::rts, attr_timeout, false) ==
          modify_status::unexpected_attribute);
    CHECK(check_modify(service_type::rc, qp_state::sqd, qp_state::sqd, attr_timeout, false) ==
          modify_status::ok);
    CHECK(check_modify(service_type::rc, qp_state::reset, qp_state::init,
                       attr_pkey_index | attr_port | attr_access_flags | attr_min_rnr_timer,
                       false) == modify_status::unexpected_attribute);
    CHECK(check_modify(service_type::rc, qp_state::rts, qp_state::rts, attr_min_rnr_timer, false) ==
          modify_status::ok);
    CHECK(check_modify(service_type::rc, qp_state::init, qp_state::rtr, init_to_rtr_rc & ~attr_min_rnr_timer,
                       false) == modify_status::missing_attribute);
    // A second move to RTS cannot rewrite the PSN.
    CHECK(check_modify(service_type::rc, qp_state::rts, qp_state::rts, attr_sq_psn, false) ==
          modify_status::unexpected_attribute);
}

TEST_CASE("ib: modify_qp INIT to RTR takes the five RTS attributes together or not at all") {
    for (std::uint32_t given = rts_attributes_rc;; given = (given - 1) & rts_attributes_rc) {
        const std::uint32_t mask = init_to_rtr_rc | given;
        const bool all_or_none = given == 0 || given == rts_attributes_rc;
        CHECK(check_modify(service_type::rc, qp_state::init, qp_state::rtr, mask, true) ==
              (all_or_none ? modify_status::ok : modify_status::missing_attribute));
        CHECK(check_modify(service_type::rc, qp_state::init, qp_state::rtr, mask, false) ==
              (given == 0 ? modify_status::ok : modify_status::unexpected_attribute));
        if (given == 0) {
            break;
        }
    }
    CHECK(check_modify(service_type::ud, qp_state::init, qp_state::rtr, rts_attributes_rc, true) ==
          modify_status::unexpected_attribute);
}

TEST_CASE("ib: modify_qp answers for states and attributes that do not exist") {
    const auto no_state = static_cast<qp_state>(qp_state_count);
    CHECK(check_modify(service_type::rc, no_state, qp_state::reset, 0, false) ==
          modify_status::bad_transition);
    CHECK(check_modify(service_type::rc, qp_state::rts, no_state, 0, false) == modify_status::bad_transition);
    CHECK(check_modify(service_type::rc, static_cast<qp_state>(255), static_cast<qp_state>(255), 0, false) ==
          modify_status::bad_transition);
    for (const unsigned bit : {19u, 21u, 22u, 31u}) {
        CHECK(check_modify(service_type::rc, qp_state::rts, qp_state::rts, 1u << bit, false) ==
              modify_status::unexpected_attribute);
    }
    CHECK(check_modify(service_type::rc, qp_state::rts, qp_state::err, attr_state, false) ==
          modify_status::ok);
}

TEST_CASE("ib: names of states and answers") {
    std::string states;
    for (const qp_state state : all_states) {
        states += std::string{name(state)} + " ";
    }
    CHECK(states == "RESET INIT RTR RTS SQD SQE ERR ");
    CHECK(name(static_cast<qp_state>(9)) == "unknown");
    std::string answers;
    for (unsigned status = 0; status <= 8; ++status) {
        answers += std::string{name(static_cast<modify_status>(status))} + " ";
    }
    CHECK(answers ==
          "ok bad_transition missing_attribute unexpected_attribute wrong_current_state unknown_qp bad_value "
          "bad_command unknown ");
}

TEST_CASE("ib: what each state lets a queue pair do") {
    std::string posts_fail;
    std::string responders;
    std::string requesters;
    for (const qp_state state : all_states) {
        posts_fail += post_send_is_error(state) ? std::string{name(state)} + " " : "";
        responders += responder_is_on(state) ? std::string{name(state)} + " " : "";
        requesters += requester_is_on(state) ? std::string{name(state)} + " " : "";
    }
    CHECK(posts_fail == "RESET INIT RTR ");
    CHECK(responders == "RTR RTS SQD SQE ");
    CHECK(requesters == "RTS SQD ");
}
