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
            qpn += m_qps * (1 + m_random.below(3));
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

}  // namespace

struct doorbell_unit_bench::parts {
    parts(clock_domain& domain, load& offered, coverage& covered)
        : block("doorbell_unit", domain, rtl_mode::shadow), stimulus("driver", domain, offered, covered) {}
    rtl_doorbell_unit block;
    driver stimulus;
};

doorbell_unit_bench::doorbell_unit_bench(const sc_core::sc_module_name& name)
    : lockstep_bench(name, "doorbell_unit"),
      m_parts(std::make_unique<parts>(domain(), offered(), covered())) {
    parts& p = *m_parts;
    join<doorbell_write>(p.stimulus.write_o, p.block.write_i);
    join<send_doorbell>(p.block.send_o, p.stimulus.send_i);
    join<receive_doorbell>(p.block.receive_o, p.stimulus.receive_i);
    join<cq_doorbell>(p.block.cq_o, p.stimulus.cq_i);
    // The FIFO's level and what became of a doorbell are the model's to tell.
    const std::size_t levels = covered().points("FIFO level", 5);
    const std::size_t coalesced = covered().point("doorbell coalesced");
    const std::size_t stale = covered().point("doorbell stale in the FIFO");
    const std::size_t full = covered().point("doorbell found the FIFO full");
    const std::size_t unknown = covered().point("unknown doorbell dropped");
    const std::size_t separate = covered().point("doorbell not coalesced by configuration");
    p.block.verilog().compare_more = [this, levels, coalesced, stale, full, unknown, separate,
                                      before = doorbell_unit::counters_t{}](rtl_difference&) mutable {
        const rtl_doorbell_unit& block = m_parts->block;
        const auto& c = block.counters();
        if (block.fifo_level() < 5) {
            covered().hit(levels + block.fifo_level());
        }
        covered().hit_if(c.coalesced > before.coalesced, coalesced);
        covered().hit_if(c.stale > before.stale, stale);
        covered().hit_if(c.full_events > before.full_events, full);
        covered().hit_if(c.unknown > before.unknown, unknown);
        covered().hit_if(!m_parts->block.coalesces() && c.received > before.received, separate);
        before = c;
        return false;
    };
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
    m_parts->stimulus.reset(random, qps, calm());
}

}  // namespace hcasim
