#ifndef HCASIM_RTL_COSIM_WRAP_QPC_MESSAGE_FIELDS_H
#define HCASIM_RTL_COSIM_WRAP_QPC_MESSAGE_FIELDS_H

#include <array>
#include <cstring>
#include <type_traits>

#include "rtl_cosim/wrap/message_fields.h"

namespace hcasim {

// Messages of the QP context cache as pins: what the model passes by pointer is there by value, and
// structures that are kept as they are go through one wide pin.

namespace rtl_detail {

template <class T>
std::uint8_t* bytes_of(T& value) {
    static_assert(std::has_unique_object_representations_v<T>, "a byte of it would have a value by chance");
    return reinterpret_cast<std::uint8_t*>(&value);
}

}  // namespace rtl_detail

template <>
struct message_fields<qpc_request> {
    template <class V>
    static void visit(qpc_request& m, V& v) {
        // Copies: what belongs to the requester is looked at only.
        qpc_modify modify = m.modify == nullptr ? qpc_modify{} : *m.modify;
        ib::qp_context fresh = m.fresh == nullptr ? ib::qp_context{} : *m.fresh;
        v.field("operation", m.operation, 3);
        v.field("qpn", m.qpn, 32);
        v.field("cookie", m.cookie, 32);
        v.bytes("requester", rtl_detail::bytes_of(m.requester), sizeof m.requester);
        v.bytes("responder", rtl_detail::bytes_of(m.responder), sizeof m.responder);
        v.field("modify_from_states", modify.from_states, 32);
        v.field("modify_to", modify.to, 3);
        v.field("modify_needs_rts_attributes", modify.needs_rts_attributes, 1);
        v.field("modify_reason", modify.reason, 3);
        v.field("modify_attribute_mask", modify.attribute_mask, 32);
        v.bytes("modify_attributes", rtl_detail::bytes_of(modify.attributes), sizeof modify.attributes);
        v.field("modify_destroy", modify.destroy, 1);
        v.bytes("fresh", rtl_detail::bytes_of(fresh), sizeof fresh);
    }
};

template <>
struct message_fields<qpc_response> {
    template <class V>
    static void visit(qpc_response& m, V& v) {
        v.field("cookie", m.cookie, 32);
        v.field("known", m.known, 1);
        v.field("applied", m.applied, 1);
        v.field("was_hit", m.was_hit, 1);
        v.field("from", m.from, 3);
        v.bytes("context", rtl_detail::bytes_of(m.context), sizeof m.context);
    }
};

/// Read of a context. The buffer is the adapter's business.
struct context_fill_fields {
    template <class V>
    static void visit(dma_read& m, V& v) {
        v.field("address", m.address, 64);
        v.field("bytes", m.bytes, 32);
        v.field("cookie", m.cookie, 32);
    }
};

/// Write of a context. Its bytes are looked at only; those that the Verilog sends are put into a buffer by
/// the adapter.
struct context_write_fields {
    template <class V>
    static void visit(dma_write& m, V& v) {
        std::array<std::uint8_t, sizeof(ib::qp_context)> data{};
        if (m.data != nullptr) {
            std::memcpy(data.data(), m.data, data.size());
        }
        v.field("address", m.address, 64);
        v.field("bytes", m.bytes, 32);
        v.bytes("data", data.data(), data.size());
    }
};

}  // namespace hcasim

#endif
