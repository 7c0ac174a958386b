#include "tlm/pcie_bus.h"

#include <algorithm>

namespace hcasim {

pcie_bus::pcie_bus(const sc_core::sc_module_name& name, std::uint64_t bar_address, std::uint64_t bar_bytes)
    : sc_core::sc_module(name),
      m_bar_address(bar_address),
      m_bar_bytes(bar_bytes),
      m_host_targ_socket("host_targ_socket"),
      m_mmio_init_socket("mmio_init_socket"),
      m_dma_targ_socket("dma_targ_socket"),
      m_memory_init_socket("memory_init_socket"),
      m_host_path(*this, true),
      m_dma_path(*this, false),
      m_mmio_backward(*this, false),
      m_memory_backward(*this, true) {
    m_host_targ_socket.bind(m_host_path);
    m_dma_targ_socket.bind(m_dma_path);
    m_mmio_init_socket.bind(m_mmio_backward);
    m_memory_init_socket.bind(m_memory_backward);
}

bool pcie_bus::in_bar(const tlm::tlm_generic_payload& p) const {
    // A burst to one register occupies no more addresses than the register.
    const std::uint64_t bytes = std::min(p.get_data_length(), p.get_streaming_width());
    return p.get_address() >= m_bar_address && bytes <= m_bar_bytes &&
           p.get_address() - m_bar_address <= m_bar_bytes - bytes;
}

void pcie_bus::path::b_transport(tlm::tlm_generic_payload& p, sc_core::sc_time& delay) {
    if (!from_host) {
        bus.m_memory_init_socket->b_transport(p, delay);
        return;
    }
    if (!bus.in_bar(p)) {
        p.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
        return;
    }
    const auto address = p.get_address();
    p.set_address(address - bus.m_bar_address);
    delay += bus.m_mmio_latency;
    bus.m_mmio_init_socket->b_transport(p, delay);
    if (p.is_read()) {
        delay += bus.m_mmio_latency;
    }
    p.set_address(address);
}

tlm::tlm_sync_enum pcie_bus::path::nb_transport_fw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase,
                                                   sc_core::sc_time& delay) {
    if (phase == tlm::BEGIN_REQ) {
        b_transport(p, delay);
        return tlm::TLM_COMPLETED;
    }
    return tlm::TLM_ACCEPTED;
}

// The memory has the same addresses on both sides of the bus; a BAR has nothing to point to.
bool pcie_bus::path::get_direct_mem_ptr(tlm::tlm_generic_payload& p, tlm::tlm_dmi& dmi) {
    return !from_host && bus.m_memory_init_socket->get_direct_mem_ptr(p, dmi);
}

void pcie_bus::backward::invalidate_direct_mem_ptr(sc_dt::uint64 first, sc_dt::uint64 last) {
    if (from_memory) {
        bus.m_dma_targ_socket->invalidate_direct_mem_ptr(first, last);
    }
}

unsigned pcie_bus::path::transport_dbg(tlm::tlm_generic_payload& p) {
    if (!from_host) {
        return bus.m_memory_init_socket->transport_dbg(p);
    }
    if (!bus.in_bar(p)) {
        return 0;
    }
    const auto address = p.get_address();
    p.set_address(address - bus.m_bar_address);
    const unsigned bytes = bus.m_mmio_init_socket->transport_dbg(p);
    p.set_address(address);
    return bytes;
}

}  // namespace hcasim
