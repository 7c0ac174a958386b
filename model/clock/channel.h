#ifndef HCASIM_MODEL_CLOCK_CHANNEL_H
#define HCASIM_MODEL_CLOCK_CHANNEL_H

#include <systemc>

#include "model/clock/channel_core.h"
#include "model/clock/clocked_module.h"

namespace hcasim {

/// Producer side of a channel.
template <class T>
class channel_out_if : virtual public sc_core::sc_interface {
public:
    virtual void set_producer(tickable& producer) = 0;
    virtual channel_core<T>& core() = 0;
};

/// Consumer side of a channel.
template <class T>
class channel_in_if : virtual public sc_core::sc_interface {
public:
    virtual void set_consumer(tickable& consumer) = 0;
    virtual channel_core<T>& core() = 0;
};

/// The SystemC channel around channel_core; see there for its rules.
template <class T>
class channel final : public sc_core::sc_module, public channel_out_if<T>, public channel_in_if<T> {
public:
    channel(const sc_core::sc_module_name& name, clock_domain& domain) : sc_core::sc_module(name) {
        m_core.attach(domain.cycles());
        m_core.reset({});
    }
    void reset(const channel_config& config) { m_core.reset(config); }
    void set_producer(tickable& producer) override { m_core.set_producer(producer); }
    void set_consumer(tickable& consumer) override { m_core.set_consumer(consumer); }
    channel_core<T>& core() override { return m_core; }
    const channel_core<T>& core() const { return m_core; }

private:
    channel_core<T> m_core;
};

/// Output port of a clocked module. The channel is looked up once, when binding is complete, so that a push
/// costs no virtual call.
template <class T, sc_core::sc_port_policy Policy = sc_core::SC_ONE_OR_MORE_BOUND>
class out_port : public sc_core::sc_port<channel_out_if<T>, 1, Policy> {
public:
    out_port(const char* name, tickable& owner)
        : sc_core::sc_port<channel_out_if<T>, 1, Policy>(name), m_owner(owner) {}

    bool is_bound() const { return m_core != nullptr; }
    bool can_push() { return m_core->can_push(); }
    void push(const T& value) { m_core->push(value); }
    T& push_slot() { return m_core->push_slot(); }
    const channel_core<T>& core() const { return *m_core; }

protected:
    void end_of_elaboration() override {
        if (this->size() != 0) {
            m_core = &(*this)->core();
            (*this)->set_producer(m_owner);
        }
    }

private:
    tickable& m_owner;
    channel_core<T>* m_core = nullptr;
};

/// An output that may stay unbound; ask is_bound() before using it.
template <class T>
using optional_out_port = out_port<T, sc_core::SC_ZERO_OR_MORE_BOUND>;

/// Input port of a clocked module.
template <class T>
class in_port : public sc_core::sc_port<channel_in_if<T>> {
public:
    in_port(const char* name, tickable& owner)
        : sc_core::sc_port<channel_in_if<T>>(name), m_owner(owner), m_flag(owner.claim_input()) {}

    bool can_pop() { return can_pop(m_owner.filled_inputs()); }
    /// The same with the owner's filled_inputs() of this tick at hand.
    bool can_pop(std::uint64_t filled) { return (filled & m_flag) != 0 && m_core->can_pop(); }
    bool has_visible() const { return is_filled() && m_core->has_visible(); }
    const T& front() const { return m_core->front(); }
    T pop() { return m_core->pop(); }
    void drop() { m_core->drop(); }
    const channel_core<T>& core() const { return *m_core; }
    /// Bit of this input in the owner's filled_inputs().
    std::uint64_t flag() const { return m_flag; }

protected:
    void end_of_elaboration() override {
        m_core = &(*this)->core();
        (*this)->set_consumer(m_owner);
        constexpr std::uint64_t shared_flag = std::uint64_t{1} << 63;
        m_core->set_flag(m_flag, m_flag == shared_flag);
    }

private:
    bool is_filled() const { return (m_owner.filled_inputs() & m_flag) != 0; }

    tickable& m_owner;
    std::uint64_t m_flag;
    channel_core<T>* m_core = nullptr;
};

}  // namespace hcasim

#endif
