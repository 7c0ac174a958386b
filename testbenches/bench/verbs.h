#ifndef HCASIM_TESTBENCHES_BENCH_VERBS_H
#define HCASIM_TESTBENCHES_BENCH_VERBS_H

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "model/clock/clock_domain.h"
#include "model/ib/command.h"
#include "model/ib/work_queue.h"
#include "testbenches/bench/task_queue.h"
#include "tlm/host_memory.h"
#include "tlm/host_processor.h"

namespace hcasim {

/// A ring of completion entries in host memory and what is to be done with each.
struct completion_queue {
    std::uint32_t cqn = 0;
    std::uint64_t address = 0;
    std::uint32_t entries = 0;
    std::uint32_t consumer = 0;  ///< entries taken since creation
    std::function<void(const ib::cqe&)> handler;
};

/// What software knows of a queue pair: its rings, its buffers (one per entry) and its state as of the last
/// command that was answered.
struct queue_pair {
    std::uint32_t qpn = 0;
    ib::service_type service = ib::service_type::rc;
    completion_queue* cq = nullptr;
    std::uint64_t sq_address = 0, rq_address = 0;
    std::uint64_t send_buffers = 0, receive_buffers = 0;
    std::uint32_t sq_entries = 0, rq_entries = 0;
    std::uint32_t send_buffer_bytes = 0, receive_buffer_bytes = 0;
    std::uint16_t sq_producer = 0, sq_consumer = 0;
    std::uint16_t rq_producer = 0;
    ib::qp_state state = ib::qp_state::reset;

    bool has_send_room() const { return static_cast<std::uint16_t>(sq_producer - sq_consumer) < sq_entries; }
    std::uint64_t receive_buffer(std::uint64_t wr_id) const {
        return receive_buffers + (wr_id & (rq_entries - 1)) * receive_buffer_bytes;
    }
};

/// Sizes of a queue pair to be created. Entries are powers of two, at most 32768.
struct queue_pair_request {
    std::uint32_t qpn = 0;
    ib::service_type service = ib::service_type::rc;
    completion_queue* cq = nullptr;
    std::uint32_t sq_entries = 16, rq_entries = 16;
    std::uint32_t send_buffer_bytes = 64, receive_buffer_bytes = 64;
};

/// One modify_qp.
struct modify_request {
    ib::qp_state to = ib::qp_state::err;
    std::uint32_t mask = 0;
    ib::qp_attributes attributes;
    ib::gate_opener reason = ib::gate_opener::command;
};

/// The driver of one HCA: memory, queues, commands. Commands are asynchronous: each has a mailbox, is rung,
/// and ends with an event. All calls are made in the software's own tick.
class verbs {
public:
    using command_done = std::function<void(ib::modify_status)>;

    verbs(clock_domain& domain, host_memory& memory, host_processor& processor, task_queue& tasks)
        : m_domain(domain), m_memory(memory), m_processor(processor), m_tasks(tasks) {}

    /// Forgets all queues. Memory from `arena_address` on is the driver's to give out.
    void reset(std::uint64_t arena_address, cycle_t post_send_cycles);

    /// Memory of a queue or buffer; throws std::runtime_error when there is no more.
    std::uint64_t allocate(std::uint64_t bytes);

    /// Creates the event queue; `ready` is called when commands can be given.
    void open(std::uint32_t eq_entries, std::function<void()> ready);
    completion_queue& create_cq(std::uint32_t entries, std::function<void(const ib::cqe&)> handler,
                                command_done done);
    queue_pair& create_qp(const queue_pair_request& request, command_done done);
    void modify_qp(queue_pair& qp, const modify_request& request, command_done done);
    void destroy_qp(queue_pair& qp, command_done done);

    /// Copies the payload into the buffer of the next send entry, writes the entry (its index, address and
    /// length are filled in) and rings the doorbell post_send_cycles later. The queue must have room. Returns
    /// the entry's index.
    std::uint16_t post_send(queue_pair& qp, ib::send_wqe wqe, const std::uint8_t* payload,
                            std::uint32_t bytes);
    /// Posts `count` receive entries with their buffers and rings the doorbell.
    void post_receive(queue_pair& qp, std::uint32_t count);

    void read(std::uint64_t address, void* out, std::uint64_t bytes) {
        m_memory.read(address, out, bytes, m_domain.time_of(m_domain.now()));
    }
    void write(std::uint64_t address, const void* data, std::uint64_t bytes) {
        m_memory.write(address, data, bytes, m_domain.time_of(m_domain.now()));
    }

    /// Events other than completions and commands.
    void set_event_handler(std::function<void(const ib::eqe&)> handler) {
        m_event_handler = std::move(handler);
    }

    /// The interrupt handler: takes all events, and all completions of the CQs that they name, and arms these
    /// again.
    void interrupt();

private:
    struct command {
        ib::command_mailbox mailbox;
        std::function<void(const ib::command_mailbox&)> done;
    };

    void submit(ib::command_mailbox mailbox, std::function<void(const ib::command_mailbox&)> done);
    void start_commands();
    void command_finished(std::uint16_t token);
    void poll_first_command();
    void poll_cq(completion_queue& cq);
    void ring(std::uint64_t word);
    void mmio(std::uint64_t offset, std::uint64_t value);

    clock_domain& m_domain;
    host_memory& m_memory;
    host_processor& m_processor;
    task_queue& m_tasks;
    std::uint64_t m_arena = 0;
    cycle_t m_post_send_cycles = 0;
    std::uint64_t m_eq_address = 0;
    std::uint32_t m_eq_entries = 0;
    std::uint32_t m_eq_consumer = 0;
    std::map<std::uint32_t, std::unique_ptr<completion_queue>> m_cqs;
    std::vector<std::unique_ptr<queue_pair>> m_qps;
    std::function<void(const ib::eqe&)> m_event_handler;
    std::deque<command> m_waiting;
    std::map<std::uint16_t, std::function<void(const ib::command_mailbox&)>> m_running;
    std::vector<std::uint64_t> m_mailboxes;  // by slot
    std::vector<std::uint16_t> m_free_slots;
    std::map<std::uint16_t, std::uint16_t> m_slot_of;  // token to slot
    std::uint16_t m_next_token = 1;
    std::uint32_t m_next_cqn = 1;
};

}  // namespace hcasim

#endif
