#include "rtl_cosim/lockstep/context_client.h"

#include <algorithm>

namespace hcasim {

namespace {

template <class T>
void fill(lockstep_random& random, T& value) {
    auto* bytes = reinterpret_cast<std::uint8_t*>(&value);
    for (std::size_t i = 0; i < sizeof value; ++i) {
        bytes[i] = static_cast<std::uint8_t>(random.bits() >> 56);
    }
}

constexpr std::uint32_t psn_mask = 0xffffff;

void limit(ib::qp_attributes& a) {
    a.rq_psn &= psn_mask;
    a.sq_psn &= psn_mask;
}

}  // namespace

ib::qp_context context_client::any_context(lockstep_random& random, std::uint32_t qpn) {
    ib::qp_context c;
    c.qpn = qpn;
    c.state = static_cast<ib::qp_state>(random.below(ib::qp_state_count));
    // Flags are bytes; every value but zero counts.
    c.valid = random.one_of<std::uint8_t>({0, 1, 1, 1, 1, 0x80});
    c.has_rts_attributes = random.one_of<std::uint8_t>({0, 0, 1, 0x10});
    c.opened_by = static_cast<ib::gate_opener>(random.below(ib::gate_opener_count));
    fill(random, c.resources);
    c.resources.service = ib::service_type::rc;
    c.resources.sl_class &= 15;
    fill(random, c.attributes);
    limit(c.attributes);
    c.attributes.en_sqd_async_notify &= random.one_of<std::uint8_t>({0, 1, 0xff});
    fill(random, c.requester);
    c.requester.next_psn &= psn_mask;
    fill(random, c.responder);
    // Lives that are about to wrap around.
    if (random.below(4) == 0) {
        c.requester.life = ~std::uint32_t{0};
        c.responder.life = 0xffff;
    }
    return c;
}

void context_client::reset(lockstep_random& random, const std::vector<ib::qp_context>& contexts,
                           std::uint32_t lines) {
    m_random.seed(random.bits());
    const auto qps = static_cast<std::uint32_t>(contexts.size());
    m_mask = qps - 1;
    m_believed = contexts;
    // One QP merges, few hit, about as many as there are lines evict now and then, all of them always.
    m_used = std::min(qps, random.one_of<std::uint32_t>({1, 2, lines / 2 + 1, lines + 2, lines * 2, qps}));
    m_stride = random.one_of<std::uint32_t>({1, 1, qps / 8, qps / 16});
    m_changes = random.one_of<std::uint32_t>({0, 60, 400, 1000});
    m_writes = random.one_of<std::uint32_t>({0, 300, 300, 900});
    m_strangers = random.one_of<std::uint32_t>({0, 30, 200});
    m_next_cookie = static_cast<std::uint32_t>(random.bits());
    m_next_modify = m_next_fresh = 0;
    m_modifies.resize(kept);
    m_fresh.resize(kept);
}

qpc_request context_client::make(std::uint32_t client) {
    const std::uint32_t slot = m_random.below(m_used) * m_stride & m_mask;
    const ib::qp_context& believed = m_believed[slot];
    qpc_request r;
    r.qpn = believed.qpn;
    if (m_random.chance(m_strangers)) {
        r.qpn = (slot + (m_mask + 1) * m_random.below(4)) & 0xffffff;
    }
    r.cookie = m_next_cookie++;
    // Both halves are there whatever the operation: those that are not meant must not matter.
    fill(m_random, r.requester);
    r.requester.next_psn &= psn_mask;
    fill(m_random, r.responder);
    if (m_random.below(8) != 0) {
        r.requester.life = believed.requester.life;
        r.responder.life = believed.responder.life;
    } else if (m_random.below(2) != 0) {
        // Another life, of which only some bits differ.
        const std::uint32_t off = m_random.one_of<std::uint32_t>({1, ~0u, 0x100, 0x8000, 0x10000});
        r.requester.life = believed.requester.life + off;
        r.responder.life = static_cast<std::uint16_t>(believed.responder.life + off);
    }
    // Each client has its own kinds; now and then it has those of the others.
    const std::uint32_t kind = m_random.below(16) == 0 ? m_random.below(3) : client;
    if (m_random.chance(m_changes)) {
        if (kind == 2 && m_random.below(believed.valid == 0 ? 2 : 12) == 0) {
            r.operation = qpc_operation::create;
            ib::qp_context& fresh = m_fresh[m_next_fresh++ % kept];
            fresh = any_context(m_random, r.qpn);
            if (m_random.below(8) != 0) {
                fresh.state = ib::qp_state::reset;
            }
            fresh.valid = 1;
            r.fresh = &fresh;
        } else {
            r.operation = qpc_operation::modify;
            r.modify = &make_modify(believed);
        }
    } else if (m_random.chance(m_writes)) {
        r.operation = kind == 1 ? qpc_operation::write_responder : qpc_operation::write_requester;
    }
    return r;
}

const qpc_modify& context_client::make_modify(const ib::qp_context& believed) {
    qpc_modify& m = m_modifies[m_next_modify++ % kept];
    const std::uint32_t present = 1u << static_cast<unsigned>(believed.state);
    m.from_states = m_random.one_of<std::uint32_t>(
        {~0u, ~0u, present, present, present, ~present, static_cast<std::uint32_t>(m_random.bits()), 0});
    m.to = m_random.below(3) == 0 ? ib::qp_state::rts
                                  : static_cast<ib::qp_state>(m_random.below(ib::qp_state_count));
    if (m_random.below(4) == 0) {
        m.to = believed.state;
    }
    m.needs_rts_attributes = m_random.below(4) == 0;
    m.reason = static_cast<ib::gate_opener>(m_random.below(ib::gate_opener_count));
    const auto any = static_cast<std::uint32_t>(m_random.bits());
    // None, all, the five that RTS needs, or one of them missing.
    m.attribute_mask = m_random.one_of<std::uint32_t>(
        {0, any, any | ib::rts_attributes_rc, ib::rts_attributes_rc,
         ib::rts_attributes_rc & ~(1u << m_random.below(20)), 1u << m_random.below(21), ~0u});
    fill(m_random, m.attributes);
    limit(m.attributes);
    m.attributes.en_sqd_async_notify &= m_random.one_of<std::uint8_t>({0, 1, 0xff});
    m.destroy = m_random.below(12) == 0;
    return m;
}

}  // namespace hcasim
