#include "model/qp_context_cache/qp_context_cache_config.h"

namespace hcasim {

void qp_context_cache_config::describe(parameter_list& list) {
    list.integer("qp_context_cache.sets", sets, 1, 65536,
                 {"sets", "sets of the context cache; set = QP slot modulo sets", evidence::assumed,
                  "64 x 4 = 256 contexts: the knee that SRNIC (NSDI'23) reports for CX-5 and CX-6"})
        .power_of_two = true;
    list.integer(
        "qp_context_cache.ways", ways, 1, 16,
        {"ways", "ways per set; pseudo-LRU needs a power of two", evidence::assumed, "JingZhao has 2"});
    list.choice("qp_context_cache.replacement", replacement, {"lru", "plru"},
                {"1", "victim: least recently used, or tree pseudo-LRU", evidence::assumed, ""});
    list.integer("qp_context_cache.misses_outstanding", misses_outstanding, 1, 64,
                 {"entries", "misses that can be fetched at once; requests for a QP under way are merged",
                  evidence::documented, "JingZhao: 4 outstanding ICM misses"});
    list.integer("qp_context_cache.waiting_requests", waiting_requests, 1, 1024,
                 {"entries", "requests that wait for a fill or for their turn after it, in all",
                  evidence::assumed, ""});
    list.integer(
        "qp_context_cache.hit_cycles", hit_cycles, 1, 64,
        {"cycles", "lookup to response on a hit", evidence::documented, "JingZhao: get FSM of 2 cycles"});
}

}  // namespace hcasim
