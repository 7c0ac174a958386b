#ifndef HCASIM_RTL_COSIM_LOCKSTEP_LOCKSTEP_BENCH_H
#define HCASIM_RTL_COSIM_LOCKSTEP_LOCKSTEP_BENCH_H

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <systemc>
#include <vector>

#include "model/clock/channel.h"
#include "model/clock/clock_domain.h"
#include "rtl_cosim/lockstep/coverage.h"
#include "rtl_cosim/lockstep/load.h"
#include "rtl_cosim/wrap/rtl_block.h"

namespace hcasim {

/// A stretch of a lockstep run that begins with a reset: what it does follows from (seed, number) alone.
struct lockstep_episode {
    std::uint64_t seed = 1;
    std::uint32_t number = 0;
    cycle_t cycles = 20000;
};

/// One block, its Verilog beside it, and a stimulus on all its ports. A derived bench has the adapter of the
/// block, a driver (a clocked module that offers and takes messages), and the channels between them.
///
/// Policies, sizes, load and back-pressure are drawn anew for every episode. Sizes should take few values:
/// each set of them is a design of its own to be compiled.
class lockstep_bench : public sc_core::sc_module {
public:
    lockstep_bench(const sc_core::sc_module_name& name, const std::string& block);

    const std::string& block() const { return m_block; }
    virtual rtl_block& verilog() = 0;
    coverage& covered() { return m_coverage; }

    /// Resets everything for an episode. Throws verilog_error.
    void start(const lockstep_episode& e);
    /// Sizes with which mutants are tried: small ones, that reach every corner soon.
    virtual std::vector<std::map<std::string, std::uint64_t>> sizes_of_mutants() const = 0;
    /// For designs whose outputs come later than the model's.
    void set_calm(bool on) { m_calm = on; }
    /// Only these sizes are used from the next episode on.
    void set_small_only(bool on) { m_small_only = on; }

    /// Runs up to and including `last`.
    void run_to(cycle_t last);

protected:
    /// Resets block, Verilog (rtl_mode::shadow) and driver; `random` is seeded for the episode, load() and
    /// the channels' back-pressure are drawn already.
    virtual void reset_block(lockstep_random& random) = 0;

    clock_domain& domain() { return m_domain; }
    load& offered() { return m_load; }
    /// No back-pressure: channels do not refuse, and a driver takes what comes.
    bool calm() const { return m_calm; }
    bool small_only() const { return m_small_only; }

    /// Joins two ports with a channel of the usual kind, with back-pressure drawn per episode.
    template <class T, class Out, class In>
    channel<T>& join(Out& out, In& in, std::uint32_t depth = 2, std::uint32_t latency_cycles = 1) {
        auto made = std::make_unique<channel<T>>(sc_core::sc_gen_unique_name("channel"), m_domain);
        channel<T>& c = *made;
        out.bind(c);
        in.bind(c);
        m_channels.push_back(std::move(made));
        m_reset_channel.emplace_back([&c, depth, latency_cycles](const stall_pattern& stall) {
            channel_config config;
            config.depth = depth;
            config.latency_cycles = latency_cycles;
            config.stall = stall;
            c.reset(config);
        });
        return c;
    }

private:
    std::string m_block;
    clock_domain m_domain;
    coverage m_coverage;
    lockstep_random m_random;
    bool m_small_only = false;
    bool m_calm = false;
    load m_load;
    std::size_t m_load_points;
    std::vector<std::unique_ptr<sc_core::sc_module>> m_channels;
    std::vector<std::function<void(const stall_pattern&)>> m_reset_channel;
};

struct lockstep_options {
    std::uint64_t cycles = 1000000;
    std::uint64_t seed = 1;
    std::uint32_t first_episode = 0;
    cycle_t episode_cycles = 20000;
    cycle_t window_before = 64;  ///< cycles of waves before a difference
    cycle_t window_after = 16;   ///< ... and behind it
};

struct lockstep_result {
    std::uint64_t cycles = 0;     ///< compared
    std::uint64_t transfers = 0;  ///< messages that the Verilog let pass
    std::uint32_t episodes = 0;
    std::optional<rtl_difference> difference;
    std::uint32_t episode = 0;  ///< of the difference
};

/// Runs episodes until the cycles are done or a difference is found; then runs that episode once more with
/// `watcher` (may be null) seeing the cycles around it. `progress` (may be empty) is told the cycles done.
lockstep_result run_lockstep(lockstep_bench& bench, const lockstep_options& options, rtl_watcher* watcher,
                             const std::function<void(std::uint64_t)>& progress = {});

}  // namespace hcasim

#endif
