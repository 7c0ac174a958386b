#ifndef HCASIM_TESTBENCHES_BENCH_RECORDER_H
#define HCASIM_TESTBENCHES_BENCH_RECORDER_H

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "model/ib/qp_context.h"
#include "model/stats/observer.h"
#include "testbenches/bench/run_result.h"
#include "testbenches/bench/scenario.h"

namespace hcasim {

/// Watches all hosts of a run: stamps every send, checks the invariants, and makes the run_result.
///
/// Two kinds of calls come in. The HCA of host h calls of_host(h), see observer. Host software calls the
/// methods named after what it does. All cycles are those of the one clock domain; 0 stands for "none".
///
/// Measured are the sends of data QPs (data_qp()). The invariants hold for every QP, QP1 too. Those that need
/// to know what was posted are checked on QPs for which message_posted() is called: on a data QP for every
/// send, on another QP for every send or for none.
///
/// The stamps of every measured send that ends with success must all be there and none earlier than the one
/// before. Of a send that was repeated, the latest pass counts that had left when the acknowledge came.
///
/// The invariants, by the numbers that a violation names:
///  1. No request starts on the wire of a QP that is not in RTS or SQD, except those that were made before it
///     went from there to ERR, SQE or RESET and still stood in the queue of their VL. From RTR on nothing of
///     an earlier life leaves.
///  2. No response starts on the wire of a QP in RESET, INIT or ERR, except as many as fit between receive
///     engine and wire when the QP goes there. No request is accepted before RTR.
///  3. COMM_EST comes at most once in a stay in RTR, and only for a request that was there before its end.
///  4. The first request after RTR to RTS has SQ_PSN, each further one the next; a repeat needs go-back-N and
///     starts with what is not acknowledged (psn_watch).
///  5. WQEs start on the wire in the order of their posts, and none that was not posted.
///  6. The doorbell unit's producer index never goes back. When a run ends, the gate of a QP in RTS is open,
///     and no announced WQE with nothing before it stands there without a grant; when nothing at all is left
///     to do, none that was granted has not ended.
///  7. The gate is opened by an enabled opener and by the first that asks: none is turned away as late
///  before.
///  8. Late openers change nothing: a state only goes on from what it was, and the PSN goes on.
///  9. WQEs end in post order, each once. In ERR all end, with flush status but for the one that failed.
///     RTR to RESET ends none.
/// The tenth (results do not depend on the size of the context cache) compares runs and is a test.
///
/// run_result::invariants_checked says how many of the nine had something to check in the run. Packets must
/// be reported as the HCA made them, before fault injection changes a bit.
class recorder {
public:
    /// A change of visible state: (cycle, signal name, width in bits, value). Cycles never decrease from call
    /// to call.
    using wave_function =
        std::function<void(std::uint64_t, const std::string&, std::uint32_t, std::uint64_t)>;

    explicit recorder(std::uint32_t hosts);
    ~recorder();
    recorder(const recorder&) = delete;
    recorder& operator=(const recorder&) = delete;

    /// Forgets everything; the next run is of this scenario. set_wave(), set_tap() and set_keep_wqes() keep
    /// their setting.
    void reset(const scenario_config& scenario);

    /// What the HCA of this host (0 .. hosts - 1) is given with set_observer(). Valid as long as the
    /// recorder.
    observer& of_host(std::uint32_t host);

    /// Signals host<h>.qp_<qpn, six hex digits>.state (3 bits), .gate_open (1), .pending (1) of the first 64
    /// data QPs, and the fill levels host<h>.doorbell_fifo, .grants_at_work, .packets_at_work. An empty
    /// function stops it. Call before data_qp().
    void set_wave(wave_function wave);
    /// Keeps the bytes of every packet but flow control in run_result::packets, as they start on the wire.
    void set_tap(bool keep_packets);
    /// Whether run_result::wqes is filled (default). Without it the memory of a run does not grow with the
    /// number of sends.
    void set_keep_wqes(bool keep);

    // Host software. A host number and a QPN name a QP; wqe_index is the send WQE's index modulo 2^16,
    // counted from 0 after every RESET.

    /// The sends of this QP are measured from now on; `passive` for the side that was connected to. Call
    /// before its first post.
    void data_qp(std::uint32_t host, std::uint32_t qpn, bool passive);
    /// A send WQE is in memory. Call in post order, before its doorbell is written. `submitted_cycle` is when
    /// the application had the message ready (not later than `posted_cycle`); `command_arrived_cycle`, for an
    /// answer, is when the last byte of the command was at the port.
    void message_posted(std::uint32_t host, std::uint32_t qpn, std::uint16_t wqe_index, std::uint32_t bytes,
                        std::uint64_t submitted_cycle, std::uint64_t posted_cycle,
                        std::uint64_t command_arrived_cycle);
    /// Policy `reject`: a post was refused.
    void message_rejected(std::uint32_t host, std::uint32_t qpn, std::uint64_t cycle);
    /// The application of the receiver has a message. `first_time` is false when it has had this message_id
    /// on this QP before.
    void message_delivered(std::uint32_t host, std::uint32_t qpn, std::uint64_t message_id, bool first_time,
                           std::uint64_t cycle);
    /// Software has handled what may open this QP's gate (RTU, COMM_EST), whether it then asks the HCA or
    /// not.
    void opener_seen(std::uint32_t host, std::uint32_t qpn, ib::gate_opener opener, std::uint64_t cycle);
    /// Policies `software` and `reject`: this WQE waited between `submitted` and `posted` until `opener`.
    /// Call after its message_posted().
    void software_waited(std::uint32_t host, std::uint32_t qpn, std::uint16_t wqe_index,
                         ib::gate_opener opener);

    /// True from the first violated invariant on: the run should stop.
    bool violated() const;
    /// "cycle 1234, host 0, send_engine, QP 0x00004b: invariant 4: ..." of the first violation; empty without
    /// one.
    const std::string& violation() const;
    /// How often invariant 1 .. 9 was checked; 0 is the check of the stage stamps.
    std::uint64_t checks(unsigned invariant) const;

    /// The result of a run that ended after `cycles`; `counters` are the HCAs' own. Checks what can only be
    /// known at the end. Call once per reset(). `idle`: nothing in the whole system had anything left to do,
    /// so that what is not done now is lost (otherwise only what is not done after 10^6 cycles counts as
    /// lost). host_seconds is left to the caller.
    run_result finish(std::uint64_t cycles,
                      const std::vector<std::pair<std::string, std::uint64_t>>& counters, bool idle = false);

private:
    class host_observer;
    struct run_state;
    std::unique_ptr<run_state> m_state;
};

}  // namespace hcasim

#endif
