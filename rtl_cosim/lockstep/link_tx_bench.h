#ifndef HCASIM_RTL_COSIM_LOCKSTEP_LINK_TX_BENCH_H
#define HCASIM_RTL_COSIM_LOCKSTEP_LINK_TX_BENCH_H

#include <memory>

#include "rtl_cosim/lockstep/lockstep_bench.h"

namespace hcasim {

/// Packets of all sizes on all VLs from one or two sources, a peer that gives many, few or strange credits, a
/// receiver with and without news, rates of every kind, arbitration tables, faults behind the wire.
class link_tx_bench final : public lockstep_bench {
public:
    explicit link_tx_bench(const sc_core::sc_module_name& name);
    ~link_tx_bench() override;
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
