#include "rtl_cosim/lockstep/link_tx_bench.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "rtl_cosim/wrap/rtl_link_tx.h"

namespace hcasim {

namespace {

constexpr std::uint32_t queue_packets = 4;

struct rate {
    const char* name;
    link_speed speed;
    link_width width;
    std::uint64_t clock_mhz;
};
constexpr rate rates[] = {
    {"50 bytes per cycle", link_speed::edr, link_width::x4, 250},
    {"300/11 bytes per cycle", link_speed::fdr, link_width::x4, 250},
    {"600 bytes per cycle", link_speed::ndr, link_width::x12, 250},
    {"18750/2563 bytes per cycle", link_speed::fdr, link_width::x1, 233},
    {"1 byte per cycle", link_speed::sdr, link_width::x1, 250},
    {"8 cycles per byte", link_speed::sdr, link_width::x1, 2000},
    {"2.5 cycles per byte", link_speed::ddr, link_width::x1, 1250},
};

/// Sources of packets, receiver of this port and peer in one.
class driver final : public clocked_module {
public:
    driver(const sc_core::sc_module_name& name, clock_domain& domain, ib::packet_pool& pool, load& offered,
           coverage& covered)
        : clocked_module(name, domain),
          credit_o("credit_o", *this),
          wire_i("wire_i", *this),
          sent_i("sent_i", *this),
          m_pool(pool),
          m_load(offered),
          m_coverage(covered),
          m_smallest(covered.point("smallest packet")),
          m_largest(covered.point("largest packet")),
          m_whole_block(covered.point("packet of whole blocks")),
          m_over_block(covered.point("packet of a byte more than whole blocks")),
          m_behind(covered.point("peer's FCCL behind FCTBS")),
          m_full_window(covered.point("peer announces 2047 blocks")),
          m_no_news(covered.point("own FCCL without news")) {
        for (std::uint32_t q = 0; q < link_tx::source_count * max_data_vls; ++q) {
            packet_o.push_back(
                std::make_unique<out_port<ib::packet*>>(("packet_o_" + std::to_string(q)).c_str(), *this));
        }
    }

    std::vector<std::unique_ptr<out_port<ib::packet*>>> packet_o;  // s * max_data_vls + vl
    out_port<credit_update> credit_o;
    in_port<ib::packet*> wire_i;
    in_port<sent_notice> sent_i;

    void reset(lockstep_random& random, std::uint32_t sources, std::uint32_t data_vls, bool calm) {
        m_random.seed(random.bits());
        m_sources = sources;
        m_vls = data_vls;
        for (auto& share : m_share) {
            share = m_random.one_of<std::uint32_t>({0, 40, 300, 1024, 1024});
        }
        m_share[m_random.below(m_vls)] = 1024;
        m_sizes = m_random.below(4);
        m_takes_wire = calm ? 1024 : m_random.one_of<std::uint32_t>({1024, 1024, 1024, 300});
        m_takes_sent = calm ? 1024 : m_random.one_of<std::uint32_t>({1024, 1024, 100, 8});
        m_datagrams = m_random.one_of<std::uint32_t>({0, 300, 1024});
        // How many credits, how often; how often the own receiver tells something.
        m_credits = m_random.one_of<std::uint32_t>({20, 100, 700, 2047});
        m_credit_per_1024 = m_random.one_of<std::uint32_t>({4, 60, 400});
        m_strange_per_1024 = m_random.one_of<std::uint32_t>({0, 0, 100});
        m_own_per_1024 = m_random.one_of<std::uint32_t>({0, 2, 60, 600});
        m_at_once_per_1024 = m_random.one_of<std::uint32_t>({0, 100, 700});
        m_peer = {};
        m_own_fccl = {};
    }

    void tick() override {
        if (wire_i.can_pop() && m_random.chance(m_takes_wire)) {
            see(wire_i.pop());
        }
        if (sent_i.can_pop() && m_random.chance(m_takes_sent)) {
            sent_i.drop();
        }
        for (std::uint32_t s = 0; s < m_sources; ++s) {
            for (std::uint32_t vl = 0; vl < m_vls; ++vl) {
                auto& port = *packet_o[s * max_data_vls + vl];
                if (port.can_push() && m_load.offers(m_random, m_share[vl])) {
                    port.push(make(vl));
                }
            }
        }
        if (credit_o.can_push()) {
            if (m_random.chance(m_credit_per_1024)) {
                give_credits();
            } else if (m_random.chance(m_own_per_1024)) {
                tell_own();
            }
        }
    }

private:
    struct peer_state {
        std::uint32_t sent = 0;  // blocks that this port has sent, as far as they are known
        std::uint32_t limit = 0;
    };

    void see(ib::packet* p) {
        peer_state& peer = m_peer[p->vl];
        ib::flow_control_packet f;
        if (!p->is_flow_control) {
            peer.sent = (peer.sent + credit_blocks(p->size_bytes)) % credit_modulus;
        } else if (ib::decode(p->bytes, f)) {
            peer.sent = f.fctbs;
        }
        m_pool.put(p);
    }

    ib::packet* make(std::uint32_t vl) {
        constexpr auto smallest =
            static_cast<std::uint32_t>(ib::lrh_bytes + ib::bth_bytes + ib::icrc_bytes + ib::vcrc_bytes);
        constexpr auto largest = static_cast<std::uint32_t>(ib::max_packet_bytes);
        ib::packet* p = m_pool.get();
        std::uint32_t bytes = smallest;
        switch (m_sizes == 3 ? m_random.below(3) : m_sizes) {
            case 0:
                bytes += m_random.below(110);
                break;
            case 1:
                bytes += m_random.below(largest - smallest + 1);
                break;
            default:
                bytes = 64 * (1 + m_random.below(66)) + m_random.below(3) - 1;
                bytes = std::clamp(bytes, smallest, largest);
        }
        if (m_random.below(64) == 0) {
            bytes = m_random.below(2) == 0 ? smallest : largest;
        }
        m_coverage.hit_if(bytes == smallest, m_smallest);
        m_coverage.hit_if(bytes == largest, m_largest);
        m_coverage.hit_if(bytes % 64 == 0, m_whole_block);
        m_coverage.hit_if(bytes % 64 == 1, m_over_block);
        p->size_bytes = bytes;
        p->vl = static_cast<std::uint8_t>(vl);
        std::fill_n(p->bytes, bytes, std::uint8_t{0});
        p->bytes[0] = static_cast<std::uint8_t>(vl << 4);
        p->op = m_random.chance(m_datagrams)
                    ? m_random.one_of<std::uint8_t>({ib::ud_send_only, ib::ud_send_only_imm})
                    : m_random.one_of<std::uint8_t>({ib::rc_send_only, ib::rc_acknowledge});
        p->has_wqe = m_random.chance(700);
        p->qpn = static_cast<std::uint32_t>(m_random.bits() & 0xffffffu);
        p->wqe_index = static_cast<std::uint16_t>(m_random.bits());
        return p;
    }

    void give_credits() {
        const std::uint32_t vl = m_random.below(m_vls);
        peer_state& peer = m_peer[vl];
        const std::uint32_t room = (peer.limit - peer.sent) % credit_modulus;
        if (room < credit_modulus / 2) {
            peer.limit = (peer.limit + m_random.below(std::min(m_credits, 2047 - room) + 1)) % credit_modulus;
        } else {
            peer.limit = peer.sent;
        }
        std::uint32_t fccl = peer.limit;
        if (m_random.chance(m_strange_per_1024)) {
            fccl = (peer.sent + m_random.one_of<std::uint32_t>({4095, 2047, 2048, 2049, 0, 1}) +
                    m_random.below(3)) %
                   credit_modulus;
        }
        const std::uint32_t given = (fccl - peer.sent) % credit_modulus;
        m_coverage.hit_if(given >= credit_modulus / 2, m_behind);
        m_coverage.hit_if(given == 2047, m_full_window);
        credit_o.push(
            {true, m_random.below(2) == 0, static_cast<std::uint8_t>(vl), static_cast<std::uint16_t>(fccl)});
    }

    void tell_own() {
        const std::uint32_t vl = m_random.below(m_vls);
        const bool at_once = m_random.chance(m_at_once_per_1024);
        const bool news = m_random.below(4) != 0;
        m_coverage.hit_if(!news, m_no_news);
        if (news) {
            m_own_fccl[vl] =
                static_cast<std::uint16_t>((m_own_fccl[vl] + 1 + m_random.below(600)) % credit_modulus);
        }
        credit_o.push({false, at_once, static_cast<std::uint8_t>(vl), m_own_fccl[vl]});
    }

    ib::packet_pool& m_pool;
    load& m_load;
    coverage& m_coverage;
    std::size_t m_smallest, m_largest, m_whole_block, m_over_block, m_behind, m_full_window, m_no_news;
    lockstep_random m_random;
    std::uint32_t m_sources = 1;
    std::uint32_t m_vls = 1;
    std::array<std::uint32_t, max_data_vls> m_share{};
    std::uint32_t m_sizes = 0;
    std::uint32_t m_takes_wire = 1024;
    std::uint32_t m_takes_sent = 1024;
    std::uint32_t m_datagrams = 0;
    std::uint32_t m_credits = 0;
    std::uint32_t m_credit_per_1024 = 0;
    std::uint32_t m_strange_per_1024 = 0;
    std::uint32_t m_own_per_1024 = 0;
    std::uint32_t m_at_once_per_1024 = 0;
    std::array<peer_state, max_data_vls> m_peer{};
    std::array<std::uint16_t, max_data_vls> m_own_fccl{};
};

std::size_t declare_rates(coverage& covered) {
    const std::size_t first = covered.size();
    for (const rate& r : rates) {
        covered.point(r.name);
    }
    return first;
}

/// Which situations a cycle has shown.
class onlooker {
public:
    onlooker(rtl_link_tx& block, coverage& covered)
        : m_block(block),
          m_coverage(covered),
          m_rates(declare_rates(covered)),
          m_vls{covered.point("1 data VL, 1 source"), covered.point("2 data VLs, 2 sources"),
                covered.point("15 data VLs, 2 sources")},
          m_at_byte(covered.point("start at the byte at which the one before ended")),
          m_fresh(covered.point("start at the edge: the packet has just come")),
          m_credits_came(covered.point("start at the edge: its credits have just come")),
          m_idle(covered.point("start on an idle wire")),
          m_within(covered.point("ends within the cycle in which it begins")),
          m_next_cycle(covered.point("starts in consecutive cycles")),
          m_sources(covered.points("packet of source", 2)),
          m_both(covered.point("both sources of a VL show a packet")),
          m_stall(covered.point("packet without credits")),
          m_high(covered.points("high limit 0, 1, 2, 255: high table", 4)),
          m_high_low(covered.points("high limit 0, 1, 2, 255: low behind high", 4)),
          m_high_high(covered.points("high limit 0, 1, 2, 255: high behind high", 4)),
          m_no_table(covered.point("packet of a VL in no table")),
          m_init(covered.point("flow control at the start")),
          m_periodic(covered.point("flow control at the end of a period")),
          m_silent(covered.point("a period without flow control")),
          m_at_once(covered.point("flow control in the cycle of its update")),
          m_before_packet(covered.point("flow control before a packet")),
          m_repeat(covered.point("flow control repeated for ever")),
          m_fctbs_wraps(covered.point("FCTBS wraps around")),
          m_last_vl(covered.point("flow control of the last VL")),
          m_notice(covered.point("notice of a datagram")),
          m_refused(covered.point("the wire takes nothing")),
          m_notice_refused(covered.point("no room for a notice")),
          m_delayed(covered.point("a delayed packet takes the wire's cycle")),
          m_lost(covered.point("lost")),
          m_free_while_lost(covered.point("a lost packet takes its time")) {}

    void reset(const link_config& config, std::uint32_t sources, std::size_t rate, std::uint64_t period,
               bool repeats) {
        m_config = config;
        m_source_count = sources;
        m_rate = rate;
        m_period = period;
        m_repeats = repeats;
        m_last = {};
        m_last_at = 0;
        m_last_high = false;
        m_was_packet = false;
        m_flow_at_boundary = 0;
        m_fctbs = {};
        m_before = {};
        m_from_high = m_block.verilog().verilog().find("trace_from_high_o");
    }

    void look(cycle_t now) {
        const auto& c = m_block.counters();
        const wire_start* s = m_block.started();
        m_coverage.hit_if(c.credit_stalls > m_before.credit_stalls, m_stall);
        m_coverage.hit_if(c.lost > m_before.lost, m_lost);
        const std::uint32_t vls = m_config.data_vls;
        const std::uint32_t shown = m_block.shown();
        const std::uint32_t every = (1u << vls) - 1;
        if (m_source_count == 2) {
            m_coverage.hit_if((shown & shown >> vls & every) != 0, m_both);
        }
        for (std::uint32_t vl = 0; vl < vls; ++vl) {
            const bool in_none = m_config.high_weight[vl] == 0 && m_config.low_weight[vl] == 0;
            m_coverage.hit_if(in_none && (shown >> vl & 1u) != 0, m_no_table);
        }
        const bool ends_period = now % m_period == 0;
        if (s == nullptr) {
            const bool taken = m_block.wire_o.core().was_pushed();
            m_coverage.hit_if(taken, m_delayed);
            const bool wire = m_block.wire_o.core().is_ready();
            m_coverage.hit_if(shown != 0 && !taken && !wire, m_refused);
            m_coverage.hit_if(shown != 0 && wire && !m_block.sent_o.core().is_ready(), m_notice_refused);
        } else if (s->is_flow_control) {
            look_at_flow_control(*s, now, shown, ends_period);
        } else {
            look_at_packet(*s, now);
        }
        if (ends_period) {
            m_coverage.hit_if(now > m_period && c.flow_control_packets == m_flow_at_boundary, m_silent);
            m_flow_at_boundary = c.flow_control_packets;
        }
        if (s != nullptr) {
            m_coverage.hit_if(m_last_at + 1 == now, m_next_cycle);
            m_last = *s;
            m_last_at = now;
        }
        m_before = c;
    }

private:
    void look_at_flow_control(const wire_start& s, cycle_t now, std::uint32_t shown, bool ends_period) {
        ib::flow_control_packet f;
        ib::decode(s.flow_control, f);
        m_coverage.hit_if(f.op == 1, m_init);
        m_coverage.hit_if(f.op == 0 && ends_period, m_periodic);
        m_coverage.hit_if(m_repeats && ends_period && now > 4 * m_period, m_repeat);
        m_coverage.hit_if(shown != 0, m_before_packet);
        m_coverage.hit_if(f.fctbs < m_fctbs[f.vl], m_fctbs_wraps);
        m_coverage.hit_if(f.vl + 1u == m_config.data_vls && f.vl != 0, m_last_vl);
        m_fctbs[f.vl] = f.fctbs;
        m_coverage.hit_if(m_block.credit_i.core().was_popped() && f.op == 0 && !ends_period, m_at_once);
    }

    void look_at_packet(const wire_start& s, cycle_t now) {
        m_coverage.hit(m_rates + m_rate);
        const std::uint32_t vls = m_config.data_vls;
        m_coverage.hit(m_vls[vls == 1 ? 0 : vls == 2 ? 1 : 2]);
        const auto queue = static_cast<std::uint32_t>(s.handle >> 40) - 1;
        m_coverage.hit(m_sources + queue / vls);
        const bool was_idle = m_last.last_byte_cycle < now;
        const bool fresh = (m_block.fresh() >> queue & 1u) != 0;
        m_coverage.hit_if(s.first_byte_cycle < now, m_at_byte);
        m_coverage.hit_if(was_idle, m_idle);
        m_coverage.hit_if(!was_idle && s.first_byte_cycle == now && fresh, m_fresh);
        m_coverage.hit_if(
            !was_idle && s.first_byte_cycle == now && !fresh && m_block.credit_i.core().was_popped(),
            m_credits_came);
        m_coverage.hit_if(s.last_byte_cycle <= now, m_within);
        m_coverage.hit_if(m_block.sent_o.core().was_pushed(), m_notice);
        m_coverage.hit_if(m_block.counters().lost > m_before.lost && s.last_byte_cycle > now + 1,
                          m_free_while_lost);
        if (m_from_high) {
            const bool high = m_from_high.get() != 0;
            const std::size_t limit = m_config.high_limit == 255 ? 3 : m_config.high_limit;
            m_coverage.hit_if(high, m_high + limit);
            m_coverage.hit_if(m_was_packet && m_last_high && !high, m_high_low + limit);
            m_coverage.hit_if(m_was_packet && m_last_high && high, m_high_high + limit);
            m_last_high = high;
            m_was_packet = true;
        }
    }

    rtl_link_tx& m_block;
    coverage& m_coverage;
    std::size_t m_rates;
    std::array<std::size_t, 3> m_vls;
    std::size_t m_at_byte, m_fresh, m_credits_came, m_idle, m_within, m_next_cycle, m_sources, m_both,
        m_stall;
    std::size_t m_high, m_high_low, m_high_high, m_no_table;
    std::size_t m_init, m_periodic, m_silent, m_at_once, m_before_packet, m_repeat, m_fctbs_wraps, m_last_vl;
    std::size_t m_notice, m_refused, m_notice_refused, m_delayed, m_lost, m_free_while_lost;
    link_config m_config;
    std::uint32_t m_source_count = 1;
    std::size_t m_rate = 0;
    std::uint64_t m_period = 1;
    bool m_repeats = false;
    wire_start m_last;
    cycle_t m_last_at = 0;
    bool m_last_high = false;
    bool m_was_packet = false;
    std::uint64_t m_flow_at_boundary = 0;
    std::array<std::uint16_t, max_data_vls> m_fctbs{};
    link_tx::counters_t m_before;
    verilog_pin m_from_high;
};

}  // namespace

struct link_tx_bench::parts {
    parts(clock_domain& domain, load& offered, coverage& covered)
        : block("link_tx", domain, pool, link_tx::source_count, rtl_mode::shadow),
          stimulus("driver", domain, pool, offered, covered),
          watcher(block, covered) {}
    ib::packet_pool pool;
    rtl_link_tx block;
    driver stimulus;
    onlooker watcher;
};

link_tx_bench::link_tx_bench(const sc_core::sc_module_name& name)
    : lockstep_bench(name, "link_tx"), m_parts(std::make_unique<parts>(domain(), offered(), covered())) {
    parts& p = *m_parts;
    for (std::uint32_t s = 0; s < link_tx::source_count; ++s) {
        for (std::uint32_t vl = 0; vl < max_data_vls; ++vl) {
            join<ib::packet*>(*p.stimulus.packet_o[s * max_data_vls + vl], p.block.packet_i(s, vl),
                              queue_packets);
        }
    }
    join<credit_update>(p.stimulus.credit_o, p.block.credit_i);
    join<ib::packet*>(p.block.wire_o, p.stimulus.wire_i, 8, 3);
    join<sent_notice>(p.block.sent_o, p.stimulus.sent_i);
    p.block.compared = [this] { m_parts->watcher.look(domain().now()); };
}

link_tx_bench::~link_tx_bench() = default;

rtl_block& link_tx_bench::verilog() { return m_parts->block.verilog(); }

std::vector<std::map<std::string, std::uint64_t>> link_tx_bench::sizes_of_mutants() const {
    return {{{"VLS", 2}, {"SOURCES", 2}}};
}

void link_tx_bench::reset_block(lockstep_random& random) {
    // Three designs; most of the time the one that the card has.
    const std::uint32_t design = small_only() ? 0 : random.below(6);
    link_config config;
    config.data_vls = design == 4 ? 1 : design == 5 ? 15 : 2;
    const std::uint32_t sources = design == 4 ? 1 : 2;
    const std::size_t slow = random.below(8) == 0 ? 4 : 0;  // little happens at the slow rates
    const std::size_t chosen = slow == 0 ? random.below(4) : slow + random.below(3);
    const rate& r = rates[chosen];
    config.speed = r.speed;
    config.width = r.width;
    config.framing_bytes = random.one_of<std::uint32_t>({0, 2, 16});
    config.vl_buffer_bytes = random.one_of<std::uint32_t>({4224, 32768, 130048});
    config.high_limit = random.one_of<std::uint32_t>({0, 1, 2, 255});
    // Tables that share the VLs, and any tables: a VL in both, a VL in none.
    const bool shares = random.below(2) == 0;
    for (std::uint32_t vl = 0; vl < config.data_vls; ++vl) {
        config.low_weight[vl] = random.one_of<std::uint32_t>({0, 1, 3, 64, 255});
        config.high_weight[vl] = random.one_of<std::uint32_t>({0, 0, 1, 40, 255});
        if (shares) {
            const std::uint32_t weight = random.one_of<std::uint32_t>({1, 3, 64, 255});
            const bool high = random.below(2) == 0;
            config.low_weight[vl] = high ? 0 : weight;
            config.high_weight[vl] = high ? weight : 0;
        }
    }
    if (random.below(4) == 0) {
        for (const packet_class c : {packet_class::request, packet_class::response, packet_class::datagram}) {
            fault_config& f = config.faults[static_cast<std::size_t>(c)];
            f.loss = 0.1;
            f.delay = 0.1;
            f.delay_ns = random.one_of<std::uint64_t>({4, 100, 3000});
            f.corruption = 0.05;
        }
    }
    const bool repeats = random.below(4) == 0;
    if (repeats) {
        config.faults[static_cast<std::size_t>(packet_class::flow_control)].loss = 0.1;
    }
    parts& p = *m_parts;
    p.pool.reclaim();
    p.block.set_sources(sources);
    p.block.reset(config, r.clock_mhz, random.bits());
    serializer wire;
    wire.reset(config.speed, config.width, r.clock_mhz);
    p.watcher.reset(config, sources, chosen, wire.cycles_of(65536), repeats);
    p.stimulus.reset(random, sources, config.data_vls, calm());
}

}  // namespace hcasim
