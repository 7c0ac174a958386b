#include "model/receive_engine/receive_engine_config.h"

namespace hcasim {

void receive_engine_config::describe(parameter_list& list) {
    list.integer("receive_engine.slots", slots, 2, 256,
                 {"packets", "packets between the port and their completion; more wait in the VL buffers",
                  evidence::assumed, ""});
    list.boolean("receive_engine.credit_info", credit_info,
                 {"1", "ACKs carry the end-to-end credit code; off: code 31, as with an SRQ",
                  evidence::documented, "IBTA 9.7.7.2; the IPoIB-CM capture shows 31"});
}

}  // namespace hcasim
