#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "model/ib/crc.h"
#include "model/ib/headers.h"
#include "model/ib/mad.h"
#include "testbenches/unit/catch.h"
#include "testbenches/unit/golden_frames.h"

using namespace hcasim;
using namespace hcasim::ib;

namespace {

constexpr cm_attribute all_attributes[] = {cm_attribute::req, cm_attribute::mra, cm_attribute::rej,
                                           cm_attribute::rep, cm_attribute::rtu, cm_attribute::dreq,
                                           cm_attribute::drep};

std::array<std::uint8_t, 16> gid(std::uint64_t guid) {
    std::array<std::uint8_t, 16> g = {0xfe, 0x80};
    for (unsigned i = 0; i < 8; ++i) {
        g[8 + i] = static_cast<std::uint8_t>(guid >> (56 - 8 * i));
    }
    return g;
}

// The first private bytes, in hexadecimal digits, and whether all behind them are zero.
bool private_data_is(const cm_message& m, std::string_view hex) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    for (const std::uint8_t byte : m.private_data) {
        text += digits[byte >> 4];
        text += digits[byte & 15];
    }
    return text.substr(0, hex.size()) == hex && text.find_first_not_of('0', hex.size()) == std::string::npos;
}

struct decoded_frame {
    decoded_packet packet;
    cm_message message;
};

// Decodes a golden CM frame, and checks what all of them have in common and that the same bytes come out
// again.
decoded_frame decode_cm(const std::string& name) {
    INFO(name);
    const std::vector<std::uint8_t>& bytes = golden_frame_named(name).bytes;
    decoded_frame d;
    d.packet = decode(bytes.data(), bytes.size());
    REQUIRE(d.packet.good);
    REQUIRE(d.packet.payload_bytes == mad_bytes);
    const headers& h = d.packet.h;
    CHECK(h.vl == 0);
    CHECK(h.sl == 0);
    CHECK_FALSE(h.global);
    CHECK(h.op == ud_send_only);
    CHECK(h.pkey == 0xffff);
    CHECK(h.dest_qpn == 1);
    CHECK(h.src_qpn == 1);
    CHECK(h.qkey == qp1_qkey);
    REQUIRE(decode(bytes.data() + d.packet.payload_offset, d.message));

    std::vector<std::uint8_t> again(packet_bytes(h, mad_bytes), 0xa5);
    const std::size_t offset = encode(h, mad_bytes, again.data());
    encode(d.message, again.data() + offset);
    seal(again.data(), again.size());
    CHECK(again == bytes);
    return d;
}

cm_path random_path(std::mt19937_64& random) {
    cm_path p;
    p.local_lid = static_cast<std::uint16_t>(random());
    p.remote_lid = static_cast<std::uint16_t>(random());
    p.local_gid = gid(random());
    p.remote_gid = gid(random());
    p.flow_label = random() & 0xfffff;
    p.rate = random() & 0x3f;
    p.traffic_class = static_cast<std::uint8_t>(random());
    p.hop_limit = static_cast<std::uint8_t>(random());
    p.sl = random() & 15;
    p.subnet_local = random() % 2 != 0;
    p.ack_timeout = random() & 31;
    return p;
}

bool same(const cm_path& a, const cm_path& b) {
    return a.local_lid == b.local_lid && a.remote_lid == b.remote_lid && a.local_gid == b.local_gid &&
           a.remote_gid == b.remote_gid && a.flow_label == b.flow_label && a.rate == b.rate &&
           a.traffic_class == b.traffic_class && a.hop_limit == b.hop_limit && a.sl == b.sl &&
           a.subnet_local == b.subnet_local && a.ack_timeout == b.ack_timeout;
}

// Random values in all the fields that a message of this type has.
cm_message random_message(std::mt19937_64& random, cm_attribute attribute) {
    const auto u32 = [&] { return static_cast<std::uint32_t>(random()); };
    const auto bits = [&](unsigned n) { return static_cast<std::uint8_t>(random() & ((1u << n) - 1u)); };
    cm_message m;
    m.attribute = attribute;
    m.transaction_id = random();
    m.local_comm_id = u32();
    const bool req = attribute == cm_attribute::req;
    const bool rep = attribute == cm_attribute::rep;
    if (!req) {
        m.remote_comm_id = u32();
    }
    if (req || rep) {
        m.ca_guid = random();
        m.qkey = u32();
        m.qpn = u32() & 0xffffff;
        m.local_eecn = u32() & 0xffffff;
        m.responder_resources = bits(8);
        m.initiator_depth = bits(8);
        m.end_to_end_flow_control = bits(1) != 0;
        m.starting_psn = u32() & 0xffffff;
        m.rnr_retry_count = bits(3);
        m.srq = bits(1) != 0;
    }
    if (req) {
        m.service_id = random();
        m.remote_eecn = u32() & 0xffffff;
        m.remote_cm_response_timeout = bits(5);
        m.local_cm_response_timeout = bits(5);
        m.transport_service = bits(2);
        m.retry_count = bits(3);
        m.pkey = static_cast<std::uint16_t>(random());
        m.path_mtu = bits(4);
        m.rdc_exists = bits(1) != 0;
        m.max_cm_retries = bits(4);
        m.extended_transport = bits(3);
        m.primary = random_path(random);
        m.alternate = random_path(random);
    }
    if (rep) {
        m.target_ack_delay = bits(5);
        m.failover_accepted = bits(2);
    }
    if (attribute == cm_attribute::mra) {
        m.message_acknowledged = bits(2);
        m.service_timeout = bits(5);
    }
    if (attribute == cm_attribute::rej) {
        m.message_acknowledged = bits(2);
        m.reject_reason = static_cast<std::uint16_t>(random());
        m.reject_info_bytes = bits(7);
        for (std::uint8_t& byte : m.reject_info) {
            byte = bits(8);
        }
    }
    if (attribute == cm_attribute::dreq) {
        m.qpn = u32() & 0xffffff;
    }
    for (std::size_t i = 0; i < private_data_bytes(attribute); ++i) {
        m.private_data[i] = bits(8);
    }
    return m;
}

bool same(const cm_message& a, const cm_message& b) {
    return a.attribute == b.attribute && a.transaction_id == b.transaction_id &&
           a.local_comm_id == b.local_comm_id && a.remote_comm_id == b.remote_comm_id &&
           a.service_id == b.service_id && a.ca_guid == b.ca_guid && a.qkey == b.qkey && a.qpn == b.qpn &&
           a.responder_resources == b.responder_resources && a.initiator_depth == b.initiator_depth &&
           a.local_eecn == b.local_eecn && a.remote_eecn == b.remote_eecn &&
           a.remote_cm_response_timeout == b.remote_cm_response_timeout &&
           a.local_cm_response_timeout == b.local_cm_response_timeout &&
           a.transport_service == b.transport_service &&
           a.end_to_end_flow_control == b.end_to_end_flow_control && a.starting_psn == b.starting_psn &&
           a.retry_count == b.retry_count && a.rnr_retry_count == b.rnr_retry_count && a.pkey == b.pkey &&
           a.path_mtu == b.path_mtu && a.rdc_exists == b.rdc_exists && a.max_cm_retries == b.max_cm_retries &&
           a.srq == b.srq && a.extended_transport == b.extended_transport && same(a.primary, b.primary) &&
           same(a.alternate, b.alternate) && a.target_ack_delay == b.target_ack_delay &&
           a.failover_accepted == b.failover_accepted && a.message_acknowledged == b.message_acknowledged &&
           a.service_timeout == b.service_timeout && a.reject_reason == b.reject_reason &&
           a.reject_info_bytes == b.reject_info_bytes && a.reject_info == b.reject_info &&
           a.private_data == b.private_data;
}

}  // namespace

TEST_CASE("ib: the captured REQ of IPoIB connected mode") {
    const decoded_frame d = decode_cm("capture_34_req");
    CHECK(d.packet.h.slid == 4);
    CHECK(d.packet.h.dlid == 2);
    CHECK(d.packet.h.psn == 0x2f1f);
    const cm_message& m = d.message;
    CHECK(m.attribute == cm_attribute::req);
    CHECK(m.transaction_id == 0x10278648ebu);
    CHECK(m.local_comm_id == 0xeb488627u);
    CHECK(m.remote_comm_id == 0);
    CHECK(m.service_id == 0x1000000000000048u);
    CHECK(m.ca_guid == 0x0002c9020024f634u);
    CHECK(m.qkey == 0);
    CHECK(m.qpn == 0x890408);
    CHECK(m.responder_resources == 4);
    CHECK(m.initiator_depth == 0);
    CHECK(m.remote_cm_response_timeout == 20);
    CHECK(m.local_cm_response_timeout == 20);
    CHECK(m.transport_service == 0);
    CHECK_FALSE(m.end_to_end_flow_control);
    CHECK(m.starting_psn == 0);
    CHECK(m.retry_count == 0);
    CHECK(m.rnr_retry_count == 0);
    CHECK(m.pkey == 0xffff);
    CHECK(m.path_mtu == 4);
    CHECK_FALSE(m.rdc_exists);
    CHECK(m.max_cm_retries == 15);
    CHECK(m.srq);
    CHECK(m.extended_transport == 0);
    CHECK(m.primary.local_lid == 4);
    CHECK(m.primary.remote_lid == 2);
    CHECK(m.primary.local_gid == gid(0x0002c9020024f636u));
    CHECK(m.primary.remote_gid == gid(0x0002c90300001895u));
    CHECK(m.primary.flow_label == 0);
    CHECK(m.primary.rate == 3);
    CHECK(m.primary.traffic_class == 0);
    CHECK(m.primary.hop_limit == 0);
    CHECK(m.primary.sl == 0);
    CHECK(m.primary.subnet_local);
    CHECK(m.primary.ack_timeout == 19);
    CHECK(same(m.alternate, cm_path{}));
    CHECK(private_data_is(m, "000004050000fff4"));
}

TEST_CASE("ib: the captured REP and RTU belong to the REQ and to the first SEND") {
    const decoded_frame req = decode_cm("capture_34_req");
    const decoded_frame rep = decode_cm("capture_35_rep");
    CHECK(rep.packet.h.psn == 0x27a7);
    CHECK(rep.message.attribute == cm_attribute::rep);
    CHECK(rep.message.transaction_id == req.message.transaction_id);
    CHECK(rep.message.local_comm_id == 0x3ed19ebfu);
    CHECK(rep.message.remote_comm_id == req.message.local_comm_id);
    CHECK(rep.message.qpn == 0x6c004b);
    CHECK(rep.message.starting_psn == 0x732328);
    CHECK(rep.message.responder_resources == 0);
    CHECK(rep.message.initiator_depth == 0);
    CHECK(rep.message.target_ack_delay == 15);
    CHECK(rep.message.failover_accepted == 0);
    CHECK_FALSE(rep.message.end_to_end_flow_control);
    CHECK(rep.message.rnr_retry_count == 0);
    CHECK(rep.message.srq);
    CHECK(rep.message.ca_guid == 0x0002c90300001894u);
    CHECK(private_data_is(rep.message, "000000480000fff4"));

    const decoded_frame rtu = decode_cm("capture_37_rtu");
    CHECK(rtu.packet.h.psn == 0x2f20);
    CHECK(rtu.message.attribute == cm_attribute::rtu);
    CHECK(rtu.message.transaction_id == req.message.transaction_id);
    CHECK(rtu.message.local_comm_id == req.message.local_comm_id);
    CHECK(rtu.message.remote_comm_id == rep.message.local_comm_id);
    CHECK(private_data_is(rtu.message, ""));

    // The starting PSN of the REP is the PSN of the first packet that the other side sends.
    const std::vector<std::uint8_t>& send = golden_frame_named("capture_36_send").bytes;
    const decoded_packet s = decode(send.data(), send.size());
    CHECK(s.h.psn == rep.message.starting_psn);
    CHECK(s.h.dest_qpn == rep.message.qpn);

    const decoded_frame first_rtu = decode_cm("capture_09_rtu");
    CHECK(first_rtu.message.transaction_id == 0x10278648e9u);
    CHECK(first_rtu.message.local_comm_id == 0xe9488627u);
    CHECK(first_rtu.message.remote_comm_id == 0xf9024539u);
}

TEST_CASE("ib: the generated REQ with all fields different") {
    const decoded_frame d = decode_cm("generated_req");
    CHECK(d.packet.h.slid == 1);
    CHECK(d.packet.h.dlid == 2);
    const cm_message& m = d.message;
    CHECK(m.attribute == cm_attribute::req);
    CHECK(m.transaction_id == 0x0000000a11111111u);
    CHECK(m.local_comm_id == 0x11111111u);
    CHECK(m.service_id == 0x0000000001064853u);
    CHECK(m.ca_guid == 0x0002c90300000001u);
    CHECK(m.qpn == 0x048701);
    CHECK(m.responder_resources == 4);
    CHECK(m.initiator_depth == 3);
    CHECK(m.local_eecn == 0);
    CHECK(m.remote_eecn == 0);
    CHECK(m.remote_cm_response_timeout == 20);
    CHECK(m.transport_service == 0);
    CHECK(m.end_to_end_flow_control);
    CHECK(m.starting_psn == 0xabcdef);
    CHECK(m.local_cm_response_timeout == 21);
    CHECK(m.retry_count == 6);
    CHECK(m.pkey == 0xffff);
    CHECK(m.path_mtu == 4);
    CHECK_FALSE(m.rdc_exists);
    CHECK(m.rnr_retry_count == 7);
    CHECK(m.max_cm_retries == 15);
    CHECK(m.srq);
    CHECK(m.extended_transport == 0);
    CHECK(m.primary.local_lid == 1);
    CHECK(m.primary.remote_lid == 2);
    CHECK(m.primary.local_gid == gid(0x0002c90300000001u));
    CHECK(m.primary.remote_gid == gid(0x0002c90300000002u));
    CHECK(m.primary.flow_label == 0x12345);
    CHECK(m.primary.rate == 3);
    CHECK(m.primary.traffic_class == 7);
    CHECK(m.primary.hop_limit == 0x40);
    CHECK(m.primary.sl == 5);
    CHECK(m.primary.subnet_local);
    CHECK(m.primary.ack_timeout == 19);
    CHECK(same(m.alternate, cm_path{}));
    CHECK(private_data_is(m, "cafebabe"));
}

TEST_CASE("ib: the generated MRA, REP, RTU, REJ, DREQ and DREP") {
    const decoded_frame mra = decode_cm("generated_mra");
    CHECK(mra.message.attribute == cm_attribute::mra);
    CHECK(mra.message.local_comm_id == 0x22222222u);
    CHECK(mra.message.remote_comm_id == 0x11111111u);
    CHECK(mra.message.message_acknowledged == 0);
    CHECK(mra.message.service_timeout == 24);

    const decoded_frame rep = decode_cm("generated_rep");
    CHECK(rep.packet.h.slid == 2);
    CHECK(rep.packet.h.dlid == 1);
    CHECK(rep.message.attribute == cm_attribute::rep);
    CHECK(rep.message.transaction_id == 0x0000000a11111111u);
    CHECK(rep.message.local_comm_id == 0x22222222u);
    CHECK(rep.message.remote_comm_id == 0x11111111u);
    CHECK(rep.message.qpn == 0x0407fc);
    CHECK(rep.message.starting_psn == 0xd40a55);
    CHECK(rep.message.responder_resources == 4);
    CHECK(rep.message.initiator_depth == 3);
    CHECK(rep.message.target_ack_delay == 15);
    CHECK(rep.message.failover_accepted == 1);
    CHECK(rep.message.end_to_end_flow_control);
    CHECK(rep.message.rnr_retry_count == 7);
    CHECK(rep.message.srq);
    CHECK(rep.message.ca_guid == 0x0002c90300000002u);

    const decoded_frame rtu = decode_cm("generated_rtu");
    CHECK(rtu.message.attribute == cm_attribute::rtu);
    CHECK(rtu.message.local_comm_id == 0x11111111u);
    CHECK(rtu.message.remote_comm_id == 0x22222222u);

    const decoded_frame rej = decode_cm("generated_rej");
    CHECK(rej.message.attribute == cm_attribute::rej);
    CHECK(rej.message.message_acknowledged == 0);
    CHECK(rej.message.reject_reason == 28);
    CHECK(rej.message.reject_info_bytes == 0);

    const decoded_frame dreq = decode_cm("generated_dreq");
    CHECK(dreq.message.attribute == cm_attribute::dreq);
    CHECK(dreq.message.qpn == 0x0407fc);

    const decoded_frame drep = decode_cm("generated_drep");
    CHECK(drep.message.attribute == cm_attribute::drep);
    CHECK(drep.message.local_comm_id == 0x22222222u);
    CHECK(drep.message.remote_comm_id == 0x11111111u);
}

TEST_CASE("ib: CM messages that are not modelled are refused") {
    for (const char* name : {"generated_lap", "generated_apr", "generated_sidr_req", "generated_sidr_rep"}) {
        INFO(name);
        const std::vector<std::uint8_t>& bytes = golden_frame_named(name).bytes;
        const decoded_packet d = decode(bytes.data(), bytes.size());
        REQUIRE(d.good);
        cm_message m;
        m.local_comm_id = 77;
        CHECK_FALSE(decode(bytes.data() + d.payload_offset, m));
        CHECK(m.local_comm_id == 77);
    }
    std::array<std::uint8_t, mad_bytes> mad{};
    encode(cm_message{}, mad.data());
    cm_message m;
    CHECK(decode(mad.data(), m));
    for (const std::size_t offset : {0u, 1u, 2u, 3u, 16u, 17u}) {
        std::array<std::uint8_t, mad_bytes> other = mad;
        other[offset] = static_cast<std::uint8_t>(other[offset] ^ 0x80);
        CHECK_FALSE(decode(other.data(), m));
    }
}

TEST_CASE("ib: CM messages of every type survive encode and decode") {
    std::mt19937_64 random(31);
    for (const cm_attribute attribute : all_attributes) {
        INFO(name(attribute));
        for (int i = 0; i < 2000; ++i) {
            const cm_message m = random_message(random, attribute);
            std::array<std::uint8_t, mad_bytes> mad{};
            encode(m, mad.data());
            // Decoding leaves nothing of what was there before.
            cm_message decoded = random_message(random, cm_attribute::req);
            REQUIRE(decode(mad.data(), decoded));
            REQUIRE(same(decoded, m));
        }
    }
}

TEST_CASE("ib: random CM MADs are decoded without harm") {
    std::mt19937_64 random(37);
    for (int i = 0; i < 50'000; ++i) {
        std::vector<std::uint8_t> mad(mad_bytes);
        for (std::uint8_t& byte : mad) {
            byte = static_cast<std::uint8_t>(random());
        }
        mad[0] = 1;
        mad[1] = 7;
        mad[2] = 2;
        mad[3] = 3;
        mad[16] = 0;
        mad[17] = static_cast<std::uint8_t>(0x10 + random() % 16);
        cm_message m;
        const bool modelled = mad[17] <= 0x16;
        REQUIRE(decode(mad.data(), m) == modelled);
        if (modelled) {
            // What was understood comes out again; reserved bits are gone.
            std::vector<std::uint8_t> again(mad_bytes);
            encode(m, again.data());
            cm_message second;
            REQUIRE(decode(again.data(), second));
            REQUIRE(same(m, second));
        }
    }
}

TEST_CASE("ib: sizes of private data and names of CM messages") {
    const std::size_t sizes[] = {92, 222, 148, 196, 224, 220, 224};
    const char* const names[] = {"REQ", "MRA", "REJ", "REP", "RTU", "DREQ", "DREP"};
    for (std::size_t i = 0; i < 7; ++i) {
        CHECK(private_data_bytes(all_attributes[i]) == sizes[i]);
        CHECK(name(all_attributes[i]) == names[i]);
    }
    CHECK(private_data_bytes(static_cast<cm_attribute>(0x19)) == 0);
    CHECK(name(static_cast<cm_attribute>(0x19)) == "unknown");
}
