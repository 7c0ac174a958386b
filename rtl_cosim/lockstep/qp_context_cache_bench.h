#ifndef HCASIM_RTL_COSIM_LOCKSTEP_QP_CONTEXT_CACHE_BENCH_H
#define HCASIM_RTL_COSIM_LOCKSTEP_QP_CONTEXT_CACHE_BENCH_H

#include <memory>

#include "rtl_cosim/lockstep/lockstep_bench.h"

namespace hcasim {

/// Requests of all kinds from all three clients, to slots that fit into the cache and to ones that do not; a
/// host memory that is quick or slow; clients, listeners and write-backs that are taken in time or late.
class qp_context_cache_bench final : public lockstep_bench {
public:
    explicit qp_context_cache_bench(const sc_core::sc_module_name& name);
    ~qp_context_cache_bench() override;
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
