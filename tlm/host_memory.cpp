#include "tlm/host_memory.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>

#include "model/clock/direct_read.h"

namespace hcasim {

namespace {

constexpr unsigned page_bits = 12;
constexpr std::uint64_t page_bytes = std::uint64_t{1} << page_bits;

// A block that is larger than it need be is kept up to this size.
constexpr std::uint64_t kept_bytes = std::uint64_t{64} << 20;

}  // namespace

host_memory::host_memory(const sc_core::sc_module_name& name)
    : sc_core::sc_module(name), m_targ_socket("targ_socket"), m_transport(*this) {
    m_targ_socket.bind(m_transport);
}

void host_memory::reset(std::uint64_t size_bytes, const sc_core::sc_time& read_latency,
                        const sc_core::sc_time& write_latency) {
    if (m_is_read_directly) {
        m_is_read_directly = false;
        m_targ_socket->invalidate_direct_mem_ptr(0, ~sc_dt::uint64{0});
    }
    if (size_bytes > m_capacity_bytes || m_capacity_bytes > std::max(size_bytes, kept_bytes)) {
        // A fresh calloc block is zero without being written, so an untouched page is never backed.
        m_bytes.reset();
        m_capacity_bytes = 0;
        m_written_pages.clear();
        const std::uint64_t pages = (size_bytes + page_bytes - 1) >> page_bits;
        m_is_written.assign(pages, false);
        m_bytes.reset(static_cast<std::uint8_t*>(std::calloc(pages << page_bits, 1)));  // NOLINT: see release
        if (m_bytes == nullptr) {
            throw std::bad_alloc();
        }
        m_capacity_bytes = pages << page_bits;
    }
    for (const std::uint32_t page : m_written_pages) {
        std::memset(&m_bytes[std::uint64_t{page} << page_bits], 0, page_bytes);
        m_is_written[page] = false;
    }
    m_written_pages.clear();
    m_size_bytes = size_bytes;
    m_read_latency = read_latency;
    m_write_latency = write_latency;
    m_in_flight.clear();
}

void host_memory::check(std::uint64_t address, std::uint64_t bytes) const {
    if (!in_range(address, bytes)) {
        throw std::out_of_range(std::string(name()) + ": " + std::to_string(bytes) + " bytes at address " +
                                std::to_string(address) + " of " + std::to_string(m_size_bytes));
    }
}

void host_memory::read(std::uint64_t address, void* out, std::uint64_t bytes, const sc_core::sc_time& at) {
    check(address, bytes);
    settle(at.value());
    std::memcpy(out, &m_bytes[address], bytes);
    // From the newest write back to the oldest: what was before the first of them is left.
    auto* const seen = static_cast<std::uint8_t*>(out);
    for (auto w = m_in_flight.rbegin(); w != m_in_flight.rend(); ++w) {
        const overlap o(address, bytes, *w);
        if (o.bytes != 0) {
            std::memcpy(seen + (o.first - address), &w->before[o.first - w->address], o.bytes);
        }
    }
}

void host_memory::write(std::uint64_t address, const void* data, std::uint64_t bytes,
                        const sc_core::sc_time& at) {
    check(address, bytes);
    settle(at.value());
    write_below(address, static_cast<const std::uint8_t*>(data), bytes, 0);
}

// A write of software is older than the writes in flight, from the n-th on: it is what was before the first
// of them that covers a byte.
void host_memory::write_below(std::uint64_t address, const std::uint8_t* data, std::uint64_t bytes,
                              std::size_t n) {
    for (; n < m_in_flight.size(); ++n) {
        posted_write& w = m_in_flight[n];
        const overlap o(address, bytes, w);
        if (o.bytes == 0) {
            continue;
        }
        const std::uint64_t before = o.first - address;
        std::memcpy(&w.before[o.first - w.address], data + before, o.bytes);
        write_below(address, data, before, n + 1);
        const std::uint64_t behind = before + o.bytes;
        address += behind;
        data += behind;
        bytes -= behind;
    }
    store(address, data, bytes);
}

void host_memory::store(std::uint64_t address, const void* data, std::uint64_t bytes) {
    if (bytes == 0) {
        return;
    }
    for (std::uint64_t page = address >> page_bits; page <= (address + bytes - 1) >> page_bits; ++page) {
        if (!m_is_written[page]) {
            m_is_written[page] = true;
            m_written_pages.push_back(static_cast<std::uint32_t>(page));
        }
    }
    std::memcpy(&m_bytes[address], data, bytes);
}

void host_memory::settle(sc_core::sc_time::value_type at) {
    while (!m_in_flight.empty() && m_in_flight.front().visible <= at) {
        m_spare_buffers.push_back(std::move(m_in_flight.front().before));
        m_in_flight.pop_front();
    }
}

void host_memory::device_write(std::uint64_t address, const std::uint8_t* data, std::uint64_t bytes,
                               const sc_core::sc_time& arrival) {
    // What is past for the kernel is past for every reader; a reader who runs ahead of it settles the rest
    // himself.
    settle(sc_core::sc_time_stamp().value());
    posted_write w;
    w.visible = arrival.value();
    if (!m_in_flight.empty()) {
        w.visible = std::max(w.visible, m_in_flight.back().visible);
    }
    w.address = address;
    if (!m_spare_buffers.empty()) {
        w.before = std::move(m_spare_buffers.back());
        m_spare_buffers.pop_back();
    }
    w.before.assign(&m_bytes[address], &m_bytes[address] + bytes);
    m_in_flight.push_back(std::move(w));
    store(address, data, bytes);
}

void host_memory::transport::b_transport(tlm::tlm_generic_payload& p, sc_core::sc_time& delay) {
    const std::uint64_t bytes = p.get_data_length();
    if (!memory.in_range(p.get_address(), bytes)) {
        p.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
        return;
    }
    if (p.get_byte_enable_ptr() != nullptr) {
        p.set_response_status(tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
        return;
    }
    if (p.get_streaming_width() < bytes) {
        p.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
        return;
    }
    if (p.is_read()) {
        std::memcpy(p.get_data_ptr(), &memory.m_bytes[p.get_address()], bytes);
        delay += memory.m_read_latency;
        p.set_dmi_allowed(true);
    } else if (p.is_write()) {
        delay += memory.m_write_latency;
        memory.device_write(p.get_address(), p.get_data_ptr(), bytes, sc_core::sc_time_stamp() + delay);
    }
    p.set_response_status(tlm::TLM_OK_RESPONSE);
}

bool host_memory::transport::get_direct_mem_ptr(tlm::tlm_generic_payload& p, tlm::tlm_dmi& dmi) {
    const bool is_granted =
        direct_read::grant(p, dmi, 0, memory.m_bytes.get(), memory.m_size_bytes, memory.m_read_latency);
    memory.m_is_read_directly = memory.m_is_read_directly || is_granted;
    return is_granted;
}

tlm::tlm_sync_enum host_memory::transport::nb_transport_fw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase,
                                                           sc_core::sc_time& delay) {
    // Early completion (IEEE 1666, 15.2): the whole transfer in the first call.
    if (phase == tlm::BEGIN_REQ) {
        b_transport(p, delay);
        return tlm::TLM_COMPLETED;
    }
    return tlm::TLM_ACCEPTED;
}

unsigned host_memory::transport::transport_dbg(tlm::tlm_generic_payload& p) {
    const std::uint64_t address = p.get_address();
    if (address >= memory.m_size_bytes) {
        return 0;
    }
    const std::uint64_t bytes = std::min<std::uint64_t>(p.get_data_length(), memory.m_size_bytes - address);
    if (p.is_read()) {
        std::memcpy(p.get_data_ptr(), &memory.m_bytes[address], bytes);
    } else if (p.is_write()) {
        memory.write(address, p.get_data_ptr(), bytes, sc_core::sc_time_stamp());
    }
    return static_cast<unsigned>(bytes);
}

}  // namespace hcasim
