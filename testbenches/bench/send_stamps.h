#ifndef HCASIM_TESTBENCHES_BENCH_SEND_STAMPS_H
#define HCASIM_TESTBENCHES_BENCH_SEND_STAMPS_H

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>

#include "model/stats/stage.h"

namespace hcasim {

/// The stage stamps of one send WQE, also of one that is sent again.
///
/// A repeat passes the stages from the grant to the last byte once more, and while it is on its way the
/// acknowledge of an earlier pass may come. Which pass counts is therefore decided when the acknowledge is
/// there: the latest that had left the wire by then.
class send_stamps {
public:
    using cycles = std::array<std::uint64_t, stage_count>;  ///< 0 = not reached

    std::uint64_t operator[](stage s) const { return m_cycle[index(s)]; }
    const cycles& all() const { return m_cycle; }
    /// The first packet has started on the wire.
    bool on_wire() const { return m_on_wire; }

    void stamp(stage s, std::uint64_t cycle) {
        if (s >= stage::grant && s <= stage::sent) {
            stamp_pass(s, cycle);
            return;
        }
        if (s == stage::gate && m_on_wire) {
            return;  // its gate has let it pass; a repeat waits for other things
        }
        if (s == stage::acked && m_grants > 1) {
            settle(cycle);
        }
        m_cycle[index(s)] = cycle;
    }

    /// For gate bits that live in the QP context: the scheduler grants without knowing the gate, and whether
    /// it was open turns out in the send engine. What went through such a grant has passed its gate when the
    /// grant or, if that came first, the opening was there.
    void gate_in_context(std::uint64_t open_cycle) {
        std::uint64_t& gate = m_cycle[index(stage::gate)];
        const std::uint64_t grant = m_cycle[index(stage::grant)];
        if (gate == 0 || gate > grant) {
            gate = std::max(m_cycle[index(stage::pending)], std::min(open_cycle, grant));
        }
    }

    /// The first stage that is missing or earlier than the one before it; `submitted` when all is well.
    stage first_wrong() const {
        for (unsigned s = 1; s < stage_count; ++s) {
            if (m_cycle[s] == 0 || m_cycle[s] < m_cycle[s - 1]) {
                return static_cast<stage>(s);
            }
        }
        return stage::submitted;
    }

private:
    // A pass after the first.
    struct pass {
        cycles cycle{};
        std::uint32_t passed = 0;  // bit per stage that was stamped in this pass

        bool has(stage s) const { return (passed >> index(s) & 1u) != 0; }
        // The whole message has left by `limit`.
        bool has_left(std::uint64_t limit) const {
            return has(stage::wire) && has(stage::sent) && is_whole(overlaid(), limit);
        }
        // Stamps of the pass before stay where this one has none of its own, but time does not run backwards:
        // such a stage took no time.
        cycles overlaid() const {
            cycles c = cycle;
            for (unsigned s = index(stage::grant); s <= index(stage::sent); ++s) {
                if ((passed >> s & 1u) == 0) {
                    c[s] = std::max(c[s], c[s - 1]);
                }
            }
            return c;
        }
    };

    static constexpr unsigned index(stage s) { return static_cast<unsigned>(s); }

    // True when the stages from the grant to the last byte are all there, in order and not after `limit`.
    static bool is_whole(const cycles& c, std::uint64_t limit) {
        for (unsigned s = index(stage::grant); s <= index(stage::sent); ++s) {
            if (c[s] == 0 || c[s] < c[s - 1]) {
                return false;
            }
        }
        return c[index(stage::sent)] <= limit;
    }

    void stamp_pass(stage s, std::uint64_t cycle) {
        m_grants += s == stage::grant ? 1u : 0u;
        // Packets of a QP keep their order on the way to the wire, so a last byte belongs to the pass whose
        // first byte was seen latest.
        const bool belongs_to_first =
            s == stage::sent && (m_repeat == nullptr || !m_repeat->has(stage::wire));
        std::uint64_t& first = m_cycle[index(s)];
        if (first == 0 && (m_repeat == nullptr || belongs_to_first)) {
            first = cycle;
            m_on_wire = m_on_wire || s == stage::wire;
        } else if ((*this)[stage::acked] != 0 || belongs_to_first) {
            return;
        } else if (!m_on_wire) {
            // Granted again before anything of it was sent: only this grant counts.
            std::fill(&first, m_cycle.data() + index(stage::acked), 0);
            first = cycle;
        } else {
            stamp_repeat(s, cycle);
        }
    }

    void stamp_repeat(stage s, std::uint64_t cycle) {
        if (m_repeat == nullptr || m_repeat->has(s)) {
            if (m_repeat == nullptr) {
                m_repeat = std::make_unique<pass>();
            } else if (m_repeat->has_left(cycle)) {
                m_cycle = m_repeat->overlaid();
            }
            m_repeat->cycle = m_cycle;
            m_repeat->passed = 0;
        }
        m_repeat->cycle[index(s)] = cycle;
        m_repeat->passed |= 1u << index(s);
    }

    void settle(std::uint64_t acked) {
        if (m_repeat != nullptr && m_repeat->has_left(acked)) {
            m_cycle = m_repeat->overlaid();
        } else if (!is_whole(m_cycle, acked)) {
            // Packets of several passes together made the message whole: their stamps are put in order.
            cycles latest = m_repeat != nullptr ? m_repeat->overlaid() : m_cycle;
            for (unsigned s = index(stage::grant); s <= index(stage::sent); ++s) {
                latest[s] = std::min(std::max(latest[s], latest[s - 1]), acked);
            }
            m_cycle = latest;
        }
        m_repeat.reset();
    }

    cycles m_cycle{};
    std::unique_ptr<pass> m_repeat;
    std::uint32_t m_grants = 0;
    bool m_on_wire = false;
};

}  // namespace hcasim

#endif
