#ifndef HCASIM_TESTBENCHES_BENCH_RUN_RESULT_H
#define HCASIM_TESTBENCHES_BENCH_RUN_RESULT_H

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "model/ib/qp_context.h"
#include "model/ib/qp_state.h"
#include "model/ib/work_queue.h"
#include "model/stats/distribution.h"
#include "model/stats/stage.h"

namespace hcasim {

/// One send WQE that was measured, with the cycle of every stage it reached.
struct wqe_record {
    std::uint32_t host = 0;
    std::uint32_t qpn = 0;
    std::uint16_t wqe_index = 0;
    std::uint32_t bytes = 0;
    ib::wc_status status = ib::wc_status::success;
    bool ended = false;
    ib::gate_opener waited_for =
        ib::gate_opener::none;  ///< what opened the gate this WQE waited behind; none when it did not wait
    std::array<std::uint64_t, stage_count> cycle{};  ///< 0 = not reached
    std::uint64_t command_arrived_cycle = 0;  ///< answers: last byte of the command at the port; else 0
};

/// One connection end with a data QP.
struct qp_record {
    std::uint32_t host = 0;
    std::uint32_t qpn = 0;
    bool passive = false;
    ib::qp_state final_state = ib::qp_state::reset;
    ib::gate_opener opened_by = ib::gate_opener::none;
    std::uint64_t gate_open_cycle = 0;      ///< 0 = never
    std::uint64_t first_request_cycle = 0;  ///< first byte of its first request on the wire; 0 = never
    std::uint32_t first_request_psn = 0;
    std::uint64_t comm_est_cycle = 0;  ///< 0 = not raised
    std::vector<std::pair<ib::gate_opener, std::uint64_t>>
        openers;  ///< every opener with its cycle, the first is the one that won
};

/// A packet seen at the start of a link by the tap, kept when the scenario or a test asks for it.
struct tapped_packet {
    std::uint32_t host = 0;  ///< sender
    std::uint64_t first_byte_cycle = 0;
    std::uint64_t last_byte_cycle = 0;
    bool lost = false;
    std::vector<std::uint8_t> bytes;  ///< LRH .. VCRC
};

/// Everything a run has measured. Integers only; what the JSON of a run shows is computed from this.
struct run_result {
    std::string scenario;
    std::uint64_t seed = 0;
    std::uint64_t clock_mhz = 0;
    std::uint64_t cycles = 0;
    std::string gate_policy;
    std::vector<std::string> gate_open_on;

    struct {
        std::uint64_t posted = 0, completed = 0, failed = 0, flushed = 0, outstanding = 0, duplicated = 0;
    } messages;
    struct {
        std::uint64_t waited =
            0;  ///< measured sends that waited behind a closed gate (or its software equivalent)
        std::array<std::uint64_t, ib::gate_opener_count> opened_by{};  ///< passive QPs by opener
        distribution wait_cycles;                                      ///< of those that waited
        std::uint64_t rejected_posts = 0;                              ///< policy reject: posts refused
        distribution
            answer_cycles;  ///< command's last byte at the port to first byte of the answer on the wire
        distribution answer_waited_cycles;  ///< the same, only answers that waited
        distribution answer_ideal_cycles;   ///< the same, only answers that did not wait
    } gate;
    std::vector<std::pair<std::string, std::uint64_t>>
        events;                   ///< name, count; sorted by name; comm_est is always there
    distribution latency_cycles;  ///< submitted .. completed of measured sends
    std::array<distribution, stage_count> stages;
    std::vector<qp_record> qps;
    std::vector<wqe_record> wqes;
    std::vector<tapped_packet> packets;  ///< only when run_options::tap_packets
    /// Counters for the summary: ("doorbell.coalesced", 12) ...; sorted by name.
    std::vector<std::pair<std::string, std::uint64_t>> counters;
    std::uint64_t invariants_checked = 0;
    std::uint64_t invariants_violated = 0;
    std::string violation;  ///< cycle, block, QP and rule of the first one
    double host_seconds = 0;
};

}  // namespace hcasim

#endif
