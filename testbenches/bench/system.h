#ifndef HCASIM_TESTBENCHES_BENCH_SYSTEM_H
#define HCASIM_TESTBENCHES_BENCH_SYSTEM_H

#include <cstdint>
#include <memory>
#include <systemc>
#include <vector>

#include "model/clock/channel.h"
#include "model/clock/clock_domain.h"
#include "model/hca.h"
#include "model/ib/packet.h"
#include "rtl_cosim/wrap/rtl_factory.h"
#include "testbenches/bench/arrival_tap.h"
#include "testbenches/bench/fabric_switch.h"
#include "testbenches/bench/host_software.h"
#include "testbenches/bench/protocol.h"
#include "testbenches/bench/recorder.h"
#include "testbenches/bench/run_director.h"
#include "testbenches/bench/scenario.h"
#include "testbenches/bench/script_plan.h"
#include "tlm/host_memory.h"
#include "tlm/host_processor.h"
#include "tlm/pcie_bus.h"

namespace hcasim {

/// Hosts, their HCAs and what joins them: a cable between two, a switch between more. Elaborated once, then
/// reset for each run.
class system : public sc_core::sc_module {
public:
    SC_HAS_PROCESS(system);

    /// `with_rtl`: blocks of the cards can be Verilog.
    system(const sc_core::sc_module_name& name, std::uint32_t hosts, std::uint64_t clock_mhz,
           std::uint64_t order_seed, bool with_rtl);
    ~system() override;

    /// Runs a scenario that fits the number of hosts and the clock. SystemC must have elaborated. Throws
    /// rtl_mismatch when Verilog differs from the model beside it, verilog_error when it cannot be had.
    run_result run(const scenario_config& scenario, const run_options& options);

private:
    struct host_node;

    // Runs once, at the start of simulation: the kernel warns of a start in which nothing happens.
    void elaborated_method() {}
    void bind_cable();
    void bind_switch();
    run_result run_once(const scenario_config& scenario, const run_options& options);
    run_result run_script(const scenario_config& scenario, const run_options& options);
    hca_config config_of(const scenario_config& scenario, std::uint32_t host) const;
    std::vector<std::pair<std::string, std::uint64_t>> counters() const;

    std::uint32_t m_hosts;
    std::uint64_t m_order_seed;
    clock_domain m_domain;
    ib::packet_pool m_packets;
    rtl_factory m_rtl;
    recorder m_recorder;
    run_director m_director;
    std::vector<std::unique_ptr<host_node>> m_nodes;
    /// Towards the switch and from it, by port; with two hosts, [0] is from host 0 to host 1 and [1] back.
    std::vector<std::unique_ptr<channel<ib::packet*>>> m_links;
    std::unique_ptr<fabric_switch> m_switch;
    std::unique_ptr<protocol> m_protocol;
    std::unique_ptr<script_plan> m_plan;
    std::vector<cycle_t> m_post_cycles;  ///< by deed of m_plan, from the start of the connections
};

}  // namespace hcasim

#endif
