#ifndef HCASIM_TESTBENCHES_BENCH_HOST_SOFTWARE_H
#define HCASIM_TESTBENCHES_BENCH_HOST_SOFTWARE_H

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/clock/clocked_module.h"
#include "model/ib/headers.h"
#include "testbenches/bench/arrival_tap.h"
#include "testbenches/bench/cm_agent.h"
#include "testbenches/bench/protocol.h"
#include "testbenches/bench/run_director.h"
#include "testbenches/bench/scenario.h"
#include "testbenches/bench/script_plan.h"
#include "testbenches/bench/task_queue.h"
#include "testbenches/bench/verbs.h"
#include "tlm/host_memory.h"
#include "tlm/host_processor.h"

namespace hcasim {

/// All software of one host: driver, connection manager, application. Host 0 is the server of a scenario's
/// connections, the others are its clients. It runs in the clock domain and takes no time but what the
/// scenario says it takes.
class host_software : public clocked_module, private cm_user {
public:
    host_software(const sc_core::sc_module_name& name, clock_domain& domain, std::uint32_t host,
                  host_memory& memory, host_processor& processor, arrival_tap& arrivals,
                  run_director& director);

    /// Memory that a host needs for this scenario, from address 0.
    static std::uint64_t memory_bytes(const scenario_config& scenario, std::uint32_t host);

    /// The scenario must stay until the next reset. A host beyond scenario.hosts stays idle.
    void reset(const scenario_config& scenario, const protocol& upper_layer);
    /// The same for workload `script`: deed i of the plan begins `post_cycles[i]` after the start.
    void reset(const scenario_config& scenario, const script_plan& plan,
               const std::vector<cycle_t>& post_cycles);

    /// The connections begin at `cycle`, which must be later than now.
    void start(cycle_t cycle);

    void tick() override;

    /// What the connection manager counted.
    std::vector<std::pair<std::string, std::uint64_t>> counters() const { return m_cm.counters(); }

private:
    /// A message on its way from the application to the send queue.
    struct outgoing {
        std::vector<std::uint8_t> bytes;
        cycle_t submitted = 0;
        cycle_t command_arrived = 0;
        bool waited = false;
    };

    using mad = std::array<std::uint8_t, ib::mad_bytes>;

    /// This host's end of a connection.
    struct connection {
        std::uint32_t index = 0;  ///< in the whole scenario
        bool active = false;
        queue_pair* qp = nullptr;
        std::uint32_t cm_id = 0;
        std::uint16_t peer_lid = 0;
        std::uint32_t peer_qpn = 0;
        std::uint32_t expected_psn = 0;  ///< of the first packet that this end receives
        std::uint32_t first_psn = 0;     ///< of the first packet that it sends: what the peer expects
        std::uint8_t ack_timeout = 0, retry_count = 7, rnr_retry_count = 7;
        bool rts_asked = false;
        ib::gate_opener rts_reason = ib::gate_opener::none;
        bool open = false;         ///< may speak: active side after its RTU, passive side after its REP
        bool is_answered = false;  ///< its commands have answers
        bool disconnected = false;
        bool failed = false;
        bool ended = false;
        // Workload `script`.
        const script_wire* wire = nullptr;
        bool reply_possible = false, reply_due = false;  ///< QP in RTR; time has come
        bool rtu_possible = false, rtu_due = false;      ///< QP in RTS; time has come
        bool rtu_settled = false;                        ///< RTU sent, or received and worked on
        std::uint32_t deeds_left = 0;
        std::deque<outgoing> queue;
        bool queue_busy = false;  ///< a task is at work on the head of the queue
        std::uint32_t to_receive = 0, to_send = 0;
        std::uint32_t commands_sent = 0;
        std::uint32_t handled = 0, posted = 0, completed = 0, submitted = 0;
    };

    // Set-up.
    void set_up();
    void set_up_management_qp();
    void set_up_connections();
    void set_up_connection(connection& c, std::uint32_t qpn, std::function<void()> then);
    void set_up_next_in_slot(std::uint32_t slot);
    std::uint32_t slot_of(std::uint32_t qpn) const { return qpn & (m_scenario->hca.qps - 1); }
    void reset_common(const scenario_config& scenario);
    void start_connections();
    void step_done();
    // A command that must not fail; `qpn` where it is for a QP.
    void require(ib::modify_status status, const char* what, std::optional<std::uint32_t> qpn = {});

    // Queue pairs.
    void to_init(queue_pair& qp, std::function<void()> then);
    void to_rtr(connection& c, std::function<void()> then);
    void to_rts(connection& c, ib::gate_opener reason, std::function<void()> then);
    void to_err(connection& c);
    ib::qp_attributes attributes_of(const connection& c) const;

    // Connection manager.
    void connect(connection& c);
    ib::cm_message request_of(const connection& c) const;
    ib::cm_message reply_of(const connection& c) const;
    connection* accepting(const ib::cm_message& req);
    void reply(connection& c);
    void send_rtu(connection& c);
    void send_mad(std::uint16_t lid, const mad& bytes);
    void send_waiting_mads();
    void management_completion(const ib::cqe& entry);
    void device_event(const ib::eqe& entry);
    void comm_est(connection& c);
    void ask_rts(connection& c, ib::gate_opener reason);
    void cm_send(std::uint16_t lid, const ib::cm_message& m) override;
    void cm_request_received(std::uint32_t id, const ib::cm_message& req) override;
    void cm_reply_received(std::uint32_t id, const ib::cm_message& rep) override;
    void cm_established(std::uint32_t id, cm_evidence how) override;
    void cm_rtu_again(std::uint32_t id) override;
    void cm_rejected(std::uint32_t id, const ib::cm_message& rej) override;
    void cm_gave_up(std::uint32_t id, ib::cm_attribute message) override;
    void cm_disconnect_received(std::uint32_t id) override;
    void cm_disconnected(std::uint32_t id) override;
    bool opens_on(gate_open_on opener) const { return (m_scenario->open_on & opener) != 0; }
    connection* by_cm_id(std::uint32_t id);

    // Workload `script`.
    void perform(std::size_t deed);
    connection& end_of(std::uint32_t index);
    void check_script_end(connection& c);

    // Application.
    void data_completion(connection& c, const ib::cqe& entry);
    void message_received(connection& c, const ib::cqe& entry);
    void next_commands(connection& c);
    void submit(connection& c, std::vector<std::uint8_t> bytes, cycle_t command_arrived);
    void pump(connection& c);
    void post_front(connection& c);
    void fail(connection& c);
    void check_end(connection& c);

    cycle_t ns(std::uint64_t nanoseconds) const;
    std::uint32_t random_psn(std::uint32_t index, std::uint64_t salt) const;
    std::uint16_t lid_of(std::uint32_t host) const {
        return m_plan != nullptr ? m_plan->lid_of_host[host] : static_cast<std::uint16_t>(host + 1);
    }
    std::uint64_t guid_of(std::uint32_t host) const { return 0x0002c90300000010u + std::uint64_t{host} * 16; }
    std::string where() const;

    std::uint32_t m_host;
    arrival_tap& m_arrivals;
    run_director& m_director;
    task_queue m_tasks;
    verbs m_verbs;
    cm_agent m_cm;
    const scenario_config* m_scenario = nullptr;
    const protocol* m_protocol = nullptr;  // not in workload `script`
    const script_plan* m_plan = nullptr;   // only in workload `script`
    const std::vector<cycle_t>* m_post_cycles = nullptr;
    std::deque<cycle_t> m_interrupts;
    std::deque<connection> m_connections;  // a deque: connections are referred to by pointer
    std::map<std::uint32_t, connection*> m_by_qpn;
    std::map<std::uint32_t, connection*> m_by_cm_id;
    completion_queue* m_management_cq = nullptr;
    queue_pair* m_management_qp = nullptr;
    std::deque<std::pair<std::uint16_t, mad>> m_waiting_mads;
    std::uint32_t m_steps_open = 0;
    cycle_t m_start = never;
};

}  // namespace hcasim

#endif
