#ifndef HCASIM_TESTBENCHES_SWEEP_POINT_RUNNER_H
#define HCASIM_TESTBENCHES_SWEEP_POINT_RUNNER_H

#include <cstdint>
#include <string>

#include "testbenches/program/config_hash.h"
#include "testbenches/program/scenario_file.h"
#include "testbenches/sweep/point_row.h"
#include "testbenches/sweep/sweep_plan.h"

namespace hcasim {

/// Runs points of a plan in this process, one after another, each as a process of its own would.
class point_runner {
public:
    /// The plan must outlive the runner.
    explicit point_runner(const sweep_plan& plan);

    /// Never throws for what a point may do: a scenario that cannot run gives a row that says so.
    point_row run(std::uint64_t number);

private:
    const sweep_plan& m_plan;
    scenario_editor m_editor;
    config_hasher m_hash;
};

}  // namespace hcasim

#endif
