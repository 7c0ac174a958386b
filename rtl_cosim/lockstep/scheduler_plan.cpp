#include "rtl_cosim/lockstep/scheduler_plan.h"

#include <algorithm>

namespace hcasim {

scheduler_plan make_scheduler_plan(std::uint64_t seed, std::uint32_t qps, cycle_t cycles) {
    lockstep_random random;
    random.seed(seed);
    load offered;
    offered.reset(static_cast<load_kind>(random.below(load_kinds)));
    scheduler_plan plan;
    plan.qps = qps;
    plan.service_cycles = 1 + random.below(random.one_of<std::uint32_t>({2, 20, 200}));
    plan.posted.assign(qps, 0);
    const std::uint32_t used = random.one_of<std::uint32_t>({1, 2, qps / 2, qps});
    const std::uint32_t gates = random.one_of<std::uint32_t>({1, 8, 60});  // of 1024 cycles
    std::vector<bool> open(qps, false);
    const auto move_gate = [&](cycle_t cycle, std::uint32_t qpn) {
        open[qpn] = !open[qpn];
        plan.steps.push_back({cycle, qpn, true, open[qpn], 0});
    };
    // The QPs have been made; then doorbells and gates in any order. One of each in a cycle, so that a
    // scheduler without back-pressure can take them.
    const cycle_t first = qps + 8;
    for (cycle_t cycle = first; cycle < first + cycles; ++cycle) {
        const std::uint32_t qpn = random.below(used);
        if (offered.offers(random, 300)) {
            plan.posted[qpn] = static_cast<std::uint16_t>(plan.posted[qpn] + 1 + random.below(3));
            plan.steps.push_back({cycle, qpn, false, false, plan.posted[qpn]});
            // The race: the gate of the same QP close to its doorbell.
            if (!open[qpn] && random.below(3) == 0) {
                move_gate(cycle, qpn);
            }
        } else if (random.chance(gates)) {
            move_gate(cycle, random.below(used));
        }
    }
    cycle_t cycle = first + cycles;
    for (std::uint32_t qpn = 0; qpn < qps; ++qpn, cycle += 16) {
        if (!open[qpn]) {
            move_gate(cycle, qpn);
        }
    }
    // When all that has gone, single doorbells about as far apart as a service takes: the last one of a QP
    // may come while its scheduler asks in vain, and no later one makes good for it. Not for all QPs: with
    // others it is the opening of the gate behind which nothing comes.
    cycle += plan.service_cycles * (1 + *std::max_element(plan.posted.begin(), plan.posted.end()));
    const std::uint64_t chosen = random.bits();
    for (std::uint32_t i = 0; i < 6 * used; ++i) {
        const std::uint32_t qpn = i % used;
        if ((chosen >> (qpn & 63) & 1u) == 0) {
            continue;
        }
        plan.steps.push_back({cycle, qpn, false, false, ++plan.posted[qpn]});
        cycle += 1 + random.below(static_cast<std::uint32_t>(3 * (plan.service_cycles + 8) / used + 1));
    }
    plan.last_cycle = cycle;
    return plan;
}

}  // namespace hcasim
