#include "model/link/link_tx.h"

#include <algorithm>
#include <string>

#include "model/clock/cycle_time.h"

namespace hcasim {

namespace {

// A flow-control packet that repeats the last one changes nothing at the peer; after this many the model
// leaves them out (docs, "link").
constexpr std::uint32_t repeated_periods = 2;
constexpr std::uint64_t flow_control_period_symbols = 65536;  // IBTA 7.9.4

}  // namespace

link_tx::link_tx(const sc_core::sc_module_name& name, clock_domain& domain, ib::packet_pool& pool,
                 std::uint32_t sources)
    : clocked_module(name, domain),
      credit_i("credit_i", *this),
      wire_o("wire_o", *this),
      sent_o("sent_o", *this),
      m_pool(pool),
      m_sources(sources) {
    tick_directly<link_tx>();
    for (std::uint32_t s = 0; s < sources; ++s) {
        for (std::uint32_t vl = 0; vl < max_data_vls; ++vl) {
            const std::string port = "packet_i_" + std::to_string(s) + "_" + std::to_string(vl);
            m_packet_i.push_back(std::make_unique<in_port<ib::packet*>>(port.c_str(), *this));
            m_vl_inputs[vl] |= m_packet_i.back()->flag();
            m_packet_inputs |= m_packet_i.back()->flag();
        }
    }
}

void link_tx::reset(const link_config& config, std::uint64_t clock_mhz, std::uint64_t seed) {
    m_config = config;
    m_clock_mhz = clock_mhz;
    m_serializer.reset(config.speed, config.width, clock_mhz);
    m_arbiter.reset(config);
    m_faults.reset(config, seed);
    m_vls = {};
    for (auto& vl : m_vls) {
        receive_credits own;
        own.reset(config.vl_buffer_bytes);
        vl.announced_fccl = own.fccl();
        vl.announce_now = true;
    }
    m_delayed.clear();
    m_period_cycles = std::max<cycle_t>(1, m_serializer.cycles_of(flow_control_period_symbols));
    m_period_end = m_period_cycles;
    m_period_wake = 0;
    m_announcing = true;
    m_initializing = true;
    m_next_flow_vl = 0;
    m_counters = {};
    domain().wake_at(*this, now() + 1);  // flow control begins by itself
}

// Its steps are inlined by force: the compiler does not know that a member function has this one caller.
void link_tx::tick() {
    if (credit_i.can_pop()) {
        take_credits(credit_i.front());
        credit_i.drop();
    }
    if (!m_delayed.empty()) {
        push_delayed();
    }
    if (now() > m_period_end) {
        m_period_end = (now() + m_period_cycles - 1) / m_period_cycles * m_period_cycles;
    }
    if (now() == m_period_end) {
        for (std::uint32_t vl = 0; vl < m_config.data_vls; ++vl) {
            vl_state& v = m_vls[vl];
            if (v.quiet_periods < repeated_periods || m_faults.may_lose_flow_control()) {
                ++v.quiet_periods;
                v.announce_now = true;
                m_announcing = true;
            }
        }
        m_period_end += m_period_cycles;
    }
    if (m_serializer.free_cycle() > now()) {
        wake_at(m_serializer.free_cycle());
    } else if ((m_announcing && send_flow_control()) || (!m_announcing && send_packet())) {
        if (m_announcing || (filled_inputs() & m_packet_inputs) != 0) {
            wake_at(std::max(m_serializer.free_cycle(), now() + 1));
        }
    }
    // A packet that has just gone ends the silence: the period in which it goes counts.
    if (m_period_wake != m_period_end && !is_quiet()) {
        m_period_wake = m_period_end;
        wake_at(m_period_end);
    }
}

// Nothing will be announced by itself.
bool link_tx::is_quiet() const {
    bool quiet = !m_faults.may_lose_flow_control();
    for (std::uint32_t vl = 0; vl < m_config.data_vls; ++vl) {
        quiet = quiet && m_vls[vl].quiet_periods >= repeated_periods;
    }
    return quiet;
}

void link_tx::take_credits(const credit_update& u) {
    vl_state& v = m_vls[u.vl];
    if (u.from_peer) {
        std::uint32_t s = 0;
        if (!has_front(u.vl, s) ||
            !v.credits.may_send(credit_blocks(packet_i(s, u.vl).front()->size_bytes))) {
            v.ready_since = now();
        }
        v.credits.set_limit(u.fccl);
    } else if (v.announced_fccl != u.fccl || u.at_once) {
        v.announced_fccl = u.fccl;
        v.quiet_periods = 0;
        v.announce_now = v.announce_now || u.at_once;
        m_announcing = m_announcing || u.at_once;
    }
}

void link_tx::push_delayed() {
    if (m_delayed.empty()) {
        return;
    }
    if (m_delayed.front().due > now()) {
        wake_at(m_delayed.front().due);
        return;
    }
    if (wire_o.can_push()) {
        wire_o.push(m_delayed.front().packet);
        m_delayed.erase(m_delayed.begin());
        if (!m_delayed.empty()) {
            wake_at(std::max(m_delayed.front().due, now() + 1));
        }
    }
}

// A packet may need both; asking both registers the wake-up for whichever is not ready.
bool link_tx::can_use_wire() {
    const bool wire = wire_o.can_push();
    return (!sent_o.is_bound() || sent_o.can_push()) && wire;
}

bool link_tx::send_flow_control() {
    for (std::uint32_t i = 0; i < m_config.data_vls; ++i) {
        const std::uint32_t vl = (m_next_flow_vl + i) % m_config.data_vls;
        vl_state& v = m_vls[vl];
        if (!v.announce_now) {
            continue;
        }
        if (!can_use_wire()) {
            return false;
        }
        v.announce_now = false;
        ib::packet* p = m_pool.get();
        p->is_flow_control = true;
        p->size_bytes = ib::flow_control_packet_bytes;
        p->vl = static_cast<std::uint8_t>(vl);
        ib::flow_control_packet f;
        f.op = m_initializing ? 1 : 0;
        f.vl = p->vl;
        f.fctbs = v.credits.fctbs();
        f.fccl = v.announced_fccl;
        ib::encode(f, p->bytes);
        ++m_counters.flow_control_packets;
        m_next_flow_vl = vl + 1;
        if (vl + 1 == m_config.data_vls) {
            m_initializing = false;
        }
        serialize(p, now());
        return true;
    }
    m_announcing = false;
    return false;
}

bool link_tx::has_front(std::uint32_t vl, std::uint32_t& s) {
    if ((filled_inputs() & m_vl_inputs[vl]) == 0) {
        return false;
    }
    for (std::uint32_t i = 0; i < m_sources; ++i) {
        s = m_vls[vl].next_source + i;
        s -= s >= m_sources ? m_sources : 0;
        if (packet_i(s, vl).can_pop()) {
            return true;
        }
    }
    return false;
}

// The head of a VL, from source `s`, has no credits.
void link_tx::wait_for_credits(std::uint32_t vl, std::uint32_t s) {
    vl_state& v = m_vls[vl];
    if (!v.stalled) {
        v.stalled = true;
        ++m_counters.credit_stalls;
    }
    // An injected stall may hold this packet back in a later cycle: then the other source's is the head.
    if (m_sources == source_count && packet_i(s, vl).core().config().stall.consumer_per_1024 != 0 &&
        packet_i(1 - s, vl).has_visible()) {
        wake_next();
    }
}

[[gnu::always_inline]] inline bool link_tx::send_packet() {
    if ((filled_inputs() & m_packet_inputs) == 0) {
        return false;
    }
    std::uint32_t candidates = 0;
    std::uint32_t without_credits = 0;
    std::array<std::uint32_t, max_data_vls> sources{};
    for (std::uint32_t vl = 0; vl < m_config.data_vls; ++vl) {
        if (!has_front(vl, sources[vl])) {
            continue;
        }
        const bool may_send =
            m_vls[vl].credits.may_send(credit_blocks(packet_i(sources[vl], vl).front()->size_bytes));
        (may_send ? candidates : without_credits) |= 1u << vl;
    }
    if (candidates != 0 && !can_use_wire()) {
        return false;
    }
    for (std::uint32_t vl = 0; without_credits != 0; ++vl, without_credits >>= 1) {
        if ((without_credits & 1u) != 0) {
            wait_for_credits(vl, sources[vl]);
        }
    }
    if (candidates == 0) {
        return false;
    }
    const std::uint32_t vl = m_arbiter.choose(candidates);
    if (vl == vl_arbiter::none) {
        return false;
    }
    vl_state& v = m_vls[vl];
    auto& port = packet_i(sources[vl], vl);
    // The start may lie within the cycle that ends with this edge, but not before the packet, its credits and
    // this module were ready for it.
    const bool wire_was_idle = m_serializer.free_cycle() < now();
    const cycle_t available = wire_was_idle ? now() : std::max(port.core().front_visible(), v.ready_since);
    ib::packet* p = port.pop();
    v.next_source = sources[vl] + 1 == m_sources ? 0 : sources[vl] + 1;
    v.stalled = false;
    v.credits.sent(credit_blocks(p->size_bytes));
    v.quiet_periods = 0;
    m_arbiter.charge(p->size_bytes);
    ++m_counters.packets;
    m_counters.bytes += p->size_bytes;
    serialize(p, available);
    return true;
}

[[gnu::always_inline]] inline void link_tx::serialize(ib::packet* p, cycle_t available) {
    const serializer::span span = m_serializer.send(available, p->size_bytes + m_config.framing_bytes);
    p->first_byte_cycle = span.first_cycle;
    p->last_byte_cycle = span.last_cycle;
    if (p->has_wqe && ib::is_ud(p->op) && sent_o.is_bound()) {
        sent_o.push({p->qpn, p->wqe_index, span.last_cycle});
    }
    put_on_wire(p);
}

void link_tx::put_on_wire(ib::packet* p) {
    m_counters.busy_cycles += p->last_byte_cycle - p->first_byte_cycle;
    fault_injector::verdict v;
    if (m_faults.active()) {
        v = m_faults.judge(m_faults.classify(*p), *p);
    }
    if (is_watched(m_observer)) {
        // As the HCA made it: a flipped bit comes after this.
        m_observer->packet_on_wire(p->bytes, p->size_bytes, p->qpn, p->is_flow_control, v.lost,
                                   p->first_byte_cycle, p->last_byte_cycle);
        if (p->has_wqe) {
            if (p->starts_message) {
                m_observer->stamp(p->qpn, p->wqe_index, stage::wire, p->first_byte_cycle);
            }
            if (p->ends_message) {
                m_observer->stamp(p->qpn, p->wqe_index, stage::sent, p->last_byte_cycle);
            }
        }
    }
    if (v.corrupted) {
        fault_injector::corrupt(v, *p);
        ++m_counters.corrupted;
    }
    if (v.lost) {
        ++m_counters.lost;
        m_pool.put(p);
        return;
    }
    if (v.delay_ns != 0) {
        ++m_counters.delayed;
        const cycle_t delay = ns_to_cycles(v.delay_ns, m_clock_mhz);
        p->late = true;
        p->last_byte_cycle += delay;
        const delayed_packet d{now() + delay, p};
        const auto after = [&d](const delayed_packet& other) { return d.due < other.due; };
        m_delayed.insert(std::find_if(m_delayed.begin(), m_delayed.end(), after), d);
        wake_at(m_delayed.front().due > now() ? m_delayed.front().due : now() + 1);
        return;
    }
    wire_o.push(p);
}

}  // namespace hcasim
