#ifndef HCASIM_TESTBENCHES_BENCH_HOST_LAYOUT_H
#define HCASIM_TESTBENCHES_BENCH_HOST_LAYOUT_H

#include <cstdint>

namespace hcasim {

/// Hosts of a scenario, at most.
constexpr std::uint32_t max_hosts = 26;
/// Longest message of a workload.
constexpr std::uint32_t max_message_bytes = 65536;

// QPNs of host software. QPs 0 and 1 are the management QPs of every port; data QPs follow from
// first_data_qpn on, so that each has a slot of its own as long as there are no more of them than slots.
constexpr std::uint32_t management_qpn = 1;
constexpr std::uint32_t first_data_qpn = 2;

// Memory of a host: the HCA's context memory at hca_config::context_address, host software's own behind it.
constexpr std::uint64_t bar_address = 0xf0000000u;

}  // namespace hcasim

#endif
