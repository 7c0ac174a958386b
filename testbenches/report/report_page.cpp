#include "testbenches/report/report_page.h"

#include "testbenches/report/embedded_files.h"

namespace hcasim::report {

namespace {

// JSON that can stand inside a <script> element: no "</", no "<!--". Outside of strings JSON has no '<'.
std::string script_json(const nlohmann::json& data) {
    const std::string text = data.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    std::string safe;
    safe.reserve(text.size());
    for (const char c : text) {
        if (c == '<') {
            safe += "\\u003c";
        } else {
            safe.push_back(c);
        }
    }
    return safe;
}

}  // namespace

bool has_chart_library() { return !embedded_files::charts().empty(); }

std::string report_page(const nlohmann::json& data) {
    // Each marker of the template is an HTML comment on a line of its own.
    const std::string json_text = script_json(data);
    std::string page;
    page.reserve(json_text.size() + embedded_files::charts().size() + 200000);
    std::string_view rest = embedded_files::page();
    while (!rest.empty()) {
        const auto end = rest.find('\n');
        const std::string_view line = rest.substr(0, end);
        rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
        if (line == "<!-- style -->") {
            page.append("<style>\n").append(embedded_files::style()).append("</style>\n");
        } else if (line == "<!-- data -->") {
            page.append("<script type=\"application/json\" id=\"data\">").append(json_text);
            page.append("</script>\n");
        } else if (line == "<!-- charts -->") {
            page.append("<script>\n").append(embedded_files::charts()).append("</script>\n");
        } else if (line == "<!-- code -->") {
            page.append("<script>\n").append(embedded_files::figures()).append("</script>\n");
            page.append("<script>\n").append(embedded_files::code()).append("</script>\n");
        } else {
            page.append(line).append("\n");
        }
    }
    return page;
}

}  // namespace hcasim::report
