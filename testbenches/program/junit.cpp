#include "testbenches/program/junit.h"

#include <fmt/format.h>

#include <algorithm>

namespace hcasim {

namespace {

// Text for element content and attribute values. XML 1.0 has no way to write most control characters: they
// become '?'.
std::string escaped(const std::string& text) {
    std::string out;
    for (const char c : text) {
        switch (c) {
            case '&':
                out += "&amp;";
                break;
            case '<':
                out += "&lt;";
                break;
            case '>':
                out += "&gt;";
                break;
            case '"':
                out += "&quot;";
                break;
            case '\'':
                out += "&apos;";
                break;
            case '\n':
                out += "&#10;";
                break;
            case '\t':
                out += "&#9;";
                break;
            default:
                out.push_back(static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c);
        }
    }
    return out;
}

std::string case_xml(const std::string& suite, const junit_case& c) {
    const std::string head = fmt::format("    <testcase classname=\"{}\" name=\"{}\" time=\"{:.3f}\"",
                                         escaped(suite), escaped(c.name), c.seconds);
    if (c.outcome == junit_case::outcome_t::passed) {
        return head + "/>\n";
    }
    const char* element = c.outcome == junit_case::outcome_t::failed ? "failure" : "error";
    return fmt::format("{}>\n      <{} message=\"{}\">{}</{}>\n    </testcase>\n", head, element,
                       escaped(c.message), escaped(c.details), element);
}

}  // namespace

std::string junit_xml(const std::string& suite, const std::vector<junit_case>& cases) {
    const auto count = [&](junit_case::outcome_t outcome) {
        return std::count_if(cases.begin(), cases.end(),
                             [&](const junit_case& c) { return c.outcome == outcome; });
    };
    double seconds = 0;
    std::string body;
    for (const junit_case& c : cases) {
        seconds += c.seconds;
        body += case_xml(suite, c);
    }
    const std::string totals =
        fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" time=\"{:.3f}\"", cases.size(),
                    count(junit_case::outcome_t::failed), count(junit_case::outcome_t::error), seconds);
    return fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {0}>\n  <testsuite name=\"{1}\" {0}>\n{2}  "
        "</testsuite>\n</testsuites>\n",
        totals, escaped(suite), body);
}

}  // namespace hcasim
