#include "model/ib/headers.h"

#include <cstring>

#include "model/ib/byte_order.h"
#include "model/ib/crc.h"

namespace hcasim::ib {

namespace {

constexpr std::size_t ieth_bytes = 4;
constexpr std::size_t atomic_eth_bytes = 28;
constexpr std::size_t atomic_ack_eth_bytes = 8;
constexpr std::size_t max_payload_bytes = 4096;

constexpr unsigned lnh_local = 2;
constexpr unsigned lnh_global = 3;
constexpr std::uint32_t grh_ip_version = 6;
constexpr std::uint8_t grh_next_header = 0x1b;

// Which headers follow the BTH, in the order in which they stand on the wire.
enum part : std::uint8_t {
    part_none = 0,
    part_deth = 1u << 0,
    part_reth = 1u << 1,
    part_atomic_eth = 1u << 2,
    part_aeth = 1u << 3,
    part_atomic_ack_eth = 1u << 4,
    part_immdt = 1u << 5,
    part_ieth = 1u << 6,
    part_payload = 1u << 7,
};

struct opcode_row {
    std::uint8_t op;
    std::string_view text;
    unsigned parts;
};

constexpr opcode_row opcode_rows[] = {
    {0x00, "RC SEND First", part_payload},
    {0x01, "RC SEND Middle", part_payload},
    {0x02, "RC SEND Last", part_payload},
    {0x03, "RC SEND Last with Immediate", part_immdt | part_payload},
    {0x04, "RC SEND Only", part_payload},
    {0x05, "RC SEND Only with Immediate", part_immdt | part_payload},
    {0x06, "RC RDMA WRITE First", part_reth | part_payload},
    {0x07, "RC RDMA WRITE Middle", part_payload},
    {0x08, "RC RDMA WRITE Last", part_payload},
    {0x09, "RC RDMA WRITE Last with Immediate", part_immdt | part_payload},
    {0x0a, "RC RDMA WRITE Only", part_reth | part_payload},
    {0x0b, "RC RDMA WRITE Only with Immediate", part_reth | part_immdt | part_payload},
    {0x0c, "RC RDMA READ Request", part_reth},
    {0x0d, "RC RDMA READ Response First", part_aeth | part_payload},
    {0x0e, "RC RDMA READ Response Middle", part_payload},
    {0x0f, "RC RDMA READ Response Last", part_aeth | part_payload},
    {0x10, "RC RDMA READ Response Only", part_aeth | part_payload},
    {0x11, "RC Acknowledge", part_aeth},
    {0x12, "RC ATOMIC Acknowledge", part_aeth | part_atomic_ack_eth},
    {0x13, "RC CmpSwap", part_atomic_eth},
    {0x14, "RC FetchAdd", part_atomic_eth},
    {0x16, "RC SEND Last with Invalidate", part_ieth | part_payload},
    {0x17, "RC SEND Only with Invalidate", part_ieth | part_payload},
    {0x64, "UD SEND Only", part_deth | part_payload},
    {0x65, "UD SEND Only with Immediate", part_deth | part_immdt | part_payload},
};

// The rows spread over all 256 opcodes.
struct opcode_form {
    bool known = false;
    std::uint8_t parts = part_none;
    std::uint8_t extended_bytes = 0;  // of all headers behind the BTH
    std::uint8_t row = 0;
};
struct opcode_table {
    opcode_form form[256] = {};
};

constexpr std::size_t bytes_of_parts(unsigned parts) {
    return ((parts & part_deth) != 0 ? deth_bytes : 0) + ((parts & part_reth) != 0 ? reth_bytes : 0) +
           ((parts & part_atomic_eth) != 0 ? atomic_eth_bytes : 0) +
           ((parts & part_aeth) != 0 ? aeth_bytes : 0) +
           ((parts & part_atomic_ack_eth) != 0 ? atomic_ack_eth_bytes : 0) +
           ((parts & part_immdt) != 0 ? immdt_bytes : 0) + ((parts & part_ieth) != 0 ? ieth_bytes : 0);
}

constexpr opcode_table make_opcode_table() {
    opcode_table table;
    std::uint8_t row = 0;
    for (const opcode_row& r : opcode_rows) {
        opcode_form& form = table.form[r.op];
        form.known = true;
        form.parts = static_cast<std::uint8_t>(r.parts);
        form.extended_bytes = static_cast<std::uint8_t>(bytes_of_parts(r.parts));
        form.row = row++;
    }
    return table;
}

constexpr opcode_table opcodes = make_opcode_table();

constexpr std::size_t pad_bytes(std::size_t payload_bytes) { return (4 - payload_bytes % 4) % 4; }

constexpr std::size_t before_extended_bytes(bool global) {
    return lrh_bytes + (global ? grh_bytes : 0) + bth_bytes;
}

// RNR NAK timer codes in units of 10 us (IBTA table 45).
constexpr std::uint32_t rnr_timer_10us[32] = {
    65536, 1,   2,   3,   4,    6,    8,    12,   16,   24,   32,   48,    64,    96,    128,   192,
    256,   384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152};

}  // namespace

std::string_view opcode_name(std::uint8_t op) {
    const opcode_form& form = opcodes.form[op];
    return form.known ? opcode_rows[form.row].text : std::string_view{"unknown"};
}

std::uint64_t rnr_timer_ns(std::uint8_t code) { return std::uint64_t{rnr_timer_10us[code & 31u]} * 10'000; }

std::size_t header_bytes(const headers& h) {
    return before_extended_bytes(h.global) + opcodes.form[h.op].extended_bytes;
}

std::size_t packet_bytes(const headers& h, std::size_t payload_bytes) {
    return header_bytes(h) + payload_bytes + pad_bytes(payload_bytes) + icrc_bytes + vcrc_bytes;
}

std::size_t encode(const headers& h, std::size_t payload_bytes, std::uint8_t* out) {
    const opcode_form& form = opcodes.form[h.op];
    const std::size_t head_bytes = header_bytes(h);
    const std::size_t pad = pad_bytes(payload_bytes);
    const std::size_t up_to_icrc_bytes = head_bytes + payload_bytes + pad + icrc_bytes;
    std::memset(out + head_bytes + payload_bytes, 0, pad);

    std::uint8_t* p = out;
    p[0] = static_cast<std::uint8_t>(h.vl << 4);
    p[1] = static_cast<std::uint8_t>(static_cast<unsigned>(h.sl) << 4 | (h.global ? lnh_global : lnh_local));
    store_be16(p + 2, h.dlid);
    store_be16(p + 4, static_cast<std::uint16_t>(up_to_icrc_bytes / 4 & 0x7ffu));
    store_be16(p + 6, h.slid);
    p += lrh_bytes;

    if (h.global) {
        store_be32(p,
                   grh_ip_version << 28 | std::uint32_t{h.traffic_class} << 20 | (h.flow_label & 0xfffffu));
        store_be16(p + 4, static_cast<std::uint16_t>(up_to_icrc_bytes - lrh_bytes - grh_bytes));
        p[6] = grh_next_header;
        p[7] = h.hop_limit;
        std::memcpy(p + 8, h.sgid, sizeof h.sgid);
        std::memcpy(p + 24, h.dgid, sizeof h.dgid);
        p += grh_bytes;
    }

    p[0] = h.op;
    p[1] = static_cast<std::uint8_t>((h.solicited ? 0x80u : 0u) | (h.migrated ? 0x40u : 0u) | pad << 4);
    store_be16(p + 2, h.pkey);
    store_be32(p + 4, h.dest_qpn & 0xffffffu);
    store_be32(p + 8, (h.ack_request ? 0x80000000u : 0u) | (h.psn & 0xffffffu));
    p += bth_bytes;

    if ((form.parts & part_deth) != 0) {
        store_be32(p, h.qkey);
        store_be32(p + 4, h.src_qpn & 0xffffffu);
        p += deth_bytes;
    }
    if ((form.parts & part_reth) != 0) {
        store_be64(p, h.remote_address);
        store_be32(p + 8, h.rkey);
        store_be32(p + 12, h.dma_bytes);
        p += reth_bytes;
    }
    if ((form.parts & part_aeth) != 0) {
        store_be32(p, std::uint32_t{h.syndrome} << 24 | (h.msn & 0xffffffu));
        p += aeth_bytes;
    }
    if ((form.parts & part_immdt) != 0) {
        store_be32(p, h.immediate);
        p += immdt_bytes;
    }
    // Atomic and invalidate headers are not modelled: their bytes are there, and zero.
    std::memset(p, 0, static_cast<std::size_t>(out + head_bytes - p));
    return head_bytes;
}

decoded_packet decode(const std::uint8_t* packet, std::size_t size_bytes) {
    decoded_packet d;
    if (size_bytes < lrh_bytes + bth_bytes + icrc_bytes + vcrc_bytes) {
        return d;
    }
    const unsigned link_version = packet[0] & 0x0fu;
    const unsigned next_header = packet[1] & 3u;
    const std::size_t up_to_icrc_bytes = (load_be16(packet + 4) & 0x7ffu) * std::size_t{4};
    const bool global = next_header == lnh_global;
    const std::size_t bth_offset = global ? lrh_bytes + grh_bytes : lrh_bytes;
    if (link_version != 0 || (next_header != lnh_local && !global) ||
        up_to_icrc_bytes + vcrc_bytes != size_bytes ||
        up_to_icrc_bytes < bth_offset + bth_bytes + icrc_bytes) {
        return d;
    }
    const std::uint8_t* grh = packet + lrh_bytes;
    if (global && (grh[0] >> 4 != grh_ip_version || grh[6] != grh_next_header ||
                   load_be16(grh + 4) != up_to_icrc_bytes - lrh_bytes - grh_bytes)) {
        return d;
    }
    const std::uint8_t* p = packet + bth_offset;
    const opcode_form& form = opcodes.form[p[0]];
    const std::size_t pad = p[1] >> 4 & 3u;
    const unsigned transport_version = p[1] & 0x0fu;
    const std::size_t payload_offset = bth_offset + bth_bytes + form.extended_bytes;
    if (!form.known || transport_version != 0 || up_to_icrc_bytes < payload_offset + pad + icrc_bytes) {
        return d;
    }
    const std::size_t padded_bytes = up_to_icrc_bytes - icrc_bytes - payload_offset;
    if (padded_bytes > max_payload_bytes || ((form.parts & part_payload) == 0 && padded_bytes != 0)) {
        return d;
    }

    d.good = true;
    d.payload_offset = payload_offset;
    d.payload_bytes = padded_bytes - pad;
    headers& h = d.h;
    h.vl = static_cast<std::uint8_t>(packet[0] >> 4);
    h.sl = static_cast<std::uint8_t>(packet[1] >> 4);
    h.global = global;
    h.dlid = load_be16(packet + 2);
    h.slid = load_be16(packet + 6);
    if (global) {
        const std::uint32_t first_word = load_be32(grh);
        h.traffic_class = static_cast<std::uint8_t>(first_word >> 20);
        h.flow_label = first_word & 0xfffffu;
        h.hop_limit = grh[7];
        std::memcpy(h.sgid, grh + 8, sizeof h.sgid);
        std::memcpy(h.dgid, grh + 24, sizeof h.dgid);
    }
    h.op = p[0];
    h.solicited = (p[1] & 0x80u) != 0;
    h.migrated = (p[1] & 0x40u) != 0;
    h.pkey = load_be16(p + 2);
    h.dest_qpn = load_be24(p + 5);
    h.ack_request = (p[8] & 0x80u) != 0;
    h.psn = load_be24(p + 9);
    p += bth_bytes;
    if ((form.parts & part_deth) != 0) {
        h.qkey = load_be32(p);
        h.src_qpn = load_be24(p + 5);
        p += deth_bytes;
    }
    if ((form.parts & part_reth) != 0) {
        h.remote_address = load_be64(p);
        h.rkey = load_be32(p + 8);
        h.dma_bytes = load_be32(p + 12);
        p += reth_bytes;
    }
    if ((form.parts & part_aeth) != 0) {
        h.syndrome = p[0];
        h.msn = load_be24(p + 1);
        p += aeth_bytes;
    }
    if ((form.parts & part_immdt) != 0) {
        h.immediate = load_be32(p);
    }
    return d;
}

void encode(const flow_control_packet& f, std::uint8_t* out) {
    store_be16(out, static_cast<std::uint16_t>((f.op & 0x0fu) << 12 | (f.fctbs & 0xfffu)));
    store_be16(out + 2, static_cast<std::uint16_t>((f.vl & 0x0fu) << 12 | (f.fccl & 0xfffu)));
    store_le16(out + 4, lpcrc(out));
}

bool decode(const std::uint8_t* bytes, flow_control_packet& f) {
    if (lpcrc(bytes) != load_le16(bytes + 4)) {
        return false;
    }
    f.op = static_cast<std::uint8_t>(bytes[0] >> 4);
    f.fctbs = static_cast<std::uint16_t>(load_be16(bytes) & 0xfffu);
    f.vl = static_cast<std::uint8_t>(bytes[2] >> 4);
    f.fccl = static_cast<std::uint16_t>(load_be16(bytes + 2) & 0xfffu);
    return true;
}

}  // namespace hcasim::ib
