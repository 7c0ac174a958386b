#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "model/ib/byte_order.h"
#include "model/ib/crc.h"
#include "model/ib/headers.h"
#include "model/ib/mad.h"
#include "testbenches/unit/catch.h"
#include "testbenches/unit/golden_frames.h"
#include "testbenches/unit/source_directory.h"

using namespace hcasim;
using namespace hcasim::ib;

namespace {

// The Wireshark project's sample capture "infiniband.pcap" does not belong to this project; where a copy lies
// beside the source tree, these tests read it.
const char* const capture_path = "/../shared/captures/ipoib_cm_erf.pcap";

struct captured_frame {
    std::uint64_t time_ns = 0;        // since the first frame
    std::vector<std::uint8_t> bytes;  // LRH .. VCRC
};

constexpr std::size_t pcap_header_bytes = 24;
constexpr std::size_t record_header_bytes = 16;
constexpr std::size_t erf_header_bytes = 16;
constexpr std::uint32_t pcap_magic = 0xa1b2c3d4u;
constexpr std::uint32_t link_type_erf = 197;
constexpr std::uint8_t erf_type_infiniband = 21;

// Frames of a little-endian pcap file of ERF records; none when there is no file.
std::vector<captured_frame> read_capture() {
    std::ifstream in(source_directory() + capture_path, std::ios::binary);
    const std::vector<char> text{std::istreambuf_iterator<char>{in}, {}};
    const std::vector<std::uint8_t> file{text.begin(), text.end()};
    std::vector<captured_frame> frames;
    if (file.size() < pcap_header_bytes) {
        return frames;
    }
    REQUIRE(load_le32(file.data()) == pcap_magic);
    REQUIRE(load_le32(file.data() + 20) == link_type_erf);
    std::uint64_t first_stamp = 0;
    for (std::size_t at = pcap_header_bytes; at < file.size();) {
        const std::uint8_t* record = file.data() + at;
        REQUIRE(file.size() - at >= record_header_bytes + erf_header_bytes);
        const std::size_t captured_bytes = load_le32(record + 8);
        REQUIRE(file.size() - at >= record_header_bytes + captured_bytes);
        const std::uint8_t* erf = record + record_header_bytes;
        REQUIRE((erf[8] & 0x7f) == erf_type_infiniband);
        const std::size_t frame_bytes = load_be16(erf + 14);
        REQUIRE(erf_header_bytes + frame_bytes <= captured_bytes);
        // Seconds and their fraction in units of 2^-32 s.
        const std::uint64_t stamp = std::uint64_t{load_le32(erf + 4)} << 32 | load_le32(erf);
        if (frames.empty()) {
            first_stamp = stamp;
        }
        const std::uint64_t ticks = stamp - first_stamp;
        captured_frame frame;
        frame.time_ns = (ticks >> 32) * 1'000'000'000u + ((ticks & 0xffffffffu) * 1'000'000'000u >> 32);
        frame.bytes.assign(erf + erf_header_bytes, erf + erf_header_bytes + frame_bytes);
        frames.push_back(frame);
        at += record_header_bytes + captured_bytes;
    }
    return frames;
}

// The frames, or a message that the test is skipped.
std::vector<captured_frame> capture_or_skip() {
    std::vector<captured_frame> frames = read_capture();
    if (frames.empty()) {
        WARN("skipped: the capture is not beside the source tree");
    }
    return frames;
}

}  // namespace

TEST_CASE("ib: every frame of the real capture has the CRCs that the model computes") {
    const std::vector<captured_frame> frames = capture_or_skip();
    if (frames.empty()) {
        return;
    }
    CHECK(frames.size() == 43);
    std::size_t good_icrc = 0;
    std::size_t good_vcrc = 0;
    std::size_t global = 0;
    for (const captured_frame& frame : frames) {
        good_icrc += icrc_is_good(frame.bytes.data(), frame.bytes.size());
        good_vcrc += vcrc_is_good(frame.bytes.data(), frame.bytes.size());
        global += decode(frame.bytes.data(), frame.bytes.size()).h.global;
    }
    CHECK(good_icrc == 43);
    CHECK(good_vcrc == 43);
    CHECK(global == 6);
}

TEST_CASE("ib: every frame of the real capture is made again from its decoded fields") {
    const std::vector<captured_frame> frames = capture_or_skip();
    std::string cm_messages;
    for (const captured_frame& frame : frames) {
        const decoded_packet d = decode(frame.bytes.data(), frame.bytes.size());
        REQUIRE(d.good);
        std::vector<std::uint8_t> again(packet_bytes(d.h, d.payload_bytes));
        REQUIRE(again.size() == frame.bytes.size());
        const std::size_t offset = encode(d.h, d.payload_bytes, again.data());
        REQUIRE(offset == d.payload_offset);
        const std::uint8_t* payload = frame.bytes.data() + d.payload_offset;
        cm_message m;
        if (d.h.op == ud_send_only && d.h.dest_qpn == 1 && decode(payload, m)) {
            cm_messages += std::string{name(m.attribute)} + " ";
            encode(m, again.data() + offset);
        } else {
            std::memcpy(again.data() + offset, payload, d.payload_bytes);
        }
        seal(again.data(), again.size());
        CHECK(again == frame.bytes);
    }
    if (!frames.empty()) {
        CHECK(cm_messages == "REQ REP RTU REQ REP RTU REQ REP RTU ");
    }
}

TEST_CASE("ib: the real capture shows a SEND before the RTU") {
    const std::vector<captured_frame> frames = capture_or_skip();
    if (frames.empty()) {
        return;
    }
    REQUIRE(frames.size() == 43);
    const auto at = [&](std::size_t number) { return frames[number - 1]; };
    CHECK(at(36).bytes == golden_frame_named("capture_36_send").bytes);
    CHECK(at(37).bytes == golden_frame_named("capture_37_rtu").bytes);
    CHECK(at(37).time_ns - at(36).time_ns == 2146);
    for (const golden_frame& golden : golden_frames()) {
        if (golden.name.rfind("capture_", 0) == 0) {
            INFO(golden.name);
            CHECK(at(std::stoul(golden.name.substr(8, 2))).bytes == golden.bytes);
        }
    }
}
