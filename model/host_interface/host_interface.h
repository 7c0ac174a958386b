#ifndef HCASIM_MODEL_HOST_INTERFACE_HOST_INTERFACE_H
#define HCASIM_MODEL_HOST_INTERFACE_HOST_INTERFACE_H

#include <array>
#include <cstdint>
#include <systemc>
#include <tlm>

#include "model/clock/channel.h"
#include "model/clock/interrupt_if.h"
#include "model/clock/ring_queue.h"
#include "model/host_interface/host_interface_config.h"
#include "model/ib/messages.h"
#include "model/stats/observer.h"

namespace hcasim {

/// The HCA's end of the host bus: MMIO writes in, DMA reads and writes and interrupts out. TLM-2.0 on the
/// outside, channels inside. Cycle contract: docs/microarchitecture.md, "host interface".
class host_interface : public clocked_module,
                       public tlm::tlm_fw_transport_if<>,
                       public tlm::tlm_bw_transport_if<> {
public:
    enum read_client : std::uint32_t { cache_read, send_read, receive_read, command_read, read_clients };
    /// In the order of priority: a completion never passes a payload write that was asked for before it.
    enum write_client : std::uint32_t {
        receive_write,
        cache_write,
        command_write,
        completion_write,
        write_clients
    };

    host_interface(const sc_core::sc_module_name& name, clock_domain& domain, ib::packet_pool& pool);

    tlm::tlm_target_socket<64> mmio_targ_socket;
    tlm::tlm_initiator_socket<64> dma_init_socket;
    sc_core::sc_port<interrupt_if, 1, sc_core::SC_ZERO_OR_MORE_BOUND> interrupt_o;
    out_port<doorbell_write> doorbell_o;
    out_port<command_doorbell> command_o;
    std::array<in_port<dma_read>, read_clients> read_i;
    std::array<out_port<dma_read_done>, read_clients> read_o;
    std::array<in_port<dma_write>, write_clients> write_i;

    void reset(const host_interface_config& config);
    void set_observer(observer* o) { m_observer = o; }
    void tick() override;

    // TLM-2.0
    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override;
    tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) override;
    tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) override;
    bool get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) override;
    void invalidate_direct_mem_ptr(sc_dt::uint64 first, sc_dt::uint64 last) override;
    unsigned int transport_dbg(tlm::tlm_generic_payload& payload) override;

    struct counters_t {
        std::uint64_t mmio_writes = 0;
        std::uint64_t mmio_ignored = 0;  ///< offset or size not known: accepted and dropped
        std::uint64_t reads = 0;
        std::uint64_t read_bytes = 0;
        std::uint64_t writes = 0;
        std::uint64_t write_bytes = 0;
        std::uint64_t interrupts = 0;
        std::uint64_t max_mmio_queue = 0;
        std::uint64_t bus_errors = 0;  ///< DMA refused by the target
    };
    const counters_t& counters() const { return m_counters; }

protected:
    void end_of_elaboration() override { m_target = dma_init_socket.operator->(); }

private:
    struct mmio_write {
        cycle_t visible = 0;
        std::uint64_t offset = 0;
        std::uint64_t value = 0;
    };
    struct pending_read {
        cycle_t due = 0;
        std::uint32_t cookie = 0;
    };

    void take_mmio();
    void finish_reads();
    bool issue_read();
    bool issue_write();
    void do_read(std::uint32_t client, const dma_read& r);
    void do_write(const dma_write& w);
    cycle_t transfer_cycles(std::uint32_t bytes) const;
    cycle_t call(tlm::tlm_command command, std::uint64_t address, std::uint8_t* data, std::uint32_t bytes,
                 cycle_t leaves);
    cycle_t read(std::uint64_t address, std::uint8_t* destination, std::uint32_t bytes);
    [[gnu::cold]] void ask_for_direct(std::uint64_t address);
    cycle_t cycles_of(const sc_core::sc_time& latency) const;
    [[gnu::cold]] void refuse(tlm::tlm_command command, std::uint8_t* data, std::uint32_t bytes);

    ib::packet_pool& m_pool;
    host_interface_config m_config;
    ring_queue<mmio_write> m_mmio;
    std::array<ring_queue<pending_read>, read_clients> m_pending;
    std::uint32_t m_pending_clients = 0;  // bit per queue of m_pending that is not empty
    std::uint32_t m_reads_outstanding = 0;
    std::uint32_t m_next_read = 0;
    cycle_t m_first_due = never;      // of all pending reads
    std::uint64_t m_read_inputs = 0;  // bits of filled_inputs()
    std::uint64_t m_write_inputs = 0;
    int m_first_read_input = 0;  // bit of read_i[0]; those of the others follow
    int m_first_write_input = 0;
    cycle_t m_down_free = 0;                         // first cycle in which the bus towards the HCA is free
    cycle_t m_up_free = 0;                           // ... and away from it
    tlm::tlm_fw_transport_if<>* m_target = nullptr;  // of the DMA socket
    tlm::tlm_generic_payload m_payload;
    /// Latency of the last call in each direction, and what it is in cycles.
    struct known_latency {
        sc_core::sc_time time;
        cycle_t cycles = 0;
    };
    std::array<known_latency, 2> m_known_latency;  // of reads, of writes
    /// Memory that the target lets us read without a call.
    struct direct_memory {
        std::uint64_t address = 0;
        std::uint64_t bytes = 0;
        const std::uint8_t* data = nullptr;
        cycle_t latency_cycles = 0;
    };
    direct_memory m_direct;
    bool m_direct_refused = false;
    observer* m_observer = nullptr;
    counters_t m_counters;
};

}  // namespace hcasim

#endif
