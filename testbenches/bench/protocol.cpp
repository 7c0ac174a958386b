#include "testbenches/bench/protocol.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string_view>

#include "model/ib/byte_order.h"

namespace hcasim {

namespace {

using bytes = protocol::bytes;

std::uint64_t tag_of(std::uint32_t connection, std::uint32_t number) {
    return std::uint64_t{connection} << 32 | number;
}

void put16(bytes& b, std::size_t at, std::uint16_t v) { ib::store_be16(&b[at], v); }
void put32(bytes& b, std::size_t at, std::uint32_t v) { ib::store_be32(&b[at], v); }
void put64(bytes& b, std::size_t at, std::uint64_t v) { ib::store_be64(&b[at], v); }
void put_little(bytes& b, std::size_t at, std::uint64_t v, std::size_t width) {
    for (std::size_t i = 0; i < width; ++i) {
        b[at + i] = static_cast<std::uint8_t>(v >> (8 * i));
    }
}
std::uint64_t get_little(const bytes& b, std::size_t at, std::size_t width) {
    std::uint64_t v = 0;
    for (std::size_t i = width; i-- > 0;) {
        v = v << 8 | b[at + i];
    }
    return v;
}
void put_text(bytes& b, std::size_t at, std::string_view text) {
    std::copy(text.begin(), text.end(), b.begin() + static_cast<std::ptrdiff_t>(at));
}

// Header of the RDMA IP CM service in the private data of a REQ: 36 bytes, addresses 10.0.0.x.
bytes ip_cm_header(std::uint32_t connection) {
    bytes b(36, 0);
    b[1] = 4 << 4;
    put16(b, 2, static_cast<std::uint16_t>(49152 + connection % 16384));
    put32(b, 16, 0x0a000002);
    put32(b, 32, 0x0a000001);
    return b;
}
constexpr std::uint64_t ip_cm_service(std::uint16_t port) { return std::uint64_t{0x0106} << 16 | port; }

/// One message each way: the client's, and one that the server has ready as soon as its QP can take it.
class one_send_protocol final : public protocol {
public:
    explicit one_send_protocol(std::uint32_t message_bytes) : m_message_bytes(message_bytes) {}
    std::uint32_t opening_commands() const override { return 1; }
    bytes command(std::uint32_t connection, std::uint32_t number) const override {
        return message(tag_of(connection, number));
    }
    bytes answer(const bytes&) const override { return {}; }
    bytes greeting(std::uint32_t connection) const override { return message(tag_of(connection, 1u << 31)); }
    bool opening_is_serial() const override { return false; }
    std::uint64_t service_id() const override { return 0x1000000000000001; }
    std::uint32_t largest_message_bytes() const override { return m_message_bytes; }

private:
    bytes message(std::uint64_t id) const {
        bytes b(8);
        put64(b, 0, id);
        append_pattern(b, id, m_message_bytes - b.size());
        return b;
    }
    std::uint32_t m_message_bytes;
};

/// SCSI over SRP (T10 SRP r16a; IU layouts as in Linux include/scsi/srp.h). The opening sequence is that of a
/// disk scan.
class srp_protocol final : public protocol {
public:
    explicit srp_protocol(std::uint32_t message_bytes) : m_message_bytes(message_bytes) {}

    std::uint32_t opening_commands() const override { return static_cast<std::uint32_t>(scan.size()); }

    bytes command(std::uint32_t connection, std::uint32_t number) const override {
        const bool opening = number < scan.size();
        std::array<std::uint8_t, 16> cdb{};
        std::uint32_t data_in = 0;
        if (opening) {
            cdb = scan[number].cdb;
            data_in = scan[number].allocation_bytes;
        } else {
            const std::uint32_t block = number * 8;
            cdb[0] = 0x28;  // READ(10)
            ib::store_be32(&cdb[2], block);
            ib::store_be16(&cdb[7], static_cast<std::uint16_t>((m_message_bytes + 511) / 512));
            data_in = m_message_bytes;
        }
        bytes b(48, 0);
        b[0] = 0x02;                     // SRP_CMD
        b[5] = data_in == 0 ? 0 : 0x01;  // data-in: one direct descriptor
        put64(b, 8, tag_of(connection, number));
        std::copy(cdb.begin(), cdb.end(), b.begin() + 32);
        if (data_in != 0) {
            b.resize(64, 0);
            put64(b, 48, 0x7f0000000000u + std::uint64_t{number} * 65536);
            put32(b, 56, 0x1000u + connection);
            put32(b, 60, data_in);
        }
        return b;
    }

    bytes answer(const bytes& command) const override {
        bytes data;
        std::uint8_t status = 0;
        bytes sense;
        switch (command.at(32)) {
            case 0x00:  // TEST UNIT READY: the first one after a login reports the reset
                status = 0x02;
                sense.assign(18, 0);
                sense[0] = 0x70;
                sense[2] = 0x06;
                sense[7] = 10;
                sense[12] = 0x29;
                break;
            case 0x12:
                data = inquiry();
                break;
            case 0xa0:  // REPORT LUNS: one
                data.assign(16, 0);
                put32(data, 0, 8);
                break;
            case 0x25:  // READ CAPACITY(10)
                data.assign(8, 0);
                put32(data, 0, last_block);
                put32(data, 4, 512);
                break;
            case 0x9e:  // READ CAPACITY(16)
                data.assign(32, 0);
                put64(data, 0, last_block);
                put32(data, 8, 512);
                break;
            case 0x1a:  // MODE SENSE(6): header and caching page
                data.assign(24, 0);
                data[0] = 23;
                data[4] = 0x08;
                data[5] = 0x12;
                data[6] = 0x04;
                break;
            default:
                append_pattern(data, ib::load_be64(&command[8]), ib::load_be32(&command[60]));
                break;
        }
        bytes b(36, 0);
        b[0] = 0xc1;  // SRP_RSP
        put32(b, 4, 1);
        std::copy(command.begin() + 8, command.begin() + 16, b.begin() + 8);
        b[18] = sense.empty() ? 0 : 0x02;
        b[19] = status;
        put32(b, 28, static_cast<std::uint32_t>(sense.size()));
        b.insert(b.end(), sense.begin(), sense.end());
        b.insert(b.end(), data.begin(), data.end());
        return b;
    }

    std::uint64_t service_id() const override { return 0x0002c90300001894; }

    bytes request_private_data(std::uint32_t connection) const override {
        bytes b(64, 0);  // SRP_LOGIN_REQ
        put64(b, 8, connection);
        put32(b, 16, 64);
        b[25] = 0x02;
        put64(b, 32, 0x0002c90200000000u + connection);
        put64(b, 40, 0x0002c90200000001u);
        put64(b, 48, 0x0002c90300001894u);
        put64(b, 56, 0x0002c90300001894u);
        return b;
    }
    bytes reply_private_data(std::uint32_t connection) const override {
        bytes b(52, 0);  // SRP_LOGIN_RSP
        b[0] = 0xc0;
        put32(b, 4, 64);
        put64(b, 8, connection);
        put32(b, 16, 64);
        put32(b, 20, 36 + 96);
        b[25] = 0x02;
        return b;
    }
    std::uint32_t largest_message_bytes() const override {
        return 36 + std::max<std::uint32_t>(m_message_bytes, 96);
    }

private:
    struct scan_command {
        std::array<std::uint8_t, 16> cdb;
        std::uint32_t allocation_bytes;
    };
    static constexpr std::uint32_t last_block = 0x03bf1fff;
    static constexpr std::array<scan_command, 6> scan = {{
        {{0x00}, 0},                                              // TEST UNIT READY
        {{0x12, 0, 0, 0, 36}, 36},                                // INQUIRY
        {{0xa0, 0, 0, 0, 0, 0, 0, 0, 0x10, 0}, 4096},             // REPORT LUNS
        {{0x25}, 8},                                              // READ CAPACITY(10)
        {{0x9e, 0x10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 32}, 32},  // READ CAPACITY(16)
        {{0x1a, 0x08, 0x08, 0, 24}, 24},                          // MODE SENSE(6), caching page
    }};

    static bytes inquiry() {
        bytes b(36, 0);
        b[2] = 0x06;
        b[3] = 0x12;
        b[4] = 31;
        b[7] = 0x02;
        put_text(b, 8, "HCASIM  ");
        put_text(b, 16, "SRP DISK        ");
        put_text(b, 32, "0001");
        return b;
    }
    std::uint32_t m_message_bytes;
};

/// A socket over SDP (IBTA annex A4; BSDH as in the OFED ib_sdp driver): data, echoed by the server.
class sdp_protocol final : public protocol {
public:
    explicit sdp_protocol(std::uint32_t message_bytes) : m_message_bytes(message_bytes) {}
    std::uint32_t opening_commands() const override { return 8; }
    bytes command(std::uint32_t connection, std::uint32_t number) const override {
        bytes b = header(0xff, number + 1, m_message_bytes);
        append_pattern(b, tag_of(connection, number), m_message_bytes);
        return b;
    }
    bytes answer(const bytes& command) const override {
        bytes b = command;
        put32(b, 12, ib::load_be32(&command[8]));  // MSeqAck
        return b;
    }
    bool opening_is_serial() const override { return false; }
    std::uint64_t service_id() const override { return 0x10000u + 5001; }
    bytes request_private_data(std::uint32_t connection) const override {
        bytes b = header(0x00, 0, 60);  // Hello
        b.resize(76, 0);
        b[16] = 0x11;
        put32(b, 24, 16 + m_message_bytes);
        put32(b, 28, 16 + m_message_bytes);
        put16(b, 32, static_cast<std::uint16_t>(49152 + connection % 16384));
        put32(b, 48, 0x0a000002);
        put32(b, 64, 0x0a000001);
        return b;
    }
    bytes reply_private_data(std::uint32_t) const override {
        bytes b = header(0x01, 0, 24);  // HelloAck
        b.resize(40, 0);
        b[16] = 0x11;
        put32(b, 20, 16 + m_message_bytes);
        return b;
    }
    std::uint32_t largest_message_bytes() const override { return header_bytes + m_message_bytes; }

private:
    static constexpr std::uint32_t header_bytes = 16;
    static bytes header(std::uint8_t message_id, std::uint32_t sequence, std::uint32_t payload_bytes) {
        bytes b(header_bytes, 0);
        b[0] = message_id;
        put16(b, 2, 64);  // buffers
        put32(b, 4, header_bytes + payload_bytes);
        put32(b, 8, sequence);
        return b;
    }
    std::uint32_t m_message_bytes;
};

/// NVMe over fabrics (NVMe-oF 1.1): Connect with its 1024 bytes in the capsule, then what brings a controller
/// up.
class nvmf_protocol final : public protocol {
public:
    explicit nvmf_protocol(std::uint32_t message_bytes) : m_message_bytes(message_bytes) {}
    std::uint32_t opening_commands() const override { return 5; }
    bytes command(std::uint32_t connection, std::uint32_t number) const override {
        bytes b(64, 0);
        b[0] = fabrics;
        b[1] = 0x40;  // SGL
        put_little(b, 2, number, 2);
        switch (number) {
            case 0:
                b[4] = connect;
                put_little(b, 32, 1024, 4);
                b[39] = 0x01;  // offset in capsule
                put_little(b, 44, 31, 2);
                put_little(b, 48, 5000, 4);
                b.resize(64 + 1024, 0);
                put_little(b, 64, 0x68636173696d0000u + connection, 8);
                put_little(b, 80, 0xffff, 2);
                put_text(b, 64 + 256, "nqn.2014-08.org.example:target");
                put_text(b, 64 + 512, "nqn.2014-08.org.example:host");
                break;
            case 1:
                property(b, property_get, 1, 0x00, 0);
                break;  // CAP
            case 2:
                property(b, property_set, 0, 0x14, 0x00460001);
                break;  // CC: enable
            case 3:
                property(b, property_get, 0, 0x1c, 0);
                break;  // CSTS
            case 4:
                b[0] = identify;
                put_little(b, 32, 4096, 4);
                b[40] = 1;
                break;
            default:
                b[0] = read;
                put_little(b, 4, 1, 4);
                put_little(b, 32, m_message_bytes, 4);
                put_little(b, 40, std::uint64_t{number} * 8, 8);
                break;
        }
        return b;
    }
    bytes answer(const bytes& command) const override {
        bytes b(16, 0);
        put_little(b, 8, get_little(command, 2, 2) + 1, 2);  // SQHD
        put_little(b, 12, get_little(command, 2, 2), 2);
        if (command[0] == fabrics && command[4] == connect) {
            put_little(b, 0, 1, 2);  // CNTLID
        } else if (command[0] == fabrics && command[4] == property_get) {
            put_little(b, 0, command[44] == 0 ? 0x0020002014ff03ffu : 1u, 8);
        } else if (command[0] == identify || command[0] == read) {
            append_pattern(b, get_little(command, 2, 2),
                           static_cast<std::size_t>(get_little(command, 32, 4)));
        }
        return b;
    }
    std::uint64_t service_id() const override { return ip_cm_service(4420); }
    bytes request_private_data(std::uint32_t connection) const override {
        bytes b = ip_cm_header(connection);
        b.resize(36 + 32, 0);
        put_little(b, 36 + 4, 32, 2);
        put_little(b, 36 + 6, 31, 2);
        return b;
    }
    bytes reply_private_data(std::uint32_t) const override {
        bytes b(32, 0);
        put_little(b, 2, 32, 2);
        return b;
    }
    std::uint32_t largest_message_bytes() const override {
        return 16 + std::max<std::uint32_t>(m_message_bytes, 4096);
    }

private:
    static constexpr std::uint8_t fabrics = 0x7f, identify = 0x06, read = 0x02;
    static constexpr std::uint8_t property_set = 0x00, connect = 0x01, property_get = 0x04;
    static void property(bytes& b, std::uint8_t type, std::uint8_t size, std::uint32_t offset,
                         std::uint64_t value) {
        b[4] = type;
        b[40] = size;
        put_little(b, 44, offset, 4);
        put_little(b, 48, value, 8);
    }
    std::uint32_t m_message_bytes;
};

}  // namespace

void append_pattern(std::vector<std::uint8_t>& out, std::uint64_t message_id, std::size_t count) {
    std::uint64_t x = (message_id + 1) * 0x9e3779b97f4a7c15u;
    for (std::size_t i = 0; i < count; ++i) {
        if (i % 8 == 0) {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
        }
        out.push_back(static_cast<std::uint8_t>(x >> (8 * (i % 8))));
    }
}

std::unique_ptr<protocol> make_protocol(workload_kind workload, std::uint32_t message_bytes) {
    switch (workload) {
        case workload_kind::one_send:
            return std::make_unique<one_send_protocol>(message_bytes);
        case workload_kind::srp:
            return std::make_unique<srp_protocol>(message_bytes);
        case workload_kind::sdp:
            return std::make_unique<sdp_protocol>(message_bytes);
        case workload_kind::nvmf:
            return std::make_unique<nvmf_protocol>(message_bytes);
        case workload_kind::script:
            break;
    }
    throw std::logic_error("workload script has no protocol");
}

}  // namespace hcasim
