#ifndef HCASIM_TESTBENCHES_BENCH_MESSAGE_PATH_H
#define HCASIM_TESTBENCHES_BENCH_MESSAGE_PATH_H

#include <cstdint>
#include <memory>
#include <systemc>

#include "model/clock/engine.h"
#include "model/hca_config.h"

namespace hcasim {

/// Load of two cards on a cable.
struct message_path_config {
    std::uint32_t connections = 64;  ///< RC QPs of each card, 1..hca.qps
    std::uint32_t depth = 16;        ///< sends of a QP posted and not completed; a power of two, at most 512
    std::uint32_t payload_bytes = 64;  ///< of each message
    hca_config hca;
};

/// Two whole cards on a cable, measured end to end: the first sends, the second receives, acknowledges and
/// gets its receive WQEs back. The hosts are as small as they can be, so that the time goes into the cards:
/// they give the commands that connect, poll their CQ every few cycles and ring doorbells in bursts.
class message_path : public sc_core::sc_module {
public:
    explicit message_path(const sc_core::sc_module_name& name);
    ~message_path() override;

    /// Resets the cards and connects nothing yet.
    void reset(const message_path_config& config, engine_kind engine);
    /// Creates all QPs and brings them to RTS by commands. Throws std::runtime_error when one is refused.
    void connect();
    /// Sends for this many cycles more.
    void run_for(cycle_t cycles);
    cycle_t now() const;
    /// Messages whose send and receive CQEs are both written.
    std::uint64_t messages() const;
    /// Retries of any kind; 0 on this path.
    std::uint64_t repeats() const;

private:
    struct parts;
    std::unique_ptr<parts> m_parts;
};

}  // namespace hcasim

#endif
