#ifndef HCASIM_RTL_COSIM_LOCKSTEP_CONTEXT_CLIENT_H
#define HCASIM_RTL_COSIM_LOCKSTEP_CONTEXT_CLIENT_H

#include <array>
#include <cstdint>
#include <vector>

#include "model/ib/messages.h"
#include "rtl_cosim/lockstep/lockstep_random.h"

namespace hcasim {

/// What the clients of a context cache believe about the QPs, and requests that follow from it: most of them
/// fit (the right QPN, the present life, a state that the QP may have), some do not.
class context_client {
public:
    /// `contexts`: what the host's memory holds at the start, one per slot.
    void reset(lockstep_random& random, const std::vector<ib::qp_context>& contexts, std::uint32_t lines);

    qpc_request make(std::uint32_t client);
    /// What an answer tells.
    void learn(const ib::qp_context& c) { m_believed[c.qpn & m_mask] = c; }

    /// A context with random contents, of values that occur.
    static ib::qp_context any_context(lockstep_random& random, std::uint32_t qpn);

private:
    const qpc_modify& make_modify(const ib::qp_context& believed);

    // More than can wait at a time: those that are pointed to must stay as they are until the answer.
    static constexpr std::size_t kept = 4096;

    lockstep_random m_random;
    std::uint32_t m_mask = 0;
    std::uint32_t m_used = 1;     // slots
    std::uint32_t m_stride = 1;   // between them: whole sets or single ones
    std::uint32_t m_changes = 0;  // modify and create, of 1024
    std::uint32_t m_writes = 0;
    std::uint32_t m_strangers = 0;  // QPNs that the slot does not hold
    std::uint32_t m_next_cookie = 0;
    std::size_t m_next_modify = 0;
    std::size_t m_next_fresh = 0;
    std::vector<ib::qp_context> m_believed;  // by slot
    std::vector<qpc_modify> m_modifies;
    std::vector<ib::qp_context> m_fresh;
};

}  // namespace hcasim

#endif
