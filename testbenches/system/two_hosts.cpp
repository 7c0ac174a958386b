#include "testbenches/system/two_hosts.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "model/ib/crc.h"
#include "testbenches/bench/host_layout.h"
#include "testbenches/unit/catch.h"

namespace hcasim::test {

namespace {

// The cable itself takes one cycle, the channel behind it the rest of the default propagation of 10 ns.
constexpr std::uint32_t cable_cycles = 1;
constexpr std::uint32_t link_depth = 16;
constexpr std::uint64_t memory_bytes = 64u << 20;

sc_core::sc_time nanoseconds(std::uint64_t ns) {
    return sc_core::sc_time(static_cast<double>(ns), sc_core::SC_NS);
}

std::uint8_t phase_of(std::uint32_t position, std::uint32_t entries) {
    return static_cast<std::uint8_t>((position / entries + 1) & 1u);
}

std::uint8_t log2_of(std::uint32_t entries) {
    std::uint8_t log = 0;
    while ((1u << log) < entries) {
        ++log;
    }
    return log;
}

// The bytes of message `number`: the number first, then bytes that depend on number and place.
std::vector<std::uint8_t> message_bytes(std::uint32_t sender, std::uint64_t number, std::uint32_t bytes) {
    std::vector<std::uint8_t> m(bytes);
    for (std::uint32_t i = 0; i < bytes; ++i) {
        m[i] = i < 8 ? static_cast<std::uint8_t>(number >> 8 * i)
                     : static_cast<std::uint8_t>(number * 37 + i * 11 + (i >> 8) + sender);
    }
    return m;
}

}  // namespace

// ---- cable

cable::cable(const sc_core::sc_module_name& name, clock_domain& domain, ib::packet_pool& pool,
             std::uint32_t sender, std::vector<wire_packet>& log)
    : clocked_module(name, domain),
      packet_i("packet_i", *this),
      packet_o("packet_o", *this),
      m_pool(pool),
      m_sender(sender),
      m_log(log) {}

void cable::reset() {
    m_waiting.clear();
    passes = nullptr;
}

void cable::inject(const std::vector<std::uint8_t>& bytes, cycle_t cycle) {
    ib::packet* const p = m_pool.get();
    p->size_bytes = static_cast<std::uint32_t>(bytes.size());
    std::copy(bytes.begin(), bytes.end(), p->bytes);
    p->vl = static_cast<std::uint8_t>(bytes[0] >> 4);
    p->late = true;  // it was never charged to the sender's credits
    p->last_byte_cycle = 0;
    m_waiting.push_back(p);
    domain().wake_at(*this, cycle);
}

void cable::tick() {
    if (packet_i.can_pop()) {
        ib::packet* const p = packet_i.pop();
        bool keep = true;
        if (!p->is_flow_control) {
            wire_packet w;
            w.host = m_sender;
            w.first_byte = p->first_byte_cycle;
            w.last_byte = p->last_byte_cycle;
            w.bytes.assign(p->bytes, p->bytes + p->size_bytes);
            const ib::decoded_packet d = ib::decode(p->bytes, p->size_bytes);
            w.h = d.h;
            w.payload_bytes = d.payload_bytes;
            keep = !passes || passes(w);
            w.dropped = !keep;
            m_log.push_back(std::move(w));
        }
        if (keep) {
            p->last_byte_cycle += cable_cycles;
            m_waiting.push_back(p);
        } else {
            m_pool.put(p);
        }
    }
    if (!m_waiting.empty()) {
        if (packet_o.can_push()) {
            packet_o.push(m_waiting.front());
            m_waiting.pop_front();
        }
        if (!m_waiting.empty()) {
            wake_next();
        }
    }
}

// ---- watch

void host_watch::stamp(std::uint32_t qpn, std::uint16_t wqe_index, stage s, std::uint64_t cycle) {
    stamps[{qpn, wqe_index}][static_cast<std::size_t>(s)] = cycle;
    m_next->stamp(qpn, wqe_index, s, cycle);
}
void host_watch::wqe_ended(std::uint32_t qpn, std::uint16_t wqe_index, std::uint8_t status, bool has_cqe,
                           std::uint64_t cycle) {
    ends.push_back({qpn, wqe_index, static_cast<ib::wc_status>(status), cycle});
    m_next->wqe_ended(qpn, wqe_index, status, has_cqe, cycle);
}
void host_watch::state_changed(std::uint32_t qpn, std::uint8_t from, std::uint8_t to, std::uint8_t opener,
                               std::uint32_t sq_psn, std::uint64_t cycle) {
    states.push_back({qpn, static_cast<ib::qp_state>(from), static_cast<ib::qp_state>(to),
                      static_cast<ib::gate_opener>(opener), cycle});
    m_next->state_changed(qpn, from, to, opener, sq_psn, cycle);
}
void host_watch::late_opener(std::uint32_t qpn, std::uint8_t opener, std::uint64_t cycle) {
    late_openers.emplace_back(qpn, cycle);
    m_next->late_opener(qpn, opener, cycle);
}
void host_watch::gate_changed(std::uint32_t qpn, std::uint8_t gate, bool pending, std::uint64_t cycle) {
    gates.push_back({qpn, gate == static_cast<std::uint8_t>(gate_state::open), cycle});
    m_next->gate_changed(qpn, gate, pending, cycle);
}
void host_watch::packet_on_wire(const std::uint8_t* bytes, std::uint32_t size_bytes, std::uint32_t qpn,
                                bool is_flow_control, bool lost, std::uint64_t first_byte_cycle,
                                std::uint64_t last_byte_cycle) {
    m_next->packet_on_wire(bytes, size_bytes, qpn, is_flow_control, lost, first_byte_cycle, last_byte_cycle);
}
void host_watch::request_accepted(std::uint32_t qpn, std::uint32_t psn, bool ends_message,
                                  std::uint64_t cycle) {
    accepted.emplace_back(qpn, cycle);
    m_next->request_accepted(qpn, psn, ends_message, cycle);
}
void host_watch::comm_est(std::uint32_t qpn, std::uint64_t cycle) {
    comm_ests.emplace_back(qpn, cycle);
    m_next->comm_est(qpn, cycle);
}
void host_watch::doorbell_merged(std::uint32_t qpn, std::uint16_t before, std::uint16_t offered,
                                 std::uint16_t after, std::uint64_t cycle) {
    m_next->doorbell_merged(qpn, before, offered, after, cycle);
}

// ---- small things

std::vector<ib::wc_status> test_qp::send_statuses() const {
    std::vector<ib::wc_status> s;
    for (const ib::cqe& c : send_completions) {
        s.push_back(c.status);
    }
    return s;
}

std::vector<ib::wc_status> test_qp::receive_statuses() const {
    std::vector<ib::wc_status> s;
    for (const ib::cqe& c : receive_completions) {
        s.push_back(c.status);
    }
    return s;
}

std::vector<ib::wc_status> statuses(std::size_t count, ib::wc_status status) {
    return std::vector<ib::wc_status>(count, status);
}

std::vector<std::uint32_t> psns(std::uint32_t first, std::size_t count) {
    std::vector<std::uint32_t> p;
    for (std::size_t i = 0; i < count; ++i) {
        p.push_back(static_cast<std::uint32_t>(first + i) & 0xffffffu);
    }
    return p;
}

std::vector<std::uint64_t> numbers(std::size_t count) {
    std::vector<std::uint64_t> n(count);
    for (std::size_t i = 0; i < count; ++i) {
        n[i] = i;
    }
    return n;
}

test_host::test_host(const std::string& name, clock_domain& domain, ib::packet_pool& pool,
                     std::uint64_t order_seed)
    : memory((name + "_memory").c_str()),
      bus((name + "_bus").c_str(), bar_address, ib::bar_bytes),
      processor((name + "_processor").c_str(), domain, bar_address),
      adapter((name + "_hca").c_str(), domain, pool, order_seed) {
    processor.mmio_init_socket().bind(bus.host_targ_socket());
    bus.mmio_init_socket().bind(adapter.mmio_targ_socket());
    adapter.dma_init_socket().bind(bus.dma_targ_socket());
    bus.memory_init_socket().bind(memory.targ_socket());
}

bench_config::bench_config() {
    hca.qps = 64;
    hca.context_address = 0x100000;
    // T(4) = 1024 * 2^4 / 2^2 = 4096 cycles; the RNR timers are a quarter of the table.
    hca.timer_shift = 2;
    hca.receive_engine.infer_rts = false;
    // Short firmware times keep the runs short; the cases that measure them say so.
    hca.command_unit.modify_qp_ns = 400;
    hca.command_unit.create_qp_ns = 400;
    hca.command_unit.other_ns = 400;
}

// ---- the bench

two_hosts::two_hosts(std::uint64_t order_seed)
    : m_domain("domain", sc_core::sc_time(4000, sc_core::SC_PS)), m_recorder(2) {
    for (std::uint32_t h = 0; h < 2; ++h) {
        m_hosts.push_back(
            std::make_unique<test_host>("host" + std::to_string(h), m_domain, m_pool, order_seed));
    }
    for (std::uint32_t h = 0; h < 2; ++h) {
        const std::string name = "cable" + std::to_string(h);
        m_cables.push_back(std::make_unique<cable>(name.c_str(), m_domain, m_pool, h, m_packets));
        for (const char* end : {"_begin", "_end"}) {
            m_channels.push_back(std::make_unique<channel<ib::packet*>>((name + end).c_str(), m_domain));
        }
        m_hosts[h]->adapter.link_o.bind(*m_channels[2 * h]);
        m_cables[h]->packet_i.bind(*m_channels[2 * h]);
        m_cables[h]->packet_o.bind(*m_channels[2 * h + 1]);
        m_hosts[1 - h]->adapter.link_i.bind(*m_channels[2 * h + 1]);
    }
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
}

void two_hosts::reset(const bench_config& config) {
    m_config = config;
    m_now = 0;
    m_domain.set_run_ahead(true);
    m_domain.set_horizon(0);
    m_domain.reset(config.engine);
    m_pool.reclaim();
    m_packets.clear();
    m_scenario = scenario_config{};
    m_scenario.hca = config.hca;
    m_scenario.timer_shift = config.hca.timer_shift;
    m_scenario.open_on = config.open_on;
    m_recorder.reset(m_scenario);
    for (std::uint32_t h = 0; h < 2; ++h) {
        test_host& t = *m_hosts[h];
        hca_config c = config.hca;
        c.lid = static_cast<std::uint16_t>(h + 1);
        c.seed = config.hca.seed * 2 + h;
        c.stall_seed = config.hca.stall_seed * 2 + h;
        c.host_interface.target_may_notify = false;
        t.memory.reset(memory_bytes, nanoseconds(config.dma_read_ns), nanoseconds(config.dma_write_ns));
        t.bus.reset(nanoseconds(config.mmio_write_ns));
        t.processor.reset(nanoseconds(2000));
        t.watch.reset(&m_recorder.of_host(h));
        t.adapter.set_observer(&t.watch);
        t.adapter.reset(c);
        t.arena = c.context_address + std::uint64_t{c.qps} * ib::qp_context_slot_bytes;
        t.eq_consumer = 0;
        t.events.clear();
        t.cqs.assign(1, {});
        t.qps.clear();
        t.next_token = 1;
        t.mailboxes.clear();
        m_cables[h]->reset();
        channel_config link;
        link.depth = link_depth;
        m_channels[2 * h]->reset(link);
        link.latency_cycles = static_cast<std::uint32_t>(config.hca.link.propagation_ns * 250 + 999) / 1000;
        link.latency_cycles = std::max(link.latency_cycles, cable_cycles + 1) - cable_cycles;
        m_channels[2 * h + 1]->reset(link);
    }
    run_to(1);
    for (std::uint32_t h = 0; h < 2; ++h) {
        ib::command_mailbox m;
        m.opcode = ib::command_opcode::create_eq;
        m.ring_entries = config.eq_entries;
        m.ring_address = host(h).eq_address = allocate(h, config.eq_entries * sizeof(ib::eqe));
        REQUIRE(wait(start(h, m)) == ib::modify_status::ok);
        if (config.tell_event_queue) {
            doorbell(h, ib::encode(ib::doorbell{ib::doorbell_type::event_queue, 0, 0}));
        }
        REQUIRE(create_cq(h, config.cq_entries) == 1);
    }
}

std::uint64_t two_hosts::allocate(std::uint32_t h, std::uint64_t bytes) {
    test_host& t = host(h);
    const std::uint64_t address = (t.arena + 63) / 64 * 64;
    t.arena = address + bytes;
    REQUIRE(t.arena <= memory_bytes);
    return address;
}

// ---- time

void two_hosts::run_domain(cycle_t horizon) {
    m_domain.set_horizon(horizon);
    // The kernel warns when it is started with nothing to do.
    if (sc_core::sc_pending_activity()) {
        sc_core::sc_start();
    }
}

void two_hosts::run_to(cycle_t cycle) {
    run_domain(cycle);
    m_now = cycle;
}

void two_hosts::run_until_idle() {
    REQUIRE(m_config.engine == engine_kind::wheel);
    run_domain(never);
    m_now = std::max(m_now, m_domain.now());
    // What was written last is on its way for a while.
    run_for(200);
    poll();
}

void two_hosts::run_until(const std::function<bool()>& reached, cycle_t step, cycle_t limit) {
    const cycle_t end = m_now + limit;
    while (!reached()) {
        REQUIRE(m_now < end);
        run_for(step);
        poll();
    }
}

// ---- commands

pending_command two_hosts::start(std::uint32_t h, ib::command_mailbox mailbox) {
    test_host& t = host(h);
    pending_command c;
    c.host = h;
    if (t.mailboxes.empty()) {
        t.mailboxes.push_back(allocate(h, sizeof mailbox));
    }
    c.mailbox = t.mailboxes.back();
    t.mailboxes.pop_back();
    mailbox.token = t.next_token++;
    mailbox.done = 0;
    t.memory.write(c.mailbox, &mailbox, sizeof mailbox, m_domain.time_of(m_now));
    t.processor.mmio_write(ib::bar_command_offset, c.mailbox,
                           m_domain.time_of(m_now) - sc_core::sc_time_stamp());
    return c;
}

ib::command_mailbox two_hosts::result(const pending_command& c) {
    ib::command_mailbox m;
    host(c.host).memory.read(c.mailbox, &m, sizeof m, m_domain.time_of(m_now));
    return m;
}

bool two_hosts::done(const pending_command& c) { return result(c).done != 0; }

ib::modify_status two_hosts::wait(const pending_command& c) {
    run_until([&] { return done(c); });
    const ib::modify_status status = result(c).status;
    host(c.host).mailboxes.push_back(c.mailbox);
    return status;
}

std::uint32_t two_hosts::create_cq(std::uint32_t h, std::uint32_t entries) {
    test_host& t = host(h);
    const auto cqn = static_cast<std::uint32_t>(t.cqs.size());
    test_host::cq cq;
    cq.entries = entries;
    cq.address = allocate(h, entries * sizeof(ib::cqe));
    t.cqs.push_back(cq);
    ib::command_mailbox m;
    m.opcode = ib::command_opcode::create_cq;
    m.number = cqn;
    m.ring_address = cq.address;
    m.ring_entries = entries;
    REQUIRE(wait(start(h, m)) == ib::modify_status::ok);
    return cqn;
}

test_qp& two_hosts::create_qp(std::uint32_t h, std::uint32_t qpn, std::uint32_t entries,
                              std::uint32_t buffer_bytes, std::uint32_t cqn, ib::service_type service) {
    test_host& t = host(h);
    t.qps.emplace_back();
    test_qp& q = t.qps.back();
    q.host = h;
    q.qpn = qpn;
    q.service = service;
    q.cqn = cqn;
    q.entries = entries;
    q.buffer_bytes = buffer_bytes;
    q.sq_address = allocate(h, entries * sizeof(ib::send_wqe));
    q.rq_address = allocate(h, entries * sizeof(ib::receive_wqe));
    q.send_buffers = allocate(h, std::uint64_t{entries} * buffer_bytes);
    q.receive_buffers = allocate(h, std::uint64_t{entries} * buffer_bytes);
    m_recorder.data_qp(h, qpn, h == 1);
    ib::command_mailbox m;
    m.opcode = ib::command_opcode::create_qp;
    m.number = qpn;
    m.resources.sq_address = q.sq_address;
    m.resources.rq_address = q.rq_address;
    m.resources.send_cqn = m.resources.receive_cqn = cqn;
    m.resources.sq_log_entries = m.resources.rq_log_entries = log2_of(entries);
    m.resources.service = service;
    REQUIRE(wait(start(h, m)) == ib::modify_status::ok);
    return q;
}

ib::command_mailbox two_hosts::modify_mailbox(const test_qp& qp, ib::qp_state to, std::uint32_t mask,
                                              ib::gate_opener reason) {
    ib::command_mailbox m;
    m.opcode = ib::command_opcode::modify_qp;
    m.number = qp.qpn;
    m.state = to;
    m.attribute_mask = mask;
    m.attributes = qp.attributes;
    m.reason = reason;
    return m;
}

pending_command two_hosts::start_modify(const test_qp& qp, ib::qp_state to, std::uint32_t mask,
                                        ib::gate_opener reason) {
    return start(qp.host, modify_mailbox(qp, to, mask, reason));
}

ib::modify_status two_hosts::modify(const test_qp& qp, ib::qp_state to, std::uint32_t mask) {
    return wait(start_modify(qp, to, mask));
}

ib::command_mailbox two_hosts::query(const test_qp& qp) {
    ib::command_mailbox m;
    m.opcode = ib::command_opcode::query_qp;
    m.number = qp.qpn;
    const pending_command c = start(qp.host, m);
    REQUIRE(wait(c) == ib::modify_status::ok);
    return result(c);
}

ib::modify_status two_hosts::destroy(const test_qp& qp) {
    ib::command_mailbox m;
    m.opcode = ib::command_opcode::destroy_qp;
    m.number = qp.qpn;
    return wait(start(qp.host, m));
}

// ---- queue pairs

void two_hosts::pair(test_qp& a, test_qp& b) {
    for (test_qp* q : {&a, &b}) {
        const test_qp& peer = q == &a ? b : a;
        ib::qp_attributes& t = q->attributes;
        t = {};
        t.dest_qpn = peer.qpn;
        t.dlid = static_cast<std::uint16_t>(peer.host + 1);
        // Near the end of the 24 bits, so that PSNs wrap; a different one for each QP.
        t.sq_psn = 0xfffff0u + q->host * 5 + (q->qpn & 7u);
        t.rq_psn = 0xfffff0u + peer.host * 5 + (peer.qpn & 7u);
        t.path_mtu = 5;
        t.timeout = timeout_4096_cycles;
        t.retry_cnt = 7;
        t.rnr_retry = 7;
        t.min_rnr_timer = 1;
        t.max_rd_atomic = t.max_dest_rd_atomic = 1;
    }
}

void two_hosts::to_init(const test_qp& qp) {
    const std::uint32_t third = qp.service == ib::service_type::ud ? ib::attr_qkey : ib::attr_access_flags;
    REQUIRE(modify(qp, ib::qp_state::init, ib::attr_pkey_index | ib::attr_port | third) ==
            ib::modify_status::ok);
}

void two_hosts::to_rtr(const test_qp& qp, bool preload) {
    std::uint32_t mask = 0;
    if (qp.service == ib::service_type::rc) {
        mask = ib::attr_av | ib::attr_path_mtu | ib::attr_dest_qpn | ib::attr_rq_psn |
               ib::attr_max_dest_rd_atomic | ib::attr_min_rnr_timer | (preload ? ib::rts_attributes_rc : 0u);
    }
    REQUIRE(modify(qp, ib::qp_state::rtr, mask) == ib::modify_status::ok);
}

void two_hosts::to_rts(const test_qp& qp) {
    const std::uint32_t mask = qp.service == ib::service_type::rc ? ib::rts_attributes_rc : ib::attr_sq_psn;
    REQUIRE(modify(qp, ib::qp_state::rts, mask) == ib::modify_status::ok);
}

void two_hosts::bring_to(const test_qp& qp, ib::qp_state target) {
    using ib::qp_state;
    if (target == qp_state::reset) {
        return;
    }
    if (target == qp_state::err) {
        REQUIRE(modify(qp, qp_state::err) == ib::modify_status::ok);
        return;
    }
    to_init(qp);
    if (target == qp_state::init) {
        return;
    }
    to_rtr(qp);
    if (target == qp_state::rtr) {
        return;
    }
    to_rts(qp);
    if (target == qp_state::sqd) {
        REQUIRE(modify(qp, qp_state::sqd) == ib::modify_status::ok);
    }
}

std::uint16_t two_hosts::post_send(test_qp& qp, std::uint32_t bytes, std::uint8_t flags) {
    REQUIRE(bytes <= qp.buffer_bytes);
    const std::uint16_t index = qp.sq_producer++;
    const std::uint32_t slot = index & (qp.entries - 1);
    const std::vector<std::uint8_t> payload = message_bytes(qp.host, qp.next_message, bytes);
    ib::send_wqe w;
    w.flags = flags;
    w.wqe_index = index;
    w.length_bytes = bytes;
    w.address = qp.send_buffers + std::uint64_t{slot} * qp.buffer_bytes;
    w.wr_id = qp.next_message++;
    if (qp.service == ib::service_type::ud) {
        w.remote_lid = qp.attributes.dlid;
        w.remote_qpn = qp.attributes.dest_qpn;
        w.remote_qkey = qp.attributes.qkey;
    }
    host_memory& memory = host(qp.host).memory;
    const sc_core::sc_time at = m_domain.time_of(m_now);
    memory.write(w.address, payload.data(), payload.size(), at);
    memory.write(qp.sq_address + slot * sizeof w, &w, sizeof w, at);
    m_recorder.message_posted(qp.host, qp.qpn, index, bytes, m_now, m_now, 0);
    return index;
}

void two_hosts::doorbell(std::uint32_t h, std::uint64_t word) {
    host(h).processor.mmio_write(ib::bar_page_bytes + ib::uar_doorbell_offset, word,
                                 m_domain.time_of(m_now) - sc_core::sc_time_stamp());
}

void two_hosts::inject(std::uint32_t from, const ib::headers& h, std::size_t payload_bytes,
                       const std::function<void(std::vector<std::uint8_t>&)>& spoil) {
    std::vector<std::uint8_t> bytes(ib::packet_bytes(h, payload_bytes));
    ib::encode(h, payload_bytes, bytes.data());
    ib::seal(bytes.data(), bytes.size());
    if (spoil) {
        spoil(bytes);
        const std::uint16_t crc = ib::vcrc(bytes.data(), bytes.size() - ib::vcrc_bytes);
        bytes[bytes.size() - 2] = static_cast<std::uint8_t>(crc);
        bytes[bytes.size() - 1] = static_cast<std::uint8_t>(crc >> 8);
    }
    cable_from(from).inject(bytes, m_now + 1);
}

ib::headers two_hosts::request_to(const test_qp& qp, std::uint8_t op, std::uint32_t psn) {
    ib::headers h;
    h.dlid = static_cast<std::uint16_t>(qp.host + 1);
    h.slid = qp.attributes.dlid;
    h.op = op;
    h.pkey = qp.attributes.pkey;
    h.dest_qpn = qp.qpn;
    h.ack_request = true;
    h.psn = psn & 0xffffffu;
    return h;
}

void two_hosts::ring(const test_qp& qp, std::uint16_t producer) {
    doorbell(qp.host, ib::encode(ib::doorbell{ib::doorbell_type::send_queue, qp.qpn, producer}));
}

void two_hosts::send(test_qp& qp, std::uint32_t messages, std::uint32_t bytes) {
    for (std::uint32_t i = 0; i < messages; ++i) {
        post_send(qp, bytes);
    }
    ring(qp);
}

void two_hosts::post_receives(test_qp& qp, std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
        const std::uint32_t slot = qp.rq_producer & (qp.entries - 1);
        ib::receive_wqe w;
        w.wr_id = qp.rq_producer;
        w.address = qp.receive_buffers + std::uint64_t{slot} * qp.buffer_bytes;
        w.length_bytes = qp.buffer_bytes;
        host(qp.host).memory.write(qp.rq_address + slot * sizeof w, &w, sizeof w, m_domain.time_of(m_now));
        ++qp.rq_producer;
    }
    doorbell(qp.host, ib::encode(ib::doorbell{ib::doorbell_type::receive_queue, qp.qpn, qp.rq_producer}));
}

// ---- completions and events

test_qp* two_hosts::find(test_host& h, std::uint32_t qpn) {
    const auto it = std::find_if(h.qps.begin(), h.qps.end(), [&](const test_qp& q) { return q.qpn == qpn; });
    return it == h.qps.end() ? nullptr : &*it;
}

void two_hosts::take_receive(test_host& h, test_qp& qp, const ib::cqe& entry) {
    const std::uint32_t slot = static_cast<std::uint32_t>(entry.wr_id) & (qp.entries - 1);
    std::vector<std::uint8_t> bytes(entry.length_bytes);
    h.memory.read(qp.receive_buffers + std::uint64_t{slot} * qp.buffer_bytes, bytes.data(), bytes.size(),
                  m_domain.time_of(m_now));
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < std::min<std::size_t>(8, bytes.size()); ++i) {
        number |= std::uint64_t{bytes[i]} << 8 * i;
    }
    if (qp.damage.empty() && bytes != message_bytes(1 - qp.host, number, entry.length_bytes)) {
        qp.damage = "message " + std::to_string(number) + " came with other bytes than it was sent with";
    }
    m_recorder.message_delivered(
        qp.host, qp.qpn, number,
        std::find(qp.received.begin(), qp.received.end(), number) == qp.received.end(), m_now);
    qp.received.push_back(number);
}

void two_hosts::poll_cq(test_host& h, std::uint32_t cqn) {
    test_host::cq& cq = h.cqs[cqn];
    for (;;) {
        ib::cqe entry;
        h.memory.read(cq.address + std::uint64_t{cq.consumer & (cq.entries - 1)} * sizeof entry, &entry,
                      sizeof entry, m_domain.time_of(m_now));
        if (entry.phase != phase_of(cq.consumer, cq.entries)) {
            return;
        }
        ++cq.consumer;
        test_qp* const qp = find(h, entry.qpn);
        REQUIRE(qp != nullptr);
        if (entry.is_receive == 0) {
            qp->send_completions.push_back(entry);
        } else {
            qp->receive_completions.push_back(entry);
            if (entry.status == ib::wc_status::success && qp->service == ib::service_type::rc) {
                take_receive(h, *qp, entry);
            }
        }
    }
}

void two_hosts::poll() {
    for (auto& h : m_hosts) {
        for (std::uint32_t cqn = 1; cqn < h->cqs.size(); ++cqn) {
            poll_cq(*h, cqn);
        }
        bool told = true;
        for (;;) {
            ib::eqe entry;
            h->memory.read(
                h->eq_address + std::uint64_t{h->eq_consumer & (m_config.eq_entries - 1)} * sizeof entry,
                &entry, sizeof entry, m_domain.time_of(m_now));
            if (entry.phase != phase_of(h->eq_consumer, m_config.eq_entries)) {
                break;
            }
            ++h->eq_consumer;
            told = false;
            if (entry.type != ib::event_type::command) {
                h->events.push_back(entry);
            }
        }
        if (!told && m_config.tell_event_queue) {
            const std::uint32_t number = h == m_hosts[0] ? 0 : 1;
            doorbell(number, ib::encode(ib::doorbell{ib::doorbell_type::event_queue, 0,
                                                     static_cast<std::uint16_t>(h->eq_consumer)}));
        }
    }
}

std::size_t two_hosts::events_of(std::uint32_t h, ib::event_type type, std::uint32_t number) const {
    const auto& events = m_hosts[h]->events;
    return static_cast<std::size_t>(std::count_if(events.begin(), events.end(), [&](const ib::eqe& e) {
        return e.type == type && e.number == number;
    }));
}

// ---- looking

std::uint64_t two_hosts::counter(std::uint32_t h, const std::string& name) const {
    for (const auto& [key, value] : m_hosts[h]->adapter.counters()) {
        if (key == name) {
            return value;
        }
    }
    FAIL("no counter " << name);
    return 0;
}

std::vector<wire_packet> two_hosts::requests_of(const test_qp& qp) const {
    std::vector<wire_packet> found;
    for (const wire_packet& p : m_packets) {
        if (p.host == qp.host && p.h.dest_qpn == qp.attributes.dest_qpn && ib::is_rc_request(p.h.op)) {
            found.push_back(p);
        }
    }
    return found;
}

std::vector<wire_packet> two_hosts::responses_to(const test_qp& qp) const {
    std::vector<wire_packet> found;
    for (const wire_packet& p : m_packets) {
        if (p.host != qp.host && p.h.dest_qpn == qp.qpn && ib::is_rc_response(p.h.op)) {
            found.push_back(p);
        }
    }
    return found;
}

std::vector<std::uint32_t> two_hosts::psns_of(const std::vector<wire_packet>& packets) {
    std::vector<std::uint32_t> p;
    for (const wire_packet& w : packets) {
        p.push_back(w.h.psn);
    }
    return p;
}

void two_hosts::check(bool idle) {
    poll();
    std::map<std::string, std::uint64_t> sum;
    for (const auto& h : m_hosts) {
        for (const auto& [key, value] : h->adapter.counters()) {
            sum[key] += value;
        }
        for (const test_qp& q : h->qps) {
            CHECK(q.damage.empty());
        }
    }
    const run_result result = m_recorder.finish(m_now, {sum.begin(), sum.end()}, idle);
    CHECK(result.violation == "");
    CHECK(result.invariants_violated == 0);
}

}  // namespace hcasim::test
