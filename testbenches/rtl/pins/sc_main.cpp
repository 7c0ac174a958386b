// doorbell_unit.v as Verilator's SystemC module, joined to a SystemC testbench by signals: proof that the
// Verilog plugs into anybody's bench pin by pin. The cycles are those of docs/microarchitecture.md, "Doorbell
// unit".
#include <systemc>

#include <cstdint>
#include <iostream>
#include <string>

#include "Vdoorbell_unit.h"

using sc_core::sc_signal;

namespace {

int failures = 0;

void check(const std::string& what, std::uint64_t value, std::uint64_t expected) {
    if (value != expected) {
        std::cout << "FAILED: " << what << ": " << value << ", expected " << expected << "\n";
        ++failures;
    }
}

std::uint64_t send_word(std::uint32_t qpn, std::uint16_t producer) {
    return std::uint64_t{qpn} << 32 | producer;
}

}  // namespace

int sc_main(int, char**) {
    sc_core::sc_clock clk("clk", 4, sc_core::SC_NS);
    sc_signal<bool> rst_n, coalesce, write_valid, write_ready, send_valid, send_ready, receive_valid,
        receive_ready, cq_valid, cq_ready, cq_event_queue, busy;
    sc_signal<std::uint64_t> word;
    sc_signal<std::uint32_t> send_qpn, send_producer, receive_qpn, receive_producer, cq_cqn, cq_consumer;
    sc_signal<bool> received, coalesced, stale, unknown, full, merged;
    sc_signal<std::uint32_t> merged_qpn, merged_before, merged_offered, merged_after, level;

    Vdoorbell_unit unit("unit");
    unit.clk_i(clk);
    unit.rst_ni(rst_n);
    unit.cfg_coalesce_i(coalesce);
    unit.write_valid_i(write_valid);
    unit.write_ready_o(write_ready);
    unit.write_word_i(word);
    unit.send_valid_o(send_valid);
    unit.send_ready_i(send_ready);
    unit.send_qpn_o(send_qpn);
    unit.send_producer_o(send_producer);
    unit.receive_valid_o(receive_valid);
    unit.receive_ready_i(receive_ready);
    unit.receive_qpn_o(receive_qpn);
    unit.receive_producer_o(receive_producer);
    unit.cq_valid_o(cq_valid);
    unit.cq_ready_i(cq_ready);
    unit.cq_cqn_o(cq_cqn);
    unit.cq_consumer_o(cq_consumer);
    unit.cq_event_queue_o(cq_event_queue);
    unit.busy_o(busy);
    unit.trace_received_o(received);
    unit.trace_coalesced_o(coalesced);
    unit.trace_stale_o(stale);
    unit.trace_unknown_o(unknown);
    unit.trace_full_o(full);
    unit.trace_merged_o(merged);
    unit.trace_merged_qpn_o(merged_qpn);
    unit.trace_merged_before_o(merged_before);
    unit.trace_merged_offered_o(merged_offered);
    unit.trace_merged_after_o(merged_after);
    unit.trace_level_o(level);

    // One cycle: inputs change behind the edge, outputs are looked at before the next one.
    const auto to_next_cycle = [] { sc_core::sc_start(4, sc_core::SC_NS); };
    const auto offer = [&](std::uint64_t w) {
        write_valid = true;
        word = w;
    };
    coalesce = true;
    receive_ready = true;
    cq_ready = true;
    rst_n = false;
    sc_core::sc_start(1, sc_core::SC_NS);
    to_next_cycle();
    to_next_cycle();
    rst_n = true;
    to_next_cycle();
    check("idle", busy.read(), 0);

    // Visible to the unit at r, at the head of the FIFO at r + 1.
    send_ready = true;
    offer(send_word(5, 1));
    sc_core::sc_start(1, sc_core::SC_NS);
    check("taken at r", write_ready.read(), 1);
    check("nothing to send at r", send_valid.read(), 0);
    sc_core::sc_start(3, sc_core::SC_NS);
    write_valid = false;
    sc_core::sc_start(1, sc_core::SC_NS);
    check("to send at r + 1", send_valid.read(), 1);
    check("QPN", send_qpn.read(), 5);
    check("producer index", send_producer.read(), 1);
    sc_core::sc_start(3, sc_core::SC_NS);
    sc_core::sc_start(1, sc_core::SC_NS);
    check("once", send_valid.read(), 0);
    sc_core::sc_start(3, sc_core::SC_NS);

    // Doorbells of one QP become one while the scheduler does not take them, and only move forward.
    send_ready = false;
    for (const std::uint16_t producer : {7, 9, 8}) {
        offer(send_word(6, producer));
        to_next_cycle();
    }
    write_valid = false;
    sc_core::sc_start(1, sc_core::SC_NS);
    check("held", send_valid.read(), 1);
    check("the latest index", send_producer.read(), 9);
    sc_core::sc_start(3, sc_core::SC_NS);
    send_ready = true;
    to_next_cycle();
    sc_core::sc_start(1, sc_core::SC_NS);
    check("one for all three", send_valid.read(), 0);
    sc_core::sc_start(3, sc_core::SC_NS);

    // Receive queue and CQ pass in the cycle in which they are seen.
    offer(std::uint64_t{1} << 56 | send_word(3, 77));
    sc_core::sc_start(1, sc_core::SC_NS);
    check("receive doorbell passes", receive_valid.read(), 1);
    check("its index", receive_producer.read(), 77);
    sc_core::sc_start(3, sc_core::SC_NS);
    offer(std::uint64_t{3} << 56 | send_word(0, 12));
    sc_core::sc_start(1, sc_core::SC_NS);
    check("event queue passes", cq_valid.read(), 1);
    check("as such", cq_event_queue.read(), 1);
    sc_core::sc_start(3, sc_core::SC_NS);
    unit.final();
    std::cout << (failures == 0 ? "pin by pin: all as documented\n" : "");
    return failures == 0 ? 0 : 1;
}
