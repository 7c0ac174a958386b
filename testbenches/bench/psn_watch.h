#ifndef HCASIM_TESTBENCHES_BENCH_PSN_WATCH_H
#define HCASIM_TESTBENCHES_BENCH_PSN_WATCH_H

#include <algorithm>
#include <array>
#include <cstdint>

#include "model/ib/psn.h"

namespace hcasim {

/// The sequence of request PSNs of one QP as they start on the wire: without gap or repeat, except go-back-N.
///
/// A packet starts on the wire long after the send engine has made it (it waits in the queue of its VL), and
/// meanwhile the engine learns of acknowledges. So two bounds are kept: what the HCA knew to be acknowledged
/// when it went back (a repeat may not start before that), and what the peer has acknowledged on the wire by
/// now (only that may be left out).
class psn_watch {
public:
    enum class verdict : std::uint8_t {
        fresh,           ///< the next new request
        repeated,        ///< a request that was on the wire before, legal
        gap,             ///< requests were left out
        repeat_unasked,  ///< went back although no go_back() was reported
        repeat_too_old,  ///< went back to what the HCA knew to be acknowledged
    };

    /// The first request from now on must have this PSN.
    void start(std::uint32_t psn) {
        *this = psn_watch{};
        m_next = m_cursor = m_floor = m_acknowledged_on_wire = psn & ib::psn_mask;
    }

    /// The HCA knows that all requests before `psn` are acknowledged.
    void acknowledged_in_hca(std::uint32_t psn) {
        if (ib::psn_distance(psn, m_floor) > 0) {
            m_floor = psn;
        }
    }

    /// The peer has sent an acknowledge of all requests before `psn`.
    void acknowledged_on_wire(std::uint32_t psn) {
        if (ib::psn_distance(psn, m_acknowledged_on_wire) > 0) {
            m_acknowledged_on_wire = psn;
        }
    }

    /// The HCA starts to send again what is not acknowledged.
    void go_back() {
        if (m_go_backs == 0 || m_floors[(m_go_backs - 1) % floors] != m_floor) {
            m_floors[m_go_backs % floors] = m_floor;
            ++m_go_backs;
        }
    }

    /// A request starts on the wire. Without `go_backs_reported` any repeat of what was sent since start() is
    /// legal.
    verdict on_request(std::uint32_t psn, bool go_backs_reported) {
        const std::int32_t ahead = ib::psn_distance(psn, m_cursor);
        if (ahead > 0 &&
            (ib::psn_distance(psn, m_next) > 0 || ib::psn_distance(psn, m_acknowledged_on_wire) > 0)) {
            return verdict::gap;
        }
        if (ahead < 0) {
            if (m_go_backs == 0 && go_backs_reported) {
                return verdict::repeat_unasked;
            }
            if (ib::psn_distance(psn, oldest_floor()) < 0) {
                return verdict::repeat_too_old;
            }
        }
        m_cursor = ib::psn_add(psn, 1);
        if (psn != m_next) {
            return verdict::repeated;
        }
        m_next = m_cursor;
        return verdict::fresh;
    }

    /// PSN of the next new request.
    std::uint32_t next() const { return m_next; }

private:
    // Several go-backs may have their packets in the VL queue at the same time; which of them a packet
    // belongs to cannot be told.
    static constexpr std::uint32_t floors = 8;

    std::uint32_t oldest_floor() const {
        return m_go_backs == 0 ? m_floor : m_floors[m_go_backs < floors ? 0 : m_go_backs % floors];
    }

    std::uint32_t m_next = 0;
    std::uint32_t m_cursor = 0;
    std::uint32_t m_floor = 0;
    std::uint32_t m_acknowledged_on_wire = 0;
    std::array<std::uint32_t, floors> m_floors{};
    std::uint32_t m_go_backs = 0;
};

}  // namespace hcasim

#endif
