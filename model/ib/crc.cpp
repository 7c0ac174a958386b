#include "model/ib/crc.h"

#include "model/ib/byte_order.h"
#include "model/ib/crc_paths.h"
#include "model/ib/headers.h"

namespace hcasim::ib {

namespace {

constexpr std::size_t crc_bytes = icrc_bytes + vcrc_bytes;
constexpr std::size_t smallest_packet_bytes = lrh_bytes + bth_bytes + crc_bytes;

const bool multiplies = crc_by_multiply::is_available();

}  // namespace

std::uint32_t icrc(const std::uint8_t* packet, std::size_t size_bytes) {
    return multiplies ? crc_by_multiply::icrc(packet, size_bytes) : crc_by_table::icrc(packet, size_bytes);
}

std::uint16_t vcrc(const std::uint8_t* packet, std::size_t size_bytes) {
    return multiplies ? crc_by_multiply::vcrc(packet, size_bytes) : crc_by_table::vcrc(packet, size_bytes);
}

std::uint16_t lpcrc(const std::uint8_t* flow_control_packet) {
    return crc_by_table::vcrc(flow_control_packet, flow_control_packet_bytes - vcrc_bytes);
}

bool icrc_is_good(const std::uint8_t* packet, std::size_t size_bytes) {
    return size_bytes >= smallest_packet_bytes &&
           icrc(packet, size_bytes - crc_bytes) == load_le32(packet + size_bytes - crc_bytes);
}

bool vcrc_is_good(const std::uint8_t* packet, std::size_t size_bytes) {
    return size_bytes >= smallest_packet_bytes &&
           vcrc(packet, size_bytes - vcrc_bytes) == load_le16(packet + size_bytes - vcrc_bytes);
}

void seal(std::uint8_t* packet, std::size_t size_bytes) {
    store_le32(packet + size_bytes - crc_bytes, icrc(packet, size_bytes - crc_bytes));
    store_le16(packet + size_bytes - vcrc_bytes, vcrc(packet, size_bytes - vcrc_bytes));
}

}  // namespace hcasim::ib
