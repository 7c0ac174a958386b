#ifndef HCASIM_TESTBENCHES_SWEEP_SETTING_VALUE_H
#define HCASIM_TESTBENCHES_SWEEP_SETTING_VALUE_H

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "model/stats/parameter.h"

namespace hcasim {

/// A value that a parameter had, to be given to it again quickly.
class setting_value {
public:
    setting_value() = default;
    explicit setting_value(const parameter& p);

    /// To the same parameter of a configuration of its own.
    void apply(const parameter& p) const;
    /// As it is written in TOML.
    const std::string& text() const { return m_text; }

    using value_t = std::variant<std::uint64_t, double, bool, std::string, std::vector<std::string>>;
    const value_t& value() const { return m_value; }
    /// For the database and for people: "packet", "rtu, packet", "0.5".
    std::string plain() const;
    bool operator==(const setting_value& other) const { return m_text == other.m_text; }

private:
    value_t m_value;
    std::string m_text;
};

}  // namespace hcasim

#endif
