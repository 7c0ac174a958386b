#ifndef HCASIM_MODEL_COMMAND_UNIT_COMMAND_UNIT_H
#define HCASIM_MODEL_COMMAND_UNIT_COMMAND_UNIT_H

#include <cstdint>

#include "model/clock/channel.h"
#include "model/clock/ring_queue.h"
#include "model/command_unit/command_unit_config.h"
#include "model/ib/messages.h"

namespace hcasim {

/// Executes commands of the host one after another: fetches the mailbox, works for the firmware's time,
/// changes the context, writes the mailbox back and raises the `command` event. Cycle contract:
/// docs/microarchitecture.md, "command unit".
class command_unit : public clocked_module {
public:
    command_unit(const sc_core::sc_module_name& name, clock_domain& domain);

    in_port<command_doorbell> command_i;
    out_port<dma_read> read_o;
    in_port<dma_read_done> read_i;
    out_port<dma_write> write_o;
    out_port<qpc_request> context_o;
    in_port<qpc_response> context_i;
    out_port<queue_setup> setup_o;
    out_port<event> event_o;

    void reset(const command_unit_config& config, std::uint64_t clock_mhz, ib::packet_pool& pool);
    void tick() override;

    struct counters_t {
        std::uint64_t commands = 0;
        std::uint64_t refused = 0;
        std::uint64_t already_rts =
            0;  ///< modify to RTS of a QP that a packet had brought there: accepted, nothing changed
        std::uint64_t max_queue = 0;
    };
    const counters_t& counters() const { return m_counters; }

private:
    enum class step : std::uint8_t {
        idle,
        fetch,
        wait_mailbox,
        read_context,
        wait_context,
        work,
        apply,
        wait_apply,
        write_back,
        report
    };

    void start(std::uint64_t ns);
    void check();
    void prepare_create();
    bool validate_modify(const ib::qp_context& context);
    void finish(ib::modify_status status);

    command_unit_config m_config;
    std::uint64_t m_clock_mhz = 250;
    ib::packet_pool* m_pool = nullptr;
    ring_queue<std::uint64_t> m_queue;
    step m_step = step::idle;
    ib::command_mailbox m_mailbox;
    std::uint64_t m_mailbox_address = 0;
    ib::qp_context m_context;  // as read; for create the new one
    qpc_modify m_modify;
    cycle_t m_due = 0;
    counters_t m_counters;
};

}  // namespace hcasim

#endif
