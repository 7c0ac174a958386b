#ifndef HCASIM_RTL_COSIM_LOCKSTEP_RTL_MAP_H
#define HCASIM_RTL_COSIM_LOCKSTEP_RTL_MAP_H

#include <cstdint>
#include <map>
#include <string>

namespace hcasim {

/// How a design of the user's stands in the place of a block (docs/rtl.md, "Your own Verilog").
struct rtl_map {
    enum class comparison : std::uint8_t {
        cycle,  ///< every output in every cycle
        order,  ///< the same WQEs in the same order; cycles are reported (send_scheduler only)
    };

    std::string file;   ///< the map itself, for messages
    std::string block;  ///< "send_scheduler"
    std::string top;    ///< module
    comparison compare = comparison::cycle;
    std::uint32_t latency_cycles = 0;  ///< comparison::cycle: outputs come this much later than the model's
    /// [parameters] is there: the parameters of the top module are those below; else the project's own.
    bool has_parameters = false;
    std::map<std::string, std::uint64_t> parameters;
    std::map<std::string, std::string> size_parameters;  ///< "QPS", "log2 QPS": sizes of the block
    std::string clock = "clk_i";
    std::string reset = "rst_ni";  ///< may be empty
    bool reset_is_low = true;
    std::map<std::string, std::uint64_t> constants;  ///< inputs that are tied

    /// comparison::cycle: policies without a pin, and the value that the design follows.
    std::map<std::string, std::uint64_t> policies;
    /// comparison::cycle: the project's name of a pin, and the user's; empty: a `ready` that is not there.
    std::map<std::string, std::string> ports;

    // comparison::order. An empty name stands for a pin that the design does not have.
    struct doorbell_pins {
        std::string valid, ready, qpn, producer;
    } doorbell;
    struct grant_pins {
        std::string valid, ready, qpn, first, count, tag;
    } grant;
    struct status_pins {
        std::string valid, ready, qpn, tag, length;
    } status;
    struct gate_pins {
        std::string axi_lite;                  ///< prefix of an AXI4-Lite port, or ...
        std::string valid, ready, qpn, value;  ///< ... pins of a message
        std::uint64_t address_base = 0;        ///< AXI4-Lite
        std::uint64_t address_per_qp = 4;      ///< AXI4-Lite
        std::uint64_t open = 1;                ///< value that opens
        std::uint64_t closed = 0;              ///< ... and closes
    } gate;
};

}  // namespace hcasim

#endif
