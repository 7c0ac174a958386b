#ifndef HCASIM_MODEL_IB_COMMAND_H
#define HCASIM_MODEL_IB_COMMAND_H

#include <cstdint>

#include "model/ib/qp_context.h"

namespace hcasim::ib {

enum class command_opcode : std::uint8_t {
    create_qp = 1,
    modify_qp,
    query_qp,
    destroy_qp,
    create_cq,
    create_eq
};

/// Command mailbox in host memory. The host writes the request, rings bar_command_offset with its address,
/// and waits for the `command` event with its token (or polls `done`). The HCA writes the whole mailbox back
/// with `done`, `status` and the query results.
struct command_mailbox {
    command_opcode opcode = command_opcode::query_qp;
    std::uint8_t done = 0;
    modify_status status = modify_status::ok;
    qp_state state = qp_state::reset;          ///< modify: target; query: present state
    qp_state current_state = qp_state::reset;  ///< modify: CUR_STATE when attr_cur_state is in the mask
    gate_opener reason =
        gate_opener::command;  ///< modify: why software asks (statistics only); query: what opened the gate
    std::uint16_t token = 0;
    std::uint32_t number = 0;  ///< QPN or CQN
    std::uint32_t attribute_mask = 0;
    qp_attributes attributes;
    qp_resources resources;          ///< create_qp
    std::uint64_t ring_address = 0;  ///< create_cq, create_eq
    std::uint32_t ring_entries = 0;  ///< create_cq, create_eq: power of two
    std::uint32_t sq_psn = 0;        ///< query: next PSN of the requester
    std::uint32_t expected_psn = 0;  ///< query
};
static_assert(sizeof(command_mailbox) <= 192);

}  // namespace hcasim::ib

#endif
