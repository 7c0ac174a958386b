#include "rtl_cosim/lockstep/qp_context_cache_bench.h"

#include <array>
#include <cstring>
#include <deque>
#include <string>
#include <vector>

#include "rtl_cosim/lockstep/context_client.h"
#include "rtl_cosim/wrap/rtl_qp_context_cache.h"

namespace hcasim {

namespace {

using qc = qp_context_cache;

constexpr std::uint64_t context_address = 0x123400000;

// Clients, listeners and host memory.
class driver final : public clocked_module {
public:
    driver(const sc_core::sc_module_name& name, clock_domain& domain, ib::packet_pool& pool, load& offered,
           coverage& covered)
        : clocked_module(name, domain),
          request_o{{{"send_request_o", *this}, {"receive_request_o", *this}, {"command_request_o", *this}}},
          response_i{
              {{"send_response_i", *this}, {"receive_response_i", *this}, {"command_response_i", *this}}},
          state_i{{{"scheduler_state_i", *this}, {"send_state_i", *this}, {"receive_state_i", *this}}},
          read_i("read_i", *this),
          read_o("read_o", *this),
          write_i("write_i", *this),
          m_pool(pool),
          m_load(offered),
          m_coverage(covered),
          m_read_back(covered.point("fill of a slot that was written back")),
          m_stranger(covered.point("read of a QPN that the slot does not hold")),
          m_modify_applied(covered.point("modify applied")),
          m_modify_refused(covered.point("modify not applied")),
          m_modify_unknown(covered.point("modify of a QPN that the slot does not hold")),
          m_create_applied(covered.point("create of a free slot")),
          m_create_refused(covered.point("create of a slot in use")) {}

    std::array<out_port<qpc_request>, qc::client_count> request_o;
    std::array<in_port<qpc_response>, qc::client_count> response_i;
    std::array<in_port<state_event>, qc::listener_count> state_i;
    in_port<dma_read> read_i;
    out_port<dma_read_done> read_o;
    in_port<dma_write> write_i;

    void reset(lockstep_random& random, std::uint32_t qps, std::uint32_t lines, bool calm) {
        m_random.seed(random.bits());
        m_contexts.clear();
        for (std::uint32_t slot = 0; slot < qps; ++slot) {
            m_contexts.push_back(context_client::any_context(m_random, slot + qps * m_random.below(4)));
        }
        m_client.reset(random, m_contexts, lines);
        m_written_back.assign(qps, false);
        m_answers.clear();
        m_operations = {};
        const auto share = [&] {
            return calm ? 1024 : random.one_of<std::uint32_t>({1024, 1024, 700, 100, 20});
        };
        for (std::uint32_t c = 0; c < qc::client_count; ++c) {
            m_takes_response[c] = share();
            m_takes_state[c] = share();
            // Not all clients ask equally often.
            m_asks[c] = random.one_of<std::uint32_t>({1024, 1024, 512, 100, 5});
        }
        m_takes_read = share();
        m_takes_write = share();
        m_answers_read = share();
        m_read_cycles = random.one_of<std::uint32_t>({0, 3, 40, 200});
    }

    void tick() override {
        for (std::uint32_t c = 0; c < qc::client_count; ++c) {
            if (response_i[c].can_pop() && m_random.chance(m_takes_response[c])) {
                look_at(response_i[c].front());
                response_i[c].drop();
            }
            if (state_i[c].can_pop() && m_random.chance(m_takes_state[c])) {
                state_i[c].drop();
            }
            if (request_o[c].can_push() && m_load.offers(m_random, m_asks[c])) {
                const qpc_request r = m_client.make(c);
                m_operations[r.cookie % m_operations.size()] = r.operation;
                request_o[c].push(r);
            }
        }
        if (write_i.can_pop() && m_random.chance(m_takes_write)) {
            const dma_write w = write_i.pop();
            const std::uint32_t slot = slot_of(w.address);
            std::memcpy(&m_contexts[slot], w.data, sizeof(ib::qp_context));
            m_written_back[slot] = true;
            m_pool.put(w.packet);
        }
        // As the host interface has it: a write of the cache goes before any read of the cache.
        if (read_i.can_pop() && !write_i.core().has_visible() && m_random.chance(m_takes_read)) {
            const dma_read r = read_i.pop();
            const std::uint32_t slot = slot_of(r.address);
            std::memcpy(r.destination, &m_contexts[slot], sizeof(ib::qp_context));
            m_coverage.hit_if(m_written_back[slot], m_read_back);
            m_answers.push_back({now() + m_random.below(m_read_cycles + 1), {r.cookie}});
        }
        if (!m_answers.empty() && m_answers.front().due <= now() && read_o.can_push() &&
            m_random.chance(m_answers_read)) {
            read_o.push(m_answers.front().done);
            m_answers.pop_front();
        }
    }

private:
    struct answer {
        cycle_t due = 0;
        dma_read_done done;
    };

    static std::uint32_t slot_of(std::uint64_t address) {
        return static_cast<std::uint32_t>((address - context_address) / ib::qp_context_slot_bytes);
    }

    void look_at(const qpc_response& r) {
        m_client.learn(r.context);
        switch (m_operations[r.cookie % m_operations.size()]) {
            case qpc_operation::modify:
                m_coverage.hit(!r.known ? m_modify_unknown : r.applied ? m_modify_applied : m_modify_refused);
                break;
            case qpc_operation::create:
                m_coverage.hit(r.applied ? m_create_applied : m_create_refused);
                break;
            default:
                m_coverage.hit_if(!r.known, m_stranger);
        }
    }

    ib::packet_pool& m_pool;
    load& m_load;
    coverage& m_coverage;
    std::size_t m_read_back, m_stranger, m_modify_applied, m_modify_refused, m_modify_unknown;
    std::size_t m_create_applied, m_create_refused;
    lockstep_random m_random;
    context_client m_client;
    std::vector<ib::qp_context> m_contexts;  // host memory, by slot
    std::vector<bool> m_written_back;
    std::deque<answer> m_answers;
    std::array<qpc_operation, 4096> m_operations{};  // by cookie
    std::array<std::uint32_t, qc::client_count> m_takes_response{};
    std::array<std::uint32_t, qc::listener_count> m_takes_state{};
    std::array<std::uint32_t, qc::client_count> m_asks{};
    std::uint32_t m_takes_read = 1024;
    std::uint32_t m_takes_write = 1024;
    std::uint32_t m_answers_read = 1024;
    std::uint32_t m_read_cycles = 0;
};

// What happens inside, by the trace pins (which the model has confirmed where it knows).
class inside {
public:
    explicit inside(coverage& covered)
        : m_coverage(covered),
          m_hit(covered.points("hit, operation", operations)),
          m_miss(covered.points("miss, operation", operations)),
          m_merged(covered.points("merged, operation", operations)),
          m_lru(covered.points("LRU takes way", 4)),
          m_plru(covered.points("pseudo-LRU takes way", 4)),
          m_dirty(covered.point("eviction of a dirty line")),
          m_clean(covered.point("eviction of a clean line")),
          m_void_write(covered.point("write back of an ended life")),
          m_to_state(covered.points("change announced to state", ib::qp_state_count)),
          m_late_opener(covered.point("late opener")),
          m_no_room(covered.point("8 answers of a client wait")),
          m_no_place(covered.point("no place to wait")),
          m_no_miss(covered.point("no miss entry")),
          m_untold(covered.point("change waits for a listener")),
          m_held(covered.point("install waits for its write-back")),
          m_passes(covered.point("hit passes a client that waits")),
          m_serves_held(covered.point("hit while an install waits for its write-back")),
          m_behind_replay(covered.point("replay, and a new request waits")),
          m_fill_in_replay(covered.point("replay, and a fill comes")),
          m_replayed_change(covered.point("replay announces a change")),
          m_replay_waits(covered.point("replay waits for room or a listener")) {}

    void bind(verilog_block& v, bool plru) {
        m_is_plru = plru;
        const std::array<const char*, pins> names = {
            "hit",         "miss",      "merged",        "replay",      "void_write",    "eviction",
            "evicted_way", "writeback", "state_changed", "late_opener", "changed_after", "no_room",
            "no_place",    "no_miss",   "untold",        "held_install"};
        m_all = true;
        for (std::size_t i = 0; i < pins; ++i) {
            m_pins[i] = v.find(std::string("trace_") + names[i] + "_o");
            m_all = m_all && m_pins[i];
        }
    }

    void look(rtl_qp_context_cache& block) {
        if (!m_all) {
            return;
        }
        const auto at = [this](pin p) { return m_pins[p].get(); };
        bool offered = false;
        for (std::uint32_t c = 0; c < qc::client_count; ++c) {
            const auto client = static_cast<qc::client>(c);
            offered = offered || block.request(client).has_input();
            if (block.request(client).fires()) {
                const auto operation = static_cast<std::size_t>(block.request(client).message().operation);
                m_coverage.hit((at(hit) != 0 ? m_hit : at(miss) != 0 ? m_miss : m_merged) + operation);
            }
        }
        if (at(eviction) != 0) {
            m_coverage.hit(at(writeback) != 0 ? m_dirty : m_clean);
            m_coverage.hit((m_is_plru ? m_plru : m_lru) + (at(evicted_way) & 3));
        }
        m_coverage.hit_if(at(void_write) != 0, m_void_write);
        if (at(state_changed) != 0) {
            m_coverage.hit(m_to_state + at(changed_after));
        }
        m_coverage.hit_if(at(late_opener) != 0, m_late_opener);
        m_coverage.hit_if(at(no_room) != 0, m_no_room);
        m_coverage.hit_if(at(no_place) != 0, m_no_place);
        m_coverage.hit_if(at(no_miss) != 0, m_no_miss);
        m_coverage.hit_if(at(untold) != 0, m_untold);
        m_coverage.hit_if(at(held_install) != 0, m_held);
        const bool lacks = at(no_room) != 0 || at(no_place) != 0 || at(no_miss) != 0 || at(untold) != 0;
        m_coverage.hit_if(at(hit) != 0 && lacks, m_passes);
        m_coverage.hit_if(at(hit) != 0 && at(held_install) != 0, m_serves_held);
        const bool replays = at(replay) != 0;
        m_coverage.hit_if(replays && offered, m_behind_replay);
        m_coverage.hit_if(replays && block.fill().has_input(), m_fill_in_replay);
        m_coverage.hit_if(replays && at(state_changed) != 0, m_replayed_change);
        m_coverage.hit_if(offered && lacks && at(held_install) == 0 && !replays && at(hit) == 0,
                          m_replay_waits);
    }

private:
    enum pin : std::size_t {
        hit,
        miss,
        merged,
        replay,
        void_write,
        eviction,
        evicted_way,
        writeback,
        state_changed,
        late_opener,
        changed_after,
        no_room,
        no_place,
        no_miss,
        untold,
        held_install,
        pins
    };
    static constexpr std::size_t operations = 5;

    coverage& m_coverage;
    std::size_t m_hit, m_miss, m_merged, m_lru, m_plru, m_dirty, m_clean, m_void_write, m_to_state;
    std::size_t m_late_opener, m_no_room, m_no_place, m_no_miss, m_untold, m_held, m_passes, m_serves_held;
    std::size_t m_behind_replay, m_fill_in_replay, m_replayed_change, m_replay_waits;
    std::array<verilog_pin, pins> m_pins;
    bool m_all = false;
    bool m_is_plru = false;
};

struct sizes {
    std::uint32_t qps, sets, ways, misses, waiting;
};

// Small enough that everything is full all the time; the least that there can be; one way per set; as the
// card has it.
constexpr sizes all_sizes[] = {{32, 2, 4, 3, 5}, {16, 1, 3, 1, 1}, {64, 8, 1, 4, 4}, {1024, 64, 4, 8, 64}};
constexpr std::size_t small = 0;

}  // namespace

struct qp_context_cache_bench::parts {
    parts(clock_domain& domain, load& offered, coverage& covered)
        : block("qp_context_cache", domain, pool, rtl_mode::shadow),
          stimulus("driver", domain, pool, offered, covered),
          watch(covered),
          design(covered.points("design", std::size(all_sizes))),
          hit_cycles(covered.points("hit_cycles", 4)) {}
    ib::packet_pool pool;
    rtl_qp_context_cache block;
    driver stimulus;
    inside watch;
    std::size_t design;
    std::size_t hit_cycles;
};

qp_context_cache_bench::qp_context_cache_bench(const sc_core::sc_module_name& name)
    : lockstep_bench(name, "qp_context_cache"),
      m_parts(std::make_unique<parts>(domain(), offered(), covered())) {
    parts& p = *m_parts;
    for (std::uint32_t c = 0; c < qc::client_count; ++c) {
        join<qpc_request>(p.stimulus.request_o[c], p.block.request_i[c]);
        join<qpc_response>(p.block.response_o[c], p.stimulus.response_i[c]);
        join<state_event>(p.block.state_o[c], p.stimulus.state_i[c]);
    }
    join<dma_read>(p.block.fill_o, p.stimulus.read_i);
    join<dma_read_done>(p.stimulus.read_o, p.block.fill_i);
    join<dma_write>(p.block.writeback_o, p.stimulus.write_i);
    p.block.compared = [this] { m_parts->watch.look(m_parts->block); };
}

qp_context_cache_bench::~qp_context_cache_bench() = default;

rtl_block& qp_context_cache_bench::verilog() { return m_parts->block.verilog(); }

std::vector<std::map<std::string, std::uint64_t>> qp_context_cache_bench::sizes_of_mutants() const {
    const sizes& s = all_sizes[small];
    return {{{"QPS", s.qps},
             {"SETS", s.sets},
             {"WAYS", s.ways},
             {"MISSES", s.misses},
             {"WAITING", s.waiting},
             {"CONTEXT_BYTES", sizeof(ib::qp_context)}}};
}

void qp_context_cache_bench::reset_block(lockstep_random& random) {
    parts& p = *m_parts;
    const std::size_t design = small_only() ? small : random.one_of<std::size_t>({small, small, 1, 2, 3});
    const sizes& s = all_sizes[design];
    qp_context_cache_config config;
    config.sets = s.sets;
    config.ways = s.ways;
    config.misses_outstanding = s.misses;
    config.waiting_requests = s.waiting;
    const bool plru = (s.ways & (s.ways - 1)) == 0 && verilog().policy("cfg_plru_i", random.below(2)) != 0;
    config.replacement = plru ? replacement_policy::plru : replacement_policy::lru;
    constexpr std::array<std::uint32_t, 4> delays = {1, 2, 5, 64};
    const std::uint32_t delay = random.below(delays.size());
    config.hit_cycles = static_cast<std::uint32_t>(verilog().policy("cfg_hit_cycles_i", delays[delay]));
    covered().hit(p.design + design);
    covered().hit(p.hit_cycles + delay);
    p.pool.reclaim();
    p.block.reset(config, s.qps, context_address);
    p.watch.bind(p.block.verilog().verilog(), plru);
    p.stimulus.reset(random, s.qps, s.sets * s.ways, calm());
}

}  // namespace hcasim
