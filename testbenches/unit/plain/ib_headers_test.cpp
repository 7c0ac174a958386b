#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "model/ib/byte_order.h"
#include "model/ib/crc.h"
#include "model/ib/headers.h"
#include "testbenches/unit/catch.h"
#include "testbenches/unit/golden_frames.h"

using namespace hcasim;
using namespace hcasim::ib;

namespace {

constexpr std::size_t crc_bytes = icrc_bytes + vcrc_bytes;

bool is_known(std::uint8_t op) { return opcode_name(op) != "unknown"; }
bool has_payload(std::uint8_t op) { return op != 0x0c && !(op >= 0x11 && op <= 0x14); }
bool has_reth(std::uint8_t op) { return op == 0x06 || op == 0x0a || op == 0x0b || op == 0x0c; }
bool has_aeth(std::uint8_t op) { return op == 0x0d || (op >= 0x0f && op <= 0x12); }

std::vector<std::uint8_t> known_opcodes() {
    std::vector<std::uint8_t> ops;
    for (unsigned op = 0; op < 256; ++op) {
        if (is_known(static_cast<std::uint8_t>(op))) {
            ops.push_back(static_cast<std::uint8_t>(op));
        }
    }
    return ops;
}

bool same(const headers& a, const headers& b) {
    return a.vl == b.vl && a.sl == b.sl && a.global == b.global && a.dlid == b.dlid && a.slid == b.slid &&
           a.traffic_class == b.traffic_class && a.flow_label == b.flow_label && a.hop_limit == b.hop_limit &&
           std::memcmp(a.sgid, b.sgid, 16) == 0 && std::memcmp(a.dgid, b.dgid, 16) == 0 && a.op == b.op &&
           a.solicited == b.solicited && a.migrated == b.migrated && a.pkey == b.pkey &&
           a.dest_qpn == b.dest_qpn && a.ack_request == b.ack_request && a.psn == b.psn && a.qkey == b.qkey &&
           a.src_qpn == b.src_qpn && a.remote_address == b.remote_address && a.rkey == b.rkey &&
           a.dma_bytes == b.dma_bytes && a.syndrome == b.syndrome && a.msn == b.msn &&
           a.immediate == b.immediate;
}

// Random values in all the fields that a packet of this opcode has.
headers random_headers(std::mt19937_64& random, std::uint8_t op) {
    headers h;
    const auto u8 = [&] { return static_cast<std::uint8_t>(random()); };
    const auto u16 = [&] { return static_cast<std::uint16_t>(random()); };
    const auto u24 = [&] { return static_cast<std::uint32_t>(random() & 0xffffff); };
    const auto u32 = [&] { return static_cast<std::uint32_t>(random()); };
    h.vl = u8() & 15;
    h.sl = u8() & 15;
    h.global = random() % 2 != 0;
    h.dlid = u16();
    h.slid = u16();
    if (h.global) {
        h.traffic_class = u8();
        h.flow_label = u32() & 0xfffff;
        h.hop_limit = u8();
        for (int i = 0; i < 16; ++i) {
            h.sgid[i] = u8();
            h.dgid[i] = u8();
        }
    }
    h.op = op;
    h.solicited = random() % 2 != 0;
    h.migrated = random() % 2 != 0;
    h.pkey = u16();
    h.dest_qpn = u24();
    h.ack_request = random() % 2 != 0;
    h.psn = u24();
    if (is_ud(op)) {
        h.qkey = u32();
        h.src_qpn = u24();
    }
    if (has_reth(op)) {
        h.remote_address = random();
        h.rkey = u32();
        h.dma_bytes = u32();
    }
    if (has_aeth(op)) {
        h.syndrome = u8();
        h.msn = u24();
    }
    if (has_immediate(op)) {
        h.immediate = u32();
    }
    return h;
}

// A whole packet in a buffer of exactly its size, so that a sanitizer sees any byte touched outside.
std::vector<std::uint8_t> make_packet(const headers& h, const std::vector<std::uint8_t>& payload) {
    std::vector<std::uint8_t> packet(packet_bytes(h, payload.size()), 0xa5);
    const std::size_t offset = encode(h, payload.size(), packet.data());
    std::copy(payload.begin(), payload.end(), packet.begin() + static_cast<std::ptrdiff_t>(offset));
    seal(packet.data(), packet.size());
    return packet;
}

std::vector<std::uint8_t> random_payload(std::mt19937_64& random, std::size_t size_bytes) {
    std::vector<std::uint8_t> payload(size_bytes);
    for (std::uint8_t& byte : payload) {
        byte = static_cast<std::uint8_t>(random());
    }
    return payload;
}

// decode() of a copy in a buffer of exactly its size.
decoded_packet decode_exact(const std::uint8_t* packet, std::size_t size_bytes) {
    const std::vector<std::uint8_t> copy(packet, packet + size_bytes);
    return decode(copy.data(), copy.size());
}

}  // namespace

TEST_CASE("ib: headers of every opcode survive encode and decode") {
    std::mt19937_64 random(11);
    for (const std::uint8_t op : known_opcodes()) {
        INFO(opcode_name(op));
        for (int i = 0; i < 400; ++i) {
            const headers h = random_headers(random, op);
            const std::size_t size_bytes = has_payload(op) ? random() % 4097 : 0;
            const std::vector<std::uint8_t> payload = random_payload(random, size_bytes);
            const std::vector<std::uint8_t> packet = make_packet(h, payload);
            const decoded_packet d = decode(packet.data(), packet.size());
            REQUIRE(d.good);
            REQUIRE(same(d.h, h));
            REQUIRE(d.payload_offset == header_bytes(h));
            REQUIRE(d.payload_bytes == size_bytes);
            REQUIRE(std::equal(payload.begin(), payload.end(),
                               packet.begin() + static_cast<std::ptrdiff_t>(d.payload_offset)));
            // Pad bytes are zero, the whole is in words, both CRCs are right.
            for (std::size_t at = d.payload_offset + size_bytes; at < packet.size() - crc_bytes; ++at) {
                REQUIRE(packet[at] == 0);
            }
            REQUIRE(packet.size() % 4 == vcrc_bytes);
            REQUIRE(icrc_is_good(packet.data(), packet.size()));
            REQUIRE(vcrc_is_good(packet.data(), packet.size()));
        }
    }
}

TEST_CASE("ib: header sizes by opcode") {
    headers h;
    const auto bytes = [&](unsigned op, bool global = false) {
        h.op = static_cast<std::uint8_t>(op);
        h.global = global;
        return header_bytes(h);
    };
    CHECK(bytes(rc_send_only) == 20);
    CHECK(bytes(rc_send_only, true) == 60);
    CHECK(bytes(rc_send_only_imm) == 24);
    CHECK(bytes(rc_acknowledge) == 24);
    CHECK(bytes(rc_write_first) == 36);
    CHECK(bytes(rc_read_request) == 36);
    CHECK(bytes(rc_read_response_only) == 24);
    CHECK(bytes(0x0b) == 40);
    CHECK(bytes(0x0e) == 20);
    CHECK(bytes(0x12) == 32);
    CHECK(bytes(0x13) == 48);
    CHECK(bytes(0x16) == 24);
    CHECK(bytes(ud_send_only) == 28);
    CHECK(bytes(ud_send_only_imm) == 32);
    CHECK(bytes(ud_send_only_imm, true) == 72);
    h.op = ud_send_only;
    h.global = false;
    CHECK(packet_bytes(h, mad_bytes) == 290);
    h.op = rc_send_only;
    CHECK(packet_bytes(h, 0) == 26);
    CHECK(packet_bytes(h, 1) == 30);
    CHECK(packet_bytes(h, 4) == 30);
    h.op = 0x0b;
    h.global = true;
    CHECK(packet_bytes(h, 4096) <= max_packet_bytes);
}

TEST_CASE("ib: headers of the captured SEND and ACK") {
    const std::vector<std::uint8_t>& send = golden_frame_named("capture_36_send").bytes;
    const decoded_packet s = decode(send.data(), send.size());
    REQUIRE(s.good);
    headers expected_send;
    expected_send.dlid = 2;
    expected_send.slid = 4;
    expected_send.op = rc_send_only;
    expected_send.migrated = true;
    expected_send.pkey = 0xffff;
    expected_send.dest_qpn = 0x6c004b;
    expected_send.ack_request = true;
    expected_send.psn = 0x732328;
    CHECK(same(s.h, expected_send));
    CHECK(s.payload_offset == 20);
    CHECK(s.payload_bytes == 108);
    CHECK(load_be32(send.data() + s.payload_offset) == 0x86dd0000u);  // IPoIB: an IPv6 packet

    const std::vector<std::uint8_t>& ack = golden_frame_named("capture_38_ack").bytes;
    const decoded_packet a = decode(ack.data(), ack.size());
    REQUIRE(a.good);
    headers expected_ack;
    expected_ack.dlid = 4;
    expected_ack.slid = 2;
    expected_ack.op = rc_acknowledge;
    expected_ack.migrated = true;
    expected_ack.pkey = 0xffff;
    expected_ack.dest_qpn = 0x890408;
    expected_ack.psn = 0x732328;
    expected_ack.syndrome = syndrome_ack | credit_code_none;
    expected_ack.msn = 1;
    CHECK(same(a.h, expected_ack));
    CHECK(a.payload_bytes == 0);

    const std::vector<std::uint8_t>& first_ack = golden_frame_named("capture_11_ack").bytes;
    const decoded_packet f = decode(first_ack.data(), first_ack.size());
    REQUIRE(f.good);
    CHECK(f.h.dest_qpn == 0x870408);
    CHECK(f.h.psn == 0xd40a55);
    CHECK(f.h.msn == 1);
}

TEST_CASE("ib: headers of the IBTA sample packets") {
    const std::vector<std::uint8_t>& local = golden_frame_named("ibta_sample_local").bytes;
    const decoded_packet d = decode(local.data(), local.size());
    REQUIRE(d.good);
    CHECK(d.h.vl == 7);
    CHECK(d.h.sl == 1);
    CHECK(d.h.dlid == 0x375c);
    CHECK(d.h.slid == 0x17d2);
    CHECK(d.h.op == rc_write_only);
    CHECK(d.h.pkey == 0x2487);
    CHECK(d.h.dest_qpn == 0x87b1b3);
    CHECK(d.h.psn == 0x0dec2a);
    CHECK(d.h.remote_address == 0x01710a1c015d4002u);
    CHECK(d.h.rkey == 0x38f27a05);
    CHECK(d.h.dma_bytes == 14);
    CHECK(d.payload_bytes == 14);
    // The global sample was made for its CRC: its GRH names no next header.
    const std::vector<std::uint8_t>& global = golden_frame_named("ibta_sample_global").bytes;
    CHECK_FALSE(decode(global.data(), global.size()).good);
}

TEST_CASE("ib: every golden frame is made again from its decoded headers") {
    for (const golden_frame& frame : golden_frames()) {
        if (frame.name == "ibta_sample_global") {
            continue;
        }
        INFO(frame.name);
        const decoded_packet d = decode(frame.bytes.data(), frame.bytes.size());
        REQUIRE(d.good);
        const auto begin = frame.bytes.begin() + static_cast<std::ptrdiff_t>(d.payload_offset);
        CHECK(make_packet(d.h, {begin, begin + static_cast<std::ptrdiff_t>(d.payload_bytes)}) == frame.bytes);
    }
}

TEST_CASE("ib: encode keeps values within their fields") {
    headers h;
    h.vl = 0xff;
    h.sl = 0xff;
    h.global = true;
    h.flow_label = 0xffffffff;
    h.op = ud_send_only;
    h.dest_qpn = 0xffffffff;
    h.psn = 0xffffffff;
    h.src_qpn = 0xffffffff;
    const std::vector<std::uint8_t> packet = make_packet(h, {1, 2, 3});
    const decoded_packet d = decode(packet.data(), packet.size());
    REQUIRE(d.good);
    CHECK(d.h.vl == 15);
    CHECK(d.h.sl == 15);
    CHECK(d.h.traffic_class == 0);
    CHECK(d.h.flow_label == 0xfffff);
    CHECK(d.h.dest_qpn == 0xffffff);
    CHECK(d.h.psn == 0xffffff);
    CHECK_FALSE(d.h.ack_request);
    CHECK(d.h.src_qpn == 0xffffff);
}

TEST_CASE("ib: a packet of a wrong length is not good") {
    std::mt19937_64 random(3);
    for (const std::uint8_t op : known_opcodes()) {
        const headers h = random_headers(random, op);
        std::vector<std::uint8_t> packet = make_packet(h, random_payload(random, has_payload(op) ? 37 : 0));
        for (std::size_t size_bytes = 0; size_bytes < packet.size(); ++size_bytes) {
            const decoded_packet d = decode_exact(packet.data(), size_bytes);
            REQUIRE_FALSE(d.good);
            REQUIRE(same(d.h, headers{}));
            REQUIRE(d.payload_bytes == 0);
        }
        packet.push_back(0);
        REQUIRE_FALSE(decode_exact(packet.data(), packet.size()).good);
    }
    const std::vector<std::uint8_t> oversized(max_packet_bytes + 4, 0);
    CHECK_FALSE(decode(oversized.data(), oversized.size()).good);
}

TEST_CASE("ib: a packet whose length is right but too small for its headers is not good") {
    headers h;
    for (const std::uint8_t op : known_opcodes()) {
        for (const bool global : {false, true}) {
            h.op = op;
            h.global = global;
            for (std::size_t size_bytes = 26; size_bytes < packet_bytes(h, 0); size_bytes += 4) {
                std::vector<std::uint8_t> packet(packet_bytes(h, 0));
                encode(h, 0, packet.data());
                packet.resize(size_bytes);
                packet.shrink_to_fit();
                packet[5] = static_cast<std::uint8_t>((size_bytes - vcrc_bytes) / 4);
                if (global && size_bytes >= 50) {
                    packet[13] = static_cast<std::uint8_t>(size_bytes - 50);
                }
                REQUIRE_FALSE(decode(packet.data(), packet.size()).good);
            }
        }
    }
}

TEST_CASE("ib: a packet with a wrong fixed field is not good") {
    std::mt19937_64 random(5);
    headers h = random_headers(random, rc_send_only);
    h.global = true;
    const std::vector<std::uint8_t> payload = random_payload(random, 6);
    const std::vector<std::uint8_t> right = make_packet(h, payload);
    const auto good_with = [&](std::size_t offset, unsigned value) {
        std::vector<std::uint8_t> packet = right;
        packet[offset] = static_cast<std::uint8_t>(value);
        return decode(packet.data(), packet.size()).good;
    };
    CHECK(good_with(0, right[0]));
    CHECK_FALSE(good_with(0, right[0] | 1u));     // link version
    CHECK_FALSE(good_with(1, right[1] & 0xfcu));  // raw packet
    CHECK_FALSE(good_with(1, (right[1] & 0xfcu) | 1u));
    CHECK_FALSE(good_with(4, right[4] ^ 1u));  // packet length
    CHECK_FALSE(good_with(5, right[5] ^ 1u));
    CHECK_FALSE(good_with(8, right[8] ^ 0x20u));  // IP version
    CHECK_FALSE(good_with(12, right[12] ^ 1u));   // GRH payload length
    CHECK_FALSE(good_with(13, right[13] ^ 4u));
    CHECK_FALSE(good_with(14, 0x1c));            // next header
    CHECK_FALSE(good_with(49, right[49] | 1u));  // transport version
    CHECK_FALSE(good_with(48, 0x15));            // opcodes that there are not
    CHECK_FALSE(good_with(48, 0x18));
    CHECK_FALSE(good_with(48, 0x24));  // UC
    CHECK_FALSE(good_with(48, 0x66));
    CHECK_FALSE(good_with(48, 0x81));
    CHECK_FALSE(good_with(48, rc_acknowledge));  // an acknowledge has no payload
    CHECK_FALSE(good_with(48, 0x14));            // no room for its header
    CHECK(good_with(4, right[4] | 0xf8u));       // reserved bits are ignored
    CHECK(good_with(52, 0xff));
    CHECK(good_with(56, right[56] ^ 0x7fu));

    // More pad than payload; and a payload above the largest MTU.
    headers empty;
    empty.op = rc_send_only;
    std::vector<std::uint8_t> padded = make_packet(empty, {});
    padded[9] = 0x30;
    CHECK_FALSE(decode(padded.data(), padded.size()).good);
    const std::vector<std::uint8_t> large = make_packet(empty, random_payload(random, 4100));
    CHECK_FALSE(decode(large.data(), large.size()).good);
}

TEST_CASE("ib: corrupted packets are decoded without harm and refused by VCRC") {
    std::mt19937_64 random(17);
    const std::vector<std::uint8_t> ops = known_opcodes();
    std::uint64_t undetected = 0;
    for (int i = 0; i < 20'000; ++i) {
        const std::uint8_t op = ops[random() % ops.size()];
        const headers h = random_headers(random, op);
        const std::size_t payload_bytes = has_payload(op) ? random() % 80 : 0;
        std::vector<std::uint8_t> packet = make_packet(h, random_payload(random, payload_bytes));
        const std::size_t bit = random() % (packet.size() * 8);
        packet[bit / 8] = static_cast<std::uint8_t>(packet[bit / 8] ^ (1u << bit % 8));
        const decoded_packet d = decode(packet.data(), packet.size());
        if (d.good) {
            REQUIRE(d.payload_offset + d.payload_bytes + crc_bytes <= packet.size());
        }
        undetected += vcrc_is_good(packet.data(), packet.size());
    }
    CHECK(undetected == 0);
}

TEST_CASE("ib: random bytes are decoded without harm") {
    std::mt19937_64 random(23);
    std::uint64_t good = 0;
    for (int i = 0; i < 200'000; ++i) {
        const std::size_t random_size_bytes = random() % 120;
        std::vector<std::uint8_t> packet = random_payload(random, random_size_bytes);
        // Half of them with the fields right that would otherwise refuse nearly all.
        if (i % 2 == 0 && packet.size() >= 66) {
            packet.resize(packet.size() - (packet.size() + 2) % 4);
            packet[0] &= 0xf0;
            packet[1] |= 2;
            packet[4] = 0;
            packet[5] = static_cast<std::uint8_t>((packet.size() - 2) / 4);
            packet[8] = static_cast<std::uint8_t>((packet[1] & 1) != 0 ? 0x60 : packet[8] & 0x1f);
            packet[9] &= 0xf0;
            packet[12] = 0;
            packet[13] = static_cast<std::uint8_t>(packet.size() - 50);
            packet[14] = 0x1b;
            packet[48] &= 0x1f;
            packet[49] &= 0xf0;
        }
        const decoded_packet d = decode(packet.data(), packet.size());
        good += d.good;
        if (d.good) {
            REQUIRE(d.payload_offset + d.payload_bytes + crc_bytes <= packet.size());
        }
    }
    CHECK(good > 10'000);
}

TEST_CASE("ib: opcode predicates agree with the opcode names") {
    std::size_t known = 0;
    for (unsigned op = 0; op < 256; ++op) {
        const auto code = static_cast<std::uint8_t>(op);
        const std::string text{opcode_name(code)};
        INFO(op << " " << text);
        const auto contains = [&](const char* part) { return text.find(part) != std::string::npos; };
        known += is_known(code);
        CHECK(is_ud(code) == contains("UD "));
        CHECK(has_immediate(code) == contains("Immediate"));
        CHECK(is_rc_response(code) == (contains("Response") || contains("cknowledge")));
        CHECK((is_known(code) && is_rc_request(code)) == (contains("RC ") && !is_rc_response(code)));
        CHECK(is_rc_send(code) == (contains("RC SEND") && !contains("Invalidate")));
        if (is_rc_send(code) || is_ud(code)) {
            CHECK(is_first(code) == contains("First"));
            CHECK(is_middle(code) == contains("Middle"));
            CHECK(is_last(code) == contains("Last"));
            CHECK(is_only(code) == contains("Only"));
        }
    }
    CHECK(known == 25);
}

TEST_CASE("ib: RNR timer codes, timeouts and MTU codes") {
    // Microseconds of IBTA table 45.
    const std::uint64_t microseconds[32] = {655360, 10,    20,    30,     40,     60,     80,     120,
                                            160,    240,   320,   480,    640,    960,    1280,   1920,
                                            2560,   3840,  5120,  7680,   10240,  15360,  20480,  30720,
                                            40960,  61440, 81920, 122880, 163840, 245760, 327680, 491520};
    for (std::uint8_t code = 0; code < 32; ++code) {
        CHECK(rnr_timer_ns(code) == microseconds[code] * 1000);
    }
    CHECK(timeout_ns(0) == 4096);
    CHECK(timeout_ns(20) == 4'294'967'296u);
    CHECK(timeout_ns(31) == std::uint64_t{4096} << 31);
    CHECK(mtu_bytes(0) == 0);
    CHECK(mtu_bytes(1) == 256);
    CHECK(mtu_bytes(5) == 4096);
    CHECK(mtu_bytes(6) == 0);
}

TEST_CASE("ib: flow-control packets") {
    flow_control_packet f;
    f.op = 1;
    f.vl = 7;
    f.fctbs = 0xabc;
    f.fccl = 0x123;
    std::uint8_t bytes[flow_control_packet_bytes] = {};
    encode(f, bytes);
    CHECK(load_be16(bytes) == 0x1abc);
    CHECK(load_be16(bytes + 2) == 0x7123);
    CHECK(load_le16(bytes + 4) == lpcrc(bytes));

    std::mt19937_64 random(29);
    std::uint64_t wrong = 0;
    for (int i = 0; i < 20'000; ++i) {
        f.op = static_cast<std::uint8_t>(random() & 1u);
        f.vl = static_cast<std::uint8_t>(random() & 15u);
        f.fctbs = static_cast<std::uint16_t>(random() & 0xfffu);
        f.fccl = static_cast<std::uint16_t>(random() & 0xfffu);
        encode(f, bytes);
        flow_control_packet g;
        wrong += !decode(bytes, g);
        wrong += g.op != f.op || g.vl != f.vl || g.fctbs != f.fctbs || g.fccl != f.fccl;
        const std::size_t bit = random() % 48;
        bytes[bit / 8] = static_cast<std::uint8_t>(bytes[bit / 8] ^ (1u << bit % 8));
        flow_control_packet untouched;
        wrong += decode(bytes, untouched);
        wrong += untouched.op != 0 || untouched.vl != 0 || untouched.fctbs != 0 || untouched.fccl != 0;
    }
    CHECK(wrong == 0);
}
