#include "rtl_cosim/wrap/rtl_recording.h"

#include <algorithm>
#include <cstddef>

namespace hcasim {

namespace {

void read_words(const verilog_pin& pin, std::size_t words, std::uint32_t* to) {
    if (pin.width_bits() <= 64) {
        const std::uint64_t value = pin.get();
        to[0] = static_cast<std::uint32_t>(value);
        if (words > 1) {
            to[1] = static_cast<std::uint32_t>(value >> 32);
        }
        return;
    }
    pin.get_bytes(reinterpret_cast<std::uint8_t*>(to), 4 * words);
}

void write_words(const verilog_pin& pin, std::size_t words, const std::uint32_t* from) {
    if (pin.width_bits() <= 64) {
        pin.set(from[0] | (words > 1 ? std::uint64_t{from[1]} << 32 : 0));
        return;
    }
    pin.set_bytes(reinterpret_cast<const std::uint8_t*>(from), 4 * words);
}

bool is_input_of_interest(const verilog_block::named_pin& p) {
    return !p.pin.is_output() && p.name != "clk_i" && p.name != "rst_ni";
}

bool is_valid(const std::string& name) {
    const std::string ending = "_valid_i";
    return name.size() > ending.size() &&
           name.compare(name.size() - ending.size(), ending.size(), ending) == 0;
}

}  // namespace

void rtl_recording::start(const verilog_block& block) {
    m_inputs.clear();
    m_last.clear();
    m_changes.clear();
    m_words.clear();
    for (const verilog_block::named_pin& p : block.pins()) {
        if (!is_input_of_interest(p)) {
            continue;
        }
        const std::size_t words = (p.pin.width_bits() + 31) / 32;
        m_inputs.push_back({p.name, p.pin, m_last.size(), words});
        // Whatever is there now is told in the first cycle.
        m_last.resize(m_last.size() + words, 0xdeadbeef);
    }
}

void rtl_recording::note(cycle_t cycle) {
    std::uint32_t now[256];
    for (std::uint32_t i = 0; i < m_inputs.size(); ++i) {
        const input& in = m_inputs[i];
        if (in.words > 256) {
            throw verilog_error("a pin of more than 8192 bits cannot be recorded");
        }
        read_words(in.pin, in.words, now);
        if (!std::equal(now, now + in.words, m_last.begin() + static_cast<std::ptrdiff_t>(in.at))) {
            std::copy(now, now + in.words, m_last.begin() + static_cast<std::ptrdiff_t>(in.at));
            m_changes.push_back({cycle, i});
            m_words.insert(m_words.end(), now, now + in.words);
        }
    }
}

rtl_recording::player::player(const rtl_recording& recording, verilog_block& block)
    : m_recording(recording), m_block(block) {
    for (const rtl_recording::input& in : recording.m_inputs) {
        const verilog_pin pin = block.pin(in.name);
        m_inputs.push_back({pin, is_valid(in.name)});
        if (is_valid(in.name)) {
            m_valids.push_back(pin);
        }
    }
    // cfg pins are wanted in reset too: the first cycle tells them all.
    for (std::size_t at = 0; m_next < recording.m_changes.size() &&
                             recording.m_changes[m_next].cycle == recording.m_changes.front().cycle;
         ++m_next) {
        const auto& c = recording.m_changes[m_next];
        const std::size_t words = recording.m_inputs[c.input].words;
        if (!m_inputs[c.input].is_valid) {
            write_words(m_inputs[c.input].pin, words, &recording.m_words[at]);
        }
        at += words;
    }
    m_next = 0;
    for (const verilog_pin& valid : m_valids) {
        valid.set(0);
    }
    block.reset();
}

void rtl_recording::player::run_to(cycle_t last) {
    const auto& changes = m_recording.m_changes;
    while (m_now < last) {
        ++m_now;
        for (; m_next < changes.size() && changes[m_next].cycle == m_now; ++m_next) {
            const std::uint32_t i = changes[m_next].input;
            const std::size_t words = m_recording.m_inputs[i].words;
            write_words(m_inputs[i].pin, words, &m_recording.m_words[m_at]);
            m_at += words;
        }
        m_block.settle();
        m_block.clock_edge();
    }
}

}  // namespace hcasim
