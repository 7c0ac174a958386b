#ifndef HCASIM_MODEL_CLOCK_CHANNEL_CORE_H
#define HCASIM_MODEL_CLOCK_CHANNEL_CORE_H

#include <vector>

#include "model/clock/channel_control.h"

namespace hcasim {

/// Registered valid/ready channel between two modules of one domain: at most one push and one pop per cycle.
///
/// Order independence without an update phase: an entry carries the first cycle in which it is visible (push
/// + latency), and a producer sees a slot freed in cycle n from n + 1 on. Nothing that happens in cycle n can
/// be seen in cycle n, so the order of the ticks within a cycle cannot matter. A push wakes the consumer for
/// the cycle of visibility; a pop wakes the producer only if it had been refused.
template <class T>
class channel_core : public channel_control {
public:
    void reset(const channel_config& config) {
        m_ring.assign(reset_control(config), T{});
        m_values = m_ring.data();
    }

    /// Pushes one entry; can_push() must be true.
    void push(const T& value) { m_values[enter()] = value; }

    /// Pushes an entry that holds what an earlier one has left, to be filled in within this tick: for entries
    /// too large to be copied once more.
    T& push_slot() { return m_values[enter()]; }

    const T& front() const { return m_values[front_place()]; }
    /// The newest entry; one must be there.
    const T& back() const { return m_values[newest_place()]; }

    /// Removes the front entry; can_pop() must be true. drop() is for entries too large to be copied.
    T pop() {
        T value = front();
        drop();
        return value;
    }

private:
    T* m_values = nullptr;
    std::vector<T> m_ring;
};

}  // namespace hcasim

#endif
