#include "testbenches/program/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "testbenches/program/input_error.h"

namespace hcasim {

namespace {

namespace fs = std::filesystem;

input_error refuse(const std::string& option, const std::string& path, const std::string& what,
                   const std::string& expected) {
    return input_error(to_line({option, printable(path, 500), what, expected, ""}));
}

std::string system_message(int number) { return std::generic_category().message(number); }

bool is_device(const std::string& path) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    return fs::exists(status) && !fs::is_regular_file(status);
}

bool same_file(const std::string& a, const std::string& b) {
    std::error_code error;
    if (fs::equivalent(a, b, error) && !error) {
        return true;
    }
    const fs::path absolute_a = fs::weakly_canonical(fs::absolute(a), error);
    const fs::path absolute_b = fs::weakly_canonical(fs::absolute(b), error);
    return !absolute_a.empty() && absolute_a == absolute_b;
}

}  // namespace

output_file::output_file(std::string option, std::string path)
    : m_option(std::move(option)), m_path(std::move(path)) {
    if (m_path.empty()) {
        return;
    }
    const int flags = O_WRONLY | O_CLOEXEC;
    constexpr mode_t mode = 0666;
    m_descriptor = ::open(m_path.c_str(), flags | O_CREAT | O_EXCL, mode);
    m_is_new = m_descriptor >= 0;
    if (!m_is_new && errno == EEXIST) {
        m_descriptor = ::open(m_path.c_str(), flags | O_CREAT, mode);
    }
    if (m_descriptor < 0) {
        throw refuse(m_option, m_path, "cannot be written: " + system_message(errno),
                     "a file in a directory that exists");
    }
}

output_file::~output_file() {
    if (m_descriptor >= 0) {
        ::close(m_descriptor);
        if (m_is_new) {
            ::unlink(m_path.c_str());
        }
    }
}

void output_file::write(const std::string& text) {
    if (m_descriptor < 0) {
        return;
    }
    const auto fail = [&] {
        return refuse(m_option, m_path, "could not be written: " + system_message(errno), "");
    };
    struct stat info {};
    if (::fstat(m_descriptor, &info) == 0 && S_ISREG(info.st_mode) && ::ftruncate(m_descriptor, 0) != 0) {
        throw fail();
    }
    std::size_t done = 0;
    while (done < text.size()) {
        const ssize_t n = ::write(m_descriptor, text.data() + done, text.size() - done);
        if (n < 0 && errno != EINTR) {
            throw fail();
        }
        done += n > 0 ? static_cast<std::size_t>(n) : 0;
    }
    m_is_new = false;
    if (::close(std::exchange(m_descriptor, -1)) != 0) {
        throw fail();
    }
}

void require_distinct_files(const std::string& input,
                            const std::vector<std::pair<std::string, std::string>>& option_and_path) {
    for (std::size_t i = 0; i < option_and_path.size(); ++i) {
        const auto& [option, path] = option_and_path[i];
        if (path.empty() || is_device(path)) {
            continue;
        }
        if (same_file(path, input)) {
            throw refuse(option, path, "is the input file, which would be lost", "another file");
        }
        for (std::size_t j = 0; j < i; ++j) {
            if (!option_and_path[j].second.empty() && same_file(path, option_and_path[j].second)) {
                throw refuse(option, path, "is also the file of " + option_and_path[j].first,
                             "a file of its own");
            }
        }
    }
}

}  // namespace hcasim
