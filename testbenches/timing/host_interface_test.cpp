// Cycle contract of the host interface: docs/microarchitecture.md, "Host interface".
#include "model/host_interface/host_interface.h"

#include "model/clock/direct_read.h"
#include "testbenches/timing/block_bench.h"
#include "testbenches/unit/catch.h"

namespace {

using namespace hcasim;        // NOLINT
using namespace hcasim::test;  // NOLINT
using hi = host_interface;

constexpr engine_kind both[] = {engine_kind::wheel, engine_kind::poll};
constexpr cycle_t read_latency = 125;  // L: 500 ns

// Bus cycles of b bytes with the default configuration.
constexpr cycle_t bus(std::uint32_t bytes) { return (bytes + 24 * ((bytes + 255) / 256) + 62) / 63; }

// Memory behind the DMA socket: notes each access with the time at which it leaves the HCA.
struct target : sc_core::sc_module, tlm::tlm_fw_transport_if<>, interrupt_if {
    explicit target(const sc_core::sc_module_name& name) : sc_core::sc_module(name), socket("socket") {
        socket.bind(*this);
    }
    tlm::tlm_target_socket<64> socket;
    struct access {
        bool is_write;
        std::uint64_t address;
        std::uint32_t bytes;
        sc_core::sc_time at;
    };
    std::vector<access> seen;
    std::vector<sc_core::sc_time> interrupts;
    enum class dmi { refused, without_latency, granted } grants = dmi::refused;
    std::vector<unsigned char> direct;  // at direct_address
    unsigned asked = 0;                 // for DMI
    static constexpr std::uint64_t direct_address = 0x2000;
    void b_transport(tlm::tlm_generic_payload& p, sc_core::sc_time& delay) override {
        seen.push_back(
            {p.is_write(), p.get_address(), p.get_data_length(), sc_core::sc_time_stamp() + delay});
        delay += sc_core::sc_time(p.is_write() ? 250 : 500, sc_core::SC_NS);
        p.set_response_status(p.get_address() >= 0x100000 ? tlm::TLM_ADDRESS_ERROR_RESPONSE
                                                          : tlm::TLM_OK_RESPONSE);
        p.set_dmi_allowed(!direct.empty());
    }
    tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload&, tlm::tlm_phase&,
                                       sc_core::sc_time&) override {
        return tlm::TLM_ACCEPTED;
    }
    bool get_direct_mem_ptr(tlm::tlm_generic_payload& p, tlm::tlm_dmi& d) override {
        ++asked;
        if (grants == dmi::without_latency) {
            d.set_dmi_ptr(direct.data());
            d.set_start_address(direct_address);
            d.set_end_address(direct_address + direct.size() - 1);
            d.allow_read();
            return true;
        }
        return grants == dmi::granted &&
               direct_read::grant(p, d, direct_address, direct.data(), direct.size(),
                                  sc_core::sc_time(500, sc_core::SC_NS));
    }
    unsigned transport_dbg(tlm::tlm_generic_payload&) override { return 0; }
    void raise(unsigned, const sc_core::sc_time& delay) override {
        interrupts.push_back(sc_core::sc_time_stamp() + delay);
    }
};

// The host's end of the MMIO socket.
struct initiator : sc_core::sc_module, tlm::tlm_bw_transport_if<> {
    explicit initiator(const sc_core::sc_module_name& name) : sc_core::sc_module(name), socket("socket") {
        socket.bind(*this);
    }
    tlm::tlm_initiator_socket<64> socket;
    tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload&, tlm::tlm_phase&,
                                       sc_core::sc_time&) override {
        return tlm::TLM_ACCEPTED;
    }
    void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
    void write(std::uint64_t offset, std::vector<std::uint64_t> words, sc_core::sc_time delay) {
        tlm::tlm_generic_payload p;
        p.set_command(tlm::TLM_WRITE_COMMAND);
        p.set_address(offset);
        p.set_data_ptr(reinterpret_cast<unsigned char*>(words.data()));
        p.set_data_length(static_cast<unsigned>(words.size() * 8));
        p.set_streaming_width(8);
        socket->b_transport(p, delay);
        CHECK(p.is_response_ok());
    }
};

struct host_bench : block_bench {
    ib::packet_pool pool;
    host_interface block{"host_interface", domain, pool};
    target memory{"memory"};
    initiator host{"host"};
    capture<doorbell_write> doorbell{*this, "doorbell", block.doorbell_o};
    capture<command_doorbell> command{*this, "command", block.command_o};
    std::vector<std::unique_ptr<stimulus<dma_read>>> read;
    std::vector<std::unique_ptr<capture<dma_read_done>>> done;
    std::vector<std::unique_ptr<stimulus<dma_write>>> write;
    host_interface_config config;
    std::array<std::uint8_t, 8192> buffer{};

    host_bench() {
        block.dma_init_socket.bind(memory.socket);
        host.socket.bind(block.mmio_targ_socket);
        block.interrupt_o.bind(memory);
        for (std::uint32_t c = 0; c < hi::read_clients; ++c) {
            read.push_back(std::make_unique<stimulus<dma_read>>(*this, sc_core::sc_gen_unique_name("read"),
                                                                block.read_i[c]));
            done.push_back(std::make_unique<capture<dma_read_done>>(
                *this, sc_core::sc_gen_unique_name("done"), block.read_o[c]));
        }
        for (std::uint32_t c = 0; c < hi::write_clients; ++c) {
            write.push_back(std::make_unique<stimulus<dma_write>>(*this, sc_core::sc_gen_unique_name("write"),
                                                                  block.write_i[c]));
        }
    }
    dma_read a_read(std::uint32_t bytes, std::uint32_t cookie = 0, std::uint64_t address = 0x1000) {
        return {address, bytes, cookie, buffer.data()};
    }
    static dma_write a_write(std::uint32_t bytes, std::uint64_t address) {
        dma_write w;
        w.address = address;
        w.bytes = bytes;
        return w;
    }
    /// Edge of an access as the target saw it.
    cycle_t edge(std::size_t k) const { return edge_of(memory.seen[k].at); }
    cycle_t edge_of(const sc_core::sc_time& at) const {
        return (at - domain.time_of(0)).value() / domain.period().value();
    }

protected:
    void reset_block() override {
        pool.reclaim();
        memory.seen.clear();
        memory.interrupts.clear();
        memory.asked = 0;
        block.reset(config);
    }
};

}  // namespace

TEST_CASE("host interface: an MMIO write is visible at the first edge strictly after its arrival") {
    host_bench b;
    const sc_core::sc_time ps(1, sc_core::SC_PS);
    const sc_core::sc_time period(4, sc_core::SC_NS);
    const struct {
        sc_core::sc_time delay;
        cycle_t edge;  // edges after the present one
    } cases[] = {{sc_core::SC_ZERO_TIME, 1}, {ps, 1},          {period - ps, 1}, {period, 2},
                 {period + ps, 2},           {2.5 * period, 3}};
    for (const engine_kind kind : both) {
        for (const auto& c : cases) {
            b.start(kind);
            // The kernel stands exactly on the edge of cycle 20.
            sc_core::sc_start(b.domain.time_of(20) - sc_core::sc_time_stamp());
            b.host.write(ib::bar_page_bytes + ib::uar_doorbell_offset, {42}, c.delay);
            b.run_to(60);
            CHECK(b.doorbell.cycles() ==
                  std::vector<cycle_t>{20 + c.edge + 1});  // pushed at the edge, visible one later
        }
    }
}

TEST_CASE("host interface: MMIO writes keep their order, one per cycle, unknown offsets are dropped") {
    host_bench b;
    b.start();
    const std::uint64_t uar = ib::bar_page_bytes + ib::uar_doorbell_offset;
    b.host.write(uar, {1, 2, 3}, sc_core::sc_time(41, sc_core::SC_NS));  // edge 11
    b.host.write(ib::bar_command_offset, {0x5000}, sc_core::sc_time(10, sc_core::SC_NS));
    b.host.write(0x30, {7}, sc_core::sc_time(10, sc_core::SC_NS));
    b.host.write(63 * ib::bar_page_bytes + ib::uar_doorbell_offset, {4},
                 sc_core::sc_time(10, sc_core::SC_NS));
    b.run_to(100);
    CHECK(b.doorbell.cycles() == std::vector<cycle_t>{12, 13, 14, 17});
    CHECK(b.command.cycles() == std::vector<cycle_t>{15});
    CHECK(b.command.seen[0].value.mailbox_address == 0x5000);
    CHECK(b.block.counters().mmio_ignored == 1);
}

TEST_CASE("host interface: a refused doorbell holds the whole MMIO queue") {
    host_bench b;
    b.start();
    const std::uint64_t uar = ib::bar_page_bytes + ib::uar_doorbell_offset;
    b.doorbell.closed_until(100);
    b.host.write(uar, {1, 2, 3}, sc_core::sc_time(40, sc_core::SC_NS));
    b.host.write(ib::bar_command_offset, {0x5000}, sc_core::sc_time(40, sc_core::SC_NS));
    b.run_to(200);
    // Taken at 100, room at 101: the third is pushed at 101, the command at 102.
    CHECK(b.doorbell.cycles() == std::vector<cycle_t>{100, 101, 102});
    CHECK(b.command.cycles() == std::vector<cycle_t>{103});
    CHECK(b.block.counters().max_mmio_queue == 4);
}

TEST_CASE("host interface: a read takes L and its bus time") {
    host_bench b;
    for (const engine_kind kind : both) {
        for (const std::uint32_t bytes : {1u, 32u, 64u, 256u, 257u, 4096u}) {
            b.start(kind);
            const cycle_t r = 20;
            b.read[hi::send_read]->visible_at(r, b.a_read(bytes));
            b.run_to(r + 500);
            CHECK(b.edge(0) == r);
            CHECK(b.done[hi::send_read]->cycles() == std::vector<cycle_t>{r + read_latency + bus(bytes) + 1});
        }
    }
}

TEST_CASE("host interface: reads follow each other on the bus, requesters take turns, answers in order") {
    host_bench b;
    b.start();
    const cycle_t r = 20;
    for (std::uint32_t i = 0; i < 2; ++i) {
        b.read[hi::send_read]->visible_at(r + i, b.a_read(4096, i));
    }
    b.read[hi::receive_read]->visible_at(r, b.a_read(32, 9));
    b.run_to(600);
    // Turns begin with the cache: send at r, receive at r + 1, send at r + 2.
    CHECK(b.edge(0) == r);
    CHECK(b.edge(1) == r + 1);
    CHECK(b.edge(2) == r + 2);
    const cycle_t first = r + read_latency + bus(4096);
    const cycle_t second = first + bus(32);
    CHECK(b.done[hi::send_read]->cycles() == std::vector<cycle_t>{first + 1, second + bus(4096) + 1});
    CHECK(b.done[hi::receive_read]->cycles() == std::vector<cycle_t>{second + 1});
}

TEST_CASE("host interface: a read by DMI takes the cycles of one by call") {
    host_bench b;
    b.memory.grants = target::dmi::granted;
    b.memory.direct.resize(0x200);
    for (std::size_t i = 0; i < b.memory.direct.size(); ++i) {
        b.memory.direct[i] = static_cast<unsigned char>(i ^ i >> 8 ^ 0x55u);
    }
    const auto direct = target::direct_address;
    for (const engine_kind kind : both) {
        b.start(kind);
        std::vector<cycle_t> expected;
        for (std::uint32_t i = 0; i < 4; ++i) {
            const cycle_t r = 20 + 200 * i;
            b.read[hi::send_read]->visible_at(r, b.a_read(100, i, direct + 0x40));
            expected.push_back(r + read_latency + bus(100) + 1);
        }
        b.run_to(900);
        CHECK(b.done[hi::send_read]->cycles() == expected);
        CHECK(b.memory.seen.size() == 1);
        CHECK(b.memory.asked == 1);
        CHECK(b.block.counters().reads == 4);
        CHECK(b.block.counters().read_bytes == 400);
        CHECK(std::equal(b.buffer.begin(), b.buffer.begin() + 100, b.memory.direct.begin() + 0x40));
        // The last bytes of what is granted, one byte too many, the one before it.
        b.read[hi::send_read]->visible_at(1000, b.a_read(64, 0, direct + 0x1c0));
        b.run_to(1200);
        CHECK(b.memory.seen.size() == 1);
        CHECK(b.buffer[63] == b.memory.direct[0x1ff]);
        b.read[hi::send_read]->visible_at(1300, b.a_read(64, 0, direct + 0x1c1));
        b.run_to(1500);
        CHECK(b.memory.seen.size() == 2);
        b.read[hi::send_read]->visible_at(1600, b.a_read(64, 0, direct - 1));
        b.run_to(1800);
        CHECK(b.memory.seen.size() == 3);
        CHECK(b.done[hi::send_read]->cycles().back() == 1600 + read_latency + bus(64) + 1);
    }
}

TEST_CASE("host interface: DMI that is taken back is asked for again, and a reset forgets it") {
    host_bench b;
    b.memory.grants = target::dmi::granted;
    b.memory.direct.assign(0x200, 1);
    const auto direct = target::direct_address;
    b.start();
    cycle_t r = 20;
    const auto read = [&] {
        b.read[hi::cache_read]->visible_at(r, b.a_read(64, 0, direct));
        r += 200;
        b.run_to(r);
        return b.memory.seen.size();
    };
    CHECK(read() == 1);
    CHECK(read() == 1);
    b.memory.socket->invalidate_direct_mem_ptr(0, direct - 1);
    b.memory.socket->invalidate_direct_mem_ptr(direct + 0x200, ~sc_dt::uint64{0});
    CHECK(read() == 1);  // neither has a byte of it
    b.memory.socket->invalidate_direct_mem_ptr(direct + 0x1ff, direct + 0x300);
    CHECK(read() == 2);
    CHECK(read() == 2);
    b.memory.socket->invalidate_direct_mem_ptr(0, direct);
    CHECK(read() == 3);
    CHECK(b.memory.asked == 3);
    b.start();
    r = 20;
    CHECK(read() == 1);
}

TEST_CASE("host interface: DMI without a latency of a transfer is not used, and asked for once") {
    host_bench b;
    b.memory.direct.assign(0x200, 1);
    for (const auto grants : {target::dmi::refused, target::dmi::without_latency}) {
        b.memory.grants = grants;
        b.start();
        for (std::uint32_t i = 0; i < 3; ++i) {
            b.read[hi::send_read]->visible_at(20 + i, b.a_read(64, i, target::direct_address));
        }
        b.run_to(400);
        CHECK(b.memory.seen.size() == 3);
        CHECK(b.memory.asked == 1);
        // It may have changed its mind.
        b.memory.socket->invalidate_direct_mem_ptr(0, ~sc_dt::uint64{0});
        b.read[hi::send_read]->visible_at(500, b.a_read(64, 3, target::direct_address));
        b.run_to(800);
        CHECK(b.memory.asked == 2);
    }
}

TEST_CASE("host interface: reads_outstanding tags") {
    host_bench b;
    b.config.reads_outstanding = 2;
    for (const engine_kind kind : both) {
        b.start(kind);
        for (std::uint32_t i = 0; i < 4; ++i) {
            b.read[hi::send_read]->visible_at(20 + i, b.a_read(32, i));
        }
        b.run_to(600);
        const cycle_t d = 20 + read_latency + bus(32);
        // A tag is free in the cycle in which the answer is pushed.
        CHECK(b.edge(2) == d);
        CHECK(b.edge(3) == d + 1);
        CHECK(b.done[hi::send_read]->seen.size() == 4);
    }
}

TEST_CASE("host interface: writes by priority, each when the bus is free, never passing a higher one") {
    host_bench b;
    for (const engine_kind kind : both) {
        b.start(kind);
        const cycle_t r = 20;
        b.write[hi::completion_write]->visible_at(r, b.a_write(64, 0x400));
        b.write[hi::command_write]->visible_at(r, b.a_write(104, 0x300));
        b.write[hi::cache_write]->visible_at(r, b.a_write(256, 0x200));
        b.write[hi::receive_write]->visible_at(r, b.a_write(4096, 0x100));
        b.write[hi::receive_write]->visible_at(r + 30, b.a_write(64, 0x101));
        b.run_to(400);
        REQUIRE(b.memory.seen.size() == 5);
        // The target sees a write when it has left: at i + T(b).
        cycle_t at = r;
        const std::pair<std::uint64_t, std::uint32_t> order[] = {
            {0x100, 4096}, {0x101, 64}, {0x200, 256}, {0x300, 104}, {0x400, 64}};
        for (std::size_t k = 0; k < 5; ++k) {
            CHECK(b.memory.seen[k].address == order[k].first);
            at += bus(order[k].second);
            CHECK(b.edge(k) == at);
        }
    }
}

TEST_CASE("host interface: a write of the cache goes before any read of the cache") {
    host_bench b;
    b.start();
    b.write[hi::receive_write]->visible_at(20, b.a_write(4096, 0x100));  // 71 cycles of bus
    b.write[hi::cache_write]->visible_at(22, b.a_write(256, 0x200));
    b.read[hi::cache_read]->visible_at(22, b.a_read(256));
    b.read[hi::send_read]->visible_at(22, b.a_read(64));
    b.run_to(400);
    REQUIRE(b.memory.seen.size() == 4);
    const cycle_t issued = 20 + bus(4096);
    CHECK(b.memory.seen[1].bytes == 64);  // the send engine's read is not held up
    CHECK(b.edge(1) == 22);
    CHECK(b.memory.seen[2].address == 0x200);
    // Reads are looked at before writes, so the cycle in which the write is issued still holds the read.
    CHECK_FALSE(b.memory.seen[3].is_write);
    CHECK(b.edge(3) == issued + 1);
}

TEST_CASE("host interface: an interrupt is a write of 0 bytes and comes after the event that it tells of") {
    host_bench b;
    b.start();
    dma_write interrupt;
    interrupt.interrupt = true;
    b.write[hi::completion_write]->visible_at(20, b.a_write(16, 0x400));
    b.write[hi::completion_write]->visible_at(21, interrupt);
    b.run_to(100);
    REQUIRE(b.memory.interrupts.size() == 1);
    const cycle_t bus_0 = 1;  // 24 bytes of overhead
    CHECK(b.edge_of(b.memory.interrupts[0]) == 20 + bus(16) + bus_0);
    CHECK(b.block.counters().interrupts == 1);
}

TEST_CASE("host interface: a bus error gives zeros and is counted") {
    host_bench b;
    b.start();
    b.buffer.fill(7);
    dma_read bad = b.a_read(64);
    bad.address = 0x100000;
    b.read[hi::receive_read]->visible_at(20, bad);
    b.run_to(300);
    CHECK(b.done[hi::receive_read]->seen.size() == 1);
    CHECK(b.block.counters().bus_errors == 1);
    CHECK(b.buffer[63] == 0);
}

TEST_CASE("host interface: under back-pressure everything is answered, in order, wheel and poll identical") {
    host_bench b;
    b.config.reads_outstanding = 8;
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        std::vector<cycle_t> cycles[2];
        for (const engine_kind kind : both) {
            b.start(kind, 300, seed);
            for (std::uint32_t i = 0; i < 40; ++i) {
                for (std::uint32_t c = 0; c < hi::read_clients; ++c) {
                    b.read[c]->visible_at(20 + i, b.a_read(32 + i * 10, i));
                }
                for (std::uint32_t c = 0; c < hi::write_clients; ++c) {
                    b.write[c]->visible_at(20 + i, b.a_write(16 + i, c * 0x100 + i));
                }
            }
            b.run_to(8000);
            for (std::uint32_t c = 0; c < hi::read_clients; ++c) {
                REQUIRE(b.done[c]->seen.size() == 40);
                for (std::uint32_t i = 0; i < 40; ++i) {
                    CHECK(b.done[c]->seen[i].value.cookie == i);
                }
            }
            CHECK(b.memory.seen.size() == 40 * 8);
            cycles[kind == engine_kind::poll] = b.done[1]->cycles();
        }
        CHECK(cycles[0] == cycles[1]);
    }
}
