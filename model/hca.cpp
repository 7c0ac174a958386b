#include "model/hca.h"

#include <algorithm>
#include <functional>
#include <random>
#include <stdexcept>

#include "model/block_factory.h"
#include "model/command_unit/command_unit.h"
#include "model/completion_unit/completion_unit.h"
#include "model/doorbell_unit/doorbell_unit.h"
#include "model/host_interface/host_interface.h"
#include "model/link/link_rx.h"
#include "model/link/link_tx.h"
#include "model/qp_context_cache/qp_context_cache.h"
#include "model/receive_engine/receive_engine.h"
#include "model/send_engine/send_engine.h"
#include "model/send_scheduler/send_scheduler.h"

namespace hcasim {

struct hca::blocks {
    std::unique_ptr<hcasim::host_interface> host;
    std::unique_ptr<hcasim::doorbell_unit> doorbell;
    std::unique_ptr<hcasim::qp_context_cache> cache;
    std::unique_ptr<hcasim::send_scheduler> scheduler;
    std::unique_ptr<hcasim::send_engine> send;
    std::unique_ptr<hcasim::receive_engine> receive;
    std::unique_ptr<hcasim::completion_unit> completions;
    std::unique_ptr<hcasim::command_unit> commands;
    std::unique_ptr<hcasim::link_tx> tx;
    std::unique_ptr<hcasim::link_rx> rx;
    std::vector<std::function<void(const stall_pattern&)>> reset_channel;
    std::vector<std::unique_ptr<sc_core::sc_module>> channels;
    ib::packet_pool* pool = nullptr;
    observer* watcher = nullptr;

    template <class T, class Out, class In>
    void join(clock_domain& domain, const char* name, Out& out, In& in,
              const std::function<std::uint32_t()>& depth = {}) {
        auto c =
            std::make_unique<channel<T>>(sc_core::sc_module_name(sc_core::sc_gen_unique_name(name)), domain);
        channel<T>* raw = c.get();
        out.bind(*raw);
        in.bind(*raw);
        const std::uint64_t number = channels.size();
        reset_channel.emplace_back([raw, depth, number](const stall_pattern& stall) {
            channel_config config;
            config.depth = depth ? depth() : 2;
            config.stall = stall;
            config.stall.seed = stall.seed * 256 + number;
            raw->reset(config);
        });
        channels.push_back(std::move(c));
    }
};

hca::hca(const sc_core::sc_module_name& name, clock_domain& domain, ib::packet_pool& pool,
         std::uint64_t order_seed, block_factory* factory)
    : sc_core::sc_module(name),
      interrupt_o("interrupt_o"),
      link_o("link_o"),
      link_i("link_i"),
      m_blocks(std::make_unique<blocks>()) {
    blocks& b = *m_blocks;
    b.pool = &pool;
    block_factory own;
    block_factory& maker = factory != nullptr ? *factory : own;
    std::vector<std::function<void()>> make = {
        [&] { b.host = std::make_unique<host_interface>("host_interface", domain, pool); },
        [&] { b.doorbell = maker.make_doorbell_unit("doorbell_unit", domain); },
        [&] { b.cache = maker.make_qp_context_cache("qp_context_cache", domain, pool); },
        [&] { b.scheduler = maker.make_send_scheduler("send_scheduler", domain); },
        [&] { b.send = std::make_unique<send_engine>("send_engine", domain, pool); },
        [&] { b.receive = std::make_unique<receive_engine>("receive_engine", domain, pool); },
        [&] { b.completions = std::make_unique<completion_unit>("completion_unit", domain); },
        [&] { b.commands = std::make_unique<command_unit>("command_unit", domain); },
        [&] { b.tx = maker.make_link_tx("link_tx", domain, pool); },
        [&] { b.rx = maker.make_link_rx("link_rx", domain, pool); },
    };
    if (order_seed != 0) {
        std::mt19937_64 random(order_seed);
        for (std::size_t i = make.size(); i > 1; --i) {
            std::swap(make[i - 1], make[random() % i]);
        }
    }
    for (const auto& f : make) {
        f();
    }

    b.host->interrupt_o.bind(interrupt_o);
    b.tx->wire_o.bind(link_o);
    b.rx->wire_i.bind(link_i);
    using qc = qp_context_cache;
    using hi = host_interface;
    using cu = completion_unit;
    b.join<doorbell_write>(domain, "doorbell_write", b.host->doorbell_o, b.doorbell->write_i);
    b.join<command_doorbell>(domain, "command_doorbell", b.host->command_o, b.commands->command_i);
    b.join<send_doorbell>(domain, "send_doorbell", b.doorbell->send_o, b.scheduler->doorbell_i);
    b.join<receive_doorbell>(domain, "receive_doorbell", b.doorbell->receive_o, b.receive->doorbell_i);
    b.join<cq_doorbell>(domain, "cq_doorbell", b.doorbell->cq_o, b.completions->doorbell_i);
    b.join<send_grant>(domain, "send_grant", b.scheduler->grant_o, b.send->grant_i);
    b.join<scheduler_update>(domain, "scheduler_update", b.send->update_o, b.scheduler->update_i);
    b.join<qpc_request>(domain, "send_context_request", b.send->context_o,
                        b.cache->request_i[qc::send_client]);
    b.join<qpc_response>(domain, "send_context_response", b.cache->response_o[qc::send_client],
                         b.send->context_i);
    b.join<qpc_request>(domain, "receive_context_request", b.receive->context_o,
                        b.cache->request_i[qc::receive_client]);
    b.join<qpc_response>(domain, "receive_context_response", b.cache->response_o[qc::receive_client],
                         b.receive->context_i);
    b.join<qpc_request>(domain, "command_context_request", b.commands->context_o,
                        b.cache->request_i[qc::command_client]);
    b.join<qpc_response>(domain, "command_context_response", b.cache->response_o[qc::command_client],
                         b.commands->context_i);
    b.join<state_event>(domain, "scheduler_state", b.cache->state_o[qc::to_scheduler], b.scheduler->state_i);
    b.join<state_event>(domain, "send_state", b.cache->state_o[qc::to_send], b.send->state_i);
    b.join<state_event>(domain, "receive_state", b.cache->state_o[qc::to_receive], b.receive->state_i);
    b.join<dma_read>(domain, "cache_read", b.cache->fill_o, b.host->read_i[hi::cache_read]);
    b.join<dma_read_done>(domain, "cache_read_done", b.host->read_o[hi::cache_read], b.cache->fill_i);
    b.join<dma_write>(domain, "cache_write", b.cache->writeback_o, b.host->write_i[hi::cache_write]);
    b.join<dma_read>(domain, "send_read", b.send->read_o, b.host->read_i[hi::send_read]);
    b.join<dma_read_done>(domain, "send_read_done", b.host->read_o[hi::send_read], b.send->read_i);
    b.join<dma_read>(domain, "receive_read", b.receive->read_o, b.host->read_i[hi::receive_read]);
    b.join<dma_read_done>(domain, "receive_read_done", b.host->read_o[hi::receive_read], b.receive->read_i);
    b.join<dma_write>(domain, "receive_write", b.receive->write_o, b.host->write_i[hi::receive_write]);
    b.join<dma_read>(domain, "command_read", b.commands->read_o, b.host->read_i[hi::command_read]);
    b.join<dma_read_done>(domain, "command_read_done", b.host->read_o[hi::command_read], b.commands->read_i);
    b.join<dma_write>(domain, "command_write", b.commands->write_o, b.host->write_i[hi::command_write]);
    b.join<dma_write>(domain, "completion_write", b.completions->write_o,
                      b.host->write_i[hi::completion_write]);
    b.join<queue_setup>(domain, "queue_setup", b.commands->setup_o, b.completions->setup_i);
    b.join<completion>(domain, "send_completion", b.send->completion_o,
                       b.completions->completion_i[cu::send_completion]);
    b.join<completion>(domain, "receive_completion", b.receive->completion_o,
                       b.completions->completion_i[cu::receive_completion]);
    b.join<event>(domain, "send_event", b.send->event_o, b.completions->event_i[cu::send_event]);
    b.join<event>(domain, "receive_event", b.receive->event_o, b.completions->event_i[cu::receive_event]);
    b.join<event>(domain, "command_event", b.commands->event_o, b.completions->event_i[cu::command_event]);
    b.join<acknowledge>(domain, "acknowledge", b.receive->acknowledge_o, b.send->acknowledge_i);
    b.join<sent_notice>(domain, "sent_notice", b.tx->sent_o, b.send->sent_i);
    b.join<ib::packet*>(domain, "received_packet", b.rx->packet_o, b.receive->packet_i);
    b.join<credit_update>(domain, "credit_update", b.rx->credit_o, b.tx->credit_i);
    const auto queue_depth = [this] { return m_config.link.tx_queue_packets; };
    for (std::uint32_t vl = 0; vl < max_data_vls; ++vl) {
        b.join<ib::packet*>(domain, "send_vl", b.send->packet_o(vl),
                            b.tx->packet_i(link_tx::from_send_engine, vl), queue_depth);
        b.join<ib::packet*>(domain, "receive_vl", b.receive->packet_o(vl),
                            b.tx->packet_i(link_tx::from_receive_engine, vl), queue_depth);
    }
}

hca::~hca() = default;

tlm::tlm_target_socket<64>& hca::mmio_targ_socket() { return m_blocks->host->mmio_targ_socket; }

tlm::tlm_initiator_socket<64>& hca::dma_init_socket() { return m_blocks->host->dma_init_socket; }

void hca::set_observer(observer* o) {
    m_blocks->watcher = o;
    m_blocks->host->set_observer(o);
    m_blocks->doorbell->set_observer(o);
    m_blocks->cache->set_observer(o);
    m_blocks->scheduler->set_observer(o);
    m_blocks->send->set_observer(o);
    m_blocks->receive->set_observer(o);
    m_blocks->tx->set_observer(o);
}

void hca::reset(const hca_config& config) {
    if (config.qps < 2 || (config.qps & (config.qps - 1)) != 0) {
        throw std::invalid_argument("hca.qps = " + std::to_string(config.qps) + ": must be a power of two");
    }
    m_config = config;
    blocks& b = *m_blocks;
    b.host->reset(config.host_interface);
    b.doorbell->reset(config.doorbell_unit, config.qps);
    b.cache->reset(config.qp_context_cache, config.qps, config.context_address);
    b.scheduler->reset(config.send_scheduler, config.qps);
    b.send->reset(config.send_engine, config.qps, config.lid, config.link.data_vls, config.clock_mhz,
                  config.timer_shift);
    b.receive->reset(config.receive_engine, config.qps, config.lid, config.link.data_vls);
    b.completions->reset(config.completion_unit);
    b.commands->reset(config.command_unit, config.clock_mhz, *b.pool);
    b.tx->reset(config.link, config.clock_mhz, config.seed);
    b.rx->reset(config.link);
    stall_pattern stall;
    stall.seed = config.stall_seed;
    stall.producer_per_1024 = config.stall_per_1024;
    stall.consumer_per_1024 = config.stall_per_1024;
    for (const auto& f : b.reset_channel) {
        f(stall);
    }
}

std::vector<std::pair<std::string, std::uint64_t>> hca::counters() const {
    const blocks& b = *m_blocks;
    std::vector<std::pair<std::string, std::uint64_t>> all;
    const auto add = [&all](const char* name, std::uint64_t value) { all.emplace_back(name, value); };
    const auto& d = b.doorbell->counters();
    add("doorbell_unit.received", d.received);
    add("doorbell_unit.coalesced", d.coalesced);
    add("doorbell_unit.stale", d.stale);
    add("doorbell_unit.unknown", d.unknown);
    add("doorbell_unit.full_events", d.full_events);
    add("doorbell_unit.max_level", d.max_level);
    const auto& c = b.cache->counters();
    add("qp_context_cache.hits", c.hits);
    add("qp_context_cache.misses", c.misses);
    add("qp_context_cache.merged", c.merged);
    add("qp_context_cache.writebacks", c.writebacks);
    add("qp_context_cache.evictions", c.evictions);
    const auto& s = b.scheduler->counters();
    add("send_scheduler.grants", s.grants);
    add("send_scheduler.wqes", s.wqes);
    add("send_scheduler.doorbells_closed", s.doorbells_closed);
    add("send_scheduler.closed_grants", s.closed_grants);
    add("send_scheduler.stale_doorbells", s.stale_doorbells);
    const auto& e = b.send->counters();
    add("send_engine.packets", e.packets);
    add("send_engine.messages", e.messages);
    add("send_engine.timeouts", e.timeouts);
    add("send_engine.rnr_naks", e.rnr_naks);
    add("send_engine.sequence_naks", e.sequence_naks);
    add("send_engine.rewinds", e.rewinds);
    add("send_engine.dropped_packets", e.dropped_packets);
    add("send_engine.window_holds", e.window_holds);
    add("send_engine.flushed", e.flushed);
    add("send_engine.stale_grants", e.stale_grants);
    add("send_engine.ignored_acks", e.ignored_acks);
    const auto& r = b.receive->counters();
    add("receive_engine.packets", r.packets);
    add("receive_engine.icrc_errors", r.icrc_errors);
    add("receive_engine.bad_packets", r.bad_packets);
    add("receive_engine.unknown_qp", r.unknown_qp);
    add("receive_engine.wrong_state", r.wrong_state);
    add("receive_engine.failed_checks", r.failed_checks);
    add("receive_engine.accepted", r.accepted);
    add("receive_engine.duplicates", r.duplicates);
    add("receive_engine.sequence_naks", r.sequence_naks);
    add("receive_engine.rnr_naks", r.rnr_naks);
    add("receive_engine.other_naks", r.other_naks);
    add("receive_engine.merged_replies", r.merged_replies);
    add("receive_engine.acks", r.acks);
    add("receive_engine.no_receive_wqe", r.no_receive_wqe);
    add("receive_engine.comm_est", r.comm_est);
    add("receive_engine.inferences_asked", r.inferences_asked);
    add("receive_engine.flushed", r.flushed);
    const auto& q = b.completions->counters();
    add("completion_unit.cqes", q.cqes);
    add("completion_unit.events", q.events);
    add("completion_unit.interrupts", q.interrupts);
    add("completion_unit.overruns", q.overruns);
    add("completion_unit.unknown_cq", q.unknown_cq);
    add("completion_unit.max_event_queue", q.max_event_queue);
    add("completion_unit.event_queue_full", q.event_queue_full);
    const auto& m = b.commands->counters();
    add("command_unit.commands", m.commands);
    add("command_unit.refused", m.refused);
    add("command_unit.already_rts", m.already_rts);
    add("command_unit.max_queue", m.max_queue);
    const auto& h = b.host->counters();
    add("host_interface.mmio_writes", h.mmio_writes);
    add("host_interface.mmio_ignored", h.mmio_ignored);
    add("host_interface.max_mmio_queue", h.max_mmio_queue);
    add("host_interface.reads", h.reads);
    add("host_interface.read_bytes", h.read_bytes);
    add("host_interface.writes", h.writes);
    add("host_interface.write_bytes", h.write_bytes);
    add("host_interface.interrupts", h.interrupts);
    add("host_interface.bus_errors", h.bus_errors);
    const auto& t = b.tx->counters();
    add("link.tx_packets", t.packets);
    add("link.tx_bytes", t.bytes);
    add("link.tx_flow_control_packets", t.flow_control_packets);
    add("link.tx_lost", t.lost);
    add("link.tx_delayed", t.delayed);
    add("link.tx_corrupted", t.corrupted);
    add("link.tx_credit_stalls", t.credit_stalls);
    add("link.tx_busy_cycles", t.busy_cycles);
    const auto& x = b.rx->counters();
    add("link.rx_packets", x.packets);
    add("link.rx_flow_control_packets", x.flow_control_packets);
    add("link.rx_vcrc_errors", x.vcrc_errors);
    add("link.rx_flow_control_errors", x.flow_control_errors);
    add("link.rx_overruns", x.overruns);
    add("link.rx_resyncs", x.resyncs);
    add("link.rx_max_buffered_bytes", x.max_buffered_bytes);
    std::sort(all.begin(), all.end());
    return all;
}

std::uint32_t hca::doorbell_fifo_level() const { return m_blocks->doorbell->fifo_level(); }

bool hca::gate_is_open(std::uint32_t qpn) const { return m_blocks->scheduler->gate_is_open(qpn); }

bool hca::is_pending(std::uint32_t qpn) const { return m_blocks->scheduler->is_pending(qpn); }

}  // namespace hcasim
