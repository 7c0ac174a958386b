#ifndef HCASIM_TESTBENCHES_SYSTEM_TWO_HOSTS_H
#define HCASIM_TESTBENCHES_SYSTEM_TWO_HOSTS_H

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <systemc>
#include <utility>
#include <vector>

#include "model/clock/channel.h"
#include "model/clock/clock_domain.h"
#include "model/hca.h"
#include "model/ib/command.h"
#include "model/ib/headers.h"
#include "model/ib/packet.h"
#include "model/ib/work_queue.h"
#include "testbenches/bench/recorder.h"
#include "tlm/host_memory.h"
#include "tlm/host_processor.h"
#include "tlm/pcie_bus.h"

// Two HCAs on a cable and a driver that does what a test case says, in the order in which it says it: nothing
// happens by itself but what the hardware does.
namespace hcasim::test {

/// A packet that came to the cable, as it was when it started on the wire.
struct wire_packet {
    std::uint32_t host = 0;  ///< sender
    cycle_t first_byte = 0;
    cycle_t last_byte = 0;
    bool dropped = false;  ///< by the test's filter
    ib::headers h;
    std::size_t payload_bytes = 0;
    std::vector<std::uint8_t> bytes;  ///< LRH .. VCRC
};

/// One direction of the cable: takes one cycle of the propagation delay, and can lose and add packets.
class cable : public clocked_module {
public:
    cable(const sc_core::sc_module_name& name, clock_domain& domain, ib::packet_pool& pool,
          std::uint32_t sender, std::vector<wire_packet>& log);

    in_port<ib::packet*> packet_i;
    out_port<ib::packet*> packet_o;

    void reset();
    /// Asked for every packet but flow control; false loses it.
    std::function<bool(const wire_packet&)> passes;
    /// Puts a packet on the cable in this cycle, or as soon as there is room.
    void inject(const std::vector<std::uint8_t>& bytes, cycle_t cycle);
    void tick() override;

private:
    ib::packet_pool& m_pool;
    std::uint32_t m_sender;
    std::vector<wire_packet>& m_log;
    std::deque<ib::packet*> m_waiting;
};

/// What an HCA tells its observer, kept for the test and handed on to the recorder.
class host_watch final : public observer {
public:
    struct state_change {
        std::uint32_t qpn;
        ib::qp_state from, to;
        ib::gate_opener opener;
        cycle_t cycle;
    };
    struct gate_change {
        std::uint32_t qpn;
        bool open;
        cycle_t cycle;
    };
    struct ending {
        std::uint32_t qpn;
        std::uint16_t wqe_index;
        ib::wc_status status;
        cycle_t cycle;
    };

    void reset(observer* next) {
        *this = host_watch{};
        m_next = next;
    }

    std::vector<state_change> states;
    std::vector<gate_change> gates;
    std::vector<ending> ends;
    std::vector<std::pair<std::uint32_t, cycle_t>> comm_ests;     ///< (QPN, cycle)
    std::vector<std::pair<std::uint32_t, cycle_t>> late_openers;  ///< (QPN, cycle)
    std::vector<std::pair<std::uint32_t, cycle_t>> accepted;      ///< (QPN, cycle) of request packets
    std::map<std::pair<std::uint32_t, std::uint16_t>, std::array<cycle_t, stage_count>> stamps;

    /// Cycle of a stage of a WQE; 0 when it was not reached.
    cycle_t stage_of(std::uint32_t qpn, std::uint16_t wqe_index, stage s) const {
        const auto it = stamps.find({qpn, wqe_index});
        return it == stamps.end() ? 0 : it->second[static_cast<std::size_t>(s)];
    }

    void stamp(std::uint32_t qpn, std::uint16_t wqe_index, stage s, std::uint64_t cycle) override;
    void wqe_ended(std::uint32_t qpn, std::uint16_t wqe_index, std::uint8_t status, bool has_cqe,
                   std::uint64_t cycle) override;
    void state_changed(std::uint32_t qpn, std::uint8_t from, std::uint8_t to, std::uint8_t opener,
                       std::uint32_t sq_psn, std::uint64_t cycle) override;
    void late_opener(std::uint32_t qpn, std::uint8_t opener, std::uint64_t cycle) override;
    void gate_changed(std::uint32_t qpn, std::uint8_t gate, bool pending, std::uint64_t cycle) override;
    void packet_on_wire(const std::uint8_t* bytes, std::uint32_t size_bytes, std::uint32_t qpn,
                        bool is_flow_control, bool lost, std::uint64_t first_byte_cycle,
                        std::uint64_t last_byte_cycle) override;
    void request_accepted(std::uint32_t qpn, std::uint32_t psn, bool ends_message,
                          std::uint64_t cycle) override;
    void comm_est(std::uint32_t qpn, std::uint64_t cycle) override;
    void doorbell_merged(std::uint32_t qpn, std::uint16_t before, std::uint16_t offered, std::uint16_t after,
                         std::uint64_t cycle) override;

private:
    observer* m_next = nullptr;
};

/// A queue pair as the test's driver sees it.
struct test_qp {
    std::uint32_t host = 0;
    std::uint32_t qpn = 0;
    ib::service_type service = ib::service_type::rc;
    std::uint32_t cqn = 0;
    std::uint32_t entries = 0;  ///< of each of the two rings
    std::uint32_t buffer_bytes = 0;
    std::uint64_t sq_address = 0, rq_address = 0, send_buffers = 0, receive_buffers = 0;
    std::uint16_t sq_producer = 0, rq_producer = 0;
    ib::qp_attributes attributes;  ///< what to_init(), to_rtr() and to_rts() give; pair() fills it in
    std::uint64_t next_message = 0;
    std::vector<ib::cqe> send_completions, receive_completions;  ///< as polled, in order
    std::vector<std::uint64_t> received;                         ///< numbers of the messages, in order
    std::string damage;  ///< of the first message whose bytes are not those that were sent

    std::vector<ib::wc_status> send_statuses() const;
    std::vector<ib::wc_status> receive_statuses() const;
};

/// A command on its way.
struct pending_command {
    std::uint32_t host = 0;
    std::uint64_t mailbox = 0;
};

/// One host: memory, bus and HCA.
struct test_host {
    test_host(const std::string& name, clock_domain& domain, ib::packet_pool& pool, std::uint64_t order_seed);

    host_memory memory;
    pcie_bus bus;
    host_processor processor;
    hca adapter;
    host_watch watch;
    std::uint64_t arena = 0;
    std::uint64_t eq_address = 0;
    std::uint32_t eq_consumer = 0;
    std::vector<ib::eqe> events;  ///< as polled, without those of commands
    struct cq {
        std::uint64_t address = 0;
        std::uint32_t entries = 0;
        std::uint32_t consumer = 0;
    };
    std::vector<cq> cqs;
    std::deque<test_qp> qps;
    std::uint16_t next_token = 1;
    std::vector<std::uint64_t> mailboxes;  ///< to be used again
};

/// What a run of the bench may differ in.
struct bench_config {
    hca_config hca;  ///< of both; LIDs are 1 and 2
    engine_kind engine = engine_kind::wheel;
    std::uint64_t mmio_write_ns = 0;
    std::uint64_t dma_read_ns = 500;
    std::uint64_t dma_write_ns = 250;
    std::uint32_t open_on = open_on_rtu | open_on_packet | open_on_comm_est;
    std::uint32_t cq_entries = 4096;
    std::uint32_t eq_entries = 4096;
    /// poll() tells the HCA how far it has read events. Off: one doorbell less that could meet another.
    bool tell_event_queue = false;

    bench_config();
};

/// T(exponent) of the bench's default configuration is 4096 cycles for this exponent.
constexpr std::uint8_t timeout_4096_cycles = 4;

/// The bench. One instance per process; reset() as often as wanted.
class two_hosts {
public:
    explicit two_hosts(std::uint64_t order_seed = 0);

    /// Forgets everything and creates CQ 1 and the event queue of each host.
    void reset(const bench_config& config);

    test_host& host(std::uint32_t h) { return *m_hosts[h]; }
    cable& cable_from(std::uint32_t h) { return *m_cables[h]; }
    const std::vector<wire_packet>& packets() const { return m_packets; }
    const bench_config& config() const { return m_config; }

    // Time. What the test does after run_to(c) is visible to the hardware from edge c + 1 on.
    cycle_t now() const { return m_now; }
    void run_to(cycle_t cycle);
    void run_for(cycle_t cycles) { run_to(m_now + cycles); }
    /// Until nothing is left to do; only with the engine `wheel`.
    void run_until_idle();
    /// Steps of `step` cycles until `reached`; the test fails when it is not within `limit` cycles.
    void run_until(const std::function<bool()>& reached, cycle_t step = 16, cycle_t limit = 50'000'000);

    // Commands.
    pending_command start(std::uint32_t h, ib::command_mailbox mailbox);
    bool done(const pending_command& c);
    ib::command_mailbox result(const pending_command& c);
    ib::modify_status wait(const pending_command& c);
    std::uint32_t create_cq(std::uint32_t h, std::uint32_t entries);
    /// The QPs share CQ 1 of their host.
    test_qp& create_qp(std::uint32_t h, std::uint32_t qpn, std::uint32_t entries = 64,
                       std::uint32_t buffer_bytes = 64, std::uint32_t cqn = 1,
                       ib::service_type service = ib::service_type::rc);
    static ib::command_mailbox modify_mailbox(const test_qp& qp, ib::qp_state to, std::uint32_t mask,
                                              ib::gate_opener reason = ib::gate_opener::command);
    pending_command start_modify(const test_qp& qp, ib::qp_state to, std::uint32_t mask = 0,
                                 ib::gate_opener reason = ib::gate_opener::command);
    ib::modify_status modify(const test_qp& qp, ib::qp_state to, std::uint32_t mask = 0);
    ib::command_mailbox query(const test_qp& qp);
    ib::modify_status destroy(const test_qp& qp);
    ib::qp_state state(const test_qp& qp) { return query(qp).state; }

    // Connection of two QPs: address vectors, PSNs, timers.
    void pair(test_qp& a, test_qp& b);
    void to_init(const test_qp& qp);
    void to_rtr(const test_qp& qp, bool preload = false);
    void to_rts(const test_qp& qp);
    /// RESET to `state`; further states need what is said of them above.
    void bring_to(const test_qp& qp, ib::qp_state state);

    // Posts. post_send() writes the WQE only; ring() tells the HCA.
    std::uint16_t post_send(test_qp& qp, std::uint32_t bytes = 64, std::uint8_t flags = ib::wqe_signaled);
    void ring(const test_qp& qp) { ring(qp, qp.sq_producer); }
    void ring(const test_qp& qp, std::uint16_t producer);
    void send(test_qp& qp, std::uint32_t messages = 1, std::uint32_t bytes = 64);
    void post_receives(test_qp& qp, std::uint32_t count);
    void doorbell(std::uint32_t h, std::uint64_t word);

    /// A packet that this QP's peer could have sent.
    static ib::headers request_to(const test_qp& qp, std::uint8_t op, std::uint32_t psn);
    /// Puts a packet on the cable from host `from`. `spoil` may change bits of it; the VCRC is made right
    /// again.
    void inject(std::uint32_t from, const ib::headers& h, std::size_t payload_bytes,
                const std::function<void(std::vector<std::uint8_t>&)>& spoil = nullptr);

    /// Takes new CQEs and events of both hosts into the QPs and test_host::events.
    void poll();
    std::size_t events_of(std::uint32_t h, ib::event_type type, std::uint32_t number) const;

    std::uint64_t counter(std::uint32_t h, const std::string& name) const;
    /// Request packets that this QP has sent, in order.
    std::vector<wire_packet> requests_of(const test_qp& qp) const;
    /// ACKs and NAKs that were sent to this QP.
    std::vector<wire_packet> responses_to(const test_qp& qp) const;
    static std::vector<std::uint32_t> psns_of(const std::vector<wire_packet>& packets);

    /// Ends the run: no invariant may have been violated (recorder), the bytes of all messages must be right.
    /// `idle`: all work is done, so that whatever is not done is lost.
    void check(bool idle = true);

    /// Memory of a host for the test's own use.
    std::uint64_t allocate(std::uint32_t h, std::uint64_t bytes);

private:
    void run_domain(cycle_t horizon);
    void poll_cq(test_host& h, std::uint32_t cqn);
    void take_receive(test_host& h, test_qp& qp, const ib::cqe& entry);
    test_qp* find(test_host& h, std::uint32_t qpn);

    clock_domain m_domain;
    ib::packet_pool m_pool;
    recorder m_recorder;
    std::vector<std::unique_ptr<test_host>> m_hosts;
    std::vector<wire_packet> m_packets;
    std::vector<std::unique_ptr<cable>> m_cables;
    std::vector<std::unique_ptr<channel<ib::packet*>>> m_channels;
    scenario_config m_scenario;
    bench_config m_config;
    cycle_t m_now = 0;
};

/// `count` times the same status.
std::vector<ib::wc_status> statuses(std::size_t count, ib::wc_status status);
/// first, first + 1 ... (count of them), modulo 2^24.
std::vector<std::uint32_t> psns(std::uint32_t first, std::size_t count);
/// 0, 1 ... count - 1.
std::vector<std::uint64_t> numbers(std::size_t count);

}  // namespace hcasim::test

#endif
