#ifndef HCASIM_TESTBENCHES_REPORT_TESTS_SCRATCH_DIRECTORY_H
#define HCASIM_TESTBENCHES_REPORT_TESTS_SCRATCH_DIRECTORY_H

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

namespace hcasim::report {

/// A directory for the time of a test.
class scratch_directory {
public:
    scratch_directory() {
        m_path = (std::filesystem::temp_directory_path() / "hcasim_report_XXXXXX").string();
        if (mkdtemp(m_path.data()) == nullptr) {
            m_path.clear();
        }
    }
    ~scratch_directory() {
        std::error_code error;
        std::filesystem::remove_all(m_path, error);
    }
    scratch_directory(const scratch_directory&) = delete;
    scratch_directory& operator=(const scratch_directory&) = delete;

    const std::string& path() const { return m_path; }
    std::string operator/(const std::string& name) const { return m_path + "/" + name; }

private:
    std::string m_path;
};

}  // namespace hcasim::report

#endif
