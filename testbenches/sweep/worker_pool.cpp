#include "testbenches/sweep/worker_pool.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <stdexcept>

namespace hcasim {

namespace {

// A worker has this much work with it, so that it seldom waits for more, and few pieces are tried in vain
// when the sweep is stopped.
constexpr double portion_seconds = 0.03;
constexpr std::size_t largest_portion = 256;
constexpr std::uint64_t largest_answer_bytes = std::uint64_t{1} << 30;

double now_seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

bool write_all(int socket, const char* data, std::size_t bytes) {
    while (bytes != 0) {
        const ssize_t n = ::send(socket, data, bytes, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return false;
        }
        data += n;
        bytes -= static_cast<std::size_t>(n);
    }
    return true;
}

bool read_all(int socket, char* data, std::size_t bytes) {
    while (bytes != 0) {
        const ssize_t n = ::recv(socket, data, bytes, 0);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return false;
        }
        data += n;
        bytes -= static_cast<std::size_t>(n);
    }
    return true;
}

std::string why_it_ended(int status) {
    if (WIFSIGNALED(status)) {
        return fmt::format("the simulator was ended by signal {} ({})", WTERMSIG(status),
                           ::strsignal(WTERMSIG(status)));
    }
    return fmt::format("the simulator ended with exit code {}", WEXITSTATUS(status));
}

}  // namespace

worker_pool::worker_pool(unsigned jobs, std::function<work_t()> prepare, double timeout_seconds)
    : m_jobs(std::max(1u, jobs)),
      m_prepare(std::move(prepare)),
      m_timeout_seconds(timeout_seconds),
      m_part(std::size_t{1} << 16) {}

worker_pool::~worker_pool() {
    for (worker& w : m_workers) {
        stop(w);
    }
}

// The life of a worker: numbers come in, answers go out, until the other side is gone.
void worker_pool::serve(int socket) const {
    std::signal(SIGINT, SIG_IGN);  // the parent decides
    std::signal(SIGTERM, SIG_DFL);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    try {
        const work_t work = m_prepare();
        std::uint64_t item = 0;
        while (read_all(socket, reinterpret_cast<char*>(&item), sizeof item)) {
            std::string answer(sizeof(std::uint64_t), '\0');
            answer += work(item);
            const std::uint64_t bytes = answer.size() - sizeof bytes;
            std::memcpy(answer.data(), &bytes, sizeof bytes);
            if (!write_all(socket, answer.data(), answer.size())) {
                break;
            }
        }
    } catch (const std::exception& error) {
        fmt::print(stderr, "hcasim: {}\n", error.what());
        std::fflush(stderr);
        ::_exit(70);
    }
    ::_exit(0);
}

void worker_pool::start(worker& w) {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
        throw std::runtime_error(fmt::format("no socket for a worker: {}", std::strerror(errno)));
    }
    std::fflush(nullptr);
    const pid_t process = ::fork();
    if (process < 0) {
        const std::string why = std::strerror(errno);
        ::close(ends[0]);
        ::close(ends[1]);
        throw std::runtime_error("no process for a worker: " + why);
    }
    if (process == 0) {
        ::close(ends[0]);
        for (const worker& other : m_workers) {
            if (other.socket >= 0) {
                ::close(other.socket);
            }
        }
        serve(ends[1]);
    }
    ::close(ends[1]);
    w.process = process;
    w.socket = ends[0];
    w.received.clear();
    w.since = now_seconds();
}

void worker_pool::stop(worker& w) {
    if (w.socket >= 0) {
        ::close(w.socket);
        w.socket = -1;
    }
    if (w.process > 0) {
        ::kill(w.process, SIGKILL);
        int status = 0;
        while (::waitpid(w.process, &status, 0) < 0 && errno == EINTR) {
        }
        w.process = -1;
    }
}

void worker_pool::give(worker& w) {
    const double share = m_mean_seconds <= 0 ? 1 : portion_seconds / m_mean_seconds;
    const auto portion = std::clamp<std::size_t>(static_cast<std::size_t>(share), 1, largest_portion);
    // Half a portion more when half of it is done; near the end, no more than a fair share.
    if (w.given.size() * 2 > portion) {
        return;
    }
    const std::size_t fair = m_todo.size() / m_workers.size() + 1;
    const std::size_t wanted = std::min({portion, fair, m_todo.size()});
    if (wanted == 0 || (wanted <= w.given.size() && !w.given.empty())) {
        return;
    }
    if (w.given.empty()) {
        w.since = now_seconds();
    }
    std::string bytes;
    for (std::size_t i = 0; i < wanted; ++i) {
        const std::uint64_t item = m_todo.front();
        m_todo.pop_front();
        w.given.push_back(item);
        bytes.append(reinterpret_cast<const char*>(&item), sizeof item);
    }
    write_all(w.socket, bytes.data(), bytes.size());  // a worker that is gone is found when it is read from
}

// False when the taker wants no more.
bool worker_pool::receive(worker& w, const std::function<bool(const outcome&)>& take) {
    const ssize_t n = ::recv(w.socket, m_part.data(), m_part.size(), MSG_DONTWAIT);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) {
        return true;
    }
    if (n <= 0) {
        int status = 0;
        while (::waitpid(w.process, &status, 0) < 0 && errno == EINTR) {
        }
        w.process = -1;
        return replace(w, why_it_ended(status), take);
    }
    w.received.append(m_part.data(), static_cast<std::size_t>(n));
    std::size_t at = 0;
    bool more = true;
    while (more && w.received.size() - at >= sizeof(std::uint64_t)) {
        std::uint64_t bytes = 0;
        std::memcpy(&bytes, w.received.data() + at, sizeof bytes);
        if (bytes > largest_answer_bytes || w.given.empty()) {
            throw std::runtime_error("a worker sent what it was not asked for");
        }
        if (w.received.size() - at - sizeof bytes < bytes) {
            break;
        }
        const double now = now_seconds();
        const double took = now - w.since;
        m_mean_seconds = m_mean_seconds <= 0 ? took : m_mean_seconds * 0.95 + took * 0.05;
        w.since = now;
        more = take({w.given.front(), false, w.received.substr(at + sizeof bytes, bytes)});
        w.given.pop_front();
        at += sizeof bytes + bytes;
    }
    w.received.erase(0, at);
    return more;
}

bool worker_pool::replace(worker& w, const std::string& why,
                          const std::function<bool(const outcome&)>& take) {
    stop(w);
    bool more = true;
    if (!w.given.empty()) {
        const std::uint64_t item = w.given.front();
        w.given.pop_front();
        m_todo.insert(m_todo.begin(), w.given.begin(), w.given.end());
        w.given.clear();
        if (std::find(m_crashed_once.begin(), m_crashed_once.end(), item) == m_crashed_once.end()) {
            // Somebody may have ended the process who meant no harm to the piece.
            m_crashed_once.push_back(item);
            m_todo.push_front(item);
        } else {
            more = take({item, true, why});
        }
    }
    start(w);
    return more;
}

void worker_pool::run(const std::vector<std::uint64_t>& items,
                      const std::function<bool(const outcome&)>& take, const std::function<bool()>& tick) {
    m_todo.assign(items.begin(), items.end());
    m_workers.resize(std::min<std::size_t>(m_jobs, std::max<std::size_t>(1, items.size())));
    for (worker& w : m_workers) {
        start(w);
    }
    std::vector<pollfd> wait(m_workers.size());
    bool more = true;
    while (more) {
        bool busy = false;
        for (std::size_t i = 0; i < m_workers.size(); ++i) {
            give(m_workers[i]);
            wait[i] = {m_workers[i].socket, POLLIN, 0};
            busy = busy || !m_workers[i].given.empty();
        }
        if (!busy) {
            break;
        }
        constexpr int tick_milliseconds = 50;
        ::poll(wait.data(), wait.size(), tick_milliseconds);
        for (std::size_t i = 0; i < m_workers.size() && more; ++i) {
            worker& w = m_workers[i];
            if (wait[i].revents != 0) {
                more = receive(w, take);
            } else if (m_timeout_seconds > 0 && !w.given.empty() &&
                       now_seconds() - w.since > m_timeout_seconds) {
                m_crashed_once.push_back(w.given.front());  // it would take as long again
                more = replace(w, fmt::format("took longer than {} s", m_timeout_seconds), take);
            }
        }
        more = more && tick();
    }
    for (worker& w : m_workers) {
        stop(w);
    }
    m_workers.clear();
}

}  // namespace hcasim
