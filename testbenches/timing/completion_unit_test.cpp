// Cycle contract of the completion unit: docs/microarchitecture.md, "Completion unit".
#include "model/completion_unit/completion_unit.h"

#include "testbenches/timing/block_bench.h"
#include "testbenches/unit/catch.h"

namespace {

using namespace hcasim;        // NOLINT
using namespace hcasim::test;  // NOLINT

constexpr engine_kind both[] = {engine_kind::wheel, engine_kind::poll};

struct completion_bench : block_bench {
    completion_unit block{"completion_unit", domain};
    stimulus<completion> send{*this, "send", block.completion_i[completion_unit::send_completion]};
    stimulus<completion> receive{*this, "receive", block.completion_i[completion_unit::receive_completion]};
    stimulus<event> send_event{*this, "send_event", block.event_i[completion_unit::send_event]};
    stimulus<event> receive_event{*this, "receive_event", block.event_i[completion_unit::receive_event]};
    stimulus<event> command_event{*this, "command_event", block.event_i[completion_unit::command_event]};
    stimulus<cq_doorbell> arm{*this, "arm", block.doorbell_i};
    stimulus<queue_setup> setup{*this, "setup", block.setup_i};
    capture<dma_write> write{*this, "write", block.write_o};
    completion_unit_config config;

    /// EQ of 4 entries at 0x1000, CQ 2 of 4 entries at 0x2000.
    void set_up() {
        setup.visible_at(2, {true, 0, 0x1000, 4});
        setup.visible_at(3, {false, 2, 0x2000, 4});
    }
    static completion cqe(std::uint64_t wr_id) {
        completion c;
        c.cqn = 2;
        c.entry.wr_id = wr_id;
        return c;
    }
    /// "C wr_id", "E type", "I" of each write.
    std::vector<std::string> kinds() const {
        std::vector<std::string> all;
        for (const auto& e : write.seen) {
            if (e.value.interrupt) {
                all.push_back("I");
            } else if (e.value.bytes == sizeof(ib::eqe)) {
                ib::eqe entry;
                std::memcpy(&entry, e.value.small.data(), sizeof(entry));
                all.push_back("E" + std::to_string(static_cast<int>(entry.type)) + "/" +
                              std::to_string(entry.phase));
            } else {
                ib::cqe entry;
                std::memcpy(&entry, e.value.small.data(), sizeof(entry));
                all.push_back("C" + std::to_string(entry.wr_id) + "/" + std::to_string(entry.phase));
            }
        }
        return all;
    }

protected:
    void reset_block() override { block.reset(config); }
};

using strings = std::vector<std::string>;

}  // namespace

TEST_CASE("completion unit: CQE at u + 1, armed: event at u + 2, interrupt at u + 3") {
    completion_bench b;
    for (const engine_kind kind : both) {
        b.start(kind);
        b.set_up();
        b.arm.visible_at(10, {2, 0});
        const cycle_t u = 20;
        b.send.visible_at(u, b.cqe(1));
        b.send.visible_at(50, b.cqe(2));  // not armed any more
        b.run_to(100);
        CHECK(b.write.cycles() == std::vector<cycle_t>{u + 1, u + 2, u + 3, 51});
        CHECK(b.kinds() == strings{"C1/1", "E0/1", "I", "C2/1"});
        CHECK(b.write.seen[0].value.address == 0x2000);
        CHECK(b.write.seen[1].value.address == 0x1000);
        CHECK(b.write.seen[3].value.address == 0x2040);
    }
}

TEST_CASE("completion unit: arming a CQ with CQEs that the host had not seen raises the event at once") {
    completion_bench b;
    for (cycle_t a = 18; a < 24; ++a) {
        b.start();
        b.set_up();
        b.send.visible_at(20, b.cqe(1));
        b.arm.visible_at(a, {2, 0});  // the host has seen none
        b.run_to(100);
        CAPTURE(a);
        // Armed before or after the CQE: one event in any case.
        CHECK(b.kinds() == strings{"C1/1", "E0/1", "I"});
        CHECK(b.write.seen[1].cycle == std::max<cycle_t>(a, 20) + (a > 20 ? 1 : 2));
    }
}

TEST_CASE("completion unit: events before an interrupt before CQEs, the sources of CQEs take turns") {
    completion_bench b;
    b.start();
    b.set_up();
    for (std::uint64_t i = 0; i < 2; ++i) {
        b.send.visible_at(20 + i, b.cqe(10 + i));
        b.receive.visible_at(20 + i, b.cqe(20 + i));
    }
    b.send_event.visible_at(20, {ib::event_type::sq_drained, 1});
    b.receive_event.visible_at(20, {ib::event_type::comm_est, 1});
    b.command_event.visible_at(20, {ib::event_type::command, 1});
    b.run_to(100);
    // Two are queued at 20 and the first is written in that cycle. SQ_DRAINED waits for the send CQEs before
    // it.
    CHECK(b.kinds() == strings{"E2/1", "E10/1", "I", "C10/1", "C20/1", "C11/1", "E3/1", "I", "C21/1"});
    std::vector<cycle_t> row;
    for (cycle_t i = 0; i < 9; ++i) {
        row.push_back(21 + i);
    }
    CHECK(b.write.cycles() == row);
}

TEST_CASE("completion unit: interrupt moderation by number and by time") {
    completion_bench b;
    b.config.interrupt_events = 3;
    b.config.interrupt_delay_cycles = 100;
    b.start();
    b.set_up();
    b.command_event.visible_at(20, {ib::event_type::command, 1});
    b.run_to(200);
    // The event's write is pushed at 20, the interrupt at 120.
    CHECK(b.write.cycles() == std::vector<cycle_t>{21, 121});
    for (cycle_t i = 0; i < 3; ++i) {
        b.command_event.visible_at(300 + 10 * i, {ib::event_type::command, 2});
    }
    b.run_to(500);
    CHECK(b.write.cycles() == std::vector<cycle_t>{21, 121, 301, 311, 321, 322});
    CHECK(b.kinds().back() == "I");
}

TEST_CASE("completion unit: the phase turns with each lap of CQ and EQ") {
    completion_bench b;
    b.start();
    b.set_up();
    for (std::uint64_t i = 0; i < 9; ++i) {
        b.send.visible_at(20 + 20 * i, b.cqe(i));
        b.arm.visible_at(30 + 20 * i, {2, static_cast<std::uint16_t>(i + 1)});
    }
    b.run_to(400);
    strings cqes, events;
    for (const std::string& k : b.kinds()) {
        (k[0] == 'C' ? cqes : k[0] == 'E' ? events : cqes).push_back(k);
    }
    cqes.erase(std::remove(cqes.begin(), cqes.end(), "I"), cqes.end());
    CHECK(cqes == strings{"C0/1", "C1/1", "C2/1", "C3/1", "C4/0", "C5/0", "C6/0", "C7/0", "C8/1"});
    CHECK(events == strings{"E0/1", "E0/1", "E0/1", "E0/1", "E0/0", "E0/0", "E0/0", "E0/0"});
}

TEST_CASE("completion unit: a CQE for a full CQ is dropped, counted and told once") {
    completion_bench b;
    b.start();
    b.set_up();
    for (std::uint64_t i = 0; i < 7; ++i) {
        b.send.visible_at(20 + i, b.cqe(i));
    }
    b.run_to(100);
    CHECK(b.block.counters().overruns == 3);
    CHECK(b.kinds() == strings{"C0/1", "C1/1", "C2/1", "C3/1", "E4/1", "I"});
    completion unknown = b.cqe(1);
    unknown.cqn = 9;
    b.send.visible_at(110, unknown);
    b.run_to(200);
    CHECK(b.block.counters().unknown_cq == 1);
}

TEST_CASE("completion unit: back-pressure loses nothing and keeps the order of a CQ") {
    completion_bench b;
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        std::vector<cycle_t> cycles[2];
        for (const engine_kind kind : both) {
            b.start(kind, 400, seed);
            b.setup.visible_at(2, {true, 0, 0x1000, 1024});
            b.setup.visible_at(3, {false, 2, 0x2000, 1024});
            for (std::uint64_t i = 0; i < 60; ++i) {
                b.send.visible_at(100 + i, b.cqe(i));
                if (i % 7 == 0) {
                    b.arm.visible_at(100 + i, {2, 0});
                }
            }
            b.run_to(2000);
            std::uint64_t next = 0;
            for (const auto& e : b.write.seen) {
                if (e.value.bytes == sizeof(ib::cqe)) {
                    ib::cqe entry;
                    std::memcpy(&entry, e.value.small.data(), sizeof(entry));
                    CHECK(entry.wr_id == next++);
                }
            }
            CHECK(next == 60);
            const auto is = [](char c) { return [c](const std::string& k) { return k[0] == c; }; };
            const strings all = b.kinds();
            const auto last_event = std::find_if(all.rbegin(), all.rend(), is('E'));
            CHECK(std::find_if(all.rbegin(), last_event, is('I')) != last_event);
            cycles[kind == engine_kind::poll] = b.write.cycles();
        }
        CHECK(cycles[0] == cycles[1]);
    }
}
