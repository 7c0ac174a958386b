#include "testbenches/sweep/setting_value.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "testbenches/program/scenario_file.h"

namespace hcasim {

setting_value::setting_value(const parameter& p) : m_text(value_text(p)) {
    switch (p.kind) {
        case parameter::kind_t::integer:
            m_value = p.get_integer();
            break;
        case parameter::kind_t::real:
            m_value = p.get_real();
            break;
        case parameter::kind_t::boolean:
            m_value = p.get_boolean();
            break;
        case parameter::kind_t::text:
        case parameter::kind_t::choice:
            m_value = p.get_text();
            break;
        case parameter::kind_t::choice_list:
            m_value = p.get_list();
            break;
    }
}

void setting_value::apply(const parameter& p) const {
    switch (p.kind) {
        case parameter::kind_t::integer:
            p.set_integer(std::get<std::uint64_t>(m_value));
            break;
        case parameter::kind_t::real:
            p.set_real(std::get<double>(m_value));
            break;
        case parameter::kind_t::boolean:
            p.set_boolean(std::get<bool>(m_value));
            break;
        case parameter::kind_t::text:
        case parameter::kind_t::choice:
            p.set_text(std::get<std::string>(m_value));
            break;
        case parameter::kind_t::choice_list:
            p.set_list(std::get<std::vector<std::string>>(m_value));
            break;
    }
}

std::string setting_value::plain() const {
    if (const auto* text = std::get_if<std::string>(&m_value)) {
        return *text;
    }
    if (const auto* list = std::get_if<std::vector<std::string>>(&m_value)) {
        return fmt::format("{}", fmt::join(*list, ", "));
    }
    return m_text;
}

}  // namespace hcasim
