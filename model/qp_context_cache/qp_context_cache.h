#ifndef HCASIM_MODEL_QP_CONTEXT_CACHE_QP_CONTEXT_CACHE_H
#define HCASIM_MODEL_QP_CONTEXT_CACHE_QP_CONTEXT_CACHE_H

#include <array>
#include <cstdint>
#include <vector>

#include "model/clock/channel.h"
#include "model/clock/ring_queue.h"
#include "model/ib/messages.h"
#include "model/qp_context_cache/context_tags.h"
#include "model/qp_context_cache/qp_context_cache_config.h"
#include "model/stats/observer.h"

namespace hcasim {

/// Set-associative write-back cache of QP contexts, and the one place where the state of a QP changes: a
/// change and the message that tells the scheduler of it are one step, so the gate can never be opened by a
/// change that a later one has undone. Cycle contract: docs/microarchitecture.md, "QP context cache".
class qp_context_cache : public clocked_module {
public:
    /// Clients in the order of arbitration.
    enum client : std::uint32_t { send_client, receive_client, command_client, client_count };
    /// Receivers of state events.
    enum listener : std::uint32_t { to_scheduler, to_send, to_receive, listener_count };

    qp_context_cache(const sc_core::sc_module_name& name, clock_domain& domain, ib::packet_pool& pool);

    std::array<in_port<qpc_request>, client_count> request_i;
    std::array<out_port<qpc_response>, client_count> response_o;
    std::array<out_port<state_event>, listener_count> state_o;
    out_port<dma_read> fill_o;
    in_port<dma_read_done> fill_i;
    out_port<dma_write> writeback_o;

    virtual void reset(const qp_context_cache_config& config, std::uint32_t qps,
                       std::uint64_t context_address);
    void set_observer(observer* o) { m_observer = o; }
    void tick() override;

    struct counters_t {
        std::uint64_t hits = 0;
        std::uint64_t misses = 0;  ///< a fill was started
        std::uint64_t merged = 0;  ///< a fill was under way
        std::uint64_t writebacks = 0;
        std::uint64_t evictions = 0;
    };
    const counters_t& counters() const { return m_counters; }

protected:
    ib::packet_pool& m_pool;
    observer* m_observer = nullptr;
    counters_t m_counters;

private:
    struct waiting_request {
        client from = send_client;
        qpc_request request;
    };
    struct miss {
        std::uint32_t slot = 0;
        ring_queue<waiting_request> requests;
        alignas(8) std::array<std::uint8_t, ib::qp_context_slot_bytes> data{};
    };
    struct timed_response {
        cycle_t due = 0;
        qpc_response response;
    };

    void drain_responses();
    bool install_filled();
    bool evict(std::uint32_t line);
    bool serve(client from, const qpc_request& r, bool replayed);
    bool perform(client from, const qpc_request& r, std::uint32_t line, bool was_hit);
    [[gnu::cold]] bool apply_modify(const qpc_request& r, ib::qp_context& c, qpc_response& response);
    [[gnu::cold]] bool can_announce();
    [[gnu::cold]] void announce(const ib::qp_context& c, bool created);
    qpc_response& respond(client to);

    qp_context_cache_config m_config;
    std::uint32_t m_mask = 0;
    std::uint64_t m_address = 0;
    context_tags m_tags;
    std::vector<ib::qp_context> m_data;  // per line
    std::vector<miss> m_misses;
    ring_queue<waiting_request> m_replay;
    std::uint32_t m_waiting = 0;  // requests in m_misses and m_replay
    std::array<ring_queue<timed_response>, client_count> m_responses;
    std::uint64_t m_request_inputs = 0;  // bits of filled_inputs()
    int m_first_request_input = 0;       // bit of request_i[0]; those of the others follow
    std::uint32_t m_answered = 0;        // bit per queue of m_responses that is not empty
    std::uint32_t m_next_client = 0;
    std::uint64_t m_used_misses = 0;    // bit per entry of m_misses
    std::uint64_t m_filled_misses = 0;  // ... whose data is here, but not yet in a line
};

}  // namespace hcasim

#endif
