#include "rtl_cosim/wrap/rtl_send_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "rtl_cosim/wrap/rtl_places.h"

namespace hcasim {

namespace {

// Pins of the link have these before their name.
constexpr std::array<const char*, rtl_send_path::parts> prefixes = {"", "", "", "tx_", "rx_"};

bool ends_with(const std::string& text, const std::string& end) {
    return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

std::size_t words_of(const verilog_pin& pin) { return (pin.width_bits() + 31) / 32; }

void read_words(const verilog_pin& pin, std::uint32_t* to) {
    if (pin.width_bits() > 64) {
        pin.get_bytes(reinterpret_cast<std::uint8_t*>(to), 4 * words_of(pin));
        return;
    }
    const std::uint64_t value = pin.get();
    to[0] = static_cast<std::uint32_t>(value);
    if (pin.width_bits() > 32) {
        to[1] = static_cast<std::uint32_t>(value >> 32);
    }
}

std::string text_of(const std::uint32_t* words, std::size_t n) {
    std::string text = "0x";
    while (n > 1 && words[n - 1] == 0) {
        --n;
    }
    for (std::size_t i = n; i-- > 0;) {
        text += i + 1 == n ? fmt::format("{:x}", words[i]) : fmt::format("{:08x}", words[i]);
    }
    return text;
}

// The `valid` of the message that an output belongs to: grant_count_o has grant_valid_o.
verilog_pin valid_of(const verilog_block& block, const std::string& name) {
    std::string group = name.substr(0, name.size() - 2);
    for (std::size_t at = group.rfind('_'); at != std::string::npos; at = group.rfind('_')) {
        group.resize(at);
        const verilog_pin found = block.find(group + "_valid_o");
        if (found) {
            return found;
        }
    }
    return {};
}

}  // namespace

void rtl_send_path::set_part(part p, rtl_block& block) {
    m_members[p].block = &block;
    block.before_edge = [this, p] {
        if (m_used) {
            note(p);
        }
    };
}

bool rtl_send_path::is_complete() const {
    return std::all_of(m_members.begin(), m_members.end(),
                       [](const member& m) { return m.block != nullptr; });
}

void rtl_send_path::set_used(bool used) {
    m_used = used;
    m_started = false;
    m_open = false;
    m_failed = false;
}

void rtl_send_path::prepare() {
    if (m_used) {
        start();
    }
}

// The blocks have been reset; their designs are there.
void rtl_send_path::start() {
    m_started = true;
    m_cycle = 0;
    verilog_source source;
    source.top = "hca_send_path";
    source.directory = places_of_rtl().sources + "/rtl";
    source.files = {source.directory + "/hca_send_path.v"};
    std::string key;
    for (const member& m : m_members) {
        for (const auto& [name, value] : m.block->source().parameters) {
            source.parameters[name] = value;
        }
    }
    for (const auto& [name, value] : source.parameters) {
        key += fmt::format("{}={} ", name, value);
    }
    if (m_whole == nullptr || key != m_loaded) {
        m_whole = std::make_unique<verilog_block>(source, 2);
        m_loaded = key;
    }
    m_expected.clear();
    for (std::uint32_t p = 0; p < parts; ++p) {
        member& m = m_members[p];
        m.inputs.clear();
        m.outputs.clear();
        for (const verilog_block::named_pin& pin : m.block->verilog().pins()) {
            const verilog_pin whole = m_whole->find(prefixes[p] + pin.name);
            const bool common = pin.name == "clk_i" || pin.name == "rst_ni" || pin.name == "busy_o";
            if (!whole || common) {
                continue;
            }
            link l;
            l.name = prefixes[p] + pin.name;
            l.whole = whole;
            l.own = pin.pin;
            l.words = words_of(pin.pin);
            if (pin.pin.is_output()) {
                if (!ends_with(pin.name, "_valid_o") && !ends_with(pin.name, "_ready_o")) {
                    l.own_valid = valid_of(m.block->verilog(), pin.name);
                }
                l.at = m_expected.size();
                m_expected.resize(m_expected.size() + l.words);
                m.outputs.push_back(l);
            } else {
                l.is_valid_input = ends_with(pin.name, "_valid_i");
                m.inputs.push_back(l);
            }
        }
        // Policies hold in reset too.
        for (const link& l : m.inputs) {
            if (l.own.width_bits() <= 64) {
                l.whole.set(l.is_valid_input ? 0 : l.own.get());
            } else {
                std::vector<std::uint32_t> words(l.words);
                read_words(l.own, words.data());
                l.whole.set_bytes(reinterpret_cast<const std::uint8_t*>(words.data()), 4 * l.words);
            }
        }
    }
    m_compared.assign(m_expected.size(), false);
    m_whole->reset();
}

void rtl_send_path::note(part p) {
    if (m_failed) {
        return;
    }
    if (!m_started) {
        throw std::logic_error("hca_send_path: prepare() was not called");
    }
    const cycle_t now = m_cycles.now();
    if (m_open && m_cycle != now) {
        close_cycle();
    }
    if (!m_open) {
        // Cycles in which all five slept.
        for (member& m : m_members) {
            for (const link& l : m.inputs) {
                if (l.is_valid_input) {
                    l.whole.set(0);
                }
            }
        }
        while (m_cycle + 1 < now) {
            m_whole->settle();
            m_whole->clock_edge();
            ++m_cycle;
        }
        m_cycle = now;
        m_open = true;
    }
    member& m = m_members[p];
    m.ticked = true;
    std::array<std::uint32_t, 512> words;
    for (const link& l : m.inputs) {
        if (l.own.width_bits() <= 64) {
            l.whole.set(l.own.get());
        } else if (l.words <= words.size()) {
            read_words(l.own, words.data());
            l.whole.set_bytes(reinterpret_cast<const std::uint8_t*>(words.data()), 4 * l.words);
        }
    }
    for (const link& l : m.outputs) {
        m_compared[l.at] = !l.own_valid || l.own_valid.get() != 0;
        if (m_compared[l.at]) {
            read_words(l.own, &m_expected[l.at]);
        }
    }
}

void rtl_send_path::close_cycle() {
    m_open = false;
    m_whole->settle();
    std::array<std::uint32_t, 512> actual;
    for (member& m : m_members) {
        for (const link& l : m.outputs) {
            if (!m.ticked) {
                if (ends_with(l.name, "_valid_o") && l.whole.get() != 0) {
                    differs(m, l, "0", "1");
                }
                continue;
            }
            if (!m_compared[l.at] || l.words > actual.size()) {
                continue;
            }
            read_words(l.whole, actual.data());
            if (!std::equal(actual.begin(), actual.begin() + static_cast<std::ptrdiff_t>(l.words),
                            m_expected.begin() + static_cast<std::ptrdiff_t>(l.at))) {
                differs(m, l, text_of(&m_expected[l.at], l.words), text_of(actual.data(), l.words));
            }
        }
        m.ticked = false;
    }
    m_whole->clock_edge();
}

void rtl_send_path::finish() {
    if (m_used && m_open && !m_failed) {
        close_cycle();
    }
}

void rtl_send_path::differs(const member&, const link& l, const std::string& expected,
                            const std::string& actual) {
    if (m_failed) {
        return;
    }
    m_failed = true;
    rtl_difference d;
    d.block = "hca_send_path";
    d.cycle = m_cycle;
    d.port = l.name;
    d.expected = expected;
    d.actual = actual;
    if (on_difference) {
        on_difference(d);
    }
}

}  // namespace hcasim
