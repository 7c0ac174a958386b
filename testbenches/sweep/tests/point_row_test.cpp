// What the database keeps of a point.
#include "testbenches/sweep/point_row.h"

#include <stdexcept>

#include "testbenches/unit/catch.h"

using namespace hcasim;

TEST_CASE("a distribution's row has its percentiles and the ends of its curve", "[point_row]") {
    distribution d;
    for (std::uint64_t v = 1; v <= 1000; ++v) {
        d.add(v * 10);
    }
    const distribution_row row = row_of("answer", d, true);
    CHECK(row.name == "answer");
    CHECK(row.count == 1000);
    CHECK(row.min == 10);
    CHECK(row.max == 10000);
    CHECK(row.p50 == 5000);
    CHECK(row.p99_9 == 9990);
    CHECK(row.mean_milli == 5005000);  // 10 * (1 + ... + 1000) / 1000 = 5005
    CHECK(row.curve.size() <= 65);
    CHECK(row.curve.size() >= 64);
    CHECK(row.curve.front() == std::make_pair(std::uint64_t{10}, std::uint64_t{1}));
    CHECK(row.curve.back() == std::make_pair(std::uint64_t{10000}, std::uint64_t{1000}));
    for (const auto& [value, below] : row.curve) {
        CHECK(value == below * 10);  // by construction
    }
    CHECK(row_of("x", d, false).curve.empty());
}

TEST_CASE("a few values are kept as they are and none give none", "[point_row]") {
    distribution d;
    d.add(5, 3);
    d.add(9);
    const distribution_row row = row_of("wait", d, true);
    CHECK(row.curve == std::vector<std::pair<std::uint64_t, std::uint64_t>>{{5, 3}, {9, 4}});
    CHECK(row_of("wait", distribution{}, true).curve.empty());
    CHECK(row_of("wait", distribution{}, true).count == 0);
}

TEST_CASE("a row is the same after its way to the other process and damage is found", "[point_row]") {
    point_row row;
    row.point = 77;
    row.status = point_status::violated;
    row.message = "cycle 3: a, \"b\"\nc";
    row.config_hash = "0123456789abcdef";
    row.cycles = ~std::uint64_t{0};
    row.opened_by_comm_est = 4;
    row.events = "{\"x\":1}";
    row.host_seconds = 0.25;
    distribution d;
    d.add(1);
    d.add(2, 2);
    row.distributions = {row_of("latency", d, true), row_of("stage.post", d, false)};
    const std::string bytes = pack(row);
    const point_row back = unpack_point_row(bytes);
    CHECK(back.point == 77);
    CHECK(back.status == point_status::violated);
    CHECK(back.message == row.message);
    CHECK(back.config_hash == row.config_hash);
    CHECK(back.cycles == row.cycles);
    CHECK(back.opened_by_comm_est == 4);
    CHECK(back.events == row.events);
    CHECK(back.host_seconds == 0.25);
    REQUIRE(back.distributions.size() == 2);
    CHECK(back.distributions[0].curve == row.distributions[0].curve);
    CHECK(back.distributions[1].name == "stage.post");
    CHECK(back.distributions[1].p50 == 2);
    CHECK(pack(back) == bytes);
    for (const std::size_t length : {std::size_t{0}, std::size_t{7}, bytes.size() / 2, bytes.size() - 1}) {
        CHECK_THROWS_AS(unpack_point_row(bytes.substr(0, length)), std::runtime_error);
    }
}
