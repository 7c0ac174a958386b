#include "rtl_cosim/wrap/child_process.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace hcasim {

int run_child(const std::vector<std::string>& command, const std::string& directory, const std::string& log) {
    std::vector<char*> words;
    words.reserve(command.size() + 1);
    for (const std::string& word : command) {
        words.push_back(const_cast<char*>(word.c_str()));
    }
    words.push_back(nullptr);
    const pid_t child = ::fork();
    if (child < 0) {
        return 127;
    }
    if (child == 0) {
        const int out = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0666);
        const int in = ::open("/dev/null", O_RDONLY);
        if (out < 0 || in < 0 || ::dup2(in, 0) < 0 || ::dup2(out, 1) < 0 || ::dup2(out, 2) < 0 ||
            (!directory.empty() && ::chdir(directory.c_str()) != 0)) {
            ::_exit(127);
        }
        ::execvp(words[0], words.data());
        ::_exit(127);
    }
    int status = 0;
    while (::waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) {
            return 127;
        }
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::string find_in_path(const std::string& command) {
    const char* path = std::getenv("PATH");
    const std::string places = path == nullptr ? "" : path;
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

}  // namespace hcasim
