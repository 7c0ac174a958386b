#ifndef HCASIM_TLM_PAYLOAD_POOL_H
#define HCASIM_TLM_PAYLOAD_POOL_H

#include <memory>
#include <tlm>
#include <vector>

namespace hcasim {

/// Recycles TLM payloads, so that a transfer allocates nothing once the pool has grown to the number in
/// flight. A payload comes with one reference; release() gives it back when the last reference is gone.
class payload_pool final : public tlm::tlm_mm_interface {
public:
    /// A payload with the attributes of IEEE 1666, 14.7 set for a plain transfer; `data` stays the caller's.
    tlm::tlm_generic_payload& get(tlm::tlm_command command, std::uint64_t address, unsigned char* data,
                                  unsigned bytes) {
        if (m_free.empty()) {
            m_all.push_back(std::make_unique<tlm::tlm_generic_payload>(this));
            m_free.push_back(m_all.back().get());
        }
        tlm::tlm_generic_payload& p = *m_free.back();
        m_free.pop_back();
        p.acquire();
        p.set_command(command);
        p.set_address(address);
        p.set_data_ptr(data);
        p.set_data_length(bytes);
        p.set_streaming_width(bytes);
        p.set_byte_enable_ptr(nullptr);
        p.set_dmi_allowed(false);
        p.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
        return p;
    }

    void free(tlm::tlm_generic_payload* payload) override {
        payload->reset();
        m_free.push_back(payload);
    }

    /// Payloads out of the pool.
    std::size_t in_use() const { return m_all.size() - m_free.size(); }

private:
    std::vector<std::unique_ptr<tlm::tlm_generic_payload>> m_all;
    std::vector<tlm::tlm_generic_payload*> m_free;
};

}  // namespace hcasim

#endif
