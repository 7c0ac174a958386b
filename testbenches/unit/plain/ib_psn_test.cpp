#include <cstdint>
#include <random>

#include "model/ib/psn.h"
#include "testbenches/unit/catch.h"

using namespace hcasim::ib;

namespace {

constexpr std::int32_t half_psn_window = 1 << 23;
constexpr std::int32_t half_index_window = 1 << 15;

}  // namespace

TEST_CASE("ib: PSN arithmetic wraps at 2^24") {
    CHECK(psn_add(0xffffff, 1) == 0);
    CHECK(psn_add(0xfffffe, 5) == 3);
    CHECK(psn_add(0, 0x1000001) == 1);
    CHECK(psn_distance(0, 0xffffff) == 1);
    CHECK(psn_distance(0xffffff, 0) == -1);
    CHECK(psn_distance(0x7fffff, 0) == half_psn_window - 1);
    CHECK(psn_distance(0x800000, 0) == -half_psn_window);
    CHECK(psn_distance(0, 0x800000) == -half_psn_window);
}

TEST_CASE("ib: PSN distance is the inverse of PSN addition anywhere in the ring") {
    std::mt19937_64 random(20240501);
    std::uint64_t wrong = 0;
    for (int i = 0; i < 200'000; ++i) {
        const std::uint64_t r = random();
        // Every second start lies close to the wrap.
        const auto start = static_cast<std::uint32_t>(i % 2 == 0 ? r & psn_mask : psn_mask - (r & 0xffu));
        const auto n = static_cast<std::uint32_t>(r >> 32 & 0x7fffffu);
        const std::uint32_t end = psn_add(start, n);
        const auto signed_n = static_cast<std::int32_t>(n);
        wrong += end > psn_mask;
        wrong += psn_distance(end, start) != signed_n;
        wrong += psn_distance(start, end) != -signed_n;
        wrong += psn_add(psn_add(end, 1), psn_mask) != end;
        // Bits above 24 of an operand have no influence.
        wrong += psn_distance(end | 0xab000000u, start) != signed_n;
    }
    CHECK(wrong == 0);
}

TEST_CASE("ib: PSNs are ordered within half the ring") {
    std::mt19937_64 random(7);
    std::uint64_t wrong = 0;
    for (int i = 0; i < 100'000; ++i) {
        const auto a = static_cast<std::uint32_t>(random() & psn_mask);
        const std::uint32_t b = psn_add(a, static_cast<std::uint32_t>(random() % (half_psn_window / 2)));
        const std::uint32_t c = psn_add(b, static_cast<std::uint32_t>(random() % (half_psn_window / 2)));
        wrong += psn_distance(c, a) != psn_distance(c, b) + psn_distance(b, a);
        wrong += psn_distance(c, a) < psn_distance(b, a);
    }
    CHECK(wrong == 0);
}

TEST_CASE("ib: work-queue indices wrap at 2^16") {
    CHECK(index_distance(0, 0xffff) == 1);
    CHECK(index_distance(0xffff, 0) == -1);
    CHECK(index_distance(0x8000, 0) == -half_index_window);
    std::uint64_t wrong = 0;
    for (std::uint32_t start = 0; start < 0x10000; start += 13) {
        for (std::int32_t n = -half_index_window; n < half_index_window; n += 97) {
            const auto end = static_cast<std::uint16_t>(start + static_cast<std::uint32_t>(n));
            wrong += index_distance(end, static_cast<std::uint16_t>(start)) != n;
        }
    }
    CHECK(wrong == 0);
}
