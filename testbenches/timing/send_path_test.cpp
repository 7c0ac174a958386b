// Scheduler and send engine together, before a peer that loses packets: what they must never lose or do
// twice.
#include <map>
#include <random>
#include <set>

#include "model/ib/psn.h"
#include "model/send_scheduler/send_scheduler.h"
#include "testbenches/timing/send_engine_bench.h"
#include "testbenches/unit/catch.h"

namespace {

using namespace hcasim;        // NOLINT
using namespace hcasim::test;  // NOLINT
using ib::qp_state;
using ib::wc_status;

constexpr std::uint32_t qps = 6;
constexpr std::uint16_t messages = 40;

struct send_path_bench : block_bench {
    ib::packet_pool pool;
    send_scheduler scheduler{"scheduler", domain};
    send_engine engine{"engine", domain, pool};
    channel<send_grant> grant_wire{"grant_wire", domain};
    channel<scheduler_update> update_wire{"update_wire", domain};
    stimulus<send_doorbell> doorbell{*this, "doorbell", scheduler.doorbell_i};
    stimulus<state_event> scheduler_state{*this, "scheduler_state", scheduler.state_i};
    fake_contexts contexts{*this, engine.context_o, engine.context_i, engine.state_i};
    fixed_latency_memory memory{*this, engine.read_o, engine.read_i, 50};
    stimulus<acknowledge> ack{*this, "acknowledge", engine.acknowledge_i};
    stimulus<sent_notice> sent{*this, "sent", engine.sent_i};
    capture<completion> cqe{*this, "completion", engine.completion_o};
    capture<event> events{*this, "event", engine.event_o};
    packet_captures packets{*this, engine, pool};
    send_scheduler_config scheduler_config;
    send_engine_config engine_config;

    // The peer.
    struct responder {
        std::uint32_t expected = 100;
        bool nak_sent = false;
        std::vector<std::uint16_t> accepted;  // WQEs whose last packet was accepted
    };
    std::map<std::uint32_t, responder> peer;
    std::mt19937_64 random;
    std::uint32_t loss_per_1024 = 0;
    std::uint32_t rnr_per_1024 = 0;

    send_path_bench() {
        scheduler.grant_o.bind(grant_wire);
        engine.grant_i.bind(grant_wire);
        engine.update_o.bind(update_wire);
        scheduler.update_i.bind(update_wire);
        contexts.on_change = [this](const state_event& e, cycle_t at) { scheduler_state.visible_at(at, e); };
        packets.then = [this](const seen_packet& p) { receive(p); };
    }
    void receive(const seen_packet& p) {
        CHECK((contexts.table[p.qpn].state == qp_state::rts || contexts.table[p.qpn].state == qp_state::sqd ||
               contexts.table[p.qpn].state == qp_state::err));
        responder& r = peer[p.qpn];
        const cycle_t back = p.cycle + 20 + random() % 20;
        if (random() % 1024 < loss_per_1024) {
            return;
        }
        const std::int32_t distance = ib::psn_distance(p.h.psn, r.expected);
        if (distance > 0) {
            if (!r.nak_sent) {
                r.nak_sent = true;
                ack.visible_at(back, {p.qpn, r.expected, ib::syndrome_nak_sequence});
            }
            return;
        }
        if (distance == 0) {
            if (random() % 1024 < rnr_per_1024) {
                ack.visible_at(back, {p.qpn, p.h.psn, static_cast<std::uint8_t>(ib::syndrome_rnr_nak | 1)});
                return;
            }
            r.expected = ib::psn_add(r.expected, 1);
            r.nak_sent = false;
            if (p.h.ack_request) {
                r.accepted.push_back(p.wqe_index);
            }
        }
        if (p.h.ack_request && random() % 1024 >= loss_per_1024) {
            ack.visible_at(back, {p.qpn, ib::psn_add(r.expected, ib::psn_mask), ib::syndrome_ack});
        }
    }
    void open_all(std::uint64_t seed) {
        random.seed(seed);
        for (std::uint32_t q = 1; q <= qps; ++q) {
            ib::qp_context c = send_context(q, 1);
            c.attributes.retry_cnt = 7;
            c.attributes.rnr_retry = 7;
            contexts.table[q] = c;
            contexts.change(q, qp_state::init, 2 * q, true);
            contexts.change(q, qp_state::rts, 2 * q + 1);
            for (std::uint16_t i = 0; i < messages; ++i) {
                ib::send_wqe w;
                w.wqe_index = i;
                w.flags = ib::wqe_signaled;
                w.length_bytes = static_cast<std::uint32_t>(random() % 4 * 200);
                w.address = send_data;
                w.wr_id = i;
                memory.put(c.resources.sq_address + i * sizeof(w), w);
            }
            std::uint16_t rung = 0;
            for (cycle_t at = 40; rung != messages; at += random() % 300) {
                rung = static_cast<std::uint16_t>(std::min<std::uint64_t>(messages, rung + 1 + random() % 8));
                doorbell.visible_at(at, {q, rung});
            }
        }
    }
    /// Status of each CQE of a QP, after checking that they came in order, each once.
    std::vector<wc_status> statuses(std::uint32_t qpn) const {
        std::vector<wc_status> all;
        for (const auto& e : cqe.seen) {
            if (e.value.entry.qpn == qpn) {
                CHECK(e.value.entry.wr_id == all.size());
                all.push_back(e.value.entry.status);
            }
        }
        return all;
    }

protected:
    void reset_block() override {
        pool.reclaim();
        contexts.clear();
        packets.seen.clear();
        peer.clear();
        grant_wire.reset({});
        update_wire.reset({});
        scheduler.reset(scheduler_config, 64);
        engine.reset(engine_config, 64, 7, 2, 250, 3);  // timers divided by 8: T(1) is 256 cycles
    }
};

}  // namespace

TEST_CASE("send path: with loss, NAKs and RNR every message arrives once and completes once, in order") {
    send_path_bench b;
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
        b.scheduler_config.location = seed % 2 == 0 ? gate_location::on_chip : gate_location::context;
        b.engine_config.window_messages = seed % 3 == 0 ? 2 : 16;
        b.engine_config.outstanding_messages = seed % 4 == 0 ? 16 : 8192;
        b.loss_per_1024 = seed % 2 == 0 ? 30 : 0;
        b.rnr_per_1024 = seed % 3 == 0 ? 30 : 0;
        std::vector<cycle_t> cycles[2];
        for (const engine_kind kind : {engine_kind::wheel, engine_kind::poll}) {
            b.start(kind, seed % 5 == 0 ? 200 : 0, seed);
            b.open_all(seed);
            b.run_to(60000);
            CAPTURE(seed, static_cast<int>(kind));
            for (std::uint32_t q = 1; q <= qps; ++q) {
                const auto all = b.statuses(q);
                CHECK(all.size() == messages);
                CHECK(std::count(all.begin(), all.end(), wc_status::success) == messages);
                CHECK(b.peer[q].accepted.size() == messages);
                CHECK(std::is_sorted(b.peer[q].accepted.begin(), b.peer[q].accepted.end()));
            }
            CHECK(b.pool.in_use() == 0);
            cycles[kind == engine_kind::poll] = b.cqe.cycles();
        }
        CHECK(cycles[0] == cycles[1]);
    }
}

TEST_CASE("send path: ERR at any time: each WQE completes once, in order, first successes, then flushes") {
    send_path_bench b;
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        b.scheduler_config.location = seed % 2 == 0 ? gate_location::on_chip : gate_location::context;
        b.engine_config.window_messages = seed % 3 == 0 ? 2 : 16;
        b.engine_config.outstanding_messages = seed % 4 == 0 ? 16 : 8192;
        b.loss_per_1024 = seed % 2 == 0 ? 50 : 0;
        b.rnr_per_1024 = seed % 3 == 0 ? 50 : 0;
        b.start(engine_kind::wheel, seed % 5 == 0 ? 200 : 0, seed);
        b.open_all(seed);
        for (std::uint32_t q = 1; q <= qps; ++q) {
            b.contexts.change(q, qp_state::err, 100 + b.random() % 2500);
        }
        b.run_to(20000);
        CAPTURE(seed);
        for (std::uint32_t q = 1; q <= qps; ++q) {
            const auto all = b.statuses(q);
            CHECK(all.size() == messages);
            const auto first_flush = std::find(all.begin(), all.end(), wc_status::wr_flush_err);
            CHECK(std::all_of(first_flush, all.end(),
                              [](wc_status s) { return s == wc_status::wr_flush_err; }));
        }
        CHECK(b.pool.in_use() == 0);
    }
}

TEST_CASE("send path: SQD and back at any time: drained is told once each time, nothing is lost") {
    send_path_bench b;
    for (std::uint64_t seed = 1; seed <= 24; ++seed) {
        b.scheduler_config.location = seed % 2 == 0 ? gate_location::on_chip : gate_location::context;
        b.engine_config = {};
        b.loss_per_1024 = seed % 3 == 0 ? 50 : 0;
        b.rnr_per_1024 = seed % 4 == 0 ? 50 : 0;
        b.start(engine_kind::wheel, seed % 5 == 0 ? 200 : 0, seed);
        b.open_all(seed);
        std::size_t asked = 0;
        for (std::uint32_t q = 1; q <= qps; ++q) {
            for (cycle_t at = 300 + b.random() % 600; at < 9000; at += 9000) {
                b.contexts.change(q, qp_state::sqd, at, false, true);
                b.contexts.change(q, qp_state::rts, 30000 + q);
                ++asked;
            }
        }
        b.run_to(29999);
        CAPTURE(seed);
        // What had begun is finished, sent again where it was lost; nothing else is begun.
        CHECK(b.events.seen.size() == asked);
        CHECK(b.cqe.seen.size() < std::size_t{qps} * messages);
        b.run_to(90000);
        CHECK(b.events.seen.size() == asked);
        for (std::uint32_t q = 1; q <= qps; ++q) {
            CHECK(b.statuses(q).size() == messages);
            CHECK(b.peer[q].accepted.size() == messages);
        }
    }
}
