#include "model/ib/crc_paths.h"

#include "model/ib/headers.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include <immintrin.h>

#include <array>
#include <cstring>

namespace hcasim::ib {

namespace {

// The message is a polynomial M of which M * x^32 mod P is wanted, P of degree 32. Blocks of 128 bits are
// folded onto each other: a block that stands D bits before another is replaced by its two halves times
// x^(D+64) and x^D, taken mod P. Bits are reflected (the first bit on the wire is the lowest of its byte).
// The product of two reflected numbers of 64 and of 32 bits comes out 32 + 1 places off, so the multiplier of
// x^n is x^(n-32) mod P, reflected and shifted by one.
//
// The generator G of the VCRC has degree 16. With P = G * x^16 the remainder is that of G times x^16, which
// stands in the low half of the reflected 32 bits.

// x^n mod P, reflected, shifted by one.
constexpr std::uint64_t power(unsigned n, std::uint32_t polynomial) {
    std::uint32_t value = 0x80000000u;  // x^0
    for (; n != 0; --n) {
        value = (value & 1u) != 0 ? value >> 1 ^ polynomial : value >> 1;
    }
    return std::uint64_t{value} << 1;
}

// x^64 / P without its remainder, 33 bits reflected.
constexpr std::uint64_t quotient(std::uint32_t polynomial) {
    std::uint64_t result = 1;         // the first step of the long division: x^64 = x^32 * x^32,
    std::uint32_t rest = polynomial;  // and what it leaves, beginning with the power that is looked at next
    for (unsigned i = 1; i <= 32; ++i) {
        const bool divides = (rest & 1u) != 0;
        rest = divides ? rest >> 1 ^ polynomial : rest >> 1;
        result |= std::uint64_t{divides} << i;
    }
    return result;
}

static_assert(quotient(0xedb88320u) == 0x1f7011641u);

struct multipliers {
    std::uint64_t far_front, far_back;    // the halves of a block, over 512 bits
    std::uint64_t near_front, near_back;  // ... over 128 bits
    std::uint64_t last;                   // 32 bits, over 64
    std::uint64_t inverse, generator;
};

constexpr multipliers multipliers_of(std::uint32_t polynomial) {
    multipliers k{};
    k.far_front = power(512 + 32, polynomial);
    k.far_back = power(512 - 32, polynomial);
    k.near_front = power(128 + 32, polynomial);
    k.near_back = power(128 - 32, polynomial);
    k.last = power(64, polynomial);
    k.inverse = quotient(polynomial);
    k.generator = std::uint64_t{polynomial} << 1 | 1u;
    return k;
}

constexpr multipliers icrc_multipliers = multipliers_of(0xedb88320u);
constexpr multipliers vcrc_multipliers = multipliers_of(0x0000d008u);

constexpr std::size_t block_bytes = sizeof(__m128i);
constexpr std::size_t lanes = 4;
constexpr std::size_t smallest_bytes = block_bytes + 1;

// Sliding over this gives the byte moves by 0..16 places for both of the blocks that a moved block lies in.
constexpr std::size_t slide_bytes = 3 * block_bytes;
constexpr std::array<std::uint8_t, slide_bytes> make_slide() {
    std::array<std::uint8_t, slide_bytes> slide{};
    for (std::size_t i = 0; i < slide_bytes; ++i) {
        const bool inside = i >= block_bytes && i < 2 * block_bytes;
        slide[i] = static_cast<std::uint8_t>(inside ? i - block_bytes : 0x80);  // 0x80: a zero
    }
    return slide;
}
alignas(block_bytes) constexpr std::array<std::uint8_t, slide_bytes> slide = make_slide();

#define HCASIM_WITH_MULTIPLY [[gnu::target("pclmul,sse4.1")]]

HCASIM_WITH_MULTIPLY inline __m128i pair(std::uint64_t low, std::uint64_t high) {
    return _mm_set_epi64x(static_cast<long long>(high), static_cast<long long>(low));
}

HCASIM_WITH_MULTIPLY inline __m128i load(const std::uint8_t* p) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
}

// `block` replaced by what stands for it at the distance of the multipliers.
HCASIM_WITH_MULTIPLY inline __m128i moved(__m128i block, __m128i by) {
    return _mm_xor_si128(_mm_clmulepi64_si128(block, by, 0x00), _mm_clmulepi64_si128(block, by, 0x11));
}

// The message so far: folded into one block, the whole blocks at `rest` still to come.
struct state {
    __m128i sum;
    const std::uint8_t* rest;
    std::size_t rest_bytes;
};

// Begins a message of at least smallest_bytes with its first bytes, up to where the rest is whole blocks. The
// first block is taken with the ones of `variant` set. All ones at the start of a CRC are ones added to the
// first bits of the message, and zeros before it change nothing.
HCASIM_WITH_MULTIPLY inline state begin(const std::uint8_t* p, std::size_t size_bytes, __m128i variant,
                                        __m128i ones, const multipliers& k) {
    const std::size_t zeros = (block_bytes - size_bytes % block_bytes) % block_bytes;
    const __m128i first = _mm_xor_si128(_mm_or_si128(load(p), variant), ones);
    // A short message ends within the second block, which is then taken from its last 16 bytes.
    const __m128i second =
        size_bytes >= 2 * block_bytes
            ? load(p + block_bytes)
            : _mm_shuffle_epi8(load(p + size_bytes - block_bytes), load(slide.data() + block_bytes + zeros));
    const __m128i up = load(slide.data() + block_bytes - zeros);
    const __m128i down = load(slide.data() + 2 * block_bytes - zeros);
    const __m128i sum = moved(_mm_shuffle_epi8(first, up), pair(k.near_front, k.near_back));
    const __m128i next = _mm_or_si128(_mm_shuffle_epi8(first, down), _mm_shuffle_epi8(second, up));
    const std::size_t used = 2 * block_bytes - zeros;
    return {_mm_xor_si128(sum, next), p + used, size_bytes - used};
}

HCASIM_WITH_MULTIPLY inline __m128i fold(state s, const multipliers& k) {
    const __m128i near = pair(k.near_front, k.near_back);
    __m128i sum = s.sum;
    const std::uint8_t* p = s.rest;
    std::size_t left = s.rest_bytes;
    if (left >= 2 * lanes * block_bytes) {
        // Four sums go on side by side.
        const __m128i far = pair(k.far_front, k.far_back);
        __m128i a = _mm_xor_si128(moved(sum, near), load(p));
        __m128i b = load(p + block_bytes);
        __m128i c = load(p + 2 * block_bytes);
        __m128i d = load(p + 3 * block_bytes);
        for (;;) {
            p += lanes * block_bytes;
            left -= lanes * block_bytes;
            if (left < lanes * block_bytes) {
                break;
            }
            a = _mm_xor_si128(moved(a, far), load(p));
            b = _mm_xor_si128(moved(b, far), load(p + block_bytes));
            c = _mm_xor_si128(moved(c, far), load(p + 2 * block_bytes));
            d = _mm_xor_si128(moved(d, far), load(p + 3 * block_bytes));
        }
        sum = _mm_xor_si128(moved(a, near), b);
        sum = _mm_xor_si128(moved(sum, near), c);
        sum = _mm_xor_si128(moved(sum, near), d);
    }
    for (; left != 0; left -= block_bytes, p += block_bytes) {
        sum = _mm_xor_si128(moved(sum, near), load(p));
    }
    return sum;
}

// From 128 bits to the 32 of the remainder.
HCASIM_WITH_MULTIPLY inline std::uint32_t reduce(__m128i sum, const multipliers& k) {
    const __m128i word = _mm_set_epi32(0, 0, 0, -1);
    sum = _mm_xor_si128(_mm_srli_si128(sum, 8), _mm_clmulepi64_si128(sum, pair(k.near_back, 0), 0x00));
    sum = _mm_xor_si128(_mm_srli_si128(sum, 4),
                        _mm_clmulepi64_si128(_mm_and_si128(sum, word), pair(k.last, 0), 0x00));
    // What P goes into it without remainder, times P, leaves the remainder (Barrett).
    const __m128i division = pair(k.inverse, k.generator);
    __m128i times = _mm_clmulepi64_si128(_mm_and_si128(sum, word), division, 0x00);
    times = _mm_clmulepi64_si128(_mm_and_si128(times, word), division, 0x10);
    return static_cast<std::uint32_t>(_mm_extract_epi32(_mm_xor_si128(sum, times), 1));
}

HCASIM_WITH_MULTIPLY std::uint32_t icrc_of(const std::uint8_t* packet, std::size_t size_bytes) {
    const multipliers& k = icrc_multipliers;
    const __m128i ones = _mm_set_epi32(0, 0, 0, -1);
    const bool global = (packet[1] & 3u) == 3;
    state s;
    if (!global) {
        // Variant: virtual lane in byte 0, FECN and BECN in byte 4 of the BTH.
        const __m128i variant = pair(0xf0, std::uint64_t{0xff} << 32);
        s = begin(packet, size_bytes, variant, ones, k);
    } else {
        // LRH, traffic class and flow label, hop limit are in the first block, FECN and BECN are not: the
        // head is masked in a copy, which ends where the rest is whole blocks.
        constexpr std::size_t variant_byte = lrh_bytes + grh_bytes + 4;
        const std::size_t head_bytes = 4 * block_bytes + size_bytes % block_bytes;
        if (size_bytes < head_bytes) {
            return crc_by_table::icrc(packet, size_bytes);
        }
        std::array<std::uint8_t, 5 * block_bytes> head{};
        std::memcpy(head.data(), packet, head_bytes);
        head[variant_byte] = 0xff;
        const __m128i variant = pair(~std::uint64_t{0}, 0xff000000ffffff0fu);
        s = begin(head.data(), head_bytes, variant, ones, k);
        s = {fold(s, k), packet + head_bytes, size_bytes - head_bytes};
    }
    return ~reduce(fold(s, k), k);
}

HCASIM_WITH_MULTIPLY std::uint16_t vcrc_of(const std::uint8_t* packet, std::size_t size_bytes) {
    const multipliers& k = vcrc_multipliers;
    const __m128i ones = _mm_set_epi32(0, 0, 0, 0xffff);
    const state s = begin(packet, size_bytes, _mm_setzero_si128(), ones, k);
    return static_cast<std::uint16_t>(~reduce(fold(s, k), k));
}

}  // namespace

bool crc_by_multiply::is_available() {
    return __builtin_cpu_supports("pclmul") != 0 && __builtin_cpu_supports("sse4.1") != 0;
}

std::uint32_t crc_by_multiply::icrc(const std::uint8_t* packet, std::size_t size_bytes) {
    return size_bytes < smallest_bytes ? crc_by_table::icrc(packet, size_bytes) : icrc_of(packet, size_bytes);
}

std::uint16_t crc_by_multiply::vcrc(const std::uint8_t* packet, std::size_t size_bytes) {
    return size_bytes < smallest_bytes ? crc_by_table::vcrc(packet, size_bytes) : vcrc_of(packet, size_bytes);
}

}  // namespace hcasim::ib

#else

namespace hcasim::ib {

bool crc_by_multiply::is_available() { return false; }

std::uint32_t crc_by_multiply::icrc(const std::uint8_t* packet, std::size_t size_bytes) {
    return crc_by_table::icrc(packet, size_bytes);
}

std::uint16_t crc_by_multiply::vcrc(const std::uint8_t* packet, std::size_t size_bytes) {
    return crc_by_table::vcrc(packet, size_bytes);
}

}  // namespace hcasim::ib

#endif
