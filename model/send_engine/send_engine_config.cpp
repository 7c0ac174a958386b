#include "model/send_engine/send_engine_config.h"

namespace hcasim {

void send_engine_config::describe(parameter_list& list) {
    list.integer("send_engine.slots", slots, 1, 256,
                 {"entries", "grants being worked on at once", evidence::assumed,
                  "at least 30 reads in flight hide a PCIe round trip (pcie-bench)"});
    list.integer("send_engine.payload_prefetch", payload_prefetch, 1, 64,
                 {"packets", "payload reads under way per grant", evidence::assumed, ""});
    list.integer("send_engine.window_messages", window_messages, 1, 1024,
                 {"messages", "unacknowledged messages per QP; the QP is held when reached",
                  evidence::assumed, "rxe bounds unacked PSNs at 128"});
    list.integer("send_engine.outstanding_messages", outstanding_messages, 16, 1048576,
                 {"entries", "unacknowledged messages of all QPs", evidence::assumed, ""});
}

}  // namespace hcasim
