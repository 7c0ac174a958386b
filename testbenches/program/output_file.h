#ifndef HCASIM_TESTBENCHES_PROGRAM_OUTPUT_FILE_H
#define HCASIM_TESTBENCHES_PROGRAM_OUTPUT_FILE_H

#include <string>
#include <vector>

namespace hcasim {

/// A file that the user wants written at the end of a run. Opened before the run, so that a typing error
/// costs no run; what is there keeps its content until write(). A file that was made by opening and is not
/// written is removed again.
class output_file {
public:
    /// `option` is named in messages ("--json"). An empty path stands for no file. Throws input_error when it
    /// cannot be written.
    output_file(std::string option, std::string path);
    ~output_file();
    output_file(const output_file&) = delete;
    output_file& operator=(const output_file&) = delete;

    bool wanted() const { return !m_path.empty(); }
    const std::string& path() const { return m_path; }
    const std::string& option() const { return m_option; }

    /// Replaces the content. Throws input_error when that fails (a full disk).
    void write(const std::string& text);

private:
    std::string m_option;
    std::string m_path;
    int m_descriptor = -1;
    bool m_is_new = false;
};

/// Throws input_error when two of the outputs, or an output and the input, are one file. To be called before
/// they are opened.
void require_distinct_files(const std::string& input,
                            const std::vector<std::pair<std::string, std::string>>& option_and_path);

}  // namespace hcasim

#endif
