#include "testbenches/bench/host_software.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "model/clock/cycle_time.h"
#include "model/ib/byte_order.h"
#include "model/ib/headers.h"
#include "model/ib/psn.h"
#include "testbenches/bench/host_layout.h"

namespace hcasim {

namespace {

constexpr std::uint32_t eq_entries = 4096;
constexpr std::uint32_t management_entries = 256;
constexpr std::uint32_t management_buffer_bytes = ib::grh_bytes + ib::mad_bytes;
constexpr std::uint32_t smallest_ring = 16;
constexpr std::uint32_t script_buffer_bytes = 2048;
// Set-up costs one cycle of its own, so that nothing happens in cycle 0.
constexpr cycle_t first_cycle = 1;
// 0.64 ms: a usual value of ib_srp and rdma_cm users.
constexpr std::uint8_t min_rnr_timer = 12;
constexpr std::uint8_t path_mtu_4096 = 5;
constexpr std::uint8_t target_ack_delay = 15;
constexpr std::uint8_t rate_from_capture = 3;
constexpr std::uint16_t default_pkey = 0xffff;
// Reason of REJ (IBTA 12.6.7.2).
constexpr std::uint16_t reason_no_qp = 1;

std::uint32_t power_of_two_from(std::uint32_t n) {
    std::uint32_t p = 1;
    while (p < n) {
        p *= 2;
    }
    return p;
}

std::uint32_t ring_entries(const scenario_config& s) {
    return power_of_two_from(std::max(smallest_ring, 2 * s.queue_depth));
}

std::uint32_t commands_of(const scenario_config& s, const protocol& p) {
    return s.messages == 0 ? p.opening_commands() : s.messages;
}

std::uint32_t connections_of(const scenario_config& s, std::uint32_t host) {
    if (s.workload == workload_kind::script) {
        const auto& all = s.script_connections;
        return static_cast<std::uint32_t>(std::count_if(
            all.begin(), all.end(),
            [host](const script_connection& c) { return c.active_host == host || c.passive_host == host; }));
    }
    if (host == 0) {
        return s.connections;
    }
    const std::uint32_t clients = s.hosts - 1;
    return host > clients ? 0 : (s.connections + clients - host) / clients;
}

std::array<std::uint8_t, 16> gid_of(std::uint64_t guid) {
    std::array<std::uint8_t, 16> gid{};
    gid[0] = 0xfe;
    gid[1] = 0x80;
    for (std::size_t i = 0; i < 8; ++i) {
        gid[8 + i] = static_cast<std::uint8_t>(guid >> (56 - 8 * i));
    }
    return gid;
}

void put_private_data(ib::cm_message& m, const std::vector<std::uint8_t>& data) {
    std::copy(data.begin(), data.end(), m.private_data.begin());
}

}  // namespace

host_software::host_software(const sc_core::sc_module_name& name, clock_domain& domain, std::uint32_t host,
                             host_memory& memory, host_processor& processor, arrival_tap& arrivals,
                             run_director& director)
    : clocked_module(name, domain),
      m_host(host),
      m_arrivals(arrivals),
      m_director(director),
      m_verbs(domain, memory, processor, m_tasks),
      m_cm(*this) {
    processor.set_interrupt_handler([this](unsigned) {
        // The handler may tick before or after this module: acting in the next cycle is the same in both.
        m_interrupts.push_back(now() + 1);
        this->domain().wake_at(*this, now() + 1);
    });
}

std::uint64_t host_software::memory_bytes(const scenario_config& s, std::uint32_t host) {
    const std::uint64_t ring = ring_entries(s);
    const std::uint64_t largest = s.workload == workload_kind::script
                                      ? 4096
                                      : make_protocol(s.workload, s.message_bytes)->largest_message_bytes();
    const std::uint64_t per_connection =
        ring * (sizeof(ib::send_wqe) + sizeof(ib::receive_wqe) + 2 * sizeof(ib::cqe) + 2 * largest) + 1024;
    const std::uint64_t management = std::uint64_t{management_entries} * 1024;
    const std::uint64_t contexts =
        s.hca.context_address + std::uint64_t{s.hca.qps} * ib::qp_context_slot_bytes;
    return contexts + eq_entries * sizeof(ib::eqe) + management + connections_of(s, host) * per_connection +
           65536;
}

cycle_t host_software::ns(std::uint64_t nanoseconds) const {
    return ns_to_cycles(nanoseconds, m_scenario->hca.clock_mhz);
}

// Any function of seed, connection and side will do; PSNs that differ make mix-ups visible.
std::uint32_t host_software::random_psn(std::uint32_t index, std::uint64_t salt) const {
    std::uint64_t x = m_scenario->seed * 0x9e3779b97f4a7c15u + index * 0xd1342543de82ef95u + salt;
    x ^= x >> 31;
    x *= 0xd6e8feb86659fd93u;
    x ^= x >> 32;
    return static_cast<std::uint32_t>(x) & ib::psn_mask;
}

std::string host_software::where() const {
    return "cycle " + std::to_string(now()) + ", host " + std::to_string(m_host);
}

void host_software::reset(const scenario_config& scenario, const protocol& upper_layer) {
    m_protocol = &upper_layer;
    m_plan = nullptr;
    m_post_cycles = nullptr;
    reset_common(scenario);
    for (std::uint32_t i = 0; i < connections_of(scenario, m_host); ++i) {
        // Here and not in a tick, so that the recorder hears of all queue pairs in the order of hosts.
        m_director.record().data_qp(m_host, first_data_qpn + i, m_host == 0);
    }
}

void host_software::reset(const scenario_config& scenario, const script_plan& plan,
                          const std::vector<cycle_t>& post_cycles) {
    m_protocol = nullptr;
    m_plan = &plan;
    m_post_cycles = &post_cycles;
    reset_common(scenario);
    for (const script_wire& w : plan.connections) {
        for (const bool active : {true, false}) {
            if (w.side(active).host == m_host) {
                m_director.record().data_qp(m_host, w.side(active).qpn, !active);
            }
        }
    }
}

void host_software::reset_common(const scenario_config& scenario) {
    m_scenario = &scenario;
    m_interrupts.clear();
    m_connections.clear();
    m_by_qpn.clear();
    m_by_cm_id.clear();
    m_waiting_mads.clear();
    m_steps_open = 0;
    m_start = never;
    m_tasks.reset(scenario.host.cores);
    m_verbs.reset(scenario.hca.context_address + std::uint64_t{scenario.hca.qps} * ib::qp_context_slot_bytes,
                  ns(scenario.host.post_send_ns));
    m_verbs.set_event_handler([this](const ib::eqe& entry) { device_event(entry); });
    cm_agent_config cm;
    cm.clock_mhz = scenario.hca.clock_mhz;
    cm.timer_shift = scenario.timer_shift;
    cm.packet_life_time = scenario.cm.packet_life_time;
    cm.mra_service_timeout = scenario.cm.mra_service_timeout;
    cm.send_mra = scenario.cm.send_mra;
    cm.ca_guid = guid_of(m_host);
    cm.agent_number = m_host + 1;
    cm.first_comm_id = (m_host + 1) << 24 | 1;
    m_cm.reset(cm);
    m_tasks.after(first_cycle, [this] { set_up(); });
    domain().wake_at(*this, first_cycle);
}

void host_software::tick() {
    const cycle_t cycle = now();
    // Time-outs first: a message that is handled in the cycle of its time-out comes too late.
    m_cm.advance(cycle);
    bool acted = m_tasks.run_due(cycle);
    if (cycle >= m_start) {
        m_start = never;
        start_connections();
    }
    while (!m_interrupts.empty() && m_interrupts.front() <= cycle) {
        m_interrupts.pop_front();
        m_verbs.interrupt();
        acted = true;
    }
    acted = m_tasks.run_due(cycle) || acted;
    if (acted) {
        // Not in a tick without work: the run must end in the same cycle under both engines.
        m_director.check();
    }
    const cycle_t next = std::min(m_tasks.next(), m_cm.next_deadline());
    if (next != never) {
        wake_at(std::max(next, cycle + 1));
    }
}

// ---- set-up

void host_software::require(ib::modify_status status, const char* what, std::optional<std::uint32_t> qpn) {
    if (status != ib::modify_status::ok) {
        m_director.fault(where() + ", command_unit" + (qpn ? fmt::format(", QP 0x{:06x}", *qpn) : "") + ": " +
                         what + " refused: " + std::string(ib::name(status)));
    }
}

void host_software::step_done() {
    if (--m_steps_open == 0) {
        m_director.host_ready();
    }
}

void host_software::set_up() {
    m_verbs.open(eq_entries, [this] {
        m_steps_open = 1;
        set_up_management_qp();
        set_up_connections();
    });
}

void host_software::set_up_management_qp() {
    m_management_cq = &m_verbs.create_cq(
        2 * management_entries, [this](const ib::cqe& entry) { management_completion(entry); },
        [this](ib::modify_status status) { require(status, "create_cq"); });
    queue_pair_request request;
    request.qpn = management_qpn;
    request.service = ib::service_type::ud;
    request.cq = m_management_cq;
    request.sq_entries = request.rq_entries = management_entries;
    request.send_buffer_bytes = ib::mad_bytes;
    request.receive_buffer_bytes = management_buffer_bytes;
    m_management_qp = &m_verbs.create_qp(request, [this](ib::modify_status status) {
        require(status, "create_qp", m_management_qp->qpn);
        to_init(*m_management_qp, [this] {
            m_verbs.post_receive(*m_management_qp, management_entries);
            modify_request rtr;
            rtr.to = ib::qp_state::rtr;
            m_verbs.modify_qp(*m_management_qp, rtr, [this](ib::modify_status rtr_status) {
                require(rtr_status, "modify_qp to RTR", m_management_qp->qpn);
                modify_request rts;
                rts.to = ib::qp_state::rts;
                rts.mask = ib::attr_sq_psn;
                rts.attributes.sq_psn = m_plan != nullptr ? m_plan->management_psn_of_host[m_host] : 0;
                m_verbs.modify_qp(*m_management_qp, rts, [this](ib::modify_status rts_status) {
                    require(rts_status, "modify_qp to RTS", m_management_qp->qpn);
                    step_done();
                });
            });
        });
    });
}

void host_software::set_up_connections() {
    if (m_plan != nullptr) {
        for (std::uint32_t i = 0; i < m_plan->connections.size(); ++i) {
            const script_wire& w = m_plan->connections[i];
            if (w.active.host != m_host && w.passive.host != m_host) {
                continue;
            }
            m_connections.emplace_back();
            connection& c = m_connections.back();
            c.index = i;
            c.active = w.active.host == m_host;
            c.wire = &w;
            c.expected_psn = w.side(c.active).psn;
            c.ack_timeout = static_cast<std::uint8_t>(w.ack_timeout);
            c.retry_count = static_cast<std::uint8_t>(w.retry_count);
            c.rnr_retry_count = static_cast<std::uint8_t>(w.rnr_retry_count);
            for (const script_deed& d : m_plan->deeds) {
                if (d.connection != i) {
                    continue;
                }
                c.deeds_left += d.host == m_host ? 1 : 0;
                if (d.action == script_action::send) {
                    ++(d.host == m_host ? c.to_send : c.to_receive);
                }
            }
            const std::uint32_t slot = slot_of(w.side(c.active).qpn);
            const bool taken =
                std::any_of(m_connections.begin(), m_connections.end(), [&](const connection& other) {
                    return other.qp != nullptr && slot_of(other.qp->qpn) == slot;
                });
            if (!taken) {
                ++m_steps_open;
                set_up_connection(c, w.side(c.active).qpn, [this] { step_done(); });
            }
        }
        return;
    }
    const std::uint32_t count = connections_of(*m_scenario, m_host);
    for (std::uint32_t i = 0; i < count; ++i) {
        m_connections.emplace_back();
        connection& c = m_connections.back();
        c.active = m_host != 0;
        c.index = c.active ? i * (m_scenario->hosts - 1) + m_host - 1 : i;
        const std::uint32_t commands = commands_of(*m_scenario, *m_protocol);
        const bool answers = !m_protocol->answer(m_protocol->command(c.index, 0)).empty();
        const std::uint32_t from_server =
            (answers ? commands : 0) + (m_protocol->greeting(c.index).empty() ? 0u : 1u);
        c.is_answered = answers;
        c.to_send = c.active ? commands : from_server;
        c.to_receive = c.active ? from_server : commands;
        c.ack_timeout = static_cast<std::uint8_t>(m_scenario->cm.packet_life_time + 1);
        c.expected_psn = random_psn(c.index, c.active ? 1 : 2);
        ++m_steps_open;
        set_up_connection(c, first_data_qpn + i, [this] { step_done(); });
    }
}

// Queue pairs are there before the first REQ, as a server keeps them that wants to answer quickly.
void host_software::set_up_connection(connection& c, std::uint32_t qpn, std::function<void()> then) {
    const std::uint32_t ring = ring_entries(*m_scenario);
    completion_queue& cq = m_verbs.create_cq(
        2 * ring, [this, &c](const ib::cqe& entry) { data_completion(c, entry); },
        [this](ib::modify_status status) { require(status, "create_cq"); });
    queue_pair_request request;
    request.qpn = qpn;
    request.cq = &cq;
    request.sq_entries = request.rq_entries = ring;
    request.send_buffer_bytes = request.receive_buffer_bytes =
        m_protocol != nullptr ? m_protocol->largest_message_bytes() : script_buffer_bytes;
    m_by_qpn[qpn] = &c;
    c.qp = &m_verbs.create_qp(request, [this, &c, then = std::move(then)](ib::modify_status status) {
        require(status, "create_qp", c.qp->qpn);
        to_init(*c.qp, [this, &c, then] {
            m_verbs.post_receive(*c.qp, c.qp->rq_entries);
            then();
        });
    });
}

// A script may use a slot again after a close, with another number: as real cards do, which change the upper
// bits.
void host_software::set_up_next_in_slot(std::uint32_t slot) {
    for (connection& c : m_connections) {
        if (c.qp == nullptr && slot_of(c.wire->side(c.active).qpn) == slot) {
            set_up_connection(c, c.wire->side(c.active).qpn, [] {});
            return;
        }
    }
}

void host_software::start(cycle_t cycle) {
    // Called from another host's tick, before or after this host's own of the same cycle: only noted.
    m_start = cycle;
    domain().wake_at(*this, cycle);
}

void host_software::start_connections() {
    if (m_plan != nullptr) {
        for (std::size_t i = 0; i < m_plan->deeds.size(); ++i) {
            if (m_plan->deeds[i].host == m_host) {
                m_tasks.after((*m_post_cycles)[i], [this, i] { perform(i); });
            }
        }
        return;
    }
    if (m_host == 0) {
        return;
    }
    for (connection& c : m_connections) {
        m_tasks.after(ns(m_scenario->connect_interval_ns * c.index), [this, &c] { connect(c); });
    }
}

// ---- queue pairs

void host_software::to_init(queue_pair& qp, std::function<void()> then) {
    modify_request request;
    request.to = ib::qp_state::init;
    request.mask = ib::attr_pkey_index | ib::attr_port |
                   (qp.service == ib::service_type::ud ? ib::attr_qkey : ib::attr_access_flags);
    request.attributes.qkey = ib::qp1_qkey;
    request.attributes.pkey = default_pkey;
    m_verbs.modify_qp(qp, request, [this, &qp, then = std::move(then)](ib::modify_status status) {
        require(status, "modify_qp to INIT", qp.qpn);
        then();
    });
}

ib::qp_attributes host_software::attributes_of(const connection& c) const {
    ib::qp_attributes a;
    a.dest_qpn = c.peer_qpn;
    a.dlid = c.peer_lid;
    a.rq_psn = c.expected_psn;
    a.sq_psn = c.first_psn;
    a.pkey = default_pkey;
    a.path_mtu = c.wire != nullptr ? static_cast<std::uint8_t>(c.wire->path_mtu) : path_mtu_4096;
    a.timeout = c.ack_timeout;
    a.retry_cnt = c.retry_count;
    a.rnr_retry = c.rnr_retry_count;
    a.min_rnr_timer = min_rnr_timer;
    a.max_rd_atomic = 4;
    a.max_dest_rd_atomic = 4;
    return a;
}

void host_software::to_rtr(connection& c, std::function<void()> then) {
    modify_request request;
    request.to = ib::qp_state::rtr;
    request.mask = ib::attr_av | ib::attr_path_mtu | ib::attr_dest_qpn | ib::attr_rq_psn |
                   ib::attr_max_dest_rd_atomic | ib::attr_min_rnr_timer;
    if (!c.active && opens_on(open_on_packet) && m_scenario->policy == gate_policy::hardware &&
        m_scenario->hca.command_unit.rts_preload) {
        request.mask |= ib::rts_attributes_rc;
    }
    request.attributes = attributes_of(c);
    m_verbs.modify_qp(*c.qp, request, [this, &c, then = std::move(then)](ib::modify_status status) {
        require(status, "modify_qp to RTR", c.qp->qpn);
        then();
    });
}

void host_software::to_rts(connection& c, ib::gate_opener reason, std::function<void()> then) {
    modify_request request;
    request.to = ib::qp_state::rts;
    request.mask = ib::rts_attributes_rc;
    request.attributes = attributes_of(c);
    request.reason = reason;
    m_verbs.modify_qp(*c.qp, request, [this, &c, then = std::move(then)](ib::modify_status status) {
        if (!c.failed) {
            require(status, "modify_qp to RTS", c.qp->qpn);
        }
        then();
    });
}

void host_software::to_err(connection& c) {
    modify_request request;
    request.to = ib::qp_state::err;
    m_verbs.modify_qp(*c.qp, request, [this, &c](ib::modify_status status) {
        require(status, "modify_qp to ERR", c.qp->qpn);
        check_end(c);
    });
}

// ---- connection manager

host_software::connection* host_software::by_cm_id(std::uint32_t id) {
    const auto it = m_by_cm_id.find(id);
    return it == m_by_cm_id.end() ? nullptr : it->second;
}

ib::cm_message host_software::request_of(const connection& c) const {
    ib::cm_message req;
    req.qpn = c.qp->qpn;
    req.starting_psn = c.expected_psn;
    req.retry_count = c.retry_count;
    req.rnr_retry_count = c.rnr_retry_count;
    req.primary.remote_lid = c.peer_lid;
    req.primary.local_lid = lid_of(m_host);
    req.primary.ack_timeout = c.ack_timeout;
    req.primary.subnet_local = true;
    if (const script_wire* const w = c.wire) {
        req.transaction_id = w->transaction_id;
        req.local_comm_id = w->active.comm_id;
        req.service_id = w->service_id;
        req.ca_guid = w->active.guid;
        req.responder_resources = static_cast<std::uint8_t>(w->responder_resources);
        req.remote_cm_response_timeout = req.local_cm_response_timeout =
            static_cast<std::uint8_t>(w->cm_response_timeout);
        req.path_mtu = static_cast<std::uint8_t>(w->path_mtu);
        req.max_cm_retries = static_cast<std::uint8_t>(w->max_cm_retries);
        req.srq = w->srq;
        req.primary.local_gid = w->active.gid;
        req.primary.remote_gid = w->passive.gid;
        req.primary.rate = static_cast<std::uint8_t>(w->rate);
        put_private_data(req, w->active.private_data);
        return req;
    }
    req.service_id = m_protocol->service_id();
    req.responder_resources = 4;
    req.remote_cm_response_timeout = req.local_cm_response_timeout =
        static_cast<std::uint8_t>(m_scenario->cm.response_timeout);
    req.path_mtu = path_mtu_4096;
    req.max_cm_retries = static_cast<std::uint8_t>(m_scenario->cm.max_retries);
    req.srq = !m_scenario->hca.receive_engine.credit_info;
    req.primary.local_gid = gid_of(guid_of(m_host) + 1);
    req.primary.remote_gid = gid_of(guid_of(0) + 1);
    req.primary.rate = rate_from_capture;
    put_private_data(req, m_protocol->request_private_data(c.index));
    return req;
}

ib::cm_message host_software::reply_of(const connection& c) const {
    ib::cm_message rep;
    rep.qpn = c.qp->qpn;
    rep.starting_psn = c.expected_psn;
    rep.rnr_retry_count = c.rnr_retry_count;
    if (const script_wire* const w = c.wire) {
        rep.local_comm_id = w->passive.comm_id;
        rep.ca_guid = w->passive.guid;
        rep.target_ack_delay = static_cast<std::uint8_t>(w->target_ack_delay);
        rep.srq = w->srq;
        put_private_data(rep, w->passive.private_data);
        return rep;
    }
    rep.target_ack_delay = target_ack_delay;
    rep.srq = !m_scenario->hca.receive_engine.credit_info;
    put_private_data(rep, m_protocol->reply_private_data(c.index));
    return rep;
}

void host_software::connect(connection& c) {
    c.peer_lid = c.wire != nullptr ? c.wire->passive.lid : lid_of(0);
    c.cm_id = m_cm.connect(now(), c.peer_lid, request_of(c));
    m_by_cm_id[c.cm_id] = &c;
}

void host_software::cm_send(std::uint16_t lid, const ib::cm_message& m) {
    mad bytes{};
    ib::encode(m, bytes.data());
    send_mad(lid, bytes);
}

void host_software::send_mad(std::uint16_t lid, const mad& bytes) {
    m_waiting_mads.emplace_back(lid, bytes);
    send_waiting_mads();
}

void host_software::send_waiting_mads() {
    while (!m_waiting_mads.empty() && m_management_qp->has_send_room()) {
        const auto& [lid, bytes] = m_waiting_mads.front();
        ib::send_wqe wqe;
        wqe.flags = ib::wqe_signaled;
        wqe.remote_lid = lid;
        wqe.remote_qpn = management_qpn;
        wqe.remote_qkey = ib::qp1_qkey;
        m_verbs.post_send(*m_management_qp, wqe, bytes.data(), ib::mad_bytes);
        m_waiting_mads.pop_front();
    }
}

void host_software::management_completion(const ib::cqe& entry) {
    if (entry.is_receive == 0) {
        m_management_qp->sq_consumer = static_cast<std::uint16_t>(entry.wqe_index + 1);
        send_waiting_mads();
        return;
    }
    if (entry.status != ib::wc_status::success || entry.length_bytes != management_buffer_bytes) {
        m_verbs.post_receive(*m_management_qp, 1);
        return;
    }
    mad bytes{};
    m_verbs.read(m_management_qp->receive_buffer(entry.wr_id) + ib::grh_bytes, bytes.data(), bytes.size());
    m_verbs.post_receive(*m_management_qp, 1);
    ib::cm_message m;
    if (!ib::decode(bytes.data(), m)) {
        return;
    }
    m_tasks.run(task_context::work, ns(m_scenario->cm.step_ns),
                [this, lid = entry.slid, m] { m_cm.receive(now(), lid, m); });
}

void host_software::device_event(const ib::eqe& entry) {
    const auto it = m_by_qpn.find(entry.number);
    if (it == m_by_qpn.end()) {
        return;
    }
    connection& c = *it->second;
    switch (entry.type) {
        case ib::event_type::comm_est:
            comm_est(c);
            break;
        case ib::event_type::qp_inferred_rts:
            c.qp->state = ib::qp_state::rts;
            break;
        case ib::event_type::qp_fatal:
            fail(c);
            break;
        default:
            break;
    }
}

// As in ib_srpt: the event goes to the connection manager, on a work queue. Where no opener but the RTU
// counts, it is only noted (as svcrdma does), and the REP is sent again until an RTU comes.
void host_software::comm_est(connection& c) {
    const bool by_packet = opens_on(open_on_packet) && m_scenario->policy == gate_policy::hardware;
    if (c.active || (!opens_on(open_on_comm_est) && !by_packet)) {
        return;
    }
    m_tasks.run(task_context::work, ns(m_scenario->cm.step_ns), [this, &c] {
        m_cm.notify_established(now(), c.cm_id);
        if (opens_on(open_on_comm_est)) {
            m_director.record().opener_seen(m_host, c.qp->qpn, ib::gate_opener::comm_est, now());
            ask_rts(c, ib::gate_opener::comm_est);
        }
    });
}

void host_software::ask_rts(connection& c, ib::gate_opener reason) {
    if (c.rts_asked || c.failed) {
        return;
    }
    c.rts_asked = true;
    c.rts_reason = reason;
    to_rts(c, reason, [this, &c, reason] {
        c.rtu_settled = c.rtu_settled || reason == ib::gate_opener::rtu;
        pump(c);
        check_end(c);
    });
}

// The end of the connection that this REQ asks for; null when there is none.
host_software::connection* host_software::accepting(const ib::cm_message& req) {
    for (connection& c : m_connections) {
        if (c.active || c.cm_id != 0) {
            continue;
        }
        if (c.wire != nullptr ? c.wire->active.qpn == req.qpn && c.wire->active.lid == req.primary.local_lid
                              : c.index == (req.qpn - first_data_qpn) * (m_scenario->hosts - 1) +
                                               req.primary.local_lid - lid_of(1)) {
            return &c;
        }
    }
    return nullptr;
}

void host_software::cm_request_received(std::uint32_t id, const ib::cm_message& req) {
    connection* const c = accepting(req);
    if (c == nullptr) {
        m_cm.reject(now(), id, reason_no_qp);
        return;
    }
    c->cm_id = id;
    m_by_cm_id[id] = c;
    c->peer_lid = req.primary.local_lid;
    c->peer_qpn = req.qpn;
    c->first_psn = req.starting_psn;
    c->ack_timeout = req.primary.ack_timeout;
    c->retry_count = req.retry_count;
    c->rnr_retry_count = req.rnr_retry_count;
    to_rtr(*c, [this, c] {
        c->reply_possible = true;
        if (c->wire == nullptr || c->reply_due) {
            reply(*c);
        }
    });
}

void host_software::reply(connection& c) {
    m_cm.accept(now(), c.cm_id, reply_of(c));
    c.open = true;
    if (m_protocol != nullptr) {
        std::vector<std::uint8_t> greeting = m_protocol->greeting(c.index);
        if (!greeting.empty()) {
            submit(c, std::move(greeting), 0);
        }
    }
}

void host_software::cm_reply_received(std::uint32_t id, const ib::cm_message& rep) {
    connection* const c = by_cm_id(id);
    if (c == nullptr) {
        return;
    }
    c->peer_qpn = rep.qpn;
    c->first_psn = rep.starting_psn;
    c->rnr_retry_count = rep.rnr_retry_count;
    to_rtr(*c, [this, c] {
        to_rts(*c, ib::gate_opener::command, [this, c] {
            c->rtu_possible = true;
            if (c->wire == nullptr || c->rtu_due) {
                send_rtu(*c);
            }
            pump(*c);
        });
    });
}

void host_software::send_rtu(connection& c) {
    m_cm.ready(now(), c.cm_id);
    c.rtu_settled = true;
    c.open = true;
    if (m_protocol != nullptr) {
        // The first command goes out right behind the RTU, on another QP: nothing keeps the two in order.
        next_commands(c);
    }
    check_end(c);
}

void host_software::cm_established(std::uint32_t id, cm_evidence how) {
    connection* const c = by_cm_id(id);
    if (c == nullptr || how != cm_evidence::rtu) {
        return;
    }
    const bool asks = opens_on(open_on_rtu) && !c->rts_asked;
    if (opens_on(open_on_rtu)) {
        m_director.record().opener_seen(m_host, c->qp->qpn, ib::gate_opener::rtu, now());
        ask_rts(*c, ib::gate_opener::rtu);
    }
    if (!asks) {
        c->rtu_settled = true;
        check_end(*c);
    }
}

void host_software::cm_rtu_again(std::uint32_t id) { cm_established(id, cm_evidence::rtu); }

void host_software::cm_rejected(std::uint32_t id, const ib::cm_message&) {
    if (connection* const c = by_cm_id(id)) {
        fail(*c);
        check_end(*c);
    }
}

void host_software::cm_gave_up(std::uint32_t id, ib::cm_attribute) {
    if (connection* const c = by_cm_id(id)) {
        fail(*c);
        to_err(*c);
    }
}

void host_software::cm_disconnect_received(std::uint32_t id) { cm_disconnected(id); }

void host_software::cm_disconnected(std::uint32_t id) {
    if (connection* const c = by_cm_id(id)) {
        c->disconnected = true;
        check_end(*c);
    }
}

// ---- workload `script`

host_software::connection& host_software::end_of(std::uint32_t index) {
    return *std::find_if(m_connections.begin(), m_connections.end(),
                         [index](const connection& c) { return c.index == index; });
}

void host_software::perform(std::size_t deed) {
    const script_deed& d = m_plan->deeds[deed];
    connection& c = end_of(d.connection);
    --c.deeds_left;
    switch (d.action) {
        case script_action::req:
            connect(c);
            break;
        case script_action::rep:
            c.reply_due = true;
            if (c.reply_possible) {
                reply(c);
            }
            break;
        case script_action::rtu:
            c.rtu_due = true;
            if (c.rtu_possible) {
                send_rtu(c);
            }
            break;
        case script_action::send:
            submit(c, c.wire->side(c.active).payloads[d.number], 0);
            break;
        case script_action::query: {
            // SubnAdmGet(PathRecord): of no consequence for who receives it here.
            mad bytes{1, 3, 2, 1};
            ib::store_be64(&bytes[8], deed + 1);
            ib::store_be16(&bytes[16], 0x0035);
            send_mad(c.wire->side(!c.active).lid, bytes);
            break;
        }
        case script_action::close:
            m_cm.destroy(c.cm_id);
            m_verbs.destroy_qp(*c.qp, [this, &c](ib::modify_status status) {
                require(status, "destroy_qp", c.qp->qpn);
                set_up_next_in_slot(slot_of(c.qp->qpn));
            });
            break;
    }
    check_end(c);
}

void host_software::check_script_end(connection& c) {
    if (c.deeds_left == 0 && c.rtu_settled && c.handled == c.to_receive && c.completed == c.to_send) {
        c.ended = true;
        m_director.end_done(c.index, !c.active);
    }
}

// ---- application

void host_software::data_completion(connection& c, const ib::cqe& entry) {
    if (entry.is_receive != 0) {
        if (entry.status == ib::wc_status::success) {
            message_received(c, entry);
        }
        return;
    }
    c.qp->sq_consumer = static_cast<std::uint16_t>(entry.wqe_index + 1);
    ++c.completed;
    if (entry.status != ib::wc_status::success) {
        fail(c);
    }
    pump(c);
    if (m_protocol != nullptr && c.active && c.open) {
        next_commands(c);
    }
    check_end(c);
}

void host_software::message_received(connection& c, const ib::cqe& entry) {
    std::vector<std::uint8_t> bytes(entry.length_bytes);
    m_verbs.read(c.qp->receive_buffer(entry.wr_id), bytes.data(), bytes.size());
    m_verbs.post_receive(*c.qp, 1);
    const auto delivery = m_director.ledger().delivered({c.index, c.active}, bytes, now());
    m_director.record().message_delivered(m_host, c.qp->qpn, delivery.message_id, delivery.first_time, now());
    const cycle_t arrived = m_arrivals.take(c.qp->qpn);
    m_tasks.run(task_context::interrupt, ns(m_scenario->host.completion_handler_ns),
                [this, &c, arrived, bytes = std::move(bytes)] {
                    ++c.handled;
                    if (m_protocol == nullptr) {
                        check_end(c);
                        return;
                    }
                    if (c.active) {
                        next_commands(c);
                    } else {
                        std::vector<std::uint8_t> answer = m_protocol->answer(bytes);
                        if (!answer.empty()) {
                            submit(c, std::move(answer), arrived);
                        }
                    }
                    check_end(c);
                });
}

void host_software::next_commands(connection& c) {
    const std::uint32_t commands = c.to_send;
    while (c.commands_sent < commands && !c.failed) {
        const bool opening = c.commands_sent < m_protocol->opening_commands();
        const std::uint32_t depth = opening && m_protocol->opening_is_serial() ? 1 : m_scenario->queue_depth;
        if (c.commands_sent - (c.is_answered ? c.handled : c.completed) >= depth) {
            return;
        }
        submit(c, m_protocol->command(c.index, c.commands_sent++), 0);
    }
}

void host_software::submit(connection& c, std::vector<std::uint8_t> bytes, cycle_t command_arrived) {
    if (c.ended) {
        return;
    }
    m_director.ledger().sent({c.index, !c.active}, bytes);
    ++c.submitted;
    outgoing out;
    out.bytes = std::move(bytes);
    out.submitted = now();
    out.command_arrived = command_arrived;
    c.queue.push_back(std::move(out));
    pump(c);
}

void host_software::pump(connection& c) {
    if (c.failed) {
        c.queue.clear();
    }
    while (!c.queue.empty() && !c.queue_busy && c.qp->has_send_room()) {
        const bool in_rtr = c.qp->state == ib::qp_state::rtr;
        switch (m_scenario->policy) {
            case gate_policy::hardware:
                post_front(c);
                break;
            case gate_policy::software:
                if (in_rtr) {
                    for (outgoing& out : c.queue) {
                        out.waited = true;
                    }
                    return;
                }
                c.queue_busy = true;
                m_tasks.after(ns(m_scenario->host.software_queue_post_ns), [this, &c] {
                    c.queue_busy = false;
                    if (!c.queue.empty()) {
                        post_front(c);
                    }
                    pump(c);
                });
                return;
            case gate_policy::reject:
                if (in_rtr) {
                    m_director.record().message_rejected(m_host, c.qp->qpn, now());
                    for (outgoing& out : c.queue) {
                        out.waited = true;
                    }
                    c.queue_busy = true;
                    m_tasks.after(ns(m_scenario->host.poll_retry_ns), [this, &c] {
                        c.queue_busy = false;
                        pump(c);
                    });
                    return;
                }
                post_front(c);
                break;
        }
    }
}

void host_software::post_front(connection& c) {
    const outgoing& out = c.queue.front();
    ib::send_wqe wqe;
    wqe.flags = ib::wqe_signaled;
    const auto size = static_cast<std::uint32_t>(out.bytes.size());
    const std::uint16_t index = m_verbs.post_send(*c.qp, wqe, out.bytes.data(), size);
    recorder& record = m_director.record();
    record.message_posted(m_host, c.qp->qpn, index, size, out.submitted, now(), out.command_arrived);
    if (out.waited) {
        record.software_waited(m_host, c.qp->qpn, index, c.rts_reason);
    }
    ++c.posted;
    c.queue.pop_front();
}

void host_software::fail(connection& c) {
    if (c.failed) {
        return;
    }
    c.failed = true;
    if (c.qp->state != ib::qp_state::rtr) {
        c.qp->state = ib::qp_state::err;
    }
}

void host_software::check_end(connection& c) {
    if (c.ended) {
        return;
    }
    if (c.failed) {
        // The end comes when all that was posted has come back.
        if (c.completed == c.posted) {
            c.ended = true;
            m_director.connection_failed(c.index);
        }
        return;
    }
    if (c.wire != nullptr) {
        check_script_end(c);
        return;
    }
    const bool quiet = c.handled == c.to_receive && c.submitted == c.to_send && c.completed == c.to_send;
    if (!quiet) {
        return;
    }
    if (!m_scenario->cm.disconnect || c.disconnected) {
        c.ended = true;
        m_director.end_done(c.index, !c.active);
    } else if (c.active && m_cm.state(c.cm_id) == cm_state::established) {
        m_cm.disconnect(now(), c.cm_id);
    }
}

}  // namespace hcasim
