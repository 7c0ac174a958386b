// Who may know whom (docs: the rooms of the house), read from the includes.
#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

#include "testbenches/style/source_tree.h"
#include "testbenches/unit/catch.h"

namespace {

using hcasim::style::ends_with;
using hcasim::style::source_tree;
using hcasim::style::starts_with;

// The room a file belongs to: "model/ib", "tlm", ...; "model" for the files that wire the blocks.
std::string room_of(const std::string& path) {
    const auto first = path.find('/');
    const std::string top = path.substr(0, first);
    if (top != "model" && top != "testbenches") {
        return top;
    }
    const auto second = path.find('/', first + 1);
    return second == std::string::npos ? top : path.substr(0, second);
}

// Rooms that a room may include besides itself; a name ending in '/' stands for every room below it.
std::vector<std::string> known_by(const std::string& room) {
    if (room == "model/ib" || room == "model/stats" || room == "model/clock") {
        return {};
    }
    if (room == "model") {
        return {"model/"};
    }
    if (starts_with(room, "model/")) {
        return {"model/clock", "model/ib", "model/stats"};
    }
    if (room == "tlm") {
        return {"model/ib", "model/clock"};
    }
    if (room == "rtl_cosim") {
        return {"model", "model/"};
    }
    return {"tlm", "rtl_cosim", "model", "model/", "testbenches/"};
}

bool may_include(const std::string& from, const std::string& to) {
    const auto known = known_by(from);
    return from == to || std::any_of(known.begin(), known.end(), [&](const std::string& room) {
               return ends_with(room, "/") ? starts_with(to, room) : to == room;
           });
}

// By the build, or by Verilator.
bool is_generated(const std::string& target) {
    return target == "build_info.h" || target == "verilated.h" ||
           (starts_with(target, "V") && target.find('/') == std::string::npos);
}

bool is_systemc(const std::string& target) {
    return target == "systemc" || target == "systemc.h" || target == "tlm" || target == "tlm.h" ||
           starts_with(target, "sysc/") || starts_with(target, "tlm_");
}

bool includes_systemc(const std::string& path) {
    const auto& tree = source_tree::get();
    for (const auto& file : tree.closure(path)) {
        for (const auto& include : tree.includes(file)) {
            if (!include.quoted && is_systemc(include.target)) {
                return true;
            }
        }
    }
    return false;
}

}  // namespace

TEST_CASE("rooms include only the rooms they may know") {
    const auto& tree = source_tree::get();
    for (const auto& path : tree.sources()) {
        for (const auto& include : tree.includes(path)) {
            if (!include.quoted || is_generated(include.target)) {
                continue;
            }
            INFO(path << ":" << include.line << ": " << include.target);
            CHECK(tree.has(include.target));  // written from the root
            CHECK(may_include(room_of(path), room_of(include.target)));
        }
    }
}

TEST_CASE("plain C++ rooms never see SystemC") {
    for (const auto& path : source_tree::get().sources()) {
        const std::string room = room_of(path);
        if (room == "model/ib" || room == "model/stats" || room == "testbenches/style" ||
            starts_with(path, "testbenches/unit/plain/")) {
            INFO(path);
            CHECK_FALSE(includes_systemc(path));
        }
    }
}

// The shared precompiled header would hide a missing include from us, but not from those who embed the model.
TEST_CASE("a file that uses SystemC includes it") {
    const auto& tree = source_tree::get();
    for (const auto& path : tree.sources()) {
        const auto& text = tree.files().at(path);
        if (room_of(path) != "testbenches/style" &&
            (text.find("sc_core::") != std::string::npos || text.find("tlm::") != std::string::npos)) {
            INFO(path);
            CHECK(includes_systemc(path));
        }
    }
}

TEST_CASE("the hardware knows no files and no command line") {
    const std::vector<std::string> foreign{
        "fstream",  "filesystem",        "iostream",     "unistd.h",        "sys/stat.h", "CLI/CLI.hpp",
        "getopt.h", "nlohmann/json.hpp", "fmt/format.h", "toml++/toml.hpp", "fmt/core.h", "toml++/toml.h"};
    const auto& tree = source_tree::get();
    for (const auto& path : tree.sources()) {
        if (!starts_with(path, "model/") && !starts_with(path, "tlm/")) {
            continue;
        }
        for (const auto& include : tree.includes(path)) {
            INFO(path << ":" << include.line << ": " << include.target);
            CHECK(std::find(foreign.begin(), foreign.end(), include.target) == foreign.end());
        }
    }
}

TEST_CASE("header guards are the path") {
    const auto& tree = source_tree::get();
    for (const auto& path : tree.sources()) {
        if (!ends_with(path, ".h")) {
            continue;
        }
        std::string guard = "HCASIM_";
        for (const char c : path) {
            guard.push_back(c == '/' || c == '.' ? '_' : static_cast<char>(std::toupper(c)));
        }
        INFO(path);
        CHECK(tree.files().at(path).find("#ifndef " + guard + "\n#define " + guard + "\n") !=
              std::string::npos);
    }
}
