#include "rtl_cosim/lockstep/lockstep_benches.h"

#include "rtl_cosim/lockstep/doorbell_unit_bench.h"
#include "rtl_cosim/lockstep/link_rx_bench.h"
#include "rtl_cosim/lockstep/link_tx_bench.h"
#include "rtl_cosim/lockstep/qp_context_cache_bench.h"
#include "rtl_cosim/lockstep/send_scheduler_bench.h"

namespace hcasim {

namespace {

struct entry {
    const char* name;
    std::unique_ptr<lockstep_bench> (*make)();
};

template <class Bench>
std::unique_ptr<lockstep_bench> make_bench() {
    return std::make_unique<Bench>(sc_core::sc_gen_unique_name("lockstep"));
}

constexpr entry entries[] = {
    {"doorbell_unit", make_bench<doorbell_unit_bench>},
    {"qp_context_cache", make_bench<qp_context_cache_bench>},
    {"send_scheduler", make_bench<send_scheduler_bench>},
    {"link_tx", make_bench<link_tx_bench>},
    {"link_rx", make_bench<link_rx_bench>},
};

}  // namespace

const std::vector<std::string>& lockstep_blocks() {
    static const std::vector<std::string> names = [] {
        std::vector<std::string> all;
        for (const entry& e : entries) {
            all.emplace_back(e.name);
        }
        return all;
    }();
    return names;
}

std::unique_ptr<lockstep_bench> make_lockstep_bench(const std::string& block) {
    for (const entry& e : entries) {
        if (block == e.name) {
            return e.make();
        }
    }
    return nullptr;
}

}  // namespace hcasim
