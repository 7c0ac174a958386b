#include "model/link/link_config.h"

#include <vector>

namespace hcasim {

namespace {

struct lane {
    const char* name;
    std::uint64_t signal_kbps;
    std::uint64_t numerator, denominator;  // encoding
};

// Lane rates and encodings: Linux ib_rate tables and IBTA vol. 2; rnic-facts section 2.5 lists the data rates
// 8, 16, 32, 40, 54.54, 100, 200, 400 of 4X.
constexpr lane lanes[] = {
    {"SDR", 2500000, 8, 10},     {"DDR", 5000000, 8, 10},   {"QDR", 10000000, 8, 10},
    {"FDR10", 10312500, 64, 66}, {"FDR", 14062500, 64, 66}, {"EDR", 25781250, 64, 66},
    {"HDR", 50000000, 1, 1},     {"NDR", 100000000, 1, 1},
};
constexpr std::uint64_t widths[] = {1, 2, 4, 8, 12};

}  // namespace

link_rate rate_of(link_speed speed, link_width width) {
    const lane& l = lanes[static_cast<std::size_t>(speed)];
    return {l.signal_kbps * widths[static_cast<std::size_t>(width)] * l.numerator, l.denominator};
}

std::string describe_link(link_speed speed, link_width width) {
    return std::to_string(widths[static_cast<std::size_t>(width)]) + "X " +
           lanes[static_cast<std::size_t>(speed)].name;
}

void link_config::describe(parameter_list& list) {
    list.choice("link.speed", speed, {"sdr", "ddr", "qdr", "fdr10", "fdr", "edr", "hdr", "ndr"},
                {"1", "lane speed; SDR..QDR use 8b/10b, FDR10..EDR 64b/66b, HDR and NDR are net of FEC",
                 evidence::documented, "IBTA vol. 2; 4X data rates 8, 16, 32, 40, 54.5, 100, 200, 400 Gb/s"});
    list.choice("link.width", width, {"1x", "2x", "4x", "8x", "12x"},
                {"1", "lanes", evidence::documented, "IBTA vol. 2"});
    list.integer("link.data_vls", data_vls, 1, 15,
                 {"VLs", "data VLs; service level i uses VL i modulo this", evidence::documented,
                  "IBTA 7.6: 1, 2, 4, 8 or 15; SL2VL table"});
    list.integer("link.vl_buffer_bytes", vl_buffer_bytes, 4224, 130048,
                 {"bytes", "receive buffer of each data VL, announced as credits of 64 bytes",
                  evidence::assumed, "IBTA 7.9: at most 2047 blocks"});
    list.integer("link.propagation_ns", propagation_ns, 0, 100000000,
                 {"ns", "cable delay", evidence::assumed, "5 ns per metre, 2 m"});
    list.integer("link.framing_bytes", framing_bytes, 0, 16,
                 {"bytes", "delimiters of each packet on the wire", evidence::documented,
                  "IBTA vol. 2: SDP and EGP symbols (8b/10b)"});
    list.integer("link.tx_queue_packets", tx_queue_packets, 1, 4096,
                 {"packets", "transmit queue of each VL", evidence::assumed, ""});
    list.integer(
        "link.rx_pipeline_cycles", rx_pipeline_cycles, 1, 1000,
        {"cycles", "last byte at the port to packet at the receive engine: descrambling, VCRC, VL buffer",
         evidence::assumed, ""});
    list.integer("link.credit_update_bytes", credit_update_bytes, 64, 65536,
                 {"bytes", "freed buffer space after which a flow-control packet is sent at once",
                  evidence::assumed, ""});
    list.integer(
        "link.high_limit", high_limit, 0, 255,
        {"4096 bytes",
         "bytes of high-priority VLs before a low-priority packet may go; 0 = one packet, 255 = no limit",
         evidence::documented, "IBTA 7.6.9.2.3 (Limit of High Priority)"});
    for (std::size_t i = 0; i < low_weight.size(); ++i) {
        list.integer("link.low_weight_vl" + std::to_string(i), low_weight[i], 0, 255,
                     {"64 bytes", "low-priority arbitration weight of this VL; 0 = not in the table",
                      evidence::documented, "IBTA 7.6.9"});
        list.integer("link.high_weight_vl" + std::to_string(i), high_weight[i], 0, 255,
                     {"64 bytes", "high-priority arbitration weight of this VL; 0 = not in the table",
                      evidence::documented, "IBTA 7.6.9"});
    }
    const char* names[packet_class_count] = {"cm_req",  "cm_rep",   "cm_rtu",   "cm_rtu_again", "cm_other",
                                             "request", "response", "datagram", "flow_control"};
    for (std::size_t i = 0; i < packet_class_count; ++i) {
        const std::string prefix = std::string("fault.") + names[i] + ".";
        fault_config& f = faults[i];
        list.real(
            prefix + "loss", f.loss, 0, 1,
            {"1", "probability that a packet of this class is lost on the wire", evidence::assumed, ""});
        list.real(
            prefix + "delay", f.delay, 0, 1,
            {"1", "probability that it is delayed; packets behind it overtake it", evidence::assumed, ""});
        list.integer(prefix + "delay_ns", f.delay_ns, 0, 10000000000ULL,
                     {"ns", "by how much", evidence::assumed, ""});
        list.real(prefix + "corruption", f.corruption, 0, 1,
                  {"1", "probability that one bit is flipped (found by the VCRC)", evidence::assumed, ""});
        list.real(prefix + "hidden_corruption", f.hidden_corruption, 0, 1,
                  {"1", "probability that one bit is flipped and the VCRC made right (found by the ICRC)",
                   evidence::assumed, ""});
    }
}

}  // namespace hcasim
