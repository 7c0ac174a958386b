#include "model/completion_unit/completion_unit_config.h"

namespace hcasim {

void completion_unit_config::describe(parameter_list& list) {
    list.integer("completion_unit.interrupt_events", interrupt_events, 1, 65535,
                 {"events", "event-queue entries that make an interrupt due", evidence::assumed, ""});
    list.integer(
        "completion_unit.interrupt_delay_cycles", interrupt_delay_cycles, 0, 1000000000,
        {"cycles",
         "an interrupt is due this long after the first unreported event, however few there are; 0 = at once",
         evidence::assumed, ""});
}

}  // namespace hcasim
