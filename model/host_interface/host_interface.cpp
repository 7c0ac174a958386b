#include "model/host_interface/host_interface.h"

#include <algorithm>
#include <cstring>

#include "model/clock/direct_read.h"

namespace hcasim {

host_interface::host_interface(const sc_core::sc_module_name& name, clock_domain& domain,
                               ib::packet_pool& pool)
    : clocked_module(name, domain),
      mmio_targ_socket("mmio_targ_socket"),
      dma_init_socket("dma_init_socket"),
      interrupt_o("interrupt_o"),
      doorbell_o("doorbell_o", *this),
      command_o("command_o", *this),
      read_i{{{"cache_read_i", *this},
              {"send_read_i", *this},
              {"receive_read_i", *this},
              {"command_read_i", *this}}},
      read_o{{{"cache_read_o", *this},
              {"send_read_o", *this},
              {"receive_read_o", *this},
              {"command_read_o", *this}}},
      write_i{{{"receive_write_i", *this},
               {"cache_write_i", *this},
               {"command_write_i", *this},
               {"completion_write_i", *this}}},
      m_pool(pool) {
    tick_directly<host_interface>();
    for (const auto& port : read_i) {
        m_read_inputs |= port.flag();
    }
    for (const auto& port : write_i) {
        m_write_inputs |= port.flag();
    }
    m_first_read_input = __builtin_ctzll(m_read_inputs);
    m_first_write_input = __builtin_ctzll(m_write_inputs);
    mmio_targ_socket.bind(*this);
    dma_init_socket.bind(*this);
}

void host_interface::reset(const host_interface_config& config) {
    m_config = config;
    m_mmio.clear();
    for (auto& queue : m_pending) {
        queue.clear();
    }
    m_pending_clients = 0;
    m_reads_outstanding = 0;
    m_next_read = 0;
    m_first_due = never;
    m_down_free = 0;
    m_up_free = 0;
    m_direct = {};
    m_direct_refused = false;
    m_counters = {};
}

// Its steps are inlined by force: the compiler does not know that a member function has this one caller.
void host_interface::tick() {
    if (!m_mmio.empty()) {
        take_mmio();
    }
    if (m_first_due <= now()) {
        finish_reads();
    }
    bool again = false;
    if ((filled_inputs() & m_read_inputs) != 0) {
        again = issue_read() && (filled_inputs() & m_read_inputs) != 0;
    }
    if ((filled_inputs() & m_write_inputs) != 0) {
        again = (issue_write() && (filled_inputs() & m_write_inputs) != 0) || again;
    }
    if (again) {
        wake_next();
    }
}

[[gnu::always_inline]] inline void host_interface::take_mmio() {
    if (m_mmio.front().visible > now()) {
        return;
    }
    const mmio_write& w = m_mmio.front();
    if (w.offset == ib::bar_command_offset) {
        if (!command_o.can_push()) {
            return;
        }
        command_o.push({w.value});
    } else if (w.offset >= ib::bar_page_bytes && w.offset % ib::bar_page_bytes == ib::uar_doorbell_offset) {
        if (!doorbell_o.can_push()) {
            return;
        }
        doorbell_o.push({w.value});
    } else {
        ++m_counters.mmio_ignored;
    }
    m_mmio.pop_front();
    if (!m_mmio.empty()) {
        wake_at(std::max(m_mmio.front().visible, now() + 1));
    }
}

[[gnu::always_inline]] inline void host_interface::finish_reads() {
    cycle_t first_due = never;
    for (std::uint32_t clients = m_pending_clients; clients != 0; clients &= clients - 1) {
        const auto c = static_cast<std::uint32_t>(__builtin_ctz(clients));
        auto& queue = m_pending[c];
        if (queue.front().due <= now() && read_o[c].can_push()) {
            read_o[c].push({queue.front().cookie});
            queue.pop_front();
            if (m_reads_outstanding-- == m_config.reads_outstanding) {
                wake_next();  // a tag is free again
            }
            if (queue.empty()) {
                m_pending_clients &= ~(1u << c);
                continue;
            }
            wake_at(std::max(queue.front().due, now() + 1));
        }
        first_due = std::min(first_due, queue.front().due);
    }
    m_first_due = first_due;
}

[[gnu::always_inline]] inline bool host_interface::issue_read() {
    if (m_reads_outstanding == m_config.reads_outstanding) {
        return false;
    }
    // The clients in turn, beginning with m_next_read.
    auto waiting = static_cast<std::uint32_t>((filled_inputs() & m_read_inputs) >> m_first_read_input);
    while (waiting != 0) {
        const std::uint32_t from_next = waiting & (~0u << m_next_read);
        const auto c = static_cast<std::uint32_t>(__builtin_ctz(from_next != 0 ? from_next : waiting));
        waiting &= ~(1u << c);
        if (!read_i[c].can_pop()) {
            continue;
        }
        // A context that is being written back must not be read before it is written.
        if (c == cache_read && write_i[cache_write].has_visible()) {
            wake_next();
            continue;
        }
        do_read(c, read_i[c].front());
        read_i[c].drop();
        m_next_read = (c + 1) % read_clients;
        return true;
    }
    return false;
}

[[gnu::always_inline]] inline bool host_interface::issue_write() {
    auto waiting = static_cast<std::uint32_t>((filled_inputs() & m_write_inputs) >> m_first_write_input);
    for (; waiting != 0; waiting &= waiting - 1) {
        const auto c = static_cast<std::uint32_t>(__builtin_ctz(waiting));
        if (!write_i[c].has_visible()) {
            continue;
        }
        if (m_up_free > now()) {
            wake_at(m_up_free);
            return false;
        }
        if (write_i[c].can_pop()) {
            do_write(write_i[c].front());
            write_i[c].drop();
            return true;
        }
        return false;  // lower priorities must not pass
    }
    return false;
}

cycle_t host_interface::transfer_cycles(std::uint32_t bytes) const {
    const std::uint32_t tlps = bytes == 0 ? 1 : (bytes + 255) / 256;
    const std::uint32_t total = bytes + tlps * m_config.tlp_overhead_bytes;
    return (total + m_config.bytes_per_cycle - 1) / m_config.bytes_per_cycle;
}

// Returns the latency of the target. The call is annotated with the cycle in which the transfer leaves.
cycle_t host_interface::call(tlm::tlm_command command, std::uint64_t address, std::uint8_t* data,
                             std::uint32_t bytes, cycle_t leaves) {
    m_payload.set_command(command);
    m_payload.set_address(address);
    m_payload.set_data_ptr(data);
    m_payload.set_data_length(bytes);
    m_payload.set_streaming_width(bytes);
    m_payload.set_byte_enable_ptr(nullptr);
    m_payload.set_dmi_allowed(false);
    m_payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    const sc_core::sc_time offset = domain().offset_of(leaves);
    sc_core::sc_time delay = offset;
    m_target->b_transport(m_payload, delay);
    if (m_payload.is_response_error()) {
        refuse(command, data, bytes);
    }
    if (m_config.target_may_notify) {
        domain().called_outside();
    }
    delay -= offset;
    known_latency& known = m_known_latency[command == tlm::TLM_READ_COMMAND ? 0 : 1];
    if (delay != known.time) {
        known.cycles = cycles_of(delay);
        known.time = delay;
    }
    return known.cycles;
}

cycle_t host_interface::cycles_of(const sc_core::sc_time& latency) const {
    const auto period = domain().period().value();
    return (latency.value() + period - 1) / period;
}

// Returns the latency of the target.
[[gnu::always_inline]] inline cycle_t host_interface::read(std::uint64_t address, std::uint8_t* destination,
                                                           std::uint32_t bytes) {
    const std::uint64_t offset = address - m_direct.address;
    if (offset < m_direct.bytes && bytes <= m_direct.bytes - offset) {
        std::memcpy(destination, m_direct.data + offset, bytes);
        return m_direct.latency_cycles;
    }
    const cycle_t latency_cycles = call(tlm::TLM_READ_COMMAND, address, destination, bytes, now());
    if (m_payload.is_dmi_allowed() && !m_direct_refused) {
        ask_for_direct(address);
    }
    return latency_cycles;
}

void host_interface::ask_for_direct(std::uint64_t address) {
    m_payload.set_command(tlm::TLM_READ_COMMAND);
    m_payload.set_address(address);
    direct_read extension;
    m_payload.set_extension(&extension);
    tlm::tlm_dmi dmi;
    const bool is_granted = m_target->get_direct_mem_ptr(m_payload, dmi) && extension.granted &&
                            dmi.is_read_allowed() && dmi.get_start_address() <= address &&
                            address <= dmi.get_end_address();
    m_payload.clear_extension(&extension);
    m_direct_refused = !is_granted;
    if (is_granted) {
        m_direct.address = dmi.get_start_address();
        // All 2^64 bytes do not fit into the count: the last one is read by a call then.
        m_direct.bytes =
            std::max(dmi.get_end_address() - m_direct.address, dmi.get_end_address() - m_direct.address + 1);
        m_direct.data = dmi.get_dmi_ptr();
        m_direct.latency_cycles = cycles_of(extension.latency);
    }
}

void host_interface::refuse(tlm::tlm_command command, std::uint8_t* data, std::uint32_t bytes) {
    ++m_counters.bus_errors;
    if (command == tlm::TLM_READ_COMMAND) {
        std::memset(data, 0, bytes);
    }
}

[[gnu::always_inline]] inline void host_interface::do_read(std::uint32_t client, const dma_read& r) {
    const cycle_t latency_cycles = read(r.address, r.destination, r.bytes);
    auto& queue = m_pending[client];
    const cycle_t arrives = now() + latency_cycles;
    m_down_free = std::max(arrives, m_down_free) + transfer_cycles(r.bytes);
    ++m_reads_outstanding;
    ++m_counters.reads;
    m_counters.read_bytes += r.bytes;
    m_first_due = std::min(m_first_due, m_down_free);
    if (queue.empty()) {
        m_pending_clients |= 1u << client;
        wake_at(m_down_free);  // those behind it are woken for when they come to the front
    }
    queue.push_back({m_down_free, r.cookie});
}

[[gnu::always_inline]] inline void host_interface::do_write(const dma_write& w) {
    m_up_free = now() + transfer_cycles(w.bytes);
    cycle_t visible = m_up_free;
    if (w.bytes != 0) {
        // TLM wants a pointer to mutable data for both directions; a target does not change the data of a
        // write.
        auto* data = const_cast<std::uint8_t*>(w.data != nullptr ? w.data : w.small.data());
        visible += call(tlm::TLM_WRITE_COMMAND, w.address, data, w.bytes, m_up_free);
        ++m_counters.writes;
        m_counters.write_bytes += w.bytes;
    }
    if (w.packet != nullptr) {
        m_pool.put(w.packet);
    }
    if (w.completes_wqe && is_watched(m_observer)) {
        m_observer->stamp(w.qpn, w.wqe_index, stage::completed, visible);
    }
    if (w.interrupt) {
        ++m_counters.interrupts;
        if (interrupt_o.size() != 0) {
            interrupt_o->raise(0, domain().offset_of(m_up_free));
            domain().called_outside();
        }
    }
}

void host_interface::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    if (payload.get_address() >= ib::bar_bytes) {
        payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
        return;
    }
    if (!payload.is_write()) {
        // Nothing in the BAR is readable; PCIe answers reads of such registers with zeros.
        std::memset(payload.get_data_ptr(), 0, payload.get_data_length());
        payload.set_response_status(tlm::TLM_OK_RESPONSE);
        return;
    }
    if (payload.get_data_length() % 8 != 0 || payload.get_data_length() == 0 ||
        payload.get_byte_enable_ptr() != nullptr) {
        payload.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
        return;
    }
    cycle_t visible = domain().first_edge_after(delay);
    if (!m_mmio.empty()) {
        visible = std::max(visible, m_mmio.back().visible);  // posted writes keep their order
    }
    // A burst is that many writes to the same register (a write-combining buffer drained into one doorbell
    // page).
    const std::uint8_t* data = payload.get_data_ptr();
    for (std::uint32_t at = 0; at < payload.get_data_length(); at += 8) {
        std::uint64_t value = 0;
        std::memcpy(&value, data + at, 8);
        m_mmio.push_back({visible, payload.get_address(), value});
        ++m_counters.mmio_writes;
    }
    m_counters.max_mmio_queue = std::max<std::uint64_t>(m_counters.max_mmio_queue, m_mmio.size());
    domain().wake_at(*this, visible);
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
}

tlm::tlm_sync_enum host_interface::nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                                   sc_core::sc_time& delay) {
    if (phase != tlm::BEGIN_REQ) {
        return tlm::TLM_ACCEPTED;
    }
    b_transport(payload, delay);
    phase = tlm::END_RESP;
    return tlm::TLM_COMPLETED;
}

tlm::tlm_sync_enum host_interface::nb_transport_bw(tlm::tlm_generic_payload&, tlm::tlm_phase&,
                                                   sc_core::sc_time&) {
    return tlm::TLM_ACCEPTED;  // only b_transport is used on the DMA socket
}

bool host_interface::get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi&) { return false; }

void host_interface::invalidate_direct_mem_ptr(sc_dt::uint64 first, sc_dt::uint64 last) {
    if (m_direct.bytes == 0 ||
        (first <= m_direct.address + (m_direct.bytes - 1) && last >= m_direct.address)) {
        m_direct = {};
        m_direct_refused = false;
    }
}

unsigned int host_interface::transport_dbg(tlm::tlm_generic_payload&) { return 0; }

}  // namespace hcasim
