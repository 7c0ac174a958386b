#include "testbenches/program/json_difference.h"

#include <algorithm>

namespace hcasim {

namespace {

using nlohmann::ordered_json;
using pointer_t = nlohmann::ordered_json::json_pointer;

std::string short_text(const ordered_json& value) {
    constexpr std::size_t longest = 100;
    std::string text = value.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
    return text.size() <= longest ? text : text.substr(0, longest) + "...";
}

void compare(const ordered_json& expected, const ordered_json& actual, const pointer_t& at,
             std::vector<json_difference>& out) {
    if (expected.is_object() && actual.is_object()) {
        for (const auto& [key, value] : expected.items()) {
            if (actual.contains(key)) {
                compare(value, actual[key], at / key, out);
            } else {
                out.push_back({(at / key).to_string(), short_text(value), "nothing"});
            }
        }
        for (const auto& [key, value] : actual.items()) {
            if (!expected.contains(key)) {
                out.push_back({(at / key).to_string(), "nothing", short_text(value)});
            }
        }
    } else if (expected.is_array() && actual.is_array()) {
        for (std::size_t i = 0; i < std::max(expected.size(), actual.size()); ++i) {
            if (i >= actual.size()) {
                out.push_back({(at / i).to_string(), short_text(expected[i]), "nothing"});
            } else if (i >= expected.size()) {
                out.push_back({(at / i).to_string(), "nothing", short_text(actual[i])});
            } else {
                compare(expected[i], actual[i], at / i, out);
            }
        }
    } else if (expected != actual) {
        out.push_back({at.to_string(), short_text(expected), short_text(actual)});
    }
}

}  // namespace

std::vector<json_difference> json_differences(const ordered_json& expected, const ordered_json& actual) {
    std::vector<json_difference> out;
    compare(expected, actual, pointer_t{}, out);
    return out;
}

}  // namespace hcasim
