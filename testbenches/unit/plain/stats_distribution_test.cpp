#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "model/stats/distribution.h"
#include "testbenches/unit/catch.h"

using hcasim::distribution;

TEST_CASE("distribution: empty") {
    const distribution d;
    CHECK(d.count() == 0);
    CHECK(d.sum() == 0);
    CHECK(d.min() == 0);
    CHECK(d.max() == 0);
    CHECK(d.mean_milli() == 0);
    CHECK(d.percentile(500) == 0);
}

TEST_CASE("distribution: one value is every percentile") {
    distribution d;
    d.add(42);
    CHECK(d.percentile(0) == 42);
    CHECK(d.percentile(1) == 42);
    CHECK(d.percentile(1000) == 42);
    CHECK(d.mean_milli() == 42000);
}

// Nearest rank of n values: the one at position ceil(share * n), counted from 1.
TEST_CASE("distribution: nearest rank by hand") {
    distribution d;
    for (const std::uint64_t v : {15u, 20u, 35u, 40u, 50u}) {
        d.add(v);
    }
    CHECK(d.percentile(50) == 15);   // ceil(0.25) = 1
    CHECK(d.percentile(300) == 20);  // ceil(1.5) = 2
    CHECK(d.percentile(400) == 20);  // ceil(2.0) = 2
    CHECK(d.percentile(401) == 35);  // ceil(2.005) = 3
    CHECK(d.percentile(500) == 35);
    CHECK(d.percentile(1000) == 50);
    CHECK(d.mean_milli() == 32000);
    CHECK(d.min() == 15);
    CHECK(d.max() == 50);
}

TEST_CASE("distribution: p99 and p99.9 of a thousand") {
    distribution d;
    for (std::uint64_t v = 1; v <= 1000; ++v) {
        d.add(v);
    }
    CHECK(d.percentile(500) == 500);
    CHECK(d.percentile(900) == 900);
    CHECK(d.percentile(990) == 990);
    CHECK(d.percentile(999) == 999);
    CHECK(d.percentile(1000) == 1000);
    CHECK(d.sum() == 500500);
    CHECK(d.mean_milli() == 500500);
}

TEST_CASE("distribution: one outlier in a thousand shows at p100 only, two at p99.9") {
    distribution one;
    one.add(10, 999);
    one.add(5000);
    CHECK(one.percentile(999) == 10);
    CHECK(one.percentile(1000) == 5000);
    distribution two;
    two.add(10, 998);
    two.add(5000, 2);
    CHECK(two.percentile(998) == 10);
    CHECK(two.percentile(999) == 5000);
}

TEST_CASE("distribution: mean rounds half up to thousandths") {
    distribution d;
    d.add(0, 2);
    d.add(1);
    CHECK(d.mean_milli() == 333);
    d.clear();
    CHECK(d.count() == 0);
    d.add(0, 1);
    d.add(1, 2);
    CHECK(d.mean_milli() == 667);
    d.clear();
    d.add(0, 1999);
    d.add(1);
    CHECK(d.mean_milli() == 1);  // 0.5 thousandths
}

TEST_CASE("distribution: values add up and merge") {
    distribution a, b;
    a.add(7, 0);
    CHECK(a.count() == 0);
    CHECK(a.values().empty());
    a.add(7, 3);
    b.add(7);
    b.add(9, 2);
    a.merge(b);
    CHECK(a.count() == 6);
    CHECK(a.sum() == 46);
    CHECK(a.values().at(7) == 4);
    CHECK(a.values().at(9) == 2);
}

TEST_CASE("distribution: the same as sorting all samples") {
    std::mt19937_64 random(11);
    std::uint64_t wrong = 0;
    for (int round = 0; round < 200; ++round) {
        std::vector<std::uint64_t> samples(1 + random() % 400);
        distribution d;
        for (auto& s : samples) {
            s = random() % (1 + random() % 1000);
            d.add(s);
        }
        std::sort(samples.begin(), samples.end());
        for (const std::uint32_t share : {0u, 1u, 250u, 500u, 900u, 990u, 999u, 1000u}) {
            const std::size_t rank = std::max<std::size_t>(1, (samples.size() * share + 999) / 1000);
            wrong += d.percentile(share) != samples[rank - 1];
        }
    }
    CHECK(wrong == 0);
}
