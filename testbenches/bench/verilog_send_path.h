#ifndef HCASIM_TESTBENCHES_BENCH_VERILOG_SEND_PATH_H
#define HCASIM_TESTBENCHES_BENCH_VERILOG_SEND_PATH_H

#include <memory>
#include <string>
#include <vector>

#include "model/clock/engine.h"
#include "rtl_cosim/wrap/rtl_factory.h"
#include "testbenches/bench/model_send_path.h"

namespace hcasim {

/// The Verilog of the send path's blocks alone, under Verilator --cc, with the inputs that they have in the
/// model's send path: for timing. The host, the send engine and the bus are not in it.
class verilog_send_path {
public:
    /// Before elaboration ends.
    explicit verilog_send_path(const sc_core::sc_module_name& name);
    ~verilog_send_path();

    /// Runs the model with the Verilog beside it and notes what comes in. Throws verilog_error, and
    /// rtl_mismatch when they differ.
    void record(const send_path_config& config, cycle_t cycles);
    /// Back to cycle 0 with what was recorded.
    void reset();
    /// Clocks every block up to and including cycle `last`.
    void run_to(cycle_t last);
    std::size_t blocks() const;

private:
    struct player;
    rtl_factory m_factory;
    model_send_path m_path;
    std::vector<std::unique_ptr<player>> m_players;
};

}  // namespace hcasim

#endif
