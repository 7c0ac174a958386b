#include <cstdint>
#include <deque>
#include <random>

#include "testbenches/bench/psn_watch.h"
#include "testbenches/unit/catch.h"

using hcasim::psn_watch;
using verdict = psn_watch::verdict;

TEST_CASE("psn watch: go-back-N in all its legal forms") {
    psn_watch w;
    w.start(0xfffffd);
    for (const std::uint32_t psn : {0xfffffdu, 0xfffffeu, 0xffffffu, 0u, 1u}) {
        CHECK(w.on_request(psn, true) == verdict::fresh);
    }
    CHECK(w.next() == 2);
    CHECK(w.on_request(0xffffff, true) == verdict::repeat_unasked);
    CHECK(w.on_request(0xffffff, false) == verdict::repeated);
    w.acknowledged_in_hca(0xfffffe);  // the first is acknowledged
    w.go_back();
    CHECK(w.on_request(0xfffffd, true) == verdict::repeat_too_old);
    CHECK(w.on_request(0xfffffe, true) == verdict::repeated);
    CHECK(w.on_request(0xffffff, true) == verdict::repeated);
    CHECK(w.on_request(1, true) == verdict::gap);
    w.acknowledged_on_wire(1);  // 0 is acknowledged
    CHECK(w.on_request(1, true) == verdict::repeated);
    CHECK(w.on_request(3, true) == verdict::gap);
    CHECK(w.on_request(2, true) == verdict::fresh);
}

TEST_CASE("psn watch: a start forgets what was") {
    psn_watch w;
    w.start(10);
    CHECK(w.on_request(10, true) == verdict::fresh);
    w.go_back();
    w.start(10);
    CHECK(w.on_request(11, true) == verdict::gap);
    CHECK(w.on_request(10, true) == verdict::fresh);
    CHECK(w.on_request(10, true) == verdict::repeat_unasked);
    w.start(0x1000005);  // 24 bits count
    CHECK(w.on_request(5, true) == verdict::fresh);
}

TEST_CASE("psn watch: an acknowledge that is older than a known one changes nothing") {
    psn_watch w;
    w.start(0);
    for (std::uint32_t psn = 0; psn < 6; ++psn) {
        CHECK(w.on_request(psn, true) == verdict::fresh);
    }
    w.acknowledged_in_hca(4);
    w.acknowledged_in_hca(2);
    w.go_back();
    CHECK(w.on_request(3, true) == verdict::repeat_too_old);
    CHECK(w.on_request(4, true) == verdict::repeated);
}

// A sender with a queue before the wire, acknowledges at any time, go-backs at any time: never a false alarm.
// The same sender with one fault: always an alarm.
TEST_CASE("psn watch: random senders") {
    std::mt19937_64 random(3);
    std::uint64_t false_alarms = 0;
    std::uint64_t missed = 0;
    std::uint64_t repeats = 0;
    for (int round = 0; round < 2000; ++round) {
        psn_watch w;
        const auto start = static_cast<std::uint32_t>(random() & 0xffffff);
        const auto fault_at = random() % 400;  // of 300 packets, so not in every round
        const auto fault = random() % 2;
        w.start(start);
        std::deque<std::uint32_t> queue;  // made, not yet on the wire
        std::uint32_t next = 0;           // sender's, relative to start
        std::uint32_t highest = 0;        // beyond the newest made
        std::uint32_t on_wire = 0;        // beyond the newest on the wire
        std::uint32_t acknowledged = 0;   // by the peer
        std::uint32_t known = 0;          // to the sender
        std::uint64_t packets = 0;
        bool alarm = false;
        bool faulty = false;
        while (packets < 300) {
            const auto dice = random() % 16;
            if (dice < 7 && next < known + 16) {
                queue.push_back(next++);
                highest = std::max(highest, next);
            } else if (dice < 13 && !queue.empty()) {
                std::uint32_t psn = queue.front();
                queue.pop_front();
                if (packets == fault_at && psn + 1 == highest && psn == on_wire && psn > known + 1) {
                    // New packet, and either one is left out or the one of before comes again although nobody
                    // went back.
                    faulty = true;
                    psn = fault == 0 ? psn + 1 : known == 0 ? psn + 2 : known - 1;
                }
                on_wire = std::max(on_wire, psn + 1);
                const verdict v = w.on_request((start + psn) & 0xffffff, true);
                repeats += v == verdict::repeated ? 1 : 0;
                if (v != verdict::fresh && v != verdict::repeated) {
                    alarm = true;
                    break;
                }
                ++packets;
                if (faulty) {
                    break;
                }
            } else if (dice == 13 && on_wire > acknowledged) {
                acknowledged += 1 + static_cast<std::uint32_t>(random() % (on_wire - acknowledged));
                w.acknowledged_on_wire((start + acknowledged) & 0xffffff);
            } else if (dice == 14) {
                known = acknowledged;
                w.acknowledged_in_hca((start + known) & 0xffffff);
            } else if (dice == 15 && queue.size() < 4 && random() % 4 == 0) {
                w.go_back();
                next = known;
            }
        }
        false_alarms += alarm && !faulty ? 1 : 0;
        // Sent again without need, but within what a go-back of before allows, is not told apart.
        missed += faulty && !alarm && fault == 0 ? 1 : 0;
    }
    CHECK(false_alarms == 0);
    CHECK(missed == 0);
    CHECK(repeats > 10000);
}
