#ifndef HCASIM_MODEL_DOORBELL_UNIT_DOORBELL_UNIT_H
#define HCASIM_MODEL_DOORBELL_UNIT_DOORBELL_UNIT_H

#include <cstdint>

#include "model/clock/channel.h"
#include "model/doorbell_unit/doorbell_fifo.h"
#include "model/doorbell_unit/doorbell_unit_config.h"
#include "model/ib/messages.h"
#include "model/stats/observer.h"

namespace hcasim {

/// Decodes doorbell words, coalesces those of send queues per QP and hands them to the scheduler;
/// receive-queue and CQ doorbells pass through. Cycle contract: docs/microarchitecture.md, "doorbell unit".
class doorbell_unit : public clocked_module {
public:
    doorbell_unit(const sc_core::sc_module_name& name, clock_domain& domain);

    in_port<doorbell_write> write_i;
    out_port<send_doorbell> send_o;
    out_port<receive_doorbell> receive_o;
    out_port<cq_doorbell> cq_o;

    virtual void reset(const doorbell_unit_config& config, std::uint32_t qps);
    void set_observer(observer* o) { m_observer = o; }
    void tick() override;

    struct counters_t {
        std::uint64_t received = 0;  ///< doorbell words of all types
        std::uint64_t coalesced = 0;
        std::uint64_t stale = 0;
        std::uint64_t unknown = 0;      ///< type not known: dropped
        std::uint64_t full_events = 0;  ///< words that found the FIFO full
        std::uint32_t max_level = 0;
    };
    const counters_t& counters() const { return m_counters; }
    virtual std::uint32_t fifo_level() const { return m_fifo.level(); }

protected:
    observer* m_observer = nullptr;
    counters_t m_counters;

private:
    bool take(const doorbell_write& write, bool was_full);

    doorbell_fifo m_fifo;
    bool m_blocked = false;  // the front word has been counted as having found the FIFO full
};

}  // namespace hcasim

#endif
