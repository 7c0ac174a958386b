#ifndef HCASIM_RTL_COSIM_LOCKSTEP_DOORBELL_UNIT_BENCH_H
#define HCASIM_RTL_COSIM_LOCKSTEP_DOORBELL_UNIT_BENCH_H

#include <memory>

#include "rtl_cosim/lockstep/lockstep_bench.h"

namespace hcasim {

/// Doorbell words of all types to few and to many QPs, fresh, stale and wrapping indices, consumers that
/// hesitate.
class doorbell_unit_bench final : public lockstep_bench {
public:
    explicit doorbell_unit_bench(const sc_core::sc_module_name& name);
    ~doorbell_unit_bench() override;
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
