#ifndef HCASIM_TESTBENCHES_BENCH_SEND_PATH_H
#define HCASIM_TESTBENCHES_BENCH_SEND_PATH_H

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "model/clock/engine.h"
#include "model/clock/ring_queue.h"
#include "model/hca_config.h"
#include "model/ib/messages.h"
#include "model/link/credits.h"

// What the measured send path has around it, plain C++ and the same for the model and for the plain loop: the
// host that posts and its memory, and the peer that acknowledges.

namespace hcasim {

/// Load and surroundings of a measured send path.
struct send_path_config {
    std::uint32_t qps = 64;                  ///< QPs that send, 1..hca.qps
    std::uint32_t interval_cycles = 0;       ///< cycles between WQEs; 0 = as fast as they are taken
    std::uint32_t depth = 16;                ///< WQEs posted and not completed per QP; a power of two
    std::uint32_t payload_bytes = 64;        ///< of each send
    std::uint32_t ack_cycles = 100;          ///< last byte on the wire to the acknowledge at the send engine
    std::uint32_t read_cycles = 125;         ///< of host memory
    std::uint32_t write_cycles = 63;         ///< of host memory
    std::uint32_t propagation_cycles = 3;    ///< of the link
    std::uint32_t gate_interval_cycles = 1;  ///< between the openings of the gates, QP by QP
    std::uint64_t seed = 1;
    hca_config hca;
};

/// What came out. Two paths that did the same work cycle for cycle have the same digest.
struct send_path_result {
    std::uint64_t packets = 0;      ///< on the wire, flow control included
    std::uint64_t completions = 0;  ///< CQEs written
    std::uint64_t digest = 0;  ///< of (cycle, QPN, WQE index, PSN, CRCs) of every packet and (cycle, place,
                               ///< WQE, phase) of every CQE
};

/// QPN of the n-th QP.
constexpr std::uint32_t send_path_qpn(std::uint32_t n) { return n; }

/// The host: memory, WQEs posted at the configured pace to QPs chosen at random, CQEs taken as they become
/// visible. A QP has at most `depth` WQEs posted and not completed.
class send_path_host {
public:
    static constexpr std::uint32_t cq_entries = 4096;
    static constexpr std::uint32_t eq_entries = 64;
    /// CQEs after which the consumer index is told to the card.
    static constexpr std::uint32_t cqes_per_arm = 1024;

    void reset(const send_path_config& config);

    std::uint64_t context_address() const { return 0; }
    std::uint64_t cq_address() const { return m_cq_address; }
    std::uint64_t eq_address() const { return m_eq_address; }

    /// All of it, from address 0 on; stays where it is until reset().
    std::vector<std::uint8_t>& memory() { return m_memory; }
    void read(std::uint64_t address, std::uint8_t* out, std::uint32_t bytes) const {
        std::memcpy(out, &m_memory[address], bytes);
    }
    /// `visible`: cycle from which on the host sees it. True when post() had been waiting for this write.
    bool write(std::uint64_t address, const std::uint8_t* data, std::uint32_t bytes, cycle_t visible) {
        std::memcpy(&m_memory[address], data, bytes);
        if (address < m_cq_address || address >= m_eq_address) {
            return false;
        }
        const bool waiting = m_tokens.empty() && m_arrived.empty();
        take_cqe(address, visible);
        return waiting;
    }

    /// Next doorbell word, when there is one in this cycle; its WQE is in memory then.
    bool post(cycle_t now, std::uint64_t& word);
    /// First cycle after `now` in which post() can have a word; `never`: a CQE must be written first.
    cycle_t next_post(cycle_t now) const;

    /// A packet has arrived at the other end of the link.
    void see(const ib::packet& p);

    const send_path_result& result() const { return m_result; }

private:
    struct arrived_cqe {
        cycle_t visible = 0;
        std::uint32_t qp = 0;
    };
    void take_cqe(std::uint64_t address, cycle_t visible);
    void mix(std::uint64_t value) {
        m_result.digest = (m_result.digest ^ value) * 0x9e3779b97f4a7c15u;
        m_result.digest ^= m_result.digest >> 29;
    }
    std::uint32_t draw(std::uint32_t below);

    send_path_config m_config;
    std::vector<std::uint8_t> m_memory;
    std::uint64_t m_sq_address = 0;
    std::uint64_t m_payload_address = 0;
    std::uint64_t m_cq_address = 0;
    std::uint64_t m_eq_address = 0;
    std::vector<std::uint16_t> m_producer;  // per QP
    std::vector<std::uint32_t> m_tokens;    // a QP number for each WQE that may be posted
    ring_queue<arrived_cqe> m_arrived;
    std::uint64_t m_taken = 0;  // CQEs
    std::uint64_t m_armed = 0;  // ... up to which the card was told
    cycle_t m_next = 0;
    std::uint64_t m_random = 1;
    send_path_result m_result;
};

/// When which state event is given to scheduler and send engine: every QP is created in the first cycles,
/// then the gates open one after the other while the host posts already.
class send_path_states {
public:
    void reset(const send_path_config& config) {
        m_qps = config.qps;
        m_interval = config.gate_interval_cycles;
        m_next = 1;
        m_given = 0;
    }
    /// `never` after the last one.
    cycle_t next_cycle() const { return m_given == 2 * m_qps ? never : m_next; }
    state_event take();
    /// First cycle in which the host may post: all QPs exist.
    static cycle_t first_post(const send_path_config& config) { return config.qps + 2; }

private:
    std::uint32_t m_qps = 0;
    std::uint32_t m_interval = 1;
    std::uint32_t m_given = 0;
    cycle_t m_next = 1;
};

/// The other end of the link: takes every packet at once, acknowledges each message `ack_cycles` after its
/// last byte, gives credits back like a port with default settings.
class send_path_peer {
public:
    void reset(const send_path_config& config);
    void take(const ib::packet& p, cycle_t now);
    cycle_t next_acknowledge() const { return m_acks.empty() ? never : m_acks.front().due; }
    acknowledge take_acknowledge() {
        const acknowledge a = m_acks.front().what;
        m_acks.pop_front();
        return a;
    }
    bool has_credits() const { return !m_credits.empty(); }
    credit_update take_credits() {
        const credit_update u = m_credits.front();
        m_credits.pop_front();
        return u;
    }

private:
    struct timed_ack {
        cycle_t due = 0;
        acknowledge what;
    };
    struct vl_state {
        receive_credits credits;
        std::uint32_t freed_bytes = 0;
    };
    std::uint32_t m_ack_cycles = 0;
    std::uint32_t m_credit_update_bytes = 0;
    std::array<vl_state, 15> m_vls;
    ring_queue<timed_ack> m_acks;
    ring_queue<credit_update> m_credits;
};

}  // namespace hcasim

#endif
