#include "model/send_scheduler/send_scheduler_config.h"

#include <string>

namespace hcasim {

void send_scheduler_config::describe(parameter_list& list) {
    list.choice(
        "send_scheduler.arbitration", arbitration, {"round_robin", "weighted", "strict"},
        {"1",
         "among eligible QPs: one ring; weighted turns of the service levels; highest service level first",
         evidence::assumed, ""});
    list.choice("gate.location", location, {"on_chip", "context"},
                {"1",
                 "gate bits in an on-chip vector, or in the QP context (then a miss is served before the "
                 "gate is known)",
                 evidence::assumed, ""});
    list.integer("send_scheduler.burst", burst, 1, 64,
                 {"WQEs", "most WQEs of one grant; they are fetched by one DMA read", evidence::documented,
                  "HanGu prefetches up to 8"});
    for (std::size_t i = 0; i < weight.size(); ++i) {
        list.integer(
            "send_scheduler.weight_sl" + std::to_string(i), weight[i], 1, 255,
            {"grants", "turn of this service level under weighted arbitration", evidence::assumed, ""});
    }
}

}  // namespace hcasim
