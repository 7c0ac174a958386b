#ifndef HCASIM_TLM_PCIE_BUS_H
#define HCASIM_TLM_PCIE_BUS_H

#include <cstdint>
#include <systemc>
#include <tlm>

namespace hcasim {

/// The bus between one host and one device: processor to BAR, device to memory. Each direction is point to
/// point; the bus adds the MMIO latency to the annotated delay of writes (and twice of it, there and back, to
/// reads) and knows where the BAR lies. The latencies of memory accesses belong to host_memory.
class pcie_bus : public sc_core::sc_module {
public:
    /// The BAR occupies `bar_bytes` from `bar_address` in the processor's address space and starts at 0 for
    /// the device.
    pcie_bus(const sc_core::sc_module_name& name, std::uint64_t bar_address, std::uint64_t bar_bytes);

    tlm::tlm_target_socket<64>& host_targ_socket() { return m_host_targ_socket; }
    tlm::tlm_initiator_socket<64>& mmio_init_socket() { return m_mmio_init_socket; }
    tlm::tlm_target_socket<64>& dma_targ_socket() { return m_dma_targ_socket; }
    tlm::tlm_initiator_socket<64>& memory_init_socket() { return m_memory_init_socket; }

    void reset(const sc_core::sc_time& mmio_latency) { m_mmio_latency = mmio_latency; }

private:
    struct backward : tlm::tlm_bw_transport_if<> {
        backward(pcie_bus& b, bool of_memory) : bus(b), from_memory(of_memory) {}
        tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload&, tlm::tlm_phase&,
                                           sc_core::sc_time&) override {
            return tlm::TLM_ACCEPTED;
        }
        void invalidate_direct_mem_ptr(sc_dt::uint64 first, sc_dt::uint64 last) override;
        pcie_bus& bus;
        bool from_memory;
    };
    // One way through the bus; from_host is towards the BAR.
    struct path : tlm::tlm_fw_transport_if<> {
        path(pcie_bus& b, bool towards_bar) : bus(b), from_host(towards_bar) {}
        void b_transport(tlm::tlm_generic_payload& p, sc_core::sc_time& delay) override;
        tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase,
                                           sc_core::sc_time& delay) override;
        bool get_direct_mem_ptr(tlm::tlm_generic_payload& p, tlm::tlm_dmi& dmi) override;
        unsigned transport_dbg(tlm::tlm_generic_payload& p) override;
        pcie_bus& bus;
        bool from_host;
    };

    bool in_bar(const tlm::tlm_generic_payload& p) const;

    std::uint64_t m_bar_address;
    std::uint64_t m_bar_bytes;
    sc_core::sc_time m_mmio_latency;
    tlm::tlm_target_socket<64> m_host_targ_socket;
    tlm::tlm_initiator_socket<64> m_mmio_init_socket;
    tlm::tlm_target_socket<64> m_dma_targ_socket;
    tlm::tlm_initiator_socket<64> m_memory_init_socket;
    path m_host_path;
    path m_dma_path;
    backward m_mmio_backward;
    backward m_memory_backward;
};

}  // namespace hcasim

#endif
