#include "model/doorbell_unit/doorbell_unit_config.h"

namespace hcasim {

void doorbell_unit_config::describe(parameter_list& list) {
    list.integer("doorbell_unit.fifo_depth", fifo_depth, 1, 65536,
                 {"entries",
                  "QPs that wait between the UAR decoder and the scheduler; a full FIFO stalls the MMIO path",
                  evidence::assumed, "Corundum's doorbell FIFO has 256 and drops, JingZhao's 256"});
    list.boolean("doorbell_unit.coalesce", coalesce,
                 {"1", "a doorbell of a QP that waits in the FIFO only moves its producer index",
                  evidence::documented, "JingZhao DBProc, HanGu: one FIFO entry per QP"});
}

}  // namespace hcasim
