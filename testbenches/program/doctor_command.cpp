#include <systemc>

#include <fmt/format.h>
#include <sqlite3.h>
#include <toml++/toml.h>
#include <unistd.h>
#include <xxhash.h>
#include <zlib.h>
#include <CLI/Version.hpp>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>

#include "build_info.h"
#include "testbenches/program/commands.h"
#include "testbenches/report/report_page.h"

namespace hcasim {

namespace {

struct tool {
    const char* command;
    const char* package;
    const char* purpose;
};

// What hcasim can make use of and runs without.
constexpr tool tools[] = {
    {"gtkwave", "gtkwave", "shows the waves of --wave"},
    {"vcd2fst", "gtkwave", "makes a wave file small; a test checks waves with it"},
    {"tshark", "tshark", "decodes captured packets"},
    {"verilator", "verilator", "compiles Verilog for co-simulation"},
    {"make", "make", "builds the pin-level SystemC bench of a test"},
    {"iverilog", "iverilog", "second opinion on Verilog"},
    {"yosys", "yosys", "synthesis and formal checks of Verilog"},
    {"z3", "z3", "solver of the formal checks"},
    {"patch", "patch", "makes the mutants of the Verilog"},
    {"chromium", "chromium", "a test looks at the report with it"},
    {"sbatch", "slurm-wlm", "runs sweeps on a cluster"},
    {"munged", "munge", "authentication between the nodes of a cluster"},
    {"clang-format", "clang-format", "formatting test"},
    {"clang-tidy", "clang-tidy", "lint test"},
    {"ccache", "ccache", "makes builds faster"},
};

// The full path of a command, or nothing. System directories are searched too: daemons need not be in
// everybody's PATH.
std::string find_command(const std::string& command) {
    const char* path = std::getenv("PATH");
    const std::string places = std::string(path == nullptr ? "" : path) + ":/usr/sbin:/sbin";
    for (std::size_t begin = 0; begin <= places.size();) {
        const std::size_t end = std::min(places.find(':', begin), places.size());
        const std::string candidate = places.substr(begin, end - begin) + "/" + command;
        std::error_code error;
        if (end > begin && std::filesystem::is_regular_file(candidate, error) &&
            ::access(candidate.c_str(), X_OK) == 0) {
            return candidate;
        }
        begin = end + 1;
    }
    return {};
}

void print_line(const std::string& what, const std::string& value) {
    fmt::print("  {:<18} {}\n", what, value);
}

}  // namespace

int doctor_command() {
    fmt::print("hcasim {}, built with\n", build_info::version);
    print_line("compiler", fmt::format("{}, {} build", build_info::compiler, build_info::build_type));
    print_line("SystemC",
               fmt::format("{} (runs with {})", build_info::systemc_version, sc_core::sc_release()));
    print_line("CLI11", CLI11_VERSION);
    print_line("toml++", fmt::format("{}.{}.{}", TOML_LIB_MAJOR, TOML_LIB_MINOR, TOML_LIB_PATCH));
    print_line("nlohmann json", fmt::format("{}.{}.{}", NLOHMANN_JSON_VERSION_MAJOR,
                                            NLOHMANN_JSON_VERSION_MINOR, NLOHMANN_JSON_VERSION_PATCH));
    print_line("fmt",
               fmt::format("{}.{}.{}", FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100));
    print_line("xxHash", fmt::format("{}.{}.{}", XXH_VERSION_MAJOR, XXH_VERSION_MINOR, XXH_VERSION_RELEASE));
    print_line("zlib", fmt::format("{} (runs with {})", ZLIB_VERSION, zlibVersion()));
    print_line("SQLite", fmt::format("{} (runs with {})", SQLITE_VERSION, sqlite3_libversion()));
    const bool charts = report::has_chart_library();
    print_line("Vega", charts ? "in the program" : "not there when this was built");
    fmt::print("\noptional tools\n");
    const char* as_root = ::geteuid() == 0 ? "" : "sudo ";
    int missing = charts ? 0 : 1;
    if (!charts) {
        fmt::print("  {:<14} {:<40} {}\n", "(Vega)",
                   fmt::format("missing: {}apt-get install libjs-vega", as_root),
                   "charts of `hcasim report`; build again");
    }
    for (const tool& t : tools) {
        const std::string found = find_command(t.command);
        missing += found.empty() ? 1 : 0;
        const std::string state =
            found.empty() ? fmt::format("missing: {}apt-get install {}", as_root, t.package) : found;
        fmt::print("  {:<14} {:<40} {}\n", t.command, state, t.purpose);
    }
    fmt::print("\n{}\n", missing == 0 ? "Everything is there."
                                      : "What is missing is not needed to build, to run and to test; tests "
                                        "that would use it are skipped.");
    return exit_good;
}

}  // namespace hcasim
