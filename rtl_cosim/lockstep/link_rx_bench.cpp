#include "rtl_cosim/lockstep/link_rx_bench.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <vector>

#include "model/ib/byte_order.h"
#include "model/ib/crc.h"
#include "model/link/link_tx.h"
#include "rtl_cosim/wrap/rtl_link_rx.h"

namespace hcasim {

namespace {

constexpr std::uint32_t wire_depth = 8;
constexpr std::uint32_t wire_latency_cycles = 3;
constexpr std::uint32_t longest_cycles = 85;  // of a packet at 4X EDR

/// The peer's transmitter, our receive engine and our transmitter in one.
class driver final : public clocked_module {
public:
    driver(const sc_core::sc_module_name& name, clock_domain& domain, ib::packet_pool& pool, load& offered,
           coverage& covered)
        : clocked_module(name, domain),
          wire_o("wire_o", *this),
          packet_i("packet_i", *this),
          credit_i("credit_i", *this),
          m_pool(pool),
          m_load(offered),
          m_coverage(covered),
          m_no_gap(covered.point("packets without a gap")),
          m_every_cycle(covered.point("a packet in every cycle")),
          m_overlap(covered.point("packet that begins behind another and ends before it")),
          m_late(covered.point("late packet")),
          m_bad_vcrc(covered.point("packet with wrong VCRC sent")),
          m_bad_lpcrc(covered.points("flow control with wrong bit in byte", ib::flow_control_packet_bytes)),
          m_no_vl(covered.point("packet of a VL that is not there")),
          m_no_flow_vl(covered.point("flow control of a VL that is not there")),
          m_lost(covered.point("lost on the wire")),
          m_unchanged(covered.point("flow control without news")),
          m_sent_wraps(covered.point("FCTBS wraps around")),
          m_exhausted(covered.point("peer has used up its credits")) {}

    out_port<ib::packet*> wire_o;
    in_port<ib::packet*> packet_i;
    in_port<credit_update> credit_i;

    // VLs of the flow-control packets on their way, in order; -1 for one that is not good.
    std::deque<int> flow_vls;

    void reset(lockstep_random& random, const link_config& config, bool overlaps, bool calm) {
        m_random.seed(random.bits());
        m_vls = config.data_vls;
        m_overlaps = overlaps;
        m_longest = m_random.one_of<std::uint32_t>({1, 3, 22, longest_cycles});
        m_sizes = m_random.below(3);
        m_flow = m_random.one_of<std::uint32_t>({20, 100, 500, 900});
        m_bad = m_random.one_of<std::uint32_t>({0, 0, 60, 200});
        m_loses = m_random.one_of<std::uint32_t>({0, 0, 30, 200});
        // A peer that takes no notice of credits overruns the buffers.
        m_obeys = m_random.below(4) != 0;
        m_takes_packets = calm ? 1024 : m_random.one_of<std::uint32_t>({1024, 1024, 300, 20, 4});
        m_takes_credits = calm ? 1024 : m_random.one_of<std::uint32_t>({1024, 1024, 300, 30});
        m_free = 0;
        m_last_push = 0;
        m_newest_end = 0;
        for (auto& v : m_peer) {
            v = {};
            v.limit = config.vl_buffer_bytes / credit_block_bytes;
        }
        m_shares = m_random.below(2) == 0;
        flow_vls.clear();
    }

    void tick() override {
        if (packet_i.can_pop() && m_random.chance(m_takes_packets)) {
            m_pool.put(packet_i.pop());
        }
        if (credit_i.can_pop() && m_random.chance(m_takes_credits)) {
            const credit_update u = credit_i.pop();
            if (!u.from_peer) {
                m_peer[u.vl].limit = u.fccl;
            }
        }
        if (now() < m_free || !wire_o.can_push() || !m_load.offers(m_random)) {
            return;
        }
        ib::packet* p = m_random.chance(m_flow) ? make_flow_control() : make_packet();
        if (p == nullptr) {
            return;
        }
        std::uint32_t cycles = m_random.below(m_longest + 1);
        if (p->is_flow_control) {
            cycles = std::min(cycles, 1u);
        }
        p->last_byte_cycle = now() + cycles;
        if (m_overlaps && m_random.below(2) == 0) {
            m_free = now() + 1;  // delayed: it does not take the wire
        } else {
            m_free = std::max<cycle_t>(p->last_byte_cycle, now() + 1);
        }
        m_coverage.hit_if(m_newest_end > p->last_byte_cycle, m_overlap);
        m_coverage.hit_if(m_newest_end == now(), m_no_gap);
        m_coverage.hit_if(m_last_push + 1 == now() && m_pushed_before == m_last_push, m_every_cycle);
        m_newest_end = std::max(m_newest_end, p->last_byte_cycle);
        m_pushed_before = m_last_push + 1 == now() ? now() : 0;
        m_last_push = now();
        wire_o.push(p);
    }

private:
    struct peer_state {
        std::uint32_t sent = 0;  // FCTBS
        std::uint32_t limit = 0;
        std::uint16_t fccl = 0;
    };

    std::uint32_t some_vl() {
        // All VLs alike, or the first one most of the time.
        return m_shares || m_random.below(8) == 0 ? m_random.below(m_vls) : 0;
    }

    ib::packet* make_flow_control() {
        ib::packet* p = m_pool.get();
        p->is_flow_control = true;
        p->size_bytes = ib::flow_control_packet_bytes;
        ib::flow_control_packet f;
        f.op = static_cast<std::uint8_t>(m_random.below(2));
        f.vl = static_cast<std::uint8_t>(some_vl());
        peer_state& peer = m_peer[f.vl];
        f.fctbs = static_cast<std::uint16_t>(peer.sent);
        if (m_random.below(3) != 0) {
            peer.fccl = static_cast<std::uint16_t>(m_random.bits() & 0xfffu);
        } else {
            m_coverage.hit(m_unchanged);
        }
        f.fccl = peer.fccl;
        p->vl = f.vl;
        bool good = true;
        if (m_random.chance(m_bad) && m_random.below(2) == 0) {
            f.vl = static_cast<std::uint8_t>(m_vls + m_random.below(16 - m_vls));
            m_coverage.hit(m_no_flow_vl);
            good = false;
        }
        ib::encode(f, p->bytes);
        if (m_random.chance(m_bad)) {
            const std::uint32_t bit = m_random.below(8 * ib::flow_control_packet_bytes);
            p->bytes[bit / 8] = static_cast<std::uint8_t>(p->bytes[bit / 8] ^ 1u << bit % 8);
            m_coverage.hit(m_bad_lpcrc + bit / 8);
            good = false;
        }
        flow_vls.push_back(good ? f.vl : -1);
        return p;
    }

    ib::packet* make_packet() {
        constexpr auto smallest =
            static_cast<std::uint32_t>(ib::lrh_bytes + ib::bth_bytes + ib::icrc_bytes + ib::vcrc_bytes);
        constexpr auto largest = static_cast<std::uint32_t>(ib::max_packet_bytes);
        std::uint32_t vl = some_vl();
        std::uint32_t bytes = smallest + m_random.below(m_sizes == 0 ? 40 : m_sizes == 1 ? 600 : 4199);
        if (m_random.below(16) == 0) {
            bytes = m_random.one_of<std::uint32_t>({smallest, 64, 65, 127, 128, 129, largest});
        }
        peer_state& peer = m_peer[vl];
        const std::uint32_t blocks = credit_blocks(bytes);
        const bool has_credits = (peer.limit - peer.sent - blocks) % credit_modulus < credit_modulus / 2;
        if (m_obeys && !has_credits) {
            m_coverage.hit(m_exhausted);
            return nullptr;
        }
        const std::uint32_t after = (peer.sent + blocks) % credit_modulus;
        m_coverage.hit_if(after < peer.sent, m_sent_wraps);
        peer.sent = after;
        if (m_random.chance(m_loses)) {
            m_coverage.hit(m_lost);
            return nullptr;
        }
        if (m_random.chance(m_bad) && m_random.below(4) == 0) {
            vl = m_vls + m_random.below(16 - m_vls);
            m_coverage.hit(m_no_vl);
        }
        ib::packet* p = m_pool.get();
        p->size_bytes = bytes;
        p->vl = static_cast<std::uint8_t>(vl);
        std::fill_n(p->bytes, bytes, static_cast<std::uint8_t>(m_random.bits()));
        p->bytes[0] = static_cast<std::uint8_t>(vl << 4 | m_random.below(16));
        ib::store_le16(p->bytes + bytes - ib::vcrc_bytes, ib::vcrc(p->bytes, bytes - ib::vcrc_bytes));
        if (m_random.chance(m_bad)) {
            const std::uint32_t bit = 8 + m_random.below(8 * (bytes - 1));
            p->bytes[bit / 8] = static_cast<std::uint8_t>(p->bytes[bit / 8] ^ 1u << bit % 8);
            m_coverage.hit(m_bad_vcrc);
        }
        p->late = m_overlaps && m_random.below(4) == 0;
        m_coverage.hit_if(p->late, m_late);
        return p;
    }

    ib::packet_pool& m_pool;
    load& m_load;
    coverage& m_coverage;
    std::size_t m_no_gap, m_every_cycle, m_overlap, m_late, m_bad_vcrc, m_bad_lpcrc, m_no_vl, m_no_flow_vl;
    std::size_t m_lost, m_unchanged, m_sent_wraps, m_exhausted;
    lockstep_random m_random;
    std::uint32_t m_vls = 1;
    bool m_overlaps = false;
    bool m_obeys = true;
    bool m_shares = true;
    std::uint32_t m_longest = 1;
    std::uint32_t m_sizes = 0;
    std::uint32_t m_flow = 0;
    std::uint32_t m_bad = 0;
    std::uint32_t m_loses = 0;
    std::uint32_t m_takes_packets = 1024;
    std::uint32_t m_takes_credits = 1024;
    cycle_t m_free = 0;
    cycle_t m_last_push = 0;
    cycle_t m_pushed_before = 0;
    cycle_t m_newest_end = 0;
    std::array<peer_state, max_data_vls> m_peer{};
};

/// Which situations a cycle has shown.
class onlooker {
public:
    onlooker(rtl_link_rx& block, driver& peer, coverage& covered)
        : m_block(block),
          m_peer(peer),
          m_coverage(covered),
          m_vl_counts{covered.point("1 data VL"), covered.point("2 data VLs"), covered.point("15 data VLs")},
          m_big(covered.point("buffer of 2032 blocks")),
          m_pipeline_full(covered.point("pipeline holds rx_pipeline_cycles + 1")),
          m_at_once(covered.point("received in the cycle in which it arrives")),
          m_from_buffer(covered.point("received from a buffer")),
          m_in_turn(covered.point("packets of different VLs in consecutive cycles")),
          m_refused(covered.point("receive engine takes nothing")),
          m_vcrc_error(covered.point("VCRC error")),
          m_overrun(covered.point("overrun")),
          m_resync(covered.point("FCTBS names blocks that never came")),
          m_flow_error(covered.point("flow control is dropped")),
          m_limit(covered.point("limit told in the cycle in which it arrives")),
          m_limit_waits(covered.point("limit waits for the channel")),
          m_limit_replaced(covered.point("a newer limit takes the place of one that waits")),
          m_limits_wait(covered.point("limits of two VLs wait")),
          m_limit_first(covered.point("own FCCL waits for a limit")),
          m_own(covered.points("own FCCL, at once", 2)),
          m_merged(covered.point("several changes in one report")),
          m_own_waits(covered.point("own FCCL waits for the channel")),
          m_fccl_wraps(covered.point("own FCCL wraps around")) {}

    void reset(const link_config& config) {
        m_config = config;
        m_popped = 0;
        m_waits = {};
        m_changes = {};
        m_fccl = {};
        m_last_vl = 99;
        m_last_at = 0;
        m_before = {};
    }

    void look(cycle_t now) {
        const auto& c = m_block.counters();
        m_coverage.hit(m_vl_counts[m_config.data_vls == 1 ? 0 : m_config.data_vls == 2 ? 1 : 2]);
        m_coverage.hit_if(m_config.vl_buffer_bytes == 130048, m_big);
        m_popped += m_block.wire_i.core().was_popped() ? 1 : 0;
        const std::uint64_t inside = m_popped - c.packets - c.flow_control_packets;
        m_coverage.hit_if(inside == m_config.rx_pipeline_cycles + 1, m_pipeline_full);
        const bool arrived = c.packets > m_before.packets;
        const bool dropped = c.vcrc_errors + c.overruns > m_before.vcrc_errors + m_before.overruns;
        auto& packets = m_block.packet_o.core();
        if (packets.was_pushed()) {
            const ib::packet* p = packets.back();
            const std::uint32_t vl = p->bytes[0] >> 4;
            const bool is_newest = arrived && m_block.handle_of(p) == m_block.last_arrived();
            m_coverage.hit(is_newest ? m_at_once : m_from_buffer);
            m_coverage.hit_if(m_last_at + 1 == now && m_last_vl != vl, m_in_turn);
            m_last_vl = vl;
            m_last_at = now;
            ++m_changes[vl];
        } else {
            m_coverage.hit_if(arrived && !dropped, m_refused);
        }
        m_coverage.hit_if(c.vcrc_errors > m_before.vcrc_errors, m_vcrc_error);
        m_coverage.hit_if(c.overruns > m_before.overruns, m_overrun);
        m_coverage.hit_if(c.resyncs > m_before.resyncs, m_resync);
        m_coverage.hit_if(c.flow_control_errors > m_before.flow_control_errors, m_flow_error);
        int flow_vl = -1;
        if (c.flow_control_packets > m_before.flow_control_packets) {
            flow_vl = m_peer.flow_vls.front();
            m_peer.flow_vls.pop_front();
        }
        if (flow_vl >= 0) {
            bool& waits = m_waits[static_cast<std::size_t>(flow_vl)];
            m_coverage.hit_if(waits, m_limit_replaced);
            waits = true;
        }
        look_at_credits(flow_vl);
        m_before = c;
    }

private:
    void look_at_credits(int flow_vl) {
        auto& credits = m_block.credit_o.core();
        const auto waiting = std::count(m_waits.begin(), m_waits.end(), true);
        if (!credits.was_pushed()) {
            m_coverage.hit_if(waiting > 0, m_limit_waits);
            m_coverage.hit_if(waiting > 1, m_limits_wait);
            for (std::uint32_t vl = 0; vl < m_config.data_vls; ++vl) {
                m_coverage.hit_if(m_changes[vl] != 0, m_own_waits);
            }
            return;
        }
        const credit_update& u = credits.back();
        if (u.from_peer) {
            m_coverage.hit_if(flow_vl == u.vl, m_limit);
            m_waits[u.vl] = false;
            for (std::uint32_t vl = 0; vl < m_config.data_vls; ++vl) {
                m_coverage.hit_if(m_changes[vl] != 0, m_limit_first);
            }
        } else {
            m_coverage.hit(m_own + (u.at_once ? 1 : 0));
            m_coverage.hit_if(m_changes[u.vl] > 1, m_merged);
            m_coverage.hit_if(u.fccl < m_fccl[u.vl], m_fccl_wraps);
            m_changes[u.vl] = 0;
            m_fccl[u.vl] = u.fccl;
        }
    }

    rtl_link_rx& m_block;
    driver& m_peer;
    coverage& m_coverage;
    std::array<std::size_t, 3> m_vl_counts;
    std::size_t m_big, m_pipeline_full, m_at_once, m_from_buffer, m_in_turn, m_refused, m_vcrc_error,
        m_overrun;
    std::size_t m_resync, m_flow_error, m_limit, m_limit_waits, m_limit_replaced, m_limits_wait,
        m_limit_first;
    std::size_t m_own, m_merged, m_own_waits, m_fccl_wraps;
    link_config m_config;
    std::uint64_t m_popped = 0;
    std::array<bool, max_data_vls> m_waits{};
    std::array<std::uint32_t, max_data_vls> m_changes{};
    std::array<std::uint16_t, max_data_vls> m_fccl{};
    std::uint32_t m_last_vl = 0;
    cycle_t m_last_at = 0;
    link_rx::counters_t m_before;
};

}  // namespace

struct link_rx_bench::parts {
    parts(clock_domain& domain, load& offered, coverage& covered)
        : block("link_rx", domain, pool, rtl_mode::shadow),
          stimulus("driver", domain, pool, offered, covered),
          watcher(block, stimulus, covered) {}
    ib::packet_pool pool;
    rtl_link_rx block;
    driver stimulus;
    onlooker watcher;
};

link_rx_bench::link_rx_bench(const sc_core::sc_module_name& name)
    : lockstep_bench(name, "link_rx"), m_parts(std::make_unique<parts>(domain(), offered(), covered())) {
    parts& p = *m_parts;
    join<ib::packet*>(p.stimulus.wire_o, p.block.wire_i, wire_depth, wire_latency_cycles);
    join<ib::packet*>(p.block.packet_o, p.stimulus.packet_i);
    join<credit_update>(p.block.credit_o, p.stimulus.credit_i);
    p.block.compared = [this] { m_parts->watcher.look(domain().now()); };
}

link_rx_bench::~link_rx_bench() = default;

rtl_block& link_rx_bench::verilog() { return m_parts->block.verilog(); }

std::vector<std::map<std::string, std::uint64_t>> link_rx_bench::sizes_of_mutants() const {
    return {{{"VLS", 2}, {"PACKETS", 128}, {"ARRIVING", 8}}};
}

void link_rx_bench::reset_block(lockstep_random& random) {
    // Few designs: small buffers are full soon; with six cycles of pipeline its eight places are just enough.
    std::uint32_t design = random.below(10);
    if (small_only() && design != 9) {
        design = 0;
    }
    link_config config;
    config.data_vls = design == 5 ? 1 : design == 6 || design == 7 ? 15 : 2;
    config.vl_buffer_bytes = design == 8 ? 130048 : random.one_of<std::uint32_t>({4224, 4288, 8192});
    config.rx_pipeline_cycles = random.one_of<std::uint32_t>({3, 4, 6});
    config.credit_update_bytes = random.one_of<std::uint32_t>({64, 128, 1000, 4096, 65536});
    parts& p = *m_parts;
    p.pool.reclaim();
    const bool overlaps = design == 9;
    p.block.set_overlaps(overlaps);
    p.block.reset(config);
    p.watcher.reset(config);
    p.stimulus.reset(random, config, overlaps, calm());
}

}  // namespace hcasim
