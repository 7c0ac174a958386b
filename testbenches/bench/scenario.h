#ifndef HCASIM_TESTBENCHES_BENCH_SCENARIO_H
#define HCASIM_TESTBENCHES_BENCH_SCENARIO_H

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "model/clock/engine.h"
#include "model/hca_config.h"
#include "model/stats/parameter.h"
#include "rtl_cosim/wrap/rtl_config.h"
#include "testbenches/bench/run_result.h"

namespace hcasim {

/// Upper-layer protocol that the hosts speak over their connections.
enum class workload_kind : std::uint8_t { one_send, srp, sdp, nvmf, script };

/// Who holds a send that the application has ready while the QP is in RTR.
enum class gate_policy : std::uint8_t { hardware, software, reject };

/// Flags of gate.open_on, bit i = name i of {"rtu", "packet", "comm_est"}.
enum gate_open_on : std::uint32_t { open_on_rtu = 1, open_on_packet = 2, open_on_comm_est = 4 };

/// Connection manager: timers and software costs.
struct cm_config {
    std::uint32_t response_timeout = 20;  ///< exponent of REQ local and remote CM response timeout
    std::uint32_t max_retries = 15;
    std::uint32_t packet_life_time = 18;     ///< exponent
    std::uint32_t mra_service_timeout = 24;  ///< exponent; 31 with send_mra off
    bool send_mra = false;                   ///< the passive side answers a REQ with MRA first
    std::uint64_t step_ns = 100000;          ///< CM software, MAD received to next MAD posted
    double rtu_loss = 0;                     ///< probability that the first RTU of a connection is lost
    double rtu_repeat_loss = 0;              ///< the same for RTUs sent again
    double rtu_late = 0;                     ///< probability that the first RTU is delayed in the fabric
    std::uint64_t rtu_late_ns = 20000;       ///< by how much
    bool disconnect = true;                  ///< DREQ and DREP at the end
    void describe(parameter_list& list);
};

/// Host software and bus.
struct host_config {
    std::uint64_t mmio_write_ns = 150;
    std::uint64_t dma_read_ns = 500;  ///< request to data
    std::uint64_t dma_write_ns = 250;
    std::uint64_t interrupt_ns = 2000;           ///< MSI to first instruction of the handler
    std::uint64_t post_send_ns = 75;             ///< WQE written to doorbell issued
    std::uint64_t completion_handler_ns = 3000;  ///< CQE polled to the application's answer ready
    std::uint64_t software_queue_post_ns =
        100;                             ///< policy software: cost per post on the fast path, for ever
    std::uint64_t poll_retry_ns = 1000;  ///< policy reject: the application tries again after
    std::uint32_t cores = 8;
    void describe(parameter_list& list);
};

/// A step of workload "script": one action of a host at a given time.
struct script_step {
    std::uint64_t at_ns = 0;  ///< wire time relative to the first step
    std::string host;         ///< "a", "b" ... index letter of the host
    std::string action;       ///< "req", "rep", "rtu", "send"
    std::uint32_t connection = 0;
};

/// One connection of workload "script" with all the field values it puts on the wire.
struct script_connection {
    std::uint32_t active_host = 0, passive_host = 1;
    std::vector<std::pair<std::string, std::string>>
        fields;  ///< as written in the scenario, see docs/scenarios.md
};

/// All that a scenario file can say. Every plain key is in describe(); arrays of tables are read apart.
struct scenario_config {
    std::string name = "unnamed";
    workload_kind workload = workload_kind::one_send;
    std::uint64_t seed = 1;
    std::uint64_t max_cycles = 0;  ///< 0 = until all is done
    std::uint32_t hosts = 2;       ///< host 0 is the target (passive side), the others are clients
    std::uint32_t connections = 1;
    std::uint32_t messages = 1;  ///< commands per connection (0 = the protocol's own opening sequence)
    std::uint32_t message_bytes = 64;
    std::uint32_t queue_depth = 1;             ///< commands a client has outstanding per connection
    std::uint64_t connect_interval_ns = 5000;  ///< between the REQs of successive connections
    std::uint32_t timer_shift = 0;             ///< all CM and transport timers are divided by 2^timer_shift
    gate_policy policy = gate_policy::hardware;
    std::uint32_t open_on = open_on_rtu | open_on_packet;
    cm_config cm;
    host_config host;
    hca_config hca;
    rtl_config rtl;
    std::vector<script_step> steps;
    std::vector<script_connection> script_connections;

    void describe(parameter_list& list);
};

/// What a caller of run_scenario can ask for beside the scenario.
struct run_options {
    engine_kind engine = engine_kind::wheel;
    std::uint64_t order_seed = 0;  ///< permutes construction and tick order (tests)
    bool tap_packets = false;      ///< keep every packet's bytes
    /// Called for every change of visible state, for VCD: (cycle, signal name, width in bits, value).
    std::function<void(std::uint64_t, const std::string&, std::uint32_t, std::uint64_t)> wave;
};

/// A scenario that cannot run (impossible combination): what() is one clear line naming the keys.
class scenario_error : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Throws scenario_error for a combination that cannot run or could never end well.
void validate(const scenario_config& scenario);

/// Runs a scenario once. One process can call this many times: the hierarchy for a number of hosts is
/// elaborated once and reset for each run. Throws scenario_error; rtl_mismatch and verilog_error when blocks
/// are Verilog; a violated invariant is reported in the result.
run_result run_scenario(const scenario_config& scenario, const run_options& options);

}  // namespace hcasim

#endif
