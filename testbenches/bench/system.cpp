#include "testbenches/bench/system.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <tuple>

#include "model/clock/cycle_time.h"
#include "model/ib/byte_order.h"
#include "model/ib/mad.h"
#include "model/ib/psn.h"
#include "testbenches/bench/host_layout.h"

namespace hcasim {

namespace {

// Packets that a link holds beside those in flight. The receiving port takes each at once.
constexpr std::uint32_t link_depth = 16;

// Scripts: time 0 is this long after the start, so that there is time to post what goes out then; how long
// before its packet a post is tried first; how often.
constexpr cycle_t script_margin_cycles = 4000;
constexpr cycle_t first_guess_cycles = 350;
constexpr std::uint32_t script_attempts = 8;

sc_core::sc_time times(std::uint64_t n, const sc_core::sc_time& unit) {
    return sc_core::sc_time::from_value(n * unit.value());
}

// Whole picoseconds: exact for the usual clocks, and cycles are counted, not measured.
sc_core::sc_time period_of(std::uint64_t clock_mhz) {
    return times(1000000 / clock_mhz, sc_core::sc_time(1, sc_core::SC_PS));
}

sc_core::sc_time nanoseconds(std::uint64_t ns) { return times(ns, sc_core::sc_time(1, sc_core::SC_NS)); }

// Cycle in which the packet of a deed began on its host's link; 0 when it did not.
cycle_t wire_cycle(const script_plan& plan, std::size_t deed, const std::vector<tapped_packet>& packets) {
    const script_deed& d = plan.deeds[deed];
    const script_wire& w = plan.connections[d.connection];
    for (const tapped_packet& p : packets) {
        if (p.host != d.host) {
            continue;
        }
        const ib::decoded_packet packet = ib::decode(p.bytes.data(), p.bytes.size());
        const std::uint8_t* payload = p.bytes.data() + packet.payload_offset;
        bool found = false;
        ib::cm_message m;
        if (d.action == script_action::send) {
            const script_side& peer = w.side(!d.by_active);
            found = ib::is_rc_send(packet.h.op) && packet.h.dest_qpn == peer.qpn &&
                    packet.h.psn == ib::psn_add(peer.psn, d.number);
        } else if (!ib::is_ud(packet.h.op)) {
            found = false;
        } else if (d.action == script_action::query) {
            found = payload[1] == 3 && ib::load_be64(payload + 8) == deed + 1;
        } else if (ib::decode(payload, m)) {
            constexpr ib::cm_attribute attributes[] = {ib::cm_attribute::req, ib::cm_attribute::rep,
                                                       ib::cm_attribute::rtu};
            found = d.action != script_action::close && m.transaction_id == w.transaction_id &&
                    m.attribute == attributes[static_cast<std::size_t>(d.action)];
        }
        if (found) {
            return p.first_byte_cycle;
        }
    }
    return 0;
}

}  // namespace

struct system::host_node {
    host_node(const std::string& prefix, clock_domain& domain, ib::packet_pool& packets, std::uint32_t host,
              std::uint64_t order_seed, block_factory* factory, run_director& director)
        : memory((prefix + "_memory").c_str()),
          bus((prefix + "_bus").c_str(), bar_address, ib::bar_bytes),
          processor((prefix + "_processor").c_str(), domain, bar_address),
          adapter((prefix + "_hca").c_str(), domain, packets, order_seed, factory),
          software((prefix + "_software").c_str(), domain, host, memory, processor, arrivals, director) {
        processor.mmio_init_socket().bind(bus.host_targ_socket());
        bus.mmio_init_socket().bind(adapter.mmio_targ_socket());
        adapter.dma_init_socket().bind(bus.dma_targ_socket());
        bus.memory_init_socket().bind(memory.targ_socket());
        adapter.interrupt_o.bind(processor);
    }

    host_memory memory;
    pcie_bus bus;
    host_processor processor;
    hca adapter;
    arrival_tap arrivals;
    host_software software;
};

system::system(const sc_core::sc_module_name& name, std::uint32_t hosts, std::uint64_t clock_mhz,
               std::uint64_t order_seed, bool with_rtl)
    : sc_core::sc_module(name),
      m_hosts(hosts),
      m_order_seed(order_seed),
      m_domain("domain", period_of(clock_mhz)),
      m_recorder(hosts),
      m_director(m_domain, m_recorder) {
    SC_METHOD(elaborated_method);
    m_rtl.on_difference = [this] { m_domain.stop(); };
    for (std::uint32_t h = 0; h < hosts; ++h) {
        m_nodes.push_back(std::make_unique<host_node>("host" + std::to_string(h), m_domain, m_packets, h,
                                                      order_seed, with_rtl ? &m_rtl : nullptr, m_director));
    }
    if (hosts == 2) {
        bind_cable();
    } else {
        bind_switch();
    }
}

system::~system() = default;

void system::bind_cable() {
    for (std::uint32_t h = 0; h < 2; ++h) {
        const std::string name = "cable_from_host" + std::to_string(h);
        m_links.push_back(std::make_unique<channel<ib::packet*>>(name.c_str(), m_domain));
        m_nodes[h]->adapter.link_o.bind(*m_links[h]);
        m_nodes[1 - h]->adapter.link_i.bind(*m_links[h]);
    }
}

void system::bind_switch() {
    m_switch = std::make_unique<fabric_switch>("fabric", m_domain, m_packets, m_hosts);
    for (std::uint32_t h = 0; h < m_hosts; ++h) {
        const std::string up = "cable_from_host" + std::to_string(h);
        const std::string down = "cable_to_host" + std::to_string(h);
        m_links.push_back(std::make_unique<channel<ib::packet*>>(up.c_str(), m_domain));
        m_nodes[h]->adapter.link_o.bind(*m_links.back());
        m_switch->link_i(h).bind(*m_links.back());
        m_links.push_back(std::make_unique<channel<ib::packet*>>(down.c_str(), m_domain));
        m_switch->link_o(h).bind(*m_links.back());
        m_nodes[h]->adapter.link_i.bind(*m_links.back());
    }
}

hca_config system::config_of(const scenario_config& scenario, std::uint32_t host) const {
    hca_config c = scenario.hca;
    c.timer_shift = scenario.timer_shift;
    c.lid = scenario.workload == workload_kind::script ? m_plan->lid_of_host[host]
                                                       : static_cast<std::uint16_t>(host + 1);
    c.seed = scenario.seed * max_hosts + host;
    c.receive_engine.infer_rts =
        scenario.policy == gate_policy::hardware && (scenario.open_on & open_on_packet) != 0;
    // Host software is of the same clock domain: no access of the HCA notifies an event.
    c.host_interface.target_may_notify = false;
    if (host != 0) {
        fault_config& first = c.link.faults[static_cast<std::size_t>(packet_class::cm_rtu)];
        first.loss = std::max(first.loss, scenario.cm.rtu_loss);
        if (scenario.cm.rtu_late > first.delay) {
            first.delay = scenario.cm.rtu_late;
            first.delay_ns = scenario.cm.rtu_late_ns;
        }
        fault_config& again = c.link.faults[static_cast<std::size_t>(packet_class::cm_rtu_again)];
        again.loss = std::max(again.loss, scenario.cm.rtu_repeat_loss);
    }
    return c;
}

run_result system::run(const scenario_config& scenario, const run_options& options) {
    return scenario.workload == workload_kind::script ? run_script(scenario, options)
                                                      : run_once(scenario, options);
}

// A script says when its packets are on the wire; software can only choose when it posts them. So the run is
// repeated with the posts moved by what was missed, until every packet begins in its cycle; the run that does
// is the result.
run_result system::run_script(const scenario_config& scenario, const run_options& options) {
    m_plan = std::make_unique<script_plan>(make_script_plan(scenario));
    const auto wire_target = [&scenario](const script_deed& d) {
        return script_margin_cycles + ns_to_cycles(d.at_ns, scenario.hca.clock_mhz);
    };
    m_post_cycles.clear();
    for (const script_deed& d : m_plan->deeds) {
        m_post_cycles.push_back(wire_target(d) - first_guess_cycles);
    }
    run_options silent = options;
    silent.tap_packets = true;
    silent.wave = nullptr;
    for (std::uint32_t attempt = 0; attempt < script_attempts; ++attempt) {
        run_result result = run_once(scenario, silent);
        if (result.invariants_violated != 0) {
            return result;
        }
        bool exact = true;
        for (std::size_t i = 0; i < m_plan->deeds.size(); ++i) {
            const script_deed& d = m_plan->deeds[i];
            const cycle_t on_wire = wire_cycle(*m_plan, i, result.packets);
            if (d.action == script_action::close || on_wire == 0) {
                continue;
            }
            const cycle_t target = m_director.start_cycle() + wire_target(d);
            exact = exact && on_wire == target;
            m_post_cycles[i] += target - on_wire;  // modulo 2^64: may go back
        }
        if (exact) {
            if (options.wave != nullptr || !options.tap_packets) {
                result = run_once(scenario, options);
            }
            return result;
        }
    }
    run_result last = run_once(scenario, silent);
    for (std::size_t i = 0; i < m_plan->deeds.size(); ++i) {
        const script_deed& d = m_plan->deeds[i];
        const cycle_t on_wire = wire_cycle(*m_plan, i, last.packets);
        const cycle_t target = m_director.start_cycle() + wire_target(d);
        if (d.action != script_action::close && on_wire != target) {
            throw scenario_error(
                "step[" + std::to_string(i) + "].at_ns = " + std::to_string(d.at_ns) +
                ": the packet cannot begin then; it begins " +
                (on_wire == 0 ? "never"
                              : std::to_string(on_wire > target ? on_wire - target : target - on_wire) +
                                    " cycles " + (on_wire > target ? "later" : "earlier")));
        }
    }
    return last;
}

run_result system::run_once(const scenario_config& scenario, const run_options& options) {
    const auto begin = std::chrono::steady_clock::now();
    m_domain.set_run_ahead(true);
    m_domain.set_horizon(never);
    m_domain.cycles().set_order_seed(m_order_seed);
    m_domain.reset(options.engine);
    m_packets.reclaim();
    m_rtl.set_modes(scenario.rtl);
    m_recorder.set_wave(options.wave);
    m_recorder.set_tap(options.tap_packets);
    m_recorder.reset(scenario);
    const bool script = scenario.workload == workload_kind::script;
    const auto connections =
        script ? static_cast<std::uint32_t>(m_plan->connections.size()) : scenario.connections;
    m_director.reset(scenario.hosts, connections, [this](cycle_t cycle) {
        for (const auto& node : m_nodes) {
            node->software.start(cycle);
        }
    });
    if (!script) {
        m_protocol = make_protocol(scenario.workload, scenario.message_bytes);
    }
    channel_config link;
    link.depth = link_depth;
    link.latency_cycles = static_cast<std::uint32_t>(
        std::max<std::uint64_t>(1, ns_to_cycles(scenario.hca.link.propagation_ns, scenario.hca.clock_mhz)));
    const host_config& host = scenario.host;
    std::vector<std::uint16_t> lids;
    for (std::uint32_t h = 0; h < m_hosts; ++h) {
        host_node& node = *m_nodes[h];
        const hca_config config = config_of(scenario, h);
        lids.push_back(config.lid);
        node.memory.reset(host_software::memory_bytes(scenario, h), nanoseconds(host.dma_read_ns),
                          nanoseconds(host.dma_write_ns));
        node.bus.reset(nanoseconds(host.mmio_write_ns));
        // The interrupt message is a write too: it does not pass the event that it announces.
        node.processor.reset(nanoseconds(std::max(host.interrupt_ns, host.dma_write_ns)));
        node.arrivals.reset(m_recorder.of_host(h), m_hosts == 2 ? &m_nodes[1 - h]->arrivals : nullptr,
                            link.latency_cycles);
        node.adapter.set_observer(&node.arrivals);
        node.adapter.reset(config);
        if (script) {
            node.software.reset(scenario, *m_plan, m_post_cycles);
        } else {
            node.software.reset(scenario, *m_protocol);
        }
    }
    for (const auto& l : m_links) {
        l->reset(link);
    }
    if (m_switch != nullptr) {
        m_switch->reset(config_of(scenario, 0), lids);
        for (std::uint32_t h = 0; h < m_hosts; ++h) {
            m_switch->observe(h, &m_nodes[h]->arrivals.incoming());
        }
    }
    m_domain.set_horizon(scenario.max_cycles == 0 ? never : scenario.max_cycles);
    m_rtl.prepare();
    sc_core::sc_start();
    m_rtl.finish();
    if (m_rtl.difference()) {
        throw rtl_mismatch(*m_rtl.difference());
    }

    const bool idle = !m_domain.cycles().stopped() && scenario.max_cycles == 0;
    run_result result = m_recorder.finish(m_domain.now(), counters(), idle);
    const message_ledger& ledger = m_director.ledger();
    if (ledger.wrong() != 0 || !m_director.faults().empty()) {
        result.invariants_violated += ledger.wrong() + (m_director.faults().empty() ? 0 : 1);
        if (result.violation.empty()) {
            result.violation = m_director.faults().empty() ? ledger.violation() : m_director.faults();
        }
    }
    // The order of what different hosts do in one cycle is no result.
    std::stable_sort(result.packets.begin(), result.packets.end(),
                     [](const tapped_packet& a, const tapped_packet& b) {
                         return std::tie(a.first_byte_cycle, a.host) < std::tie(b.first_byte_cycle, b.host);
                     });
    std::stable_sort(result.wqes.begin(), result.wqes.end(), [](const wqe_record& a, const wqe_record& b) {
        return std::tie(a.host, a.qpn) < std::tie(b.host, b.qpn);
    });
    result.host_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return result;
}

std::vector<std::pair<std::string, std::uint64_t>> system::counters() const {
    std::map<std::string, std::uint64_t> sum;
    for (const auto& node : m_nodes) {
        for (const auto& [counter, value] : node->adapter.counters()) {
            sum[counter] += value;
        }
        for (const auto& [counter, value] : node->software.counters()) {
            sum[counter] += value;
        }
    }
    return {sum.begin(), sum.end()};
}

run_result run_scenario(const scenario_config& scenario, const run_options& options) {
    validate(scenario);
    // SystemC elaborates a hierarchy once. Another number of hosts, another clock or another order is another
    // hierarchy, in a fresh context.
    static system* current = nullptr;
    static std::uint32_t hosts = 0;
    static std::uint64_t clock_mhz = 0;
    static std::uint64_t order_seed = 0;
    static bool with_rtl = false;
    if (current == nullptr || hosts != scenario.hosts || clock_mhz != scenario.hca.clock_mhz ||
        order_seed != options.order_seed || with_rtl != scenario.rtl.any()) {
        if (current != nullptr) {
            delete current;
            current = nullptr;
            sc_core::sc_get_curr_simcontext()->reset();
        }
        hosts = scenario.hosts;
        clock_mhz = scenario.hca.clock_mhz;
        order_seed = options.order_seed;
        with_rtl = scenario.rtl.any();
        current = new system("system", hosts, clock_mhz, order_seed, with_rtl);
        sc_core::sc_start(sc_core::SC_ZERO_TIME);
    }
    return current->run(scenario, options);
}

}  // namespace hcasim
