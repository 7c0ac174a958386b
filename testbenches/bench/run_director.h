#ifndef HCASIM_TESTBENCHES_BENCH_RUN_DIRECTOR_H
#define HCASIM_TESTBENCHES_BENCH_RUN_DIRECTOR_H

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "model/clock/clock_domain.h"
#include "testbenches/bench/message_ledger.h"
#include "testbenches/bench/recorder.h"

namespace hcasim {

/// What the hosts of a run share outside of all that is modelled: when the run begins and ends, and who
/// watches.
class run_director {
public:
    run_director(clock_domain& domain, recorder& watcher) : m_domain(domain), m_recorder(watcher) {}

    /// `ends`: connection ends that the run waits for (two per connection).
    void reset(std::uint32_t hosts, std::uint32_t connections, std::function<void(cycle_t)> start);

    recorder& record() { return m_recorder; }
    message_ledger& ledger() { return m_ledger; }

    /// A host has set up its queues. When all have, the connections begin at a cycle that is given to all of
    /// them.
    void host_ready();

    /// This end of a connection has nothing left to do.
    void end_done(std::uint32_t connection, bool passive);
    /// The connection can never be completed; neither end is waited for.
    void connection_failed(std::uint32_t connection);

    std::uint64_t failed_connections() const { return m_failed; }
    cycle_t start_cycle() const { return m_start_cycle; }
    bool all_done() const { return m_open_ends == 0; }
    /// A fault of the bench itself ("cycle 12, host 0: create_qp refused"); ends the run.
    void fault(const std::string& what);
    const std::string& faults() const { return m_fault; }

    /// Ends the run when a rule is broken.
    void check() {
        if (m_recorder.violated() || m_ledger.wrong() != 0) {
            m_domain.stop();
        }
    }

private:
    void close(std::size_t end);

    clock_domain& m_domain;
    recorder& m_recorder;
    message_ledger m_ledger;
    std::function<void(cycle_t)> m_start;
    std::vector<bool> m_done;
    std::uint32_t m_hosts_to_come = 0;
    std::uint64_t m_open_ends = 0;
    std::uint64_t m_failed = 0;
    cycle_t m_start_cycle = 0;
    std::string m_fault;
};

}  // namespace hcasim

#endif
