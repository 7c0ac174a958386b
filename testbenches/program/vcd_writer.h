#ifndef HCASIM_TESTBENCHES_PROGRAM_VCD_WRITER_H
#define HCASIM_TESTBENCHES_PROGRAM_VCD_WRITER_H

#include <cstdint>
#include <iosfwd>
#include <map>
#include <string>
#include <vector>

namespace hcasim {

/// Collects value changes and writes them as a VCD file (IEEE 1364-2005, clause 18). sc_trace cannot do this:
/// the model runs ahead of the SystemC time at which it would sample. Signals appear with their first change;
/// dots in a name are scopes. Changes may come in any order of cycles, since domains run ahead of one
/// another; of several in one cycle the last one counts.
class vcd_writer {
public:
    void change(std::uint64_t cycle, const std::string& signal, std::uint32_t width, std::uint64_t value);

    std::size_t signals() const { return m_signals.size(); }
    std::size_t changes() const { return m_changes.size(); }

    /// `clock_mhz` turns cycles into time: 1 ns steps where a cycle is a whole number of them, 1 ps steps
    /// otherwise. The file ends with the time of `last_cycle`.
    void write(std::ostream& out, std::uint64_t clock_mhz, std::uint64_t last_cycle);

private:
    struct signal_info {
        std::uint32_t index;
        std::uint32_t width;
    };
    struct value_change {
        std::uint64_t cycle;
        std::uint64_t value;
        std::uint32_t signal;
    };
    std::map<std::string, signal_info> m_signals;
    std::vector<value_change> m_changes;
};

}  // namespace hcasim

#endif
