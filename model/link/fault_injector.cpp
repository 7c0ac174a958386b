#include "model/link/fault_injector.h"

#include "model/ib/crc.h"
#include "model/ib/headers.h"
#include "model/ib/mad.h"

namespace hcasim {

void fault_injector::reset(const link_config& config, std::uint64_t seed) {
    m_faults = config.faults;
    m_active = false;
    for (std::size_t i = 0; i < packet_class_count; ++i) {
        const fault_config& f = m_faults[i];
        m_active = m_active || f.loss > 0 || f.delay > 0 || f.corruption > 0 || f.hidden_corruption > 0;
        m_random[i].seed(seed * packet_class_count + i);
    }
    const fault_config& fc = m_faults[static_cast<std::size_t>(packet_class::flow_control)];
    m_loses_flow_control = fc.loss > 0 || fc.corruption > 0;
    m_rtu_seen.clear();
}

packet_class fault_injector::classify(const ib::packet& p) {
    if (p.is_flow_control) {
        return packet_class::flow_control;
    }
    if (ib::is_rc_request(p.op)) {
        return packet_class::request;
    }
    if (ib::is_rc_response(p.op)) {
        return packet_class::response;
    }
    const ib::decoded_packet d = ib::decode(p.bytes, p.size_bytes);
    ib::cm_message m;
    if (!d.good || d.h.dest_qpn != 1 || d.payload_bytes != ib::mad_bytes ||
        !ib::decode(p.bytes + d.payload_offset, m)) {
        return packet_class::datagram;
    }
    switch (m.attribute) {
        case ib::cm_attribute::req:
            return packet_class::cm_req;
        case ib::cm_attribute::rep:
            return packet_class::cm_rep;
        case ib::cm_attribute::rtu:
            return m_rtu_seen.insert(m.transaction_id).second ? packet_class::cm_rtu
                                                              : packet_class::cm_rtu_again;
        default:
            return packet_class::cm_other;
    }
}

bool fault_injector::draw(packet_class c, double probability) {
    if (probability <= 0) {
        return false;
    }
    // 53 bits of the generator as a fraction: the same on every platform, unlike the standard's
    // distributions.
    const double x = static_cast<double>(m_random[static_cast<std::size_t>(c)]() >> 11) * 0x1.0p-53;
    return x < probability;
}

fault_injector::verdict fault_injector::judge(packet_class c, const ib::packet& p) {
    const fault_config& f = m_faults[static_cast<std::size_t>(c)];
    verdict v;
    if (draw(c, f.loss)) {
        v.lost = true;
        return v;
    }
    if (draw(c, f.delay)) {
        v.delay_ns = f.delay_ns;
    }
    v.hidden = draw(c, f.hidden_corruption);
    if (v.hidden || draw(c, f.corruption)) {
        // The LRH is left alone: a packet that cannot be delimited is a link error of its own.
        auto& random = m_random[static_cast<std::size_t>(c)];
        const std::size_t first = p.is_flow_control ? 0 : ib::lrh_bytes;
        const std::size_t last = p.size_bytes - ib::vcrc_bytes;
        v.bit = first * 8 + random() % ((last - first) * 8);
        v.corrupted = true;
    }
    return v;
}

void fault_injector::corrupt(const verdict& v, ib::packet& p) {
    p.bytes[v.bit / 8] = static_cast<std::uint8_t>(p.bytes[v.bit / 8] ^ 1u << v.bit % 8);
    if (v.hidden && !p.is_flow_control) {
        const std::uint16_t crc = ib::vcrc(p.bytes, p.size_bytes - ib::vcrc_bytes);
        p.bytes[p.size_bytes - 2] = static_cast<std::uint8_t>(crc);
        p.bytes[p.size_bytes - 1] = static_cast<std::uint8_t>(crc >> 8);
    }
}

}  // namespace hcasim
