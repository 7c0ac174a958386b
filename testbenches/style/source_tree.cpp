#include "testbenches/style/source_tree.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

#include "testbenches/unit/source_directory.h"

namespace hcasim::style {

namespace fs = std::filesystem;

namespace {

bool is_project_file(const std::string& name) {
    // In a worktree .git is a file, which git wrote.
    return (starts_with(name, ".") && name != ".git") || starts_with(name, "CMake") ||
           ends_with(name, ".md") || name == "hcasim" || name == "LICENSE";
}

// What the include in this line names, if the line is one.
std::optional<include_line> parse_include(const std::string& text, int line) {
    const auto hash = text.find_first_not_of(" \t");
    if (hash == std::string::npos || text[hash] != '#') {
        return std::nullopt;
    }
    const auto word = text.find_first_not_of(" \t", hash + 1);
    if (word == std::string::npos || text.compare(word, 7, "include") != 0) {
        return std::nullopt;
    }
    const auto open = text.find_first_of("\"<", word + 7);
    if (open == std::string::npos) {
        return std::nullopt;
    }
    const bool quoted = text[open] == '"';
    const auto close = text.find(quoted ? '"' : '>', open + 1);
    if (close == std::string::npos) {
        return std::nullopt;
    }
    return include_line{text.substr(open + 1, close - open - 1), quoted, line};
}

}  // namespace

const source_tree& source_tree::get() {
    static const source_tree tree{source_directory()};
    return tree;
}

source_tree::source_tree(std::string root) : m_root(std::move(root)) {
    for (const auto& entry : fs::directory_iterator(m_root)) {
        const std::string name = entry.path().filename().string();
        if (entry.is_regular_file() && is_project_file(name)) {
            m_files.emplace(name, read(name));
        }
    }
    for (const char* directory :
         {".ci", "cmake", "docs", "model", "rtl_cosim", "testbenches", "tlm", "traces"}) {
        if (!fs::is_directory(fs::path(m_root) / directory)) {
            continue;
        }
        for (const auto& entry : fs::recursive_directory_iterator(fs::path(m_root) / directory)) {
            if (entry.is_regular_file() && !entry.is_symlink()) {
                const std::string path = entry.path().lexically_relative(m_root).generic_string();
                m_files.emplace(path, read(path));
            }
        }
    }
}

std::string source_tree::read(const std::string& path) const {
    std::ifstream in(fs::path(m_root) / path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

bool source_tree::has(const std::string& path) const { return m_files.find(path) != m_files.end(); }

bool source_tree::exists(const std::string& path) const { return fs::exists(fs::path(m_root) / path); }

std::vector<std::string> source_tree::sources() const {
    std::vector<std::string> found;
    for (const auto& [path, text] : m_files) {
        const bool cpp = ends_with(path, ".h") || ends_with(path, ".cpp");
        const bool in_a_room = starts_with(path, "model/") || starts_with(path, "tlm/") ||
                               starts_with(path, "rtl_cosim/") || starts_with(path, "testbenches/");
        if (cpp && in_a_room) {
            found.push_back(path);
        }
    }
    return found;
}

std::optional<std::vector<std::string>> source_tree::tracked() const {
    // The directory check keeps a tarball inside somebody else's checkout from being judged by that checkout.
    if (!fs::exists(fs::path(m_root) / ".git")) {
        return std::nullopt;
    }
    const std::string command = "git -c safe.directory='*' -C '" + m_root + "' ls-files -z 2>/dev/null";
    std::FILE* pipe = popen(command.c_str(), "r");
    if (pipe == nullptr) {
        return std::nullopt;
    }
    std::string output;
    for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) {
        output.push_back(static_cast<char>(c));
    }
    if (pclose(pipe) != 0) {
        return std::nullopt;
    }
    std::vector<std::string> paths;
    std::istringstream in(output);
    for (std::string path; std::getline(in, path, '\0');) {
        paths.push_back(path);
    }
    return paths;
}

std::vector<include_line> source_tree::includes(const std::string& path) const {
    std::vector<include_line> found;
    int number = 0;
    for (const auto& line : lines_of(m_files.at(path))) {
        number += 1;
        if (auto include = parse_include(line, number)) {
            found.push_back(*include);
        }
    }
    return found;
}

std::vector<std::string> source_tree::closure(const std::string& path) const {
    std::set<std::string> seen{path};
    std::vector<std::string> order{path};
    for (std::size_t i = 0; i < order.size(); ++i) {
        for (const auto& include : includes(order[i])) {
            if (include.quoted && has(include.target) && seen.insert(include.target).second) {
                order.push_back(include.target);
            }
        }
    }
    return order;
}

bool starts_with(std::string_view text, std::string_view prefix) {
    return text.substr(0, prefix.size()) == prefix;
}

bool ends_with(std::string_view text, std::string_view suffix) {
    return text.size() >= suffix.size() && text.substr(text.size() - suffix.size()) == suffix;
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
        lines.push_back(line);
    }
    return lines;
}

}  // namespace hcasim::style
