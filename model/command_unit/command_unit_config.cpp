#include "model/command_unit/command_unit_config.h"

namespace hcasim {

void command_unit_config::describe(parameter_list& list) {
    list.integer("command_unit.modify_qp_ns", modify_qp_ns, 0, 100000000,
                 {"ns", "firmware time of modify_qp, mailbox read to context write", evidence::measured,
                  "part of the 106..151 us REP to RTU of the IPoIB-CM capture, in which the active side does "
                  "two modify_qp"});
    list.integer("command_unit.create_qp_ns", create_qp_ns, 0, 100000000,
                 {"ns", "firmware time of create_qp and destroy_qp", evidence::assumed,
                  "spdk issue 3277: about 500 us with the system call"});
    list.integer("command_unit.other_ns", other_ns, 0, 100000000,
                 {"ns", "firmware time of query_qp, create_cq, create_eq", evidence::assumed, ""});
    list.boolean("command_unit.rts_preload", rts_preload,
                 {"1", "INIT to RTR accepts the five attributes of RTS (extension)", evidence::assumed,
                  "hcasim's own; docs/microarchitecture.md"});
}

}  // namespace hcasim
