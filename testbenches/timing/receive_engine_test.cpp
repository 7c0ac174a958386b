// Cycle contract of the receive engine: docs/microarchitecture.md, "Receive engine".
#include "model/receive_engine/receive_engine.h"

#include <numeric>

#include "model/ib/crc.h"
#include "testbenches/timing/send_engine_bench.h"
#include "testbenches/unit/catch.h"

namespace {

using namespace hcasim;        // NOLINT
using namespace hcasim::test;  // NOLINT
using ib::qp_state;
using ib::wc_status;

constexpr std::uint64_t receive_ring = 0x10000;
constexpr engine_kind both[] = {engine_kind::wheel, engine_kind::poll};

struct receive_bench : block_bench {
    ib::packet_pool pool;
    receive_engine block{"receive_engine", domain, pool};
    stimulus<ib::packet*> packet{*this, "packet", block.packet_i};
    stimulus<receive_doorbell> doorbell{*this, "doorbell", block.doorbell_i};
    fake_contexts contexts{*this, block.context_o, block.context_i, block.state_i};
    fixed_latency_memory memory{*this, block.read_o, block.read_i, 50};
    capture<dma_write> write{*this, "write", block.write_o};
    capture<acknowledge> ack{*this, "acknowledge", block.acknowledge_o};
    capture<completion> cqe{*this, "completion", block.completion_o};
    capture<event> events{*this, "event", block.event_o};
    packet_captures replies{*this, block, pool};
    receive_engine_config config;
    cycle_t next_event = 2;

    receive_bench() {
        write.then = [this](const dma_write& w, cycle_t) {
            written.emplace_back(w.data, w.data + w.bytes);
            pool.put(w.packet);
        };
    }
    std::vector<std::vector<std::uint8_t>> written;

    static ib::qp_context context(std::uint32_t qpn) {
        ib::qp_context c;
        c.qpn = qpn;
        c.valid = 1;
        c.resources.rq_address = receive_ring + std::uint64_t{qpn} * 0x1000;
        c.resources.rq_log_entries = 4;
        c.resources.receive_cqn = 5;
        c.attributes.dest_qpn = 0x77;
        c.attributes.dlid = 9;
        c.attributes.path_mtu = 1;
        c.attributes.min_rnr_timer = 12;
        c.responder.expected_psn = 500;
        return c;
    }
    /// A QP in `state` with `wqes` receive WQEs of `room` bytes.
    void open(const ib::qp_context& c, qp_state state, std::uint16_t wqes, std::uint32_t room = 1024) {
        contexts.table[c.qpn] = c;
        contexts.change(c.qpn, qp_state::init, next_event++, true);
        contexts.change(c.qpn, state, next_event++);
        for (std::uint16_t i = 0; i < 16; ++i) {
            ib::receive_wqe w;
            w.address = 0x80000 + i * 0x1000u;
            w.length_bytes = room;
            w.wr_id = 1000u * c.qpn + i;
            memory.put(c.resources.rq_address + i * sizeof(w), w);
        }
        doorbell.visible_at(16, {c.qpn, wqes});
    }
    static ib::headers request(std::uint32_t qpn, std::uint32_t psn, std::uint8_t op = ib::rc_send_only) {
        ib::headers h;
        h.op = op;
        h.dlid = 7;
        h.slid = 9;
        h.pkey = 0xffff;
        h.dest_qpn = qpn;
        h.psn = psn;
        h.ack_request = ib::is_last(op) || ib::is_only(op);
        return h;
    }
    void arrive(cycle_t at, const ib::headers& h, std::uint32_t bytes, bool good_icrc = true) {
        ib::packet* p = pool.get();
        p->size_bytes = static_cast<std::uint32_t>(ib::packet_bytes(h, bytes));
        const std::size_t offset = ib::encode(h, bytes, p->bytes);
        std::iota(p->bytes + offset, p->bytes + offset + bytes, std::uint8_t{1});
        ib::seal(p->bytes, p->size_bytes);
        if (!good_icrc) {
            p->bytes[offset] = static_cast<std::uint8_t>(p->bytes[offset] ^ 1u);
        }
        packet.visible_at(at, p);
    }
    std::vector<std::pair<std::uint64_t, wc_status>> completions() const {
        std::vector<std::pair<std::uint64_t, wc_status>> all;
        for (const auto& e : cqe.seen) {
            all.emplace_back(e.value.entry.wr_id, e.value.entry.status);
        }
        return all;
    }
    std::size_t count(ib::event_type type) const {
        return static_cast<std::size_t>(std::count_if(
            events.seen.begin(), events.seen.end(), [type](const auto& e) { return e.value.type == type; }));
    }

protected:
    void reset_block() override {
        pool.reclaim();
        contexts.clear();
        replies.seen.clear();
        written.clear();
        next_event = 2;
        block.reset(config, 64, 7, 2);
    }
};

using list = std::vector<std::pair<std::uint64_t, wc_status>>;

// The table of the document for a packet visible at r.
struct walk {
    cycle_t r, memory;
    cycle_t decision() const { return r + 1 + 2 + 1; }
    cycle_t wqe() const { return decision() + 1 + memory + 1; }
};

}  // namespace

TEST_CASE("receive engine: packet to payload, ACK and CQE, cycle by cycle") {
    receive_bench b;
    for (const engine_kind kind : both) {
        b.start(kind);
        b.open(b.context(1), qp_state::rts, 2);
        const walk t{20, b.memory.cycles()};
        b.arrive(t.r, b.request(1, 500), 64);
        b.run_to(200);
        REQUIRE(b.contexts.requests.seen.size() == 2);
        CHECK(b.contexts.requests.seen[0].cycle == t.r + 1);
        CHECK(b.memory.requests.cycles() == std::vector<cycle_t>{t.decision() + 1});
        CHECK(b.write.cycles() == std::vector<cycle_t>{t.wqe() + 1});
        REQUIRE(b.replies.seen.size() == 1);
        CHECK(b.replies.seen[0].cycle == t.wqe() + 1);
        CHECK(b.replies.seen[0].h.syndrome == (ib::syndrome_ack | ib::credit_code_none));
        CHECK(b.replies.seen[0].h.psn == 500);
        CHECK(b.replies.seen[0].h.msn == 1);
        CHECK(b.cqe.cycles() == std::vector<cycle_t>{t.wqe() + 1});
        CHECK(b.completions() == list{{1000, wc_status::success}});
        CHECK(b.contexts.table[1].responder.expected_psn == 501);
        CHECK(b.contexts.table[1].responder.rq_consumer == 1);
        CHECK(b.count(ib::event_type::comm_est) == 0);
        REQUIRE(b.written.size() == 1);
        CHECK(b.written[0][63] == 64);
        CHECK(b.pool.in_use() == 0);
    }
}

TEST_CASE("receive engine: packets that follow each other are decided one per cycle and complete in order") {
    receive_bench b;
    b.start();
    b.open(b.context(1), qp_state::rts, 8);
    const walk t{20, b.memory.cycles()};
    for (std::uint32_t i = 0; i < 4; ++i) {
        b.arrive(t.r + i, b.request(1, 500 + i), 64);
    }
    // The responder half is here: decided in the cycle after the packet.
    b.arrive(t.decision() + 10, b.request(1, 504), 64);
    b.run_to(300);
    CHECK(b.memory.requests.cycles() == std::vector<cycle_t>{t.decision() + 1, t.decision() + 2,
                                                             t.decision() + 3, t.decision() + 4,
                                                             t.decision() + 10 + 1 + 1});
    REQUIRE(b.replies.seen.size() == 5);
    for (std::uint32_t i = 0; i < 4; ++i) {
        CHECK(b.replies.seen[i].cycle == t.wqe() + 1 + i);
        CHECK(b.replies.seen[i].h.psn == 500 + i);
    }
}

TEST_CASE("receive engine: a message of three packets takes one WQE and makes one CQE") {
    receive_bench b;
    b.start();
    b.open(b.context(1), qp_state::rts, 2);
    b.arrive(20, b.request(1, 500, ib::rc_send_first), 256);
    b.arrive(120, b.request(1, 501, ib::rc_send_middle), 256);
    b.arrive(220, b.request(1, 502, ib::rc_send_last), 100);
    b.run_to(400);
    CHECK(b.memory.requests.seen.size() == 1);
    // Nothing to fetch: completion at c + 1.
    CHECK(b.write.cycles()[1] == 120 + 4 + 1 + 1);
    CHECK(b.write.seen[1].value.address == b.write.seen[0].value.address + 256);
    REQUIRE(b.completions() == list{{1000, wc_status::success}});
    CHECK(b.cqe.seen[0].value.entry.length_bytes == 612);
    REQUIRE(b.replies.seen.size() == 1);
    CHECK(b.replies.seen[0].h.psn == 502);
}

TEST_CASE("receive engine: what fails a check is dropped without a trace") {
    receive_bench b;
    const auto dropped = [&b](const std::function<void(ib::headers&)>& spoil, qp_state state,
                              bool good_icrc = true) {
        b.start();
        b.open(b.context(1), state, 2);
        ib::headers h = b.request(1, 500);
        spoil(h);
        b.arrive(20, h, 64, good_icrc);
        b.run_to(200);
        const bool nothing =
            b.replies.seen.empty() && b.write.seen.empty() && b.cqe.seen.empty() && b.events.seen.empty();
        CHECK(b.contexts.table[1].responder.rq_consumer == 0);
        CHECK(b.pool.in_use() == 0);
        return nothing && b.contexts.table[1].state == state;
    };
    const auto as_is = [](ib::headers&) {};
    CHECK(dropped(as_is, qp_state::rtr, false));
    CHECK(b.block.counters().icrc_errors == 1);
    CHECK(dropped([](ib::headers& h) { h.dest_qpn = 1 + 64; }, qp_state::rtr));  // same slot, another QP
    CHECK(b.block.counters().unknown_qp == 1);
    CHECK(dropped([](ib::headers& h) { h.pkey = 0x8001; }, qp_state::rtr));
    CHECK(dropped([](ib::headers& h) { h.slid = 10; }, qp_state::rtr));
    CHECK(dropped([](ib::headers& h) { h.op = ib::ud_send_only; }, qp_state::rtr));
    CHECK(b.block.counters().failed_checks == 1);
    CHECK(dropped(as_is, qp_state::init));
    CHECK(b.block.counters().wrong_state == 1);
    CHECK(dropped(as_is, qp_state::reset));
}

TEST_CASE("receive engine: states that take requests") {
    receive_bench b;
    for (const qp_state s : {qp_state::rtr, qp_state::rts, qp_state::sqd, qp_state::sqe}) {
        b.start();
        b.config.infer_rts = false;
        b.open(b.context(1), s, 2);
        b.arrive(20, b.request(1, 500), 64);
        b.run_to(200);
        CHECK(b.replies.seen.size() == 1);
        CHECK(b.count(ib::event_type::comm_est) == (s == qp_state::rtr ? 1 : 0));
    }
}

TEST_CASE(
    "receive engine: Communication Established and the inference at the decision of the first good request") {
    receive_bench b;
    for (const bool has_attributes : {true, false}) {
        b.start();
        ib::qp_context c = b.context(1);
        c.has_rts_attributes = has_attributes ? 1 : 0;
        b.open(c, qp_state::rtr, 4);
        const walk t{20, b.memory.cycles()};
        b.arrive(t.r, b.request(1, 500), 64);
        b.arrive(t.r + 1, b.request(1, 501), 64);
        b.run_to(200);
        REQUIRE(b.count(ib::event_type::comm_est) == 1);
        CHECK(b.events.seen[0].cycle == t.decision() + 1);
        // The modify is visible to the cache at c + 1.
        const auto is_modify = [](const auto& e) { return e.value.operation == qpc_operation::modify; };
        const auto found =
            std::find_if(b.contexts.requests.seen.begin(), b.contexts.requests.seen.end(), is_modify);
        REQUIRE(found != b.contexts.requests.seen.end());
        CHECK(found->cycle == t.decision() + 1);
        CHECK(b.contexts.table[1].state == (has_attributes ? qp_state::rts : qp_state::rtr));
        CHECK(b.count(ib::event_type::qp_inferred_rts) == (has_attributes ? 1 : 0));
        CHECK(b.block.counters().inferences_asked == 1);
    }
}

TEST_CASE("receive engine: an empty receive queue gives an RNR NAK, and Communication Established once") {
    receive_bench b;
    b.start();
    b.open(b.context(1), qp_state::rtr, 0);
    b.config.infer_rts = false;
    const walk t{20, b.memory.cycles()};
    b.arrive(t.r, b.request(1, 500), 64);
    b.arrive(60, b.request(1, 500), 64);
    b.run_to(100);
    REQUIRE(b.replies.seen.size() == 2);
    CHECK(b.replies.seen[0].cycle == t.decision() + 1 + 1);  // completed at c + 1
    CHECK(b.replies.seen[0].h.syndrome == (ib::syndrome_rnr_nak | 12));
    CHECK(b.count(ib::event_type::comm_est) == 1);
    CHECK(b.contexts.table[1].responder.expected_psn == 500);
    b.doorbell.visible_at(120, {1, 1});
    b.arrive(130, b.request(1, 500), 64);
    b.run_to(300);
    CHECK(b.completions() == list{{1000, wc_status::success}});
    CHECK(b.count(ib::event_type::comm_est) == 1);
}

TEST_CASE("receive engine: one NAK for packets ahead, duplicates are acknowledged again") {
    receive_bench b;
    b.start();
    b.open(b.context(1), qp_state::rts, 8);
    b.arrive(20, b.request(1, 502), 64);
    b.arrive(30, b.request(1, 503), 64);
    b.run_to(100);
    REQUIRE(b.replies.seen.size() == 1);
    CHECK(b.replies.seen[0].cycle == 20 + 4 + 1 + 1);
    CHECK(b.replies.seen[0].h.syndrome == ib::syndrome_nak_sequence);
    CHECK(b.replies.seen[0].h.psn == 500);
    b.arrive(110, b.request(1, 500), 64);
    b.arrive(200, b.request(1, 500), 64);
    b.arrive(300, b.request(1, 502), 64);
    b.run_to(400);
    REQUIRE(b.replies.seen.size() == 4);
    CHECK(b.replies.seen[1].h.psn == 500);
    CHECK(b.replies.seen[2].h.syndrome == (ib::syndrome_ack | ib::credit_code_none));
    CHECK(b.replies.seen[2].h.psn == 500);
    CHECK(b.replies.seen[3].h.syndrome == ib::syndrome_nak_sequence);
    CHECK(b.replies.seen[3].h.psn == 501);
    CHECK(b.completions().size() == 1);
}

TEST_CASE("receive engine: another request than SEND, a wrong sequence, a wrong length: NAK and ERR") {
    receive_bench b;
    const auto refused = [&b](std::uint8_t op, std::uint32_t bytes) {
        b.start();
        b.open(b.context(1), qp_state::rts, 0);
        b.doorbell.visible_at(17, {1, 2});
        b.arrive(20, b.request(1, 500, op), bytes);
        b.run_to(400);
        CHECK(b.contexts.table[1].state == qp_state::err);
        CHECK(b.count(ib::event_type::qp_fatal) == 1);
        // The receive queue is flushed in order.
        CHECK(b.completions() == list{{1000, wc_status::wr_flush_err}, {1001, wc_status::wr_flush_err}});
        return b.replies.seen.size() == 1 && b.replies.seen[0].h.syndrome == ib::syndrome_nak_invalid_request;
    };
    CHECK(refused(ib::rc_write_only, 64));
    CHECK(refused(ib::rc_send_middle, 256));
    CHECK(refused(ib::rc_send_first, 100));
    CHECK(refused(ib::rc_send_only, 300));
}

TEST_CASE(
    "receive engine: a message longer than its WQE makes one CQE, however many packets of it are in the "
    "engine") {
    receive_bench b;
    for (const engine_kind kind : both) {
        for (cycle_t gap = 1; gap < 80; gap += 3) {
            b.start(kind);
            b.open(b.context(1), qp_state::rts, 6, 256);
            b.arrive(20, b.request(1, 500, ib::rc_send_first), 256);
            b.arrive(20 + gap, b.request(1, 501, ib::rc_send_middle), 256);
            b.arrive(20 + 2 * gap, b.request(1, 502, ib::rc_send_last), 256);
            b.arrive(20 + 3 * gap, b.request(1, 503), 64);  // the next message: flushed or never begun
            b.run_to(900);
            CAPTURE(gap);
            CHECK(b.contexts.table[1].state == qp_state::err);
            CHECK(b.completions() == list{{1000, wc_status::loc_len_err},
                                          {1001, wc_status::wr_flush_err},
                                          {1002, wc_status::wr_flush_err},
                                          {1003, wc_status::wr_flush_err},
                                          {1004, wc_status::wr_flush_err},
                                          {1005, wc_status::wr_flush_err}});
            CHECK(b.count(ib::event_type::qp_fatal) == 1);
            CHECK(b.replies.seen.size() == 1);
            CHECK(b.pool.in_use() == 0);
        }
    }
}

TEST_CASE(
    "receive engine: ERR in any cycle completes every receive WQE once, in order, a half-received one too") {
    receive_bench b;
    for (const engine_kind kind : both) {
        for (cycle_t s = 15; s < 260; ++s) {
            b.start(kind);
            b.open(b.context(1), qp_state::rts, 4);
            b.arrive(20, b.request(1, 500), 64);
            b.arrive(21, b.request(1, 501, ib::rc_send_first), 256);
            b.arrive(150, b.request(1, 502, ib::rc_send_middle), 256);
            b.arrive(151, b.request(1, 503, ib::rc_send_last), 256);
            b.contexts.change(1, qp_state::err, s);
            b.doorbell.visible_at(600, {1, 5});
            b.run_to(900);
            CAPTURE(s);
            REQUIRE(b.cqe.seen.size() == 5);
            bool flushed = false;
            for (std::uint64_t i = 0; i < 5; ++i) {
                CHECK(b.completions()[i].first == 1000 + i);
                flushed = flushed || b.completions()[i].second == wc_status::wr_flush_err;
                CHECK((b.completions()[i].second == wc_status::wr_flush_err) == flushed);
            }
            CHECK(b.pool.in_use() == 0);
        }
    }
}

TEST_CASE("receive engine: the flush of a receive queue, cycle by cycle") {
    receive_bench b;
    for (const engine_kind kind : both) {
        b.start(kind);
        b.open(b.context(1), qp_state::rts, 2);
        const cycle_t s = 100;
        b.contexts.change(1, qp_state::err, s);
        b.run_to(400);
        const cycle_t context = s + 1 + 2 + 1;
        const cycle_t first = context + 1 + b.memory.cycles() + 1;  // the WQE is here
        const cycle_t second = first + 1 + 1 + b.memory.cycles() + 1;
        CHECK(b.memory.requests.cycles() == std::vector<cycle_t>{context + 1, first + 1 + 1});
        CHECK(b.cqe.cycles() == std::vector<cycle_t>{first + 1, second + 1});
    }
}

TEST_CASE("receive engine: RESET in any cycle of a flush ends it, and the next life begins at WQE 0") {
    receive_bench b;
    for (cycle_t s = 105; s < 400; ++s) {
        b.start();
        b.open(b.context(1), qp_state::rts, 4);
        b.arrive(20, b.request(1, 500), 64);
        b.contexts.change(1, qp_state::err, 100);
        b.contexts.change(1, qp_state::reset, s);
        b.run_to(s);
        const std::size_t before = b.cqe.seen.size();
        b.run_to(500);
        CAPTURE(s);
        CHECK(b.cqe.seen.size() <=
              before + 1);  // what was pushed at s - 1 is seen at s, at s nothing more is
        b.contexts.change(1, qp_state::init, 510);
        b.contexts.change(1, qp_state::rtr, 520);
        b.run_to(525);
        b.contexts.table[1].responder.expected_psn = 700;
        b.doorbell.visible_at(530, {1, 1});
        b.arrive(540, b.request(1, 700), 64);
        b.run_to(700);
        REQUIRE(b.cqe.seen.size() > before);
        CHECK(b.completions().back() == std::pair<std::uint64_t, wc_status>{1000, wc_status::success});
    }
}

TEST_CASE("receive engine: acknowledges go to the send engine at the decision") {
    receive_bench b;
    for (const qp_state s : {qp_state::rtr, qp_state::rts, qp_state::sqd}) {
        b.start();
        b.open(b.context(1), s, 0);
        ib::headers h = b.request(1, 88, ib::rc_acknowledge);
        h.syndrome = ib::syndrome_ack | 5;
        const walk t{20, 0};
        b.arrive(t.r, h, 0);
        b.run_to(100);
        if (s == qp_state::rtr) {
            CHECK(b.ack.seen.empty());
        } else {
            REQUIRE(b.ack.seen.size() == 1);
            CHECK(b.ack.seen[0].cycle == t.decision() + 1);
            CHECK(b.ack.seen[0].value.psn == 88);
            CHECK(b.ack.seen[0].value.syndrome == (ib::syndrome_ack | 5));
        }
    }
}

TEST_CASE("receive engine: datagrams") {
    receive_bench b;
    b.start();
    ib::qp_context c = b.context(1);
    c.resources.service = ib::service_type::ud;
    c.attributes.qkey = 0x80010000;
    b.open(c, qp_state::rts, 1);
    ib::headers h = b.request(1, 0, ib::ud_send_only);
    h.qkey = 0x80010000;
    h.src_qpn = 33;
    const walk t{20, b.memory.cycles()};
    b.arrive(t.r, h, 256);
    b.arrive(200, h, 256);  // no receive WQE: dropped
    h.qkey = 1;
    b.arrive(300, h, 256);
    b.run_to(400);
    REQUIRE(b.completions() == list{{1000, wc_status::success}});
    CHECK(b.cqe.seen[0].cycle == t.wqe() + 1);
    CHECK(b.cqe.seen[0].value.entry.length_bytes == 256 + 40);
    CHECK(b.cqe.seen[0].value.entry.src_qpn == 33);
    CHECK(b.write.seen[0].value.address == 0x80000 + 40);
    CHECK(b.replies.seen.empty());
    CHECK(b.block.counters().no_receive_wqe == 1);
    CHECK(b.block.counters().failed_checks == 1);
}

TEST_CASE("receive engine: not more packets than slots, the rest waits and none is lost") {
    receive_bench b;
    b.config.slots = 2;
    b.start();
    b.open(b.context(1), qp_state::rts, 8);
    const walk t{20, b.memory.cycles()};
    for (std::uint32_t i = 0; i < 5; ++i) {
        b.arrive(t.r + i, b.request(1, 500 + i), 64);
    }
    b.run_to(600);
    CHECK(b.completions().size() == 5);
    // The third packet is taken in the cycle in which the first completes, and decided in the next.
    CHECK(b.memory.requests.cycles()[2] == t.wqe() + 1 + 1);
}

TEST_CASE("receive engine: answers without room do not stop it, and a later one covers those that wait") {
    receive_bench b;
    b.start();
    b.replies.ports[0]->closed_until(2000);
    b.open(b.context(1), qp_state::rts, 10);
    for (std::uint32_t i = 0; i < 8; ++i) {
        b.arrive(100 + i, b.request(1, 500 + i), 64);
    }
    b.run_to(1900);
    CHECK(b.completions().size() == 8);
    b.run_to(2100);
    // Two were in the channel, of depth 2; of the other six the last one stands for all.
    REQUIRE(b.replies.seen.size() == 3);
    CHECK(b.replies.seen[0].h.psn == 500);
    CHECK(b.replies.seen[1].h.psn == 501);
    CHECK(b.replies.seen[2].h.psn == 507);
    CHECK(b.replies.seen[2].h.msn == 8);
    CHECK(b.block.counters().merged_replies == 5);
}

TEST_CASE("receive engine: back-pressure on every channel changes times only") {
    receive_bench b;
    const auto run = [&b](engine_kind kind, std::uint32_t stall, std::uint64_t seed) {
        b.start(kind, stall, seed);
        for (std::uint32_t qpn = 1; qpn <= 3; ++qpn) {
            b.open(b.context(qpn), qp_state::rts, 0);
            b.doorbell.visible_at(60, {qpn, 10});
        }
        std::uint32_t psn[4] = {0, 500, 500, 500};
        for (std::uint32_t i = 0; i < 30; ++i) {
            const std::uint32_t qpn = 1 + i % 3;
            const auto step = i / 3 % 3;
            const std::uint8_t op = step == 0   ? ib::rc_send_only
                                    : step == 1 ? ib::rc_send_first
                                                : ib::rc_send_last;
            b.arrive(100 + 3 * i, b.request(qpn, psn[qpn]++, op), step == 1 ? 256 : i * 8);
        }
        b.run_to(4000);
        std::vector<std::uint64_t> all;
        for (const auto& p : b.replies.seen) {
            all.push_back(std::uint64_t{p.h.psn} << 32 | p.h.dest_qpn);
        }
        for (const auto& e : b.cqe.seen) {
            all.push_back(e.value.entry.wr_id << 16 | e.value.entry.length_bytes);
        }
        return all;
    };
    const auto reference = run(engine_kind::wheel, 0, 1);
    CHECK(reference.size() == 42);  // 21 messages: ACK and CQE of each
    CHECK(run(engine_kind::poll, 0, 1) == reference);
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
        CHECK(run(engine_kind::wheel, 300, seed) == reference);
        const std::vector<cycle_t> cycles = b.cqe.cycles();
        CHECK(run(engine_kind::poll, 300, seed) == reference);
        CHECK(b.cqe.cycles() == cycles);
    }
}
