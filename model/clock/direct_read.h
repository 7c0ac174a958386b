#ifndef HCASIM_MODEL_CLOCK_DIRECT_READ_H
#define HCASIM_MODEL_CLOCK_DIRECT_READ_H

#include <tlm>

namespace hcasim {

/// Rides on the transaction of get_direct_mem_ptr() and asks whether memory may be read without a call for
/// each transfer. A tlm_dmi has latencies per byte (IEEE 1666, 11.2), memory behind a bus has one per
/// transfer; a target that grants DMI for reads says here what b_transport would have added to the delay.
/// Without that the HCA makes no use of the pointer.
struct direct_read final : tlm::tlm_extension<direct_read> {
    bool granted = false;
    sc_core::sc_time latency;  ///< of each transfer, whatever its size

    tlm::tlm_extension_base* clone() const override { return new direct_read(*this); }
    void copy_from(const tlm::tlm_extension_base& other) override {
        *this = static_cast<const direct_read&>(other);
    }

    /// For a target: grants `bytes` from `data`, which lie at `address`, when the transaction asks.
    static bool grant(tlm::tlm_generic_payload& asking, tlm::tlm_dmi& dmi, std::uint64_t address,
                      unsigned char* data, std::uint64_t bytes, const sc_core::sc_time& latency) {
        auto* extension = asking.get_extension<direct_read>();
        if (extension == nullptr || bytes == 0) {
            return false;
        }
        dmi.set_dmi_ptr(data);
        dmi.set_start_address(address);
        dmi.set_end_address(address + bytes - 1);
        dmi.set_granted_access(tlm::tlm_dmi::DMI_ACCESS_READ);
        extension->granted = true;
        extension->latency = latency;
        return true;
    }
};

}  // namespace hcasim

#endif
