#include "rtl_cosim/lockstep/doorbell_unit_bench.h"

#include <vector>

#include "rtl_cosim/wrap/rtl_doorbell_unit.h"

namespace hcasim {

namespace {

class driver final : public clocked_module {
public:
    driver(const sc_core::sc_module_name& name, clock_domain& domain, load& offered, coverage& covered)
        : clocked_module(name, domain),
          write_o("write_o", *this),
          send_i("send_i", *this),
          receive_i("receive_i", *this),
          cq_i("cq_i", *this),
          m_load(offered),
          m_coverage(covered),
          m_types(covered.points("doorbell type", 5)),
          m_fresh(covered.point("index ahead")),
          m_stale(covered.point("index behind or equal")),
          m_wraps(covered.point("index wraps around")),
          m_half(covered.point("index half the window ahead")),
          m_alias(covered.point("two QPNs of one slot")) {}

    out_port<doorbell_write> write_o;
    in_port<send_doorbell> send_i;
    in_port<receive_doorbell> receive_i;
    in_port<cq_doorbell> cq_i;

    void reset(lockstep_random& random, std::uint32_t qps, bool calm) {
        m_random.seed(random.bits());
        m_qps = qps;
        // Few QPs coalesce, many fill the FIFO.
        m_used = random.one_of<std::uint32_t>({1, 3, qps / 2, qps});
        m_aliases = random.chance(300);
        m_others = random.one_of<std::uint32_t>({0, 50, 700});
        m_takes = calm ? 1024 : random.one_of<std::uint32_t>({1024, 700, 100, 20});
        m_indices.assign(qps, 0);
        for (auto& index : m_indices) {
            index = static_cast<std::uint16_t>(random.bits());
        }
        m_last_qpn.assign(qps, 0);
    }

    void tick() override {
        if (write_o.can_push() && m_load.offers(m_random)) {
            write_o.push({make()});
        }
        if (send_i.can_pop() && m_random.chance(m_takes)) {
            send_i.drop();
        }
        if (receive_i.can_pop() && m_random.chance(m_takes)) {
            receive_i.drop();
        }
        if (cq_i.can_pop() && m_random.chance(m_takes)) {
            cq_i.drop();
        }
    }

private:
    std::uint64_t make() {
        std::uint32_t type = 0;
        if (m_random.chance(m_others)) {
            type = m_random.one_of<std::uint32_t>({1, 2, 3, 4, 255});
        }
        m_coverage.hit(m_types + (type < 4 ? type : 4));
        const std::uint32_t slot = m_random.below(m_used);
        std::uint32_t qpn = slot;
        if (m_aliases && m_random.chance(400)) {
            // In any of the bits above the slot.
            qpn ^= m_qps << m_random.below(4) * 4;
        }
        if (type != 0) {
            return std::uint64_t{type} << 56 | std::uint64_t{qpn} << 32 | (m_random.bits() & 0xffffu);
        }
        m_coverage.hit_if(qpn != m_last_qpn[slot], m_alias);
        m_last_qpn[slot] = qpn;
        std::uint16_t& index = m_indices[slot];
        std::uint16_t offered = index;
        const std::uint32_t kind = m_random.below(16);
        if (kind < 10) {
            offered = static_cast<std::uint16_t>(index + 1 + m_random.below(4));
        } else if (kind < 13) {
            offered = static_cast<std::uint16_t>(index - m_random.below(5));
        } else if (kind < 15) {
            offered = static_cast<std::uint16_t>(index + 0x7ff0 + m_random.below(32));
            m_coverage.hit(m_half);
        } else {
            offered = static_cast<std::uint16_t>(m_random.bits());
        }
        const bool ahead = static_cast<std::int16_t>(offered - index) > 0;
        m_coverage.hit(ahead ? m_fresh : m_stale);
        m_coverage.hit_if(ahead && offered < index, m_wraps);
        if (ahead) {
            index = offered;
        }
        // What is above and between the fields must not matter.
        return std::uint64_t{qpn} << 32 | (m_random.bits() & 0xffff0000u) | offered;
    }

    load& m_load;
    coverage& m_coverage;
    std::size_t m_types, m_fresh, m_stale, m_wraps, m_half, m_alias;
    lockstep_random m_random;
    std::uint32_t m_qps = 1;
    std::uint32_t m_used = 1;
    std::uint32_t m_others = 0;
    std::uint32_t m_takes = 1024;
    bool m_aliases = false;
    std::vector<std::uint16_t> m_indices;  // by slot: newest offered
    std::vector<std::uint32_t> m_last_qpn;
};

// What happened, as the model has it.
class situations {
public:
    situations(rtl_doorbell_unit& block, coverage& covered)
        : m_block(block), m_coverage(covered), m_levels(covered.points("FIFO level", 5)) {
        const auto point = [&](const char* name) { return m_coverage.point(name); };
        m_coalesced = point("doorbell coalesced");
        m_coalesced_full = point("doorbell coalesced while the FIFO is full");
        m_stale = point("doorbell stale in the FIFO");
        m_found_full = point("doorbell found the FIFO full");
        m_card_full = point("FIFO of 32 full");
        m_unknown = point("unknown doorbell dropped");
        m_separate = point("doorbell not coalesced by configuration");
        m_leaving = point("doorbell of the QP that leaves in this cycle");
        m_front = point("doorbell of the QP at the front, which waits");
        m_freed = point("place freed while a doorbell waits for it");
        m_through = point("one enters and one leaves in a cycle");
        m_receive_waits = point("receive doorbell waits for its channel");
        m_cq_waits = point("CQ doorbell waits for its channel");
    }
    void reset(const doorbell_unit_config& config) {
        m_depth = config.fifo_depth;
        m_coalesces = config.coalesce;
        m_before = {};
        m_level = 0;
    }
    void look() {
        const auto& c = m_block.counters();
        const std::uint32_t level = m_block.fifo_level();
        const bool left = m_block.send_o.core().was_pushed();
        const bool entered = level + (left ? 1 : 0) > m_level;
        const auto hit_if = [this](bool happened, std::size_t p) { m_coverage.hit_if(happened, p); };
        if (level < 5) {
            m_coverage.hit(m_levels + level);
        }
        hit_if(c.coalesced > m_before.coalesced, m_coalesced);
        hit_if(c.coalesced > m_before.coalesced && m_level == m_depth, m_coalesced_full);
        hit_if(c.stale > m_before.stale, m_stale);
        hit_if(c.full_events > m_before.full_events, m_found_full);
        hit_if(level == 32, m_card_full);
        hit_if(c.unknown > m_before.unknown, m_unknown);
        hit_if(!m_coalesces && c.received > m_before.received, m_separate);
        hit_if(entered && left, m_through);
        if (m_block.write().has_input()) {
            const ib::doorbell d = ib::decode_doorbell(m_block.write().message().word);
            const bool taken = m_block.write_i.core().was_popped();
            if (d.type == ib::doorbell_type::send_queue) {
                hit_if(taken && left && m_block.send_o.core().back().qpn == d.number, m_leaving);
                hit_if(!taken && left, m_freed);
                hit_if(c.coalesced > m_before.coalesced && m_level == 1, m_front);
            } else {
                hit_if(!taken && d.type == ib::doorbell_type::receive_queue, m_receive_waits);
                hit_if(!taken && d.type != ib::doorbell_type::receive_queue, m_cq_waits);
            }
        }
        m_before = c;
        m_level = level;
    }

private:
    rtl_doorbell_unit& m_block;
    coverage& m_coverage;
    doorbell_unit::counters_t m_before;
    std::uint32_t m_level = 0;
    std::uint32_t m_depth = 1;
    bool m_coalesces = true;
    std::size_t m_levels;
    std::size_t m_coalesced, m_coalesced_full, m_stale, m_found_full, m_card_full, m_unknown, m_separate,
        m_leaving, m_front, m_freed, m_through, m_receive_waits, m_cq_waits;
};

}  // namespace

struct doorbell_unit_bench::parts {
    parts(clock_domain& domain, load& offered, coverage& covered)
        : block("doorbell_unit", domain, rtl_mode::shadow),
          stimulus("driver", domain, offered, covered),
          watched(block, covered) {
        block.look = [this] { watched.look(); };
    }
    rtl_doorbell_unit block;
    driver stimulus;
    situations watched;
};

doorbell_unit_bench::doorbell_unit_bench(const sc_core::sc_module_name& name)
    : lockstep_bench(name, "doorbell_unit"),
      m_parts(std::make_unique<parts>(domain(), offered(), covered())) {
    parts& p = *m_parts;
    join<doorbell_write>(p.stimulus.write_o, p.block.write_i);
    join<send_doorbell>(p.block.send_o, p.stimulus.send_i);
    join<receive_doorbell>(p.block.receive_o, p.stimulus.receive_i);
    join<cq_doorbell>(p.block.cq_o, p.stimulus.cq_i);
}

doorbell_unit_bench::~doorbell_unit_bench() = default;

rtl_block& doorbell_unit_bench::verilog() { return m_parts->block.verilog(); }

std::vector<std::map<std::string, std::uint64_t>> doorbell_unit_bench::sizes_of_mutants() const {
    return {{{"QPS", 16}, {"DEPTH", 4}}};
}

void doorbell_unit_bench::reset_block(lockstep_random& random) {
    doorbell_unit_config config;
    // Two designs: one small enough to be full all the time, one as the card has it.
    const bool small = random.below(4) != 0 || small_only();
    const std::uint32_t qps = small ? 16 : 1024;
    config.fifo_depth = small ? 4 : 32;
    config.coalesce = verilog().policy("cfg_coalesce_i", random.below(4)) != 0;
    m_parts->block.reset(config, qps);
    m_parts->watched.reset(config);
    m_parts->stimulus.reset(random, qps, calm());
}

}  // namespace hcasim
