#include "model/ib/mad.h"

#include <cstring>

#include "model/ib/byte_order.h"
#include "model/ib/headers.h"

namespace hcasim::ib {

namespace {

constexpr std::uint8_t mad_base_version = 1;
constexpr std::uint8_t cm_class = 0x07;
constexpr std::uint8_t cm_class_version = 2;
constexpr std::uint8_t method_send = 0x03;
constexpr std::size_t mad_header_bytes = 24;

constexpr std::size_t primary_path_offset = 52;
constexpr std::size_t alternate_path_offset = 96;

// Where the private data begins behind the MAD header; it goes to the end of the MAD. 0 for an attribute that
// is not one of the seven.
constexpr std::size_t private_data_offset(cm_attribute attribute) {
    switch (attribute) {
        case cm_attribute::req:
            return 140;
        case cm_attribute::mra:
            return 10;
        case cm_attribute::rej:
            return 84;
        case cm_attribute::rep:
            return 36;
        case cm_attribute::rtu:
            return 8;
        case cm_attribute::dreq:
            return 12;
        case cm_attribute::drep:
            return 8;
    }
    return 0;
}

// The low `bits` bits of a field, moved up by `shift`.
constexpr std::uint8_t place(unsigned value, unsigned bits, unsigned shift) {
    return static_cast<std::uint8_t>((value & ((1u << bits) - 1u)) << shift);
}
constexpr std::uint8_t pick(unsigned byte, unsigned bits, unsigned shift) {
    return static_cast<std::uint8_t>(byte >> shift & ((1u << bits) - 1u));
}
constexpr std::uint8_t join(unsigned a, unsigned b, unsigned c = 0, unsigned d = 0) {
    return static_cast<std::uint8_t>(a | b | c | d);
}

void encode_path(const cm_path& path, std::uint8_t* b) {
    store_be16(b, path.local_lid);
    store_be16(b + 2, path.remote_lid);
    std::memcpy(b + 4, path.local_gid.data(), path.local_gid.size());
    std::memcpy(b + 20, path.remote_gid.data(), path.remote_gid.size());
    store_be32(b + 36, (path.flow_label & 0xfffffu) << 12 | (path.rate & 0x3fu));
    b[40] = path.traffic_class;
    b[41] = path.hop_limit;
    b[42] = join(place(path.sl, 4, 4), path.subnet_local ? 0x08u : 0u);
    b[43] = place(path.ack_timeout, 5, 3);
}

void decode_path(const std::uint8_t* b, cm_path& path) {
    path.local_lid = load_be16(b);
    path.remote_lid = load_be16(b + 2);
    std::memcpy(path.local_gid.data(), b + 4, path.local_gid.size());
    std::memcpy(path.remote_gid.data(), b + 20, path.remote_gid.size());
    const std::uint32_t flow_and_rate = load_be32(b + 36);
    path.flow_label = flow_and_rate >> 12;
    path.rate = static_cast<std::uint8_t>(flow_and_rate & 0x3fu);
    path.traffic_class = b[40];
    path.hop_limit = b[41];
    path.sl = pick(b[42], 4, 4);
    path.subnet_local = pick(b[42], 1, 3) != 0;
    path.ack_timeout = pick(b[43], 5, 3);
}

void encode_req(const cm_message& m, std::uint8_t* b) {
    store_be64(b + 8, m.service_id);
    store_be64(b + 16, m.ca_guid);
    store_be32(b + 28, m.qkey);
    store_be24(b + 32, m.qpn);
    b[35] = m.responder_resources;
    store_be24(b + 36, m.local_eecn);
    b[39] = m.initiator_depth;
    store_be24(b + 40, m.remote_eecn);
    b[43] = join(place(m.remote_cm_response_timeout, 5, 3), place(m.transport_service, 2, 1),
                 m.end_to_end_flow_control ? 1u : 0u);
    store_be24(b + 44, m.starting_psn);
    b[47] = join(place(m.local_cm_response_timeout, 5, 3), place(m.retry_count, 3, 0));
    store_be16(b + 48, m.pkey);
    b[50] = join(place(m.path_mtu, 4, 4), m.rdc_exists ? 0x08u : 0u, place(m.rnr_retry_count, 3, 0));
    b[51] = join(place(m.max_cm_retries, 4, 4), m.srq ? 0x08u : 0u, place(m.extended_transport, 3, 0));
    encode_path(m.primary, b + primary_path_offset);
    encode_path(m.alternate, b + alternate_path_offset);
}

void decode_req(const std::uint8_t* b, cm_message& m) {
    m.service_id = load_be64(b + 8);
    m.ca_guid = load_be64(b + 16);
    m.qkey = load_be32(b + 28);
    m.qpn = load_be24(b + 32);
    m.responder_resources = b[35];
    m.local_eecn = load_be24(b + 36);
    m.initiator_depth = b[39];
    m.remote_eecn = load_be24(b + 40);
    m.remote_cm_response_timeout = pick(b[43], 5, 3);
    m.transport_service = pick(b[43], 2, 1);
    m.end_to_end_flow_control = pick(b[43], 1, 0) != 0;
    m.starting_psn = load_be24(b + 44);
    m.local_cm_response_timeout = pick(b[47], 5, 3);
    m.retry_count = pick(b[47], 3, 0);
    m.pkey = load_be16(b + 48);
    m.path_mtu = pick(b[50], 4, 4);
    m.rdc_exists = pick(b[50], 1, 3) != 0;
    m.rnr_retry_count = pick(b[50], 3, 0);
    m.max_cm_retries = pick(b[51], 4, 4);
    m.srq = pick(b[51], 1, 3) != 0;
    m.extended_transport = pick(b[51], 3, 0);
    decode_path(b + primary_path_offset, m.primary);
    decode_path(b + alternate_path_offset, m.alternate);
}

void encode_rep(const cm_message& m, std::uint8_t* b) {
    store_be32(b + 8, m.qkey);
    store_be24(b + 12, m.qpn);
    store_be24(b + 16, m.local_eecn);
    store_be24(b + 20, m.starting_psn);
    b[24] = m.responder_resources;
    b[25] = m.initiator_depth;
    b[26] = join(place(m.target_ack_delay, 5, 3), place(m.failover_accepted, 2, 1),
                 m.end_to_end_flow_control ? 1u : 0u);
    b[27] = join(place(m.rnr_retry_count, 3, 5), m.srq ? 0x10u : 0u);
    store_be64(b + 28, m.ca_guid);
}

void decode_rep(const std::uint8_t* b, cm_message& m) {
    m.qkey = load_be32(b + 8);
    m.qpn = load_be24(b + 12);
    m.local_eecn = load_be24(b + 16);
    m.starting_psn = load_be24(b + 20);
    m.responder_resources = b[24];
    m.initiator_depth = b[25];
    m.target_ack_delay = pick(b[26], 5, 3);
    m.failover_accepted = pick(b[26], 2, 1);
    m.end_to_end_flow_control = pick(b[26], 1, 0) != 0;
    m.rnr_retry_count = pick(b[27], 3, 5);
    m.srq = pick(b[27], 1, 4) != 0;
    m.ca_guid = load_be64(b + 28);
}

}  // namespace

std::string_view name(cm_attribute attribute) {
    switch (attribute) {
        case cm_attribute::req:
            return "REQ";
        case cm_attribute::mra:
            return "MRA";
        case cm_attribute::rej:
            return "REJ";
        case cm_attribute::rep:
            return "REP";
        case cm_attribute::rtu:
            return "RTU";
        case cm_attribute::dreq:
            return "DREQ";
        case cm_attribute::drep:
            return "DREP";
    }
    return "unknown";
}

std::size_t private_data_bytes(cm_attribute attribute) {
    const std::size_t offset = private_data_offset(attribute);
    return offset == 0 ? 0 : mad_bytes - mad_header_bytes - offset;
}

void encode(const cm_message& m, std::uint8_t* mad) {
    std::memset(mad, 0, mad_bytes);
    mad[0] = mad_base_version;
    mad[1] = cm_class;
    mad[2] = cm_class_version;
    mad[3] = method_send;
    store_be64(mad + 8, m.transaction_id);
    store_be16(mad + 16, static_cast<std::uint16_t>(m.attribute));

    std::uint8_t* b = mad + mad_header_bytes;
    store_be32(b, m.local_comm_id);
    if (m.attribute != cm_attribute::req) {
        store_be32(b + 4, m.remote_comm_id);
    }
    switch (m.attribute) {
        case cm_attribute::req:
            encode_req(m, b);
            break;
        case cm_attribute::rep:
            encode_rep(m, b);
            break;
        case cm_attribute::mra:
            b[8] = place(m.message_acknowledged, 2, 6);
            b[9] = place(m.service_timeout, 5, 3);
            break;
        case cm_attribute::rej:
            b[8] = place(m.message_acknowledged, 2, 6);
            b[9] = place(m.reject_info_bytes, 7, 1);
            store_be16(b + 10, m.reject_reason);
            std::memcpy(b + 12, m.reject_info.data(), m.reject_info.size());
            break;
        case cm_attribute::dreq:
            store_be24(b + 8, m.qpn);
            break;
        case cm_attribute::rtu:
        case cm_attribute::drep:
            break;
    }
    std::memcpy(b + private_data_offset(m.attribute), m.private_data.data(), private_data_bytes(m.attribute));
}

bool decode(const std::uint8_t* mad, cm_message& m) {
    const auto attribute = static_cast<cm_attribute>(load_be16(mad + 16));
    if (mad[0] != mad_base_version || mad[1] != cm_class || mad[2] != cm_class_version ||
        mad[3] != method_send || private_data_offset(attribute) == 0) {
        return false;
    }
    m = cm_message{};
    m.attribute = attribute;
    m.transaction_id = load_be64(mad + 8);
    const std::uint8_t* b = mad + mad_header_bytes;
    m.local_comm_id = load_be32(b);
    if (attribute != cm_attribute::req) {
        m.remote_comm_id = load_be32(b + 4);
    }
    switch (attribute) {
        case cm_attribute::req:
            decode_req(b, m);
            break;
        case cm_attribute::rep:
            decode_rep(b, m);
            break;
        case cm_attribute::mra:
            m.message_acknowledged = pick(b[8], 2, 6);
            m.service_timeout = pick(b[9], 5, 3);
            break;
        case cm_attribute::rej:
            m.message_acknowledged = pick(b[8], 2, 6);
            m.reject_info_bytes = pick(b[9], 7, 1);
            m.reject_reason = load_be16(b + 10);
            std::memcpy(m.reject_info.data(), b + 12, m.reject_info.size());
            break;
        case cm_attribute::dreq:
            m.qpn = load_be24(b + 8);
            break;
        case cm_attribute::rtu:
        case cm_attribute::drep:
            break;
    }
    std::memcpy(m.private_data.data(), b + private_data_offset(attribute), private_data_bytes(attribute));
    return true;
}

}  // namespace hcasim::ib
