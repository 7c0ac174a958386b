// A platform of its own with one HCA: own memory, own processor (an SC_THREAD), a cable from the HCA's port
// back to itself. Two QPs of the card talk to each other: QP 3 stays in RTR with a send posted, and the first
// packet from QP 2 opens its gate.

#include <hcasim/model/hca.h>

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <systemc>
#include <tlm>
#include <vector>

using namespace hcasim::ib;
using sc_core::sc_time;

namespace {

constexpr std::uint64_t mailbox_at = 0x1000;
constexpr std::uint64_t eq_at = 0x2000;
constexpr std::uint64_t cq_at = 0x4000;
constexpr std::uint64_t sq_at = 0x10000;  // + 0x1000 per QP
constexpr std::uint64_t rq_at = 0x20000;  // + 0x1000 per QP
constexpr std::uint64_t data_at = 0x40000;
constexpr std::uint64_t contexts_at = 0x100000;

}  // namespace

// Any TLM-2.0 memory will do, as long as it does not call wait().
struct platform_memory : sc_core::sc_module {
    tlm_utils::simple_target_socket<platform_memory, 64> socket{"socket"};
    std::vector<std::uint8_t> bytes = std::vector<std::uint8_t>(8u << 20);

    explicit platform_memory(const sc_core::sc_module_name& name) : sc_core::sc_module(name) {
        socket.register_b_transport(this, &platform_memory::transport);
    }
    void transport(tlm::tlm_generic_payload& p, sc_time& delay) {
        if (p.get_address() + p.get_data_length() > bytes.size()) {
            p.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
            return;
        }
        std::uint8_t* const at = bytes.data() + p.get_address();
        if (p.is_write()) {
            std::memcpy(at, p.get_data_ptr(), p.get_data_length());
        } else {
            std::memcpy(p.get_data_ptr(), at, p.get_data_length());
        }
        delay += p.is_write() ? sc_time(200, sc_core::SC_NS) : sc_time(400, sc_core::SC_NS);
        p.set_response_status(tlm::TLM_OK_RESPONSE);
    }
};

struct platform_processor : sc_core::sc_module, hcasim::interrupt_if {
    SC_HAS_PROCESS(platform_processor);
    tlm_utils::simple_initiator_socket<platform_processor, 64> socket{"socket"};
    platform_memory& memory;
    sc_core::sc_event interrupted;
    unsigned interrupts = 0;
    int result = 1;

    platform_processor(const sc_core::sc_module_name& name, platform_memory& m)
        : sc_core::sc_module(name), memory(m) {
        SC_THREAD(main_thread);
    }
    void raise(unsigned, const sc_time& delay) override {
        ++interrupts;
        interrupted.notify(delay + sc_time(1, sc_core::SC_US));
    }

    template <class T>
    T* at(std::uint64_t address) {
        return reinterpret_cast<T*>(memory.bytes.data() + address);
    }
    void mmio(std::uint64_t offset, std::uint64_t value) {
        tlm::tlm_generic_payload p;
        p.set_command(tlm::TLM_WRITE_COMMAND);
        p.set_address(offset);
        p.set_data_ptr(reinterpret_cast<unsigned char*>(&value));
        p.set_data_length(sizeof value);
        p.set_streaming_width(sizeof value);
        sc_time delay(100, sc_core::SC_NS);
        socket->b_transport(p, delay);
    }
    void ring(doorbell_type type, std::uint32_t number, std::uint16_t index) {
        mmio(bar_page_bytes + uar_doorbell_offset, encode(doorbell{type, number, index}));
    }
    // One command, to its end.
    void command(const command_mailbox& request) {
        auto* const mailbox = at<command_mailbox>(mailbox_at);
        *mailbox = request;
        mmio(bar_command_offset, mailbox_at);
        while (mailbox->done == 0) {
            wait(interrupted);
        }
        if (mailbox->status != modify_status::ok) {
            std::printf("command %u refused: %s\n", static_cast<unsigned>(request.opcode),
                        std::string(hcasim::ib::name(mailbox->status)).c_str());
            sc_core::sc_stop();
        }
    }
    void make_queue(command_opcode opcode, std::uint64_t address) {
        command_mailbox m;
        m.opcode = opcode;
        m.ring_address = address;
        m.ring_entries = 64;
        command(m);
    }
    void make_qp(std::uint32_t qpn) {
        command_mailbox m;
        m.opcode = command_opcode::create_qp;
        m.number = qpn;
        m.resources.sq_address = sq_at + 0x1000 * qpn;
        m.resources.rq_address = rq_at + 0x1000 * qpn;
        m.resources.sq_log_entries = m.resources.rq_log_entries = 4;
        command(m);
    }
    void modify(std::uint32_t qpn, qp_state state, std::uint32_t mask, std::uint32_t peer) {
        command_mailbox m;
        m.opcode = command_opcode::modify_qp;
        m.number = qpn;
        m.state = state;
        m.attribute_mask = mask;
        m.attributes.dest_qpn = peer;
        m.attributes.dlid = 1;
        m.attributes.sq_psn = 100 * qpn;
        m.attributes.rq_psn = 100 * peer;
        m.attributes.timeout = 14;
        m.attributes.retry_cnt = 7;
        m.attributes.rnr_retry = 7;
        m.attributes.min_rnr_timer = 1;
        command(m);
    }
    void post_receive(std::uint32_t qpn) {
        auto* const w = at<receive_wqe>(rq_at + 0x1000 * qpn);
        w->address = data_at + 0x10000 * qpn;
        w->length_bytes = 4096;
        ring(doorbell_type::receive_queue, qpn, 1);
    }
    void post_send(std::uint32_t qpn, const char* text) {
        const std::uint64_t from = data_at + 0x10000 * qpn + 0x8000;
        std::strcpy(at<char>(from), text);
        auto* const w = at<send_wqe>(sq_at + 0x1000 * qpn);
        w->flags = wqe_signaled;
        w->address = from;
        w->length_bytes = static_cast<std::uint32_t>(std::strlen(text) + 1);
        ring(doorbell_type::send_queue, qpn, 1);
    }

    void main_thread() {
        make_queue(command_opcode::create_eq, eq_at);
        make_queue(command_opcode::create_cq, cq_at);
        const std::uint32_t to_rtr = attr_av | attr_path_mtu | attr_dest_qpn | attr_rq_psn |
                                     attr_max_dest_rd_atomic | attr_min_rnr_timer;
        for (std::uint32_t qpn = 2; qpn <= 3; ++qpn) {
            make_qp(qpn);
            modify(qpn, qp_state::init, attr_pkey_index | attr_port | attr_access_flags, 5 - qpn);
            post_receive(qpn);
        }
        // QP 3 gets the five attributes of RTS on its way to RTR and stays there; its send is posted and
        // waits.
        modify(3, qp_state::rtr, to_rtr | rts_attributes_rc, 2);
        post_send(3, "answer");
        wait(20, sc_core::SC_US);
        const bool waited = at<cqe>(cq_at)->phase == 0;
        modify(2, qp_state::rtr, to_rtr, 3);
        modify(2, qp_state::rts, rts_attributes_rc, 3);
        post_send(2, "question");
        wait(50, sc_core::SC_US);

        unsigned good = 0;
        for (std::uint64_t i = 0; i < 4; ++i) {
            const cqe& c = at<cqe>(cq_at)[i];
            good += c.phase == 1 && c.status == wc_status::success ? 1u : 0u;
        }
        const char* const question = at<char>(data_at + 0x30000);
        const char* const answer = at<char>(data_at + 0x20000);
        std::printf(
            "send in RTR waited: %s; %u of 4 completions good; QP 3 got \"%s\", QP 2 got \"%s\"; %u "
            "interrupts\n",
            waited ? "yes" : "no", good, question, answer, interrupts);
        result = waited && good == 4 && std::strcmp(question, "question") == 0 &&
                         std::strcmp(answer, "answer") == 0
                     ? 0
                     : 1;
        sc_core::sc_stop();
    }
};

int sc_main(int, char**) {
    packet_pool packets;
    hcasim::clock_domain clock("clock", sc_time(4, sc_core::SC_NS));
    hcasim::hca card("card", clock, packets);
    hcasim::channel<packet*> cable("cable", clock);
    platform_memory memory("memory");
    platform_processor processor("processor", memory);

    card.link_o.bind(cable);
    card.link_i.bind(cable);
    card.interrupt_o.bind(processor);
    card.dma_init_socket().bind(memory.socket);
    processor.socket.bind(card.mmio_targ_socket());

    // Sizes and policies are applied by reset(), here before the simulation starts; it can be called again
    // between runs.
    hcasim::hca_config config;
    config.lid = 1;
    config.context_address = contexts_at;
    clock.reset(hcasim::engine_kind::wheel);
    cable.reset({64, 3, {}});
    card.reset(config);

    sc_core::sc_start();
    return processor.result;
}
