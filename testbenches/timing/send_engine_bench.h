#ifndef HCASIM_TESTBENCHES_TIMING_SEND_ENGINE_BENCH_H
#define HCASIM_TESTBENCHES_TIMING_SEND_ENGINE_BENCH_H

#include "model/ib/headers.h"
#include "model/send_engine/send_engine.h"
#include "testbenches/timing/block_bench.h"
#include "testbenches/timing/fake_contexts.h"

namespace hcasim::test {

/// What a bench keeps of a packet that a block has sent.
struct seen_packet {
    cycle_t cycle = 0;  ///< visible to the link
    std::uint32_t vl = 0;
    ib::headers h;
    std::size_t payload_bytes = 0;
    std::uint16_t wqe_index = 0;
    std::uint32_t qpn = 0;
    bool retransmitted = false;
};

/// Captures the packets of all VLs of a block and gives them back to the pool.
class packet_captures {
public:
    template <class Block>
    packet_captures(block_bench& bench, Block& block, ib::packet_pool& pool) {
        for (std::uint32_t vl = 0; vl < Block::vls; ++vl) {
            ports.push_back(std::make_unique<capture<ib::packet*>>(
                bench, sc_core::sc_gen_unique_name("packets"), block.packet_o(vl)));
            ports.back()->then = [this, vl, &pool](ib::packet* p, cycle_t at) {
                const ib::decoded_packet d = ib::decode(p->bytes, p->size_bytes);
                seen.push_back({at, vl, d.h, d.payload_bytes, p->wqe_index, p->qpn, p->retransmitted});
                pool.put(p);
                if (then) {
                    then(seen.back());
                }
            };
        }
    }
    std::vector<std::unique_ptr<capture<ib::packet*>>> ports;
    std::vector<seen_packet> seen;
    std::function<void(const seen_packet&)> then;
};

constexpr std::uint64_t send_ring = 0x10000;
constexpr std::uint64_t send_data = 0x40000;

/// A context of an RC QP in RTS with SQ_PSN 100, send ring of 64 WQEs per QP number 1..15.
inline ib::qp_context send_context(std::uint32_t qpn, std::uint8_t timeout = 0) {
    ib::qp_context c;
    c.qpn = qpn;
    c.valid = 1;
    c.state = ib::qp_state::rts;
    c.resources.sq_address = send_ring + std::uint64_t{qpn} * 0x1000;
    c.resources.sq_log_entries = 6;
    c.resources.send_cqn = 3;
    c.attributes.dest_qpn = 0x55;
    c.attributes.dlid = 9;
    c.attributes.path_mtu = 1;
    c.attributes.timeout = timeout;
    c.attributes.retry_cnt = 2;
    c.attributes.rnr_retry = 2;
    c.requester.next_psn = 100;
    return c;
}

class send_engine_bench : public block_bench {
public:
    ib::packet_pool pool;
    send_engine block{"send_engine", domain, pool};
    stimulus<send_grant> grant{*this, "grant", block.grant_i};
    capture<scheduler_update> update{*this, "update", block.update_o};
    fake_contexts contexts{*this, block.context_o, block.context_i, block.state_i};
    fixed_latency_memory memory{*this, block.read_o, block.read_i, 50};
    stimulus<acknowledge> ack{*this, "acknowledge", block.acknowledge_i};
    stimulus<sent_notice> sent{*this, "sent", block.sent_i};
    capture<completion> cqe{*this, "completion", block.completion_o};
    capture<event> events{*this, "event", block.event_o};
    packet_captures packets{*this, block, pool};
    send_engine_config config;
    std::uint32_t timer_shift = 0;

    /// A QP in RTS whose events the engine sees at cycle 2 (created) and 3 (RTS).
    void open(const ib::qp_context& c) {
        contexts.table[c.qpn] = c;
        contexts.change(c.qpn, ib::qp_state::init, 2 + m_opened, true);
        contexts.change(c.qpn, ib::qp_state::rts, 3 + m_opened);
        m_opened += 2;
    }
    void post(std::uint32_t qpn, std::uint16_t index, std::uint32_t bytes,
              std::uint8_t flags = ib::wqe_signaled) {
        ib::send_wqe w;
        w.wqe_index = index;
        w.flags = flags;
        w.length_bytes = bytes;
        w.address = send_data;
        w.wr_id = 1000u * qpn + index;
        post(qpn, w);
    }
    void post(std::uint32_t qpn, const ib::send_wqe& w) {
        memory.put(send_ring + std::uint64_t{qpn} * 0x1000 + (w.wqe_index & 63u) * sizeof(ib::send_wqe), w);
    }

protected:
    void reset_block() override {
        pool.reclaim();
        contexts.clear();
        packets.seen.clear();
        m_opened = 0;
        block.reset(config, 64, 7, 2, 250, timer_shift);
    }

private:
    cycle_t m_opened = 0;
};

}  // namespace hcasim::test

#endif
