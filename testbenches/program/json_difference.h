#ifndef HCASIM_TESTBENCHES_PROGRAM_JSON_DIFFERENCE_H
#define HCASIM_TESTBENCHES_PROGRAM_JSON_DIFFERENCE_H

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace hcasim {

/// One value that differs. A side that has no such value says "nothing".
struct json_difference {
    std::string pointer;  ///< RFC 6901: "/gate/waited"
    std::string expected;
    std::string actual;
};

/// All values that differ, in the order of `expected`. The order of an object's keys does not count.
std::vector<json_difference> json_differences(const nlohmann::ordered_json& expected,
                                              const nlohmann::ordered_json& actual);

}  // namespace hcasim

#endif
