#include "rtl_cosim/lockstep/lockstep_bench.h"

#include <algorithm>

namespace hcasim {

namespace {

// Lets a watcher see the cycles around a difference only.
class windowed final : public rtl_watcher {
public:
    windowed(rtl_watcher& inner, cycle_t first) : m_inner(inner), m_first(first) {}
    void declare(const std::string& name, std::uint32_t width_bits, bool of_model) override {
        m_inner.declare(name, width_bits, of_model);
    }
    void values(cycle_t cycle, const std::vector<std::uint64_t>& all) override {
        if (cycle >= m_first) {
            m_inner.values(cycle, all);
        }
    }
    void message(cycle_t cycle, const std::string& port, const std::string& text, bool has_qpn,
                 std::uint32_t qpn) override {
        m_inner.message(cycle, port, text, has_qpn, qpn);
    }

private:
    rtl_watcher& m_inner;
    cycle_t m_first;
};

}  // namespace

lockstep_bench::lockstep_bench(const sc_core::sc_module_name& name, const std::string& block)
    : sc_core::sc_module(name),
      m_block(block),
      m_domain("domain", sc_core::sc_time(4, sc_core::SC_NS)),
      m_load_points(m_coverage.points("load", 0)) {
    for (const std::string_view kind : load_names) {
        m_coverage.point("load " + std::string(kind));
    }
}

void lockstep_bench::start(const lockstep_episode& e) {
    m_random.seed(e.seed * 1000003 + e.number);
    m_domain.set_horizon(0);
    m_domain.set_run_ahead(true);
    m_domain.reset(engine_kind::poll);
    const auto kind =
        static_cast<load_kind>(m_random.below(8) < 4 ? m_random.below(load_kinds) : 2 + m_random.below(2));
    m_load.reset(kind);
    m_coverage.hit(m_load_points + static_cast<std::size_t>(kind));
    // A third of the episodes without back-pressure, else little or much of it, on every channel its own.
    const std::uint32_t most = m_calm ? 0 : m_random.one_of<std::uint32_t>({0, 64, 900});
    for (const auto& reset_channel : m_reset_channel) {
        stall_pattern stall;
        stall.seed = m_random.bits();
        stall.producer_per_1024 = most == 0 ? 0 : m_random.below(most);
        stall.consumer_per_1024 = most == 0 ? 0 : m_random.below(most);
        reset_channel(stall);
    }
    reset_block(m_random);
}

void lockstep_bench::run_to(cycle_t last) {
    m_domain.set_horizon(last);
    sc_core::sc_start();
}

lockstep_result run_lockstep(lockstep_bench& bench, const lockstep_options& options, rtl_watcher* watcher,
                             const std::function<void(std::uint64_t)>& progress) {
    lockstep_result result;
    bench.verilog().set_watcher(nullptr);
    while (result.cycles < options.cycles) {
        lockstep_episode e;
        e.seed = options.seed;
        e.number = options.first_episode + result.episodes;
        e.cycles = std::min<std::uint64_t>(options.episode_cycles, options.cycles - result.cycles);
        bench.start(e);
        // In steps, so that a difference ends the run soon.
        const cycle_t step = std::max<cycle_t>(1, std::min<cycle_t>(e.cycles, 500));
        for (cycle_t last = step; !bench.verilog().difference(); last += step) {
            bench.run_to(std::min(last, e.cycles));
            if (last >= e.cycles) {
                break;
            }
        }
        ++result.episodes;
        result.cycles += bench.verilog().cycles_compared();
        result.transfers += bench.verilog().transfers();
        result.difference = bench.verilog().difference();
        if (progress) {
            progress(result.cycles);
        }
        if (result.difference) {
            result.episode = e.number;
            if (watcher != nullptr) {
                const cycle_t at = result.difference->cycle;
                windowed window(*watcher, at > options.window_before ? at - options.window_before : 1);
                bench.start(e);
                bench.verilog().set_watcher(&window);
                bench.run_to(at + options.window_after);
                bench.verilog().set_watcher(nullptr);
            }
            break;
        }
    }
    return result;
}

}  // namespace hcasim
