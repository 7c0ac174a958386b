#ifndef HCASIM_RTL_COSIM_WRAP_RTL_SEND_PATH_H
#define HCASIM_RTL_COSIM_WRAP_RTL_SEND_PATH_H

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "rtl_cosim/wrap/rtl_block.h"

namespace hcasim {

/// hca_send_path.v beside the five blocks of a card that run beside the model: it gets what comes in at them
/// from outside, has its own channels between them, and every output must be that of the block, in every
/// cycle.
class rtl_send_path {
public:
    enum part : std::uint32_t { doorbell_unit, send_scheduler, qp_context_cache, link_tx, link_rx, parts };

    explicit rtl_send_path(engine& cycles) : m_cycles(cycles) {}

    void set_part(part p, rtl_block& block);
    bool is_complete() const;

    /// From the next reset of the blocks on, which must then be rtl_mode::shadow.
    void set_used(bool used);
    /// When the blocks have been reset and before the first cycle. Throws verilog_error.
    void prepare();
    /// The end of a run: compares the last cycle too.
    void finish();

    std::function<void(const rtl_difference&)> on_difference;

private:
    struct link {  // a pin of the whole and that of the block
        std::string name;
        verilog_pin whole;
        verilog_pin own;
        verilog_pin own_valid;  // outputs: of the same message; none for a handshake pin
        std::size_t at = 0;     // in m_expected
        std::size_t words = 0;
        bool is_valid_input = false;
    };
    struct member {
        rtl_block* block = nullptr;
        bool ticked = false;
        std::vector<link> inputs;
        std::vector<link> outputs;
    };

    void start();
    void note(part p);
    void close_cycle();
    void differs(const member& m, const link& l, const std::string& expected, const std::string& actual);

    engine& m_cycles;
    std::array<member, parts> m_members;
    std::unique_ptr<verilog_block> m_whole;
    std::string m_loaded;
    std::vector<std::uint32_t> m_expected;
    std::vector<bool> m_compared;  // by output of all members, whether its value counts in this cycle
    bool m_used = false;
    bool m_started = false;
    bool m_open = false;  // a cycle has been noted and not compared
    bool m_failed = false;
    cycle_t m_cycle = 0;
};

}  // namespace hcasim

#endif
