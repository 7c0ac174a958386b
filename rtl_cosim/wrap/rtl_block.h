#ifndef HCASIM_RTL_COSIM_WRAP_RTL_BLOCK_H
#define HCASIM_RTL_COSIM_WRAP_RTL_BLOCK_H

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/clock/channel.h"
#include "rtl_cosim/wrap/message_fields.h"
#include "rtl_cosim/wrap/rtl_difference.h"
#include "rtl_cosim/wrap/rtl_mode.h"
#include "rtl_cosim/wrap/rtl_recording.h"
#include "rtl_cosim/wrap/rtl_stand_in.h"
#include "rtl_cosim/wrap/rtl_watcher.h"
#include "rtl_cosim/wrap/verilog_block.h"

namespace hcasim {

/// One port of a block and its pins.
class rtl_port {
public:
    virtual ~rtl_port() = default;
    /// Finds the pins; throws verilog_error when one is missing or of another width.
    virtual void bind(verilog_block& block) = 0;
    /// Sets the pins that are inputs of the Verilog from what the channel shows in this cycle.
    virtual void drive() = 0;
    /// Lets pass what the Verilog lets pass; true when a message passed or is held up.
    virtual bool apply() = 0;
    /// Whether a valid input is there in this cycle.
    virtual bool has_input() const = 0;
    /// After the model's tick: the first thing in which the Verilog differs.
    virtual bool differs(rtl_difference& d) = 0;
    /// For a design whose outputs come later: the inputs that the model has just taken, outputs always ready.
    virtual void drive_taken() = 0;
    /// ... and the difference from what the model did `latency_cycles` ago.
    virtual bool differs_later(rtl_difference& d, std::uint32_t latency_cycles) = 0;
    virtual void restart() = 0;
    /// True when the Verilog lets a message pass in this cycle.
    virtual bool fires() const = 0;
    virtual void declare(rtl_watcher& w) const = 0;
    virtual void sample(cycle_t cycle, std::vector<std::uint64_t>& all, rtl_watcher& w) = 0;
};

namespace rtl_detail {

// Finds the pins of a message.
struct field_binder {
    verilog_block& block;
    const std::string& port;
    const char* suffix;
    std::vector<verilog_pin>& pins;
    template <class T>
    void field(const char* name, T&, std::uint32_t width_bits) {
        add(name, width_bits);
    }
    void bytes(const char* name, std::uint8_t*, std::size_t bytes) {
        add(name, static_cast<std::uint32_t>(8 * bytes));
    }
    void add(const char* name, std::uint32_t width_bits);
};

struct field_setter {
    const std::vector<verilog_pin>& pins;
    std::size_t at = 0;
    template <class T>
    void field(const char*, T& value, std::uint32_t) {
        pins[at++].set(static_cast<std::uint64_t>(value));
    }
    void bytes(const char*, std::uint8_t* data, std::size_t bytes) { pins[at++].set_bytes(data, bytes); }
};

struct field_getter {
    const std::vector<verilog_pin>& pins;
    std::size_t at = 0;
    template <class T>
    void field(const char*, T& value, std::uint32_t) {
        value = static_cast<T>(pins[at++].get());
    }
    void bytes(const char*, std::uint8_t* data, std::size_t bytes) { pins[at++].get_bytes(data, bytes); }
};

// Compares the model's message with the pins.
struct field_comparer {
    const std::vector<verilog_pin>& pins;
    rtl_difference* difference = nullptr;
    const std::string* port = nullptr;
    std::size_t at = 0;
    bool differs = false;
    template <class T>
    void field(const char* name, T& value, std::uint32_t width_bits) {
        const std::uint64_t mask =
            width_bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width_bits) - 1;
        const std::uint64_t expected = static_cast<std::uint64_t>(value) & mask;
        const std::uint64_t actual = pins[at++].get() & mask;
        if (expected != actual && !differs) {
            differs = true;
            note(name, expected, actual);
        }
    }
    void bytes(const char* name, std::uint8_t* data, std::size_t bytes);
    void note(const char* name, std::uint64_t expected, std::uint64_t actual);
};

struct field_printer {
    std::string text;
    bool has_qpn = false;
    std::uint32_t qpn = 0;
    template <class T>
    void field(const char* name, T& value, std::uint32_t) {
        add(name, static_cast<std::uint64_t>(value));
    }
    void bytes(const char* name, std::uint8_t* data, std::size_t bytes);
    void add(const char* name, std::uint64_t value);
};

struct field_declarer {
    rtl_watcher& watcher;
    const std::string& port;
    bool of_model;
    template <class T>
    void field(const char* name, T&, std::uint32_t width_bits) {
        watcher.declare(port + "_" + name, width_bits, of_model);
    }
    void bytes(const char* name, std::uint8_t*, std::size_t) {
        watcher.declare(port + "_" + name, 64, of_model);
    }
};

struct field_sampler {
    std::vector<std::uint64_t>& all;
    template <class T>
    void field(const char*, T& value, std::uint32_t width_bits) {
        const std::uint64_t mask =
            width_bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width_bits) - 1;
        all.push_back(static_cast<std::uint64_t>(value) & mask);
    }
    void bytes(const char*, std::uint8_t* data, std::size_t bytes);
};

template <class T, class Fields>
field_printer print(T& message) {
    field_printer printer;
    Fields::visit(message, printer);
    if (!printer.has_qpn) {
        printer.has_qpn = message_qpn<T>::get(message, printer.qpn);
    }
    return printer;
}

verilog_pin handshake_pin(verilog_block& block, const std::string& name);

}  // namespace rtl_detail

/// An input: the channel's `valid` and front message go in, `ready` comes out.
template <class T, class Fields = message_fields<T>>
class rtl_input final : public rtl_port {
public:
    rtl_input(std::string name, in_port<T>& port) : m_name(std::move(name)), m_port(port) {}

    void bind(verilog_block& block) override {
        m_pins.clear();
        m_valid = rtl_detail::handshake_pin(block, m_name + "_valid_i");
        m_ready = rtl_detail::handshake_pin(block, m_name + "_ready_o");
        rtl_detail::field_binder binder{block, m_name, "_i", m_pins};
        T message{};
        Fields::visit(message, binder);
    }
    void drive() override {
        m_is_valid = m_port.core().is_valid();
        m_valid.set(m_is_valid ? 1 : 0);
        if (m_is_valid) {
            m_message = m_port.front();
            rtl_detail::field_setter setter{m_pins};
            Fields::visit(m_message, setter);
        }
    }
    bool has_input() const override { return m_is_valid; }
    bool fires() const override { return m_is_valid && m_ready.get() != 0; }
    bool apply() override {
        if (fires()) {
            m_port.drop();
        } else if (!m_is_valid) {
            (void)m_port.can_pop();  // what is held back by the channel asks to be woken
        }
        return m_is_valid;
    }
    bool differs(rtl_difference& d) override {
        const bool expected = m_port.core().was_popped();
        if (expected == fires()) {
            return false;
        }
        const auto printer = rtl_detail::print<T, Fields>(m_message);
        d.port = m_name + "_i";
        d.expected = (expected ? "takes " : "does not take ") + printer.text;
        d.actual = fires() ? "takes it" : "does not take it";
        d.has_qpn = printer.has_qpn;
        d.qpn = printer.qpn;
        return true;
    }
    void drive_taken() override { m_valid.set(m_port.core().was_popped() ? 1 : 0); }
    bool differs_later(rtl_difference&, std::uint32_t) override { return false; }
    void restart() override { m_is_valid = false; }
    void declare(rtl_watcher& w) const override {
        w.declare(m_name + "_valid", 1, true);
        w.declare(m_name + "_ready", 1, true);
        w.declare(m_name + "_ready", 1, false);
        T message{};
        rtl_detail::field_declarer declarer{w, m_name, true};
        Fields::visit(message, declarer);
    }
    void sample(cycle_t cycle, std::vector<std::uint64_t>& all, rtl_watcher& w) override {
        const bool popped = m_port.core().was_popped();
        all.push_back(m_is_valid ? 1 : 0);
        all.push_back(popped ? 1 : 0);
        all.push_back(m_ready.get());
        rtl_detail::field_sampler sampler{all};
        Fields::visit(m_message, sampler);
        if (popped) {
            const auto printer = rtl_detail::print<T, Fields>(m_message);
            w.message(cycle, m_name + "_i", printer.text, printer.has_qpn, printer.qpn);
        }
    }

    /// The message at the front; valid while has_input().
    T& message() { return m_message; }

private:
    std::string m_name;
    in_port<T>& m_port;
    std::vector<verilog_pin> m_pins;
    verilog_pin m_valid;
    verilog_pin m_ready;
    T m_message{};
    bool m_is_valid = false;
};

/// An output: `ready` goes in, `valid` and the message come out.
template <class T, class Fields = message_fields<T>, class Port = out_port<T>>
class rtl_output final : public rtl_port {
public:
    rtl_output(std::string name, Port& port) : m_name(std::move(name)), m_port(port) {}

    /// Completes a message that the Verilog sends, before it is pushed (in the place of the model only).
    std::function<void(T&)> complete;

    void bind(verilog_block& block) override {
        m_pins.clear();
        m_valid = rtl_detail::handshake_pin(block, m_name + "_valid_o");
        m_ready = rtl_detail::handshake_pin(block, m_name + "_ready_i");
        rtl_detail::field_binder binder{block, m_name, "_o", m_pins};
        T message{};
        Fields::visit(message, binder);
    }
    void drive() override {
        m_is_ready = m_port.is_bound() ? m_port.core().is_ready() : true;
        m_ready.set(m_is_ready ? 1 : 0);
    }
    bool has_input() const override { return false; }
    bool fires() const override { return m_is_ready && m_valid.get() != 0; }
    bool apply() override {
        if (m_valid.get() == 0) {
            return false;
        }
        if (!m_port.is_bound()) {
            return true;
        }
        if (m_port.can_push()) {  // when refused, this asks to be woken
            T message{};
            rtl_detail::field_getter getter{m_pins};
            Fields::visit(message, getter);
            if (complete) {
                complete(message);
            }
            m_port.push(message);
        }
        return true;
    }
    bool differs(rtl_difference& d) override { return m_port.is_bound() && compare(pushed_now(), d); }
    void drive_taken() override {
        m_is_ready = true;
        m_ready.set(1);
    }
    bool differs_later(rtl_difference& d, std::uint32_t latency_cycles) override {
        m_history.push_back(pushed_now());
        if (m_history.size() <= latency_cycles) {
            return compare(std::nullopt, d);
        }
        const std::optional<T> expected = m_history.front();
        m_history.pop_front();
        return compare(expected, d);
    }
    void restart() override { m_history.clear(); }
    std::optional<T> pushed_now() const {
        return m_port.is_bound() && m_port.core().was_pushed() ? std::optional<T>(m_port.core().back())
                                                               : std::nullopt;
    }
    bool compare(const std::optional<T>& model, rtl_difference& d) {
        const bool expected = model.has_value();
        if (!expected && !fires()) {
            return false;
        }
        T message{};
        if (expected) {
            message = *model;
        } else {
            rtl_detail::field_getter getter{m_pins};
            Fields::visit(message, getter);
        }
        const auto printer = rtl_detail::print<T, Fields>(message);
        d.has_qpn = printer.has_qpn;
        d.qpn = printer.qpn;
        d.port = m_name + "_o";
        if (expected != fires()) {
            d.expected = expected ? printer.text : "nothing";
            d.actual = expected ? "nothing" : printer.text;
            return true;
        }
        rtl_detail::field_comparer comparer{m_pins, &d, &d.port};
        Fields::visit(message, comparer);
        return comparer.differs;
    }
    void declare(rtl_watcher& w) const override {
        w.declare(m_name + "_ready", 1, true);
        for (const bool of_model : {true, false}) {
            w.declare(m_name + "_valid", 1, of_model);
            T message{};
            rtl_detail::field_declarer declarer{w, m_name, of_model};
            Fields::visit(message, declarer);
        }
    }
    void sample(cycle_t cycle, std::vector<std::uint64_t>& all, rtl_watcher& w) override {
        const bool pushed = m_port.is_bound() && m_port.core().was_pushed();
        if (pushed) {
            m_last = m_port.core().back();
        }
        rtl_detail::field_sampler sampler{all};
        all.push_back(m_is_ready ? 1 : 0);
        all.push_back(pushed ? 1 : 0);
        Fields::visit(m_last, sampler);
        T message{};
        rtl_detail::field_getter getter{m_pins};
        Fields::visit(message, getter);
        all.push_back(m_valid.get());
        Fields::visit(message, sampler);
        if (pushed) {
            const auto printer = rtl_detail::print<T, Fields>(m_last);
            w.message(cycle, m_name + "_o", printer.text, printer.has_qpn, printer.qpn);
        }
    }

private:
    std::string m_name;
    Port& m_port;
    std::vector<verilog_pin> m_pins;
    verilog_pin m_valid;
    verilog_pin m_ready;
    T m_last{};
    bool m_is_ready = false;
    std::deque<std::optional<T>> m_history;
};

/// The Verilog of a block: in its place or beside it. A block's adapter derives from the model's block and
/// holds one of these; its tick() calls tick() here.
class rtl_block {
public:
    explicit rtl_block(tickable& owner, engine& cycles) : m_owner(owner), m_cycles(cycles) {}

    template <class T, class Fields = message_fields<T>>
    rtl_input<T, Fields>& input(const std::string& name, in_port<T>& port) {
        auto made = std::make_unique<rtl_input<T, Fields>>(name, port);
        auto& reference = *made;
        m_ports.push_back(std::move(made));
        return reference;
    }
    template <class T, class Fields = message_fields<T>, class Port = out_port<T>>
    rtl_output<T, Fields, Port>& output(const std::string& name, Port& port) {
        auto made = std::make_unique<rtl_output<T, Fields, Port>>(name, port);
        auto& reference = *made;
        m_ports.push_back(std::move(made));
        return reference;
    }
    /// A port that needs more than the rule of names.
    void add(std::unique_ptr<rtl_port> port) { m_ports.push_back(std::move(port)); }

    /// Whether the design counts cycles in a way that shows outside (periods, times): then those in which it
    /// slept are made up for, else it is simply not clocked in them.
    void set_keeps_time(bool keeps) { m_keeps_time = keeps; }

    /// Called when the inputs of a cycle have been set, before the outputs are looked at.
    std::function<void()> before_settle;
    /// Called in the place of the model, with the outputs of the cycle settled: trace pins.
    std::function<void()> after_settle;
    /// Called when a cycle is done but for its edge: all pins are those of the cycle.
    std::function<void()> before_edge;
    /// In shadow mode: more to be compared after the model's tick, true when it differs.
    std::function<bool(rtl_difference&)> compare_more;

    /// Another design for the place of the project's, from the next reset on; none: the project's.
    void set_stand_in(std::optional<rtl_stand_in> design) { m_stand_in = std::move(design); }

    /// Compiles `source` if need be, resets the Verilog and begins at cycle 1. `configure` sets the cfg pins.
    /// Throws verilog_error.
    void reset(rtl_mode mode, const verilog_source& source, const std::string& block_name,
               const std::function<void(verilog_block&)>& configure);

    /// Sets a cfg pin; for use in `configure`. A stand-in need not have the pin when its one value is given.
    void set_policy(verilog_block& v, const std::string& pin, std::uint64_t value) const;
    /// The value that a stand-in follows, else `drawn`.
    std::uint64_t policy(const std::string& pin, std::uint64_t drawn) const;

    /// What the present design was made of; valid after a reset that was not rtl_mode::model.
    const verilog_source& source() const { return m_source; }
    rtl_mode mode() const { return m_mode; }
    bool is_model() const { return m_mode == rtl_mode::model; }
    verilog_block& verilog() { return *m_verilog; }
    verilog_pin pin(const std::string& name) const { return m_verilog->pin(name); }

    /// One cycle; `model_tick` is the model's.
    template <class Tick>
    void tick(Tick&& model_tick) {
        begin_cycle();
        if (m_mode == rtl_mode::shadow) {
            model_tick();
            if (m_latency_cycles != 0) {
                settle_behind_model();
            }
            compare();
        } else {
            apply();
        }
        end_cycle();
    }

    /// The first difference, in shadow mode. What comes after it is not compared any more.
    const std::optional<rtl_difference>& difference() const { return m_difference; }
    /// Called at the first difference.
    std::function<void(const rtl_difference&)> on_difference;
    void set_watcher(rtl_watcher* watcher);
    /// Notes the inputs of every cycle from the next reset on; null: no more.
    void set_recording(rtl_recording* recording) { m_recording = recording; }
    std::uint64_t transfers() const { return m_transfers; }
    std::uint64_t cycles_compared() const { return m_compared; }

private:
    void begin_cycle();
    void apply();
    void compare();
    void end_cycle();
    void catch_up();
    void settle_behind_model();

    tickable& m_owner;
    engine& m_cycles;
    std::vector<std::unique_ptr<rtl_port>> m_ports;
    std::optional<rtl_stand_in> m_stand_in;
    std::unique_ptr<verilog_block> m_verilog;
    std::string m_loaded;  // what m_verilog was made of
    verilog_source m_source;
    std::string m_name;
    verilog_pin m_busy;
    std::vector<verilog_pin> m_valid_inputs;
    rtl_mode m_mode = rtl_mode::model;
    cycle_t m_done = 0;  // last cycle whose edge the Verilog has had
    bool m_active = false;
    bool m_keeps_time = true;
    std::uint32_t m_latency_cycles = 0;
    std::optional<rtl_difference> m_difference;
    rtl_watcher* m_watcher = nullptr;
    rtl_recording* m_recording = nullptr;
    bool m_declared = false;
    std::vector<std::uint64_t> m_samples;
    std::uint64_t m_transfers = 0;
    std::uint64_t m_compared = 0;
};

}  // namespace hcasim

#endif
