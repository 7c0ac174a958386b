#include "testbenches/program/input_error.h"

#include <fmt/format.h>

#include <string>

namespace hcasim {

namespace {

// Whatever went into a message, it stays one line.
constexpr std::size_t longest_line = 1000;

}  // namespace

input_error::input_error(const std::string& line) : std::runtime_error(printable(line, longest_line)) {}

std::string to_line(const complaint& c) {
    std::string line;
    for (const std::string& part : {c.where, c.key}) {
        if (!part.empty()) {
            line += part + ": ";
        }
    }
    line += c.what;
    if (!c.expected.empty()) {
        line += "; expected " + c.expected;
    }
    if (!c.nearest.empty()) {
        line += fmt::format("; did you mean '{}'?", c.nearest);
    }
    return line;
}

std::string printable(const std::string& text, std::size_t limit) {
    std::string out;
    for (const char c : text) {
        if (out.size() >= limit) {
            return out + "...";
        }
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x20 || byte == 0x7f) {
            out += fmt::format("\\x{:02x}", byte);
        } else {
            out.push_back(c);
        }
    }
    return out;
}

}  // namespace hcasim
