#ifndef HCASIM_RTL_COSIM_WRAP_RTL_RECORDING_H
#define HCASIM_RTL_COSIM_WRAP_RTL_RECORDING_H

#include <cstdint>
#include <string>
#include <vector>

#include "model/clock/engine.h"
#include "rtl_cosim/wrap/verilog_block.h"

namespace hcasim {

/// What came in at the pins of a design, cycle by cycle, to be given to it again without anything around it.
class rtl_recording {
public:
    /// Begins anew for this design, whose cfg pins are set.
    void start(const verilog_block& block);
    /// Notes which inputs differ from those of the cycle before. Cycles in between had no valid input.
    void note(cycle_t cycle);

    /// Gives the inputs of cycles 1 .. `cycles` to a design of the same source, after a reset.
    class player {
    public:
        player(const rtl_recording& recording, verilog_block& block);
        void run_to(cycle_t last);

    private:
        struct input {
            verilog_pin pin;
            bool is_valid = false;
        };
        const rtl_recording& m_recording;
        verilog_block& m_block;
        std::vector<input> m_inputs;
        std::vector<verilog_pin> m_valids;
        std::size_t m_next = 0;
        std::size_t m_at = 0;  // in the recording's words
        cycle_t m_now = 0;
    };

private:
    friend class player;
    struct change {
        cycle_t cycle;
        std::uint32_t input;
    };
    struct input {
        std::string name;
        verilog_pin pin;
        std::size_t at;  // in m_last
        std::size_t words;
    };
    std::vector<input> m_inputs;
    std::vector<std::uint32_t> m_last;
    std::vector<change> m_changes;
    std::vector<std::uint32_t> m_words;
};

}  // namespace hcasim

#endif
