#ifndef HCASIM_TESTBENCHES_BENCH_TRACKED_QP_H
#define HCASIM_TESTBENCHES_BENCH_TRACKED_QP_H

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "model/ib/psn.h"
#include "model/ib/qp_context.h"
#include "model/ib/qp_state.h"
#include "testbenches/bench/psn_watch.h"
#include "testbenches/bench/run_result.h"
#include "testbenches/bench/send_stamps.h"

namespace hcasim {

/// A signal of a waveform and its present value; without a name it is not drawn.
struct wave_signal {
    std::string name;
    std::uint64_t value = 0;
};

/// A send WQE from its post until its CQE is visible.
struct send_slot {
    wqe_record record;  // its cycles are filled in when it is closed
    send_stamps stamps;
    std::size_t order = 0;  // index in run_result::wqes
    std::uint64_t first_grant_cycle = 0;
    std::uint32_t last_psn = 0;
    bool has_last_psn = false;
    bool waited_in_software = false;
};

constexpr std::uint64_t no_wqe = ~std::uint64_t{1};  // not a number of a WQE, nor is the next

/// What the recorder knows of a QP.
struct tracked_qp {
    std::uint32_t host = 0;
    std::uint32_t qpn = 0;
    bool is_data = false;
    bool posts_known = false;  // message_posted() is called for this QP
    qp_record result;

    // State, as the context cache reports it. What is not said to be of the run is of this life, which begins
    // with RESET.
    ib::qp_state state = ib::qp_state::reset;
    ib::gate_opener opener = ib::gate_opener::none;  // of the latest move to RTS
    bool was_rtr = false;
    bool was_rts = false;
    bool flush_seen = false;
    bool failure_seen = false;
    bool late_opener_seen = false;                   // since the latest request on the wire
    ib::qp_state before_stop = ib::qp_state::reset;  // state from which the QP went to ERR, SQE or RESET
    std::uint64_t state_cycle = 0;
    std::uint64_t left_rtr_cycle = 0;
    std::uint64_t first_accepted_cycle = 0;  // of this RTR stay
    std::uint32_t comm_ests = 0;             // of this RTR stay
    bool requests_may_leave = false;         // those that were made before the requester stopped
    std::uint32_t responses_allowed = 0;     // that may leave after the responder has stopped
    std::uint64_t late_in_life = 0;          // first late opener
    bool gate_was_open = false;
    // Of the whole run: when each opener first came late, and when software saw it.
    std::array<std::uint64_t, ib::gate_opener_count> late_cycle{};
    std::array<std::uint64_t, ib::gate_opener_count> seen_cycle{};

    psn_watch psns;
    bool gate_open = false;
    bool gate_reported = false;
    std::uint64_t gate_cycle = 0;

    // WQEs [first, last) are in `ring`, at their number modulo its size. A WQE's number is its index without
    // wrap.
    std::vector<send_slot> ring;
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    std::uint64_t next_on_wire = 0;  // first WQE whose `wire` stamp is still to come
    std::uint64_t next_whole = 0;    // first WQE whose last packet is still to come
    std::uint64_t next_end = 0;      // oldest WQE that has not ended
    std::uint64_t latest_regrant = no_wqe;
    std::uint64_t announced = 0;
    std::uint64_t rung = 0;  // first WQE that no doorbell has announced to the doorbell unit
    std::uint64_t granted = 0;
    bool whole_known = true;  // `next_whole` is right
    std::uint64_t latest_end_cycle = 0;
    std::uint16_t next_end_index = 0;  // posts not known
    bool has_ended = false;

    wave_signal wave_state, wave_gate, wave_pending;

    send_slot& slot(std::uint64_t number) { return ring[number & (ring.size() - 1)]; }
    // Number of the WQE with this index, within half the index ring of the oldest one; `last` or more when it
    // was not posted, less than `first` when it is done (or, at the start, not there).
    std::int64_t number_of(std::uint16_t index) const {
        return static_cast<std::int64_t>(first) +
               ib::index_distance(index, static_cast<std::uint16_t>(first));
    }
    send_slot* find(std::uint16_t index) {
        const auto distance = static_cast<std::uint16_t>(index - static_cast<std::uint16_t>(first));
        return distance < last - first ? &slot(first + distance) : nullptr;
    }
    void grow() {
        std::vector<send_slot> larger(std::max<std::size_t>(8, ring.size() * 2));
        for (std::uint64_t n = first; n != last; ++n) {
            larger[n & (larger.size() - 1)] = std::move(slot(n));
        }
        ring.swap(larger);
    }
    bool requester_stopped() const {
        return state == ib::qp_state::err || state == ib::qp_state::sqe || state == ib::qp_state::reset;
    }
};

}  // namespace hcasim

#endif
