#include "testbenches/bench/verbs.h"

#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

#include "testbenches/bench/host_layout.h"

namespace hcasim {

namespace {

// Commands on their way at once, as the mailboxes of a driver's command interface allow.
constexpr std::uint16_t commands_at_once = 8;
// While there is no event queue yet, the driver looks for the end of a command as often as this.
constexpr cycle_t poll_cycles = 256;
constexpr std::uint16_t first_token = 1;
constexpr std::uint64_t uar_doorbell = ib::bar_page_bytes + ib::uar_doorbell_offset;

std::uint8_t phase_of(std::uint32_t position, std::uint32_t entries) {
    return static_cast<std::uint8_t>((position / entries + 1) & 1u);
}

std::uint8_t log2_of(std::uint32_t entries) {
    std::uint8_t log = 0;
    while ((1u << log) < entries) {
        ++log;
    }
    return log;
}

}  // namespace

void verbs::reset(std::uint64_t arena_address, cycle_t post_send_cycles) {
    m_arena = arena_address;
    m_post_send_cycles = post_send_cycles;
    m_eq_address = 0;
    m_eq_entries = 0;
    m_eq_consumer = 0;
    m_cqs.clear();
    m_qps.clear();
    m_event_handler = nullptr;
    m_waiting.clear();
    m_running.clear();
    m_mailboxes.clear();
    m_free_slots.clear();
    m_slot_of.clear();
    m_next_token = first_token;
    m_next_cqn = 1;
}

std::uint64_t verbs::allocate(std::uint64_t bytes) {
    constexpr std::uint64_t alignment = 64;
    const std::uint64_t address = (m_arena + alignment - 1) / alignment * alignment;
    if (address + bytes > m_memory.size_bytes()) {
        throw std::runtime_error("host memory of " + std::to_string(m_memory.size_bytes()) +
                                 " bytes is used up");
    }
    m_arena = address + bytes;
    return address;
}

void verbs::mmio(std::uint64_t offset, std::uint64_t value) {
    m_processor.mmio_write(offset, value, m_domain.local_offset());
}

void verbs::ring(std::uint64_t word) { mmio(uar_doorbell, word); }

void verbs::open(std::uint32_t eq_entries, std::function<void()> ready) {
    for (std::uint16_t i = 0; i < commands_at_once; ++i) {
        m_mailboxes.push_back(allocate(sizeof(ib::command_mailbox)));
        m_free_slots.push_back(static_cast<std::uint16_t>(commands_at_once - 1 - i));
    }
    m_eq_entries = eq_entries;
    m_eq_address = allocate(std::uint64_t{eq_entries} * sizeof(ib::eqe));
    ib::command_mailbox mailbox;
    mailbox.opcode = ib::command_opcode::create_eq;
    mailbox.ring_address = m_eq_address;
    mailbox.ring_entries = eq_entries;
    submit(mailbox, [this, ready = std::move(ready)](const ib::command_mailbox&) {
        ring(ib::encode(ib::doorbell{ib::doorbell_type::event_queue, 0, 0}));
        ready();
    });
    m_tasks.after(poll_cycles, [this] { poll_first_command(); });
}

void verbs::poll_first_command() {
    if (m_running.count(first_token) == 0) {
        return;
    }
    ib::command_mailbox mailbox;
    read(m_mailboxes[m_slot_of.at(first_token)], &mailbox, sizeof mailbox);
    if (mailbox.done != 0) {
        command_finished(first_token);
    } else {
        m_tasks.after(poll_cycles, [this] { poll_first_command(); });
    }
}

void verbs::submit(ib::command_mailbox mailbox, std::function<void(const ib::command_mailbox&)> done) {
    m_waiting.push_back({mailbox, std::move(done)});
    start_commands();
}

void verbs::start_commands() {
    while (!m_waiting.empty() && !m_free_slots.empty()) {
        command c = std::move(m_waiting.front());
        m_waiting.pop_front();
        const std::uint16_t slot = m_free_slots.back();
        m_free_slots.pop_back();
        const std::uint16_t token = m_next_token++;
        c.mailbox.token = token;
        c.mailbox.done = 0;
        m_slot_of[token] = slot;
        m_running[token] = std::move(c.done);
        write(m_mailboxes[slot], &c.mailbox, sizeof c.mailbox);
        mmio(ib::bar_command_offset, m_mailboxes[slot]);
    }
}

void verbs::command_finished(std::uint16_t token) {
    const auto running = m_running.find(token);
    if (running == m_running.end()) {
        return;  // its end was seen in the mailbox before its event came
    }
    const std::uint16_t slot = m_slot_of.at(token);
    ib::command_mailbox mailbox;
    read(m_mailboxes[slot], &mailbox, sizeof mailbox);
    const auto done = std::move(running->second);
    m_running.erase(running);
    m_slot_of.erase(token);
    m_free_slots.push_back(slot);
    start_commands();
    done(mailbox);
}

completion_queue& verbs::create_cq(std::uint32_t entries, std::function<void(const ib::cqe&)> handler,
                                   command_done done) {
    const std::uint32_t cqn = m_next_cqn++;
    completion_queue& cq = *(m_cqs[cqn] = std::make_unique<completion_queue>());
    cq.cqn = cqn;
    cq.entries = entries;
    cq.address = allocate(std::uint64_t{entries} * sizeof(ib::cqe));
    cq.handler = std::move(handler);
    ib::command_mailbox mailbox;
    mailbox.opcode = ib::command_opcode::create_cq;
    mailbox.number = cqn;
    mailbox.ring_address = cq.address;
    mailbox.ring_entries = entries;
    submit(mailbox, [this, &cq, done = std::move(done)](const ib::command_mailbox& m) {
        ring(ib::encode(ib::doorbell{ib::doorbell_type::arm_cq, cq.cqn, 0}));
        done(m.status);
    });
    return cq;
}

queue_pair& verbs::create_qp(const queue_pair_request& request, command_done done) {
    m_qps.push_back(std::make_unique<queue_pair>());
    queue_pair& qp = *m_qps.back();
    qp.qpn = request.qpn;
    qp.service = request.service;
    qp.cq = request.cq;
    qp.sq_entries = request.sq_entries;
    qp.rq_entries = request.rq_entries;
    qp.send_buffer_bytes = request.send_buffer_bytes;
    qp.receive_buffer_bytes = request.receive_buffer_bytes;
    qp.sq_address = allocate(std::uint64_t{qp.sq_entries} * sizeof(ib::send_wqe));
    qp.rq_address = allocate(std::uint64_t{qp.rq_entries} * sizeof(ib::receive_wqe));
    qp.send_buffers = allocate(std::uint64_t{qp.sq_entries} * qp.send_buffer_bytes);
    qp.receive_buffers = allocate(std::uint64_t{qp.rq_entries} * qp.receive_buffer_bytes);
    ib::command_mailbox mailbox;
    mailbox.opcode = ib::command_opcode::create_qp;
    mailbox.number = qp.qpn;
    mailbox.resources.sq_address = qp.sq_address;
    mailbox.resources.rq_address = qp.rq_address;
    mailbox.resources.send_cqn = qp.cq->cqn;
    mailbox.resources.receive_cqn = qp.cq->cqn;
    mailbox.resources.sq_log_entries = log2_of(qp.sq_entries);
    mailbox.resources.rq_log_entries = log2_of(qp.rq_entries);
    mailbox.resources.service = qp.service;
    submit(mailbox, [done = std::move(done)](const ib::command_mailbox& m) { done(m.status); });
    return qp;
}

void verbs::modify_qp(queue_pair& qp, const modify_request& request, command_done done) {
    ib::command_mailbox mailbox;
    mailbox.opcode = ib::command_opcode::modify_qp;
    mailbox.number = qp.qpn;
    mailbox.state = request.to;
    mailbox.reason = request.reason;
    mailbox.attribute_mask = request.mask;
    mailbox.attributes = request.attributes;
    submit(mailbox, [&qp, to = request.to, done = std::move(done)](const ib::command_mailbox& m) {
        if (m.status == ib::modify_status::ok) {
            qp.state = to;
        }
        done(m.status);
    });
}

void verbs::destroy_qp(queue_pair& qp, command_done done) {
    ib::command_mailbox mailbox;
    mailbox.opcode = ib::command_opcode::destroy_qp;
    mailbox.number = qp.qpn;
    submit(mailbox, [&qp, done = std::move(done)](const ib::command_mailbox& m) {
        qp.state = ib::qp_state::reset;
        done(m.status);
    });
}

std::uint16_t verbs::post_send(queue_pair& qp, ib::send_wqe wqe, const std::uint8_t* payload,
                               std::uint32_t bytes) {
    const std::uint16_t index = qp.sq_producer;
    const std::uint32_t slot = index & (qp.sq_entries - 1);
    wqe.wqe_index = index;
    wqe.length_bytes = bytes;
    wqe.address = qp.send_buffers + std::uint64_t{slot} * qp.send_buffer_bytes;
    write(wqe.address, payload, bytes);
    write(qp.sq_address + slot * sizeof(ib::send_wqe), &wqe, sizeof wqe);
    ++qp.sq_producer;
    const std::uint64_t word =
        ib::encode(ib::doorbell{ib::doorbell_type::send_queue, qp.qpn, qp.sq_producer});
    m_tasks.after(m_post_send_cycles, [this, word] { ring(word); });
    return index;
}

void verbs::post_receive(queue_pair& qp, std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
        const std::uint32_t slot = qp.rq_producer & (qp.rq_entries - 1);
        ib::receive_wqe wqe;
        wqe.wr_id = slot;
        wqe.address = qp.receive_buffer(slot);
        wqe.length_bytes = qp.receive_buffer_bytes;
        write(qp.rq_address + slot * sizeof(ib::receive_wqe), &wqe, sizeof wqe);
        ++qp.rq_producer;
    }
    ring(ib::encode(ib::doorbell{ib::doorbell_type::receive_queue, qp.qpn, qp.rq_producer}));
}

void verbs::poll_cq(completion_queue& cq) {
    for (;;) {
        ib::cqe entry;
        read(cq.address + std::uint64_t{cq.consumer & (cq.entries - 1)} * sizeof entry, &entry, sizeof entry);
        if (entry.phase != phase_of(cq.consumer, cq.entries)) {
            break;
        }
        ++cq.consumer;
        cq.handler(entry);
    }
    ring(
        ib::encode(ib::doorbell{ib::doorbell_type::arm_cq, cq.cqn, static_cast<std::uint16_t>(cq.consumer)}));
}

void verbs::interrupt() {
    if (m_eq_entries == 0) {
        return;
    }
    for (;;) {
        ib::eqe entry;
        read(m_eq_address + std::uint64_t{m_eq_consumer & (m_eq_entries - 1)} * sizeof entry, &entry,
             sizeof entry);
        if (entry.phase != phase_of(m_eq_consumer, m_eq_entries)) {
            return;
        }
        ++m_eq_consumer;
        // Told seldom: a full event queue is far away.
        if (m_eq_consumer % (m_eq_entries / 2) == 0) {
            ring(ib::encode(
                ib::doorbell{ib::doorbell_type::event_queue, 0, static_cast<std::uint16_t>(m_eq_consumer)}));
        }
        switch (entry.type) {
            case ib::event_type::completion: {
                const auto cq = m_cqs.find(entry.number);
                if (cq != m_cqs.end()) {
                    poll_cq(*cq->second);
                }
                break;
            }
            case ib::event_type::command:
                command_finished(static_cast<std::uint16_t>(entry.number));
                break;
            default:
                if (m_event_handler) {
                    m_event_handler(entry);
                }
                break;
        }
    }
}

}  // namespace hcasim
