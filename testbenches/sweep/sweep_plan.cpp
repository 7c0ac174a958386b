#include "testbenches/sweep/sweep_plan.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <stdexcept>

#include "testbenches/program/config_hash.h"

namespace hcasim {

namespace {

constexpr std::uint64_t most_points = 10000000;

std::string hash_of(const std::string& text) {
    return fmt::format("{:016x}", XXH64(text.data(), text.size(), 0));
}

// Place of the entry that each axis stands at, the last one changes fastest.
std::vector<std::size_t> entries_of(const sweep_grid& grid, std::uint64_t combination) {
    std::vector<std::size_t> entries(grid.axes.size());
    for (std::size_t a = grid.axes.size(); a-- > 0;) {
        entries[a] = combination % grid.axes[a].entries.size();
        combination /= grid.axes[a].entries.size();
    }
    return entries;
}

bool matches(const sweep_condition::term& term, const sweep_grid& grid,
             const std::vector<std::size_t>& entries) {
    for (std::size_t a = grid.axes.size(); a-- > 0;) {
        const sweep_axis& axis = grid.axes[a];
        const sweep_axis::entry& e = axis.entries[entries[a]];
        std::string value;
        if (!axis.name.empty() && axis.name == term.key) {
            value = e.preset;
        } else {
            const auto key = std::find(axis.keys.begin(), axis.keys.end(), term.key);
            if (key == axis.keys.end()) {
                continue;
            }
            value = e.values[static_cast<std::size_t>(key - axis.keys.begin())].second.text();
        }
        return std::find(term.values.begin(), term.values.end(), value) != term.values.end();
    }
    return false;
}

}  // namespace

bool sweep_plan::holds(const sweep_condition& c, const sweep_grid& grid,
                       const std::vector<std::size_t>& entries) {
    return std::all_of(c.terms.begin(), c.terms.end(),
                       [&](const sweep_condition::term& term) { return matches(term, grid, entries); });
}

void sweep_plan::list_points() {
    m_points.clear();
    for (std::uint32_t g = 0; g < grids.size(); ++g) {
        const sweep_grid& grid = grids[g];
        std::uint64_t combinations = 1;
        for (const sweep_axis& axis : grid.axes) {
            combinations *= axis.entries.size();
            if (combinations * seeds > most_points) {
                throw std::length_error(fmt::format("more than {} points", most_points));
            }
        }
        for (std::uint64_t c = 0; c < combinations; ++c) {
            const auto entries = entries_of(grid, c);
            const auto holds_here = [&](const sweep_condition& condition) {
                return holds(condition, grid, entries);
            };
            if (std::any_of(grid.skip.begin(), grid.skip.end(), holds_here) ||
                (!grid.only.empty() && std::none_of(grid.only.begin(), grid.only.end(), holds_here))) {
                continue;
            }
            m_points.push_back({g, c});
        }
        if (points() > most_points) {
            throw std::length_error(fmt::format("more than {} points", most_points));
        }
    }
}

sweep_point sweep_plan::point(std::uint64_t number) const {
    const place& at = m_points[number / seeds];
    sweep_point p;
    p.number = number;
    p.grid = &grids[at.grid];
    p.entries = entries_of(*p.grid, at.combination);
    p.seed = first_seed + number % seeds;
    return p;
}

settings sweep_plan::settings_of(const sweep_point& p) const {
    settings all = p.grid->fixed;
    for (std::size_t a = 0; a < p.entries.size(); ++a) {
        const settings& step = p.grid->axes[a].entries[p.entries[a]].values;
        all.insert(all.end(), step.begin(), step.end());
    }
    return all;
}

std::vector<std::pair<std::string, std::string>> sweep_plan::labels_of(const sweep_point& p) const {
    std::vector<std::pair<std::string, std::string>> labels;
    for (std::size_t a = 0; a < p.entries.size(); ++a) {
        const sweep_axis& axis = p.grid->axes[a];
        const sweep_axis::entry& e = axis.entries[p.entries[a]];
        if (!axis.name.empty()) {
            labels.emplace_back(axis.name, e.preset);
        }
        for (std::size_t k = 0; k < axis.keys.size(); ++k) {
            labels.emplace_back(axis.keys[k], e.values[k].second.plain());
        }
    }
    return labels;
}

std::string sweep_plan::base_hash() const { return config_hash(base.config); }

std::string sweep_plan::identity() const {
    std::string all = fmt::format("base {} seeds {} {}\n", base_hash(), first_seed, seeds);
    const auto add = [&all](const settings& values) {
        for (const auto& [parameter, value] : values) {
            all += fmt::format(" {}={}", parameter, value.text());
        }
        all += "\n";
    };
    for (const sweep_grid& grid : grids) {
        all += fmt::format("grid {}", grid.name);
        add(grid.fixed);
        for (const sweep_axis& axis : grid.axes) {
            all += fmt::format("axis {}\n", axis.name);
            for (const sweep_axis::entry& e : axis.entries) {
                all += e.preset;
                add(e.values);
            }
        }
    }
    // The conditions, by what they leave.
    all += fmt::format("points {:016x}", XXH64(m_points.data(), m_points.size() * sizeof(place), 0));
    return hash_of(all);
}

}  // namespace hcasim
