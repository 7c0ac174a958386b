#ifndef HCASIM_MODEL_SEND_SCHEDULER_SEND_SCHEDULER_H
#define HCASIM_MODEL_SEND_SCHEDULER_SEND_SCHEDULER_H

#include <cstdint>
#include <vector>

#include "model/clock/channel.h"
#include "model/clock/qp_table.h"
#include "model/ib/messages.h"
#include "model/send_scheduler/arbiter.h"
#include "model/send_scheduler/send_scheduler_config.h"
#include "model/stats/observer.h"

namespace hcasim {

/// The send gate and the arbitration behind it. A QP is eligible when it is `pending` (producer ahead of
/// consumer), its gate is open (or it is to be flushed), it is not in service and nothing holds it. Cycle
/// contract: docs/microarchitecture.md, "send scheduler".
class send_scheduler : public clocked_module {
public:
    send_scheduler(const sc_core::sc_module_name& name, clock_domain& domain);

    in_port<send_doorbell> doorbell_i;
    in_port<state_event> state_i;
    in_port<scheduler_update> update_i;
    out_port<send_grant> grant_o;

    virtual void reset(const send_scheduler_config& config, std::uint32_t qps);
    void set_observer(observer* o) { m_observer = o; }
    void tick() override;

    struct counters_t {
        std::uint64_t grants = 0;
        std::uint64_t wqes = 0;              ///< WQEs granted
        std::uint64_t doorbells_closed = 0;  ///< doorbells that found the gate closed
        std::uint64_t closed_grants = 0;     ///< gate bits in the context: grants that found the gate closed
        std::uint64_t stale_doorbells = 0;
    };
    const counters_t& counters() const { return m_counters; }
    virtual bool gate_is_open(std::uint32_t qpn) const {
        return m_qps[qpn & m_mask].gate == gate_state::open;
    }
    virtual bool is_pending(std::uint32_t qpn) const { return m_qps[qpn & m_mask].pending(); }

protected:
    observer* m_observer = nullptr;
    counters_t m_counters;

private:
    struct qp {
        std::uint32_t qpn = 0;
        std::uint16_t producer = 0;
        std::uint16_t consumer = 0;
        std::uint16_t resend_until = 0;
        std::uint8_t sl = 0;
        gate_state gate : 2;
        bool in_service : 1;
        bool held : 1;
        bool parked : 1;   // gate bits in the context: the gate was found closed
        bool changed : 1;  // ... and whether it was opened since the grant
        bool ready : 1;
        bool resend : 1;  // WQEs before resend_until had begun: SQD does not close the gate to them

        qp()
            : gate(gate_state::closed),
              in_service(false),
              held(false),
              parked(false),
              changed(false),
              ready(false),
              resend(false) {}
        bool pending() const { return producer != consumer; }
    };
    static_assert(sizeof(qp) == 12, "one for each QP slot: docs of qp_table");

    [[gnu::cold]] void apply(const state_event& e);
    void apply(const send_doorbell& d);
    void apply(const scheduler_update& u);
    void refresh(std::uint32_t slot);
    void stamp(const qp& q, std::uint16_t first, stage s);

    send_scheduler_config m_config;
    std::uint32_t m_mask = 0;
    qp_table<qp> m_qps;
    arbiter m_arbiter;
};

}  // namespace hcasim

#endif
