// What the documents point at is there.
#include <algorithm>
#include <cctype>
#include <set>
#include <string>
#include <vector>

#include "testbenches/style/source_tree.h"
#include "testbenches/unit/catch.h"

namespace {

using hcasim::style::ends_with;
using hcasim::style::lines_of;
using hcasim::style::source_tree;
using hcasim::style::starts_with;

struct document_line {
    std::string text;
    int number;
};

// The lines outside of fenced code.
std::vector<document_line> prose(const std::string& document) {
    std::vector<document_line> lines;
    bool in_code = false;
    int number = 0;
    for (const auto& line : lines_of(document)) {
        number += 1;
        const auto begin = line.find_first_not_of(' ');
        if (begin != std::string::npos && line.compare(begin, 3, "```") == 0) {
            in_code = !in_code;
        } else if (!in_code) {
            lines.push_back({line, number});
        }
    }
    return lines;
}

std::vector<std::string> documents() {
    std::vector<std::string> found;
    for (const auto& [path, text] : source_tree::get().files()) {
        if (ends_with(path, ".md")) {
            found.push_back(path);
        }
    }
    return found;
}

// Targets of [text](target) and ![text](target) in a line.
std::vector<std::string> links(const std::string& line) {
    std::vector<std::string> found;
    for (auto at = line.find("]("); at != std::string::npos; at = line.find("](", at + 1)) {
        const auto close = line.find(')', at);
        if (close != std::string::npos) {
            found.push_back(line.substr(at + 2, close - at - 2));
        }
    }
    return found;
}

// Texts between single backticks in a line.
std::vector<std::string> code_words(const std::string& line) {
    std::vector<std::string> found;
    auto open = line.find('`');
    while (open != std::string::npos) {
        const auto close = line.find('`', open + 1);
        if (close == std::string::npos) {
            break;
        }
        found.push_back(line.substr(open + 1, close - open - 1));
        open = line.find('`', close + 1);
    }
    return found;
}

// The anchors that the usual renderers make of a document's headings.
std::set<std::string> anchors(const std::string& document) {
    std::set<std::string> found;
    for (const auto& [text, number] : prose(document)) {
        if (!starts_with(text, "#")) {
            continue;
        }
        std::string anchor;
        for (const char c : text.substr(std::min(text.find_first_not_of("# "), text.size()))) {
            const auto u = static_cast<unsigned char>(c);
            if (c == ' ') {
                anchor.push_back('-');
            } else if (std::isalnum(u) != 0 || c == '_' || c == '-' || u >= 0x80) {
                anchor.push_back(static_cast<char>(std::tolower(u)));
            }
        }
        found.insert(anchor);
    }
    return found;
}

// A path written relative to the directory of a document, as one from the root.
std::string resolve(const std::string& document, const std::string& target) {
    std::vector<std::string> parts;
    const auto slash = document.rfind('/');
    const std::string path = (slash == std::string::npos ? "" : document.substr(0, slash + 1)) + target;
    std::size_t begin = 0;
    while (begin < path.size()) {
        const auto end = std::min(path.find('/', begin), path.size());
        const std::string part = path.substr(begin, end - begin);
        if (part == ".." && !parts.empty()) {
            parts.pop_back();
        } else if (part != "." && !part.empty()) {
            parts.push_back(part);
        }
        begin = end + 1;
    }
    std::string resolved;
    for (const auto& part : parts) {
        resolved += (resolved.empty() ? "" : "/") + part;
    }
    return resolved;
}

}  // namespace

TEST_CASE("links in documents lead somewhere") {
    const auto& tree = source_tree::get();
    for (const auto& document : documents()) {
        for (const auto& [text, number] : prose(tree.files().at(document))) {
            for (const auto& link : links(text)) {
                if (link.find("://") != std::string::npos || starts_with(link, "mailto:")) {
                    continue;
                }
                INFO(document << ":" << number << ": " << link);
                const auto hash = link.find('#');
                const std::string file = hash == 0 ? document : resolve(document, link.substr(0, hash));
                CHECK(tree.exists(file));
                if (hash != std::string::npos && ends_with(file, ".md") && tree.has(file)) {
                    CHECK(anchors(tree.files().at(file)).count(link.substr(hash + 1)) == 1);
                }
            }
        }
    }
}

TEST_CASE("files named in documents are there") {
    const auto& tree = source_tree::get();
    for (const auto& document : documents()) {
        for (const auto& [text, number] : prose(tree.files().at(document))) {
            for (const auto& word : code_words(text)) {
                const bool in_the_tree = starts_with(word, "model/") || starts_with(word, "tlm/") ||
                                         starts_with(word, "testbenches/") || starts_with(word, "traces/") ||
                                         starts_with(word, "docs/") || starts_with(word, "cmake/");
                if (in_the_tree && word.find_first_of("*<>{} ,:") == std::string::npos) {
                    INFO(document << ":" << number << ": " << word);
                    CHECK(tree.exists(word));
                }
            }
        }
    }
}
