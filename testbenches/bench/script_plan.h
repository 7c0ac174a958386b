#ifndef HCASIM_TESTBENCHES_BENCH_SCRIPT_PLAN_H
#define HCASIM_TESTBENCHES_BENCH_SCRIPT_PLAN_H

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "testbenches/bench/scenario.h"

namespace hcasim {

/// One side of a connection of workload `script`. In the scenario each field has the prefix "active_" or
/// "passive_".
struct script_side {
    std::uint32_t host = 0;
    std::uint16_t lid = 0;      ///< lid
    std::uint32_t qpn = 0;      ///< qpn
    std::uint32_t psn = 0;      ///< psn: what this side expects first (starting PSN of its REQ or REP)
    std::uint32_t comm_id = 0;  ///< comm_id
    std::uint64_t guid = 0;     ///< guid: CA GUID
    std::array<std::uint8_t, 16> gid{};      ///< gid: port GID, 32 hex digits
    std::uint32_t management_psn = 0;        ///< management_psn: of this side's first MAD for the connection
    std::vector<std::uint8_t> private_data;  ///< private_data: hex, of the REQ or the REP
    std::vector<std::vector<std::uint8_t>>
        payloads;  ///< payload_1, payload_2 ...: hex, of its SENDs in order
};

/// A connection of workload `script` with every value that it puts on the wire.
struct script_wire {
    script_side active;
    script_side passive;
    std::uint64_t transaction_id = 0;
    std::uint64_t service_id = 0;
    std::uint32_t responder_resources = 4;
    std::uint32_t cm_response_timeout = 20;
    std::uint32_t max_cm_retries = 15;
    std::uint32_t retry_count = 0;
    std::uint32_t rnr_retry_count = 0;
    std::uint32_t path_mtu = 4;           ///< code
    std::uint32_t ack_timeout = 19;       ///< exponent
    std::uint32_t target_ack_delay = 15;  ///< exponent
    std::uint32_t rate = 3;               ///< code
    bool srq = true;

    const script_side& side(bool is_active) const { return is_active ? active : passive; }
};

enum class script_action : std::uint8_t { req, rep, rtu, send, query, close };

struct script_deed {
    std::uint64_t at_ns = 0;
    std::uint32_t host = 0;
    std::uint32_t connection = 0;
    bool by_active = false;  ///< the host is the active side of the connection
    script_action action = script_action::req;
    std::uint32_t number = 0;  ///< of the SEND among those of its side
};

/// Workload `script` of a scenario, read and checked.
struct script_plan {
    std::vector<script_wire> connections;
    std::vector<script_deed> deeds;
    std::vector<std::uint16_t> lid_of_host;
    std::vector<std::uint32_t> management_psn_of_host;
};

/// Throws scenario_error naming the key for a field that is not known, not written rightly or missing.
script_plan make_script_plan(const scenario_config& scenario);

/// Fields of a connection besides its hosts, for whoever looks for a near name; of the payloads the first.
const std::vector<std::string>& script_field_names();
/// True for a field of a connection, payloads of any number included; its value is not looked at.
bool is_script_field(const std::string& name);

/// What a step may do: "req", "rep", "rtu", "send" put that packet on the wire at the given time; "query" is
/// a MAD of no consequence, from QP1 to QP1 of the connection's other host (an SA path query: it moves the
/// PSN of QP1); "close" destroys the host's QP.
const std::vector<std::string>& script_action_names();

}  // namespace hcasim

#endif
