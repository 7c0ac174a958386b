#ifndef HCASIM_TESTBENCHES_BENCH_PLAIN_SEND_PATH_H
#define HCASIM_TESTBENCHES_BENCH_PLAIN_SEND_PATH_H

#include <memory>

#include "testbenches/bench/send_path.h"

namespace hcasim {

/// The yardstick: the work of the model's send path in one plain C++ loop, cycle for cycle. It shares the
/// policy classes and the packet formats with the model's blocks; what it has not is what the comparison is
/// about: modules, channels, ports, a clock domain and SystemC. Only what happens on this path is there: RC,
/// no errors, no lost packets.
class plain_send_path {
public:
    /// How the loop finds its work: `poll` looks at every block in every cycle, `skip` keeps the cycles in
    /// which each block is due and jumps over the rest. The first is faster under load, the second when
    /// little happens.
    enum class form : std::uint8_t { poll, skip };

    plain_send_path();
    ~plain_send_path();

    void reset(const send_path_config& config, form f);
    /// Runs all cycles up to and including `last`.
    void run_to(cycle_t last);
    const send_path_result& result() const;

private:
    class loop_base;
    template <bool Skip>
    class loop;
    std::unique_ptr<loop_base> m_loop;
};

}  // namespace hcasim

#endif
