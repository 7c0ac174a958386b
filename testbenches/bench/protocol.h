#ifndef HCASIM_TESTBENCHES_BENCH_PROTOCOL_H
#define HCASIM_TESTBENCHES_BENCH_PROTOCOL_H

#include <cstdint>
#include <memory>
#include <vector>

#include "testbenches/bench/scenario.h"

namespace hcasim {

/// An upper-layer protocol as it looks on a connection: the bytes of commands and answers, and who speaks
/// when. Data that the real protocol moves by RDMA travels in the answer, because SEND is the operation that
/// the model has. No state: everything follows from numbers.
class protocol {
public:
    using bytes = std::vector<std::uint8_t>;

    virtual ~protocol() = default;

    /// Commands of the opening sequence.
    virtual std::uint32_t opening_commands() const = 0;
    /// Command `number` (0..) of a connection; the ones after the opening sequence are the protocol's
    /// everyday command.
    virtual bytes command(std::uint32_t connection, std::uint32_t number) const = 0;
    /// The server's answer to a command; empty for none.
    virtual bytes answer(const bytes& command) const = 0;
    /// What the server has ready for a client before it has heard from it; empty for nothing.
    virtual bytes greeting(std::uint32_t connection) const {
        (void)connection;
        return {};
    }
    /// Commands that a client may have outstanding whatever the scenario says: an opening sequence is
    /// strictly one after the other.
    virtual bool opening_is_serial() const { return true; }

    virtual std::uint64_t service_id() const = 0;
    virtual bytes request_private_data(std::uint32_t connection) const {
        (void)connection;
        return {};
    }
    virtual bytes reply_private_data(std::uint32_t connection) const {
        (void)connection;
        return {};
    }
    /// Longest command and answer.
    virtual std::uint32_t largest_message_bytes() const = 0;
};

/// The protocol of a workload; not for `script`. `message_bytes` is the payload where the protocol leaves it
/// open.
std::unique_ptr<protocol> make_protocol(workload_kind workload, std::uint32_t message_bytes);

/// `count` bytes that differ from message to message and from place to place.
void append_pattern(std::vector<std::uint8_t>& out, std::uint64_t message_id, std::size_t count);

}  // namespace hcasim

#endif
