#ifndef HCASIM_TESTBENCHES_BENCH_TASK_QUEUE_H
#define HCASIM_TESTBENCHES_BENCH_TASK_QUEUE_H

#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

#include "model/clock/engine.h"

namespace hcasim {

/// Where a task runs: in interrupt context (completion handlers) or on a work queue (connection manager).
/// Interrupts preempt work, so neither waits for the other; each has all cores of the host.
enum class task_context : std::uint8_t { interrupt, work };

/// The time of a host's software: what is to be done later, and the cores that do it. Plain C++; its owner
/// says what time it is.
///
/// Tasks of one cycle run in the order in which they were given.
class task_queue {
public:
    using task = std::function<void()>;

    /// `cores` 1..: tasks of one context that run at the same time.
    void reset(std::uint32_t cores);

    cycle_t now() const { return m_now; }

    /// Runs `t` in `cycles` cycles; no core is needed. 0: later in this cycle.
    void after(cycle_t cycles, task t);

    /// The core that is free first spends `cost` cycles on the task and then runs `t`: its effect comes at
    /// its end.
    void run(task_context context, cycle_t cost, task t);

    /// The cycle of the next task; `never` when there is none.
    cycle_t next() const { return m_tasks.empty() ? never : m_tasks.top().cycle; }

    /// Runs what is due up to and including `now`; true when there was something.
    bool run_due(cycle_t now);

private:
    struct entry {
        cycle_t cycle;
        std::uint64_t number;
        task t;
        bool operator>(const entry& other) const {
            return cycle != other.cycle ? cycle > other.cycle : number > other.number;
        }
    };

    std::priority_queue<entry, std::vector<entry>, std::greater<entry>> m_tasks;
    std::vector<cycle_t> m_free_at[2];
    cycle_t m_now = 0;
    std::uint64_t m_number = 0;
};

}  // namespace hcasim

#endif
