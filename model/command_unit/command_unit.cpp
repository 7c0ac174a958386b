#include "model/command_unit/command_unit.h"

#include <algorithm>
#include <cstring>

#include "model/clock/cycle_time.h"

namespace hcasim {

namespace {

bool values_are_good(std::uint32_t mask, const ib::qp_attributes& a) {
    const auto given = [mask](ib::attribute bit) { return (mask & bit) != 0; };
    return (!given(ib::attr_path_mtu) || (a.path_mtu >= 1 && a.path_mtu <= 5)) &&
           (!given(ib::attr_timeout) || a.timeout <= 31) &&
           (!given(ib::attr_retry_cnt) || a.retry_cnt <= 7) &&
           (!given(ib::attr_rnr_retry) || a.rnr_retry <= 7) &&
           (!given(ib::attr_min_rnr_timer) || a.min_rnr_timer <= 31) &&
           (!given(ib::attr_sq_psn) || a.sq_psn <= 0xffffff) &&
           (!given(ib::attr_rq_psn) || a.rq_psn <= 0xffffff) && (!given(ib::attr_av) || a.sl <= 15);
}

}  // namespace

command_unit::command_unit(const sc_core::sc_module_name& name, clock_domain& domain)
    : clocked_module(name, domain),
      command_i("command_i", *this),
      read_o("read_o", *this),
      read_i("read_i", *this),
      write_o("write_o", *this),
      context_o("context_o", *this),
      context_i("context_i", *this),
      setup_o("setup_o", *this),
      event_o("event_o", *this) {}

void command_unit::reset(const command_unit_config& config, std::uint64_t clock_mhz, ib::packet_pool& pool) {
    m_config = config;
    m_clock_mhz = clock_mhz;
    m_pool = &pool;
    m_queue.clear();
    m_step = step::idle;
    m_counters = {};
}

void command_unit::tick() {
    if (command_i.can_pop()) {
        m_queue.push_back(command_i.pop().mailbox_address);
        m_counters.max_queue = std::max<std::uint64_t>(m_counters.max_queue, m_queue.size());
    }
    // One step per cycle at most; a step that waits for a channel or a time is woken by it.
    switch (m_step) {
        case step::idle:
            if (m_queue.empty()) {
                return;
            }
            m_mailbox_address = m_queue.front();
            m_queue.pop_front();
            m_step = step::fetch;
            [[fallthrough]];
        case step::fetch:
            if (!read_o.can_push()) {
                return;
            }
            read_o.push(
                {m_mailbox_address, sizeof(m_mailbox), 0, reinterpret_cast<std::uint8_t*>(&m_mailbox)});
            m_step = step::wait_mailbox;
            return;
        case step::wait_mailbox:
            if (!read_i.can_pop()) {
                return;
            }
            read_i.pop();
            ++m_counters.commands;
            check();
            return;
        case step::read_context: {
            if (!context_o.can_push()) {
                return;
            }
            qpc_request r;
            r.operation = qpc_operation::read;
            r.qpn = m_mailbox.number;
            context_o.push(r);
            m_step = step::wait_context;
            return;
        }
        case step::wait_context: {
            if (!context_i.can_pop()) {
                return;
            }
            const qpc_response r = context_i.pop();
            if (!r.known) {
                finish(ib::modify_status::unknown_qp);
                return;
            }
            m_context = r.context;
            if (m_mailbox.opcode == ib::command_opcode::query_qp) {
                m_mailbox.state = r.context.state;
                m_mailbox.reason = r.context.opened_by;
                m_mailbox.sq_psn = r.context.requester.next_psn;
                m_mailbox.expected_psn = r.context.responder.expected_psn;
                m_mailbox.attributes = r.context.attributes;
                start(m_config.other_ns);
                m_modify.to = r.context.state;
                return;
            }
            if (m_mailbox.opcode == ib::command_opcode::destroy_qp) {
                m_modify = {};
                m_modify.from_states = ~0u;
                m_modify.to = ib::qp_state::reset;
                m_modify.destroy = true;
                start(m_config.create_qp_ns);
                return;
            }
            if (validate_modify(r.context)) {
                start(m_config.modify_qp_ns);
            }
            return;
        }
        case step::work:
            if (now() < m_due) {
                return;
            }
            m_step = step::apply;
            [[fallthrough]];
        case step::apply: {
            if (m_mailbox.opcode == ib::command_opcode::query_qp) {
                finish(ib::modify_status::ok);
                return;
            }
            if (m_mailbox.opcode == ib::command_opcode::create_cq ||
                m_mailbox.opcode == ib::command_opcode::create_eq) {
                if (!setup_o.can_push()) {
                    return;
                }
                setup_o.push({m_mailbox.opcode == ib::command_opcode::create_eq, m_mailbox.number,
                              m_mailbox.ring_address, m_mailbox.ring_entries});
                finish(ib::modify_status::ok);
                return;
            }
            if (!context_o.can_push()) {
                return;
            }
            qpc_request r;
            r.qpn = m_mailbox.number;
            if (m_mailbox.opcode == ib::command_opcode::create_qp) {
                r.operation = qpc_operation::create;
                r.fresh = &m_context;
            } else {
                r.operation = qpc_operation::modify;
                r.modify = &m_modify;
            }
            context_o.push(r);
            m_step = step::wait_apply;
            return;
        }
        case step::wait_apply: {
            if (!context_i.can_pop()) {
                return;
            }
            const qpc_response r = context_i.pop();
            if (m_mailbox.opcode == ib::command_opcode::create_qp) {
                finish(r.applied ? ib::modify_status::ok
                                 : ib::modify_status::bad_value);  // the slot holds a QP
            } else if (!r.known) {
                finish(ib::modify_status::unknown_qp);
            } else if (r.applied || m_modify.from_states == 0) {
                finish(ib::modify_status::ok);
            } else if (validate_modify(r.context)) {
                m_step = step::apply;  // the state has changed since it was read, and the request is good
                                       // from there too
                wake_next();
            }
            return;
        }
        case step::write_back: {
            if (!write_o.can_push()) {
                return;
            }
            ib::packet* buffer = m_pool->get();
            std::memcpy(buffer->bytes, &m_mailbox, sizeof(m_mailbox));
            dma_write w;
            w.address = m_mailbox_address;
            w.bytes = sizeof(m_mailbox);
            w.data = buffer->bytes;
            w.packet = buffer;
            write_o.push(w);
            m_step = step::report;
            wake_next();
            return;
        }
        case step::report:
            if (!event_o.can_push()) {
                return;
            }
            event_o.push({ib::event_type::command, m_mailbox.token});
            m_step = step::idle;
            if (!m_queue.empty()) {
                wake_next();
            }
            return;
    }
}

void command_unit::check() {
    switch (m_mailbox.opcode) {
        case ib::command_opcode::create_qp:
            prepare_create();
            return;
        case ib::command_opcode::modify_qp:
        case ib::command_opcode::query_qp:
        case ib::command_opcode::destroy_qp:
            m_step = step::read_context;
            wake_next();
            return;
        case ib::command_opcode::create_cq:
        case ib::command_opcode::create_eq: {
            const std::uint32_t n = m_mailbox.ring_entries;
            if (n == 0 || n > 32768 || (n & (n - 1)) != 0 || m_mailbox.number > 0xffff) {
                finish(ib::modify_status::bad_value);
            } else {
                start(m_config.other_ns);
            }
            return;
        }
        default:
            finish(ib::modify_status::bad_command);
            return;
    }
}

void command_unit::prepare_create() {
    const ib::qp_resources& r = m_mailbox.resources;
    if (m_mailbox.number > 0xffffff || r.sq_log_entries > 15 || r.rq_log_entries > 15 || r.sl_class > 15) {
        finish(ib::modify_status::bad_value);
        return;
    }
    m_context = {};
    m_context.qpn = m_mailbox.number;
    m_context.valid = 1;
    m_context.resources = r;
    start(m_config.create_qp_ns);
}

// Decides what the request means for a QP in the state of `context`; false when the command has ended here.
bool command_unit::validate_modify(const ib::qp_context& context) {
    const std::uint32_t mask = m_mailbox.attribute_mask & ~static_cast<std::uint32_t>(ib::attr_state);
    const ib::qp_state to = m_mailbox.state;
    if ((mask & ib::attr_cur_state) != 0 && m_mailbox.current_state != context.state) {
        finish(ib::modify_status::wrong_current_state);
        return false;
    }
    if (context.state == ib::qp_state::rts && to == ib::qp_state::rts && (mask & ib::attr_sq_psn) != 0 &&
        context.opened_by == ib::gate_opener::packet) {
        // RTR to RTS, asked for after a packet has done it: nothing is left to do, and above all no PSN to
        // set.
        ++m_counters.already_rts;
        m_modify = {};
        m_modify.from_states = 0;
        m_modify.to = to;
        m_modify.reason = m_mailbox.reason;
        return true;
    }
    const ib::modify_status status =
        !values_are_good(mask, m_mailbox.attributes)
            ? ib::modify_status::bad_value
            : ib::check_modify(context.resources.service, context.state, to, mask, m_config.rts_preload);
    if (status != ib::modify_status::ok) {
        finish(status);
        return false;
    }
    m_modify = {};
    m_modify.from_states = 1u << static_cast<unsigned>(context.state);
    m_modify.to = to;
    m_modify.reason = m_mailbox.reason;
    m_modify.attribute_mask = mask;
    m_modify.attributes = m_mailbox.attributes;
    return true;
}

void command_unit::start(std::uint64_t ns) {
    m_due = now() + std::max<cycle_t>(1, ns_to_cycles(ns, m_clock_mhz));
    m_step = step::work;
    wake_at(m_due);
}

void command_unit::finish(ib::modify_status status) {
    m_mailbox.status = status;
    m_mailbox.done = 1;
    m_counters.refused += status == ib::modify_status::ok ? 0 : 1;
    m_step = step::write_back;
    wake_next();
}

}  // namespace hcasim
