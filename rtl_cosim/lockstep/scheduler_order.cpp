#include "rtl_cosim/lockstep/scheduler_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>

#include "model/clock/channel.h"
#include "model/clock/clock_domain.h"
#include "model/send_scheduler/send_scheduler.h"

namespace hcasim {

namespace {

// Length of the drawn part of an episode; then everything that was posted has to go.
constexpr cycle_t plan_cycles = 4000;

// Plays a plan to the model and takes what it lets go.
class player final : public clocked_module {
public:
    player(const sc_core::sc_module_name& name, clock_domain& domain)
        : clocked_module(name, domain),
          doorbell_o("doorbell_o", *this),
          state_o("state_o", *this),
          update_o("update_o", *this),
          grant_i("grant_i", *this) {}

    out_port<send_doorbell> doorbell_o;
    out_port<state_event> state_o;
    out_port<scheduler_update> update_o;
    in_port<send_grant> grant_i;

    void reset(const scheduler_plan& plan) {
        m_plan = &plan;
        m_next = 0;
        m_made = 0;
        m_ends.clear();
        wqes.clear();
        m_left = 0;
        for (const std::uint16_t posted : plan.posted) {
            m_left += posted;
        }
        wake_at(1);
    }

    void tick() override {
        if (m_made < m_plan->qps) {
            state_event e;
            e.qpn = m_made++;
            e.state = ib::qp_state::rtr;
            e.created = true;
            state_o.push(e);
        }
        for (; m_next < m_plan->steps.size() && m_plan->steps[m_next].cycle <= now(); ++m_next) {
            const scheduler_plan::step& s = m_plan->steps[m_next];
            if (s.is_gate) {
                state_event e;
                e.qpn = s.qpn;
                e.state = s.opens ? ib::qp_state::rts : ib::qp_state::sqd;
                e.gate = s.opens ? gate_state::open : gate_state::closed;
                state_o.push(e);
            } else {
                doorbell_o.push({s.qpn, s.producer});
            }
        }
        if (grant_i.can_pop()) {
            const send_grant g = grant_i.pop();
            wqes.push_back({now() - 1, g.qpn, g.first});
            m_ends.push_back({now() - 1 + m_plan->service_cycles, g.qpn});
            --m_left;
        }
        if (!m_ends.empty() && m_ends.front().cycle <= now()) {
            scheduler_update u;
            u.qpn = m_ends.front().qpn;
            u.end_service = true;
            update_o.push(u);
            m_ends.pop_front();
        }
        if (m_left == 0 && m_next == m_plan->steps.size()) {
            domain().stop();
        }
        wake_next();
    }

    std::vector<scheduled_wqe> wqes;

private:
    const scheduler_plan* m_plan = nullptr;
    std::size_t m_next = 0;
    std::uint32_t m_made = 0;
    std::uint64_t m_left = 0;
    std::deque<scheduled_wqe> m_ends;
};

// When each WQE was posted, and when the gates moved.
class plan_times {
public:
    // `delay`: cycles from a step to the pins of the scheduler.
    plan_times(const scheduler_plan& plan, cycle_t delay) : m_posted(plan.qps), m_opened(plan.qps) {
        std::vector<std::uint16_t> producer(plan.qps, 0);
        for (const scheduler_plan::step& s : plan.steps) {
            if (s.is_gate) {
                if (s.opens) {
                    m_opened[s.qpn].push_back(s.cycle + delay);
                }
                continue;
            }
            while (producer[s.qpn] != s.producer) {
                m_posted[s.qpn].push_back(s.cycle + delay);
                ++producer[s.qpn];
            }
        }
    }
    // Cycles that a WQE waited although it was posted and its gate open.
    cycle_t wait(const scheduled_wqe& w) const {
        const auto& opened = m_opened[w.qpn];
        const auto behind = std::upper_bound(opened.begin(), opened.end(), w.cycle);
        const cycle_t gate = behind == opened.begin() ? 0 : *(behind - 1);
        const cycle_t since = std::max(m_posted[w.qpn][w.index], gate);
        return w.cycle > since ? w.cycle - since : 0;
    }

private:
    std::vector<std::vector<cycle_t>> m_posted;  // by QP and WQE
    std::vector<std::vector<cycle_t>> m_opened;  // by QP
};

}  // namespace

// --- the model ---------------------------------------------------------------------------------------------

struct scheduler_reference::parts {
    parts()
        : domain("reference_domain", sc_core::sc_time(4, sc_core::SC_NS)),
          scheduler("reference_scheduler", domain),
          stimulus("reference_player", domain),
          doorbells("reference_doorbells", domain),
          states("reference_states", domain),
          updates("reference_updates", domain),
          grants("reference_grants", domain) {
        stimulus.doorbell_o.bind(doorbells);
        scheduler.doorbell_i.bind(doorbells);
        stimulus.state_o.bind(states);
        scheduler.state_i.bind(states);
        stimulus.update_o.bind(updates);
        scheduler.update_i.bind(updates);
        scheduler.grant_o.bind(grants);
        stimulus.grant_i.bind(grants);
    }
    clock_domain domain;
    send_scheduler scheduler;
    player stimulus;
    channel<send_doorbell> doorbells;
    channel<state_event> states;
    channel<scheduler_update> updates;
    channel<send_grant> grants;
};

scheduler_reference::scheduler_reference() : m_parts(std::make_unique<parts>()) {}

scheduler_reference::~scheduler_reference() = default;

std::vector<scheduled_wqe> scheduler_reference::play(const scheduler_plan& plan, cycle_t last) {
    parts& p = *m_parts;
    p.domain.set_horizon(0);
    p.domain.set_run_ahead(true);
    p.domain.reset(engine_kind::wheel);
    send_scheduler_config config;
    config.burst = 1;
    p.scheduler.reset(config, plan.qps);
    p.doorbells.reset({});
    p.states.reset({});
    p.updates.reset({});
    p.grants.reset({});
    p.stimulus.reset(plan);
    p.domain.set_horizon(last);
    sc_core::sc_start();
    return p.stimulus.wqes;
}

// --- the user's Verilog
// --------------------------------------------------------------------------------------

struct mapped_scheduler::parts {
    parts(const verilog_source& source, const rtl_map& m) : verilog(source), map(m) {
        verilog.set_clock_and_reset(m.clock, m.reset, m.reset_is_low);
        const auto get = [this](const std::string& name, const char* key, bool output, bool needed) {
            if (name.empty()) {
                if (needed) {
                    throw verilog_error(fmt::format("{}: {}: is missing", map.file, key));
                }
                return verilog_pin{};
            }
            const verilog_pin pin = verilog.find(name);
            if (!pin) {
                throw verilog_error(fmt::format("{}: {} = \"{}\": {} has no such port; it has {}", map.file,
                                                key, name, map.top, port_names(output)));
            }
            if (pin.is_output() != output) {
                throw verilog_error(fmt::format("{}: {} = \"{}\": is an {} of {}", map.file, key, name,
                                                output ? "input" : "output", map.top));
            }
            if (!output) {
                driven.push_back(name);
            }
            return pin;
        };
        doorbell_valid = get(m.doorbell.valid, "doorbell.valid", false, true);
        doorbell_ready = get(m.doorbell.ready, "doorbell.ready", true, false);
        doorbell_qpn = get(m.doorbell.qpn, "doorbell.qpn", false, true);
        doorbell_producer = get(m.doorbell.producer, "doorbell.producer", false, false);
        grant_valid = get(m.grant.valid, "grant.valid", true, true);
        grant_ready = get(m.grant.ready, "grant.ready", false, false);
        grant_qpn = get(m.grant.qpn, "grant.qpn", true, true);
        grant_first = get(m.grant.first, "grant.first", true, false);
        grant_count = get(m.grant.count, "grant.count", true, false);
        grant_tag = get(m.grant.tag, "grant.tag", true, false);
        status_valid = get(m.status.valid, "status.valid", false, false);
        status_ready = get(m.status.ready, "status.ready", true, false);
        status_qpn = get(m.status.qpn, "status.qpn", false, false);
        status_tag = get(m.status.tag, "status.tag", false, false);
        status_length = get(m.status.length, "status.length", false, false);
        axi = !m.gate.axi_lite.empty();
        if (axi) {
            const std::string& a = m.gate.axi_lite;
            awaddr = get(a + "awaddr", "gate.axi_lite", false, true);
            awvalid = get(a + "awvalid", "gate.axi_lite", false, true);
            awready = get(a + "awready", "gate.axi_lite", true, true);
            wdata = get(a + "wdata", "gate.axi_lite", false, true);
            wvalid = get(a + "wvalid", "gate.axi_lite", false, true);
            wready = get(a + "wready", "gate.axi_lite", true, true);
            bvalid = get(a + "bvalid", "gate.axi_lite", true, true);
            bready = get(a + "bready", "gate.axi_lite", false, true);
            if (!m.gate.valid.empty()) {
                throw verilog_error(fmt::format("{}: gate: has axi_lite and valid; one of them", map.file));
            }
            wstrb = verilog.find(a + "wstrb");
            if (wstrb) {
                driven.push_back(a + "wstrb");
            }
        } else {
            gate_valid = get(m.gate.valid, "gate.valid", false, true);
            gate_ready = get(m.gate.ready, "gate.ready", true, false);
            gate_qpn = get(m.gate.qpn, "gate.qpn", false, true);
            gate_value = get(m.gate.value, "gate.value", false, true);
        }
        for (const auto& [name, value] : m.constants) {
            get(name, "constants", false, true).set(value);
        }
        // An input that nobody drives would be an unsaid assumption.
        for (const verilog_block::named_pin& p : verilog.pins()) {
            const bool known = p.name == m.clock || p.name == m.reset ||
                               std::find(driven.begin(), driven.end(), p.name) != driven.end();
            if (!p.pin.is_output() && !known) {
                throw verilog_error(
                    fmt::format("{}: input {} of {} is not in the map; add it to [constants] or to the "
                                "message it belongs to",
                                map.file, p.name, map.top));
            }
        }
    }

    std::string port_names(bool outputs) const {
        std::string names;
        for (const verilog_block::named_pin& p : verilog.pins()) {
            if (p.pin.is_output() == outputs) {
                names += (names.empty() ? "" : ", ") + p.name;
            }
        }
        return names;
    }

    verilog_block verilog;
    rtl_map map;
    std::vector<std::string> driven;
    bool axi = false;
    verilog_pin doorbell_valid, doorbell_ready, doorbell_qpn, doorbell_producer;
    verilog_pin grant_valid, grant_ready, grant_qpn, grant_first, grant_count, grant_tag;
    verilog_pin status_valid, status_ready, status_qpn, status_tag, status_length;
    verilog_pin gate_valid, gate_ready, gate_qpn, gate_value;
    verilog_pin awaddr, awvalid, awready, wdata, wvalid, wready, wstrb, bvalid, bready;
};

mapped_scheduler::mapped_scheduler(const verilog_source& source, const rtl_map& map)
    : m_parts(std::make_unique<parts>(source, map)) {}

mapped_scheduler::~mapped_scheduler() = default;

std::uint32_t mapped_scheduler::qps() const {
    const parts& p = *m_parts;
    return std::uint32_t{1} << std::min({p.doorbell_qpn.width_bits(), p.grant_qpn.width_bits(), 16u});
}

mapped_scheduler::outcome mapped_scheduler::play(const scheduler_plan& plan, cycle_t last) {
    parts& p = *m_parts;
    struct gate_move {
        std::uint32_t qpn;
        bool opens;
    };
    struct service_end {
        cycle_t cycle;
        std::uint32_t qpn;
        std::uint64_t tag;
        std::uint32_t length;
    };
    outcome result;
    const auto violate = [&result](cycle_t cycle, const std::string& what) {
        if (result.violation.empty()) {
            result.violation = what;
            result.violation_cycle = cycle;
        }
    };
    for (const verilog_pin& pin : {p.doorbell_valid, p.status_valid, p.gate_valid, p.awvalid, p.wvalid}) {
        if (pin) {
            pin.set(0);
        }
    }
    if (p.grant_ready) {
        p.grant_ready.set(0);
    }
    p.verilog.reset();
    std::deque<std::pair<std::uint32_t, std::uint16_t>> doorbells;
    std::deque<gate_move> gates;
    std::deque<service_end> ends;
    std::vector<std::uint16_t> posted(plan.qps, 0);
    std::vector<std::uint16_t> granted(plan.qps, 0);
    // What the scheduler has been told, and has confirmed.
    std::vector<bool> may_go(plan.qps, false);
    bool address_done = false;
    bool data_done = false;
    bool waits_for_response = false;
    std::uint64_t left = 0;
    for (const std::uint16_t n : plan.posted) {
        left += n;
    }
    std::size_t next = 0;
    for (cycle_t now = 1; now <= last && result.violation.empty(); ++now) {
        for (; next < plan.steps.size() && plan.steps[next].cycle <= now; ++next) {
            const scheduler_plan::step& s = plan.steps[next];
            if (s.is_gate) {
                gates.push_back({s.qpn, s.opens});
                // From now on it may open; it must not be counted as open before.
                if (s.opens) {
                    may_go[s.qpn] = true;
                }
            } else {
                posted[s.qpn] = s.producer;
                doorbells.emplace_back(s.qpn, s.producer);
            }
        }
        p.doorbell_valid.set(doorbells.empty() ? 0 : 1);
        if (!doorbells.empty()) {
            p.doorbell_qpn.set(doorbells.front().first);
            if (p.doorbell_producer) {
                p.doorbell_producer.set(doorbells.front().second);
            }
        }
        const bool ends_now = p.status_valid && !ends.empty() && ends.front().cycle <= now;
        if (p.status_valid) {
            p.status_valid.set(ends_now ? 1 : 0);
        }
        if (ends_now) {
            const service_end& e = ends.front();
            if (p.status_qpn) {
                p.status_qpn.set(e.qpn);
            }
            if (p.status_tag) {
                p.status_tag.set(e.tag);
            }
            if (p.status_length) {
                p.status_length.set(e.length);
            }
        }
        const bool moves_gate = !gates.empty();
        if (p.axi) {
            p.awvalid.set(moves_gate && !address_done ? 1 : 0);
            p.wvalid.set(moves_gate && !data_done ? 1 : 0);
            p.bready.set(1);
            if (moves_gate) {
                p.awaddr.set(p.map.gate.address_base + p.map.gate.address_per_qp * gates.front().qpn);
                p.wdata.set(gates.front().opens ? p.map.gate.open : p.map.gate.closed);
                if (p.wstrb) {
                    p.wstrb.set(~std::uint64_t{0});
                }
            }
        } else {
            p.gate_valid.set(moves_gate ? 1 : 0);
            if (moves_gate) {
                p.gate_qpn.set(gates.front().qpn);
                p.gate_value.set(gates.front().opens ? p.map.gate.open : p.map.gate.closed);
            }
        }
        if (p.grant_ready) {
            p.grant_ready.set(1);
        }
        p.verilog.settle();

        // What passes at the edge that ends this cycle.
        if (!doorbells.empty()) {
            if (!p.doorbell_ready || p.doorbell_ready.get() != 0) {
                doorbells.pop_front();
            } else {
                ++result.waits;
            }
        }
        if (ends_now) {
            if (!p.status_ready || p.status_ready.get() != 0) {
                ends.pop_front();
            } else {
                ++result.waits;
            }
        }
        bool gate_done = false;
        if (moves_gate && p.axi) {
            address_done = address_done || (p.awvalid.get() != 0 && p.awready.get() != 0);
            data_done = data_done || (p.wvalid.get() != 0 && p.wready.get() != 0);
            if (waits_for_response && p.bvalid.get() != 0) {
                gate_done = true;
                address_done = data_done = waits_for_response = false;
            } else {
                waits_for_response = address_done && data_done;
            }
        } else if (moves_gate) {
            gate_done = !p.gate_ready || p.gate_ready.get() != 0;
        }
        if (p.grant_valid.get() != 0) {
            const auto qpn = static_cast<std::uint32_t>(p.grant_qpn.get());
            if (qpn >= plan.qps) {
                violate(now, fmt::format("grant of QP {}, there are {}", qpn, plan.qps));
            } else {
                const auto waiting = static_cast<std::uint16_t>(posted[qpn] - granted[qpn]);
                const auto count = static_cast<std::uint32_t>(p.grant_count ? p.grant_count.get() : 1);
                if (p.grant_first && p.grant_first.get() != granted[qpn]) {
                    violate(now, fmt::format("QP {}: grant begins with WQE {}, the next one is {}", qpn,
                                             p.grant_first.get(), granted[qpn]));
                }
                const bool says_what = p.grant_first || p.grant_count;
                if (says_what && count > waiting) {
                    violate(now, fmt::format("QP {}: grant of {} WQEs, {} are posted", qpn, count, waiting));
                }
                const std::uint32_t taken = std::min<std::uint32_t>(count, waiting);
                result.empty_requests += taken == 0 ? 1 : 0;
                if (taken != 0 && !may_go[qpn]) {
                    violate(now,
                            fmt::format("QP {}: WQE {} granted while the gate is closed", qpn, granted[qpn]));
                }
                for (std::uint32_t i = 0; i < taken; ++i) {
                    result.wqes.push_back({now, qpn, granted[qpn]++});
                    --left;
                }
                const std::uint64_t tag = p.grant_tag ? p.grant_tag.get() : 0;
                ends.push_back({now + plan.service_cycles, qpn, tag, taken});
            }
        }
        if (gate_done) {
            // Confirmed: from the next cycle on nothing of a closed QP may go, unless it is to open again
            // already.
            const gate_move move = gates.front();
            gates.pop_front();
            const bool opens_again = std::any_of(gates.begin(), gates.end(), [&move](const gate_move& g) {
                return g.qpn == move.qpn && g.opens;
            });
            may_go[move.qpn] = move.opens || opens_again;
        }
        p.verilog.clock_edge();
        if (left == 0 && next == plan.steps.size() && gates.empty() && ends.empty() && doorbells.empty()) {
            break;
        }
    }
    if (result.violation.empty() && left != 0) {
        for (std::uint32_t q = 0; q < plan.qps; ++q) {
            if (granted[q] != plan.posted[q]) {
                violate(last, fmt::format("QP {}: {} of {} WQEs were never granted, its gate is open", q,
                                          plan.posted[q] - granted[q], plan.posted[q]));
            }
        }
    }
    return result;
}

order_result run_scheduler_order(scheduler_reference& reference, mapped_scheduler& own, std::uint64_t cycles,
                                 std::uint64_t seed, std::uint32_t first_episode) {
    order_result result;
    const std::uint32_t qps = std::min(own.qps(), 1024u);
    while (result.cycles < cycles) {
        const std::uint32_t number = first_episode + result.episodes;
        const scheduler_plan plan = make_scheduler_plan(seed * 1000003 + number, qps, plan_cycles);
        std::uint64_t posted = 0;
        for (const std::uint16_t n : plan.posted) {
            posted += n;
        }
        // Long enough for one QP after the other; both stop when all has gone.
        const cycle_t last = plan.last_cycle + 2000 + posted * (plan.service_cycles + 32);
        const auto model = reference.play(plan, last);
        const auto verilog = own.play(plan, last);
        ++result.episodes;
        result.wqes += verilog.wqes.size();
        result.empty_requests += verilog.empty_requests;
        result.cycles +=
            std::max<cycle_t>(plan.last_cycle, verilog.wqes.empty() ? 0 : verilog.wqes.back().cycle);
        const plan_times at_model(plan, 1);
        const plan_times at_verilog(plan, 0);
        for (const scheduled_wqe& w : model) {
            result.model_wait_cycles.add(at_model.wait(w));
        }
        for (std::size_t i = 0; i < verilog.wqes.size(); ++i) {
            result.verilog_wait_cycles.add(at_verilog.wait(verilog.wqes[i]));
            result.same_place += i < model.size() && model[i].qpn == verilog.wqes[i].qpn ? 1 : 0;
        }
        std::string violation = verilog.violation;
        if (violation.empty() && model.size() != verilog.wqes.size()) {
            violation =
                fmt::format("{} WQEs granted, the model grants {}", verilog.wqes.size(), model.size());
        }
        if (!violation.empty()) {
            result.violation = violation;
            result.violation_cycle = verilog.violation_cycle;
            result.episode = number;
            break;
        }
    }
    return result;
}

}  // namespace hcasim
