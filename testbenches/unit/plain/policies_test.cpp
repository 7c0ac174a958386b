// The policies of the blocks as plain C++: what needs no clock needs no kernel.
#include <algorithm>
#include <deque>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "model/clock/ring_queue.h"
#include "model/doorbell_unit/doorbell_fifo.h"
#include "model/link/credits.h"
#include "model/link/serializer.h"
#include "model/link/vl_arbiter.h"
#include "model/qp_context_cache/context_tags.h"
#include "model/send_engine/outstanding_list.h"
#include "model/send_scheduler/arbiter.h"
#include "model/send_scheduler/ready_bitmap.h"
#include "testbenches/unit/catch.h"

namespace {

using namespace hcasim;  // NOLINT
using outcome = doorbell_fifo::outcome;

}  // namespace

TEST_CASE("doorbell FIFO: coalescing, stale indices, fullness") {
    doorbell_fifo f;
    f.reset(2, 64, true);
    CHECK(f.offer(5, 1, false) == outcome::queued);
    CHECK(f.offer(5, 3, false) == outcome::coalesced);
    CHECK(f.offer(5, 3, false) == outcome::stale);
    CHECK(f.offer(5, 2, false) == outcome::stale);
    CHECK(f.waiting(5, 0) == 3);
    CHECK(f.waiting(69, 8) == 8);
    CHECK(f.offer(69, 1, false) == outcome::queued);  // the same slot, another QP
    CHECK(f.full());
    CHECK(f.offer(7, 1, true) == outcome::full);
    CHECK(f.offer(69, 2, true) == outcome::coalesced);
    f.pop();
    CHECK(f.front_qpn() == 69);
    CHECK(f.front_producer() == 2);
    CHECK(f.offer(7, 1, true) == outcome::full);  // it was full at the edge
    CHECK(f.offer(7, 1, false) == outcome::queued);
    f.pop();
    f.pop();
    CHECK(f.empty());
    CHECK(f.offer(69, 0x8001, false) == outcome::queued);
    CHECK(f.offer(69, 0x0000, false) == outcome::coalesced);  // ahead in the 16-bit window
    CHECK(f.offer(69, 0xffff, false) == outcome::stale);
}

TEST_CASE("doorbell FIFO: without coalescing each doorbell has its place, at random against a deque") {
    for (const bool coalesce : {false, true}) {
        doorbell_fifo f;
        f.reset(7, 16, coalesce);
        std::deque<std::pair<std::uint32_t, std::uint16_t>> model;
        std::mt19937_64 random(3);
        for (int i = 0; i < 20000; ++i) {
            if (random() % 2 == 0 && !f.empty()) {
                CHECK((f.front_qpn() == model.front().first && f.front_producer() == model.front().second));
                f.pop();
                model.pop_front();
                continue;
            }
            const auto qpn = static_cast<std::uint32_t>(random() % 16);
            const auto producer = static_cast<std::uint16_t>(random() % 1000);
            const auto same =
                std::find_if(model.begin(), model.end(), [qpn](const auto& e) { return e.first == qpn; });
            const auto got = f.offer(qpn, producer, f.full());
            if (coalesce && same != model.end()) {
                CHECK(got == (producer > same->second ? outcome::coalesced : outcome::stale));
                same->second = std::max(same->second, producer);
            } else if (model.size() == 7) {
                CHECK(got == outcome::full);
            } else {
                CHECK(got == outcome::queued);
                model.emplace_back(qpn, producer);
            }
            CHECK(f.level() == model.size());
        }
    }
}

TEST_CASE("ready bitmap: at random against a set") {
    for (const std::uint32_t size : {2u, 64u, 65u, 1024u, 5000u, 300000u}) {
        ready_bitmap bits;
        bits.reset(size);
        std::set<std::uint32_t> model;
        std::mt19937_64 random(size);
        CHECK_FALSE(bits.any());
        CHECK(bits.next(0) == ready_bitmap::none);
        for (int i = 0; i < 4000; ++i) {
            const auto index = static_cast<std::uint32_t>(random() % size);
            if (random() % 3 != 0) {
                bits.set(index);
                model.insert(index);
            } else {
                const std::uint32_t gone = model.empty() || random() % 2 == 0 ? index : *model.begin();
                bits.clear(gone);
                model.erase(gone);
            }
            const auto from = static_cast<std::uint32_t>(random() % size);
            const auto found = model.lower_bound(from);
            const std::uint32_t expected = model.empty()          ? ready_bitmap::none
                                           : found == model.end() ? *model.begin()
                                                                  : *found;
            REQUIRE(bits.next(from) == expected);
            REQUIRE(bits.any() == !model.empty());
            REQUIRE(bits.test(index) == (model.count(index) != 0));
        }
    }
}

TEST_CASE("arbiter: round robin, strict and weighted, by hand") {
    send_scheduler_config config;
    arbiter a;
    const auto take = [&a](std::size_t n) {
        std::vector<std::uint32_t> all;
        for (std::size_t i = 0; i < n; ++i) {
            all.push_back(a.take());
        }
        return all;
    };
    using list = std::vector<std::uint32_t>;
    a.reset(config, 64);
    for (const std::uint32_t slot : {9u, 3u, 63u}) {
        a.set(slot, 0);
    }
    CHECK(take(2) == list{3, 9});
    a.set(3, 0);
    a.set(5, 7);  // the level does not matter
    CHECK(take(3) == list{63, 3, 5});
    CHECK_FALSE(a.any());

    config.arbitration = arbitration_policy::strict;
    a.reset(config, 64);
    a.set(1, 0);
    a.set(2, 3);
    a.set(4, 3);
    a.set(3, 15);
    CHECK(take(2) == list{3, 2});
    a.set(3, 15);
    CHECK(take(3) == list{3, 4, 1});
    a.set(8, 2);
    a.clear(8, 2);
    CHECK_FALSE(a.any());

    config.arbitration = arbitration_policy::weighted;
    config.weight.fill(1);
    config.weight[0] = 2;
    config.weight[1] = 3;
    a.reset(config, 64);
    for (std::uint32_t i = 0; i < 8; ++i) {
        a.set(i, 0);
        a.set(16 + i, 1);
    }
    a.set(40, 5);
    // Turns: level 0 twice, level 1 three times, level 5 once.
    CHECK(take(6) == list{0, 1, 16, 17, 18, 40});
    CHECK(take(5) == list{2, 3, 19, 20, 21});
    a.set(40, 5);
    a.set(41, 5);
    CHECK(take(1) == list{41});  // the search begins behind the last one granted
    for (std::uint32_t i = 4; i < 8; ++i) {
        a.clear(i, 0);
    }
    CHECK(take(3) == list{22, 23, 40});  // level 0 has none, level 1 gives the rest of its turn away
}

TEST_CASE("context tags: LRU and tree pseudo-LRU") {
    qp_context_cache_config config;
    config.sets = 2;
    config.ways = 4;
    context_tags tags;
    const auto use = [&tags](std::uint32_t slot) {
        std::uint32_t line = tags.find(slot);
        if (line == context_tags::none) {
            line = tags.victim(slot);
            tags.install(line, slot);
        }
        tags.touch(line);
        return line;
    };
    for (const auto policy : {replacement_policy::lru, replacement_policy::plru}) {
        config.replacement = policy;
        tags.reset(config);
        CHECK(tags.find(0) == context_tags::none);
        // Set 1: slots 1 3 5 7 in lines 4 5 6 7.
        for (const std::uint32_t slot : {1u, 3u, 5u, 7u}) {
            CHECK(use(slot) == 4 + slot / 2);
        }
        CHECK(use(2) == 0);  // the other set is empty
        use(1);
        // LRU: 3 in line 5. Tree: the last touch was left, so right; there 7 was last, so 5 in line 6.
        CHECK(tags.victim(9) == (policy == replacement_policy::lru ? 5 : 6));
        tags.set_dirty(tags.find(3));
        CHECK(tags.is_dirty(5));
        tags.install(5, 9);
        CHECK_FALSE(tags.is_dirty(5));
        CHECK(tags.find(3) == context_tags::none);
        CHECK(tags.slot_of(5) == 9);
    }
}

TEST_CASE("context tags: LRU at random against a list") {
    qp_context_cache_config config;
    config.sets = 4;
    config.ways = 3;
    context_tags tags;
    tags.reset(config);
    std::map<std::uint32_t, std::deque<std::uint32_t>> model;  // per set, least recent first
    std::mt19937_64 random(11);
    for (int i = 0; i < 20000; ++i) {
        const auto slot = static_cast<std::uint32_t>(random() % 40);
        auto& set = model[slot % 4];
        const auto at = std::find(set.begin(), set.end(), slot);
        const std::uint32_t line = tags.find(slot);
        REQUIRE((line != context_tags::none) == (at != set.end()));
        if (at != set.end()) {
            set.erase(at);
            tags.touch(line);
        } else {
            const std::uint32_t victim = tags.victim(slot);
            REQUIRE(victim / 3 == slot % 4);
            if (set.size() == 3) {
                REQUIRE(tags.slot_of(victim) == set.front());
                set.pop_front();
            } else {
                REQUIRE_FALSE(tags.is_valid(victim));
            }
            tags.install(victim, slot);
            tags.touch(victim);
        }
        set.push_back(slot);
    }
}

TEST_CASE("outstanding list: FIFOs in one memory, at random against deques") {
    outstanding_list list;
    list.reset(50);
    std::vector<outstanding_list::fifo> fifos(8);
    std::vector<std::deque<std::uint64_t>> model(8);
    std::size_t used = 0;
    std::mt19937_64 random(5);
    for (std::uint64_t i = 0; i < 30000; ++i) {
        const std::size_t q = random() % 8;
        REQUIRE(list.full() == (used == 50));
        if (random() % 40 == 0) {
            used -= model[q].size();
            model[q].clear();
            list.clear(fifos[q]);
        } else if (random() % 2 == 0 && !list.full()) {
            list.push(fifos[q]).wr_id = i;
            model[q].push_back(i);
            ++used;
        } else if (!model[q].empty()) {
            REQUIRE(list.front(fifos[q]).wr_id == model[q].front());
            list.pop(fifos[q]);
            model[q].pop_front();
            --used;
        }
        REQUIRE(fifos[q].count() == model[q].size());
        REQUIRE(fifos[q].empty() == model[q].empty());
    }
}

TEST_CASE("ring queue: at random against a deque, growing while it is wrapped") {
    ring_queue<int> queue;
    std::deque<int> model;
    std::mt19937_64 random(2);
    for (int i = 0; i < 30000; ++i) {
        // The share of pushes swings, so that it grows large and drains again.
        if (random() % 100 < (i / 3000 % 2 == 0 ? 60u : 40u)) {
            queue.push_back(i);
            model.push_back(i);
        } else if (!model.empty()) {
            REQUIRE(queue.front() == model.front());
            queue.pop_front();
            model.pop_front();
        }
        REQUIRE(queue.size() == model.size());
        if (!model.empty()) {
            const std::size_t at = random() % model.size();
            REQUIRE(queue[at] == model[at]);
            REQUIRE(queue.back() == model.back());
        }
    }
    queue.clear();
    CHECK(queue.empty());
}

TEST_CASE("serializer: exact at every rate, without drift") {
    // Data rates of 4X in Gb/s as fractions; a cycle of 4 ns carries rate / 2 bytes.
    const struct {
        link_speed speed;
        std::uint64_t num, den;
    } rates[] = {{link_speed::sdr, 4, 1},    {link_speed::ddr, 8, 1},    {link_speed::qdr, 16, 1},
                 {link_speed::fdr10, 20, 1}, {link_speed::fdr, 300, 11}, {link_speed::edr, 50, 1},
                 {link_speed::hdr, 100, 1},  {link_speed::ndr, 200, 1}};
    for (const auto& r : rates) {
        serializer s;
        s.reset(r.speed, link_width::x4, 250);
        std::uint64_t bytes = 0;
        for (std::uint64_t i = 0; i < 100000; ++i) {
            const std::uint64_t size = 26 + i % 700;
            const auto span = s.send(1, size);
            REQUIRE(span.first_cycle == 1 + bytes * r.den / r.num);
            bytes += size;
            REQUIRE(span.last_cycle == 1 + (bytes * r.den + r.num - 1) / r.num);
            REQUIRE(s.free_cycle() == span.last_cycle);
        }
        CHECK(s.cycles_of(65536) == (65536 * r.den + r.num - 1) / r.num);
        // An idle wire starts on the edge.
        const std::uint64_t later = s.free_cycle() + 10;
        CHECK(s.send(later, 1).first_cycle == later);
    }
    // A quarter of the lanes takes four times as long.
    serializer narrow;
    narrow.reset(link_speed::edr, link_width::x1, 250);
    CHECK(narrow.cycles_of(50) == 4);
}

TEST_CASE("credits: sender and receiver, 12-bit arithmetic") {
    CHECK(credit_blocks(1) == 1);
    CHECK(credit_blocks(64) == 1);
    CHECK(credit_blocks(65) == 2);
    transmit_credits t;
    CHECK_FALSE(t.may_send(1));  // nothing announced yet
    t.set_limit(3);
    CHECK(t.may_send(3));
    CHECK_FALSE(t.may_send(4));
    t.sent(3);
    CHECK(t.fctbs() == 3);
    CHECK_FALSE(t.may_send(1));
    // Around the end of the counters.
    t.sent(4092);
    CHECK(t.fctbs() == 4095);
    t.set_limit(1);
    CHECK(t.may_send(2));
    CHECK_FALSE(t.may_send(3));
    t.sent(2);
    CHECK(t.fctbs() == 1);

    receive_credits r;
    r.reset(130048 + 64);  // 2033 blocks
    CHECK(r.fccl() == 2033);
    r.reset(64 * 3000);
    CHECK(r.fccl() == 2047);  // never more than 2047 ahead
    r.reset(64 * 10);
    r.received(4);
    r.take(4);
    CHECK(r.fccl() == 10);
    r.give(4);
    CHECK(r.fccl() == 14);
    CHECK_FALSE(r.synchronize(4));
    CHECK(r.synchronize(9));  // five blocks were lost on the wire
    CHECK(r.fccl() == 19);
    r.synchronize(4090);
    CHECK(r.fccl() == 4);  // 4100 modulo 4096
}

TEST_CASE("VL arbiter: weights, the limit of high priority, VLs in no table") {
    link_config config;
    config.data_vls = 4;
    config.low_weight = {};
    config.low_weight[0] = 2;
    config.low_weight[2] = 1;
    vl_arbiter a;
    a.reset(config);
    std::string order;
    const auto run = [&](std::uint32_t candidates, std::uint32_t bytes, int n) {
        order.clear();
        for (int i = 0; i < n; ++i) {
            const std::uint32_t vl = a.choose(candidates);
            order += vl == vl_arbiter::none ? "-" : std::to_string(vl);
            if (vl != vl_arbiter::none) {
                a.charge(bytes);
            }
        }
        return order;
    };
    CHECK(run(0b0101, 64, 6) == "002002");
    CHECK(run(0b1111, 64, 3) == "002");
    CHECK(run(0b0100, 64, 2) == "22");  // alone it has every turn
    CHECK(run(0b1010, 64, 1) == "-");
    // A packet may take more than what is left of a turn.
    a.reset(config);
    CHECK(run(0b0101, 4096, 4) == "0202");

    config.high_weight[3] = 1;
    config.high_limit = 2;  // 8192 bytes
    a.reset(config);
    CHECK(run(0b1001, 4096, 6) == "330330");
    config.high_limit = 0;
    a.reset(config);
    CHECK(run(0b1001, 64, 6) == "303030");
    config.high_limit = 255;
    a.reset(config);
    CHECK(run(0b1001, 4096, 6) == "333333");
    CHECK(run(0b0001, 4096, 2) == "00");
}
