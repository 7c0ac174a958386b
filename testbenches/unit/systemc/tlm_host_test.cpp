#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <random>
#include <systemc>
#include <tlm>
#include <vector>

#include "model/clock/clock_domain.h"
#include "model/clock/direct_read.h"
#include "model/ib/work_queue.h"
#include "testbenches/unit/catch.h"
#include "tlm/host_memory.h"
#include "tlm/host_processor.h"
#include "tlm/payload_pool.h"
#include "tlm/pcie_bus.h"

namespace hcasim {
namespace {

using sc_core::SC_NS;
using sc_core::sc_time;

constexpr std::uint64_t bar_base = 0x10000;
constexpr std::uint64_t memory_bytes = 1 << 20;

sc_time ns(double t) { return sc_time(t, SC_NS); }

/// The device's side of the bus: takes register writes, makes DMA accesses.
struct device : sc_core::sc_module, tlm::tlm_fw_transport_if<>, tlm::tlm_bw_transport_if<> {
    struct access {
        std::uint64_t offset;
        std::vector<unsigned char> data;
        unsigned streaming_width;
        sc_time delay;
    };

    explicit device(const sc_core::sc_module_name& name) : sc_module(name) {
        mmio_targ_socket.bind(*this);
        dma_init_socket.bind(*this);
    }
    void b_transport(tlm::tlm_generic_payload& p, sc_time& delay) override {
        accesses.push_back({p.get_address(),
                            {p.get_data_ptr(), p.get_data_ptr() + p.get_data_length()},
                            p.get_streaming_width(),
                            delay});
        if (p.is_read()) {
            std::memset(p.get_data_ptr(), 0x5a, p.get_data_length());
        }
        p.set_response_status(tlm::TLM_OK_RESPONSE);
    }
    tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload&, tlm::tlm_phase&, sc_time&) override {
        return tlm::TLM_ACCEPTED;
    }
    bool get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi&) override { return false; }
    unsigned transport_dbg(tlm::tlm_generic_payload&) override { return 0; }
    tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload&, tlm::tlm_phase&, sc_time&) override {
        return tlm::TLM_ACCEPTED;
    }
    void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override { ++invalidated; }

    tlm::tlm_response_status dma(tlm::tlm_command command, std::uint64_t address, void* data, unsigned bytes,
                                 sc_time& delay) {
        tlm::tlm_generic_payload& p = pool.get(command, address, static_cast<unsigned char*>(data), bytes);
        dma_init_socket->b_transport(p, delay);
        const auto status = p.get_response_status();
        p.release();
        return status;
    }
    sc_time write(std::uint64_t address, std::uint32_t value, sc_time delay) {
        CHECK(dma(tlm::TLM_WRITE_COMMAND, address, &value, sizeof value, delay) == tlm::TLM_OK_RESPONSE);
        return delay;
    }
    std::uint32_t read(std::uint64_t address, sc_time& delay) {
        std::uint32_t value = 0;
        CHECK(dma(tlm::TLM_READ_COMMAND, address, &value, sizeof value, delay) == tlm::TLM_OK_RESPONSE);
        return value;
    }

    tlm::tlm_target_socket<64> mmio_targ_socket{"mmio_targ_socket"};
    tlm::tlm_initiator_socket<64> dma_init_socket{"dma_init_socket"};
    payload_pool pool;
    std::vector<access> accesses;
    unsigned invalidated = 0;
};

struct platform {
    platform() {
        processor.mmio_init_socket().bind(bus.host_targ_socket());
        bus.mmio_init_socket().bind(card.mmio_targ_socket);
        card.dma_init_socket.bind(bus.dma_targ_socket());
        bus.memory_init_socket().bind(memory.targ_socket());
        sc_core::sc_start(sc_core::SC_ZERO_TIME);
        memory.reset(memory_bytes, ns(500), ns(250));
        bus.reset(ns(150));
        processor.reset(ns(2000));
        domain.reset(engine_kind::wheel);
    }
    std::uint32_t software_reads(std::uint64_t address, double at_ns) {
        std::uint32_t value = 0;
        memory.read(address, &value, sizeof value, ns(at_ns));
        return value;
    }

    clock_domain domain{"domain", ns(4)};
    host_memory memory{"memory"};
    pcie_bus bus{"bus", bar_base, ib::bar_bytes};
    host_processor processor{"processor", domain, bar_base};
    device card{"card"};
};

TEST_CASE("memory: a device's write is seen by software from its time on, not a moment before") {
    platform p;
    CHECK(p.card.write(0x100, 7, ns(40)) == ns(290));
    CHECK(p.software_reads(0x100, 0) == 0);
    CHECK(p.software_reads(0x100, 289) == 0);
    std::uint32_t value = 0;
    p.memory.read(0x100, &value, sizeof value, ns(290) - sc_core::sc_get_time_resolution());
    CHECK(value == 0);
    CHECK(p.software_reads(0x100, 290) == 7);
    CHECK(p.memory.writes_in_flight() == 0);
}

TEST_CASE("memory: a device sees its own writes at once, also those in flight that overlap") {
    platform p;
    sc_time delay = ns(10);
    p.card.write(0x200, 0x11111111, ns(0));
    p.card.write(0x202, 0x22222222, ns(0));
    CHECK(p.card.read(0x200, delay) == 0x22221111);
    CHECK(delay == ns(510));
    CHECK(p.card.read(0x204, delay) == 0x00002222);
    CHECK(p.software_reads(0x200, 249) == 0);
    CHECK(p.software_reads(0x200, 250) == 0x22221111);
}

TEST_CASE("memory: writes become visible in the order in which they were made") {
    platform p;
    p.card.write(0x300, 1, ns(100));
    CHECK(p.card.write(0x304, 2, ns(0)) == ns(250));
    // The second would be there at 250 ns, but the first is not.
    CHECK(p.software_reads(0x304, 300) == 0);
    CHECK(p.software_reads(0x300, 350) == 1);
    CHECK(p.software_reads(0x304, 350) == 2);
}

TEST_CASE("memory: software's writes are seen by a device at once") {
    platform p;
    const std::uint32_t value = 9;
    p.memory.write(0x400, &value, sizeof value, ns(0));
    sc_time delay;
    CHECK(p.card.read(0x400, delay) == 9);
}

TEST_CASE("memory: a write of software below writes in flight shows until the first of them is there") {
    platform p;
    const auto bytes_of = [&](double at) {
        std::array<std::uint8_t, 8> seen{};
        p.memory.read(0x500, seen.data(), seen.size(), ns(at));
        return seen;
    };
    using eight = std::array<std::uint8_t, 8>;
    p.card.write(0x502, 0x0a0a0a0a, ns(0));    // there at 250
    p.card.write(0x504, 0x0b0b0b0b, ns(100));  // there at 350
    const eight nines{9, 9, 9, 9, 9, 9, 9, 9};
    p.memory.write(0x500, nines.data(), nines.size(), ns(10));
    sc_time delay;
    CHECK(p.card.read(0x500, delay) == 0x0a0a0909);
    CHECK(p.card.read(0x504, delay) == 0x0b0b0b0b);
    CHECK(bytes_of(249) == nines);
    CHECK(bytes_of(250) == eight{9, 9, 10, 10, 10, 10, 9, 9});
    p.memory.write(0x504, nines.data(), 2, ns(260));
    CHECK(bytes_of(349) == eight{9, 9, 10, 10, 9, 9, 9, 9});
    CHECK(bytes_of(350) == eight{9, 9, 10, 10, 11, 11, 11, 11});
}

TEST_CASE("memory: a write of software stays above what a device wrote before, looked at or not") {
    platform p;
    p.card.write(0x580, 0x0a0a0a0a, ns(0));  // there at 250
    const std::uint32_t value = 9;
    p.memory.write(0x580, &value, sizeof value, ns(250));
    CHECK(p.software_reads(0x580, 300) == 9);
    sc_time delay;
    CHECK(p.card.read(0x580, delay) == 9);
}

TEST_CASE("memory: a random mix of writes is seen as a list of them in time says") {
    platform p;
    struct one {
        double from;
        std::uint64_t address;
        std::vector<std::uint8_t> data;
        bool by_device;
    };
    std::mt19937 random(7);
    std::vector<one> writes;
    double last_arrival = 0;
    constexpr std::uint64_t base = 0x600;
    constexpr std::size_t size = 24;
    for (int step = 1; step <= 400; ++step) {
        const double at = 40.0 * step;
        one w;
        w.by_device = random() % 2 == 0;
        w.address = random() % (size - 8);
        w.data.assign(w.by_device ? 4 : 1 + random() % 8, static_cast<std::uint8_t>(random()));
        if (w.by_device) {
            std::uint32_t value = 0;
            std::memcpy(&value, w.data.data(), 4);
            w.from = last_arrival = std::max(last_arrival, at + 250);
            p.card.write(base + w.address, value, ns(at));
        } else {
            w.from = at;
            p.memory.write(base + w.address, w.data.data(), w.data.size(), ns(at));
        }
        writes.push_back(w);
        // Software's view: in the order of the times; what a device wrote in an earlier call comes later.
        std::vector<one> in_time = writes;
        std::stable_sort(in_time.begin(), in_time.end(),
                         [](const one& a, const one& b) { return a.from < b.from; });
        std::array<std::uint8_t, size> expected{};
        for (const one& o : in_time) {
            if (o.from <= at) {
                std::copy(o.data.begin(), o.data.end(),
                          expected.begin() + static_cast<std::ptrdiff_t>(o.address));
            }
        }
        std::array<std::uint8_t, size> seen{};
        p.memory.read(base, seen.data(), size, ns(at));
        REQUIRE(seen == expected);
    }
    CHECK(p.memory.writes_in_flight() != 0);
}

TEST_CASE("memory: DMI through the bus shows what a device reads, and is taken back by a reset") {
    platform p;
    sc_time delay;
    std::uint32_t value = 0;
    tlm::tlm_generic_payload& t =
        p.card.pool.get(tlm::TLM_READ_COMMAND, 0x700, reinterpret_cast<unsigned char*>(&value), sizeof value);
    p.card.dma_init_socket->b_transport(t, delay);
    CHECK(t.is_dmi_allowed());
    tlm::tlm_dmi dmi;
    // Who does not ask for the latency of a transfer would reckon with one per byte.
    CHECK_FALSE(p.card.dma_init_socket->get_direct_mem_ptr(t, dmi));
    direct_read extension;
    t.set_extension(&extension);
    REQUIRE(p.card.dma_init_socket->get_direct_mem_ptr(t, dmi));
    t.clear_extension(&extension);
    t.release();
    CHECK(extension.granted);
    CHECK(extension.latency == ns(500));
    CHECK(dmi.is_read_allowed());
    CHECK_FALSE(dmi.is_write_allowed());
    CHECK(dmi.get_start_address() == 0);
    CHECK(dmi.get_end_address() == memory_bytes - 1);
    p.card.write(0x700, 0x01020304, ns(0));
    std::memcpy(&value, dmi.get_dmi_ptr() + 0x700, sizeof value);
    CHECK(value == 0x01020304);
    CHECK(p.software_reads(0x700, 0) == 0);
    CHECK(p.card.invalidated == 0);
    p.memory.reset(memory_bytes, ns(500), ns(250));
    CHECK(p.card.invalidated == 1);
    p.memory.reset(memory_bytes, ns(500), ns(250));
    CHECK(p.card.invalidated == 1);  // nobody has a pointer
    tlm::tlm_dmi of_bar;
    tlm::tlm_generic_payload q;
    CHECK_FALSE(p.processor.mmio_init_socket()->get_direct_mem_ptr(q, of_bar));
}

TEST_CASE("memory: the last byte is there, the one behind it is an address error") {
    platform p;
    unsigned char bytes[16] = {1};
    sc_time delay = ns(3);
    for (const auto command : {tlm::TLM_READ_COMMAND, tlm::TLM_WRITE_COMMAND}) {
        CHECK(p.card.dma(command, memory_bytes - 16, bytes, 16, delay) == tlm::TLM_OK_RESPONSE);
        delay = ns(3);
        CHECK(p.card.dma(command, memory_bytes - 15, bytes, 16, delay) == tlm::TLM_ADDRESS_ERROR_RESPONSE);
        CHECK(p.card.dma(command, ~std::uint64_t{0} - 7, bytes, 16, delay) ==
              tlm::TLM_ADDRESS_ERROR_RESPONSE);
        CHECK(delay == ns(3));
    }
    CHECK_THROWS_AS(p.memory.read(memory_bytes - 3, bytes, 4, ns(0)), std::out_of_range);
    CHECK_THROWS_AS(p.memory.write(memory_bytes, bytes, 1, ns(0)), std::out_of_range);
}

TEST_CASE("memory: reset clears it and forgets what is in flight") {
    platform p;
    p.card.write(0x100, 7, ns(0));
    CHECK(p.software_reads(0x100, 1000) == 7);
    p.card.write(0x104, 8, ns(0));
    p.memory.reset(memory_bytes, ns(500), ns(250));
    CHECK(p.software_reads(0x100, 2000) == 0);
    CHECK(p.software_reads(0x104, 2000) == 0);
}

TEST_CASE("memory: after a reset of any size every byte is zero") {
    platform p;
    std::vector<std::uint8_t> ones(9000, 0xff);
    std::vector<std::uint8_t> seen(memory_bytes);
    for (const std::uint64_t bytes : {memory_bytes, memory_bytes / 2 + 1, memory_bytes, memory_bytes * 3}) {
        p.memory.reset(bytes, ns(0), ns(0));
        // Over three pages at the start, one in the middle, the last byte; and a device's write at the end.
        p.memory.write(4095, ones.data(), 4098, ns(0));
        p.memory.write(bytes / 2, ones.data(), 1, ns(0));
        p.memory.write(bytes - 1, ones.data(), 1, ns(0));
        p.card.write(bytes - 8, 0xffffffff, ns(0));
        std::uint32_t word = 0;
        p.memory.read(bytes - 8, &word, sizeof word, ns(1000));
        CHECK(word == 0xffffffff);
        p.memory.reset(bytes, ns(0), ns(0));
        CHECK(p.memory.size_bytes() == bytes);
        seen.assign(bytes, 0xff);
        p.memory.read(0, seen.data(), bytes, ns(2000));
        CHECK(std::count(seen.begin(), seen.end(), 0) == static_cast<std::ptrdiff_t>(bytes));
    }
}

TEST_CASE("bus: a register write reaches the device with the MMIO latency on its delay") {
    platform p;
    p.processor.mmio_write(0x1800, 0x1122334455667788, ns(12));
    REQUIRE(p.card.accesses.size() == 1);
    CHECK(p.card.accesses[0].offset == 0x1800);
    CHECK(p.card.accesses[0].delay == ns(162));
    std::uint64_t value = 0;
    std::memcpy(&value, p.card.accesses[0].data.data(), sizeof value);
    CHECK(value == 0x1122334455667788);
}

TEST_CASE("bus: a burst is one transfer to one register") {
    platform p;
    const std::vector<std::uint64_t> words{1, 2, 3};
    p.processor.mmio_write_burst(0x1800, words.data(), words.size(), ns(0));
    REQUIRE(p.card.accesses.size() == 1);
    CHECK(p.card.accesses[0].data.size() == 24);
    CHECK(p.card.accesses[0].streaming_width == 8);
    // It needs no more room than its register.
    CHECK_NOTHROW(p.processor.mmio_write_burst(ib::bar_bytes - 8, words.data(), words.size(), ns(0)));
}

TEST_CASE("bus: outside the BAR nothing answers") {
    platform p;
    CHECK_THROWS_AS(p.processor.mmio_write(ib::bar_bytes - 7, 0, ns(0)), std::out_of_range);
    CHECK_NOTHROW(p.processor.mmio_write(ib::bar_bytes - 8, 0, ns(0)));
    CHECK_THROWS_AS(p.processor.mmio_write(std::uint64_t{0} - bar_base, 0, ns(0)), std::out_of_range);
    CHECK(p.card.accesses.size() == 1);
}

TEST_CASE(
    "processor: the interrupt handler runs at the first edge strictly after the interrupt has arrived") {
    platform p;
    std::vector<std::pair<cycle_t, unsigned>> calls;
    p.processor.set_interrupt_handler([&](unsigned vector) { calls.emplace_back(p.domain.now(), vector); });
    p.processor.raise(3, ns(0));  // at 2000 ns, an edge: cycle 501
    p.processor.raise(4, ns(5));  // at 2005 ns: cycle 502
    p.processor.raise(5, ns(1));  // at 2001 ns, behind the one before
    sc_core::sc_start(ns(2000));
    CHECK(calls.empty());
    sc_core::sc_start(ns(100));
    CHECK(calls == std::vector<std::pair<cycle_t, unsigned>>{{501, 3}, {502, 4}, {502, 5}});
    CHECK(p.processor.interrupts() == 3);
}

TEST_CASE("payload pool: as many payloads as were out at once") {
    payload_pool pool;
    unsigned char data[8] = {};
    tlm::tlm_generic_payload* first = &pool.get(tlm::TLM_READ_COMMAND, 1, data, 8);
    tlm::tlm_generic_payload* second = &pool.get(tlm::TLM_READ_COMMAND, 2, data, 8);
    CHECK(first != second);
    CHECK(pool.in_use() == 2);
    second->release();
    CHECK(&pool.get(tlm::TLM_WRITE_COMMAND, 3, data, 4) == second);
    CHECK(second->get_streaming_width() == 4);
    CHECK(second->get_response_status() == tlm::TLM_INCOMPLETE_RESPONSE);
    first->release();
    second->release();
    CHECK(pool.in_use() == 0);
}

/// Host software as an SC_THREAD, the way a stranger's platform has it.
struct thread_host : sc_core::sc_module {
    SC_HAS_PROCESS(thread_host);
    thread_host(const sc_core::sc_module_name& name, host_processor& p) : sc_module(name), processor(p) {
        SC_THREAD(run_thread);
    }
    void run_thread() {
        for (;;) {
            wait(processor.interrupt_event());
            times.push_back(sc_core::sc_time_stamp());
        }
    }
    host_processor& processor;
    std::vector<sc_time> times;
};

void thread_takes_interrupts(bool run_ahead) {
    clock_domain domain("domain", ns(4));
    host_processor processor("processor", domain, 0);
    device card("card");
    processor.mmio_init_socket().bind(card.mmio_targ_socket);
    host_memory memory("memory");
    card.dma_init_socket.bind(memory.targ_socket());
    thread_host host("host", processor);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    domain.reset(engine_kind::wheel);
    domain.set_run_ahead(run_ahead);
    domain.set_horizon(1000);
    processor.reset(ns(100));
    processor.raise(0, ns(10));
    processor.raise(0, ns(50));
    sc_core::sc_start(ns(1000));
    CHECK(host.times == std::vector<sc_time>{ns(112), ns(152)});
}

TEST_CASE("processor: a thread can wait for interrupts") { thread_takes_interrupts(false); }

TEST_CASE("processor: a thread can wait for interrupts of a domain that runs ahead") {
    thread_takes_interrupts(true);
}

}  // namespace
}  // namespace hcasim
