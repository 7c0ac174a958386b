#ifndef HCASIM_TESTBENCHES_SWEEP_SLURM_RUN_H
#define HCASIM_TESTBENCHES_SWEEP_SLURM_RUN_H

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "testbenches/sweep/result_store.h"
#include "testbenches/sweep/sweep_command.h"
#include "testbenches/sweep/sweep_plan.h"
#include "testbenches/sweep/sweep_progress.h"

namespace hcasim {

/// Runs points of a sweep as job arrays of a Slurm cluster. Each task runs a chunk of the points with this
/// program and writes them to a database of its own, which takes its name when it is whole; here they are
/// merged as they come. What is missing when an array has ended is submitted again.
///
/// The nodes must see the sweep, the scenario, the program and the output directory under the same names.
class slurm_run {
public:
    /// Throws input_error when there is no Slurm here, or no controller answers.
    slurm_run(const sweep_plan& plan, const sweep_arguments& arguments,
              const std::filesystem::path& directory);

    /// False when `interrupted` said so; the jobs are cancelled then, and what was finished is kept. Points
    /// that are missing after three rounds are told on standard error.
    bool run(result_store& store, std::vector<std::uint64_t> points,
             const std::function<bool()>& interrupted);

    std::uint64_t done() const { return m_done; }

private:
    struct chunk {
        std::filesystem::path shard;
        bool merged = false;
    };
    enum class ending : std::uint8_t { ended, interrupted };

    void measure(result_store& store, const std::vector<std::uint64_t>& points);
    void merge_leftovers(result_store& store);
    void submit(const std::vector<std::uint64_t>& points, unsigned round);
    ending wait(result_store& store, sweep_progress& progress, const std::function<bool()>& interrupted);
    bool merge_finished(result_store& store);
    bool is_active();
    void cancel(const std::vector<std::string>& jobs);
    bool ask(const std::vector<std::string>& command, std::string& answer);

    const sweep_plan& m_plan;
    const sweep_arguments& m_arguments;
    std::filesystem::path m_work;
    std::vector<chunk> m_chunks;
    std::vector<std::string> m_jobs;
    double m_point_seconds = 0;
    double m_no_answer_since = 0;
    std::uint64_t m_done = 0;
};

}  // namespace hcasim

#endif
