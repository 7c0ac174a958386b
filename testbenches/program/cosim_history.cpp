#include "testbenches/program/cosim_history.h"

namespace hcasim {

void cosim_history::declare(const std::string& name, std::uint32_t width_bits, bool of_model) {
    m_signals.push_back({(of_model ? "model." : "verilog.") + name, width_bits});
}

void cosim_history::values(cycle_t cycle, const std::vector<std::uint64_t>& all) {
    m_last_cycle = cycle;
    const bool first = m_before.empty();
    for (std::size_t i = 0; i < all.size() && i < m_signals.size(); ++i) {
        if (first || all[i] != m_before[i]) {
            m_waves.change(cycle, m_signals[i].name, m_signals[i].width_bits, all[i]);
        }
    }
    m_before = all;
}

void cosim_history::message(cycle_t cycle, const std::string& port, const std::string& text, bool has_qpn,
                            std::uint32_t qpn) {
    const passed_message m{cycle, port, text};
    keep(m_of_all, m);
    if (has_qpn) {
        keep(m_of_qp[qpn], m);
    }
}

// More than are shown: those behind the difference are not wanted.
void cosim_history::keep(std::deque<passed_message>& list, const passed_message& m) {
    list.push_back(m);
    if (list.size() > 4 * messages_kept) {
        list.pop_front();
    }
}

std::vector<cosim_history::passed_message> cosim_history::last_messages(bool of_qp, std::uint32_t qpn,
                                                                        cycle_t last) const {
    static const std::deque<passed_message> none;
    const auto found = m_of_qp.find(qpn);
    const std::deque<passed_message>& from =
        !of_qp ? m_of_all : (found == m_of_qp.end() ? none : found->second);
    std::vector<passed_message> result;
    for (const passed_message& m : from) {
        if (m.cycle <= last) {
            result.push_back(m);
        }
    }
    if (result.size() > messages_kept) {
        result.erase(result.begin(), result.end() - messages_kept);
    }
    return result;
}

}  // namespace hcasim
