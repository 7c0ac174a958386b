#ifndef HCASIM_TESTBENCHES_SWEEP_SWEEP_PLAN_H
#define HCASIM_TESTBENCHES_SWEEP_SWEEP_PLAN_H

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "testbenches/program/scenario_file.h"
#include "testbenches/sweep/setting_value.h"

namespace hcasim {

/// Parameters that a step along an axis changes: index in scenario_editor::parameters(), and value.
using settings = std::vector<std::pair<std::size_t, setting_value>>;

/// One axis of a sweep: one key, several that change together, or named sets of values.
struct sweep_axis {
    std::string name;               ///< of an axis of presets; else empty
    std::vector<std::string> keys;  ///< of the others
    struct entry {
        std::string preset;  ///< name of the preset; else empty
        settings values;     ///< in the order of `keys`
    };
    std::vector<entry> entries;
};

/// A condition over axes: all of it must hold; a list holds when one of its values does.
struct sweep_condition {
    struct term {
        std::string key;                  ///< of a parameter, or the name of an axis of presets
        std::vector<std::string> values;  ///< as setting_value::text(); names of presets as they are
    };
    std::vector<term> terms;
};

/// Axes that are combined with each other.
struct sweep_grid {
    std::string name;  ///< empty when there is only one
    settings fixed;
    std::vector<sweep_axis> axes;
    std::vector<sweep_condition> skip, only;
};

/// One point of a sweep.
struct sweep_point {
    std::uint64_t number = 0;  ///< from 0
    const sweep_grid* grid = nullptr;
    std::vector<std::size_t> entries;  ///< by axis of the grid
    std::uint64_t seed = 0;
};

/// All that a sweep file says, checked: which runs there are.
class sweep_plan {
public:
    std::string name, path, text;  ///< of the sweep file
    std::string scenario_path, scenario_text;
    std::vector<std::string> overrides;  ///< of the command line, "key=value"
    scenario_file base;                  ///< the scenario with [set] and the overrides
    std::vector<sweep_grid> grids;
    std::uint64_t first_seed = 1;
    std::uint64_t seeds = 1;

    /// Finds the points that the conditions leave. Throws std::length_error when there are more than 10^7.
    void list_points();
    std::uint64_t points() const { return m_points.size() * seeds; }
    sweep_point point(std::uint64_t number) const;

    /// Settings of a point: those of its grid, then along the axes, later ones win.
    settings settings_of(const sweep_point& p) const;
    /// Axis key or preset axis and value of a point, as the database keeps them.
    std::vector<std::pair<std::string, std::string>> labels_of(const sweep_point& p) const;
    /// Whether all terms hold for the point.
    static bool holds(const sweep_condition& c, const sweep_grid& grid,
                      const std::vector<std::size_t>& entries);

    /// Hash of the base scenario, and of all else that decides what the points are.
    std::string base_hash() const;
    std::string identity() const;

private:
    struct place {
        std::uint64_t grid;
        std::uint64_t combination;
    };
    std::vector<place> m_points;  // without seeds: these change fastest, see points()
};

}  // namespace hcasim

#endif
