#include "model/hca_config.h"

namespace hcasim {

void hca_config::describe(parameter_list& list) {
    list.integer("hca.clock_mhz", clock_mhz, 1, 10000,
                 {"MHz", "core clock of the HCA", evidence::assumed,
                  "250 MHz makes the timer base of 4.096 us exactly 1024 cycles"});
    list.integer("hca.qps", qps, 16, 16777216,
                 {"QPs", "QP slots", evidence::assumed, "ERNIC 2047, JingZhao 16384"})
        .power_of_two = true;
    list.integer("hca.stall_per_1024", stall_per_1024, 0, 1000,
                 {"1/1024", "share of cycles in which each channel refuses (a test of hidden assumptions)",
                  evidence::assumed, ""});
    doorbell_unit.describe(list);
    qp_context_cache.describe(list);
    send_scheduler.describe(list);
    send_engine.describe(list);
    receive_engine.describe(list);
    completion_unit.describe(list);
    command_unit.describe(list);
    link.describe(list);
    host_interface.describe(list);
}

}  // namespace hcasim
