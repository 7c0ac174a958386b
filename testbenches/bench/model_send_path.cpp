#include "testbenches/bench/model_send_path.h"

#include <functional>
#include <stdexcept>
#include <string>
#include <tlm>
#include <vector>

#include "model/block_factory.h"
#include "model/clock/channel.h"
#include "model/clock/clock_domain.h"
#include "model/clock/direct_read.h"
#include "model/completion_unit/completion_unit.h"
#include "model/doorbell_unit/doorbell_unit.h"
#include "model/host_interface/host_interface.h"
#include "model/link/link_tx.h"
#include "model/qp_context_cache/qp_context_cache.h"
#include "model/send_engine/send_engine.h"
#include "model/send_scheduler/send_scheduler.h"
#include "testbenches/bench/host_layout.h"
#include "tlm/host_processor.h"
#include "tlm/pcie_bus.h"

namespace hcasim {

namespace {

sc_core::sc_time cycles_as_time(cycle_t cycles, const clock_domain& domain) {
    return sc_core::sc_time::from_value(cycles * domain.period().value());
}

/// Host software in the clock domain: creates the queues, opens the gates and posts.
class driver final : public clocked_module {
public:
    driver(const sc_core::sc_module_name& name, clock_domain& domain, send_path_host& host, bool posts)
        : clocked_module(name, domain),
          doorbell_o("doorbell_o", *this),
          scheduler_state_o("scheduler_state_o", *this),
          send_state_o("send_state_o", *this),
          setup_o("setup_o", *this),
          m_host(host),
          m_posts(posts) {
        tick_directly<driver>();
    }

    out_port<doorbell_write> doorbell_o;
    out_port<state_event> scheduler_state_o;
    out_port<state_event> send_state_o;
    out_port<queue_setup> setup_o;

    void reset(const send_path_config& config) {
        m_states.reset(config);
        m_queues_made = 0;
        m_has_word = false;
        wake_at(1);
    }

    void tick() override {
        if (m_queues_made != 2) {
            const bool eq = m_queues_made == 0;
            setup_o.push({eq, 0, eq ? m_host.eq_address() : m_host.cq_address(),
                          eq ? send_path_host::eq_entries : send_path_host::cq_entries});
            ++m_queues_made;
            wake_next();
        }
        if (m_states.next_cycle() <= now()) {
            const state_event e = m_states.take();
            scheduler_state_o.push(e);
            send_state_o.push(e);
        }
        wake_for(m_states.next_cycle());
        if (!m_posts) {
            return;
        }
        if (!m_has_word) {
            m_has_word = m_host.post(now(), m_word);
        }
        if (m_has_word && doorbell_o.can_push()) {
            doorbell_o.push({m_word});
            m_has_word = false;
        }
        if (!m_has_word) {
            wake_for(m_host.next_post(now()));
        }
    }

private:
    void wake_for(cycle_t cycle) {
        if (cycle != never) {
            wake_at(cycle);
        }
    }

    send_path_host& m_host;
    bool m_posts;
    send_path_states m_states;
    unsigned m_queues_made = 0;
    bool m_has_word = false;
    std::uint64_t m_word = 0;
};

/// Host memory behind the card's DMA socket.
class memory final : public sc_core::sc_module, public tlm::tlm_fw_transport_if<> {
public:
    memory(const sc_core::sc_module_name& name, clock_domain& domain, send_path_host& host, driver& waiting)
        : sc_core::sc_module(name),
          targ_socket("targ_socket"),
          m_domain(domain),
          m_host(host),
          m_driver(waiting) {
        targ_socket.bind(*this);
    }

    tlm::tlm_target_socket<64> targ_socket;

    void reset(const send_path_config& config) {
        m_read_latency = cycles_as_time(config.read_cycles, m_domain);
        m_write_latency = cycles_as_time(config.write_cycles, m_domain);
        m_origin = m_domain.time_of(0).value();
        targ_socket->invalidate_direct_mem_ptr(0, ~sc_dt::uint64{0});  // it may have moved
    }

    void b_transport(tlm::tlm_generic_payload& p, sc_core::sc_time& delay) override {
        if (p.is_read()) {
            m_host.read(p.get_address(), p.get_data_ptr(), p.get_data_length());
            p.set_dmi_allowed(true);
            delay += m_read_latency;
        } else {
            delay += m_write_latency;
            const cycle_t visible =
                (sc_core::sc_time_stamp().value() + delay.value() - m_origin) / m_domain.period().value();
            if (m_host.write(p.get_address(), p.get_data_ptr(), p.get_data_length(), visible)) {
                m_domain.wake_at(m_driver, visible);
            }
        }
        p.set_response_status(tlm::TLM_OK_RESPONSE);
    }
    tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& p, tlm::tlm_phase&,
                                       sc_core::sc_time& delay) override {
        b_transport(p, delay);
        return tlm::TLM_COMPLETED;
    }
    bool get_direct_mem_ptr(tlm::tlm_generic_payload& p, tlm::tlm_dmi& dmi) override {
        std::vector<std::uint8_t>& m = m_host.memory();
        return direct_read::grant(p, dmi, 0, m.data(), m.size(), m_read_latency);
    }
    unsigned transport_dbg(tlm::tlm_generic_payload&) override { return 0; }

private:
    clock_domain& m_domain;
    send_path_host& m_host;
    driver& m_driver;
    sc_core::sc_time m_read_latency;
    sc_core::sc_time m_write_latency;
    sc_core::sc_time::value_type m_origin = 0;
};

/// The other end of the link.
class peer final : public clocked_module {
public:
    peer(const sc_core::sc_module_name& name, clock_domain& domain, send_path_host& host,
         ib::packet_pool& pool)
        : clocked_module(name, domain),
          wire_i("wire_i", *this),
          acknowledge_o("acknowledge_o", *this),
          credit_o("credit_o", *this),
          m_host(host),
          m_pool(pool) {
        tick_directly<peer>();
    }

    in_port<ib::packet*> wire_i;
    out_port<acknowledge> acknowledge_o;
    out_port<credit_update> credit_o;

    void reset(const send_path_config& config) { m_peer.reset(config); }

    void tick() override {
        if (wire_i.can_pop()) {
            ib::packet* p = wire_i.pop();
            m_host.see(*p);
            m_peer.take(*p, now());
            m_pool.put(p);
        }
        if (m_peer.next_acknowledge() <= now() && acknowledge_o.can_push()) {
            acknowledge_o.push(m_peer.take_acknowledge());
        }
        if (m_peer.has_credits() && credit_o.can_push()) {
            credit_o.push(m_peer.take_credits());
            if (m_peer.has_credits()) {
                wake_next();
            }
        }
        if (m_peer.next_acknowledge() != never) {
            wake_at(std::max(m_peer.next_acknowledge(), now() + 1));
        }
    }

private:
    send_path_host& m_host;
    ib::packet_pool& m_pool;
    send_path_peer m_peer;
};

/// Host software as a SystemC process that writes doorbells through its processor.
class process final : public sc_core::sc_module {
public:
    SC_HAS_PROCESS(process);
    process(const sc_core::sc_module_name& name, clock_domain& domain, send_path_host& host,
            host_processor& processor)
        : sc_core::sc_module(name), m_domain(domain), m_host(host), m_processor(processor) {
        SC_METHOD(post);
        sensitive << m_due;
        dont_initialize();
    }

    /// Posts up to `words` doorbells with one MMIO call, every `interval_cycles`.
    void reset(cycle_t first, std::uint32_t interval_cycles, std::uint32_t words) {
        m_running = true;
        m_interval_cycles = interval_cycles;
        m_words.resize(words);
        m_due.cancel();
        m_due.notify(cycles_as_time(first, m_domain));
    }
    void stop() { m_running = false; }

private:
    void post() {
        if (!m_running) {
            return;
        }
        m_due.notify(cycles_as_time(m_interval_cycles, m_domain));
        const auto since_reset = sc_core::sc_time_stamp() - m_domain.time_of(0);
        const cycle_t cycle = since_reset.value() / m_domain.period().value();
        std::size_t n = 0;
        while (n < m_words.size() && m_host.post(cycle, m_words[n])) {
            ++n;
        }
        if (n != 0) {
            m_processor.mmio_write_burst(ib::bar_page_bytes + ib::uar_doorbell_offset, m_words.data(), n,
                                         sc_core::SC_ZERO_TIME);
        }
    }

    clock_domain& m_domain;
    send_path_host& m_host;
    host_processor& m_processor;
    sc_core::sc_event m_due;
    bool m_running = false;
    std::uint32_t m_interval_cycles = 1;
    std::vector<std::uint64_t> m_words;
};

}  // namespace

struct model_send_path::parts {
    parts(host_side s, block_factory& factory)
        : side(s),
          domain("domain", sc_core::sc_time(4, sc_core::SC_NS)),
          stimulus("stimulus", domain, host, s == host_side::inside),
          main_memory("memory", domain, host, stimulus),
          other_end("peer", domain, host, pool),
          interface("host_interface", domain, pool),
          own_doorbell(factory.make_doorbell_unit("doorbell_unit", domain)),
          own_cache(factory.make_qp_context_cache("qp_context_cache", domain, pool)),
          own_scheduler(factory.make_send_scheduler("send_scheduler", domain)),
          send("send_engine", domain, pool),
          completions("completion_unit", domain),
          own_tx(factory.make_link_tx("link_tx", domain, pool, 1)),
          doorbell(*own_doorbell),
          cache(*own_cache),
          scheduler(*own_scheduler),
          tx(*own_tx) {
        if (side == host_side::tlm) {
            processor = std::make_unique<host_processor>("processor", domain, bar_address);
            bus = std::make_unique<pcie_bus>("bus", bar_address, ib::bar_bytes);
            software = std::make_unique<process>("software", domain, host, *processor);
            processor->mmio_init_socket().bind(bus->host_targ_socket());
            bus->mmio_init_socket().bind(interface.mmio_targ_socket);
            interface.dma_init_socket.bind(bus->dma_targ_socket());
            bus->memory_init_socket().bind(main_memory.targ_socket);
            join<doorbell_write>("doorbell_write", interface.doorbell_o, doorbell.write_i);
            open_end<doorbell_write>("no_doorbell", stimulus.doorbell_o);
        } else {
            no_mmio = std::make_unique<tlm::tlm_initiator_socket<64>>("no_mmio");
            no_mmio->bind(nothing);
            no_mmio->bind(interface.mmio_targ_socket);
            interface.dma_init_socket.bind(main_memory.targ_socket);
            join<doorbell_write>("doorbell_write", stimulus.doorbell_o, doorbell.write_i);
            open_end<doorbell_write>("no_doorbell", interface.doorbell_o);
        }
        using qc = qp_context_cache;
        using hi = host_interface;
        using cu = completion_unit;
        join<send_doorbell>("send_doorbell", doorbell.send_o, scheduler.doorbell_i);
        join<cq_doorbell>("cq_doorbell", doorbell.cq_o, completions.doorbell_i);
        join<send_grant>("send_grant", scheduler.grant_o, send.grant_i);
        join<scheduler_update>("scheduler_update", send.update_o, scheduler.update_i);
        join<state_event>("scheduler_state", stimulus.scheduler_state_o, scheduler.state_i);
        join<state_event>("send_state", stimulus.send_state_o, send.state_i);
        join<queue_setup>("queue_setup", stimulus.setup_o, completions.setup_i);
        join<qpc_request>("context_request", send.context_o, cache.request_i[qc::send_client]);
        join<qpc_response>("context_response", cache.response_o[qc::send_client], send.context_i);
        join<dma_read>("cache_read", cache.fill_o, interface.read_i[hi::cache_read]);
        join<dma_read_done>("cache_read_done", interface.read_o[hi::cache_read], cache.fill_i);
        join<dma_write>("cache_write", cache.writeback_o, interface.write_i[hi::cache_write]);
        join<dma_read>("send_read", send.read_o, interface.read_i[hi::send_read]);
        join<dma_read_done>("send_read_done", interface.read_o[hi::send_read], send.read_i);
        join<dma_write>("completion_write", completions.write_o, interface.write_i[hi::completion_write]);
        join<completion>("send_completion", send.completion_o, completions.completion_i[cu::send_completion]);
        join<event>("send_event", send.event_o, completions.event_i[cu::send_event]);
        join<acknowledge>("acknowledge", other_end.acknowledge_o, send.acknowledge_i);
        join<credit_update>("credit_update", other_end.credit_o, tx.credit_i);
        join<sent_notice>("sent_notice", tx.sent_o, send.sent_i);
        for (std::uint32_t vl = 0; vl < max_data_vls; ++vl) {
            vl_queues.push_back(
                &join<ib::packet*>("vl", send.packet_o(vl), tx.packet_i(link_tx::from_send_engine, vl)));
        }
        wire = &join<ib::packet*>("wire", tx.wire_o, other_end.wire_i);
        // What belongs to the receive side, the command unit and the command page.
        open_end<command_doorbell>("no_command", interface.command_o);
        open_end<receive_doorbell>("no_receive_doorbell", doorbell.receive_o);
        for (const auto client : {qc::receive_client, qc::command_client}) {
            open_end<qpc_request>("no_request", cache.request_i[client]);
            open_end<qpc_response>("no_response", cache.response_o[client]);
        }
        for (auto& port : cache.state_o) {
            open_end<state_event>("no_state", port);
        }
        for (const auto client : {hi::receive_read, hi::command_read}) {
            open_end<dma_read>("no_read", interface.read_i[client]);
            open_end<dma_read_done>("no_read_done", interface.read_o[client]);
        }
        for (const auto client : {hi::receive_write, hi::command_write}) {
            open_end<dma_write>("no_write", interface.write_i[client]);
        }
        open_end<completion>("no_completion", completions.completion_i[cu::receive_completion]);
        for (const auto source : {cu::receive_event, cu::command_event}) {
            open_end<event>("no_event", completions.event_i[source]);
        }
    }

    template <class T>
    channel<T>& make(const char* name) {
        auto c = std::make_unique<channel<T>>(sc_core::sc_gen_unique_name(name), domain);
        channel<T>& made = *c;
        channels.push_back(std::move(c));
        reset_channel.emplace_back([&made] { made.reset({}); });
        return made;
    }
    template <class T, class Out, class In>
    channel<T>& join(const char* name, Out& out, In& in) {
        channel<T>& c = make<T>(name);
        out.bind(c);
        in.bind(c);
        return c;
    }
    template <class T, class Port>
    void open_end(const char* name, Port& port) {
        port.bind(make<T>(name));
    }

    struct backward final : tlm::tlm_bw_transport_if<> {
        tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload&, tlm::tlm_phase&,
                                           sc_core::sc_time&) override {
            return tlm::TLM_ACCEPTED;
        }
        void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
    };

    host_side side;
    clock_domain domain;
    send_path_host host;
    ib::packet_pool pool;
    driver stimulus;
    memory main_memory;
    peer other_end;
    host_interface interface;
    std::unique_ptr<doorbell_unit> own_doorbell;
    std::unique_ptr<qp_context_cache> own_cache;
    std::unique_ptr<send_scheduler> own_scheduler;
    send_engine send;
    completion_unit completions;
    std::unique_ptr<link_tx> own_tx;
    doorbell_unit& doorbell;
    qp_context_cache& cache;
    send_scheduler& scheduler;
    link_tx& tx;
    backward nothing;
    std::unique_ptr<tlm::tlm_initiator_socket<64>> no_mmio;
    std::unique_ptr<host_processor> processor;
    std::unique_ptr<pcie_bus> bus;
    std::unique_ptr<process> software;
    std::vector<std::unique_ptr<sc_core::sc_module>> channels;
    std::vector<std::function<void()>> reset_channel;
    std::vector<channel<ib::packet*>*> vl_queues;
    channel<ib::packet*>* wire = nullptr;
};

model_send_path::model_send_path(const sc_core::sc_module_name& name, host_side side, block_factory* factory)
    : sc_core::sc_module(name) {
    block_factory own;
    m_parts = std::make_unique<parts>(side, factory != nullptr ? *factory : own);
}

model_send_path::~model_send_path() = default;

void model_send_path::reset(const send_path_config& config, engine_kind engine,
                            std::uint32_t words_per_call) {
    parts& p = *m_parts;
    const hca_config& h = config.hca;
    p.domain.set_run_ahead(true);
    p.domain.set_horizon(0);
    p.domain.reset(engine);
    p.pool.reclaim();
    send_path_config host = config;
    if (p.side == host_side::tlm) {
        host.interval_cycles = 0;  // the process has the pace
    }
    p.host.reset(host);
    p.main_memory.reset(config);
    host_interface_config interface = h.host_interface;
    interface.target_may_notify =
        false;  // the host of this path is of the same clock domain, or has its own pace
    p.interface.reset(interface);
    p.doorbell.reset(h.doorbell_unit, h.qps);
    p.cache.reset(h.qp_context_cache, h.qps, p.host.context_address());
    p.scheduler.reset(h.send_scheduler, h.qps);
    p.send.reset(h.send_engine, h.qps, h.lid, h.link.data_vls, h.clock_mhz, h.timer_shift);
    p.completions.reset(h.completion_unit);
    p.tx.reset(h.link, h.clock_mhz, config.seed);
    p.other_end.reset(config);
    for (const auto& f : p.reset_channel) {
        f();
    }
    channel_config vl;
    vl.depth = h.link.tx_queue_packets;
    for (auto* queue : p.vl_queues) {
        queue->reset(vl);
    }
    channel_config cable;
    cable.depth = 16;
    cable.latency_cycles = config.propagation_cycles;
    p.wire->reset(cable);
    p.stimulus.reset(config);
    if (p.software != nullptr) {
        p.processor->reset(sc_core::SC_ZERO_TIME);
        p.bus->reset(sc_core::SC_ZERO_TIME);
        const std::uint32_t interval =
            config.interval_cycles == 0 ? saturated_interval_cycles : config.interval_cycles;
        p.software->reset(send_path_states::first_post(config), interval * words_per_call, words_per_call);
    }
}

void model_send_path::run_to(cycle_t last) {
    parts& p = *m_parts;
    p.domain.set_horizon(last);
    if (p.software == nullptr) {
        sc_core::sc_start();
    } else {
        sc_core::sc_start(p.domain.time_of(last) - sc_core::sc_time_stamp());
    }
}

void model_send_path::stop() {
    if (m_parts->software != nullptr) {
        m_parts->software->stop();
    }
    m_parts->domain.stop();
}

const send_path_result& model_send_path::result() const { return m_parts->host.result(); }

std::uint64_t model_send_path::ticks() const { return m_parts->domain.cycles().ticks(); }

}  // namespace hcasim
