#ifndef HCASIM_RTL_COSIM_LOCKSTEP_SEND_SCHEDULER_BENCH_H
#define HCASIM_RTL_COSIM_LOCKSTEP_SEND_SCHEDULER_BENCH_H

#include <memory>

#include "rtl_cosim/lockstep/lockstep_bench.h"

namespace hcasim {

/// QPs that live, are posted to, closed, flushed and replaced while a send engine serves, holds and rewinds
/// them; and, drawn into it, what no engine and no host would do.
class send_scheduler_bench final : public lockstep_bench {
public:
    explicit send_scheduler_bench(const sc_core::sc_module_name& name);
    ~send_scheduler_bench() override;
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
