#ifndef HCASIM_RTL_COSIM_WRAP_RTL_RECORD_PORT_H
#define HCASIM_RTL_COSIM_WRAP_RTL_RECORD_PORT_H

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rtl_cosim/wrap/rtl_block.h"

namespace hcasim {

/// An input whose pins carry something else than the channel: what T says of the message in it.
template <class T>
class rtl_record_input final : public rtl_port {
public:
    explicit rtl_record_input(std::string name) : m_name(std::move(name)) {}

    std::function<bool()> is_valid;   ///< the channel shows a message in this cycle
    std::function<T()> front;         ///< what the pins carry of it
    std::function<bool()> was_taken;  ///< by the model, in this cycle
    std::function<void()> take;       ///< in the place of the model
    std::function<void()> ask;        ///< in the place of the model: to be woken for what is held back

    void bind(verilog_block& block) override {
        m_pins.clear();
        m_valid = rtl_detail::handshake_pin(block, m_name + "_valid_i");
        m_ready = rtl_detail::handshake_pin(block, m_name + "_ready_o");
        rtl_detail::field_binder binder{block, m_name, "_i", m_pins};
        T record{};
        message_fields<T>::visit(record, binder);
    }
    void drive() override {
        m_is_valid = is_valid();
        m_valid.set(m_is_valid ? 1 : 0);
        if (m_is_valid) {
            m_record = front();
            rtl_detail::field_setter setter{m_pins};
            message_fields<T>::visit(m_record, setter);
        }
    }
    bool has_input() const override { return m_is_valid; }
    bool fires() const override { return m_is_valid && m_ready.get() != 0; }
    bool apply() override {
        if (fires()) {
            take();
        } else if (!m_is_valid) {
            ask();
        }
        return m_is_valid;
    }
    bool differs(rtl_difference& d) override {
        const bool expected = was_taken();
        if (expected == fires()) {
            return false;
        }
        d.port = m_name + "_i";
        d.expected =
            (expected ? "takes " : "does not take ") + rtl_detail::print<T, message_fields<T>>(m_record).text;
        d.actual = fires() ? "takes it" : "does not take it";
        return true;
    }
    void drive_taken() override { m_valid.set(was_taken() ? 1 : 0); }
    bool differs_later(rtl_difference&, std::uint32_t) override { return false; }
    void restart() override { m_is_valid = false; }
    void declare(rtl_watcher& w) const override {
        w.declare(m_name + "_valid", 1, true);
        w.declare(m_name + "_ready", 1, true);
        w.declare(m_name + "_ready", 1, false);
        T record{};
        rtl_detail::field_declarer declarer{w, m_name, true};
        message_fields<T>::visit(record, declarer);
    }
    void sample(cycle_t cycle, std::vector<std::uint64_t>& all, rtl_watcher& w) override {
        const bool taken = was_taken();
        all.push_back(m_is_valid ? 1 : 0);
        all.push_back(taken ? 1 : 0);
        all.push_back(m_ready.get());
        rtl_detail::field_sampler sampler{all};
        message_fields<T>::visit(m_record, sampler);
        if (taken) {
            const auto printer = rtl_detail::print<T, message_fields<T>>(m_record);
            w.message(cycle, m_name + "_i", printer.text, printer.has_qpn, printer.qpn);
        }
    }

private:
    std::string m_name;
    std::vector<verilog_pin> m_pins;
    verilog_pin m_valid;
    verilog_pin m_ready;
    T m_record{};
    bool m_is_valid = false;
};

/// An output whose pins carry something else than the channel.
template <class T>
class rtl_record_output final : public rtl_port {
public:
    explicit rtl_record_output(std::string name) : m_name(std::move(name)) {}

    std::function<bool()> is_ready;           ///< the channel takes a message in this cycle
    std::function<std::optional<T>()> given;  ///< what the model has sent in this cycle
    std::function<void(const T&)> give;       ///< in the place of the model; asks to be woken when refused

    void bind(verilog_block& block) override {
        m_pins.clear();
        m_valid = rtl_detail::handshake_pin(block, m_name + "_valid_o");
        m_ready = rtl_detail::handshake_pin(block, m_name + "_ready_i");
        rtl_detail::field_binder binder{block, m_name, "_o", m_pins};
        T record{};
        message_fields<T>::visit(record, binder);
    }
    void drive() override {
        m_is_ready = is_ready();
        m_ready.set(m_is_ready ? 1 : 0);
    }
    bool has_input() const override { return false; }
    bool fires() const override { return m_is_ready && m_valid.get() != 0; }
    bool apply() override {
        if (m_valid.get() == 0) {
            return false;
        }
        give(shown());
        return true;
    }
    bool differs(rtl_difference& d) override { return compare(given(), d); }
    void drive_taken() override {
        m_is_ready = true;
        m_ready.set(1);
    }
    bool differs_later(rtl_difference& d, std::uint32_t latency_cycles) override {
        m_history.push_back(given());
        if (m_history.size() <= latency_cycles) {
            return compare(std::nullopt, d);
        }
        const std::optional<T> expected = m_history.front();
        m_history.pop_front();
        return compare(expected, d);
    }
    void restart() override { m_history.clear(); }
    void declare(rtl_watcher& w) const override {
        w.declare(m_name + "_ready", 1, true);
        for (const bool of_model : {true, false}) {
            w.declare(m_name + "_valid", 1, of_model);
            T record{};
            rtl_detail::field_declarer declarer{w, m_name, of_model};
            message_fields<T>::visit(record, declarer);
        }
    }
    void sample(cycle_t cycle, std::vector<std::uint64_t>& all, rtl_watcher& w) override {
        const std::optional<T> record = given();
        m_last = record.value_or(m_last);
        rtl_detail::field_sampler sampler{all};
        all.push_back(m_is_ready ? 1 : 0);
        all.push_back(record ? 1 : 0);
        message_fields<T>::visit(m_last, sampler);
        T pins = shown();
        all.push_back(m_valid.get());
        message_fields<T>::visit(pins, sampler);
        if (record) {
            const auto printer = rtl_detail::print<T, message_fields<T>>(m_last);
            w.message(cycle, m_name + "_o", printer.text, printer.has_qpn, printer.qpn);
        }
    }

private:
    T shown() const {
        T record{};
        rtl_detail::field_getter getter{m_pins};
        message_fields<T>::visit(record, getter);
        return record;
    }
    bool compare(const std::optional<T>& model, rtl_difference& d) {
        if (!model && !fires()) {
            return false;
        }
        T record = model ? *model : shown();
        d.port = m_name + "_o";
        if (model.has_value() != fires()) {
            const std::string text = rtl_detail::print<T, message_fields<T>>(record).text;
            d.expected = model ? text : "nothing";
            d.actual = model ? "nothing" : text;
            return true;
        }
        rtl_detail::field_comparer comparer{m_pins, &d, &d.port};
        message_fields<T>::visit(record, comparer);
        return comparer.differs;
    }

    std::string m_name;
    std::vector<verilog_pin> m_pins;
    verilog_pin m_valid;
    verilog_pin m_ready;
    T m_last{};
    bool m_is_ready = false;
    std::deque<std::optional<T>> m_history;
};

}  // namespace hcasim

#endif
