#ifndef HCASIM_TESTBENCHES_SWEEP_SWEEP_COMMAND_H
#define HCASIM_TESTBENCHES_SWEEP_SWEEP_COMMAND_H

#include <cstdint>
#include <string>
#include <vector>

namespace hcasim {

struct sweep_arguments {
    std::string sweep;
    std::string out;                     ///< directory; empty: that of the sweep's name, here
    std::vector<std::string> overrides;  ///< "key=value", for the base scenario
    std::vector<std::string> filters;    ///< "key=value", points to be run
    unsigned jobs = 0;                   ///< 0: one per core
    double timeout_seconds = 0;          ///< of a point; 0: none
    bool dry_run = false;
    bool fail_fast = false;
    bool retry_failed = false;
    std::string csv;
    std::string backend = "local";
    std::vector<std::string> slurm_options;  ///< passed to sbatch
    double slurm_chunk_seconds = 30;         ///< work of a task, about
    /// Of a task of a cluster: the points (numbers, one per line of this file) go to this database alone.
    std::string points_file, shard;
};

/// Runs what is missing of a sweep. Exit codes: 0; 1 when points failed; 3 when one broke a rule of the
/// protocol; 130 when it was interrupted.
int sweep_command(const sweep_arguments& arguments);

struct compare_arguments {
    std::string a, b;                  ///< results.db, or directories that hold one
    double tolerance = 0;              ///< relative
    double absolute = 0;               ///< and this much more, in the unit of the metric
    std::vector<std::string> metrics;  ///< part of their names; empty: all
    std::vector<std::string> ignore;   ///< axes that only one of the two has, or that differ on purpose
    std::string csv;
    unsigned most = 20;  ///< differences shown
};

/// Compares two sweeps point by point. Exit codes: 0 no difference beyond the tolerance, 1 otherwise.
int compare_command(const compare_arguments& arguments);

}  // namespace hcasim

#endif
