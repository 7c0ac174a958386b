#include "rtl_cosim/wrap/rtl_block.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace hcasim {

namespace rtl_detail {

namespace {

std::string number(std::uint64_t value) {
    return value < 10 ? fmt::format("{}", value) : fmt::format("{} (0x{:x})", value, value);
}

}  // namespace

void field_binder::add(const char* name, std::uint32_t width_bits) {
    const std::string full = port + "_" + name + suffix;
    const verilog_pin found = block.pin(full);
    if (found.width_bits() != width_bits) {
        throw verilog_error(
            fmt::format("port {} has {} bits, expected {}", full, found.width_bits(), width_bits));
    }
    pins.push_back(found);
}

void field_comparer::note(const char* name, std::uint64_t expected, std::uint64_t actual) {
    difference->port = *port + "." + name;
    difference->expected = number(expected);
    difference->actual = number(actual);
}

void field_comparer::bytes(const char* name, std::uint8_t* data, std::size_t bytes) {
    std::vector<std::uint8_t> actual(bytes);
    pins[at++].get_bytes(actual.data(), bytes);
    for (std::size_t i = 0; i < bytes && !differs; ++i) {
        if (actual[i] != data[i]) {
            differs = true;
            note(fmt::format("{}[{}]", name, i).c_str(), data[i], actual[i]);
        }
    }
}

void field_printer::add(const char* name, std::uint64_t value) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, value);
    if (std::strcmp(name, "qpn") == 0) {
        has_qpn = true;
        qpn = static_cast<std::uint32_t>(value);
    }
}

void field_printer::bytes(const char* name, std::uint8_t* data, std::size_t bytes) {
    // Enough to tell two apart.
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < bytes; ++i) {
        sum = sum * 31 + data[i];
    }
    text += fmt::format("{}{} #{:08x}", text.empty() ? "" : ", ", name, sum);
}

void field_sampler::bytes(const char*, std::uint8_t* data, std::size_t bytes) {
    std::uint64_t low = 0;
    std::memcpy(&low, data, std::min<std::size_t>(bytes, 8));
    all.push_back(low);
}

verilog_pin handshake_pin(verilog_block& block, const std::string& name) {
    const verilog_pin found = block.pin(name);
    if (found.width_bits() != 1) {
        throw verilog_error(fmt::format("port {} has {} bits, expected 1", name, found.width_bits()));
    }
    return found;
}

}  // namespace rtl_detail

namespace {

// "QPS" or "log2 QPS" of the sizes of a block.
std::uint64_t size_of(const std::string& expression, const std::map<std::string, std::uint64_t>& sizes) {
    const std::string log2 = "log2 ";
    const bool logarithm = expression.rfind(log2, 0) == 0;
    const auto found = sizes.find(logarithm ? expression.substr(log2.size()) : expression);
    if (found == sizes.end()) {
        std::string names;
        for (const auto& [name, value] : sizes) {
            names += (names.empty() ? "" : ", ") + name;
        }
        throw verilog_error(fmt::format(
            "parameter \"{}\": is not a size of this block, nor log2 of one; it has {}", expression, names));
    }
    std::uint64_t value = found->second;
    if (logarithm) {
        std::uint64_t bits = 0;
        for (; value > 1; value /= 2) {
            ++bits;
        }
        return bits;
    }
    return value;
}

}  // namespace

void rtl_block::reset(rtl_mode mode, const verilog_source& source, const std::string& block_name,
                      const std::function<void(verilog_block&)>& configure) {
    m_mode = mode;
    m_name = block_name;
    m_difference.reset();
    m_done = 0;
    m_active = true;
    m_transfers = 0;
    m_compared = 0;
    if (mode == rtl_mode::model) {
        return;
    }
    const rtl_stand_in design = m_stand_in ? *m_stand_in : rtl_stand_in{};
    verilog_source wanted = m_stand_in ? design.source : source;
    if (m_stand_in && design.same_parameters) {
        wanted.parameters = source.parameters;
    }
    for (const auto& [parameter, size] : design.size_parameters) {
        wanted.parameters[parameter] = size_of(size, source.parameters);
    }
    m_latency_cycles = design.latency_cycles;
    std::string key = wanted.top;
    for (const std::string& file : wanted.files) {
        key += "\n" + file;
    }
    for (const auto& [name, value] : wanted.parameters) {
        key += fmt::format(" {}={}", name, value);
    }
    if (m_verilog == nullptr || key != m_loaded) {
        m_loaded.clear();
        m_verilog = std::make_unique<verilog_block>(wanted);
        m_verilog->set_names(design.ports);
        if (m_stand_in) {
            m_verilog->set_clock_and_reset(design.clock, design.reset, design.reset_is_low);
        }
        for (const auto& port : m_ports) {
            port->bind(*m_verilog);
        }
        m_busy = m_verilog->find("busy_o");
        m_valid_inputs.clear();
        const std::string ending = "_valid_i";
        for (const verilog_block::named_pin& p : m_verilog->pins()) {
            const std::size_t n = p.name.size();
            if (!p.pin.is_output() && n > ending.size() &&
                p.name.compare(n - ending.size(), ending.size(), ending) == 0) {
                m_valid_inputs.push_back(p.pin);
            }
        }
        m_loaded = key;
        m_source = wanted;
    }
    for (const auto& port : m_ports) {
        port->restart();
    }
    // In reset nothing comes in.
    for (const verilog_block::named_pin& p : m_verilog->pins()) {
        if (!p.pin.is_output() && p.pin.width_bits() <= 64) {
            p.pin.set(0);
        }
    }
    configure(*m_verilog);
    for (const auto& [name, value] : design.constants) {
        m_verilog->pin(name).set(value);
    }
    m_verilog->reset();
    if (m_recording != nullptr) {
        m_recording->start(*m_verilog);
    }
}

std::uint64_t rtl_block::policy(const std::string& pin, std::uint64_t drawn) const {
    if (!m_stand_in) {
        return drawn;
    }
    const auto fixed = m_stand_in->policies.find(pin);
    return fixed == m_stand_in->policies.end() ? drawn : fixed->second;
}

void rtl_block::set_policy(verilog_block& v, const std::string& pin, std::uint64_t value) const {
    const verilog_pin found = v.find(pin);
    if (found) {
        found.set(value);
    } else if (!m_stand_in || m_stand_in->policies.count(pin) == 0) {
        throw verilog_error(fmt::format(
            "{}: has no port {}; map it in [ports], or say in [policies] which value the design follows",
            m_stand_in ? m_stand_in->source.files.front() : m_name, pin));
    }
}

void rtl_block::set_watcher(rtl_watcher* watcher) {
    m_watcher = watcher;
    m_declared = false;
}

// The cycles in which the block slept: nothing came in, so nothing but the count of cycles moves.
void rtl_block::catch_up() {
    if (!m_keeps_time && m_recording == nullptr) {
        m_done = m_cycles.now() - 1;
        return;
    }
    for (const verilog_pin& valid : m_valid_inputs) {
        valid.set(0);
    }
    while (m_done + 1 < m_cycles.now()) {
        if (m_recording != nullptr) {
            m_recording->note(m_done + 1);
        }
        m_verilog->settle();
        m_verilog->clock_edge();
        ++m_done;
    }
}

void rtl_block::begin_cycle() {
    if (m_done + 1 < m_cycles.now()) {
        catch_up();
    }
    m_active = false;
    for (const auto& port : m_ports) {
        port->drive();
        m_active = m_active || port->has_input();
    }
    if (before_settle) {
        before_settle();
    }
    if (m_recording != nullptr) {
        m_recording->note(m_cycles.now());
    }
    m_verilog->settle();
}

void rtl_block::settle_behind_model() {
    for (const auto& port : m_ports) {
        port->drive_taken();
    }
    m_verilog->settle();
}

void rtl_block::apply() {
    if (after_settle) {
        after_settle();
    }
    for (const auto& port : m_ports) {
        m_transfers += port->fires() ? 1 : 0;
        if (port->apply()) {
            m_active = true;
        }
    }
}

void rtl_block::compare() {
    for (const auto& port : m_ports) {
        m_transfers += port->fires() ? 1 : 0;
        m_active = m_active || port->fires();
    }
    if (!m_difference) {
        ++m_compared;
        rtl_difference d;
        d.block = m_name;
        d.cycle = m_cycles.now();
        bool differs = false;
        for (const auto& port : m_ports) {
            if (m_latency_cycles == 0 ? port->differs(d) : port->differs_later(d, m_latency_cycles)) {
                differs = true;
                break;
            }
        }
        if (compare_more) {
            // Trace pins tell of the cycle itself; those of a design that comes later are not compared.
            rtl_difference unused;
            const bool later = m_latency_cycles != 0;
            const bool traces_differ = compare_more(later || differs ? unused : d);
            differs = differs || (traces_differ && !later);
        }
        if (differs) {
            m_difference = d;
            if (on_difference) {
                on_difference(d);
            }
        }
    }
    if (m_watcher != nullptr) {
        if (!m_declared) {
            for (const auto& port : m_ports) {
                port->declare(*m_watcher);
            }
            m_declared = true;
        }
        m_samples.clear();
        for (const auto& port : m_ports) {
            port->sample(m_cycles.now(), m_samples, *m_watcher);
        }
        m_watcher->values(m_cycles.now(), m_samples);
    }
}

void rtl_block::end_cycle() {
    // A pin without storage is a design that does not say; it is clocked in every cycle.
    const bool busy = !m_busy || m_busy.get() != 0;
    if (before_edge) {
        before_edge();
    }
    m_verilog->clock_edge();
    m_done = m_cycles.now();
    if (busy || m_active) {
        m_cycles.wake_next(m_owner);
    }
}

}  // namespace hcasim
