#include "rtl_cosim/wrap/rtl_link_tx.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "rtl_cosim/wrap/rtl_places.h"
#include "rtl_cosim/wrap/rtl_record_port.h"

namespace hcasim {

namespace {

// A handle names the queue and the packet's place in its order, so that it is the same in every run.
constexpr unsigned handle_queue_shift = 40;

std::uint32_t bits_of(std::uint64_t word) {
    std::uint32_t n = 0;
    for (; word != 0; word &= word - 1) {
        ++n;
    }
    return n;
}

}  // namespace

/// The queues of all VLs and sources: slices of wide pins.
class rtl_packet_queues final : public rtl_port {
public:
    explicit rtl_packet_queues(engine& cycles) : m_cycles(cycles) {}

    void reset(std::vector<in_port<ib::packet*>*> ports) {
        m_ports = std::move(ports);
        m_taken.assign(m_ports.size(), 0);
    }
    void bind(verilog_block& block) override {
        const auto pin = [&](const char* name, std::uint32_t width_bits) {
            const verilog_pin found = block.pin(name);
            const auto expected = static_cast<std::uint32_t>(m_ports.size()) * width_bits;
            if (found.width_bits() != expected) {
                throw verilog_error("port " + std::string(name) + " has " +
                                    std::to_string(found.width_bits()) + " bits, expected " +
                                    std::to_string(expected));
            }
            return found;
        };
        m_valid = pin("packet_valid_i", 1);
        m_ready = pin("packet_ready_o", 1);
        m_fresh = pin("packet_fresh_i", 1);
        m_handle = pin("packet_handle_i", 64);
        m_size_bytes = pin("packet_size_bytes_i", link_size_bits);
        m_has_wqe = pin("packet_has_wqe_i", 1);
        m_is_ud = pin("packet_is_ud_i", 1);
        m_qpn = pin("packet_qpn_i", 24);
        m_wqe_index = pin("packet_wqe_index_i", 16);
    }
    void drive() override {
        m_shown = 0;
        m_new = 0;
        m_popped = nullptr;
        for (std::uint32_t q = 0; q < m_ports.size(); ++q) {
            const auto& core = m_ports[q]->core();
            if (!core.is_valid()) {
                continue;
            }
            m_shown |= 1u << q;
            m_new |= core.front_visible() == m_cycles.now() ? 1u << q : 0;
            const ib::packet& p = *core.front();
            m_handle.set_slice(64 * q, 64, handle(q));
            m_size_bytes.set_slice(link_size_bits * q, link_size_bits, p.size_bytes);
            m_has_wqe.set_slice(q, 1, p.has_wqe ? 1 : 0);
            m_is_ud.set_slice(q, 1, ib::is_ud(p.op) ? 1 : 0);
            m_qpn.set_slice(24 * q, 24, p.qpn);
            m_wqe_index.set_slice(16 * q, 16, p.wqe_index);
        }
        m_valid.set(m_shown);
        m_fresh.set(m_new);
    }
    bool has_input() const override { return m_shown != 0; }
    bool fires() const override { return (m_shown & m_ready.get()) != 0; }
    bool apply() override {
        for (std::uint32_t q = 0; q < m_ports.size(); ++q) {
            if ((m_shown & m_ready.get() & 1u << q) != 0) {
                m_popped = m_ports[q]->pop();
                m_popped_handle = handle(q);
                ++m_taken[q];
            } else if ((m_shown & 1u << q) == 0) {
                (void)m_ports[q]->can_pop();  // what is held back by the channel asks to be woken
            }
        }
        return m_shown != 0;
    }
    bool differs(rtl_difference& d) override {
        const std::uint32_t popped = popped_now();
        const auto fires = static_cast<std::uint32_t>(m_shown & m_ready.get());
        for (std::uint32_t q = 0; q < m_ports.size(); ++q) {
            if ((popped & 1u << q) != 0) {
                ++m_taken[q];
            }
        }
        if (popped == fires) {
            return false;
        }
        const auto text = [](std::uint32_t queues) {
            std::string all;
            for (std::uint32_t q = 0; q < 32; ++q) {
                if ((queues & 1u << q) != 0) {
                    all += (all.empty() ? "takes from queue " : ", ") + std::to_string(q);
                }
            }
            return all.empty() ? std::string("takes nothing") : all;
        };
        d.port = "packet_i";
        d.expected = text(popped);
        d.actual = text(fires);
        return true;
    }
    void drive_taken() override { m_valid.set(popped_now()); }
    bool differs_later(rtl_difference&, std::uint32_t) override {
        for (std::uint32_t q = 0; q < m_ports.size(); ++q) {
            m_taken[q] += popped_now() >> q & 1u;
        }
        return false;
    }
    void restart() override { m_shown = 0; }
    void declare(rtl_watcher& w) const override {
        const auto width = static_cast<std::uint32_t>(m_ports.size());
        w.declare("packet_valid", width, true);
        w.declare("packet_fresh", width, true);
        w.declare("packet_ready", width, true);
        w.declare("packet_ready", width, false);
    }
    void sample(cycle_t, std::vector<std::uint64_t>& all, rtl_watcher&) override {
        all.push_back(m_shown);
        all.push_back(m_new);
        all.push_back(popped_now());
        all.push_back(m_ready.get());
    }

    std::uint64_t handle(std::uint32_t q) const {
        return std::uint64_t{q + 1} << handle_queue_shift | m_taken[q];
    }
    // Queue that the model has taken from in this cycle.
    std::uint64_t handle_taken_by_model() const {
        for (std::uint32_t q = 0; q < m_ports.size(); ++q) {
            if (m_ports[q]->core().was_popped()) {
                return handle(q);
            }
        }
        return 0;
    }
    // What was taken in the place of the model in this cycle.
    ib::packet* popped() const { return m_popped; }
    std::uint64_t popped_handle() const { return m_popped_handle; }
    std::uint32_t shown() const { return m_shown; }
    std::uint32_t fresh() const { return m_new; }

private:
    std::uint32_t popped_now() const {
        std::uint32_t popped = 0;
        for (std::uint32_t q = 0; q < m_ports.size(); ++q) {
            popped |= m_ports[q]->core().was_popped() ? 1u << q : 0;
        }
        return popped;
    }

    engine& m_cycles;
    std::vector<in_port<ib::packet*>*> m_ports;
    std::vector<std::uint64_t> m_taken;  // packets by queue
    std::uint32_t m_shown = 0;
    std::uint32_t m_new = 0;
    ib::packet* m_popped = nullptr;
    std::uint64_t m_popped_handle = 0;
    verilog_pin m_valid, m_ready, m_fresh, m_handle, m_size_bytes, m_has_wqe, m_is_ud, m_qpn, m_wqe_index;
};

rtl_link_tx::rtl_link_tx(const sc_core::sc_module_name& name, clock_domain& domain, ib::packet_pool& pool,
                         std::uint32_t sources, rtl_mode mode)
    : link_tx(name, domain, pool, sources), m_verilog(*this, domain.cycles()), m_mode(mode) {
    auto queues = std::make_unique<rtl_packet_queues>(domain.cycles());
    m_queues = queues.get();
    m_verilog.add(std::move(queues));
    m_verilog.input("credit", credit_i);
    auto wire = std::make_unique<rtl_record_output<wire_start>>("wire");
    wire->is_ready = [this] { return wire_o.core().is_ready(); };
    wire->given = [this] {
        const wire_start* s = started();
        return s == nullptr ? std::nullopt : std::optional<wire_start>(*s);
    };
    wire->give = [this](const wire_start& w) { give(w); };
    m_verilog.add(std::move(wire));
    m_verilog.output<sent_notice, message_fields<sent_notice>, optional_out_port<sent_notice>>("sent",
                                                                                               sent_o);
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

void rtl_link_tx::reset(const link_config& config, std::uint64_t clock_mhz, std::uint64_t seed) {
    link_tx::reset(config, clock_mhz, seed);
    m_started_at = 0;
    m_stalls_before = 0;
    std::vector<in_port<ib::packet*>*> ports;
    for (std::uint32_t s = 0; s < m_sources; ++s) {
        for (std::uint32_t vl = 0; vl < config.data_vls; ++vl) {
            ports.push_back(&packet_i(s, vl));
        }
    }
    m_queues->reset(std::move(ports));
    m_last_tick = 0;
    m_period_wake = 0;
    verilog_source design;
    design.top = "link_tx";
    design.directory = places_of_rtl().sources + "/rtl";
    design.files = {design.directory + "/link_tx.v"};
    design.parameters = {{"VLS", config.data_vls}, {"SOURCES", m_sources}};
    m_verilog.reset(m_mode, design, this->name(), [&](verilog_block& v) {
        receive_credits own;
        own.reset(config.vl_buffer_bytes);
        const std::uint64_t cycle = m_serializer.cycle_units();
        m_verilog.set_policy(v, "cfg_cycle_units_i", cycle);
        m_verilog.set_policy(v, "cfg_byte_cycles_i", m_serializer.byte_units() / cycle);
        m_verilog.set_policy(v, "cfg_byte_units_i", m_serializer.byte_units() % cycle);
        m_verilog.set_policy(v, "cfg_framing_bytes_i", config.framing_bytes);
        m_verilog.set_policy(v, "cfg_period_cycles_i", m_period_cycles);
        m_verilog.set_policy(v, "cfg_repeat_i", m_faults.may_lose_flow_control() ? 1 : 0);
        m_verilog.set_policy(v, "cfg_buffer_blocks_i", own.fccl());
        m_verilog.set_policy(v, "cfg_high_limit_i", config.high_limit);
        for (std::uint32_t vl = 0; vl < config.data_vls; ++vl) {
            v.pin("cfg_high_weight_i").set_slice(8 * vl, 8, config.high_weight[vl]);
            v.pin("cfg_low_weight_i").set_slice(8 * vl, 8, config.low_weight[vl]);
        }
        m_resume = v.find("resume_i");
        m_verilog.set_keeps_time(!m_resume);
        if (m_resume) {
            m_resume_cycle = v.pin("resume_cycle_i");
            m_resume_period = v.pin("resume_period_i");
            m_wakes = v.pin("wakes_o");
        }
        m_credit_stall =
            m_mode == rtl_mode::verilog ? v.pin("trace_credit_stall_o") : v.find("trace_credit_stall_o");
    });
}

void rtl_link_tx::tick() {
    if (m_verilog.is_model()) {
        link_tx::tick();
        return;
    }
    // Before the Verilog sees whether the wire takes something: what was delayed goes first.
    push_delayed();
    m_stalls_before = m_counters.credit_stalls;
    m_verilog.tick([this] { link_tx::tick(); });
    if (m_resume) {
        m_resume.set(0);
        // A timer outside wakes it at the end of the period.
        if (m_wakes.get() != 0) {
            const cycle_t period_end = (now() / m_period_cycles + 1) * m_period_cycles;
            if (m_period_wake != period_end) {
                m_period_wake = period_end;
                wake_at(period_end);
            }
        }
    }
}

std::uint32_t rtl_link_tx::shown() const { return m_queues->shown(); }
std::uint32_t rtl_link_tx::fresh() const { return m_queues->fresh(); }

void rtl_link_tx::put_on_wire(ib::packet* p) {
    if (m_mode == rtl_mode::shadow) {
        m_started_at = now();
        m_started = {};
        m_started.is_flow_control = p->is_flow_control;
        m_started.vl = p->vl;
        m_started.size_bytes = p->size_bytes;
        m_started.first_byte_cycle = p->first_byte_cycle;
        m_started.last_byte_cycle = p->last_byte_cycle;
        if (p->is_flow_control) {
            std::memcpy(m_started.flow_control, p->bytes, sizeof(m_started.flow_control));
        } else {
            m_started.handle = m_queues->handle_taken_by_model();
        }
    }
    link_tx::put_on_wire(p);
}

// What the Verilog puts on the wire.
void rtl_link_tx::give(const wire_start& w) {
    if (!wire_o.can_push()) {
        return;
    }
    ib::packet* p = m_queues->popped();
    if (w.is_flow_control) {
        p = m_pool.get();
        p->is_flow_control = true;
        p->size_bytes = ib::flow_control_packet_bytes;
        p->vl = w.vl;
        std::memcpy(p->bytes, w.flow_control, sizeof(w.flow_control));
        ++m_counters.flow_control_packets;
    } else {
        if (p == nullptr || w.handle != m_queues->popped_handle()) {
            throw verilog_error(std::string(this->name()) +
                                ": the Verilog sends a packet that it has not taken");
        }
        ++m_counters.packets;
        m_counters.bytes += p->size_bytes;
    }
    p->first_byte_cycle = w.first_byte_cycle;
    p->last_byte_cycle = w.last_byte_cycle;
    put_on_wire(p);
}

// The Verilog counts cycles; when it has slept it is told how many there have been.
void rtl_link_tx::tell_time() {
    const bool slept = now() != m_last_tick + 1;
    m_last_tick = now();
    if (!m_resume) {
        return;
    }
    m_resume.set(slept ? 1 : 0);
    m_resume_cycle.set(now());
    m_resume_period.set((now() - 1) % m_period_cycles + 1);
}

void rtl_link_tx::look_at_trace() { m_counters.credit_stalls += bits_of(m_credit_stall.get()); }

// What the trace pins tell must be what the model has counted.
bool rtl_link_tx::trace_differs(rtl_difference& d) {
    const std::uint64_t expected = m_counters.credit_stalls - m_stalls_before;
    if (!m_credit_stall || bits_of(m_credit_stall.get()) == expected) {
        return false;
    }
    d.port = "trace_credit_stall_o";
    d.expected = std::to_string(expected) + " packets";
    d.actual = std::to_string(bits_of(m_credit_stall.get())) + " packets";
    return true;
}

}  // namespace hcasim
