#include "tlm/host_processor.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>

namespace hcasim {

host_processor::host_processor(const sc_core::sc_module_name& name, clock_domain& domain,
                               std::uint64_t bar_address)
    : clocked_module(name, domain),
      m_bar_address(bar_address),
      m_mmio_init_socket("mmio_init_socket"),
      m_interrupt_event("interrupt_event") {
    m_mmio_init_socket.bind(m_backward);
}

void host_processor::reset(const sc_core::sc_time& interrupt_latency) {
    m_interrupt_latency = interrupt_latency;
    m_interrupt_event.cancel();
    m_pending.clear();
    m_interrupts = 0;
}

void host_processor::mmio_write(std::uint64_t offset, std::uint64_t value, const sc_core::sc_time& delay) {
    mmio_write_burst(offset, &value, 1, delay);
}

void host_processor::mmio_write_burst(std::uint64_t offset, const std::uint64_t* values, std::size_t count,
                                      const sc_core::sc_time& delay) {
    m_data.resize(count * sizeof *values);
    std::memcpy(m_data.data(), values, m_data.size());
    tlm::tlm_generic_payload& p = m_payloads.get(tlm::TLM_WRITE_COMMAND, m_bar_address + offset,
                                                 m_data.data(), static_cast<unsigned>(m_data.size()));
    // The register's own width: the address is the same for each word (IEEE 1666, 14.11).
    p.set_streaming_width(sizeof *values);
    sc_core::sc_time annotated = delay;
    m_mmio_init_socket->b_transport(p, annotated);
    const bool ok = p.is_response_ok();
    p.release();
    if (!ok) {
        throw std::out_of_range(std::string(name()) + ": no register at BAR offset " +
                                std::to_string(offset));
    }
}

void host_processor::raise(unsigned vector, const sc_core::sc_time& delay) {
    cycle_t cycle = domain().first_edge_after(delay + m_interrupt_latency);
    if (!m_pending.empty()) {
        cycle = std::max(cycle, m_pending.back().cycle);
    }
    m_pending.push_back({cycle, vector});
    domain().wake_at(*this, cycle);
}

void host_processor::tick() {
    bool any = false;
    while (!m_pending.empty() && m_pending.front().cycle <= now()) {
        const unsigned vector = m_pending.front().vector;
        m_pending.pop_front();
        ++m_interrupts;
        any = true;
        if (m_handler) {
            m_handler(vector);
        }
    }
    if (any && !m_handler) {
        m_interrupt_event.notify(domain().local_offset());
        domain().called_outside();
    }
}

}  // namespace hcasim
