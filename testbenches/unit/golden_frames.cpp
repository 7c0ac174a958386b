#include "testbenches/unit/golden_frames.h"

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <stdexcept>
#include <utility>

#include "model/ib/headers.h"
#include "testbenches/unit/source_directory.h"

namespace hcasim {

namespace {

// Reads one frame after the other; knows the line it is at, for the messages.
class frame_reader {
public:
    frame_reader(std::istream& in, const std::string& file_name) : m_in(in), m_file_name(file_name) {}

    std::vector<golden_frame> read() {
        std::string line;
        while (std::getline(m_in, line)) {
            ++m_line;
            if (line.empty() || line[0] == '#') {
                continue;
            }
            const std::size_t space = line.find(' ');
            if (space == std::string::npos || space + 1 == line.size()) {
                fail("expected a key, a space and a value");
            }
            take(line.substr(0, space), line.substr(space + 1));
        }
        finish_frame();
        return std::move(m_frames);
    }

private:
    [[noreturn]] void fail(const std::string& what) const {
        throw std::runtime_error(m_file_name + ":" + std::to_string(m_line) + ": " + what);
    }

    void take(const std::string& key, const std::string& value) {
        if (key == "frame") {
            finish_frame();
            const auto same_name = [&](const golden_frame& f) { return f.name == value; };
            if (std::any_of(m_frames.begin(), m_frames.end(), same_name)) {
                fail("there is a frame " + value + " already");
            }
            m_frames.push_back({value, {}, {}});
            m_open = true;
        } else if (!m_open) {
            fail("a frame begins with the key \"frame\"");
        } else if (key == "source") {
            m_frames.back().source = value;
        } else if (key == "hex") {
            append_hex(value);
        } else if (key == "fill") {
            fill(value);
        } else if (key == "icrc") {
            append_crc(value, ib::icrc_bytes);
        } else if (key == "vcrc") {
            append_crc(value, ib::vcrc_bytes);
        } else {
            fail("unknown key " + key);
        }
    }

    void finish_frame() {
        if (m_open &&
            (!m_filled || m_crc_bytes != ib::icrc_bytes + ib::vcrc_bytes || m_frames.back().source.empty())) {
            fail("frame " + m_frames.back().name + " needs source, hex, fill, icrc and vcrc");
        }
        m_open = false;
        m_filled = false;
        m_crc_bytes = 0;
    }

    unsigned digit(char c) const {
        if (c >= '0' && c <= '9') {
            return static_cast<unsigned>(c - '0');
        }
        if (c >= 'a' && c <= 'f') {
            return static_cast<unsigned>(c - 'a') + 10;
        }
        fail(std::string{"expected a hexadecimal digit, found "} + c);
    }

    unsigned number(const std::string& text) const {
        if (text.empty() || text.size() > 4 || text.find_first_not_of("0123456789") != std::string::npos) {
            fail("expected a number of bytes, found " + text);
        }
        return static_cast<unsigned>(std::stoul(text));
    }

    void append_hex(const std::string& text) {
        if (m_filled) {
            fail("hex comes before fill");
        }
        std::vector<std::uint8_t>& bytes = m_frames.back().bytes;
        if (text.size() > 3 && text[2] == '*') {
            const unsigned value = digit(text[0]) << 4 | digit(text[1]);
            bytes.insert(bytes.end(), number(text.substr(3)), static_cast<std::uint8_t>(value));
            return;
        }
        append_digits(text);
    }

    void append_digits(const std::string& text) {
        if (text.size() % 2 != 0) {
            fail("odd number of hexadecimal digits");
        }
        for (std::size_t i = 0; i < text.size(); i += 2) {
            m_frames.back().bytes.push_back(
                static_cast<std::uint8_t>(digit(text[i]) << 4 | digit(text[i + 1])));
        }
    }

    void fill(const std::string& text) {
        std::vector<std::uint8_t>& bytes = m_frames.back().bytes;
        if (m_filled || bytes.empty()) {
            fail("fill comes once, behind hex");
        }
        if (text != "none") {
            const unsigned size_bytes = number(text);
            if (size_bytes < bytes.size()) {
                fail("the frame is longer than its fill");
            }
            bytes.resize(size_bytes);
        }
        m_filled = true;
    }

    void append_crc(const std::string& text, std::size_t size_bytes) {
        const bool in_order = m_filled && m_crc_bytes == (size_bytes == ib::icrc_bytes ? 0 : ib::icrc_bytes);
        if (!in_order || text.size() != 2 * size_bytes) {
            fail("behind fill come icrc with 8 and vcrc with 4 digits");
        }
        append_digits(text);
        m_crc_bytes += size_bytes;
    }

    std::istream& m_in;
    const std::string& m_file_name;
    std::size_t m_line = 0;
    std::vector<golden_frame> m_frames;
    bool m_open = false;  // a frame has begun
    bool m_filled = false;
    std::size_t m_crc_bytes = 0;  // read so far
};

std::vector<golden_frame> read_default_file() {
    const std::string path = source_directory() + "/traces/golden_frames.txt";
    std::ifstream in(path);
    if (!in) {
        throw std::runtime_error(path + ": cannot be opened");
    }
    return read_golden_frames(in, path);
}

}  // namespace

std::vector<golden_frame> read_golden_frames(std::istream& in, const std::string& file_name) {
    return frame_reader(in, file_name).read();
}

const std::vector<golden_frame>& golden_frames() {
    static const std::vector<golden_frame> frames = read_default_file();
    return frames;
}

const golden_frame& golden_frame_named(std::string_view name) {
    for (const golden_frame& frame : golden_frames()) {
        if (frame.name == name) {
            return frame;
        }
    }
    throw std::runtime_error("no golden frame " + std::string{name});
}

}  // namespace hcasim
