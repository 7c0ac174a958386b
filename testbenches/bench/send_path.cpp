#include "testbenches/bench/send_path.h"

#include <stdexcept>

#include "model/ib/byte_order.h"

namespace hcasim {

namespace {

constexpr std::uint32_t timeout_exponent = 14;

std::uint8_t log2_of(std::uint32_t power_of_two) {
    return static_cast<std::uint8_t>(__builtin_ctz(power_of_two));
}

}  // namespace

void send_path_host::reset(const send_path_config& config) {
    if (config.depth == 0 || (config.depth & (config.depth - 1)) != 0 || config.qps == 0 ||
        config.qps > config.hca.qps) {
        throw std::invalid_argument("send path: depth must be a power of two and qps fit into hca.qps");
    }
    m_config = config;
    m_sq_address = context_address() + config.hca.qps * ib::qp_context_slot_bytes;
    m_payload_address = m_sq_address + std::uint64_t{config.qps} * config.depth * sizeof(ib::send_wqe);
    m_cq_address =
        (m_payload_address + std::uint64_t{config.qps} * config.depth * config.payload_bytes + 63) / 64 * 64;
    m_eq_address = m_cq_address + cq_entries * sizeof(ib::cqe);
    m_memory.assign(m_eq_address + eq_entries * sizeof(ib::eqe), 0);
    for (std::uint64_t i = m_payload_address; i < m_cq_address; ++i) {
        m_memory[i] = static_cast<std::uint8_t>(i * 7 + (i >> 8));
    }
    m_producer.assign(config.qps, 0);
    m_tokens.clear();
    for (std::uint32_t n = 0; n < config.qps; ++n) {
        ib::qp_context c;
        c.qpn = send_path_qpn(n);
        c.state = ib::qp_state::rts;
        c.valid = 1;
        c.resources.sq_address = m_sq_address + std::uint64_t{n} * config.depth * sizeof(ib::send_wqe);
        c.resources.sq_log_entries = log2_of(config.depth);
        c.attributes.dest_qpn = send_path_qpn(n) + 0x100;
        c.attributes.dlid = 2;
        c.attributes.sl = n & 1u;
        c.attributes.path_mtu = 5;
        c.attributes.timeout = timeout_exponent;
        c.attributes.retry_cnt = 7;
        c.attributes.rnr_retry = 7;
        c.requester.next_psn = 0xfffff0 + n;
        std::memcpy(&m_memory[context_address() + n * ib::qp_context_slot_bytes], &c, sizeof c);
        for (std::uint32_t i = 0; i < config.depth; ++i) {
            m_tokens.push_back(n);
        }
    }
    m_arrived.clear();
    m_taken = 0;
    m_armed = 0;
    m_next = send_path_states::first_post(config);
    m_random = config.seed * 0x9e3779b97f4a7c15u | 1u;
    m_result = {};
}

std::uint32_t send_path_host::draw(std::uint32_t below) {
    m_random ^= m_random << 13;
    m_random ^= m_random >> 7;
    m_random ^= m_random << 17;
    return static_cast<std::uint32_t>(((m_random >> 32) * below) >> 32);
}

bool send_path_host::post(cycle_t now, std::uint64_t& word) {
    if (now < m_next) {
        return false;
    }
    while (!m_arrived.empty() && m_arrived.front().visible <= now) {
        m_tokens.push_back(m_arrived.front().qp);
        m_arrived.pop_front();
        ++m_taken;
    }
    if (m_tokens.empty()) {
        return false;
    }
    if (m_taken - m_armed >= cqes_per_arm) {
        m_armed = m_taken;
        word = ib::encode({ib::doorbell_type::arm_cq, 0, static_cast<std::uint16_t>(m_armed)});
        return true;
    }
    if (m_config.interval_cycles != 0) {
        m_next = std::max(now + 1, m_next + m_config.interval_cycles);
    }
    const std::uint32_t at = draw(static_cast<std::uint32_t>(m_tokens.size()));
    const std::uint32_t qp = m_tokens[at];
    m_tokens[at] = m_tokens.back();
    m_tokens.pop_back();
    const std::uint16_t index = m_producer[qp]++;
    const std::uint64_t place = std::uint64_t{qp} * m_config.depth + (index & (m_config.depth - 1));
    ib::send_wqe w;
    w.flags = ib::wqe_signaled;
    w.wqe_index = index;
    w.length_bytes = m_config.payload_bytes;
    w.address = m_payload_address + place * m_config.payload_bytes;
    w.wr_id = std::uint64_t{qp} << 32 | index;
    std::memcpy(&m_memory[m_sq_address + place * sizeof w], &w, sizeof w);
    word = ib::encode({ib::doorbell_type::send_queue, send_path_qpn(qp), m_producer[qp]});
    return true;
}

cycle_t send_path_host::next_post(cycle_t now) const {
    if (m_tokens.empty() && m_arrived.empty()) {
        return never;
    }
    const cycle_t ready = m_tokens.empty() ? m_arrived.front().visible : 0;
    return std::max({now + 1, m_next, ready});
}

void send_path_host::take_cqe(std::uint64_t address, cycle_t visible) {
    ib::cqe e;
    std::memcpy(&e, &m_memory[address], sizeof e);
    m_arrived.push_back({visible, static_cast<std::uint32_t>(e.wr_id >> 32)});
    ++m_result.completions;
    mix(visible);
    mix(e.wr_id ^ (address << 16) ^ static_cast<std::uint64_t>(e.phase) << 63 ^
        static_cast<std::uint64_t>(e.status) << 56);
}

void send_path_host::see(const ib::packet& p) {
    ++m_result.packets;
    mix(p.first_byte_cycle);
    const std::uint64_t crc = p.is_flow_control
                                  ? ib::load_be32(p.bytes)
                                  : ib::load_le32(p.bytes + p.size_bytes - ib::vcrc_bytes - ib::icrc_bytes);
    const std::uint64_t vcrc = ib::load_le16(p.bytes + p.size_bytes - ib::vcrc_bytes);
    mix(crc << 16 | vcrc);
    if (!p.is_flow_control) {
        mix(std::uint64_t{p.qpn} << 40 | std::uint64_t{p.psn} << 16 | p.wqe_index);
    }
}

state_event send_path_states::take() {
    state_event e;
    const bool opens = m_given >= m_qps;
    e.qpn = send_path_qpn(opens ? m_given - m_qps : m_given);
    e.sl_class = e.qpn & 1u;
    e.created = !opens;
    e.state = opens ? ib::qp_state::rts : ib::qp_state::init;
    e.gate = opens ? gate_state::open : gate_state::closed;
    ++m_given;
    m_next += opens ? m_interval : 1;
    return e;
}

void send_path_peer::reset(const send_path_config& config) {
    m_ack_cycles = config.ack_cycles;
    m_credit_update_bytes = config.hca.link.credit_update_bytes;
    for (vl_state& v : m_vls) {
        v.credits.reset(config.hca.link.vl_buffer_bytes);
        v.freed_bytes = 0;
    }
    m_acks.clear();
    m_credits.clear();
}

void send_path_peer::take(const ib::packet& p, cycle_t now) {
    vl_state& v = m_vls[p.vl];
    bool announce = p.is_flow_control;
    if (!p.is_flow_control) {
        v.credits.received(credit_blocks(p.size_bytes));
        v.freed_bytes += p.size_bytes;
        if (v.freed_bytes >= m_credit_update_bytes) {
            v.freed_bytes = 0;
            announce = true;
        }
    }
    if (announce) {
        m_credits.push_back({true, false, p.vl, v.credits.fccl()});
    }
    if (!p.is_flow_control && p.ends_message) {
        cycle_t due = std::max(now + 1, p.last_byte_cycle + m_ack_cycles);
        if (!m_acks.empty()) {
            due = std::max(due, m_acks.back().due + 1);
        }
        m_acks.push_back({due, {p.qpn, p.psn, ib::syndrome_ack | ib::credit_code_none}});
    }
}

}  // namespace hcasim
