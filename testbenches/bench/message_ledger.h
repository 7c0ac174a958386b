#ifndef HCASIM_TESTBENCHES_BENCH_MESSAGE_LEDGER_H
#define HCASIM_TESTBENCHES_BENCH_MESSAGE_LEDGER_H

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "model/clock/engine.h"

namespace hcasim {

/// End-to-end check of delivery, outside of all that is modelled: every message of a direction of a
/// connection must come out once, in order, with its bytes.
class message_ledger {
public:
    /// A direction of a connection.
    struct direction {
        std::uint32_t connection = 0;
        bool from_passive = false;
        bool operator<(const direction& other) const {
            return connection != other.connection ? connection < other.connection
                                                  : from_passive < other.from_passive;
        }
    };
    struct delivery {
        std::uint64_t message_id = 0;
        bool first_time = true;
    };

    void reset();

    /// The application hands this message over; returns its id, unique in the run.
    std::uint64_t sent(const direction& d, std::vector<std::uint8_t> bytes);

    /// The other application has got these bytes in `cycle`.
    delivery delivered(const direction& d, const std::vector<std::uint8_t>& bytes, cycle_t cycle);

    /// Messages handed over and not delivered.
    std::uint64_t outstanding() const;
    std::uint64_t checked() const { return m_checked; }
    std::uint64_t wrong() const { return m_wrong; }
    /// The first wrong delivery, in one line; empty when there is none.
    const std::string& violation() const { return m_violation; }

private:
    struct flow {
        std::uint64_t sent = 0;
        std::uint64_t delivered = 0;
        std::deque<std::vector<std::uint8_t>> expected;
        std::vector<std::uint8_t> last;
    };
    static std::uint64_t id_of(const direction& d, std::uint64_t number);

    std::map<direction, flow> m_flows;
    std::uint64_t m_checked = 0;
    std::uint64_t m_wrong = 0;
    std::string m_violation;
};

}  // namespace hcasim

#endif
