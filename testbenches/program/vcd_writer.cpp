#include "testbenches/program/vcd_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <ostream>

namespace hcasim {

namespace {

// Identifier codes are made of the printable characters '!' to '~'.
std::string identifier(std::uint32_t index) {
    constexpr std::uint32_t digits = '~' - '!' + 1;
    std::string code;
    do {
        code.push_back(static_cast<char>('!' + index % digits));
        index /= digits;
    } while (index != 0);
    return code;
}

std::vector<std::string> path_of(const std::string& name) {
    std::vector<std::string> path(1);
    for (const char c : name) {
        if (c == '.') {
            path.emplace_back();
        } else {
            path.back().push_back(c > ' ' && c < 0x7f ? c : '_');
        }
    }
    for (std::string& part : path) {
        part = part.empty() ? "_" : part;
    }
    return path;
}

std::string value_text(std::uint64_t value, std::uint32_t width, const std::string& code) {
    if (width == 1) {
        return fmt::format("{}{}\n", value & 1, code);
    }
    const std::uint64_t shown = width < 64 ? value & ((std::uint64_t{1} << width) - 1) : value;
    return fmt::format("b{:b} {}\n", shown, code);
}

}  // namespace

void vcd_writer::change(std::uint64_t cycle, const std::string& signal, std::uint32_t width,
                        std::uint64_t value) {
    const auto index = static_cast<std::uint32_t>(m_signals.size());
    const auto known =
        m_signals.try_emplace(signal, signal_info{index, std::clamp<std::uint32_t>(width, 1, 64)}).first;
    m_changes.push_back({cycle, value, known->second.index});
}

void vcd_writer::write(std::ostream& out, std::uint64_t clock_mhz, std::uint64_t last_cycle) {
    const std::uint64_t mhz = std::max<std::uint64_t>(clock_mhz, 1);
    const bool whole_ns = 1000 % mhz == 0;
    const auto time_of = [&](std::uint64_t cycle) {
        return whole_ns ? cycle * (1000 / mhz) : cycle * 1000000 / mhz;
    };

    out << "$version hcasim $end\n$comment 1 cycle = " << fmt::format("{}", 1000.0 / static_cast<double>(mhz))
        << " ns $end\n$timescale " << (whole_ns ? "1ns" : "1ps") << " $end\n";
    std::vector<std::string> open;
    std::vector<std::uint32_t> widths(m_signals.size());
    // Sorted by path, so that every scope is opened once.
    std::vector<std::pair<std::vector<std::string>, signal_info>> declared;
    for (const auto& [name, info] : m_signals) {
        declared.emplace_back(path_of(name), info);
        widths[info.index] = info.width;
    }
    std::sort(declared.begin(), declared.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [path, info] : declared) {
        std::size_t shared = 0;
        while (shared < open.size() && shared + 1 < path.size() && open[shared] == path[shared]) {
            ++shared;
        }
        for (; open.size() > shared; open.pop_back()) {
            out << "$upscope $end\n";
        }
        for (; open.size() + 1 < path.size(); open.push_back(path[open.size()])) {
            out << "$scope module " << path[open.size()] << " $end\n";
        }
        const std::string range = info.width == 1 ? "" : fmt::format(" [{}:0]", info.width - 1);
        out << "$var wire " << info.width << ' ' << identifier(info.index) << ' ' << path.back() << range
            << " $end\n";
    }
    for (; !open.empty(); open.pop_back()) {
        out << "$upscope $end\n";
    }
    out << "$enddefinitions $end\n";

    std::stable_sort(m_changes.begin(), m_changes.end(),
                     [](const value_change& a, const value_change& b) { return a.cycle < b.cycle; });
    std::vector<std::size_t> last_of_cycle(m_signals.size());
    std::vector<std::uint64_t> value_now(m_signals.size());
    std::vector<bool> has_value(m_signals.size());
    std::string text;
    for (std::size_t begin = 0, end = 0; begin < m_changes.size(); begin = end) {
        for (end = begin; end < m_changes.size() && m_changes[end].cycle == m_changes[begin].cycle; ++end) {
            last_of_cycle[m_changes[end].signal] = end;
        }
        text.clear();
        for (std::size_t i = begin; i < end; ++i) {
            const value_change& c = m_changes[i];
            if (last_of_cycle[c.signal] == i && (!has_value[c.signal] || value_now[c.signal] != c.value)) {
                text += value_text(c.value, widths[c.signal], identifier(c.signal));
                value_now[c.signal] = c.value;
                has_value[c.signal] = true;
            }
        }
        if (!text.empty()) {
            out << '#' << time_of(m_changes[begin].cycle) << '\n' << text;
        }
    }
    const std::uint64_t last_change = m_changes.empty() ? 0 : m_changes.back().cycle;
    if (m_changes.empty() || last_cycle > last_change) {
        out << '#' << time_of(last_cycle) << '\n';
    }
}

}  // namespace hcasim
