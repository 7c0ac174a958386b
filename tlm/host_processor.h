#ifndef HCASIM_TLM_HOST_PROCESSOR_H
#define HCASIM_TLM_HOST_PROCESSOR_H

#include <cstdint>
#include <deque>
#include <functional>
#include <systemc>
#include <tlm>
#include <vector>

#include "model/clock/clocked_module.h"
#include "model/clock/interrupt_if.h"
#include "tlm/payload_pool.h"

namespace hcasim {

/// A host's processor as its device sees it: it writes the device's registers and takes its interrupts.
///
/// Software is either a callback in the clock domain (set_interrupt_handler) or an SC_THREAD that waits for
/// interrupt_event(). The callback runs at the first edge strictly after the interrupt has arrived; the event
/// is notified at that edge's time and only when there is no callback, because a domain that runs ahead has
/// to stop for every event.
class host_processor : public clocked_module, public interrupt_if {
public:
    /// The device's registers start at `bar_address` of the bus behind mmio_init_socket.
    host_processor(const sc_core::sc_module_name& name, clock_domain& domain, std::uint64_t bar_address);

    tlm::tlm_initiator_socket<64>& mmio_init_socket() { return m_mmio_init_socket; }

    /// `interrupt_latency`: from the device to the first instruction of the handler.
    void reset(const sc_core::sc_time& interrupt_latency);

    void set_interrupt_handler(std::function<void(unsigned vector)> handler) {
        m_handler = std::move(handler);
    }
    const sc_core::sc_event& interrupt_event() const { return m_interrupt_event; }

    /// Posted 8-byte write to the BAR, leaving `delay` after sc_time_stamp(). Throws std::out_of_range when
    /// the bus refuses the address.
    void mmio_write(std::uint64_t offset, std::uint64_t value, const sc_core::sc_time& delay);

    /// `count` 8-byte writes to one register, one after the other in one bus transfer: a burst of doorbells.
    void mmio_write_burst(std::uint64_t offset, const std::uint64_t* values, std::size_t count,
                          const sc_core::sc_time& delay);

    void raise(unsigned vector, const sc_core::sc_time& delay) override;

    void tick() override;

    std::uint64_t interrupts() const { return m_interrupts; }

private:
    struct backward : tlm::tlm_bw_transport_if<> {
        tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload&, tlm::tlm_phase&,
                                           sc_core::sc_time&) override {
            return tlm::TLM_ACCEPTED;
        }
        void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
    };
    struct pending_interrupt {
        cycle_t cycle;
        unsigned vector;
    };

    std::uint64_t m_bar_address;
    tlm::tlm_initiator_socket<64> m_mmio_init_socket;
    backward m_backward;
    payload_pool m_payloads;
    std::vector<unsigned char> m_data;  // of the transfer under way
    sc_core::sc_time m_interrupt_latency;
    std::function<void(unsigned)> m_handler;
    sc_core::sc_event m_interrupt_event;
    std::deque<pending_interrupt> m_pending;
    std::uint64_t m_interrupts = 0;
};

}  // namespace hcasim

#endif
