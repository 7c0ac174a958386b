#include "testbenches/program/run_csv.h"

#include <fmt/format.h>

#include <iterator>

#include "testbenches/program/result_names.h"

namespace hcasim {

namespace {

std::string cycle_text(std::uint64_t cycle) { return cycle == 0 ? std::string{} : std::to_string(cycle); }

}  // namespace

std::string run_csv(const run_result& result) {
    std::string out = "host,qpn,wqe_index,bytes,status,ended,waited_for,command_arrived_cycle";
    for (unsigned i = 0; i < stage_count; ++i) {
        out += "," + point_name(static_cast<stage>(i)) + "_cycle";
    }
    out += "\n";
    for (const wqe_record& w : result.wqes) {
        fmt::format_to(std::back_inserter(out), "{},{},{},{},{},{},{},{}", w.host, w.qpn, w.wqe_index,
                       w.bytes, w.ended ? ib::name(w.status) : "", w.ended ? 1 : 0, opener_name(w.waited_for),
                       cycle_text(w.command_arrived_cycle));
        for (const std::uint64_t cycle : w.cycle) {
            out += "," + cycle_text(cycle);
        }
        out += "\n";
    }
    return out;
}

}  // namespace hcasim
