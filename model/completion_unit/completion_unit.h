#ifndef HCASIM_MODEL_COMPLETION_UNIT_COMPLETION_UNIT_H
#define HCASIM_MODEL_COMPLETION_UNIT_COMPLETION_UNIT_H

#include <array>
#include <cstdint>
#include <vector>

#include "model/clock/channel.h"
#include "model/clock/ring_queue.h"
#include "model/completion_unit/completion_unit_config.h"
#include "model/ib/messages.h"

namespace hcasim {

/// Writes CQEs and event-queue entries, and raises interrupts. Cycle contract: docs/microarchitecture.md,
/// "completion unit".
class completion_unit : public clocked_module {
public:
    enum completion_source : std::uint32_t { send_completion, receive_completion, completion_sources };
    enum event_source : std::uint32_t { send_event, receive_event, command_event, event_sources };

    completion_unit(const sc_core::sc_module_name& name, clock_domain& domain);

    std::array<in_port<completion>, completion_sources> completion_i;
    std::array<in_port<event>, event_sources> event_i;
    in_port<cq_doorbell> doorbell_i;
    in_port<queue_setup> setup_i;
    out_port<dma_write> write_o;

    void reset(const completion_unit_config& config);
    void tick() override;

    struct counters_t {
        std::uint64_t cqes = 0;
        std::uint64_t events = 0;
        std::uint64_t interrupts = 0;
        std::uint64_t overruns =
            0;  ///< CQEs dropped because their CQ was full (IBTA C9-218 makes that a CQ error)
        std::uint64_t unknown_cq = 0;
        std::uint64_t max_event_queue = 0;  ///< events that waited to be written
        std::uint64_t event_queue_full =
            0;  ///< times that events began to wait for room in the host's event queue
    };
    const counters_t& counters() const { return m_counters; }

private:
    struct queue {
        std::uint64_t address = 0;
        std::uint32_t entries = 0;  // 0 = not set up
        std::uint32_t producer = 0;
        std::uint16_t consumer = 0;  // as the host last told
        bool armed = false;          // event queue: the host tells its consumer index
        bool failed = false;
    };

    [[gnu::cold]] void take_setup(const queue_setup& s);
    [[gnu::cold]] void take_doorbell(const cq_doorbell& d);
    bool write_completion();
    void write_completion(const completion& c);
    void raise_event(ib::event_type type, std::uint32_t number);
    bool send_event_waits();
    bool can_write_event() const;

    completion_unit_config m_config;
    std::uint64_t m_event_inputs = 0;  // bits of filled_inputs()
    std::uint64_t m_completion_inputs = 0;
    std::vector<queue> m_cqs;  // by CQN
    queue m_eq;
    ring_queue<event> m_events;
    bool m_eq_full = false;
    std::uint32_t m_next_completion = 0;
    std::uint32_t m_passed_send_event = 0;  // send completions taken while the send engine's event waits
    std::uint32_t m_unreported = 0;         // events written since the last interrupt
    cycle_t m_interrupt_due = never;
    counters_t m_counters;
};

}  // namespace hcasim

#endif
