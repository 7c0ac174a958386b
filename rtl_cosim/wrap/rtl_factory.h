#ifndef HCASIM_RTL_COSIM_WRAP_RTL_FACTORY_H
#define HCASIM_RTL_COSIM_WRAP_RTL_FACTORY_H

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "model/block_factory.h"
#include "rtl_cosim/wrap/rtl_block.h"
#include "rtl_cosim/wrap/rtl_config.h"
#include "rtl_cosim/wrap/rtl_send_path.h"

namespace hcasim {

/// Makes blocks that can be Verilog. Which of them are is said before each reset of the cards.
class rtl_factory final : public block_factory {
public:
    /// Called when a block that is compared differs, at most once until the next set_modes().
    std::function<void()> on_difference;

    void set_modes(const rtl_config& config);
    const std::optional<rtl_difference>& difference() const { return m_difference; }
    /// When the cards have been reset and before the first cycle. Throws verilog_error.
    void prepare();
    /// The end of a run: what is compared behind the blocks catches up.
    void finish();
    /// All that were made.
    const std::vector<rtl_block*>& blocks() const { return m_blocks; }

    std::unique_ptr<doorbell_unit> make_doorbell_unit(const char* name, clock_domain& domain) override;
    std::unique_ptr<qp_context_cache> make_qp_context_cache(const char* name, clock_domain& domain,
                                                            ib::packet_pool& pool) override;
    std::unique_ptr<send_scheduler> make_send_scheduler(const char* name, clock_domain& domain) override;
    std::unique_ptr<link_tx> make_link_tx(const char* name, clock_domain& domain, ib::packet_pool& pool,
                                          std::uint32_t sources = link_tx::source_count) override;
    std::unique_ptr<link_rx> make_link_rx(const char* name, clock_domain& domain,
                                          ib::packet_pool& pool) override;

private:
    void watch(rtl_block& block, rtl_send_path::part part, clock_domain& domain);
    void note(const rtl_difference& d);

    rtl_config m_config;
    std::optional<rtl_difference> m_difference;
    std::vector<rtl_block*> m_blocks;
    /// Of each card whose blocks are all here; the last one may still wait for some.
    std::vector<std::unique_ptr<rtl_send_path>> m_paths;
    std::vector<std::function<void()>> m_set_mode;
};

}  // namespace hcasim

#endif
