#ifndef HCASIM_TESTBENCHES_SYSTEM_CONTRACT_H
#define HCASIM_TESTBENCHES_SYSTEM_CONTRACT_H

#include "model/clock/engine.h"

// The formulas of docs/microarchitecture.md for an idle HCA in the bench's configuration (two_hosts.h),
// written down once. Nothing in here is taken from what a run printed.
namespace hcasim::test::contract {

constexpr cycle_t dma_read_latency = 125;  // host.dma_read_ns = 500
constexpr cycle_t dma_write_latency = 63;  // host.dma_write_ns = 250, rounded up
constexpr cycle_t hit_cycles = 2;
constexpr cycle_t propagation = 3;
constexpr cycle_t rx_pipeline = 4;

/// T(b): bus time of b bytes.
constexpr cycle_t bus(cycle_t bytes) {
    const cycle_t tlps = bytes == 0 ? 1 : (bytes + 255) / 256;
    return (bytes + 24 * tlps + 62) / 63;
}
/// A read pushed at n is there at n + this.
constexpr cycle_t read(cycle_t bytes) { return 1 + dma_read_latency + bus(bytes) + 1; }
/// A context request pushed at n is answered at n + this, when it hits.
constexpr cycle_t context_hit = 1 + hit_cycles + 1;
/// By how much a miss is later: fill request 1, read, look-up again 1.
constexpr cycle_t miss_penalty = read(256) + 1;
/// A doorbell word that the driver writes after cycle c is seen by the scheduler at c + this: next edge 1,
/// channel 1, doorbell unit 2 (MMIO latency of the bench: 0).
constexpr cycle_t doorbell_to_scheduler = 1 + 1 + 2;
/// The same for receive engine and completion unit, which the doorbell unit passes on to.
constexpr cycle_t doorbell_passed_on = 1 + 1 + 1;
/// A modify_qp that the driver rings after cycle c, of `firmware` cycles: scheduler and engines see the new
/// state at c + this.
constexpr cycle_t modify_to_state(cycle_t firmware) {
    // edge 1, channel 1, mailbox, one step, context, firmware, cache 1, state event 1
    return 1 + 1 + read(104) + 1 + context_hit + firmware + 1 + 1;
}
/// Eligible at n: grant pushed n + 1, at the engine n + 2, context, WQE and payload of 64 bytes, link tx 1.
constexpr cycle_t eligible_to_context_request = 2;
constexpr cycle_t eligible_to_context = eligible_to_context_request + context_hit;
/// The same for the first of `wqes` that are granted together.
constexpr cycle_t eligible_to_wire_of(cycle_t wqes) {
    return eligible_to_context + read(64 * wqes) + read(64) + 1;
}
constexpr cycle_t eligible_to_wire = eligible_to_wire_of(1);
/// A packet injected into the cable after cycle c: its context request is looked up at c + this (cable 1,
/// rest of the propagation, one cycle in the receiver, channel 1, request channel 1).
constexpr cycle_t injection_to_lookup = 1 + (propagation - 1) + 1 + 1 + 1;
/// A CQE pushed at n is visible to software at n + this: channel 1, channel 1, bus, latency.
constexpr cycle_t cqe_to_host = 1 + 1 + bus(64) + dma_write_latency;
/// Last byte of a packet leaves at n: it is decided about at n + this when the context hits.
constexpr cycle_t last_byte_to_decision = propagation + rx_pipeline + 1 + context_hit;

static_assert(eligible_to_wire == 265, "docs: S, from gate open to first byte");
static_assert(miss_penalty == 133);

}  // namespace hcasim::test::contract

#endif
