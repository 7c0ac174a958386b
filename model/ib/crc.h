#ifndef HCASIM_MODEL_IB_CRC_H
#define HCASIM_MODEL_IB_CRC_H

#include <cstddef>
#include <cstdint>

namespace hcasim::ib {

/// Invariant CRC over LRH .. end of payload (IBTA 7.8.1), variant fields taken as ones. `packet` starts at
/// the LRH, `size_bytes` ends before the ICRC. Store the result least significant byte first.
std::uint32_t icrc(const std::uint8_t* packet, std::size_t size_bytes);

/// Variant CRC (IBTA 7.8.2) over LRH .. ICRC. Store least significant byte first.
std::uint16_t vcrc(const std::uint8_t* packet, std::size_t size_bytes);

/// CRC-16 of a flow-control packet (LPCRC, IBTA 7.9.4): the VCRC polynomial over its first four bytes.
std::uint16_t lpcrc(const std::uint8_t* flow_control_packet);

/// True when ICRC of the whole packet (LRH .. VCRC) is right.
bool icrc_is_good(const std::uint8_t* packet, std::size_t size_bytes);
/// True when VCRC of the whole packet (LRH .. VCRC) is right.
bool vcrc_is_good(const std::uint8_t* packet, std::size_t size_bytes);

/// Writes ICRC and VCRC into the last six bytes of a packet of `size_bytes` (LRH .. VCRC).
void seal(std::uint8_t* packet, std::size_t size_bytes);

}  // namespace hcasim::ib

#endif
