// Cycle contract of the link: docs/microarchitecture.md, "Link".
#include <numeric>

#include "model/ib/crc.h"
#include "model/ib/headers.h"
#include "model/link/link_rx.h"
#include "model/link/link_tx.h"
#include "testbenches/timing/block_bench.h"
#include "testbenches/unit/catch.h"

namespace {

using namespace hcasim;        // NOLINT
using namespace hcasim::test;  // NOLINT

constexpr engine_kind both[] = {engine_kind::wheel, engine_kind::poll};

// A packet of exactly `bytes` LRH to VCRC (26 of headers and CRCs and a multiple of 4 of payload) on a VL.
ib::packet* make_packet(ib::packet_pool& pool, std::uint32_t vl, std::uint32_t bytes, std::uint32_t psn = 0) {
    ib::headers h;
    h.op = ib::rc_send_only;
    h.vl = static_cast<std::uint8_t>(vl);
    h.psn = psn;
    h.dlid = 9;
    h.pkey = 0xffff;
    ib::packet* p = pool.get();
    const std::size_t payload = bytes - 26;
    p->size_bytes = static_cast<std::uint32_t>(ib::packet_bytes(h, payload));
    REQUIRE(p->size_bytes == bytes);
    const std::size_t offset = ib::encode(h, payload, p->bytes);
    std::iota(p->bytes + offset, p->bytes + offset + payload, std::uint8_t{0});
    ib::seal(p->bytes, p->size_bytes);
    p->vl = h.vl;
    p->op = h.op;
    p->psn = psn;
    return p;
}

struct wire_packet {
    std::uint32_t vl = 0;
    std::uint32_t psn = 0;
    std::uint32_t bytes = 0;
    std::uint64_t first = 0;
    std::uint64_t last = 0;
};

struct tx_bench : block_bench {
    ib::packet_pool pool;
    link_tx block{"link_tx", domain, pool};
    std::vector<std::unique_ptr<stimulus<ib::packet*>>> in;
    stimulus<credit_update> credit{*this, "credit", block.credit_i};
    capture<ib::packet*> wire{*this, "wire", block.wire_o};
    capture<sent_notice> sent{*this, "sent", block.sent_o};
    link_config config;
    std::vector<wire_packet> packets;
    std::vector<std::pair<std::uint64_t, ib::flow_control_packet>> flow;  // first cycle

    tx_bench() {
        for (std::uint32_t s = 0; s < link_tx::source_count; ++s) {
            for (std::uint32_t vl = 0; vl < max_data_vls; ++vl) {
                in.push_back(std::make_unique<stimulus<ib::packet*>>(*this, sc_core::sc_gen_unique_name("in"),
                                                                     block.packet_i(s, vl), 64));
            }
        }
        wire.then = [this](ib::packet* p, cycle_t) {
            if (p->is_flow_control) {
                ib::flow_control_packet f;
                CHECK(ib::decode(p->bytes, f));
                flow.emplace_back(p->first_byte_cycle, f);
            } else {
                packets.push_back({p->vl, p->psn, p->size_bytes, p->first_byte_cycle, p->last_byte_cycle});
            }
            pool.put(p);
        };
    }
    void give_credits(cycle_t at, std::uint8_t vl, std::uint16_t fccl) {
        credit.visible_at(at, {true, false, vl, fccl});
    }
    void send(cycle_t at, std::uint32_t vl, std::uint32_t bytes, std::uint32_t psn = 0,
              std::uint32_t source = 0) {
        in[source * max_data_vls + vl]->visible_at(at, make_packet(pool, vl, bytes, psn));
    }
    std::vector<std::uint32_t> vls() const {
        std::vector<std::uint32_t> all;
        for (const auto& p : packets) {
            all.push_back(p.vl);
        }
        return all;
    }

protected:
    void reset_block() override {
        pool.reclaim();
        packets.clear();
        flow.clear();
        block.reset(config, 250, 1);
    }
};

struct rx_bench : block_bench {
    ib::packet_pool pool;
    link_rx block{"link_rx", domain, pool};
    stimulus<ib::packet*> wire{*this, "wire", block.wire_i, 64, 3};
    capture<ib::packet*> packet{*this, "packet", block.packet_o};
    capture<credit_update> credit{*this, "credit", block.credit_o};
    link_config config;

    rx_bench() {
        packet.then = [this](ib::packet* p, cycle_t) { pool.put(p); };
    }
    /// A packet that has begun on the wire at `first` and whose last byte leaves at `last`.
    void arrive(cycle_t first, cycle_t last, ib::packet* p) {
        p->last_byte_cycle = last;
        wire.visible_at(first + 3, p);
    }
    void arrive_flow(cycle_t first, std::uint8_t vl, std::uint16_t fctbs, std::uint16_t fccl) {
        ib::packet* p = pool.get();
        p->is_flow_control = true;
        p->size_bytes = ib::flow_control_packet_bytes;
        ib::encode(ib::flow_control_packet{0, vl, fctbs, fccl}, p->bytes);
        arrive(first, first + 1, p);
    }

protected:
    void reset_block() override {
        pool.reclaim();
        block.reset(config);
    }
};

}  // namespace

TEST_CASE("link tx: serialization is exact to the byte at every speed") {
    tx_bench b;
    // Bytes per cycle of 4 ns at 4X as a fraction: data rate in Gb/s / 2.
    const struct {
        link_speed speed;
        std::uint64_t num, den;
    } rates[] = {{link_speed::sdr, 4, 1},    {link_speed::ddr, 8, 1},    {link_speed::qdr, 16, 1},
                 {link_speed::fdr10, 20, 1}, {link_speed::fdr, 300, 11}, {link_speed::edr, 50, 1},
                 {link_speed::hdr, 100, 1},  {link_speed::ndr, 200, 1}};
    for (const auto& r : rates) {
        b.config.speed = r.speed;
        b.start();
        for (std::uint8_t vl = 0; vl < 2; ++vl) {
            b.give_credits(10 + vl, vl, 2000);
        }
        const cycle_t v = 500;
        std::uint64_t bytes = 0;
        // Each takes longer than a cycle even at NDR: one packet is begun per cycle.
        const std::uint32_t sizes[] = {1050, 230, 226, 254, 530, 230, 226, 1050};
        for (const std::uint32_t size : sizes) {
            b.send(v, 0, size);
        }
        b.run_to(4000);
        REQUIRE(b.packets.size() == 8);
        const cycle_t start = b.packets[0].first;
        for (std::size_t k = 0; k < 8; ++k) {
            CAPTURE(static_cast<int>(r.speed), k);
            // In units of 1/num cycle a byte takes den.
            CHECK(b.packets[k].first == start + bytes * r.den / r.num);
            bytes += sizes[k] + b.config.framing_bytes;
            CHECK(b.packets[k].last == start + (bytes * r.den + r.num - 1) / r.num);
        }
    }
}

TEST_CASE("link tx: a packet that is visible at v starts at v on an idle wire") {
    tx_bench b;
    for (const engine_kind kind : both) {
        b.start(kind);
        b.give_credits(10, 0, 2000);
        b.send(400, 0, 90);
        b.run_to(600);
        REQUIRE(b.packets.size() == 1);
        CHECK(b.packets[0].first == 400);
        CHECK(b.packets[0].last == 402);  // 92 bytes at 50 per cycle
        // With the propagation delay as latency of the channel (here 1) it is seen one cycle later.
        CHECK(b.wire.seen.back().cycle == 401);
    }
}

TEST_CASE("link tx: flow-control packets at start, one per VL, with the buffer announced") {
    tx_bench b;
    b.start();
    b.run_to(100);
    REQUIRE(b.flow.size() == 2);
    CHECK(b.flow[0].first == 1);
    CHECK(b.flow[1].first == 2);
    for (std::uint8_t vl = 0; vl < 2; ++vl) {
        CHECK(b.flow[vl].second.op == 1);
        CHECK(b.flow[vl].second.vl == vl);
        CHECK(b.flow[vl].second.fctbs == 0);
        CHECK(b.flow[vl].second.fccl == 32768 / 64);
    }
}

TEST_CASE("link tx: every 65,536 byte times a flow-control packet per VL, until two have brought no news") {
    tx_bench b;
    for (const engine_kind kind : both) {
        b.start(kind);
        const cycle_t period = (65536 + 49) / 50;
        b.give_credits(10, 0, 2000);
        b.run_to(10 * period);
        std::vector<cycle_t> at;
        for (const auto& f : b.flow) {
            at.push_back(f.first);
        }
        CHECK(at == std::vector<cycle_t>{1, 2, period, period + 1, 2 * period, 2 * period + 1});
        b.send(10 * period + 7, 0, 90);  // news: FCTBS has moved
        b.run_to(20 * period);
        REQUIRE(b.flow.size() == 8);
        CHECK(b.flow[6].first == 11 * period);
        CHECK(b.flow[6].second.fctbs == 2);
        CHECK(b.flow[6].second.op == 0);
    }
}

TEST_CASE("link tx: credits stop and resume at the exact packet") {
    tx_bench b;
    for (const engine_kind kind : both) {
        b.start(kind);
        // 90 bytes are 2 blocks. FCCL 5: two packets.
        b.give_credits(10, 0, 5);
        for (std::uint32_t i = 0; i < 6; ++i) {
            b.send(100 + i, 0, 90, i);
        }
        b.send(103, 1, 90);  // the other VL has no credits at all
        b.run_to(300);
        CHECK(b.packets.size() == 2);
        CHECK(b.block.counters().credit_stalls == 2);
        b.give_credits(310, 0, 6);
        b.run_to(400);
        REQUIRE(b.packets.size() == 3);
        CHECK(b.packets[2].first == 310);
        // FCCL - FCTBS - k modulo 4096 below 2048: an FCCL that lies behind gives nothing.
        b.give_credits(410, 0, 4095);
        b.run_to(500);
        CHECK(b.packets.size() == 3);
        b.give_credits(510, 0, 12);
        b.run_to(600);
        CHECK(b.packets.size() == 6);
    }
}

TEST_CASE("link tx: a flow-control packet at once when enough has been freed, before a waiting packet") {
    tx_bench b;
    b.start();
    b.give_credits(10, 0, 2000);
    b.send(100, 0, 1050, 1);  // 1052 bytes: 21.04 cycles
    b.send(101, 0, 90, 2);
    b.credit.visible_at(110, {false, true, 1, 700});
    b.run_to(300);
    REQUIRE(b.flow.size() == 3);
    CHECK(b.flow[2].first == 122);  // first edge at which the wire is free
    CHECK(b.flow[2].second.vl == 1);
    CHECK(b.flow[2].second.fccl == 700);
    REQUIRE(b.packets.size() == 2);
    CHECK(b.packets[1].first == 122);  // behind the 8 bytes, at 122.16
}

TEST_CASE("link tx: the two sources of a VL take turns") {
    tx_bench b;
    b.start();
    b.give_credits(10, 0, 2000);
    b.send(99, 0, 1050, 9);
    for (std::uint32_t i = 0; i < 3; ++i) {
        b.send(101 + i, 0, 90, i, 0);
        b.send(101 + i, 0, 90, 100 + i, 1);
    }
    b.run_to(300);
    std::vector<std::uint32_t> psns;
    for (const auto& p : b.packets) {
        psns.push_back(p.psn);
    }
    CHECK(psns == std::vector<std::uint32_t>{9, 100, 0, 101, 1, 102, 2});
}

TEST_CASE("link tx: VL arbitration by weight, by hand") {
    tx_bench b;
    b.config.low_weight = {};
    // 122 bytes are 2 units of 64 bytes. Weight 4 of VL 0: two packets a turn; weight 2 of VL 1: one.
    b.config.low_weight[0] = 4;
    b.config.low_weight[1] = 2;
    b.start();
    b.give_credits(10, 0, 2000);
    b.give_credits(11, 1, 2000);
    b.send(99, 0, 122);
    for (std::uint32_t i = 0; i < 6; ++i) {
        b.send(100 + i, 0, 122, i);
        b.send(100 + i, 1, 122, i);
    }
    b.run_to(400);
    CHECK(b.vls() == std::vector<std::uint32_t>{0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 1, 1, 1});
}

TEST_CASE("link tx: the limit of high priority, by hand") {
    tx_bench b;
    b.config.low_weight = {};
    b.config.low_weight[0] = 255;
    b.config.high_weight[1] = 255;
    const auto sequence = [&b](std::uint32_t limit) {
        b.config.high_limit = limit;
        b.start();
        b.give_credits(10, 0, 2000);
        b.give_credits(11, 1, 2000);
        b.send(98, 0, 1050);
        for (std::uint32_t i = 0; i < 6; ++i) {
            b.send(100 + i, 0, 2050, i);
            b.send(100 + i, 1, 2050, i);
        }
        b.run_to(2000);
        return b.vls();
    };
    using list = std::vector<std::uint32_t>;
    // Limit 0: one packet. Limit 1: 4096 bytes are reached by the second of 2050. 255: no limit.
    CHECK(sequence(0) == list{0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0});
    CHECK(sequence(1) == list{0, 1, 1, 0, 1, 1, 0, 1, 1, 0, 0, 0, 0});
    CHECK(sequence(255) == list{0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0});
}

TEST_CASE("link tx: a datagram's notice comes with its start") {
    tx_bench b;
    b.start();
    b.give_credits(10, 0, 2000);
    ib::packet* p = make_packet(b.pool, 0, 90);
    p->op = ib::ud_send_only;
    p->has_wqe = true;
    p->qpn = 1;
    p->wqe_index = 6;
    b.in[0]->visible_at(100, p);
    b.run_to(200);
    REQUIRE(b.sent.seen.size() == 1);
    CHECK(b.sent.seen[0].cycle == 101);
    CHECK(b.sent.seen[0].value.wqe_index == 6);
    CHECK(b.sent.seen[0].value.last_byte_cycle == 102);
}

TEST_CASE(
    "link tx: a delayed packet is overtaken and arrives exactly so much later, a lost one takes its "
    "credits") {
    tx_bench b;
    b.config.faults[static_cast<std::size_t>(packet_class::request)].delay = 1;
    b.config.faults[static_cast<std::size_t>(packet_class::request)].delay_ns = 400;
    b.start();
    b.give_credits(10, 0, 2000);
    b.send(100, 0, 90, 1);
    b.run_to(150);
    CHECK(b.packets.empty());
    b.run_to(300);
    REQUIRE(b.packets.size() == 1);
    CHECK(b.wire.seen.back().cycle == 100 + 100 + 1);
    CHECK(b.packets[0].last == 102 + 100);
    b.config.faults = {};
    b.config.faults[static_cast<std::size_t>(packet_class::request)].loss = 1;
    b.start();
    b.give_credits(10, 0, 4);
    for (std::uint32_t i = 0; i < 4; ++i) {
        b.send(100 + i, 0, 90, i);
    }
    b.run_to(300);
    CHECK(b.packets.empty());
    CHECK(b.block.counters().lost == 2);
}

TEST_CASE("link tx: back-pressure changes no order within a VL, wheel and poll identical") {
    tx_bench b;
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        std::vector<cycle_t> cycles[2];
        for (const engine_kind kind : both) {
            b.start(kind, 300, seed);
            for (std::uint8_t vl = 0; vl < 2; ++vl) {
                b.give_credits(10 + vl, vl, 2000);
                for (std::uint32_t i = 0; i < 40; ++i) {
                    b.send(60 + i, vl, 26 + 4 * i, i);
                }
            }
            b.run_to(4000);
            std::uint32_t next[2] = {0, 0};
            for (const auto& p : b.packets) {
                CHECK(p.psn == next[p.vl]++);
            }
            CHECK(next[0] == 40);
            CHECK(next[1] == 40);
            cycles[kind == engine_kind::poll] = b.wire.cycles();
        }
        CHECK(cycles[0] == cycles[1]);
    }
}

TEST_CASE("link tx: two sources, few credits and back-pressure, wheel and poll identical") {
    tx_bench b;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        std::vector<cycle_t> cycles[2];
        std::vector<std::uint32_t> psns[2];
        std::uint64_t stalls[2] = {};
        for (const engine_kind kind : both) {
            b.start(kind, 300, seed);
            for (std::uint32_t i = 0; i < 20; ++i) {
                // Long packets of one source wait while short ones of the other could go.
                b.send(20 + i, 0, 650, i, 0);
                b.send(20 + i, 0, 26, 100 + i, 1);
            }
            for (std::uint16_t i = 0; i <= 60; ++i) {
                b.give_credits(100 + 37u * i, 0, static_cast<std::uint16_t>(4 * i));
            }
            b.run_to(4000);
            CHECK(b.packets.size() == 40);
            const auto k = static_cast<std::size_t>(kind == engine_kind::poll);
            for (const auto& p : b.packets) {
                psns[k].push_back(p.psn);
            }
            cycles[k] = b.wire.cycles();
            stalls[k] = b.block.counters().credit_stalls;
        }
        CHECK(cycles[0] == cycles[1]);
        CHECK(psns[0] == psns[1]);
        CHECK(stalls[0] == stalls[1]);
    }
}

TEST_CASE("link rx: last byte, propagation, pipeline, then in the same cycle to the receive engine") {
    rx_bench b;
    for (const engine_kind kind : both) {
        b.start(kind);
        b.arrive(100, 122, make_packet(b.pool, 0, 1050, 1));
        b.arrive(122, 124, make_packet(b.pool, 1, 90, 2));
        b.run_to(300);
        // Propagation 3, pipeline 4, channel 1.
        CHECK(b.packet.cycles() == std::vector<cycle_t>{122 + 3 + 4 + 1, 124 + 3 + 4 + 1});
    }
}

TEST_CASE("link rx: bad VCRC, VL out of range: dropped and counted") {
    rx_bench b;
    b.start();
    ib::packet* bad = make_packet(b.pool, 0, 90);
    bad->bytes[40] = static_cast<std::uint8_t>(bad->bytes[40] ^ 4u);
    b.arrive(100, 102, bad);
    b.arrive(110, 112, make_packet(b.pool, 2, 90));
    b.arrive(120, 122, make_packet(b.pool, 15, 90));
    b.arrive_flow(130, 7, 0, 0);
    b.run_to(300);
    CHECK(b.packet.seen.empty());
    CHECK(b.block.counters().vcrc_errors == 1);
    CHECK(b.block.counters().overruns == 2);
    CHECK(b.block.counters().flow_control_errors == 1);
    CHECK(b.pool.in_use() == 0);
}

TEST_CASE(
    "link rx: FCCL = ABR + free blocks, told at once after credit_update_bytes, FCTBS repairs what was "
    "lost") {
    rx_bench b;
    b.config.credit_update_bytes = 2000;
    b.start();
    b.packet.closed_until(400);
    for (std::uint32_t i = 0; i < 4; ++i) {
        b.arrive(100 + 22 * i, 122 + 22 * i, make_packet(b.pool, 0, 1050, i));  // 17 blocks each
    }
    b.run_to(399);
    // Two are in the channel, two in the buffer: ABR 68, free 512 - 34.
    REQUIRE_FALSE(b.credit.seen.empty());
    CHECK(b.credit.seen.back().value.fccl == 68 + 512 - 34);
    b.run_to(500);
    CHECK(b.credit.seen.back().value.fccl == 68 + 512);
    std::size_t at_once = 0;
    for (const auto& e : b.credit.seen) {
        at_once += e.value.at_once ? 1 : 0;
    }
    CHECK(at_once == 2);  // 4200 bytes have been freed
    // The peer has sent 80 blocks: 12 were lost on the wire.
    b.arrive_flow(600, 0, 80, 99);
    b.run_to(700);
    const auto n = b.credit.seen.size();
    CHECK(b.credit.seen[n - 2].value.from_peer);
    CHECK(b.credit.seen[n - 2].value.fccl == 99);
    CHECK(b.credit.seen[n - 1].value.fccl == 80 + 512);
    CHECK(b.block.counters().resyncs == 1);
}

TEST_CASE("link rx: of the limits that wait for link tx the newest of each VL counts, the VLs in turn") {
    rx_bench b;
    for (const engine_kind kind : both) {
        b.start(kind);
        b.credit.closed_until(400);
        // Two fill the channel, four come behind them.
        b.arrive_flow(100, 0, 0, 10);
        b.arrive_flow(110, 0, 0, 11);
        b.arrive_flow(120, 1, 0, 20);
        b.arrive_flow(130, 0, 0, 12);
        b.arrive_flow(140, 1, 0, 21);
        b.arrive_flow(150, 0, 0, 13);
        b.run_to(500);
        std::vector<std::pair<std::uint32_t, std::uint32_t>> told;
        for (const auto& e : b.credit.seen) {
            CHECK(e.value.from_peer);
            told.emplace_back(e.value.vl, e.value.fccl);
        }
        CHECK(told ==
              std::vector<std::pair<std::uint32_t, std::uint32_t>>{{0, 10}, {0, 11}, {1, 21}, {0, 13}});
        CHECK(b.credit.cycles() == std::vector<cycle_t>{400, 401, 402, 403});
    }
}
