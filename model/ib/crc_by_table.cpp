#include "model/ib/crc_paths.h"

#include <algorithm>
#include <cstring>

#include <zlib.h>

#include "model/ib/byte_order.h"
#include "model/ib/headers.h"

namespace hcasim::ib {

namespace {

// Offset in the BTH of the byte with FECN and BECN, which switches may change.
constexpr std::size_t bth_variant_byte = 4;

// Generators, bit-reflected: VCRC 0x100B, ICRC 0x04C11DB7 (that of Ethernet).
constexpr std::uint16_t vcrc_polynomial = 0xd008;
constexpr std::uint32_t icrc_polynomial = 0xedb88320;

// Row k holds the CRC of one byte followed by k zero bytes, so that eight bytes are folded in with eight
// independent look-ups.
constexpr std::size_t slices = 8;
template <class Crc>
struct slice_table {
    Crc slice[slices][256] = {};
};

template <class Crc>
constexpr slice_table<Crc> make_slice_table(Crc polynomial) {
    slice_table<Crc> table;
    for (unsigned byte = 0; byte < 256; ++byte) {
        std::uint32_t crc = byte;
        for (int bit = 0; bit < 8; ++bit) {
            crc = (crc & 1u) != 0 ? crc >> 1 ^ polynomial : crc >> 1;
        }
        table.slice[0][byte] = static_cast<Crc>(crc);
    }
    for (std::size_t row = 1; row < slices; ++row) {
        for (unsigned byte = 0; byte < 256; ++byte) {
            const std::uint32_t before = table.slice[row - 1][byte];
            table.slice[row][byte] = static_cast<Crc>(before >> 8 ^ table.slice[0][before & 0xffu]);
        }
    }
    return table;
}

constexpr slice_table<std::uint16_t> vcrc_lookup = make_slice_table(vcrc_polynomial);
constexpr slice_table<std::uint32_t> icrc_lookup = make_slice_table(icrc_polynomial);

// zlib is the faster one on long pieces; on short ones its preparations take longer than the work.
constexpr std::size_t zlib_from_bytes = 256;

// Goes on from the CRC of what is before, like crc32() of zlib.
std::uint32_t crc32_of(std::uint32_t before, const std::uint8_t* p, std::size_t size_bytes) {
    if (size_bytes >= zlib_from_bytes) {
        return static_cast<std::uint32_t>(crc32(before, p, static_cast<uInt>(size_bytes)));
    }
    const auto& t = icrc_lookup.slice;
    std::uint32_t crc = ~before;
    for (; size_bytes >= slices; size_bytes -= slices, p += slices) {
        const std::uint32_t low = load_le32(p) ^ crc;
        const std::uint32_t high = load_le32(p + 4);
        crc = t[7][low & 0xffu] ^ t[6][low >> 8 & 0xffu] ^ t[5][low >> 16 & 0xffu] ^ t[4][low >> 24] ^
              t[3][high & 0xffu] ^ t[2][high >> 8 & 0xffu] ^ t[1][high >> 16 & 0xffu] ^ t[0][high >> 24];
    }
    for (; size_bytes > 0; --size_bytes, ++p) {
        crc = crc >> 8 ^ t[0][(*p ^ crc) & 0xffu];
    }
    return ~crc;
}

std::uint16_t crc16(const std::uint8_t* p, std::size_t size_bytes) {
    const auto& t = vcrc_lookup.slice;
    unsigned crc = 0xffff;
    for (; size_bytes >= slices; size_bytes -= slices, p += slices) {
        crc = static_cast<unsigned>(t[7][(p[0] ^ crc) & 0xffu] ^ t[6][p[1] ^ crc >> 8] ^ t[5][p[2]] ^
                                    t[4][p[3]] ^ t[3][p[4]] ^ t[2][p[5]] ^ t[1][p[6]] ^ t[0][p[7]]);
    }
    for (; size_bytes > 0; --size_bytes, ++p) {
        crc = crc >> 8 ^ t[0][(*p ^ crc) & 0xffu];
    }
    return static_cast<std::uint16_t>(crc ^ 0xffffu);
}

}  // namespace

std::uint32_t crc_by_table::icrc(const std::uint8_t* packet, std::size_t size_bytes) {
    // Only the head has variant fields: it is masked in a copy, the payload is read where it lies.
    std::uint8_t head[lrh_bytes + grh_bytes + bth_bytes] = {};
    const bool global = size_bytes >= lrh_bytes && (packet[1] & 3u) == 3;
    const std::size_t bth_offset = global ? lrh_bytes + grh_bytes : lrh_bytes;
    const std::size_t head_bytes = std::min(size_bytes, bth_offset + bth_bytes);
    std::memcpy(head, packet, head_bytes);
    if (global) {
        std::memset(head, 0xff, lrh_bytes);
        std::uint8_t* grh = head + lrh_bytes;
        grh[0] |= 0x0fu;  // traffic class and flow label, the IP version stays
        grh[1] = grh[2] = grh[3] = 0xff;
        grh[7] = 0xff;  // hop limit
    } else {
        head[0] |= 0xf0u;  // virtual lane
    }
    head[bth_offset + bth_variant_byte] = 0xff;
    return crc32_of(crc32_of(0, head, head_bytes), packet + head_bytes, size_bytes - head_bytes);
}

std::uint16_t crc_by_table::vcrc(const std::uint8_t* packet, std::size_t size_bytes) {
    return crc16(packet, size_bytes);
}

}  // namespace hcasim::ib
