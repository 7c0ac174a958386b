#include "testbenches/bench/task_queue.h"

#include <algorithm>
#include <utility>

namespace hcasim {

void task_queue::reset(std::uint32_t cores) {
    m_tasks = {};
    for (auto& free_at : m_free_at) {
        free_at.assign(cores, 0);
    }
    m_now = 0;
    m_number = 0;
}

void task_queue::after(cycle_t cycles, task t) { m_tasks.push({m_now + cycles, m_number++, std::move(t)}); }

void task_queue::run(task_context context, cycle_t cost, task t) {
    auto& free_at = m_free_at[static_cast<std::size_t>(context)];
    const auto core = std::min_element(free_at.begin(), free_at.end());
    *core = std::max(*core, m_now) + cost;
    m_tasks.push({*core, m_number++, std::move(t)});
}

bool task_queue::run_due(cycle_t now) {
    m_now = now;
    bool any = false;
    while (!m_tasks.empty() && m_tasks.top().cycle <= now) {
        task t = m_tasks.top().t;
        m_tasks.pop();
        t();
        any = true;
    }
    return any;
}

}  // namespace hcasim
