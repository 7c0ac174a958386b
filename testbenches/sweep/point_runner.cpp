#include "testbenches/sweep/point_runner.h"

#include <exception>

#include "testbenches/bench/scenario.h"

namespace hcasim {

point_runner::point_runner(const sweep_plan& plan)
    : m_plan(plan), m_editor(plan.base), m_hash(plan.base.config) {}

point_row point_runner::run(std::uint64_t number) {
    const sweep_point p = m_plan.point(number);
    m_editor.restore();
    m_hash.restore();
    for (const auto& [parameter, value] : m_plan.settings_of(p)) {
        value.apply(m_editor.parameters()[parameter]);
        m_hash.set(parameter, value.text());
    }
    scenario_config config = m_editor.config();
    config.seed = p.seed;
    point_row row;
    try {
        row = row_of(run_scenario(config, {}));
    } catch (const std::exception& error) {
        row.status = point_status::failed;
        row.message = error.what();
    }
    row.point = number;
    row.config_hash = m_hash.hash();
    return row;
}

}  // namespace hcasim
