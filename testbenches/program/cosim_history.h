#ifndef HCASIM_TESTBENCHES_PROGRAM_COSIM_HISTORY_H
#define HCASIM_TESTBENCHES_PROGRAM_COSIM_HISTORY_H

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "rtl_cosim/wrap/rtl_watcher.h"
#include "testbenches/program/vcd_writer.h"

namespace hcasim {

/// What led to a difference: the last messages of every QP, and waves of model and Verilog side by side.
class cosim_history final : public rtl_watcher {
public:
    static constexpr std::size_t messages_kept = 20;

    void declare(const std::string& name, std::uint32_t width_bits, bool of_model) override;
    void values(cycle_t cycle, const std::vector<std::uint64_t>& all) override;
    void message(cycle_t cycle, const std::string& port, const std::string& text, bool has_qpn,
                 std::uint32_t qpn) override;

    struct passed_message {
        cycle_t cycle = 0;
        std::string port;
        std::string text;
    };
    /// The last messages up to `last`, oldest first: of one QP, or of all.
    std::vector<passed_message> last_messages(bool of_qp, std::uint32_t qpn, cycle_t last) const;

    vcd_writer& waves() { return m_waves; }
    cycle_t last_cycle() const { return m_last_cycle; }

private:
    struct signal {
        std::string name;
        std::uint32_t width_bits;
    };
    static void keep(std::deque<passed_message>& list, const passed_message& m);

    std::vector<signal> m_signals;
    std::vector<std::uint64_t> m_before;
    vcd_writer m_waves;
    cycle_t m_last_cycle = 0;
    std::map<std::uint32_t, std::deque<passed_message>> m_of_qp;
    std::deque<passed_message> m_of_all;
};

}  // namespace hcasim

#endif
