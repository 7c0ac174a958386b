#ifndef HCASIM_RTL_COSIM_WRAP_VERILOG_BLOCK_H
#define HCASIM_RTL_COSIM_WRAP_VERILOG_BLOCK_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "rtl_cosim/wrap/verilog_source.h"

namespace hcasim {

/// A pin of a verilated design. Up to 64 bits by value, wider ones as 32-bit words, the lowest first.
class verilog_pin {
public:
    verilog_pin() = default;
    verilog_pin(void* storage, std::uint32_t width_bits, bool is_output)
        : m_storage(storage), m_width_bits(width_bits), m_is_output(is_output) {}

    explicit operator bool() const { return m_storage != nullptr; }
    std::uint32_t width_bits() const { return m_width_bits; }
    bool is_output() const { return m_is_output; }

    /// Bits beyond the width are cut off.
    void set(std::uint64_t value) const {
        if (m_width_bits < 64) {
            value &= (std::uint64_t{1} << m_width_bits) - 1;
        }
        if (m_width_bits <= 8) {
            *static_cast<std::uint8_t*>(m_storage) = static_cast<std::uint8_t>(value);
        } else if (m_width_bits <= 16) {
            *static_cast<std::uint16_t*>(m_storage) = static_cast<std::uint16_t>(value);
        } else if (m_width_bits <= 32) {
            *static_cast<std::uint32_t*>(m_storage) = static_cast<std::uint32_t>(value);
        } else if (m_width_bits <= 64) {
            *static_cast<std::uint64_t*>(m_storage) = value;
        } else {
            words()[0] = static_cast<std::uint32_t>(value);
            words()[1] = static_cast<std::uint32_t>(value >> 32);
        }
    }
    std::uint64_t get() const {
        if (m_width_bits <= 8) {
            return *static_cast<const std::uint8_t*>(m_storage);
        }
        if (m_width_bits <= 16) {
            return *static_cast<const std::uint16_t*>(m_storage);
        }
        if (m_width_bits <= 32) {
            return *static_cast<const std::uint32_t*>(m_storage);
        }
        if (m_width_bits <= 64) {
            return *static_cast<const std::uint64_t*>(m_storage);
        }
        return words()[0] | std::uint64_t{words()[1]} << 32;
    }

    /// The first `bytes` bytes, bits 7..0 first. `bytes` times 8 is the width of the pin, or less.
    void set_bytes(const std::uint8_t* from, std::size_t bytes) const;
    void get_bytes(std::uint8_t* to, std::size_t bytes) const;

    /// Up to 64 bits from bit `at` on.
    void set_slice(std::uint32_t at, std::uint32_t width_bits, std::uint64_t value) const;
    std::uint64_t get_slice(std::uint32_t at, std::uint32_t width_bits) const;

private:
    std::uint32_t* words() const { return static_cast<std::uint32_t*>(m_storage); }

    void* m_storage = nullptr;
    std::uint32_t m_width_bits = 0;
    bool m_is_output = false;
};

/// A verilated design with a clock: what Verilator made of it is hidden in a shared object that is compiled
/// when it is first asked for and kept in a cache. Registers begin with random contents, so that what a reset
/// forgets is found.
///
/// One cycle: set the inputs, settle(), look at the outputs, clock_edge().
class verilog_block {
public:
    /// Compiles (or takes from the cache) and makes an instance. Throws verilog_error: Verilator or a
    /// compiler is missing, the Verilog does not compile.
    explicit verilog_block(const verilog_source& source, std::uint64_t seed = 1);
    ~verilog_block();
    verilog_block(const verilog_block&) = delete;
    verilog_block& operator=(const verilog_block&) = delete;

    struct named_pin {
        std::string name;
        verilog_pin pin;
    };
    const std::vector<named_pin>& pins() const;
    /// False in a boolean context when there is no pin of that name.
    verilog_pin find(const std::string& name) const;
    /// Throws verilog_error when there is none.
    verilog_pin pin(const std::string& name) const;

    /// Other names under which pins are found: the project's, and the design's. An empty one: the design has
    /// no such pin; if it is a `ready`, the port has no back-pressure.
    void set_names(const std::map<std::string, std::string>& names);

    /// Which pins are clock and reset; else `clk_i` and the active low `rst_ni`.
    void set_clock_and_reset(const std::string& clock, const std::string& reset, bool reset_is_low);

    /// Holds the reset for two edges.
    void reset();
    void settle();
    void clock_edge();

    /// Compiles without making an instance (to do it ahead of time or side by side).
    static void compile(const verilog_source& source);

private:
    struct library;
    struct parts;
    std::unique_ptr<parts> m_parts;
};

}  // namespace hcasim

#endif
