#include "testbenches/bench/scenario.h"

#include <string>

#include "testbenches/bench/host_layout.h"
#include "testbenches/bench/host_software.h"
#include "testbenches/bench/script_plan.h"

namespace hcasim {

void cm_config::describe(parameter_list& list) {
    list.integer(
        "cm.response_timeout", response_timeout, 0, 31,
        {"exponent",
         "CM response timeout in REQ, both sides: REQ and REP are sent again after 4.096 us * 2^this",
         evidence::measured, "20 in the IPoIB-CM capture (0x14), in ib_srp and in rdma_cm"});
    list.integer("cm.max_retries", max_retries, 0, 15,
                 {"1", "max CM retries in REQ: how often REQ and REP are sent again before giving up",
                  evidence::measured, "15 in the IPoIB-CM capture, in ib_srp and in rdma_cm"});
    list.integer("cm.packet_life_time", packet_life_time, 0, 30,
                 {"exponent",
                  "packet life time of the path; twice this is added to the REQ timer, and one more is the "
                  "ACK timeout",
                  evidence::measured,
                  "ACK timeout 19 in the IPoIB-CM capture, which Linux makes of a life time of 18"});
    list.integer(
        "cm.mra_service_timeout", mra_service_timeout, 0, 31,
        {"exponent", "service timeout in MRA", evidence::documented, "rdma_cm CMA_CM_MRA_SETTING 24"});
    list.boolean("cm.send_mra", send_mra,
                 {"1", "the passive side answers a REQ with MRA before it works on it", evidence::assumed,
                  "rdma_cm does so for slow consumers"});
    list.integer(
        "cm.step_ns", step_ns, 0, 1000000000,
        {"ns",
         "CM software: MAD (or COMM_EST event) taken from its queue to its consequence, without modify_qp",
         evidence::measured,
         "IPoIB-CM capture: 216..349 us REQ to REP, 106..152 us REP to RTU, modify_qp included"});
    list.real("cm.rtu_loss", rtu_loss, 0, 1,
              {"1", "probability that the first RTU of a connection is lost", evidence::assumed, ""});
    list.real("cm.rtu_repeat_loss", rtu_repeat_loss, 0, 1,
              {"1", "probability that an RTU which is sent again is lost", evidence::assumed, ""});
    list.real("cm.rtu_late", rtu_late, 0, 1,
              {"1", "probability that the first RTU of a connection is delayed in the fabric",
               evidence::measured, "1 of 3 RTUs of the IPoIB-CM capture is behind the first SEND"});
    list.integer("cm.rtu_late_ns", rtu_late_ns, 0, 1000000000,
                 {"ns", "by how much a late RTU is delayed", evidence::assumed,
                  "2.146 us between SEND and RTU in the IPoIB-CM capture"});
    list.boolean("cm.disconnect", disconnect,
                 {"1", "connections end with DREQ and DREP", evidence::documented, "IBTA 12.9.6"});
}

void host_config::describe(parameter_list& list) {
    list.integer("host.mmio_write_ns", mmio_write_ns, 1, 1000000,
                 {"ns", "posted register write, processor to device", evidence::documented,
                  "OpenURMA pcie_mmio_write 150 ns; PCIe one way 137..250 ns"});
    list.integer("host.dma_read_ns", dma_read_ns, 1, 1000000,
                 {"ns", "read of host memory, request to first data", evidence::measured,
                  "pcie-bench (SIGCOMM 2018): 520 ns for 8 bytes, 547 ns for 64"});
    list.integer("host.dma_write_ns", dma_write_ns, 1, 1000000,
                 {"ns", "posted write to host memory, device to visible", evidence::documented,
                  "OpenURMA pcie_dma_write 250 ns; sPIN: PCIe one way about 250 ns"});
    list.integer("host.interrupt_ns", interrupt_ns, 1, 1000000000,
                 {"ns", "interrupt message to first instruction of the handler", evidence::assumed,
                  "1..5 us on a server that is awake"});
    list.integer("host.post_send_ns", post_send_ns, 0, 1000000,
                 {"ns", "post_send: WQE written to doorbell issued", evidence::documented,
                  "OpenURMA wqe_construct 30 ns + verb_post_lib 50 ns"});
    list.integer("host.completion_handler_ns", completion_handler_ns, 0, 1000000000,
                 {"ns", "completion handler of the application: CQE polled to answer ready",
                  evidence::assumed, "a SCSI command answered from memory"});
    list.integer("host.software_queue_post_ns", software_queue_post_ns, 0, 1000000,
                 {"ns", "policy software: lock, state test and list of every post", evidence::assumed,
                  "two uncontended atomic operations and a cache miss"});
    list.integer("host.poll_retry_ns", poll_retry_ns, 1, 1000000000,
                 {"ns", "policy reject: the application tries a refused post again after this",
                  evidence::assumed, ""});
    list.integer("host.cores", cores, 1, 256,
                 {"cores", "handlers and CM work that run at the same time", evidence::assumed, ""});
}

void scenario_config::describe(parameter_list& list) {
    list.text("name", name, {"1", "name of the scenario", evidence::assumed, ""});
    list.choice("workload", workload, {"one_send", "srp", "sdp", "nvmf", "script"},
                {"1",
                 "what the hosts speak: one message each way, SCSI over SRP, an SDP socket, NVMe over "
                 "fabrics, or a replay of given times",
                 evidence::assumed, ""});
    list.integer("seed", seed, 0, ~std::uint64_t{0}, {"1", "of every random choice", evidence::assumed, ""});
    list.integer("run.max_cycles", max_cycles, 0, ~std::uint64_t{0},
                 {"cycles", "the run ends here at the latest; 0 = when all is done", evidence::assumed, ""});
    list.integer(
        "topology.hosts", hosts, 2, max_hosts,
        {"hosts",
         "host 0 is the target, the others are its clients; two are joined by a cable, more by a switch",
         evidence::assumed, ""});
    list.integer("topology.connections", connections, 1, 1u << 20,
                 {"connections", "spread over the clients in turn", evidence::assumed,
                  "64: a rack of initiators on one SRP target"});
    list.integer("traffic.messages", messages, 0, 1000000000,
                 {"messages", "commands per connection; 0 = the opening sequence of the protocol",
                  evidence::assumed, ""});
    list.integer("traffic.message_bytes", message_bytes, 16, max_message_bytes,
                 {"bytes", "payload where the protocol does not say", evidence::assumed, ""});
    list.integer(
        "traffic.queue_depth", queue_depth, 1, 1024,
        {"commands", "commands that a client has outstanding on a connection", evidence::assumed, ""});
    list.integer("traffic.connect_interval_ns", connect_interval_ns, 0, 10000000000ULL,
                 {"ns", "between the REQs of successive connections", evidence::assumed, ""});
    list.integer("timers.shift", timer_shift, 0, 24,
                 {"1", "all CM and transport timers are divided by 2^this; their ratios stay",
                  evidence::assumed, "0 = as in the standard"});
    list.choice("gate.policy", policy, {"hardware", "software", "reject"},
                {"1",
                 "who holds a send that is ready while the QP is in RTR: the HCA's gate, a queue above the "
                 "send queue, or nobody (the post fails)",
                 evidence::documented,
                 "mlx5 takes the post; ib_srpt and nvmet-rdma keep a list; IBTA 11.4.1.1 refuses"});
    list.flags("gate.open_on", open_on, {"rtu", "packet", "comm_est"},
               {"1",
                "what opens the gate: RTU and modify_qp, the first valid request packet, the COMM_EST event "
                "and modify_qp",
                evidence::documented, "IBTA 12.9 (RTU), 11.6.3.1 (communication established)"});
    cm.describe(list);
    host.describe(list);
    hca.describe(list);
    rtl.describe(list);
}

namespace {

// More per host than anyone has for one simulation.
constexpr std::uint64_t memory_limit_bytes = std::uint64_t{4} << 30;

void fail(const std::string& what) { throw scenario_error(what); }

void validate_script(const scenario_config& s) {
    if (s.workload != workload_kind::script) {
        if (!s.steps.empty() || !s.script_connections.empty()) {
            fail("step, connection: only workload = \"script\" has steps and connections");
        }
        return;
    }
    if (s.script_connections.empty() || s.steps.empty()) {
        fail("workload = \"script\" needs at least one [[connection]] and one [[step]]");
    }
    for (const script_connection& c : s.script_connections) {
        if (c.active_host >= s.hosts || c.passive_host >= s.hosts) {
            fail("connection: a host that is not there; topology.hosts = " + std::to_string(s.hosts));
        }
        if (c.active_host == c.passive_host) {
            fail("connection: active_host and passive_host are the same host");
        }
    }
    for (const script_step& step : s.steps) {
        if (step.connection >= s.script_connections.size()) {
            fail("step: connection = " + std::to_string(step.connection) + " is not there");
        }
        if (step.host.size() != 1 || step.host[0] < 'a' ||
            static_cast<std::uint32_t>(step.host[0] - 'a') >= s.hosts) {
            fail("step: host = \"" + step.host +
                 "\" is not there; topology.hosts = " + std::to_string(s.hosts));
        }
    }
}

}  // namespace

void validate(const scenario_config& s) {
    validate_script(s);
    if (s.open_on == 0) {
        fail("gate.open_on is empty: no send of a passive side could ever leave");
    }
    if (s.policy != gate_policy::hardware && s.open_on == open_on_packet) {
        fail(
            "gate.policy and gate.open_on: a packet opens only the gate of policy \"hardware\"; add \"rtu\" "
            "or \"comm_est\"");
    }
    if (s.open_on == open_on_packet && !s.hca.command_unit.rts_preload) {
        fail("gate.open_on and command_unit.rts_preload: without the preload no packet can open a gate");
    }
    // Slots 0 and 1 are the management QPs'.
    if (s.workload != workload_kind::script && s.connections + first_data_qpn > s.hca.qps) {
        fail("topology.connections and hca.qps: " + std::to_string(s.connections) + " connections need " +
             std::to_string(s.connections + first_data_qpn) + " QP slots, there are " +
             std::to_string(s.hca.qps));
    }
    for (std::uint32_t h = 0; h < s.hosts; ++h) {
        if (host_software::memory_bytes(s, h) > memory_limit_bytes) {
            fail("topology.connections, traffic.queue_depth and traffic.message_bytes: host " +
                 std::to_string(h) + " would need more than 4 GiB");
        }
    }
}

}  // namespace hcasim
