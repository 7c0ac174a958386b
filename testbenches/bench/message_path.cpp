#include "testbenches/bench/message_path.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>
#include <tlm>
#include <vector>

#include "model/clock/channel.h"
#include "model/clock/clock_domain.h"
#include "model/clock/direct_read.h"
#include "model/clock/ring_queue.h"
#include "model/hca.h"
#include "model/ib/command.h"
#include "model/ib/work_queue.h"

namespace hcasim {

namespace {

constexpr std::uint32_t cq_entries = 4096;
constexpr std::uint32_t cqes_per_arm = cq_entries / 4;
constexpr std::uint32_t eq_entries = 1024;
constexpr cycle_t poll_cycles = 64;
constexpr std::uint32_t most_words = 64;     // doorbells in one MMIO burst
constexpr std::uint32_t receive_factor = 2;  // receive WQEs per send that the peer may have posted
constexpr std::uint64_t uar_doorbell = ib::bar_page_bytes + ib::uar_doorbell_offset;
constexpr std::uint32_t read_cycles = 125;
constexpr std::uint32_t write_cycles = 63;
constexpr std::uint32_t cable_cycles = 3;

std::uint8_t log2_of(std::uint32_t power_of_two) {
    return static_cast<std::uint8_t>(__builtin_ctz(power_of_two));
}

/// Zeroed memory of the host, apart from what the process allocates: the system backs it page by page and
/// counts it as shared.
class shared_pages {
public:
    shared_pages() = default;
    shared_pages(const shared_pages&) = delete;
    shared_pages& operator=(const shared_pages&) = delete;
    ~shared_pages() { release(); }
    void reset(std::size_t bytes) {
        release();
        void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (p == MAP_FAILED) {
            throw std::bad_alloc();
        }
        m_data = static_cast<std::uint8_t*>(p);
        m_bytes = bytes;
    }
    std::uint8_t* at(std::uint64_t address) { return m_data + address; }
    std::size_t bytes() const { return m_bytes; }

private:
    void release() {
        if (m_data != nullptr) {
            munmap(m_data, m_bytes);
            m_data = nullptr;
        }
    }
    std::uint8_t* m_data = nullptr;
    std::size_t m_bytes = 0;
};

/// One host: memory, driver and application.
class small_host final : public clocked_module,
                         public tlm::tlm_fw_transport_if<>,
                         public tlm::tlm_bw_transport_if<> {
public:
    small_host(const sc_core::sc_module_name& name, clock_domain& domain)
        : clocked_module(name, domain),
          mmio_init_socket("mmio_init_socket"),
          dma_targ_socket("dma_targ_socket") {
        mmio_init_socket.bind(*this);
        dma_targ_socket.bind(*this);
    }

    tlm::tlm_initiator_socket<64> mmio_init_socket;
    tlm::tlm_target_socket<64> dma_targ_socket;

    void reset(const message_path_config& config, bool sends) {
        m_config = config;
        m_sends = sends;
        m_receive_entries = config.depth * receive_factor;
        const std::uint64_t n = config.connections;
        m_mailbox_address = config.hca.context_address + config.hca.qps * ib::qp_context_slot_bytes;
        m_eq_address = m_mailbox_address + 4096;
        m_cq_address = m_eq_address + eq_entries * sizeof(ib::eqe);
        m_sq_address = m_cq_address + cq_entries * sizeof(ib::cqe);
        m_rq_address = m_sq_address + n * config.depth * sizeof(ib::send_wqe);
        m_send_buffers = m_rq_address + n * m_receive_entries * sizeof(ib::receive_wqe);
        m_receive_buffers = m_send_buffers + n * config.depth * config.payload_bytes;
        m_memory.reset(m_receive_buffers + n * m_receive_entries * config.payload_bytes);
        dma_targ_socket->invalidate_direct_mem_ptr(0, ~sc_dt::uint64{0});  // it has moved
        m_read_latency = sc_core::sc_time::from_value(read_cycles * domain().period().value());
        m_write_latency = sc_core::sc_time::from_value(write_cycles * domain().period().value());
        m_origin = domain().time_of(0).value();
        m_commands = 2 + commands_per_qp * config.connections;
        m_next_command = 0;
        m_answered = never;
        m_traffic = false;
        m_arrived.clear();
        m_taken = m_armed = 0;
        m_sent = m_received = 0;
        m_tokens.clear();
        m_queues.clear();
    }

    void begin_commands() {
        m_answered = now() + 1;
        domain().wake_at(*this, m_answered);
    }
    bool commands_done() const { return m_next_command == m_commands && m_answered != never; }

    void begin_traffic() {
        m_traffic = true;
        m_queues.assign(m_config.connections, {});
        for (std::uint32_t n = 0; n < m_config.connections; ++n) {
            for (std::uint32_t i = 0; i < m_config.depth && m_sends; ++i) {
                m_tokens.push_back(n);
            }
            for (std::uint32_t i = 0; i < m_receive_entries && !m_sends; ++i) {
                post_receive(n);
            }
        }
        domain().wake_at(*this, next_poll());
    }

    bool in_traffic() const { return m_traffic; }
    std::uint64_t sent() const { return m_sent; }
    std::uint64_t received() const { return m_received; }

    void tick() override {
        if (!m_traffic) {
            if (m_answered <= now()) {
                give_command();
            }
            return;
        }
        if (now() % poll_cycles != 0) {
            return;
        }
        while (!m_arrived.empty() && m_arrived.front().visible <= now()) {
            const std::uint32_t n = m_arrived.front().connection;
            m_arrived.pop_front();
            ++m_taken;
            if (m_sends) {
                m_tokens.push_back(n);
            } else {
                post_receive(n);
            }
        }
        if (m_taken - m_armed >= cqes_per_arm) {
            m_armed = m_taken;
            ring({ib::doorbell_type::arm_cq, 0, static_cast<std::uint16_t>(m_armed)});
        }
        if (m_sends) {
            for (std::size_t i = m_tokens.size(); i != 0; --i) {
                post_send(m_tokens.front());
                m_tokens.pop_front();
            }
        }
        flush_words();
        wake_at(next_poll());
    }

    void b_transport(tlm::tlm_generic_payload& p, sc_core::sc_time& delay) override {
        const std::uint64_t address = p.get_address();
        const std::uint32_t bytes = p.get_data_length();
        p.set_response_status(tlm::TLM_OK_RESPONSE);
        if (p.is_read()) {
            std::memcpy(p.get_data_ptr(), m_memory.at(address), bytes);
            delay += m_read_latency;
            p.set_dmi_allowed(true);
            return;
        }
        std::memcpy(m_memory.at(address), p.get_data_ptr(), bytes);
        delay += m_write_latency;
        if (address == m_mailbox_address) {
            m_answered = cycle_after(delay);
            domain().wake_at(*this, m_answered);
        } else if (address >= m_cq_address && address < m_sq_address) {
            ib::cqe e;
            std::memcpy(&e, p.get_data_ptr(), sizeof e);
            if (e.status != ib::wc_status::success) {
                throw std::runtime_error("message path: a CQE with status " + std::string(name_of(e.status)));
            }
            ++(e.is_receive != 0 ? m_received : m_sent);
            m_arrived.push_back({cycle_after(delay), static_cast<std::uint32_t>(e.wr_id)});
        }
    }
    tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& p, tlm::tlm_phase&,
                                       sc_core::sc_time& delay) override {
        b_transport(p, delay);
        return tlm::TLM_COMPLETED;
    }
    tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload&, tlm::tlm_phase&,
                                       sc_core::sc_time&) override {
        return tlm::TLM_ACCEPTED;
    }
    bool get_direct_mem_ptr(tlm::tlm_generic_payload& p, tlm::tlm_dmi& dmi) override {
        return direct_read::grant(p, dmi, 0, m_memory.at(0), m_memory.bytes(), m_read_latency);
    }
    void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
    unsigned transport_dbg(tlm::tlm_generic_payload&) override { return 0; }

private:
    static constexpr std::uint32_t commands_per_qp = 4;
    struct arrived_cqe {
        cycle_t visible = 0;
        std::uint32_t connection = 0;
    };
    struct queue_indices {
        std::uint16_t sq_producer = 0;
        std::uint16_t rq_producer = 0;
        std::uint16_t rq_told = 0;
    };

    static std::string_view name_of(ib::wc_status status) { return ib::name(status); }
    cycle_t cycle_after(const sc_core::sc_time& delay) const {
        return (sc_core::sc_time_stamp().value() + delay.value() - m_origin) / domain().period().value();
    }

    cycle_t next_poll() const { return (now() / poll_cycles + 1) * poll_cycles; }

    void give_command() {
        if (m_next_command != 0) {
            ib::command_mailbox done;
            std::memcpy(&done, m_memory.at(m_mailbox_address), sizeof done);
            if (done.status != ib::modify_status::ok) {
                throw std::runtime_error("message path: a command was refused: " +
                                         std::string(ib::name(done.status)));
            }
        }
        if (m_next_command == m_commands) {
            return;  // under `poll` again and again
        }
        const ib::command_mailbox mailbox = command(m_next_command++);
        std::memcpy(m_memory.at(m_mailbox_address), &mailbox, sizeof mailbox);
        m_answered = never;
        m_words = {m_mailbox_address};
        mmio(ib::bar_command_offset);
    }

    ib::command_mailbox command(std::uint32_t k) const {
        ib::command_mailbox m;
        if (k < 2) {
            m.opcode = k == 0 ? ib::command_opcode::create_eq : ib::command_opcode::create_cq;
            m.ring_address = k == 0 ? m_eq_address : m_cq_address;
            m.ring_entries = k == 0 ? eq_entries : cq_entries;
            return m;
        }
        const std::uint32_t n = (k - 2) / commands_per_qp;
        m.number = n;
        ib::qp_attributes& a = m.attributes;
        a.dest_qpn = n;
        a.dlid = m_sends ? 2 : 1;
        a.sl = n & 1u;
        a.timeout = 18;
        a.retry_cnt = 7;
        a.rnr_retry = 7;
        a.min_rnr_timer = 1;
        m.opcode = ib::command_opcode::modify_qp;
        switch ((k - 2) % commands_per_qp) {
            case 0:
                m.opcode = ib::command_opcode::create_qp;
                m.resources.sq_address =
                    m_sq_address + std::uint64_t{n} * m_config.depth * sizeof(ib::send_wqe);
                m.resources.rq_address =
                    m_rq_address + std::uint64_t{n} * m_receive_entries * sizeof(ib::receive_wqe);
                m.resources.sq_log_entries = log2_of(m_config.depth);
                m.resources.rq_log_entries = log2_of(m_receive_entries);
                m.resources.sl_class = a.sl;
                break;
            case 1:
                m.state = ib::qp_state::init;
                m.attribute_mask = ib::attr_pkey_index | ib::attr_port | ib::attr_access_flags;
                break;
            case 2:
                m.state = ib::qp_state::rtr;
                m.attribute_mask = ib::attr_av | ib::attr_path_mtu | ib::attr_dest_qpn | ib::attr_rq_psn |
                                   ib::attr_max_dest_rd_atomic | ib::attr_min_rnr_timer;
                break;
            default:
                m.state = ib::qp_state::rts;
                m.attribute_mask = ib::rts_attributes_rc;
                break;
        }
        return m;
    }

    void post_send(std::uint32_t n) {
        const std::uint16_t index = m_queues[n].sq_producer++;
        const std::uint64_t place = std::uint64_t{n} * m_config.depth + (index & (m_config.depth - 1));
        ib::send_wqe w;
        w.flags = ib::wqe_signaled;
        w.wqe_index = index;
        w.length_bytes = m_config.payload_bytes;
        w.address = m_send_buffers + place * m_config.payload_bytes;
        w.wr_id = n;
        std::memcpy(m_memory.at(m_sq_address + place * sizeof w), &w, sizeof w);
        ring({ib::doorbell_type::send_queue, n, m_queues[n].sq_producer});
    }
    void post_receive(std::uint32_t n) {
        queue_indices& q = m_queues[n];
        const std::uint64_t place =
            std::uint64_t{n} * m_receive_entries + (q.rq_producer & (m_receive_entries - 1));
        ib::receive_wqe w;
        w.address = m_receive_buffers + place * m_config.payload_bytes;
        w.length_bytes = m_config.payload_bytes;
        w.wr_id = n;
        std::memcpy(m_memory.at(m_rq_address + place * sizeof w), &w, sizeof w);
        ++q.rq_producer;
        if (static_cast<std::uint16_t>(q.rq_producer - q.rq_told) >= m_receive_entries / 4) {
            q.rq_told = q.rq_producer;
            ring({ib::doorbell_type::receive_queue, n, q.rq_producer});
        }
    }
    void ring(const ib::doorbell& d) {
        m_words.push_back(ib::encode(d));
        if (m_words.size() == most_words) {
            flush_words();
        }
    }
    void flush_words() {
        if (!m_words.empty()) {
            mmio(uar_doorbell);
        }
    }
    void mmio(std::uint64_t offset) {
        m_payload.set_command(tlm::TLM_WRITE_COMMAND);
        m_payload.set_address(offset);
        m_payload.set_data_ptr(reinterpret_cast<unsigned char*>(m_words.data()));
        m_payload.set_data_length(static_cast<unsigned>(m_words.size() * sizeof m_words[0]));
        m_payload.set_streaming_width(sizeof m_words[0]);
        m_payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
        sc_core::sc_time delay = domain().local_offset();
        mmio_init_socket->b_transport(m_payload, delay);
        m_words.clear();
    }

    message_path_config m_config;
    bool m_sends = false;
    std::uint32_t m_receive_entries = 0;
    shared_pages m_memory;
    std::uint64_t m_mailbox_address = 0, m_eq_address = 0, m_cq_address = 0;
    std::uint64_t m_sq_address = 0, m_rq_address = 0, m_send_buffers = 0, m_receive_buffers = 0;
    sc_core::sc_time m_read_latency;
    sc_core::sc_time m_write_latency;
    sc_core::sc_time::value_type m_origin = 0;
    tlm::tlm_generic_payload m_payload;
    std::vector<std::uint64_t> m_words;
    std::uint32_t m_commands = 0;
    std::uint32_t m_next_command = 0;
    cycle_t m_answered = never;  // when the host sees that its last command is done
    bool m_traffic = false;
    std::vector<queue_indices> m_queues;
    ring_queue<std::uint32_t> m_tokens;  // a connection for each send that may be posted
    ring_queue<arrived_cqe> m_arrived;
    std::uint64_t m_taken = 0, m_armed = 0;
    std::uint64_t m_sent = 0, m_received = 0;
};

}  // namespace

struct message_path::parts {
    parts()
        : domain("domain", sc_core::sc_time(4, sc_core::SC_NS)),
          host_a("host_a", domain),
          host_b("host_b", domain),
          card_a("card_a", domain, pool),
          card_b("card_b", domain, pool),
          from_a("from_a", domain),
          from_b("from_b", domain) {
        join(host_a, card_a, from_a, from_b);
        join(host_b, card_b, from_b, from_a);
    }
    static void join(small_host& host, hca& card, channel<ib::packet*>& out, channel<ib::packet*>& in) {
        host.mmio_init_socket.bind(card.mmio_targ_socket());
        card.dma_init_socket().bind(host.dma_targ_socket);
        card.link_o.bind(out);
        card.link_i.bind(in);
    }

    clock_domain domain;
    ib::packet_pool pool;
    small_host host_a;
    small_host host_b;
    hca card_a;
    hca card_b;
    channel<ib::packet*> from_a;
    channel<ib::packet*> from_b;
};

message_path::message_path(const sc_core::sc_module_name& name)
    : sc_core::sc_module(name), m_parts(std::make_unique<parts>()) {}

message_path::~message_path() = default;

void message_path::reset(const message_path_config& config, engine_kind engine) {
    if (config.depth == 0 || config.depth > 512 || (config.depth & (config.depth - 1)) != 0 ||
        config.connections == 0 || config.connections > config.hca.qps) {
        throw std::invalid_argument(
            "message path: depth must be a power of two and connections fit into hca.qps");
    }
    parts& p = *m_parts;
    p.domain.set_run_ahead(true);
    p.domain.set_horizon(0);
    p.domain.reset(engine);
    p.pool.reclaim();
    hca_config card = config.hca;
    card.host_interface.target_may_notify = false;
    card.command_unit.modify_qp_ns = card.command_unit.create_qp_ns = card.command_unit.other_ns = 0;
    p.host_a.reset(config, true);
    p.host_b.reset(config, false);
    card.lid = 1;
    p.card_a.reset(card);
    card.lid = 2;
    p.card_b.reset(card);
    channel_config cable;
    cable.depth = 16;
    cable.latency_cycles = cable_cycles;
    p.from_a.reset(cable);
    p.from_b.reset(cable);
}

void message_path::connect() {
    parts& p = *m_parts;
    p.host_a.begin_commands();
    p.host_b.begin_commands();
    p.domain.set_horizon(never);
    sc_core::sc_start();
    if (!p.host_a.commands_done() || !p.host_b.commands_done()) {
        throw std::runtime_error("message path: the commands have not ended");
    }
    p.domain.set_horizon(p.domain.now());
}

void message_path::run_for(cycle_t cycles) {
    if (m_parts->host_a.commands_done() && !m_parts->host_a.in_traffic()) {
        m_parts->host_a.begin_traffic();
        m_parts->host_b.begin_traffic();
    }
    m_parts->domain.set_horizon(m_parts->domain.now() + cycles);
    sc_core::sc_start();
}

cycle_t message_path::now() const { return m_parts->domain.now(); }

std::uint64_t message_path::messages() const {
    return std::min(m_parts->host_a.sent(), m_parts->host_b.received());
}

std::uint64_t message_path::repeats() const {
    std::uint64_t n = 0;
    for (const auto& [name, value] : m_parts->card_a.counters()) {
        if (name == "send_engine.rewinds" || name == "send_engine.timeouts") {
            n += value;
        }
    }
    return n;
}

}  // namespace hcasim
