#include "rtl_cosim/wrap/rtl_link_rx.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "model/ib/crc.h"
#include "model/link/serializer.h"
#include "rtl_cosim/wrap/rtl_places.h"
#include "rtl_cosim/wrap/rtl_record_port.h"

namespace hcasim {

namespace {

// Least power of two that is not less, and not less than 2.
std::uint32_t power_of_two(std::uint32_t n) {
    std::uint32_t p = 2;
    while (p < n) {
        p *= 2;
    }
    return p;
}

}  // namespace

rtl_link_rx::rtl_link_rx(const sc_core::sc_module_name& name, clock_domain& domain, ib::packet_pool& pool,
                         rtl_mode mode)
    : link_rx(name, domain, pool), m_verilog(*this, domain.cycles()), m_mode(mode) {
    auto wire = std::make_unique<rtl_record_input<wire_arrival>>("wire");
    wire->is_valid = [this] { return wire_i.core().is_valid(); };
    wire->front = [this] { return front(); };
    wire->was_taken = [this] { return wire_i.core().was_popped(); };
    wire->take = [this] { take(); };
    wire->ask = [this] { (void)wire_i.can_pop(); };
    m_verilog.add(std::move(wire));
    auto packet = std::make_unique<rtl_record_output<received_packet>>("packet");
    packet->is_ready = [this] { return packet_o.core().is_ready(); };
    packet->given = [this]() -> std::optional<received_packet> {
        if (!packet_o.core().was_pushed()) {
            return std::nullopt;
        }
        return received_packet{handle_of(packet_o.core().back())};
    };
    packet->give = [this](const received_packet& r) { give(r); };
    m_verilog.add(std::move(packet));
    m_verilog.output<credit_update>("credit", credit_o);
    m_verilog.before_settle = [this] { tell_time(); };
    m_verilog.after_settle = [this] { look_at_trace(); };
    m_verilog.compare_more = [this](rtl_difference& d) {
        if (trace_differs(d)) {
            return true;
        }
        if (compared) {
            compared();
        }
        return false;
    };
}

void rtl_link_rx::reset(const link_config& config) {
    link_rx::reset(config);
    m_pipeline_cycles = config.rx_pipeline_cycles;
    m_next_handle = 1;
    m_inside.clear();
    m_handles.clear();
    m_arriving.clear();
    m_arrived = 0;
    m_buffered_bytes = 0;
    m_before = {};
    std::uint32_t pipeline = config.rx_pipeline_cycles + 2;
    if (m_overlaps) {
        const std::uint64_t clock_mhz = std::max<std::uint64_t>(
            1, sc_core::sc_time(1, sc_core::SC_US).value() / domain().period().value());
        serializer longest;
        longest.reset(config.speed, config.width, clock_mhz);
        pipeline +=
            static_cast<std::uint32_t>(longest.cycles_of(ib::max_packet_bytes + config.framing_bytes) + 1);
    }
    receive_credits own;
    own.reset(config.vl_buffer_bytes);
    m_last_tick = 0;
    verilog_source design;
    design.top = "link_rx";
    design.directory = places_of_rtl().sources + "/rtl";
    design.files = {design.directory + "/link_rx.v"};
    design.parameters = {{"VLS", config.data_vls},
                         {"PACKETS", power_of_two(own.free_blocks())},
                         {"ARRIVING", power_of_two(pipeline)}};
    m_verilog.reset(m_mode, design, this->name(), [&](verilog_block& v) {
        m_verilog.set_policy(v, "cfg_buffer_blocks_i", own.free_blocks());
        m_verilog.set_policy(v, "cfg_update_bytes_i", config.credit_update_bytes);
        const auto traced = [&](const std::string& pin) {
            return m_mode == rtl_mode::verilog ? v.pin(pin) : v.find(pin);
        };
        m_resume = v.find("resume_i");
        m_verilog.set_keeps_time(!m_resume);
        if (m_resume) {
            m_resume_cycle = v.pin("resume_cycle_i");
        }
        m_arrival_cycles = v.pin("cfg_arrival_cycles_i");
        m_drop = v.pin("drop_valid_o");
        m_drop_handle = v.pin("drop_handle_o");
        m_packet = traced("trace_packet_o");
        m_flow_control = traced("trace_flow_control_o");
        m_flow_control_error = traced("trace_flow_control_error_o");
        m_vcrc_error = traced("trace_vcrc_error_o");
        m_overrun = traced("trace_overrun_o");
        m_resync = traced("trace_resync_o");
        m_kept = traced("trace_kept_bytes_o");
    });
}

void rtl_link_rx::tick() {
    if (m_verilog.is_model()) {
        link_rx::tick();
        return;
    }
    m_before = m_counters;
    m_verilog.tick([this] {
        const ib::packet* p = wire_i.core().is_valid() ? wire_i.front() : nullptr;
        link_rx::tick();
        if (wire_i.core().was_popped()) {
            m_handles[p] = m_next_handle;
            m_arriving.push_back(m_next_handle++);
        }
    });
    if (m_resume) {
        m_resume.set(0);
    }
}

// What the pins carry of the packet at the front of the wire.
wire_arrival rtl_link_rx::front() {
    // The propagation delay is the latency of the channel, which is known when it is bound and reset.
    m_arrival_cycles.set(wire_i.core().config().latency_cycles + m_pipeline_cycles);
    const ib::packet& p = *wire_i.front();
    wire_arrival w;
    w.is_flow_control = p.is_flow_control;
    w.size_bytes = p.size_bytes;
    w.handle = m_next_handle;
    w.late = p.late;
    w.last_byte_cycle = p.last_byte_cycle;
    if (p.is_flow_control) {
        std::memcpy(w.flow_control, p.bytes, sizeof(w.flow_control));
    } else {
        w.vl = static_cast<std::uint8_t>(p.bytes[0] >> 4);
        w.vcrc_ok = ib::vcrc_is_good(p.bytes, p.size_bytes);
    }
    return w;
}

// A packet leaves the wire, in the place of the model. Of a flow-control packet the Verilog has the bytes.
void rtl_link_rx::take() {
    ib::packet* p = wire_i.pop();
    if (p->is_flow_control) {
        m_pool.put(p);
    } else {
        m_inside[m_next_handle] = p;
    }
    ++m_next_handle;
}

// A packet that the Verilog gives to the receive engine.
void rtl_link_rx::give(const received_packet& r) {
    if (!packet_o.can_push()) {
        return;
    }
    const auto known = m_inside.find(r.handle);
    if (known == m_inside.end()) {
        throw verilog_error(std::string(this->name()) + ": the Verilog gives a packet that it has not got");
    }
    m_buffered_bytes -= known->second->size_bytes;
    packet_o.push(known->second);
    m_inside.erase(known);
}

// The Verilog counts cycles; when it has slept it is told how many there have been.
void rtl_link_rx::tell_time() {
    const bool slept = now() != m_last_tick + 1;
    m_last_tick = now();
    if (!m_resume) {
        return;
    }
    m_resume.set(slept ? 1 : 0);
    m_resume_cycle.set(now());
}

void rtl_link_rx::look_at_trace() {
    m_counters.packets += m_packet.get();
    m_counters.flow_control_packets += m_flow_control.get();
    m_counters.flow_control_errors += m_flow_control_error.get();
    m_counters.vcrc_errors += m_vcrc_error.get();
    m_counters.overruns += m_overrun.get();
    m_counters.resyncs += m_resync.get();
    m_buffered_bytes += m_kept.get();
    m_counters.max_buffered_bytes = std::max(m_counters.max_buffered_bytes, m_buffered_bytes);
    if (m_drop.get() != 0) {
        const auto known = m_inside.find(m_drop_handle.get());
        if (known == m_inside.end()) {
            throw verilog_error(std::string(this->name()) +
                                ": the Verilog drops a packet that it has not got");
        }
        m_pool.put(known->second);
        m_inside.erase(known);
    }
}

// What the trace pins tell must be what the model has counted; a packet that is dropped must be given back.
bool rtl_link_rx::trace_differs(rtl_difference& d) {
    const counters_t& c = m_counters;
    const auto differs = [&d](const verilog_pin& pin, const char* name, std::uint64_t expected) {
        if (!pin || pin.get() == expected) {
            return false;
        }
        d.port = name;
        d.expected = std::to_string(expected);
        d.actual = std::to_string(pin.get());
        return true;
    };
    const std::uint64_t packets = c.packets - m_before.packets;
    const std::uint64_t flow_control = c.flow_control_packets - m_before.flow_control_packets;
    const std::uint64_t vcrc_errors = c.vcrc_errors - m_before.vcrc_errors;
    const std::uint64_t overruns = c.overruns - m_before.overruns;
    if (packets + flow_control != 0 && !m_arriving.empty()) {
        m_arrived = m_arriving.front();
        m_arriving.pop_front();
    }
    const std::uint64_t dropped = vcrc_errors + overruns;
    return differs(m_packet, "trace_packet_o", packets) ||
           differs(m_flow_control, "trace_flow_control_o", flow_control) ||
           differs(m_flow_control_error, "trace_flow_control_error_o",
                   c.flow_control_errors - m_before.flow_control_errors) ||
           differs(m_vcrc_error, "trace_vcrc_error_o", vcrc_errors) ||
           differs(m_overrun, "trace_overrun_o", overruns) ||
           differs(m_resync, "trace_resync_o", c.resyncs - m_before.resyncs) ||
           differs(m_drop, "drop_valid_o", dropped) ||
           (dropped != 0 && differs(m_drop_handle, "drop_handle_o", m_arrived));
}

}  // namespace hcasim
