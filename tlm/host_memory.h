#ifndef HCASIM_TLM_HOST_MEMORY_H
#define HCASIM_TLM_HOST_MEMORY_H

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <memory>
#include <systemc>
#include <tlm>
#include <vector>

namespace hcasim {

/// Memory of a host as a device sees it over TLM and as the host's own software sees it through read() and
/// write().
///
/// A device's write is posted: it arrives at sc_time_stamp() + the annotated delay + the write latency and
/// software sees it from that time on, writes in the order in which they were made. A device's read never
/// passes an earlier write of a device (PCIe ordering), so it sees all of them. Reads and writes of software
/// act at once. A device may read by DMI: memory is kept as devices see it, and what software is not to see
/// yet is kept beside it.
///
/// Pages that nobody touches cost nothing, and a reset costs only the pages that were written since the last.
class host_memory : public sc_core::sc_module {
public:
    explicit host_memory(const sc_core::sc_module_name& name);

    tlm::tlm_target_socket<64>& targ_socket() { return m_targ_socket; }

    /// All zeros, nothing in flight. Addresses 0 .. size_bytes - 1; a transfer beyond gets
    /// TLM_ADDRESS_ERROR_RESPONSE.
    void reset(std::uint64_t size_bytes, const sc_core::sc_time& read_latency,
               const sc_core::sc_time& write_latency);

    std::uint64_t size_bytes() const { return m_size_bytes; }

    /// What software reads at time `at`, which must not go back from one call to the next. Throws
    /// std::out_of_range.
    void read(std::uint64_t address, void* out, std::uint64_t bytes, const sc_core::sc_time& at);

    /// A write of software at time `at`; visible to software and devices at once. Throws std::out_of_range.
    void write(std::uint64_t address, const void* data, std::uint64_t bytes, const sc_core::sc_time& at);

    /// Device writes that software does not see yet.
    std::size_t writes_in_flight() const { return m_in_flight.size(); }

private:
    // tlm_fw_transport_if by hand: a convenience socket would add a process for the non-blocking call.
    struct transport : tlm::tlm_fw_transport_if<> {
        explicit transport(host_memory& m) : memory(m) {}
        void b_transport(tlm::tlm_generic_payload& p, sc_core::sc_time& delay) override;
        tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase,
                                           sc_core::sc_time& delay) override;
        bool get_direct_mem_ptr(tlm::tlm_generic_payload& p, tlm::tlm_dmi& dmi) override;
        unsigned transport_dbg(tlm::tlm_generic_payload& p) override;
        host_memory& memory;
    };

    struct posted_write {
        sc_core::sc_time::value_type visible = 0;
        std::uint64_t address = 0;
        std::vector<std::uint8_t> before;  // what software sees in its place until then
    };

    bool in_range(std::uint64_t address, std::uint64_t bytes) const {
        return bytes <= m_size_bytes && address <= m_size_bytes - bytes;
    }
    // Those of `bytes` bytes at `address` that a write in flight covers.
    struct overlap {
        overlap(std::uint64_t address, std::uint64_t size_bytes, const posted_write& w)
            : first(std::max(address, w.address)) {
            const std::uint64_t end = std::min(address + size_bytes, w.address + w.before.size());
            bytes = end > first ? end - first : 0;
        }
        std::uint64_t first;
        std::uint64_t bytes;
    };
    void write_below(std::uint64_t address, const std::uint8_t* data, std::uint64_t bytes, std::size_t n);
    void check(std::uint64_t address, std::uint64_t bytes) const;
    void device_write(std::uint64_t address, const std::uint8_t* data, std::uint64_t bytes,
                      const sc_core::sc_time& arrival);
    // The only way into the memory proper: keeps count of the pages that a reset must clear.
    void store(std::uint64_t address, const void* data, std::uint64_t bytes);
    // Forgets what was before the writes that are visible at `at`.
    void settle(sc_core::sc_time::value_type at);

    struct release {
        void operator()(std::uint8_t* p) const {
            std::free(p);
        }  // NOLINT: from calloc, which the system backs lazily
    };

    tlm::tlm_target_socket<64> m_targ_socket;
    transport m_transport;
    std::unique_ptr<std::uint8_t[], release> m_bytes;
    std::uint64_t m_size_bytes = 0;
    std::uint64_t m_capacity_bytes = 0;          ///< of m_bytes; all zeros but for the pages below
    std::vector<std::uint32_t> m_written_pages;  ///< each once
    std::vector<bool> m_is_written;              ///< by page
    sc_core::sc_time m_read_latency;
    sc_core::sc_time m_write_latency;
    std::deque<posted_write> m_in_flight;
    bool m_is_read_directly = false;
    std::vector<std::vector<std::uint8_t>> m_spare_buffers;
};

}  // namespace hcasim

#endif
