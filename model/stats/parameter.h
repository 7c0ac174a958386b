#ifndef HCASIM_MODEL_STATS_PARAMETER_H
#define HCASIM_MODEL_STATS_PARAMETER_H

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace hcasim {

/// Where a default comes from: a public document, a measurement, or an assumption of ours.
enum class evidence : std::uint8_t { documented, measured, assumed };

/// One parameter of a configuration: what `hcasim params` prints and what a scenario may set.
struct parameter {
    enum class kind_t : std::uint8_t { integer, real, boolean, text, choice, choice_list };
    std::string key;  ///< "send_scheduler.arbitration"
    kind_t kind = kind_t::integer;
    std::string unit;     ///< "cycles", "ns", "bytes", "entries", "1" ...
    std::string meaning;  ///< one sentence
    evidence origin = evidence::assumed;
    std::string source;         ///< where the default comes from
    std::uint64_t minimum = 0;  ///< integer range, both ends allowed
    std::uint64_t maximum = 0;
    double real_minimum = 0;
    double real_maximum = 0;
    bool power_of_two = false;  ///< integer: only powers of two
    std::vector<std::string> choices;

    // Exactly those that fit the kind are set; they refer to the configuration that described itself.
    std::function<std::uint64_t()> get_integer;
    std::function<void(std::uint64_t)> set_integer;
    std::function<double()> get_real;
    std::function<void(double)> set_real;
    std::function<bool()> get_boolean;
    std::function<void(bool)> set_boolean;
    std::function<std::string()> get_text;  ///< text and choice
    std::function<void(const std::string&)> set_text;
    std::function<std::vector<std::string>()> get_list;  ///< choice_list
    std::function<void(const std::vector<std::string>&)> set_list;
};

/// Meaning and evidence of a parameter, given once where the parameter is described.
struct about {
    const char* unit;
    const char* meaning;
    evidence origin = evidence::assumed;
    const char* source = "";
};

/// Collects the parameters of configuration structs. Each struct has `void describe(parameter_list&)` beside
/// it.
class parameter_list {
public:
    template <class Integer>
    parameter& integer(const std::string& key, Integer& field, std::uint64_t minimum, std::uint64_t maximum,
                       const about& a) {
        parameter& p = add(key, parameter::kind_t::integer, a);
        p.minimum = minimum;
        p.maximum = maximum;
        p.get_integer = [&field] { return static_cast<std::uint64_t>(field); };
        p.set_integer = [&field](std::uint64_t v) { field = static_cast<Integer>(v); };
        return p;
    }
    parameter& real(const std::string& key, double& field, double minimum, double maximum, const about& a) {
        parameter& p = add(key, parameter::kind_t::real, a);
        p.real_minimum = minimum;
        p.real_maximum = maximum;
        p.get_real = [&field] { return field; };
        p.set_real = [&field](double v) { field = v; };
        return p;
    }
    parameter& boolean(const std::string& key, bool& field, const about& a) {
        parameter& p = add(key, parameter::kind_t::boolean, a);
        p.get_boolean = [&field] { return field; };
        p.set_boolean = [&field](bool v) { field = v; };
        return p;
    }
    parameter& text(const std::string& key, std::string& field, const about& a) {
        parameter& p = add(key, parameter::kind_t::text, a);
        p.get_text = [&field] { return field; };
        p.set_text = [&field](const std::string& v) { field = v; };
        return p;
    }
    /// An enum whose values 0, 1, 2 ... are named by `names` in order.
    template <class Enum>
    parameter& choice(const std::string& key, Enum& field, const std::vector<std::string>& names,
                      const about& a) {
        parameter& p = add(key, parameter::kind_t::choice, a);
        p.choices = names;
        p.get_text = [&field, names] { return names.at(static_cast<std::size_t>(field)); };
        p.set_text = [&field, names](const std::string& v) {
            for (std::size_t i = 0; i < names.size(); ++i) {
                if (names[i] == v) {
                    field = static_cast<Enum>(i);
                }
            }
        };
        return p;
    }
    /// A set of flags, bit i named by names[i], written as a list of names.
    parameter& flags(const std::string& key, std::uint32_t& field, const std::vector<std::string>& names,
                     const about& a) {
        parameter& p = add(key, parameter::kind_t::choice_list, a);
        p.choices = names;
        p.get_list = [&field, names] {
            std::vector<std::string> on;
            for (std::size_t i = 0; i < names.size(); ++i) {
                if ((field >> i & 1u) != 0) {
                    on.push_back(names[i]);
                }
            }
            return on;
        };
        p.set_list = [&field, names](const std::vector<std::string>& on) {
            field = 0;
            for (const std::string& name : on) {
                for (std::size_t i = 0; i < names.size(); ++i) {
                    if (names[i] == name) {
                        field |= 1u << i;
                    }
                }
            }
        };
        return p;
    }

    const std::vector<parameter>& all() const { return m_parameters; }

private:
    parameter& add(const std::string& key, parameter::kind_t kind, const about& a) {
        parameter p;
        p.key = key;
        p.kind = kind;
        p.unit = a.unit;
        p.meaning = a.meaning;
        p.origin = a.origin;
        p.source = a.source;
        m_parameters.push_back(std::move(p));
        return m_parameters.back();
    }
    std::vector<parameter> m_parameters;
};

}  // namespace hcasim

#endif
