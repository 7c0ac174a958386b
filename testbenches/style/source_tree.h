#ifndef HCASIM_TESTBENCHES_STYLE_SOURCE_TREE_H
#define HCASIM_TESTBENCHES_STYLE_SOURCE_TREE_H

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hcasim::style {

/// One #include line. `target` is what stands between the quotes or angle brackets.
struct include_line {
    std::string target;
    bool quoted;
    int line;
};

/// The files of the project as text, read once. Paths are relative to the root and use '/'.
class source_tree {
public:
    /// The tree this test was built from.
    static const source_tree& get();

    /// Every file of the project's directories and the project's files at the root, sorted by path. What a
    /// user has put beside them (results, other builds) is not looked at; symbolic links are not followed.
    const std::map<std::string, std::string>& files() const { return m_files; }
    /// Contents of any file below the root; empty when there is none.
    std::string read(const std::string& path) const;
    bool has(const std::string& path) const;
    /// Files and directories both count.
    bool exists(const std::string& path) const;
    /// C++ files in the rooms of the house, that is below model/, tlm/, rtl_cosim/ and testbenches/.
    std::vector<std::string> sources() const;
    /// Paths that version control knows; nothing when this is not a git checkout or git is not installed.
    std::optional<std::vector<std::string>> tracked() const;

    std::vector<include_line> includes(const std::string& path) const;
    /// The file, and every project file that it includes, directly or not.
    std::vector<std::string> closure(const std::string& path) const;

private:
    explicit source_tree(std::string root);

    std::string m_root;
    std::map<std::string, std::string> m_files;
};

bool starts_with(std::string_view text, std::string_view prefix);
bool ends_with(std::string_view text, std::string_view suffix);
std::vector<std::string> lines_of(const std::string& text);

}  // namespace hcasim::style

#endif
