#ifndef HCASIM_RTL_COSIM_WRAP_MESSAGE_FIELDS_H
#define HCASIM_RTL_COSIM_WRAP_MESSAGE_FIELDS_H

#include "model/ib/messages.h"

namespace hcasim {

/// The fields of a message as pins: `visit(message, v)` calls v.field(name, member, width_bits) for each
/// number, flag or enumeration, and v.bytes(name, pointer, bytes) for what is wider. Used for pins, for
/// comparing and for printing; the pin of a field is <port>_<name>_i or _o.
template <class T>
struct message_fields;

/// The QP that a message is about, where no field says so by its name. False when it is about none.
template <class T>
struct message_qpn {
    static bool get(const T&, std::uint32_t&) { return false; }
};

template <>
struct message_qpn<doorbell_write> {
    static bool get(const doorbell_write& m, std::uint32_t& qpn) {
        const ib::doorbell d = ib::decode_doorbell(m.word);
        qpn = d.number;
        return d.type == ib::doorbell_type::send_queue || d.type == ib::doorbell_type::receive_queue;
    }
};

template <>
struct message_fields<doorbell_write> {
    template <class V>
    static void visit(doorbell_write& m, V& v) {
        v.field("word", m.word, 64);
    }
};

template <>
struct message_fields<send_doorbell> {
    template <class V>
    static void visit(send_doorbell& m, V& v) {
        v.field("qpn", m.qpn, 24);
        v.field("producer", m.producer, 16);
    }
};

template <>
struct message_fields<receive_doorbell> {
    template <class V>
    static void visit(receive_doorbell& m, V& v) {
        v.field("qpn", m.qpn, 24);
        v.field("producer", m.producer, 16);
    }
};

template <>
struct message_fields<cq_doorbell> {
    template <class V>
    static void visit(cq_doorbell& m, V& v) {
        v.field("cqn", m.cqn, 24);
        v.field("consumer", m.consumer, 16);
        v.field("event_queue", m.event_queue, 1);
    }
};

template <>
struct message_fields<state_event> {
    template <class V>
    static void visit(state_event& m, V& v) {
        v.field("qpn", m.qpn, 24);
        v.field("state", m.state, 3);
        v.field("gate", m.gate, 2);
        v.field("sl_class", m.sl_class, 4);
        v.field("created", m.created, 1);
        v.field("notify_drained", m.notify_drained, 1);
    }
};

template <>
struct message_fields<send_grant> {
    template <class V>
    static void visit(send_grant& m, V& v) {
        v.field("qpn", m.qpn, 24);
        v.field("first", m.first, 16);
        v.field("count", m.count, 16);
        v.field("flush", m.flush, 1);
    }
};

template <>
struct message_fields<scheduler_update> {
    template <class V>
    static void visit(scheduler_update& m, V& v) {
        v.field("qpn", m.qpn, 24);
        v.field("end_service", m.end_service, 1);
        v.field("set_consumer", m.set_consumer, 1);
        v.field("consumer", m.consumer, 16);
        v.field("resend", m.resend, 1);
        v.field("resend_until", m.resend_until, 16);
        v.field("hold", m.hold, 2);
        v.field("gate_was_closed", m.gate_was_closed, 1);
    }
};

template <>
struct message_fields<dma_read_done> {
    template <class V>
    static void visit(dma_read_done& m, V& v) {
        v.field("cookie", m.cookie, 32);
    }
};

template <>
struct message_fields<credit_update> {
    template <class V>
    static void visit(credit_update& m, V& v) {
        v.field("from_peer", m.from_peer, 1);
        v.field("at_once", m.at_once, 1);
        v.field("vl", m.vl, 4);
        v.field("fccl", m.fccl, 12);
    }
};

template <>
struct message_fields<sent_notice> {
    template <class V>
    static void visit(sent_notice& m, V& v) {
        v.field("qpn", m.qpn, 24);
        v.field("wqe_index", m.wqe_index, 16);
        v.field("last_byte_cycle", m.last_byte_cycle, 64);
    }
};

}  // namespace hcasim

#endif
