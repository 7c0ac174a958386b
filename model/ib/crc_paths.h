#ifndef HCASIM_MODEL_IB_CRC_PATHS_H
#define HCASIM_MODEL_IB_CRC_PATHS_H

#include <cstddef>
#include <cstdint>

// The two ways to the CRCs of a packet; crc.h takes the better one that the processor has. Both give the
// same.

namespace hcasim::ib {

/// By look-up, eight bytes at a time.
struct crc_by_table {
    static std::uint32_t icrc(const std::uint8_t* packet, std::size_t size_bytes);
    static std::uint16_t vcrc(const std::uint8_t* packet, std::size_t size_bytes);
};

/// By carry-less multiplication, which leaves the data cache to the model.
struct crc_by_multiply {
    /// False when the processor cannot; nothing else may be called then.
    static bool is_available();
    static std::uint32_t icrc(const std::uint8_t* packet, std::size_t size_bytes);
    static std::uint16_t vcrc(const std::uint8_t* packet, std::size_t size_bytes);
};

}  // namespace hcasim::ib

#endif
