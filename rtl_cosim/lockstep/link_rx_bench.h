#ifndef HCASIM_RTL_COSIM_LOCKSTEP_LINK_RX_BENCH_H
#define HCASIM_RTL_COSIM_LOCKSTEP_LINK_RX_BENCH_H

#include <memory>

#include "rtl_cosim/lockstep/lockstep_bench.h"

namespace hcasim {

/// A peer that obeys its credits or does not, loses packets, breaks CRCs and names VLs that are not there;
/// packets that follow each other without a gap or lie over each other; neighbours that hesitate.
class link_rx_bench final : public lockstep_bench {
public:
    explicit link_rx_bench(const sc_core::sc_module_name& name);
    ~link_rx_bench() override;
    rtl_block& verilog() override;
    std::vector<std::map<std::string, std::uint64_t>> sizes_of_mutants() const override;

protected:
    void reset_block(lockstep_random& random) override;

private:
    struct parts;
    std::unique_ptr<parts> m_parts;
};

}  // namespace hcasim

#endif
