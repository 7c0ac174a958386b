#include "model/link/link_rx.h"

#include <algorithm>

#include "model/ib/crc.h"

namespace hcasim {

link_rx::link_rx(const sc_core::sc_module_name& name, clock_domain& domain, ib::packet_pool& pool)
    : clocked_module(name, domain),
      wire_i("wire_i", *this),
      packet_o("packet_o", *this),
      credit_o("credit_o", *this),
      m_pool(pool) {
    tick_directly<link_rx>();
}

void link_rx::reset(const link_config& config) {
    m_config = config;
    m_arriving.clear();
    for (auto& v : m_vls) {
        v.credits.reset(config.vl_buffer_bytes);
        v.buffer.clear();
        v.freed_bytes = 0;
        v.at_once = false;
        v.has_limit = false;
    }
    m_next_vl = 0;
    m_next_report = 0;
    m_changed = 0;
    m_next_limit = 0;
    m_buffered = 0;
    m_buffered_bytes = 0;
    m_limits = 0;
    m_counters = {};
}

// Its steps are inlined by force: the compiler does not know that a member function has this one caller.
void link_rx::tick() {
    if (wire_i.can_pop()) {
        ib::packet* p = wire_i.pop();
        cycle_t due =
            p->last_byte_cycle + wire_i.core().config().latency_cycles + m_config.rx_pipeline_cycles;
        if (!m_arriving.empty()) {
            due = std::max(due,
                           m_arriving.back().due + 1);  // one packet leaves the pipeline per cycle, in order
        }
        due = std::max(due, now() + 1);
        m_arriving.push_back({due, p});
        wake_at(m_arriving.front().due > now() ? m_arriving.front().due : now() + 1);
    }
    take_arrived();
    deliver();
    report_credits();
}

[[gnu::always_inline]] inline void link_rx::take_arrived() {
    if (m_arriving.empty() || m_arriving.front().due > now()) {
        return;
    }
    ib::packet* p = m_arriving.front().packet;
    m_arriving.pop_front();
    if (!m_arriving.empty()) {
        wake_at(std::max(m_arriving.front().due, now() + 1));
    }
    if (p->is_flow_control) {
        take_flow_control(*p);
        m_pool.put(p);
        return;
    }
    ++m_counters.packets;
    const std::uint32_t vl = p->bytes[0] >> 4;
    const std::uint32_t blocks = credit_blocks(p->size_bytes);
    if (vl >= m_config.data_vls) {
        ++m_counters.overruns;
        m_pool.put(p);
        return;
    }
    vl_state& v = m_vls[vl];
    if (!p->late) {
        v.credits.received(blocks);
        m_changed |= 1u << vl;
    }
    if (!ib::vcrc_is_good(p->bytes, p->size_bytes)) {
        ++m_counters.vcrc_errors;
        m_pool.put(p);
        return;
    }
    if (v.credits.free_blocks() < blocks) {
        ++m_counters.overruns;
        m_pool.put(p);
        return;
    }
    v.credits.take(blocks);
    v.buffer.push_back(p);
    ++m_buffered;
    m_buffered_bytes += p->size_bytes;
    m_counters.max_buffered_bytes = std::max(m_counters.max_buffered_bytes, m_buffered_bytes);
}

void link_rx::take_flow_control(const ib::packet& p) {
    ++m_counters.flow_control_packets;
    ib::flow_control_packet f;
    if (!ib::decode(p.bytes, f) || f.vl >= m_config.data_vls) {
        ++m_counters.flow_control_errors;
        return;
    }
    vl_state& v = m_vls[f.vl];
    if (v.credits.synchronize(f.fctbs)) {
        ++m_counters.resyncs;
        m_changed |= 1u << f.vl;
    }
    m_limits += v.has_limit ? 0 : 1;
    v.has_limit = true;
    v.limit = f.fccl;
}

// One packet per cycle, the VLs in turn.
[[gnu::always_inline]] inline void link_rx::deliver() {
    if (m_buffered == 0 || !packet_o.can_push()) {
        return;
    }
    std::uint32_t vl = m_next_vl;
    while (m_vls[vl].buffer.empty()) {
        vl = vl + 1 == m_config.data_vls ? 0 : vl + 1;
    }
    vl_state& v = m_vls[vl];
    ib::packet* p = v.buffer.front();
    v.buffer.pop_front();
    --m_buffered;
    m_buffered_bytes -= p->size_bytes;
    m_next_vl = vl + 1 == m_config.data_vls ? 0 : vl + 1;
    v.credits.give(credit_blocks(p->size_bytes));
    v.freed_bytes += p->size_bytes;
    m_changed |= 1u << vl;
    if (v.freed_bytes >= m_config.credit_update_bytes) {
        v.freed_bytes = 0;
        v.at_once = true;
    }
    packet_o.push(p);
    if (m_buffered != 0) {
        wake_next();
    }
}

// One update per cycle, the peer's limits first.
[[gnu::always_inline]] inline void link_rx::report_credits() {
    if ((m_limits == 0 && m_changed == 0) || !credit_o.can_push()) {
        return;
    }
    const auto after = [this](std::uint32_t vl) { return vl + 1 == m_config.data_vls ? 0 : vl + 1; };
    if (m_limits != 0) {
        std::uint32_t vl = m_next_limit;
        while (!m_vls[vl].has_limit) {
            vl = after(vl);
        }
        vl_state& v = m_vls[vl];
        credit_o.push({true, false, static_cast<std::uint8_t>(vl), v.limit});
        v.has_limit = false;
        --m_limits;
        m_next_limit = after(vl);
    } else {
        const std::uint32_t from_next = m_changed & (~0u << m_next_report);
        const auto vl = static_cast<std::uint32_t>(__builtin_ctz(from_next != 0 ? from_next : m_changed));
        vl_state& v = m_vls[vl];
        credit_o.push({false, v.at_once, static_cast<std::uint8_t>(vl), v.credits.fccl()});
        m_changed &= ~(1u << vl);
        v.at_once = false;
        m_next_report = after(vl);
    }
    if (m_limits != 0 || m_changed != 0) {
        wake_next();
    }
}

}  // namespace hcasim
