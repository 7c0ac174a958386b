#ifndef HCASIM_RTL_COSIM_WRAP_LINK_RECORDS_H
#define HCASIM_RTL_COSIM_WRAP_LINK_RECORDS_H

#include <cstdint>

#include "rtl_cosim/wrap/message_fields.h"

// What the link's Verilog knows of a packet.

namespace hcasim {

/// Cycles of 48 bits last for thirteen days at 250 MHz.
constexpr std::uint32_t link_cycle_bits = 48;
/// Sizes: a packet has at most 4224 bytes.
constexpr std::uint32_t link_size_bits = 13;

/// A packet that begins on the wire.
struct wire_start {
    bool is_flow_control = false;
    std::uint8_t vl = 0;
    std::uint32_t size_bytes = 0;
    std::uint64_t handle = 0;           ///< 0 for flow control
    std::uint8_t flow_control[6] = {};  ///< its bytes; 0 for a packet
    std::uint64_t first_byte_cycle = 0;
    std::uint64_t last_byte_cycle = 0;
};

template <>
struct message_fields<wire_start> {
    template <class V>
    static void visit(wire_start& m, V& v) {
        v.field("is_flow_control", m.is_flow_control, 1);
        v.field("vl", m.vl, 4);
        v.field("size_bytes", m.size_bytes, link_size_bits);
        v.field("handle", m.handle, 64);
        v.bytes("flow_control", m.flow_control, sizeof(m.flow_control));
        v.field("first_byte_cycle", m.first_byte_cycle, link_cycle_bits);
        v.field("last_byte_cycle", m.last_byte_cycle, link_cycle_bits);
    }
};

/// A packet that comes from the wire.
struct wire_arrival {
    bool is_flow_control = false;
    std::uint8_t vl = 0;  ///< of the LRH
    std::uint32_t size_bytes = 0;
    std::uint64_t handle = 0;
    bool vcrc_ok = false;
    bool late = false;
    std::uint8_t flow_control[6] = {};
    std::uint64_t last_byte_cycle = 0;
};

template <>
struct message_fields<wire_arrival> {
    template <class V>
    static void visit(wire_arrival& m, V& v) {
        v.field("is_flow_control", m.is_flow_control, 1);
        v.field("vl", m.vl, 4);
        v.field("size_bytes", m.size_bytes, link_size_bits);
        v.field("handle", m.handle, 64);
        v.field("vcrc_ok", m.vcrc_ok, 1);
        v.field("late", m.late, 1);
        v.bytes("flow_control", m.flow_control, sizeof(m.flow_control));
        v.field("last_byte_cycle", m.last_byte_cycle, link_cycle_bits);
    }
};

/// A packet that goes to the receive engine.
struct received_packet {
    std::uint64_t handle = 0;
};

template <>
struct message_fields<received_packet> {
    template <class V>
    static void visit(received_packet& m, V& v) {
        v.field("handle", m.handle, 64);
    }
};

}  // namespace hcasim

#endif
