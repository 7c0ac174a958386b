#ifndef HCASIM_MODEL_IB_HEADERS_H
#define HCASIM_MODEL_IB_HEADERS_H

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace hcasim::ib {

constexpr std::size_t lrh_bytes = 8;
constexpr std::size_t grh_bytes = 40;
constexpr std::size_t bth_bytes = 12;
constexpr std::size_t deth_bytes = 8;
constexpr std::size_t aeth_bytes = 4;
constexpr std::size_t reth_bytes = 16;
constexpr std::size_t immdt_bytes = 4;
constexpr std::size_t icrc_bytes = 4;
constexpr std::size_t vcrc_bytes = 2;
constexpr std::size_t mad_bytes = 256;
constexpr std::size_t flow_control_packet_bytes = 6;
/// Largest packet: LRH GRH BTH RETH ImmDt payload(4096) ICRC VCRC, rounded up.
constexpr std::size_t max_packet_bytes = 4224;

/// BTH opcodes used by the model (IBTA 9.2.1).
enum opcode : std::uint8_t {
    rc_send_first = 0x00,
    rc_send_middle = 0x01,
    rc_send_last = 0x02,
    rc_send_last_imm = 0x03,
    rc_send_only = 0x04,
    rc_send_only_imm = 0x05,
    rc_write_first = 0x06,
    rc_write_only = 0x0a,
    rc_read_request = 0x0c,
    rc_read_response_only = 0x10,
    rc_acknowledge = 0x11,
    ud_send_only = 0x64,
    ud_send_only_imm = 0x65,
};

/// True for opcodes 0x00..0x05 (RC SEND).
constexpr bool is_rc_send(std::uint8_t op) { return op <= 0x05; }
/// True for RC request opcodes (SEND, WRITE, READ request, atomics).
constexpr bool is_rc_request(std::uint8_t op) {
    return op <= 0x0c || op == 0x13 || op == 0x14 || op == 0x16 || op == 0x17;
}
/// True for RC responses (read responses, ACK, atomic ACK).
constexpr bool is_rc_response(std::uint8_t op) { return op >= 0x0d && op <= 0x12; }
/// True for UD SEND only, with or without immediate.
constexpr bool is_ud(std::uint8_t op) { return op == ud_send_only || op == ud_send_only_imm; }
constexpr bool is_first(std::uint8_t op) { return op == rc_send_first; }
constexpr bool is_middle(std::uint8_t op) { return op == rc_send_middle; }
constexpr bool is_last(std::uint8_t op) { return op == rc_send_last || op == rc_send_last_imm; }
constexpr bool is_only(std::uint8_t op) { return op == rc_send_only || op == rc_send_only_imm || is_ud(op); }
/// True for every opcode with an ImmDt header (RC SEND and RDMA WRITE, UD SEND).
constexpr bool has_immediate(std::uint8_t op) {
    return op == rc_send_last_imm || op == rc_send_only_imm || op == 0x09 || op == 0x0b ||
           op == ud_send_only_imm;
}
/// Name as in the IBTA ("RC SEND Only"); "opcode 0xNN" is not built here: unknown gives "unknown".
std::string_view opcode_name(std::uint8_t op);

/// AETH syndromes (IBTA 9.7.5.1.2).
constexpr std::uint8_t syndrome_ack = 0x00;      ///< | credit code, 0x1f = no credit information
constexpr std::uint8_t syndrome_rnr_nak = 0x20;  ///< | RNR timer code
constexpr std::uint8_t syndrome_nak_sequence = 0x60;
constexpr std::uint8_t syndrome_nak_invalid_request = 0x61;
constexpr std::uint8_t syndrome_nak_remote_access = 0x62;
constexpr std::uint8_t syndrome_nak_remote_operational = 0x63;
constexpr std::uint8_t credit_code_none = 0x1f;

/// RNR NAK timer code (0..31) in nanoseconds (IBTA table 45: code 0 is 655.36 ms, 1 is 10 us).
std::uint64_t rnr_timer_ns(std::uint8_t code);

/// T(t) = 4.096 us * 2^t in nanoseconds; t 0..31.
constexpr std::uint64_t timeout_ns(std::uint8_t exponent) { return std::uint64_t{4096} << (exponent & 31u); }

/// MTU code 1..5 to bytes (256..4096); 0 for a code that is not defined.
constexpr std::uint32_t mtu_bytes(std::uint8_t code) {
    return code >= 1 && code <= 5 ? std::uint32_t{128} << code : 0;
}

/// The headers of one packet, decoded. Fields that the packet has not are 0.
struct headers {
    // LRH
    std::uint8_t vl = 0;  ///< 0..15
    std::uint8_t sl = 0;  ///< 0..15
    bool global = false;  ///< GRH present (LNH 3)
    std::uint16_t dlid = 0;
    std::uint16_t slid = 0;
    // GRH (addresses only; NxtHdr 0x1B, IPVer 6 are implied)
    std::uint8_t traffic_class = 0;
    std::uint32_t flow_label = 0;  ///< 20 bits
    std::uint8_t hop_limit = 0;
    std::uint8_t sgid[16] = {};
    std::uint8_t dgid[16] = {};
    // BTH
    std::uint8_t op = 0;
    bool solicited = false;
    bool migrated = false;  ///< MigReq bit
    std::uint16_t pkey = 0;
    std::uint32_t dest_qpn = 0;  ///< 24 bits
    bool ack_request = false;
    std::uint32_t psn = 0;  ///< 24 bits
    // DETH
    std::uint32_t qkey = 0;
    std::uint32_t src_qpn = 0;  ///< 24 bits
    // RETH
    std::uint64_t remote_address = 0;
    std::uint32_t rkey = 0;
    std::uint32_t dma_bytes = 0;
    // AETH
    std::uint8_t syndrome = 0;
    std::uint32_t msn = 0;  ///< 24 bits
    // ImmDt
    std::uint32_t immediate = 0;
};

/// Bytes before the payload for these headers (LRH [GRH] BTH [DETH] [RETH] [AETH] [ImmDt]); the opcode says
/// which there are.
std::size_t header_bytes(const headers& h);

/// Size of the whole packet LRH .. VCRC with `payload_bytes` of payload; the pad is added here.
std::size_t packet_bytes(const headers& h, std::size_t payload_bytes);

/// Writes the headers of a packet with `payload_bytes` of payload to `out` (LRH packet length and BTH pad
/// count follow from it); returns header_bytes(h). The zero bytes of the pad are written too. The caller then
/// copies the payload behind the headers, and calls seal(). Values wider than their field lose their upper
/// bits. Atomic and invalidate opcodes get their extended header as zeros.
std::size_t encode(const headers& h, std::size_t payload_bytes, std::uint8_t* out);

/// What decode() found.
struct decoded_packet {
    bool good = false;  ///< lengths and fixed fields are consistent
    headers h;
    std::size_t payload_offset = 0;
    std::size_t payload_bytes = 0;  ///< without pad
};

/// Decodes LRH .. VCRC of `size_bytes`. CRCs are not checked. `good` is false, and nothing else is set, for a
/// packet that is too short or too long, whose LRH, GRH or pad length does not fit, whose versions or next
/// headers are not those of IBA, whose opcode is not an RC or UD one, or that has a payload where its opcode
/// has none. The fields of atomic and invalidate headers are skipped.
decoded_packet decode(const std::uint8_t* packet, std::size_t size_bytes);

/// Flow-control packet (IBTA 7.9.4): `op` 0 normal, 1 init; FCTBS and FCCL modulo 4096 in units of 64 bytes.
struct flow_control_packet {
    std::uint8_t op = 0;
    std::uint8_t vl = 0;
    std::uint16_t fctbs = 0;
    std::uint16_t fccl = 0;
};
/// Writes six bytes, LPCRC included.
void encode(const flow_control_packet& f, std::uint8_t* out);
/// False when the LPCRC is wrong; `f` is then not changed.
bool decode(const std::uint8_t* bytes, flow_control_packet& f);

}  // namespace hcasim::ib

#endif
