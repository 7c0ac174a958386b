#include <cstdint>
#include <initializer_list>
#include <random>

#include "testbenches/bench/send_stamps.h"
#include "testbenches/unit/catch.h"

using hcasim::send_stamps;
using hcasim::stage;
using hcasim::stage_count;

namespace {

void posted(send_stamps& w) {
    w.stamp(stage::submitted, 1);
    w.stamp(stage::posted, 2);
    w.stamp(stage::doorbell, 3);
    w.stamp(stage::pending, 4);
    w.stamp(stage::gate, 4);
}

// Grant .. sent, 10 cycles apart.
void pass(send_stamps& w, std::uint64_t start) {
    for (auto s = static_cast<unsigned>(stage::grant); s <= static_cast<unsigned>(stage::sent); ++s) {
        w.stamp(static_cast<stage>(s), start);
        start += 10;
    }
}

void ends(send_stamps& w, std::uint64_t acked) {
    w.stamp(stage::acked, acked);
    w.stamp(stage::completed, acked + 5);
}

}  // namespace

TEST_CASE("send stamps: without a repeat") {
    send_stamps w;
    posted(w);
    CHECK(w.first_wrong() == stage::grant);
    pass(w, 100);
    CHECK(w.on_wire());
    CHECK(w.first_wrong() == stage::acked);
    ends(w, 200);
    CHECK(w.first_wrong() == stage::submitted);
    CHECK(w[stage::grant] == 100);
    CHECK(w[stage::sent] == 150);
}

TEST_CASE("send stamps: the repeat counts when it has left before the acknowledge") {
    send_stamps w;
    posted(w);
    pass(w, 100);
    pass(w, 300);
    SECTION("acknowledged after the second pass") {
        ends(w, 400);
        CHECK(w[stage::grant] == 300);
        CHECK(w[stage::wire] == 340);
        CHECK(w[stage::sent] == 350);
    }
    SECTION("its last byte is on the wire in the acknowledge's cycle") {
        ends(w, 350);
        CHECK(w[stage::sent] == 350);
    }
    SECTION("the acknowledge of the first pass comes before") {
        ends(w, 349);
        CHECK(w[stage::grant] == 100);
        CHECK(w[stage::sent] == 150);
    }
    SECTION("three passes, the second counts") {
        pass(w, 500);
        ends(w, 520);
        CHECK(w[stage::grant] == 300);
        CHECK(w[stage::sent] == 350);
    }
    CHECK(w.first_wrong() == stage::submitted);
}

TEST_CASE("send stamps: a repeat that did not get to the wire is forgotten") {
    send_stamps w;
    posted(w);
    pass(w, 100);
    w.stamp(stage::grant, 300);
    w.stamp(stage::context, 310);
    ends(w, 315);
    CHECK(w[stage::grant] == 100);
    CHECK(w[stage::context] == 110);
    CHECK(w.first_wrong() == stage::submitted);
}

TEST_CASE("send stamps: granted again before anything was sent") {
    send_stamps w;
    posted(w);
    w.stamp(stage::grant, 50);
    w.stamp(stage::context, 60);
    pass(w, 100);
    ends(w, 200);
    CHECK(w[stage::grant] == 100);
    CHECK(w[stage::context] == 110);
    CHECK(w.first_wrong() == stage::submitted);
}

TEST_CASE("send stamps: a grant again does not keep stamps of the one before it") {
    send_stamps w;
    posted(w);
    w.stamp(stage::grant, 50);
    w.stamp(stage::context, 60);
    w.stamp(stage::grant, 100);
    CHECK(w[stage::context] == 0);
    CHECK(w.first_wrong() == stage::context);
}

TEST_CASE("send stamps: the gate of a send that was on the wire stays") {
    send_stamps w;
    posted(w);
    w.stamp(stage::gate, 90);  // closed and opened again before the grant
    CHECK(w[stage::gate] == 90);
    pass(w, 100);
    w.stamp(stage::gate, 400);
    CHECK(w[stage::gate] == 90);
}

TEST_CASE("send stamps: acknowledged by packets of two passes") {
    send_stamps w;
    posted(w);
    // First pass breaks off after its first packet; in the second the last one goes out.
    for (const stage s : {stage::grant, stage::context, stage::wqe, stage::payload, stage::wire}) {
        w.stamp(s, 100 + 10 * static_cast<std::uint64_t>(s));
    }
    w.stamp(stage::grant, 300);
    w.stamp(stage::context, 310);
    w.stamp(stage::sent, 320);  // still of the first: its first byte was the latest
    w.stamp(stage::wqe, 325);
    ends(w, 330);
    CHECK(w.first_wrong() == stage::submitted);
    CHECK(w[stage::sent] == 320);
    CHECK(w[stage::grant] == 100 + 10 * static_cast<std::uint64_t>(stage::grant));
}

TEST_CASE("send stamps: acknowledge and last byte in one cycle, told in either order") {
    send_stamps w;
    posted(w);
    w.stamp(stage::acked, 150);
    pass(w, 100);
    w.stamp(stage::completed, 160);
    CHECK(w.first_wrong() == stage::submitted);
}

TEST_CASE("send stamps: gate bits in the context") {
    send_stamps w;
    w.stamp(stage::pending, 10);
    w.stamp(stage::grant, 30);
    SECTION("opened between") {
        w.gate_in_context(20);
        CHECK(w[stage::gate] == 20);
    }
    SECTION("opened before it was pending") {
        w.gate_in_context(5);
        CHECK(w[stage::gate] == 10);
    }
    SECTION("the scheduler heard of it after the grant") {
        w.gate_in_context(32);
        CHECK(w[stage::gate] == 30);
    }
    SECTION("a stamp that is there stays") {
        w.stamp(stage::gate, 25);
        w.gate_in_context(5);
        CHECK(w[stage::gate] == 25);
    }
}

// A send engine that is interrupted at random, a wire with a queue: whatever happened, the stamps are whole
// and in order.
TEST_CASE("send stamps: always whole after an acknowledge") {
    std::mt19937_64 random(5);
    std::uint64_t wrong = 0;
    std::uint64_t repeated = 0;
    for (int round = 0; round < 20'000; ++round) {
        send_stamps w;
        posted(w);
        std::uint64_t engine = 10;  // time of the engine
        std::uint64_t wire = 10;    // time of the wire, not earlier than the engine's hand-over
        bool has_left = false;
        const auto step = [&] { return engine += random() % 8; };
        while (true) {
            w.stamp(stage::grant, step());
            w.stamp(stage::context, step());
            if (random() % 4 == 0) {
                continue;
            }
            w.stamp(stage::wqe, step());
            w.stamp(stage::payload, step());
            wire = std::max(wire, engine) + random() % 8;
            w.stamp(stage::wire, wire);
            if (random() % 3 != 0) {
                wire += random() % 8;
                w.stamp(stage::sent, wire);
                has_left = true;
            }
            engine = std::max(engine, wire);
            if (has_left && random() % 2 == 0) {
                break;
            }
            ++repeated;
        }
        if (random() % 2 == 0) {
            w.stamp(stage::grant, step());  // a further repeat is under way
        }
        ends(w, std::max(engine, wire) + random() % 8);
        wrong += w.first_wrong() != stage::submitted ? 1 : 0;
        std::uint64_t sum = 0;
        for (unsigned s = 1; s < stage_count; ++s) {
            sum += w.all()[s] - w.all()[s - 1];
        }
        wrong += sum != w[stage::completed] - w[stage::submitted] ? 1 : 0;
    }
    CHECK(wrong == 0);
    CHECK(repeated > 10'000);
}
