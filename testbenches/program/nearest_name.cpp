#include "testbenches/program/nearest_name.h"

#include <algorithm>
#include <cctype>

namespace hcasim {

namespace {

bool same_letter(char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
}

std::string last_part(const std::string& key) {
    const auto dot = key.rfind('.');
    return dot == std::string::npos ? key : key.substr(dot + 1);
}

}  // namespace

std::size_t edit_distance(const std::string& a, const std::string& b) {
    // Three rows of the table: a swap of neighbours looks two rows back.
    std::vector<std::size_t> before(b.size() + 1);
    std::vector<std::size_t> above(b.size() + 1);
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) {
        above[j] = j;
    }
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replace = above[j - 1] + (same_letter(a[i - 1], b[j - 1]) ? 0 : 1);
            row[j] = std::min({above[j] + 1, row[j - 1] + 1, replace});
            if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) && same_letter(a[i - 2], b[j - 1])) {
                row[j] = std::min(row[j], before[j - 2] + 1);
            }
        }
        before.swap(above);
        above.swap(row);
    }
    return above[b.size()];
}

std::string nearest_name(const std::string& word, const std::vector<std::string>& names) {
    constexpr std::size_t longest_word = 200;  // nobody mistypes that; the table would only cost time
    if (word.empty() || word.size() > longest_word) {
        return {};
    }
    std::string best;
    std::size_t best_distance = std::max<std::size_t>(1, (word.size() + 1) / 3) + 1;
    for (const std::string& name : names) {
        const std::size_t distance = edit_distance(word, name);
        if (distance < best_distance) {
            best = name;
            best_distance = distance;
        }
    }
    if (best.empty() && word.size() >= 3) {
        const auto begins_with_word = [&](const std::string& name) {
            return name.compare(0, word.size(), word) == 0;
        };
        const auto found = std::find_if(names.begin(), names.end(), begins_with_word);
        best = found == names.end() ? std::string{} : *found;
    }
    return best;
}

std::string nearest_key(const std::string& key, const std::vector<std::string>& keys) {
    std::vector<std::string> last_parts;
    for (const std::string& k : keys) {
        last_parts.push_back(last_part(k));
        // The right name in the wrong table is nearer than a wrong name in a table of similar name.
        if (last_parts.back() == last_part(key)) {
            return k;
        }
    }
    std::string near = nearest_name(key, keys);
    if (near.empty()) {
        const std::string near_last = nearest_name(last_part(key), last_parts);
        const auto found = std::find(last_parts.begin(), last_parts.end(), near_last);
        if (!near_last.empty() && found != last_parts.end()) {
            near = keys[static_cast<std::size_t>(found - last_parts.begin())];
        }
    }
    return near;
}

}  // namespace hcasim
