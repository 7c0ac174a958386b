#include "rtl_cosim/lockstep/send_scheduler_bench.h"

#include <array>
#include <deque>
#include <string>
#include <vector>

#include "model/ib/psn.h"
#include "rtl_cosim/wrap/rtl_send_scheduler.h"

namespace hcasim {

namespace {

using hold_t = scheduler_update::hold_t;

constexpr std::uint16_t half_window = 0x8000;

gate_state gate_of(ib::qp_state state) {
    return state == ib::qp_state::rts                                 ? gate_state::open
           : state == ib::qp_state::err || state == ib::qp_state::sqe ? gate_state::flush
                                                                      : gate_state::closed;
}

// Host, context cache and send engine in one: what they say, in any order that channels allow.
class driver final : public clocked_module {
public:
    driver(const sc_core::sc_module_name& name, clock_domain& domain, load& offered, coverage& covered)
        : clocked_module(name, domain),
          doorbell_o("doorbell_o", *this),
          state_o("state_o", *this),
          update_o("update_o", *this),
          grant_i("grant_i", *this),
          m_load(offered),
          m_rewinds(covered.point("go-back-N")),
          m_coverage(covered) {}

    out_port<send_doorbell> doorbell_o;
    out_port<state_event> state_o;
    out_port<scheduler_update> update_o;
    in_port<send_grant> grant_i;

    void reset(lockstep_random& random, std::uint32_t qps, bool calm) {
        m_random.seed(random.bits());
        m_qps = qps;
        m_slots.assign(qps, {});
        m_ends.clear();
        m_race = {};
        m_used = random.one_of<std::uint32_t>({1, 2, 5, 20, qps});
        m_used = m_used > qps ? qps : m_used;
        // Slots in use stand close together or far apart.
        m_stride = random.chance(512) ? 1 : qps / m_used;
        m_offset = random.below(qps);
        m_takes = calm ? 1024 : random.one_of<std::uint32_t>({1024, 1024, 700, 100, 20});
        m_posts = random.one_of<std::uint32_t>({1024, 300, 60});
        m_changes = random.one_of<std::uint32_t>({300, 30, 4});
        m_updates = random.one_of<std::uint32_t>({0, 0, 20, 300});
        m_wild = random.one_of<std::uint32_t>({0, 0, 60, 1024});
        m_service_cycles = random.one_of<std::uint32_t>({1, 3, 12, 200});
        m_focus = random.one_of<std::uint32_t>({0, 300, 900});
        m_races = random.one_of<std::uint32_t>({0, 20, 200});
        m_prologue_qps = random.chance(512) ? (m_used < 24 ? m_used : 24) : 0;
        m_prologue_step = 0;
    }

    void tick() override {
        if (m_prologue_step < 3 * m_prologue_qps) {
            prologue();
            return;
        }
        if (m_random.below(8) == 0) {
            m_focus_slot = any_slot();
        }
        take_grant();
        if (!m_race.active && m_random.chance(m_races)) {
            begin_race();
        }
        if (update_o.can_push()) {
            offer_update();
        }
        if (doorbell_o.can_push()) {
            if (m_race.active && m_race.doorbell_at <= now() && !m_race.doorbell_done) {
                slot& s = m_slots[m_race.slot];
                doorbell_o.push({s.qpn, ++s.producer});
                m_race.doorbell_done = true;
            } else if (m_load.offers(m_random, m_posts)) {
                doorbell_o.push(make_doorbell());
            }
        }
        if (state_o.can_push()) {
            if (m_race.active && m_race.open_at <= now() && !m_race.open_done) {
                m_slots[m_race.slot].state = ib::qp_state::rts;
                state_o.push(event_of(m_race.slot));
                m_race.open_done = true;
            } else if (m_load.offers(m_random, m_changes)) {
                state_o.push(make_event());
            }
        }
        m_race.active = m_race.active && !(m_race.doorbell_done && m_race.open_done);
    }

private:
    struct slot {
        std::uint32_t qpn = 0;
        ib::qp_state state = ib::qp_state::reset;
        std::uint8_t sl = 0;
        std::uint16_t producer = 0;
        std::uint16_t granted = 0;  // end of the newest grant
    };
    struct service {
        cycle_t cycle;
        send_grant grant;
    };
    // A QP in RTR is posted to, and its gate opens, a few cycles apart.
    struct race {
        bool active = false;
        std::uint32_t slot = 0;
        cycle_t doorbell_at = 0, open_at = 0;
        bool doorbell_done = false, open_done = false;
    };

    std::uint32_t any_slot() { return (m_offset + m_random.below(m_used) * m_stride) & (m_qps - 1); }
    // Often the same one for all inputs of a few cycles.
    std::uint32_t draw_slot() { return m_random.chance(m_focus) ? m_focus_slot : any_slot(); }

    // Behind the reset: some QPs are created, then posted to, then opened, while no grant is taken. So the
    // first grants show where rings and turns begin.
    void prologue() {
        const std::uint32_t number = (m_offset + m_prologue_step % m_prologue_qps * m_stride) & (m_qps - 1);
        slot& s = m_slots[number];
        if (m_prologue_step / m_prologue_qps == 1) {
            if (doorbell_o.can_push()) {
                s.producer = static_cast<std::uint16_t>(1 + m_random.below(40));
                doorbell_o.push({s.qpn, s.producer});
                ++m_prologue_step;
            }
        } else if (state_o.can_push()) {
            const bool created = m_prologue_step < m_prologue_qps;
            if (created) {
                s.qpn = number;
                s.sl = static_cast<std::uint8_t>(m_random.below(4));
            }
            s.state = created ? ib::qp_state::rtr : ib::qp_state::rts;
            state_event e = event_of(number);
            e.created = created;
            state_o.push(e);
            ++m_prologue_step;
        }
    }

    void take_grant() {
        if (!grant_i.can_pop() || !m_random.chance(m_takes)) {
            return;
        }
        const send_grant g = grant_i.pop();
        slot& s = m_slots[g.qpn & (m_qps - 1)];
        s.granted = static_cast<std::uint16_t>(g.first + g.count);
        const service done{now() + m_random.below(m_service_cycles), g};
        // Mostly in order; a grant that is quickly done overtakes others.
        if (m_random.chance(200)) {
            m_ends.push_front(done);
        } else {
            m_ends.push_back(done);
        }
    }

    void begin_race() {
        const std::uint32_t number = any_slot();
        slot& s = m_slots[number];
        if (s.state != ib::qp_state::rtr) {
            return;
        }
        m_race = {};
        m_race.active = true;
        m_race.slot = number;
        m_race.doorbell_at = now() + m_random.below(11);
        m_race.open_at = now() + m_random.below(11);
    }

    void offer_update() {
        scheduler_update u;
        if (!m_ends.empty() && m_ends.front().cycle <= now()) {
            const send_grant g = m_ends.front().grant;
            m_ends.pop_front();
            const slot& s = m_slots[g.qpn & (m_qps - 1)];
            u.qpn = g.qpn;
            u.end_service = true;
            switch (m_random.below(8)) {
                case 0:  // not used up
                    u.set_consumer = true;
                    u.consumer = static_cast<std::uint16_t>(g.first + m_random.below(g.count + 1u));
                    break;
                case 1:  // window full
                    u.hold = hold_t::hold;
                    break;
                case 2:
                    u.hold = hold_t::release;
                    break;
                case 3:
                    rewind(u, g.first);
                    break;
                case 4:
                    if (s.state != ib::qp_state::rts || m_random.chance(200)) {
                        u.gate_was_closed = true;
                        u.set_consumer = true;
                        u.consumer = g.first;
                    }
                    break;
                default:
                    break;
            }
        } else if (m_load.offers(m_random, m_updates)) {
            const slot& s = m_slots[draw_slot()];
            u.qpn = s.qpn;
            switch (m_random.below(4)) {
                case 0:
                    u.hold = hold_t::release;
                    break;
                case 1:
                    u.hold = hold_t::hold;
                    break;
                case 2:
                    rewind(u, s.granted);
                    break;
                default:
                    break;
            }
        } else {
            return;
        }
        if (m_random.chance(m_wild)) {
            u.qpn += m_random.chance(200) ? m_qps : 0;
            u.end_service = u.end_service || m_random.chance(200);
            u.set_consumer = m_random.chance(300);
            if (u.set_consumer && m_random.chance(300)) {
                const slot& s = m_slots[u.qpn & (m_qps - 1)];
                u.consumer = static_cast<std::uint16_t>(s.producer + half_window - 2 + m_random.below(5));
            } else if (m_random.chance(100)) {
                u.consumer = static_cast<std::uint16_t>(m_random.bits());
            }
            u.resend = m_random.chance(300);
            u.resend_until = static_cast<std::uint16_t>(u.consumer - 2 + m_random.below(9));
            u.hold = static_cast<hold_t>(m_random.below(3));
            u.gate_was_closed = m_random.chance(300);
        }
        update_o.push(u);
    }

    // To a WQE that had begun.
    void rewind(scheduler_update& u, std::uint16_t begun) {
        m_coverage.hit(m_rewinds);
        u.set_consumer = true;
        u.consumer = static_cast<std::uint16_t>(begun - m_random.below(6));
        u.resend = m_random.chance(700);
        u.resend_until = static_cast<std::uint16_t>(u.consumer + m_random.below(8));
    }

    send_doorbell make_doorbell() {
        slot& s = m_slots[draw_slot()];
        std::uint32_t qpn = s.qpn;
        std::uint16_t offered = s.producer;
        const std::uint32_t kind = m_random.below(32);
        if (kind < 24) {
            offered = static_cast<std::uint16_t>(offered + 1 + m_random.below(6));
        } else if (kind < 26) {
            offered = static_cast<std::uint16_t>(offered - m_random.below(3));
        } else if (kind == 26) {
            offered = static_cast<std::uint16_t>(offered + half_window - 2 + m_random.below(5));
        } else if (kind == 27) {
            // Exactly what was granted last: nothing is pending, by whatever way round.
            offered = s.granted;
        } else if (kind == 28) {
            qpn ^= m_qps;
            ++offered;
        } else if (kind == 29) {
            offered = static_cast<std::uint16_t>(m_random.bits());
        } else {
            offered = static_cast<std::uint16_t>(offered + 60 + m_random.below(20));
        }
        if (qpn == s.qpn && ib::index_distance(offered, s.producer) > 0) {
            s.producer = offered;
        }
        return {qpn, offered};
    }

    state_event event_of(std::uint32_t number) const {
        const slot& s = m_slots[number];
        state_event e;
        e.qpn = s.qpn;
        e.state = s.state;
        e.gate = gate_of(s.state);
        e.sl_class = s.sl;
        return e;
    }

    state_event make_event() {
        const std::uint32_t number = draw_slot();
        slot& s = m_slots[number];
        bool created = false;
        if (s.state == ib::qp_state::reset || m_random.below(40) == 0) {
            // A QP of its own number, or one more that shares the slot.
            s.qpn = number ^ (m_random.chance(512) ? m_qps << m_random.below(3) * 4 : 0);
            s.sl = static_cast<std::uint8_t>(m_random.chance(512) ? m_random.below(16) : m_random.below(3));
            s.state = ib::qp_state::init;
            s.producer = s.granted = 0;
            created = true;
        } else {
            using ib::qp_state;
            switch (s.state) {
                case qp_state::init:
                    s.state = qp_state::rtr;
                    break;
                case qp_state::rtr:
                    s.state = qp_state::rts;
                    break;
                case qp_state::rts:
                    s.state = m_random.one_of({qp_state::sqd, qp_state::sqe, qp_state::err, qp_state::rts});
                    break;
                case qp_state::sqd:
                case qp_state::sqe:
                    s.state = m_random.one_of({qp_state::rts, qp_state::rts, qp_state::err});
                    break;
                default:
                    s.state = qp_state::reset;
                    break;
            }
            if (m_random.below(32) == 0) {
                s.state = static_cast<qp_state>(m_random.below(ib::qp_state_count));
            }
            if (s.state == qp_state::reset) {
                s.producer = s.granted = 0;
            }
            if (m_random.below(6) == 0) {
                s.sl = static_cast<std::uint8_t>(m_random.below(16));
            }
        }
        state_event e = event_of(number);
        e.created = created;
        if (m_random.chance(m_wild) && m_random.below(8) == 0) {
            e.created = m_random.chance(200);
            e.gate = static_cast<gate_state>(m_random.below(3));
        }
        e.notify_drained = m_random.chance(512);
        return e;
    }

    load& m_load;
    std::size_t m_rewinds;
    coverage& m_coverage;
    lockstep_random m_random;
    std::vector<slot> m_slots;
    std::deque<service> m_ends;
    race m_race;
    std::uint32_t m_prologue_qps = 0, m_prologue_step = 0;
    std::uint32_t m_qps = 1, m_used = 1, m_stride = 1, m_offset = 0, m_focus_slot = 0;
    std::uint32_t m_takes = 1024, m_posts = 0, m_changes = 0, m_updates = 0, m_wild = 0, m_focus = 0,
                  m_races = 0, m_service_cycles = 1;
};

// What happened, as the model has it.
class situations {
    static constexpr std::size_t no_point = ~std::size_t{0};

public:
    situations(rtl_send_scheduler& block, coverage& covered)
        : m_block(block),
          m_coverage(covered),
          m_offsets(covered.points("doorbell against gate opening, 8 +", 17)),
          m_states(covered.points("QP state", ib::qp_state_count)),
          m_levels(covered.points("weighted or strict: grant of service level", 16)),
          m_policies(covered.points("grant under arbitration", 3)),
          m_locations(covered.points("grant with gate location", 2)),
          m_counts(covered.points("grant of WQEs", 5)) {
        for (unsigned together = 0; together < 16; ++together) {
            std::string name;
            unsigned n = 0;
            for (unsigned i = 0; i < 4; ++i) {
                constexpr const char* names[4] = {"grant", "state event", "doorbell", "update"};
                if ((together >> i & 1u) != 0) {
                    name += std::string(n++ != 0 ? ", " : "") + names[i];
                }
            }
            m_collisions[together] = n < 2 ? no_point : covered.point(name + " of one QP in a cycle");
        }
        for (unsigned from = 0; from < 3; ++from) {
            for (unsigned to = 0; to < 3; ++to) {
                constexpr const char* names[3] = {"closed", "open", "flush"};
                const std::string name = std::string("gate ") + names[from] + " to " + names[to];
                m_gate_moves[from][to] = from == to ? no_point : covered.point(name);
                m_pending_moves[from][to] = from == to ? no_point : covered.point(name + ", QP pending");
            }
        }
        const auto point = [&](const char* name) { return m_coverage.point(name); };
        m_flush = point("flush grant");
        m_resend = point("grant while the gate is closed, of what had begun");
        m_in_context = point("grant while the gate is closed, gate in the context");
        m_full_burst = point("grant of a whole burst of 64");
        m_wraps = point("grant across index 65535");
        m_ring_wraps = point("search wraps around the ring");
        m_refused = point("grant waits for the channel");
        m_taken_closed = point("doorbell finds the gate closed");
        m_taken_open = point("doorbell finds the gate open");
        m_stale_same = point("doorbell: same index again");
        m_stale_behind = point("doorbell: index behind");
        m_half = point("doorbell: index half the window away");
        m_stranger = point("doorbell of another QPN of the slot");
        m_empties = point("doorbell: producer meets consumer");
        m_created_in_service = point("created while a grant of the slot is in service");
        m_reset_in_service = point("RESET while in service");
        m_level_eligible = point("service level changes while eligible");
        m_level_in_service = point("service level changes while in service");
        m_end_only = point("update: end of service");
        m_set = point("update: consumer set");
        m_set_beyond = point("update: consumer beyond the producer");
        m_set_half = point("update: consumer half the window away");
        m_hold = point("update: hold");
        m_release = point("update: release");
        m_hold_flush = point("update: hold against a flush");
        m_update_stranger = point("update of another QPN of the slot");
        m_update_resend = point("update: resend");
        m_parks = point("gate found closed: parked");
        m_not_parked = point("gate found closed, but it has changed: granted again");
        m_parked_doorbell = point("doorbell of a parked QP");
        m_unparked = point("parked QP's gate opens");
        m_turn_used = point("weighted: turn used up");
        m_turn_given = point("weighted: rest of a turn given away");
    }

    void reset(const send_scheduler_config& config, std::uint32_t qps) {
        m_config = config;
        m_mask = qps - 1;
        m_seen.assign(qps, {});
        m_before = {};
        m_last_level = 16;
        m_same_level = 0;
        m_rings.assign(16, 0);
    }

    void look() {
        const cycle_t now = m_block.domain().now();
        const auto& c = m_block.counters();
        const bool grant = m_block.grant_o.core().was_pushed();
        std::uint32_t slots[4] = {};
        bool happened[4] = {};
        if (grant) {
            slots[0] = m_block.grant_o.core().back().qpn & m_mask;
            happened[0] = true;
            look_at_grant(m_block.grant_o.core().back());
        }
        hit_if(m_block.grant_waits(), m_refused);
        if (m_block.state_i.core().was_popped()) {
            slots[1] = m_block.state().message().qpn & m_mask;
            happened[1] = true;
            look_at_state(m_block.state().message(), now);
        }
        if (m_block.doorbell_i.core().was_popped()) {
            slots[2] = m_block.doorbell().message().qpn & m_mask;
            happened[2] = true;
            look_at_doorbell(m_block.doorbell().message(), c.stale_doorbells == m_before.stale_doorbells,
                             now);
        }
        if (m_block.update_i.core().was_popped()) {
            slots[3] = m_block.update().message().qpn & m_mask;
            happened[3] = true;
            look_at_update(m_block.update().message(), c.closed_grants != m_before.closed_grants);
        }
        for (std::uint32_t a = 0; a < 4; ++a) {
            std::uint32_t together = 0;
            for (std::uint32_t b = 0; happened[a] && b < 4; ++b) {
                together |= happened[b] && slots[b] == slots[a] ? 1u << b : 0;
            }
            if (m_collisions[together] != no_point) {
                m_coverage.hit(m_collisions[together]);
            }
        }
        m_before = c;
    }

private:
    // The model's QP, as far as it can be seen from outside.
    struct seen {
        std::uint32_t qpn = 0;
        std::uint16_t producer = 0, consumer = 0;
        std::uint8_t sl = 0;
        gate_state gate = gate_state::closed;
        bool in_service = false, parked = false, changed = false;
        cycle_t first_pending = 0, opened = 0;
    };

    void hit_if(bool happened, std::size_t point) { m_coverage.hit_if(happened, point); }
    void hit_offset(cycle_t doorbell, cycle_t opened) {
        if (doorbell != 0 && opened != 0 && doorbell + 8 >= opened && doorbell <= opened + 8) {
            m_coverage.hit(m_offsets + (doorbell + 8 - opened));
        }
    }

    void look_at_grant(const send_grant& g) {
        seen& s = m_seen[g.qpn & m_mask];
        m_coverage.hit(m_policies + static_cast<std::size_t>(m_config.arbitration));
        m_coverage.hit(m_locations + static_cast<std::size_t>(m_config.location));
        m_coverage.hit(m_counts + (g.count < 5 ? g.count : 4));
        hit_if(g.flush, m_flush);
        hit_if(s.gate == gate_state::closed && m_config.location == gate_location::on_chip, m_resend);
        hit_if(s.gate == gate_state::closed && m_config.location == gate_location::context, m_in_context);
        hit_if(g.count == 64, m_full_burst);
        hit_if(g.first + g.count > 65535, m_wraps);
        const std::uint32_t ring = m_config.arbitration == arbitration_policy::round_robin ? 0 : s.sl;
        if (m_config.arbitration != arbitration_policy::round_robin) {
            m_coverage.hit(m_levels + s.sl);
        }
        hit_if((g.qpn & m_mask) < m_rings[ring], m_ring_wraps);
        m_rings[ring] = g.qpn & m_mask;
        if (m_config.arbitration == arbitration_policy::weighted) {
            if (m_last_level != 16 && s.sl != m_last_level) {
                m_coverage.hit(m_same_level >= m_config.weight[m_last_level] ? m_turn_used : m_turn_given);
            }
            m_same_level = s.sl == m_last_level ? m_same_level + 1 : 1;
            m_last_level = s.sl;
        }
        s.in_service = true;
        s.changed = false;
        s.consumer = static_cast<std::uint16_t>(g.first + g.count);
    }

    void look_at_state(const state_event& e, cycle_t now) {
        seen& s = m_seen[e.qpn & m_mask];
        m_coverage.hit(m_states + static_cast<std::size_t>(e.state));
        const bool was_pending = s.producer != s.consumer;
        if (e.created || e.state == ib::qp_state::reset) {
            hit_if(e.created && s.in_service, m_created_in_service);
            hit_if(!e.created && s.in_service, m_reset_in_service);
            const bool in_service = s.in_service;
            s = {};
            s.in_service = in_service;
        } else if (s.sl != e.sl_class) {
            hit_if(was_pending && s.gate != gate_state::closed && !s.in_service, m_level_eligible);
            hit_if(s.in_service, m_level_in_service);
        }
        s.qpn = e.qpn;
        s.sl = e.sl_class;
        if (s.gate != e.gate) {
            const auto from = static_cast<std::size_t>(s.gate);
            const auto to = static_cast<std::size_t>(e.gate);
            m_coverage.hit(m_gate_moves[from][to]);
            hit_if(was_pending, m_pending_moves[from][to]);
            hit_if(s.parked && e.gate == gate_state::open, m_unparked);
            s.parked = false;
            s.changed = true;
            if (e.gate == gate_state::open) {
                s.opened = now;
                hit_offset(s.first_pending, now);
            }
        }
        s.gate = e.gate;
    }

    void look_at_doorbell(const send_doorbell& d, bool taken, cycle_t now) {
        seen& s = m_seen[d.qpn & m_mask];
        hit_if(static_cast<std::uint16_t>(d.producer - s.producer) == half_window, m_half);
        if (!taken) {
            const bool stranger = d.qpn != s.qpn;
            hit_if(stranger, m_stranger);
            hit_if(!stranger && d.producer == s.producer, m_stale_same);
            hit_if(!stranger && d.producer != s.producer, m_stale_behind);
            return;
        }
        hit_if(s.gate == gate_state::open, m_taken_open);
        hit_if(s.gate == gate_state::closed, m_taken_closed);
        hit_if(s.parked, m_parked_doorbell);
        if (s.producer == s.consumer) {
            s.first_pending = now;
            // In the same cycle the gate has told already.
            hit_offset(now, s.opened);
        }
        s.producer = d.producer;
        hit_if(s.producer == s.consumer, m_empties);
    }

    void look_at_update(const scheduler_update& u, bool found_closed) {
        seen& s = m_seen[u.qpn & m_mask];
        if (u.end_service) {
            s.in_service = false;
        }
        hit_if(u.qpn != s.qpn, m_update_stranger);
        if (u.qpn != s.qpn) {
            return;
        }
        hit_if(u.end_service && !u.set_consumer && u.hold == hold_t::keep, m_end_only);
        hit_if(u.hold == hold_t::hold, m_hold);
        hit_if(u.hold == hold_t::hold && s.gate == gate_state::flush, m_hold_flush);
        hit_if(u.hold == hold_t::release, m_release);
        if (u.set_consumer) {
            const std::int32_t distance = ib::index_distance(s.producer, u.consumer);
            hit_if(distance == -32768, m_set_half);
            m_coverage.hit(distance >= 0 ? m_set : m_set_beyond);
            hit_if(distance >= 0 && u.resend, m_update_resend);
            s.consumer = distance >= 0 ? u.consumer : s.consumer;
        }
        if (found_closed) {
            s.parked = !s.changed;
            const bool counts = m_config.location == gate_location::context && s.gate == gate_state::closed;
            hit_if(counts && s.parked, m_parks);
            hit_if(counts && !s.parked, m_not_parked);
        }
    }

    rtl_send_scheduler& m_block;
    coverage& m_coverage;
    send_scheduler_config m_config;
    std::uint32_t m_mask = 0;
    std::vector<seen> m_seen;
    std::vector<std::uint32_t> m_rings;
    send_scheduler::counters_t m_before;
    std::uint32_t m_last_level = 16;
    std::uint32_t m_same_level = 0;
    std::array<std::size_t, 16> m_collisions{};
    std::array<std::array<std::size_t, 3>, 3> m_gate_moves{};
    std::array<std::array<std::size_t, 3>, 3> m_pending_moves{};
    std::size_t m_offsets, m_states, m_levels, m_policies, m_locations, m_counts;
    std::size_t m_flush, m_resend, m_in_context, m_full_burst, m_wraps, m_ring_wraps, m_refused,
        m_taken_closed, m_taken_open, m_stale_same, m_stale_behind, m_half, m_stranger, m_empties,
        m_created_in_service, m_reset_in_service, m_level_eligible, m_level_in_service, m_end_only, m_set,
        m_set_beyond, m_set_half, m_hold, m_release, m_hold_flush, m_update_stranger, m_update_resend,
        m_parks, m_not_parked, m_parked_doorbell, m_unparked, m_turn_used, m_turn_given;
};

}  // namespace

struct send_scheduler_bench::parts {
    parts(clock_domain& domain, load& offered, coverage& covered)
        : block("send_scheduler", domain, rtl_mode::shadow),
          stimulus("driver", domain, offered, covered),
          watched(block, covered) {
        block.look = [this] { watched.look(); };
    }
    rtl_send_scheduler block;
    driver stimulus;
    situations watched;
};

send_scheduler_bench::send_scheduler_bench(const sc_core::sc_module_name& name)
    : lockstep_bench(name, "send_scheduler"),
      m_parts(std::make_unique<parts>(domain(), offered(), covered())) {
    parts& p = *m_parts;
    join<send_doorbell>(p.stimulus.doorbell_o, p.block.doorbell_i);
    join<state_event>(p.stimulus.state_o, p.block.state_i);
    join<scheduler_update>(p.stimulus.update_o, p.block.update_i);
    join<send_grant>(p.block.grant_o, p.stimulus.grant_i);
}

send_scheduler_bench::~send_scheduler_bench() = default;

rtl_block& send_scheduler_bench::verilog() { return m_parts->block.verilog(); }

std::vector<std::map<std::string, std::uint64_t>> send_scheduler_bench::sizes_of_mutants() const {
    return {{{"QPS", 128}}};
}

void send_scheduler_bench::reset_block(lockstep_random& random) {
    send_scheduler_config config;
    const auto policy = [&](const char* pin, std::uint32_t drawn) {
        return static_cast<std::uint32_t>(verilog().policy(pin, drawn));
    };
    config.arbitration = static_cast<arbitration_policy>(policy("cfg_arbitration_i", random.below(3)));
    config.location = policy("cfg_gate_in_context_i", random.below(2)) != 0 ? gate_location::context
                                                                            : gate_location::on_chip;
    config.burst = policy("cfg_burst_i", random.one_of<std::uint32_t>({1, 2, 3, 4, 4, 64}));
    for (std::uint32_t& weight : config.weight) {
        weight = random.one_of<std::uint32_t>({1, 1, 2, 3, 10, 255});
    }
    // Ready bits in two levels, two full ones, and three.
    const std::uint32_t drawn = random.below(8);
    const std::uint32_t qps = small_only() || drawn < 5 ? 128 : drawn < 7 ? 1024 : 8192;
    m_parts->block.reset(config, qps);
    m_parts->watched.reset(config, qps);
    m_parts->stimulus.reset(random, qps, calm());
}

}  // namespace hcasim
