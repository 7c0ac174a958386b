#ifndef HCASIM_MODEL_LINK_CREDITS_H
#define HCASIM_MODEL_LINK_CREDITS_H

#include <cstdint>

namespace hcasim {

constexpr std::uint32_t credit_block_bytes = 64;
constexpr std::uint32_t credit_modulus = 4096;

/// Blocks of 64 bytes that a packet takes (IBTA 7.9.2); `size_bytes` is LRH .. VCRC.
constexpr std::uint32_t credit_blocks(std::uint32_t size_bytes) {
    return (size_bytes + credit_block_bytes - 1) / credit_block_bytes;
}

/// Sender's view of one VL: FCTBS (blocks sent since the link came up) and the limit FCCL that the peer has
/// announced, modulo 4096 (IBTA 7.9.4).
class transmit_credits {
public:
    void reset() { *this = transmit_credits{}; }
    bool may_send(std::uint32_t blocks) const {
        return m_has_limit && ((m_limit - (m_sent + blocks)) & (credit_modulus - 1)) < credit_modulus / 2;
    }
    void sent(std::uint32_t blocks) { m_sent = (m_sent + blocks) & (credit_modulus - 1); }
    void set_limit(std::uint16_t fccl) {
        m_limit = fccl;
        m_has_limit = true;
    }
    std::uint16_t fctbs() const { return static_cast<std::uint16_t>(m_sent); }

private:
    std::uint32_t m_sent = 0;
    std::uint32_t m_limit = 0;
    bool m_has_limit = false;
};

/// Receiver's view of one VL: ABR (blocks received), and the free blocks of its buffer.
class receive_credits {
public:
    void reset(std::uint32_t buffer_bytes) {
        m_received = 0;
        m_free = buffer_bytes / credit_block_bytes;
    }
    std::uint32_t free_blocks() const { return m_free; }
    void received(std::uint32_t blocks) { m_received = (m_received + blocks) & (credit_modulus - 1); }
    void take(std::uint32_t blocks) { m_free -= blocks; }
    void give(std::uint32_t blocks) { m_free += blocks; }
    /// The peer's FCTBS: blocks lost on the wire are counted from here on. True when it was not what had been
    /// counted.
    bool synchronize(std::uint16_t fctbs) {
        const bool differs = m_received != fctbs;
        m_received = fctbs;
        return differs;
    }
    /// FCCL = ABR + free blocks, the latter at most 2047.
    std::uint16_t fccl() const {
        return static_cast<std::uint16_t>((m_received + (m_free < 2047 ? m_free : 2047)) &
                                          (credit_modulus - 1));
    }

private:
    std::uint32_t m_received = 0;
    std::uint32_t m_free = 0;
};

}  // namespace hcasim

#endif
