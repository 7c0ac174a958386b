// Names and contents of files.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "testbenches/style/source_tree.h"
#include "testbenches/unit/catch.h"

namespace {

using hcasim::style::ends_with;
using hcasim::style::lines_of;
using hcasim::style::source_tree;
using hcasim::style::starts_with;

// Names that a tool or a custom prescribes.
bool is_prescribed(const std::string& name) {
    const std::vector<std::string> names{"CMakeLists.txt", "CMakePresets.json", "README.md", "LICENSE"};
    return starts_with(name, ".") || std::find(names.begin(), names.end(), name) != names.end();
}

bool is_lower_snake(const std::string& name) {
    return std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
    });
}

bool is_name_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.' || c == '/' || c == '}' || c == ')' || c == '*' || c == '~';
}

// Where an absolute path that is good on one machine only begins in the line, or npos.
std::size_t find_machine_path(const std::string& line) {
    for (const std::string_view place : {"work", "home", "root", "tmp", "Users"}) {
        const std::string path = "/" + std::string(place);
        for (auto at = line.find(path); at != std::string::npos; at = line.find(path, at + 1)) {
            const bool absolute = at == 0 || !is_name_character(line[at - 1]);
            const auto end = at + path.size();
            if (absolute && (end == line.size() || line[end] == '/' || !is_name_character(line[end]))) {
                return at;
            }
        }
    }
    return std::string::npos;
}

}  // namespace

TEST_CASE("file names are lower_snake") {
    for (const auto& [path, text] : source_tree::get().files()) {
        std::size_t begin = 0;
        while (begin < path.size()) {
            const auto end = std::min(path.find('/', begin), path.size());
            const std::string name = path.substr(begin, end - begin);
            INFO(path);
            CHECK((is_prescribed(name) || is_lower_snake(name)));
            begin = end + 1;
        }
    }
}

TEST_CASE("machine paths are recognised") {
    const std::string slash = "/";
    CHECK(find_machine_path(slash + "tmp/x") != std::string::npos);
    CHECK(find_machine_path("cd " + slash + "home/me") != std::string::npos);
    CHECK(find_machine_path("\"" + slash + "root\"") != std::string::npos);
    CHECK(find_machine_path("model/tmp/x") == std::string::npos);
    CHECK(find_machine_path("http://example.org/home") == std::string::npos);
    CHECK(find_machine_path("/rooting/tmp_file /workload") == std::string::npos);
}

TEST_CASE("no path of one machine") {
    for (const auto& [path, text] : source_tree::get().files()) {
        int number = 0;
        for (const auto& line : lines_of(text)) {
            number += 1;
            if (find_machine_path(line) != std::string::npos) {
                FAIL_CHECK(path << ":" << number << ": " << line);
            }
        }
    }
}

TEST_CASE("text files end in a newline and have no trailing blanks") {
    for (const auto& [path, text] : source_tree::get().files()) {
        INFO(path);
        CHECK((text.empty() || text.back() == '\n'));
        // An empty line of a diff is a blank.
        const bool is_patch = ends_with(path, ".patch");
        int number = 0;
        for (const auto& line : lines_of(text)) {
            number += 1;
            if (!is_patch && !line.empty() &&
                (line.back() == ' ' || line.back() == '\t' || line.back() == '\r')) {
                FAIL_CHECK(path << ":" << number << ": blank at the end of the line");
            }
        }
    }
}

TEST_CASE("version control holds no generated and no binary file") {
    constexpr std::size_t max_bytes = 1'000'000;
    const auto& tree = source_tree::get();
    const auto tracked = tree.tracked();
    if (!tracked) {
        WARN("not a git checkout, or git is not installed: nothing checked");
        return;
    }
    const std::vector<std::string> generated{".o",   ".a",    ".so",  ".gch",    ".vcd", ".fst",
                                             ".csv", ".pcap", ".log", ".pcapng", ".db",  ".sqlite"};
    for (const auto& path : *tracked) {
        INFO(path);
        CHECK_FALSE(starts_with(path, "build/"));
        CHECK(std::none_of(generated.begin(), generated.end(),
                           [&](const std::string& suffix) { return ends_with(path, suffix); }));
        const std::string text = tree.read(path);
        CHECK(text.find('\0') == std::string::npos);
        CHECK(text.size() <= max_bytes);
    }
}
