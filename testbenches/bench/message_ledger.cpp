#include "testbenches/bench/message_ledger.h"

#include <algorithm>

namespace hcasim {

void message_ledger::reset() {
    m_flows.clear();
    m_checked = 0;
    m_wrong = 0;
    m_violation.clear();
}

std::uint64_t message_ledger::id_of(const direction& d, std::uint64_t number) {
    return std::uint64_t{d.connection} << 32 | std::uint64_t{d.from_passive ? 1u : 0u} << 31 | number;
}

std::uint64_t message_ledger::sent(const direction& d, std::vector<std::uint8_t> bytes) {
    flow& f = m_flows[d];
    f.expected.push_back(std::move(bytes));
    return id_of(d, f.sent++);
}

message_ledger::delivery message_ledger::delivered(const direction& d, const std::vector<std::uint8_t>& bytes,
                                                   cycle_t cycle) {
    flow& f = m_flows[d];
    ++m_checked;
    if (!f.expected.empty() && f.expected.front() == bytes) {
        f.last = std::move(f.expected.front());
        f.expected.pop_front();
        return {id_of(d, f.delivered++), true};
    }
    if (f.delivered > 0 && bytes == f.last) {
        return {id_of(d, f.delivered - 1), false};
    }
    ++m_wrong;
    if (m_violation.empty()) {
        const bool out_of_order = std::find(f.expected.begin(), f.expected.end(), bytes) != f.expected.end();
        const char* what = f.expected.empty() ? "a message that nobody sent"
                           : out_of_order     ? "a message out of order"
                                              : "wrong bytes";
        m_violation = "cycle " + std::to_string(cycle) + ", connection " + std::to_string(d.connection) +
                      " to its " + (d.from_passive ? "active" : "passive") + " side: delivery: " + what +
                      " in place of message " + std::to_string(f.delivered);
    }
    return {id_of(d, f.delivered), true};
}

std::uint64_t message_ledger::outstanding() const {
    std::uint64_t n = 0;
    for (const auto& [d, f] : m_flows) {
        n += f.expected.size();
    }
    return n;
}

}  // namespace hcasim
