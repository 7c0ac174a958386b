#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "model/ib/byte_order.h"
#include "model/ib/crc.h"
#include "model/ib/crc_paths.h"
#include "model/ib/headers.h"
#include "testbenches/unit/catch.h"
#include "testbenches/unit/golden_frames.h"

using namespace hcasim;
using namespace hcasim::ib;

namespace {

// Remainders over a message and its right CRC: properties of the polynomials, not of this code.
constexpr std::uint16_t vcrc_residue = 0xaa90;
constexpr std::uint32_t icrc_register_after_masked_lrh = 0xdebb20e3u;

// The definitions bit by bit, for any data.
template <typename T>
T bitwise_crc(const std::vector<std::uint8_t>& data, T polynomial) {
    T crc = static_cast<T>(~T{0});
    for (const std::uint8_t byte : data) {
        crc = static_cast<T>(crc ^ byte);
        for (int bit = 0; bit < 8; ++bit) {
            crc = static_cast<T>((crc & 1u) != 0 ? (crc >> 1) ^ polynomial : crc >> 1);
        }
    }
    return static_cast<T>(~crc);
}

std::vector<std::uint8_t> masked(std::vector<std::uint8_t> packet) {
    const bool global = (packet[1] & 3) == 3;
    const std::size_t bth = global ? 48 : 8;
    if (global) {
        std::fill(packet.begin(), packet.begin() + 8, std::uint8_t{0xff});
        for (const std::size_t i : {9u, 10u, 11u, 15u}) {
            packet[i] = 0xff;
        }
        packet[8] = static_cast<std::uint8_t>(packet[8] | 0x0f);
    } else {
        packet[0] = static_cast<std::uint8_t>(packet[0] | 0xf0);
    }
    packet[bth + 4] = 0xff;
    return packet;
}

std::vector<std::uint8_t> random_bytes(std::mt19937_64& random, std::size_t size_bytes) {
    std::vector<std::uint8_t> bytes(size_bytes);
    for (std::uint8_t& byte : bytes) {
        byte = static_cast<std::uint8_t>(random());
    }
    return bytes;
}

}  // namespace

TEST_CASE("ib: ICRC and VCRC of every golden frame") {
    REQUIRE(golden_frames().size() == 20);
    for (const golden_frame& frame : golden_frames()) {
        INFO(frame.name);
        const std::uint8_t* packet = frame.bytes.data();
        const std::size_t size_bytes = frame.bytes.size();
        CHECK(icrc(packet, size_bytes - 6) == load_le32(packet + size_bytes - 6));
        CHECK(vcrc(packet, size_bytes - 2) == load_le16(packet + size_bytes - 2));
        CHECK(icrc_is_good(packet, size_bytes));
        CHECK(vcrc_is_good(packet, size_bytes));

        std::vector<std::uint8_t> sealed = frame.bytes;
        std::memset(sealed.data() + size_bytes - 6, 0, 6);
        seal(sealed.data(), size_bytes);
        CHECK(sealed == frame.bytes);
    }
}

TEST_CASE("ib: ICRC and VCRC of the IBTA sample packets") {
    const std::vector<std::uint8_t>& local = golden_frame_named("ibta_sample_local").bytes;
    CHECK(icrc(local.data(), 52) == 0x5ab72596u);
    CHECK(vcrc(local.data(), 56) == 0xfa45u);
    const std::vector<std::uint8_t>& global = golden_frame_named("ibta_sample_global").bytes;
    CHECK(icrc(global.data(), 92) == 0x46ec9314u);
    CHECK(vcrc(global.data(), 96) == 0x447cu);
}

TEST_CASE("ib: VCRC over a frame and its VCRC leaves the same residue") {
    for (const golden_frame& frame : golden_frames()) {
        CHECK(vcrc(frame.bytes.data(), frame.bytes.size()) == vcrc_residue);
    }
}

TEST_CASE("ib: the CRCs agree with their bitwise definitions") {
    std::mt19937_64 random(4096);
    for (std::size_t size_bytes = 60; size_bytes < 400; ++size_bytes) {
        std::vector<std::uint8_t> packet = random_bytes(random, size_bytes);
        packet[1] = static_cast<std::uint8_t>((packet[1] & 0xfc) | (size_bytes % 2 == 0 ? 2 : 3));
        CHECK(vcrc(packet.data(), size_bytes) == bitwise_crc<std::uint16_t>(packet, 0xd008));
        CHECK(icrc(packet.data(), size_bytes) == bitwise_crc<std::uint32_t>(masked(packet), 0xedb88320u));
    }
    // Sizes below a step of the table-driven VCRC, and a masked LRH alone.
    for (std::size_t size_bytes = 0; size_bytes < 20; ++size_bytes) {
        const std::vector<std::uint8_t> bytes = random_bytes(random, size_bytes);
        CHECK(vcrc(bytes.data(), size_bytes) == bitwise_crc<std::uint16_t>(bytes, 0xd008));
    }
    const std::uint8_t global_lrh[8] = {0x00, 0x03};
    CHECK(icrc(global_lrh, sizeof global_lrh) == ~icrc_register_after_masked_lrh);
}

TEST_CASE("ib: ICRC ignores what switches may change and nothing else") {
    for (const char* name : {"ibta_sample_local", "ibta_sample_global", "capture_36_send"}) {
        std::vector<std::uint8_t> packet = golden_frame_named(name).bytes;
        const std::size_t covered_bytes = packet.size() - 6;
        const std::uint32_t right = icrc(packet.data(), covered_bytes);
        std::vector<std::uint8_t> variant(covered_bytes, 0);
        for (std::size_t i = 0; i < covered_bytes; ++i) {
            for (unsigned bit = 0; bit < 8; ++bit) {
                // The bits of LNH choose what is masked.
                if (i == 1 && bit < 2) {
                    continue;
                }
                const auto flip = static_cast<std::uint8_t>(1u << bit);
                packet[i] = static_cast<std::uint8_t>(packet[i] ^ flip);
                if (icrc(packet.data(), covered_bytes) == right) {
                    variant[i] = static_cast<std::uint8_t>(variant[i] | flip);
                }
                packet[i] = static_cast<std::uint8_t>(packet[i] ^ flip);
            }
        }
        std::vector<std::uint8_t> documented(covered_bytes, 0);
        if ((packet[1] & 3) == 3) {
            std::memset(documented.data(), 0xff, 8);
            documented[1] = 0xfc;
            documented[8] = 0x0f;
            documented[9] = documented[10] = documented[11] = documented[15] = documented[52] = 0xff;
        } else {
            documented[0] = 0xf0;
            documented[12] = 0xff;
        }
        INFO(name);
        CHECK(variant == documented);
    }
}

TEST_CASE("ib: VCRC finds every single and double bit error of a short packet") {
    std::vector<std::uint8_t> packet = golden_frame_named("capture_38_ack").bytes;
    const std::size_t bits = packet.size() * 8;
    const auto flip = [&](std::size_t bit) {
        packet[bit / 8] = static_cast<std::uint8_t>(packet[bit / 8] ^ (1u << bit % 8));
    };
    std::uint64_t missed = 0;
    for (std::size_t first = 0; first < bits; ++first) {
        flip(first);
        missed += vcrc_is_good(packet.data(), packet.size());
        for (std::size_t second = first + 1; second < bits; ++second) {
            flip(second);
            missed += vcrc_is_good(packet.data(), packet.size());
            flip(second);
        }
        flip(first);
    }
    CHECK(missed == 0);
}

TEST_CASE("ib: CRC checks refuse what is too short to be a packet") {
    std::mt19937_64 random(1);
    for (std::size_t size_bytes = 0; size_bytes < 26; ++size_bytes) {
        const std::vector<std::uint8_t> bytes = random_bytes(random, size_bytes);
        CHECK_FALSE(icrc_is_good(bytes.data(), size_bytes));
        CHECK_FALSE(vcrc_is_good(bytes.data(), size_bytes));
    }
}

TEST_CASE("ib: LPCRC covers the first four bytes of a flow-control packet") {
    const std::uint8_t packet[6] = {0x01, 0x23, 0x4a, 0xbc, 0xee, 0xee};
    CHECK(lpcrc(packet) == bitwise_crc<std::uint16_t>({0x01, 0x23, 0x4a, 0xbc}, 0xd008));
    const std::uint8_t zeros[6] = {};
    CHECK(lpcrc(zeros) == bitwise_crc<std::uint16_t>({0, 0, 0, 0}, 0xd008));
}

TEST_CASE("crc: look-up and multiplication give the same for every size and shape of packet") {
    if (!crc_by_multiply::is_available()) {
        WARN("this processor has no carry-less multiplication");
        return;
    }
    std::mt19937_64 random(11);
    for (std::size_t size_bytes = lrh_bytes + bth_bytes; size_bytes <= max_packet_bytes;
         size_bytes += size_bytes < 700 ? 1 : 37) {
        for (const unsigned lnh : {2u, 3u}) {
            std::vector<std::uint8_t> packet = random_bytes(random, size_bytes);
            packet[1] = static_cast<std::uint8_t>((packet[1] & ~3u) | lnh);
            INFO(size_bytes << " bytes, LNH " << lnh);
            CHECK(crc_by_multiply::icrc(packet.data(), size_bytes) ==
                  crc_by_table::icrc(packet.data(), size_bytes));
            CHECK(crc_by_multiply::vcrc(packet.data(), size_bytes) ==
                  crc_by_table::vcrc(packet.data(), size_bytes));
        }
    }
}
