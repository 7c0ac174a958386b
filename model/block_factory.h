#ifndef HCASIM_MODEL_BLOCK_FACTORY_H
#define HCASIM_MODEL_BLOCK_FACTORY_H

#include <cstdint>
#include <memory>

#include "model/doorbell_unit/doorbell_unit.h"
#include "model/link/link_rx.h"
#include "model/link/link_tx.h"
#include "model/qp_context_cache/qp_context_cache.h"
#include "model/send_scheduler/send_scheduler.h"

namespace hcasim {

/// Makes those blocks of a card that something else may stand in for: here the model's own. A derived factory
/// gives blocks that derive from these, with the same ports: Verilog in their place, or beside them.
class block_factory {
public:
    block_factory() = default;
    block_factory(const block_factory&) = delete;
    block_factory& operator=(const block_factory&) = delete;
    virtual ~block_factory() = default;

    virtual std::unique_ptr<doorbell_unit> make_doorbell_unit(const char* name, clock_domain& domain) {
        return std::make_unique<doorbell_unit>(name, domain);
    }
    virtual std::unique_ptr<qp_context_cache> make_qp_context_cache(const char* name, clock_domain& domain,
                                                                    ib::packet_pool& pool) {
        return std::make_unique<qp_context_cache>(name, domain, pool);
    }
    virtual std::unique_ptr<send_scheduler> make_send_scheduler(const char* name, clock_domain& domain) {
        return std::make_unique<send_scheduler>(name, domain);
    }
    virtual std::unique_ptr<link_tx> make_link_tx(const char* name, clock_domain& domain,
                                                  ib::packet_pool& pool,
                                                  std::uint32_t sources = link_tx::source_count) {
        return std::make_unique<link_tx>(name, domain, pool, sources);
    }
    virtual std::unique_ptr<link_rx> make_link_rx(const char* name, clock_domain& domain,
                                                  ib::packet_pool& pool) {
        return std::make_unique<link_rx>(name, domain, pool);
    }
};

}  // namespace hcasim

#endif
