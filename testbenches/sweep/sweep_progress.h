#ifndef HCASIM_TESTBENCHES_SWEEP_SWEEP_PROGRESS_H
#define HCASIM_TESTBENCHES_SWEEP_SWEEP_PROGRESS_H

#include <cstdint>
#include <string>

namespace hcasim {

/// How far a sweep is, on standard error: a bar with rate and time left on a terminal, else a line now and
/// then.
class sweep_progress {
public:
    sweep_progress(std::uint64_t points, std::uint64_t done_before);

    void show(std::uint64_t done, std::uint64_t failed);
    /// The bar's line is free for something else.
    void end();

private:
    double seconds() const;

    std::uint64_t m_points;
    std::uint64_t m_done_before;
    bool m_is_terminal;
    bool m_on_line = false;
    double m_begin;
    double m_last = 0;
    double m_interval;
};

/// "5 s", "3 min 20 s", "2 h 5 min".
std::string duration_text(double seconds);

}  // namespace hcasim

#endif
