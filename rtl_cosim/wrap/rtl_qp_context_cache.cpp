#include "rtl_cosim/wrap/rtl_qp_context_cache.h"

#include <cstring>
#include <string>

#include "rtl_cosim/wrap/rtl_places.h"

namespace hcasim {

rtl_qp_context_cache::rtl_qp_context_cache(const sc_core::sc_module_name& name, clock_domain& domain,
                                           ib::packet_pool& pool, rtl_mode mode)
    : qp_context_cache(name, domain, pool), m_verilog(*this, domain.cycles()), m_mode(mode) {
    const std::array<std::string, client_count> clients = {"send", "receive", "command"};
    for (std::size_t c = 0; c < client_count; ++c) {
        m_requests[c] = &m_verilog.input(clients[c] + "_request", request_i[c]);
        m_verilog.output<qpc_response>(clients[c] + "_response", response_o[c]);
    }
    const std::array<std::string, listener_count> listeners = {"scheduler", "send", "receive"};
    for (std::size_t l = 0; l < listener_count; ++l) {
        m_verilog.output<state_event>(listeners[l] + "_state", state_o[l]);
    }
    m_verilog.output<dma_read, context_fill_fields>("fill", fill_o).complete = [this](dma_read& r) {
        r.destination = m_buffers[r.cookie].data();
        m_fetched[r.cookie] = r.destination;
    };
    m_fill = &m_verilog.input("fill", fill_i);
    m_verilog.output<dma_write, context_write_fields>("writeback", writeback_o).complete =
        [this](dma_write& w) {
            ib::packet* packet = m_pool.get();
            std::memset(packet->bytes, 0, ib::qp_context_slot_bytes);
            m_writeback_data.get_bytes(packet->bytes, sizeof(ib::qp_context));
            w.data = packet->bytes;
            w.packet = packet;
        };
    m_verilog.before_settle = [this] { give_fill_data(); };
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

void rtl_qp_context_cache::reset(const qp_context_cache_config& config, std::uint32_t qps,
                                 std::uint64_t context_address) {
    qp_context_cache::reset(config, qps, context_address);
    m_buffers.assign(m_mode == rtl_mode::verilog ? config.misses_outstanding : 0, {});
    m_fetched.assign(config.misses_outstanding, nullptr);
    m_before = {};
    verilog_source source;
    source.top = "qp_context_cache";
    source.directory = places_of_rtl().sources + "/rtl";
    source.files = {source.directory + "/qp_context_cache.v"};
    source.parameters = {{"QPS", qps},
                         {"SETS", config.sets},
                         {"WAYS", config.ways},
                         {"MISSES", config.misses_outstanding},
                         {"WAITING", config.waiting_requests},
                         {"CONTEXT_BYTES", sizeof(ib::qp_context)}};
    m_verilog.reset(m_mode, source, this->name(), [&](verilog_block& v) {
        m_verilog.set_policy(v, "cfg_plru_i", config.replacement == replacement_policy::plru ? 1 : 0);
        m_verilog.set_policy(v, "cfg_hit_cycles_i", config.hit_cycles);
        m_verilog.set_policy(v, "cfg_context_address_i", context_address);
        // A design of somebody else's need not tell what happens inside, as long as it only runs beside the
        // model.
        const auto traced = [&](const std::string& pin) {
            return m_mode == rtl_mode::verilog ? v.pin(pin) : v.find(pin);
        };
        m_fill_data = v.pin("fill_data_i");
        m_writeback_data = v.pin("writeback_data_o");
        m_hit = traced("trace_hit_o");
        m_miss = traced("trace_miss_o");
        m_merged = traced("trace_merged_o");
        m_writeback = traced("trace_writeback_o");
        m_eviction = traced("trace_eviction_o");
        m_changed = traced("trace_state_changed_o");
        m_late_opener = traced("trace_late_opener_o");
        m_qpn = traced("trace_changed_qpn_o");
        m_reason = traced("trace_changed_reason_o");
        m_from = traced("trace_changed_before_o");
        m_to = traced("trace_changed_after_o");
        m_next_psn = traced("trace_changed_next_psn_o");
    });
}

void rtl_qp_context_cache::tick() {
    if (m_verilog.is_model()) {
        qp_context_cache::tick();
    } else {
        m_verilog.tick([this] {
            m_before = m_counters;
            observer* const behind = m_observer;
            m_tap.listen(behind);
            m_observer = &m_tap;
            qp_context_cache::tick();
            m_observer = behind;
            if (fill_o.core().was_pushed()) {
                const dma_read& r = fill_o.core().back();
                m_fetched[r.cookie] = r.destination;
            }
        });
    }
}

// What the DMA has put into the buffer of the read that is answered.
void rtl_qp_context_cache::give_fill_data() {
    if (!m_fill->has_input()) {
        return;
    }
    const std::uint8_t* data = m_fetched[m_fill->message().cookie];
    if (data != nullptr) {
        m_fill_data.set_bytes(data, sizeof(ib::qp_context));
    }
}

void rtl_qp_context_cache::look_at_trace() {
    m_counters.hits += m_hit.get();
    m_counters.misses += m_miss.get();
    m_counters.merged += m_merged.get();
    m_counters.writebacks += m_writeback.get();
    m_counters.evictions += m_eviction.get();
    if (m_observer == nullptr) {
        return;
    }
    if (m_changed.get() != 0) {
        m_observer->state_changed(
            static_cast<std::uint32_t>(m_qpn.get()), static_cast<std::uint8_t>(m_from.get()),
            static_cast<std::uint8_t>(m_to.get()), static_cast<std::uint8_t>(m_reason.get()),
            static_cast<std::uint32_t>(m_next_psn.get()), now());
    }
    if (m_late_opener.get() != 0) {
        m_observer->late_opener(static_cast<std::uint32_t>(m_qpn.get()),
                                static_cast<std::uint8_t>(m_reason.get()), now());
    }
}

// What the trace pins tell must be what the model has counted and told.
bool rtl_qp_context_cache::trace_differs(rtl_difference& d) {
    const auto differs = [&d](const verilog_pin& pin, const char* name, std::uint64_t expected) {
        if (!pin || pin.get() == expected) {
            return false;
        }
        d.port = name;
        d.expected = std::to_string(expected);
        d.actual = std::to_string(pin.get());
        return true;
    };
    const counters_t& b = m_before;
    const counters_t& c = m_counters;
    return differs(m_hit, "trace_hit_o", c.hits - b.hits) ||
           differs(m_miss, "trace_miss_o", c.misses - b.misses) ||
           differs(m_merged, "trace_merged_o", c.merged - b.merged) ||
           differs(m_writeback, "trace_writeback_o", c.writebacks - b.writebacks) ||
           differs(m_eviction, "trace_eviction_o", c.evictions - b.evictions) ||
           differs(m_changed, "trace_state_changed_o", m_tap.changed ? 1 : 0) ||
           differs(m_late_opener, "trace_late_opener_o", m_tap.late ? 1 : 0) ||
           ((m_tap.changed || m_tap.late) && (differs(m_qpn, "trace_changed_qpn_o", m_tap.qpn) ||
                                              differs(m_reason, "trace_changed_reason_o", m_tap.opener))) ||
           (m_tap.changed && (differs(m_from, "trace_changed_before_o", m_tap.from) ||
                              differs(m_to, "trace_changed_after_o", m_tap.to) ||
                              differs(m_next_psn, "trace_changed_next_psn_o", m_tap.next_psn)));
}

void rtl_qp_context_cache::tap::state_changed(std::uint32_t of, std::uint8_t before, std::uint8_t after,
                                              std::uint8_t by, std::uint32_t sq_psn, std::uint64_t cycle) {
    changed = true;
    qpn = of;
    from = before;
    to = after;
    opener = by;
    next_psn = sq_psn;
    if (m_behind != nullptr) {
        m_behind->state_changed(of, before, after, by, sq_psn, cycle);
    }
}

void rtl_qp_context_cache::tap::late_opener(std::uint32_t of, std::uint8_t by, std::uint64_t cycle) {
    late = true;
    qpn = of;
    opener = by;
    if (m_behind != nullptr) {
        m_behind->late_opener(of, by, cycle);
    }
}

}  // namespace hcasim
