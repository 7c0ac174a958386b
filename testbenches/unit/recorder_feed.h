// Feeds a recorder with what HCAs and host software would tell it, step by step.
#ifndef HCASIM_TESTBENCHES_UNIT_RECORDER_FEED_H
#define HCASIM_TESTBENCHES_UNIT_RECORDER_FEED_H

#include <cstdint>
#include <string>
#include <vector>

#include "model/ib/headers.h"
#include "model/ib/messages.h"
#include "testbenches/bench/recorder.h"

namespace hcasim::test {

constexpr std::uint32_t data_qpn = 0x4b;  ///< passive, on host 0; its peer has the same number on host 1
constexpr std::uint32_t sq_psn = 0x732328;

/// Offsets of the stamps of send() from its start.
constexpr std::uint64_t stamp_offset[stage_count] = {0, 10, 20, 22, 22, 25, 30, 40, 50, 60, 65, 100, 120};

class recorder_feed {
public:
    explicit recorder_feed(const scenario_config& scenario = {}) : rec(2) { rec.reset(scenario); }

    observer& hca(std::uint32_t host = 0) { return rec.of_host(host); }

    void state(ib::qp_state from, ib::qp_state to, std::uint64_t cycle,
               ib::gate_opener opener = ib::gate_opener::none, std::uint32_t psn = 0, std::uint32_t host = 0,
               std::uint32_t qpn = data_qpn) {
        hca(host).state_changed(qpn, static_cast<std::uint8_t>(from), static_cast<std::uint8_t>(to),
                                static_cast<std::uint8_t>(opener), psn, cycle);
    }
    void gate(gate_state g, std::uint64_t cycle, bool pending = false, std::uint32_t host = 0,
              std::uint32_t qpn = data_qpn) {
        hca(host).gate_changed(qpn, static_cast<std::uint8_t>(g), pending, cycle);
    }
    /// RESET to RTR, 10 cycles a step, the last in `cycle`.
    void to_rtr(std::uint64_t cycle, std::uint32_t host = 0, std::uint32_t qpn = data_qpn) {
        using ib::qp_state;
        state(qp_state::reset, qp_state::init, cycle - 10, ib::gate_opener::none, 0, host, qpn);
        state(qp_state::init, qp_state::rtr, cycle, ib::gate_opener::none, 0, host, qpn);
    }
    /// RTR to RTS in `cycle`, gate two cycles later.
    void to_rts(std::uint64_t cycle, ib::gate_opener opener = ib::gate_opener::rtu, std::uint32_t host = 0,
                std::uint32_t qpn = data_qpn) {
        state(ib::qp_state::rtr, ib::qp_state::rts, cycle, opener, sq_psn, host, qpn);
        gate(gate_state::open, cycle + 2, false, host, qpn);
    }
    /// A measured QP in RTS at cycle 100.
    void connect(std::uint32_t host = 0, std::uint32_t qpn = data_qpn) {
        rec.data_qp(host, qpn, host == 0);
        to_rtr(90, host, qpn);
        to_rts(100, host == 0 ? ib::gate_opener::rtu : ib::gate_opener::command, host, qpn);
    }

    void post(std::uint16_t index, std::uint64_t cycle, std::uint32_t host = 0,
              std::uint32_t qpn = data_qpn) {
        rec.message_posted(host, qpn, index, 64, cycle, cycle + 10, 0);
    }
    void stamp(std::uint16_t index, stage s, std::uint64_t cycle, std::uint32_t host = 0,
               std::uint32_t qpn = data_qpn) {
        hca(host).stamp(qpn, index, s, cycle);
    }
    /// Stamps first .. last at their offsets from `start`.
    void stamps(std::uint16_t index, stage first, stage last, std::uint64_t start, std::uint32_t host = 0,
                std::uint32_t qpn = data_qpn) {
        for (auto s = static_cast<unsigned>(first); s <= static_cast<unsigned>(last); ++s) {
            stamp(index, static_cast<stage>(s), start + stamp_offset[s], host, qpn);
        }
    }
    void end(std::uint16_t index, std::uint64_t cycle, ib::wc_status status = ib::wc_status::success,
             bool has_cqe = true, std::uint32_t host = 0, std::uint32_t qpn = data_qpn) {
        hca(host).wqe_ended(qpn, index, static_cast<std::uint8_t>(status), has_cqe, cycle);
    }
    /// A whole send of one packet that begins (is submitted) in `start`.
    void send(std::uint16_t index, std::uint32_t psn, std::uint64_t start, std::uint32_t host = 0,
              std::uint32_t qpn = data_qpn) {
        post(index, start, host, qpn);
        stamps(index, stage::doorbell, stage::payload, start, host, qpn);
        request(psn, start + 60, ib::rc_send_only, host, qpn);
        stamps(index, stage::wire, stage::acked, start, host, qpn);
        end(index, start + 100, ib::wc_status::success, true, host, qpn);
        stamp(index, stage::completed, start + 120, host, qpn);
    }

    /// A request of QP `qpn` starts on the wire. Host h has LID h + 1.
    void request(std::uint32_t psn, std::uint64_t cycle, std::uint8_t op = ib::rc_send_only,
                 std::uint32_t host = 0, std::uint32_t qpn = data_qpn, bool global = false) {
        ib::headers h;
        h.op = op;
        h.psn = psn;
        h.global = global;
        packet(h, 16, cycle, host, qpn);
    }
    /// An acknowledge packet that `host` sends to the other host.
    void acknowledge(std::uint32_t psn, std::uint8_t syndrome, std::uint64_t cycle, std::uint32_t host = 1,
                     std::uint32_t qpn = data_qpn) {
        ib::headers h;
        h.op = ib::rc_acknowledge;
        h.psn = psn;
        h.syndrome = syndrome;
        packet(h, 0, cycle, host, qpn);
    }
    void packet(ib::headers h, std::size_t payload_bytes, std::uint64_t cycle, std::uint32_t host,
                std::uint32_t qpn, bool lost = false) {
        h.slid = static_cast<std::uint16_t>(host + 1);
        h.dlid = static_cast<std::uint16_t>(host == 0 ? 2 : 1);
        h.dest_qpn = qpn;
        std::vector<std::uint8_t> bytes(ib::packet_bytes(h, payload_bytes));
        ib::encode(h, payload_bytes, bytes.data());
        hca(host).packet_on_wire(bytes.data(), static_cast<std::uint32_t>(bytes.size()), qpn, false, lost,
                                 cycle, cycle + 5);
    }

    run_result finish(std::uint64_t cycles, bool idle = true) { return rec.finish(cycles, {}, idle); }

    /// "" or the words before the explanation, such as "cycle 7, host 0, link, QP 0x00004b: invariant 5".
    std::string broken() const {
        const std::string& v = rec.violation();
        const auto qp = v.find(": ");
        return qp == std::string::npos ? v : v.substr(0, v.find(": ", qp + 2));
    }

    recorder rec;
};

}  // namespace hcasim::test

#endif
