// Processes that do a sweep's work: each piece once, whatever happens to them.
#include "testbenches/sweep/worker_pool.h"

#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "testbenches/unit/catch.h"

using namespace hcasim;

namespace {

std::vector<std::uint64_t> items(std::uint64_t n) {
    std::vector<std::uint64_t> all;
    for (std::uint64_t i = 0; i < n; ++i) {
        all.push_back(i);
    }
    return all;
}

const auto go_on = [] { return true; };

struct collected {
    std::map<std::uint64_t, std::string> good, crashed;
    std::uint64_t outcomes = 0;
    bool take(const worker_pool::outcome& o) {
        ++outcomes;
        (o.crashed ? crashed : good)[o.item] = o.bytes;
        return true;
    }
};

}  // namespace

TEST_CASE("every piece is done once, however many processes there are", "[worker_pool]") {
    for (const unsigned jobs : {1u, 2u, 5u}) {
        collected c;
        worker_pool pool(
            jobs,
            [] { return [](std::uint64_t i) { return std::string(i % 3000, 'x') + std::to_string(i); }; }, 0);
        pool.run(
            items(2000), [&c](const auto& o) { return c.take(o); }, go_on);
        CHECK(c.outcomes == 2000);
        REQUIRE(c.good.size() == 2000);
        CHECK(c.good[17] == std::string(17, 'x') + "17");
        CHECK(c.good[1999] == std::string(1999, 'x') + "1999");
    }
    collected none;
    worker_pool pool(
        3, [] { return [](std::uint64_t) { return std::string(); }; }, 0);
    pool.run(
        {}, [&none](const auto& o) { return none.take(o); }, go_on);
    CHECK(none.outcomes == 0);
}

TEST_CASE("a piece that ends its process twice is given up and all others are done", "[worker_pool]") {
    collected c;
    worker_pool pool(
        2,
        [] {
            return [](std::uint64_t i) {
                if (i == 5) {
                    std::abort();
                }
                if (i == 9) {
                    ::_exit(4);
                }
                return std::to_string(i);
            };
        },
        0);
    pool.run(
        items(40), [&c](const auto& o) { return c.take(o); }, go_on);
    CHECK(c.outcomes == 40);
    CHECK(c.good.size() == 38);
    REQUIRE(c.crashed.size() == 2);
    CHECK(c.crashed[5].find("signal 6") != std::string::npos);
    CHECK(c.crashed[9].find("exit code 4") != std::string::npos);
}

TEST_CASE("a process that somebody else ends costs nothing", "[worker_pool]") {
    collected c;
    const std::string marker =
        (std::filesystem::temp_directory_path() / ("hcasim_pool." + std::to_string(::getpid()))).string();
    ::unlink(marker.c_str());
    worker_pool pool(
        2,
        [&marker] {
            return [&marker](std::uint64_t i) {
                // The first time only.
                if (i == 20 && ::access(marker.c_str(), F_OK) != 0) {
                    FILE* f = std::fopen(marker.c_str(), "w");
                    std::fclose(f);
                    ::raise(SIGKILL);
                }
                return std::to_string(i);
            };
        },
        0);
    pool.run(
        items(60), [&c](const auto& o) { return c.take(o); }, go_on);
    ::unlink(marker.c_str());
    CHECK(c.good.size() == 60);
    CHECK(c.crashed.empty());
}

TEST_CASE("a piece that takes too long is given up", "[worker_pool]") {
    collected c;
    worker_pool pool(
        2,
        [] {
            return [](std::uint64_t i) {
                while (i == 3) {
                    ::pause();
                }
                return std::to_string(i);
            };
        },
        0.3);
    pool.run(
        items(10), [&c](const auto& o) { return c.take(o); }, go_on);
    CHECK(c.good.size() == 9);
    REQUIRE(c.crashed.count(3) == 1);
    CHECK(c.crashed[3] == "took longer than 0.3 s");
}

TEST_CASE("the work ends when the taker wants no more", "[worker_pool]") {
    std::uint64_t taken = 0;
    worker_pool pool(
        2, [] { return [](std::uint64_t i) { return std::to_string(i); }; }, 0);
    pool.run(
        items(100000), [&taken](const auto&) { return ++taken < 10; }, go_on);
    CHECK(taken == 10);
}
