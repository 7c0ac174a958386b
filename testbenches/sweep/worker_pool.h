#ifndef HCASIM_TESTBENCHES_SWEEP_WORKER_POOL_H
#define HCASIM_TESTBENCHES_SWEEP_WORKER_POOL_H

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <vector>

namespace hcasim {

/// Runs numbered pieces of work in processes of their own. A process does many pieces; one that ends before
/// its time is replaced, and the piece it was at is tried once more before it is given up.
class worker_pool {
public:
    /// Called in the worker for each piece: what is to be sent back.
    using work_t = std::function<std::string(std::uint64_t)>;

    struct outcome {
        std::uint64_t item = 0;
        bool crashed = false;
        std::string bytes;  ///< what the work gave; when it crashed, why
    };

    /// `prepare` is called once in each worker, before its first piece. `timeout_seconds` 0: none.
    worker_pool(unsigned jobs, std::function<work_t()> prepare, double timeout_seconds);
    ~worker_pool();
    worker_pool(const worker_pool&) = delete;
    worker_pool& operator=(const worker_pool&) = delete;

    /// Does all items, in about this order. `take` gets every outcome; `tick` is called at least ten times a
    /// second. Either ends the work by returning false; pieces under way are then lost. Throws
    /// std::runtime_error when no process can be made.
    void run(const std::vector<std::uint64_t>& items, const std::function<bool(const outcome&)>& take,
             const std::function<bool()>& tick);

private:
    struct worker {
        pid_t process = -1;
        int socket = -1;
        std::deque<std::uint64_t> given;  // in the order in which they come back
        std::string received;
        double since = 0;  // the first of `given` has been waited for
    };

    void start(worker& w);
    void stop(worker& w);
    void give(worker& w);
    bool receive(worker& w, const std::function<bool(const outcome&)>& take);
    bool replace(worker& w, const std::string& why, const std::function<bool(const outcome&)>& take);
    [[noreturn]] void serve(int socket) const;

    unsigned m_jobs;
    std::function<work_t()> m_prepare;
    double m_timeout_seconds;
    std::vector<worker> m_workers;
    std::deque<std::uint64_t> m_todo;
    std::vector<std::uint64_t> m_crashed_once;
    double m_mean_seconds = 0;
    std::vector<char> m_part;  // of what is received, one read
};

}  // namespace hcasim

#endif
