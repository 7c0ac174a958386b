#include <string>
#include <vector>

#include "testbenches/bench/message_ledger.h"
#include "testbenches/bench/protocol.h"
#include "testbenches/bench/task_queue.h"
#include "testbenches/unit/catch.h"

namespace hcasim {
namespace {

using words = std::vector<std::string>;

TEST_CASE("tasks: run in the order of their cycles, those of one cycle in the order given") {
    task_queue q;
    q.reset(2);
    words ran;
    const auto note = [&ran](const char* w) { return [&ran, w] { ran.push_back(w); }; };
    q.after(10, note("b"));
    q.after(5, note("a"));
    q.after(10, note("c"));
    CHECK(q.next() == 5);
    CHECK(!q.run_due(4));
    CHECK(q.run_due(5));
    CHECK(q.next() == 10);
    q.run_due(10);
    CHECK(ran == words{"a", "b", "c"});
    CHECK(q.next() == never);
}

TEST_CASE("tasks: a task that gives another for the same cycle is followed by it") {
    task_queue q;
    q.reset(1);
    words ran;
    q.after(3, [&] {
        ran.push_back("first");
        q.after(0, [&] { ran.push_back("second"); });
    });
    q.run_due(3);
    CHECK(ran == words{"first", "second"});
}

TEST_CASE("tasks: a core is busy for the cost of its task, interrupts do not wait for work") {
    task_queue q;
    q.reset(2);
    std::vector<cycle_t> ends;
    for (int i = 0; i < 5; ++i) {
        q.run(task_context::work, 100, [&] { ends.push_back(q.now()); });
    }
    q.run(task_context::interrupt, 30, [&] { ends.push_back(q.now()); });
    while (q.next() != never) {
        q.run_due(q.next());
    }
    CHECK(ends == std::vector<cycle_t>{30, 100, 100, 200, 200, 300});
}

TEST_CASE("ledger: once, in order, with its bytes") {
    message_ledger l;
    const message_ledger::direction d{3, true};
    using bytes = std::vector<std::uint8_t>;
    const auto first = l.sent(d, bytes{1, 2});
    const auto second = l.sent(d, bytes{3});
    CHECK(first != second);
    CHECK(l.outstanding() == 2);
    CHECK(l.delivered(d, bytes{1, 2}, 10).message_id == first);
    SECTION("right") {
        CHECK(l.delivered(d, bytes{3}, 11).message_id == second);
        CHECK(l.outstanding() == 0);
        CHECK(l.wrong() == 0);
    }
    SECTION("twice") {
        CHECK(!l.delivered(d, bytes{1, 2}, 11).first_time);
        CHECK(l.wrong() == 0);
    }
    SECTION("other bytes") {
        l.delivered(d, bytes{4}, 12);
        CHECK(l.wrong() == 1);
        CHECK(l.violation().find("cycle 12, connection 3") == 0);
        CHECK(l.violation().find("wrong bytes") != std::string::npos);
    }
    SECTION("out of order") {
        l.sent(d, bytes{5});
        l.delivered(d, bytes{5}, 12);
        CHECK(l.violation().find("out of order") != std::string::npos);
    }
    SECTION("from nowhere") {
        l.delivered({3, false}, bytes{1}, 12);
        CHECK(l.violation().find("nobody sent") != std::string::npos);
    }
}

TEST_CASE("protocols: sizes of the messages that the standards give") {
    const auto size = [](const protocol::bytes& b) { return b.size(); };
    {
        const auto srp = make_protocol(workload_kind::srp, 4096);
        const std::vector<std::size_t> commands{48, 64, 64, 64, 64, 64};
        const std::vector<std::size_t> answers{36 + 18, 36 + 36, 36 + 16, 36 + 8, 36 + 32, 36 + 24};
        REQUIRE(srp->opening_commands() == 6);
        for (std::uint32_t i = 0; i < 6; ++i) {
            CHECK(size(srp->command(1, i)) == commands[i]);
            CHECK(size(srp->answer(srp->command(1, i))) == answers[i]);
        }
        CHECK(size(srp->answer(srp->command(1, 6))) == 36 + 4096);
        CHECK(size(srp->request_private_data(1)) == 64);
        CHECK(size(srp->reply_private_data(1)) == 52);
    }
    {
        const auto nvmf = make_protocol(workload_kind::nvmf, 4096);
        CHECK(size(nvmf->command(0, 0)) == 64 + 1024);
        CHECK(size(nvmf->answer(nvmf->command(0, 0))) == 16);
        CHECK(size(nvmf->command(0, 1)) == 64);
        CHECK(size(nvmf->answer(nvmf->command(0, 4))) == 16 + 4096);
    }
    {
        const auto sdp = make_protocol(workload_kind::sdp, 1000);
        CHECK(size(sdp->command(0, 0)) == 1016);
        CHECK(size(sdp->answer(sdp->command(0, 0))) == 1016);
        CHECK(size(sdp->request_private_data(0)) == 76);
    }
    {
        const auto one = make_protocol(workload_kind::one_send, 64);
        CHECK(size(one->command(0, 0)) == 64);
        CHECK(size(one->greeting(0)) == 64);
        CHECK(one->answer(one->command(0, 0)).empty());
        CHECK(one->greeting(0) != one->command(0, 0));
    }
}

TEST_CASE(
    "protocols: no message is longer than its protocol says, and no two commands of a connection are equal") {
    for (const workload_kind w :
         {workload_kind::one_send, workload_kind::srp, workload_kind::sdp, workload_kind::nvmf}) {
        for (const std::uint32_t payload : {16u, 512u, 9000u}) {
            const auto p = make_protocol(w, payload);
            protocol::bytes before;
            for (std::uint32_t i = 0; i < p->opening_commands() + 3; ++i) {
                const auto command = p->command(2, i);
                CHECK(command.size() <= p->largest_message_bytes());
                CHECK(p->answer(command).size() <= p->largest_message_bytes());
                CHECK(command != before);
                before = command;
            }
            CHECK(p->greeting(2).size() <= p->largest_message_bytes());
            CHECK(p->request_private_data(2).size() <= 92);
            CHECK(p->reply_private_data(2).size() <= 196);
        }
    }
}

}  // namespace
}  // namespace hcasim
