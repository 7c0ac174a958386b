#ifndef HCASIM_MODEL_LINK_LINK_CONFIG_H
#define HCASIM_MODEL_LINK_LINK_CONFIG_H

#include <array>
#include <cstdint>
#include <string>

#include "model/stats/parameter.h"

namespace hcasim {

enum class link_speed : std::uint8_t { sdr, ddr, qdr, fdr10, fdr, edr, hdr, ndr };
enum class link_width : std::uint8_t { x1, x2, x4, x8, x12 };

/// Packet classes that faults are injected into, by what the packet is.
enum class packet_class : std::uint8_t {
    cm_req,
    cm_rep,
    cm_rtu,
    cm_rtu_again,
    cm_other,
    request,
    response,
    datagram,
    flow_control
};
constexpr unsigned packet_class_count = 9;

/// Faults of one class on one port's transmit side. Probabilities per packet.
struct fault_config {
    double loss = 0;
    double delay = 0;
    std::uint64_t delay_ns = 0;  ///< a delayed packet arrives this much later; packets behind it overtake it
    double corruption = 0;       ///< one bit flipped; the VCRC finds it
    double hidden_corruption =
        0;  ///< one bit flipped and the VCRC made right (as a bad switch does): the ICRC finds it
};

/// One port: rate, virtual lanes, credits, arbitration, propagation, faults.
struct link_config {
    link_speed speed = link_speed::edr;
    link_width width = link_width::x4;
    std::uint32_t data_vls = 2;
    std::uint32_t vl_buffer_bytes = 32768;
    std::uint32_t propagation_ns = 10;
    std::uint32_t framing_bytes = 2;
    std::uint32_t tx_queue_packets = 16;
    std::uint32_t rx_pipeline_cycles = 4;
    std::uint32_t credit_update_bytes = 4096;
    std::uint32_t high_limit = 0;
    /// Low- and high-priority VL arbitration weights by data VL, in units of 64 bytes; 0 = not in that table.
    std::array<std::uint32_t, 15> low_weight = {64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64};
    std::array<std::uint32_t, 15> high_weight = {};
    std::array<fault_config, packet_class_count> faults;
    void describe(parameter_list& list);
};

/// Data rate of a port after encoding as an exact fraction, in kbit/s (4X EDR: 100,000,000).
struct link_rate {
    std::uint64_t data_kbps_numerator;
    std::uint64_t data_kbps_denominator;
};
link_rate rate_of(link_speed speed, link_width width);

/// "4X EDR".
std::string describe_link(link_speed speed, link_width width);

}  // namespace hcasim

#endif
