#ifndef HCASIM_MODEL_IB_MAD_H
#define HCASIM_MODEL_IB_MAD_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace hcasim::ib {

/// Communication-management attribute ids (IBTA 12.6).
enum class cm_attribute : std::uint16_t {
    req = 0x0010,
    mra = 0x0011,
    rej = 0x0012,
    rep = 0x0013,
    rtu = 0x0014,
    dreq = 0x0015,
    drep = 0x0016,
};
/// "REQ", "RTU" ...; "unknown" for others.
std::string_view name(cm_attribute attribute);

/// Well-known Q_Key of QP1 (IBTA 10.2.5).
constexpr std::uint32_t qp1_qkey = 0x80010000u;

/// A path of REQ (primary or alternate).
struct cm_path {
    std::uint16_t local_lid = 0;
    std::uint16_t remote_lid = 0;
    std::array<std::uint8_t, 16> local_gid{};
    std::array<std::uint8_t, 16> remote_gid{};
    std::uint32_t flow_label = 0;  ///< 20 bits
    std::uint8_t rate = 0;         ///< 6 bits
    std::uint8_t traffic_class = 0;
    std::uint8_t hop_limit = 0;
    std::uint8_t sl = 0;
    bool subnet_local = false;
    std::uint8_t ack_timeout = 0;  ///< local ACK timeout exponent, 5 bits
};

/// One CM message with all the fields of the seven types; `attribute` says which are meant. Offsets: IBTA
/// tables 106..120.
struct cm_message {
    cm_attribute attribute = cm_attribute::req;
    std::uint64_t transaction_id = 0;
    std::uint32_t local_comm_id = 0;
    std::uint32_t remote_comm_id = 0;  ///< not in REQ
    // REQ
    std::uint64_t service_id = 0;
    std::uint64_t ca_guid = 0;  ///< REQ local CA GUID, REP local CA GUID
    std::uint32_t qkey = 0;
    std::uint32_t qpn = 0;  ///< REQ, REP: local QPN; DREQ: remote QPN
    std::uint8_t responder_resources = 0;
    std::uint8_t initiator_depth = 0;
    std::uint32_t local_eecn = 0;
    std::uint32_t remote_eecn = 0;
    std::uint8_t remote_cm_response_timeout = 0;  ///< exponent, 5 bits
    std::uint8_t local_cm_response_timeout = 0;   ///< exponent, 5 bits
    std::uint8_t transport_service = 0;           ///< 0 RC
    bool end_to_end_flow_control = false;
    std::uint32_t starting_psn = 0;    ///< REQ, REP: the PSN that the sender of the MAD expects first
    std::uint8_t retry_count = 0;      ///< 3 bits
    std::uint8_t rnr_retry_count = 0;  ///< REQ, REP: 3 bits
    std::uint16_t pkey = 0xffff;
    std::uint8_t path_mtu = 0;  ///< code 1..5
    bool rdc_exists = false;
    std::uint8_t max_cm_retries = 0;      ///< 4 bits
    bool srq = false;                     ///< REQ, REP
    std::uint8_t extended_transport = 0;  ///< 3 bits
    cm_path primary;
    cm_path alternate;
    // REP
    std::uint8_t target_ack_delay = 0;   ///< exponent, 5 bits
    std::uint8_t failover_accepted = 0;  ///< 2 bits
    // MRA
    std::uint8_t message_acknowledged = 0;  ///< MRA: 0 REQ, 1 REP, 2 LAP; REJ: 0 REQ, 1 REP, 2 other
    std::uint8_t service_timeout = 0;       ///< exponent, 5 bits
    // REJ
    std::uint16_t reject_reason = 0;
    std::uint8_t reject_info_bytes = 0;          ///< valid bytes of reject_info, 7 bits
    std::array<std::uint8_t, 72> reject_info{};  ///< additional reject information (ARI)
    // all: private data, rest zero (encode takes what the type has room for). Sizes: REQ 92, REP 196, RTU
    // 224, MRA 222, REJ 148, DREQ 220, DREP 224
    std::array<std::uint8_t, 224> private_data{};
};

/// Bytes of private data that a message of this type carries.
std::size_t private_data_bytes(cm_attribute attribute);

/// Writes 256 bytes: MAD header (base version 1, class 7, class version 2, method Send) and the message.
void encode(const cm_message& m, std::uint8_t* mad);

/// Reads 256 bytes; false when it is not a CM MAD of one of the seven types.
bool decode(const std::uint8_t* mad, cm_message& m);

}  // namespace hcasim::ib

#endif
