#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <system_error>

#include "build_info.h"
#include "testbenches/program/commands.h"
#include "testbenches/program/input_error.h"
#include "testbenches/program/output_file.h"
#include "testbenches/report/report_data.h"
#include "testbenches/report/report_error.h"
#include "testbenches/report/report_page.h"

namespace hcasim {

namespace {

namespace fs = std::filesystem;

fs::path find_database(const std::string& given) {
    std::error_code error;
    const fs::path path = fs::is_directory(given, error) ? fs::path(given) / "results.db" : fs::path(given);
    if (!fs::is_regular_file(path, error)) {
        throw input_error(to_line({printable(path.string(), 1000), "", "there is no such file",
                                   "the directory that `hcasim sweep ... --out DIR` wrote", ""}));
    }
    return path;
}

}  // namespace

int report_command(const report_arguments& arguments) {
    if (!report::has_chart_library()) {
        throw input_error(
            to_line({"hcasim report", "", "this program was built without the library that draws the charts",
                     "`apt-get install libjs-vega` and another build", ""}));
    }
    const fs::path database = find_database(arguments.directory);
    const std::string out =
        arguments.out.empty() ? (database.parent_path() / "report.html").string() : arguments.out;
    require_distinct_files(database.string(), {{"--out", out}});
    output_file file("--out", out);
    nlohmann::json data;
    try {
        data = report::report_data(database.string());
    } catch (const report::report_error& error) {
        throw input_error(
            to_line({printable(database.string(), 1000), "", printable(error.what(), 200), "", ""}));
    }
    data["program_version"] = build_info::version;
    const std::string page = report::report_page(data);
    file.write(page);
    fmt::print("{}: {} points, {:.1f} MB\n", out, data["rows"].get<std::size_t>(),
               static_cast<double>(page.size()) / 1e6);
    return exit_good;
}

}  // namespace hcasim
