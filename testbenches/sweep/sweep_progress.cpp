#include "testbenches/sweep/sweep_progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>

namespace hcasim {

namespace {

double now_seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

constexpr double bar_seconds = 0.2;
constexpr double first_line_seconds = 2;
constexpr double most_line_seconds = 30;

}  // namespace

sweep_progress::sweep_progress(std::uint64_t points, std::uint64_t done_before)
    : m_points(points),
      m_done_before(done_before),
      m_is_terminal(::isatty(STDERR_FILENO) != 0),
      m_begin(now_seconds()),
      m_interval(m_is_terminal ? bar_seconds : first_line_seconds) {}

double sweep_progress::seconds() const { return now_seconds() - m_begin; }

void sweep_progress::show(std::uint64_t done, std::uint64_t failed) {
    const double t = seconds();
    if (t - m_last < m_interval) {
        return;
    }
    m_last = t;
    const double rate = t > 0 ? static_cast<double>(done - m_done_before) / t : 0;
    const double left = rate > 0 ? static_cast<double>(m_points - done) / rate : 0;
    const std::string words = fmt::format("{} of {} points, {:.{}f} a second, {} left{}", done, m_points,
                                          rate, rate < 10 ? 1 : 0, rate > 0 ? duration_text(left) : "?",
                                          failed == 0 ? "" : fmt::format(", {} failed", failed));
    if (m_is_terminal) {
        constexpr std::uint64_t width = 24;
        const auto full = static_cast<std::size_t>(m_points == 0 ? width : done * width / m_points);
        fmt::print(stderr, "\r\033[K[{}{}] {}", std::string(full, '#'), std::string(width - full, '.'),
                   words);
        m_on_line = true;
    } else {
        fmt::print(stderr, "{}\n", words);
        m_interval = std::min(m_interval * 1.5, most_line_seconds);
    }
    std::fflush(stderr);
}

void sweep_progress::end() {
    if (m_on_line) {
        fmt::print(stderr, "\r\033[K");
        std::fflush(stderr);
        m_on_line = false;
    }
}

std::string duration_text(double seconds) {
    const auto s = static_cast<std::uint64_t>(std::llround(std::max(0.0, seconds)));
    if (s < 60) {
        return fmt::format("{} s", s);
    }
    if (s < 3600) {
        return fmt::format("{} min {} s", s / 60, s % 60);
    }
    return fmt::format("{} h {} min", s / 3600, s % 3600 / 60);
}

}  // namespace hcasim
