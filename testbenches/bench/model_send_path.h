#ifndef HCASIM_TESTBENCHES_BENCH_MODEL_SEND_PATH_H
#define HCASIM_TESTBENCHES_BENCH_MODEL_SEND_PATH_H

#include <cstdint>
#include <memory>
#include <systemc>

#include "model/clock/engine.h"
#include "testbenches/bench/send_path.h"

namespace hcasim {

class block_factory;

/// The model's send path: its own blocks, joined as in the HCA, with the host and the peer of the plain loop
/// around them. The receive side is left out: the peer hands its acknowledges to the send engine.
class model_send_path : public sc_core::sc_module {
public:
    /// Where the host sits: in the clock domain and beside the doorbell unit (what the plain loop is compared
    /// with), or behind processor, bus and TLM sockets, as a SystemC process of its own.
    enum class host_side : std::uint8_t { inside, tlm };

    /// `factory` makes the blocks that can be replaced; null for the model's own.
    model_send_path(const sc_core::sc_module_name& name, host_side side, block_factory* factory = nullptr);
    ~model_send_path() override;

    /// `words_per_call`, host behind TLM only: doorbells per MMIO call. The process then runs once per this
    /// many intervals, and with interval 0 once per this many times saturated_interval_cycles.
    void reset(const send_path_config& config, engine_kind engine, std::uint32_t words_per_call = 1);
    /// Runs all cycles up to and including `last`. SystemC must have elaborated.
    void run_to(cycle_t last);
    /// Ends the run, so that another path of the same simulation can run alone.
    void stop();
    const send_path_result& result() const;
    /// Evaluations of modules since reset.
    std::uint64_t ticks() const;

    /// About the pace at which the send engine takes WQEs when it has always one.
    static constexpr std::uint32_t saturated_interval_cycles = 3;

private:
    struct parts;
    std::unique_ptr<parts> m_parts;
};

}  // namespace hcasim

#endif
