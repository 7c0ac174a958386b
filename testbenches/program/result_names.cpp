#include "testbenches/program/result_names.h"

#include <array>

namespace hcasim {

std::string opener_name(ib::gate_opener opener) {
    constexpr std::array<const char*, ib::gate_opener_count> names = {"none", "rtu", "packet", "comm_est",
                                                                      "command"};
    return names.at(static_cast<std::size_t>(opener));
}

std::string point_name(stage s) {
    constexpr std::array<const char*, stage_count> names = {
        "submitted", "posted",  "doorbell", "pending", "gate",  "grant",    "context",
        "wqe",       "payload", "wire",     "sent",    "acked", "completed"};
    return names.at(static_cast<std::size_t>(s));
}

}  // namespace hcasim
