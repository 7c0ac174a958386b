#include "testbenches/bench/run_director.h"

namespace hcasim {

namespace {

// From the cycle in which the last host is ready to the first REQ.
constexpr cycle_t start_margin_cycles = 1000;

}  // namespace

void run_director::reset(std::uint32_t hosts, std::uint32_t connections, std::function<void(cycle_t)> start) {
    m_ledger.reset();
    m_start = std::move(start);
    m_done.assign(std::size_t{connections} * 2, false);
    m_hosts_to_come = hosts;
    m_open_ends = m_done.size();
    m_failed = 0;
    m_start_cycle = 0;
    m_fault.clear();
}

void run_director::host_ready() {
    if (--m_hosts_to_come == 0) {
        m_start_cycle = m_domain.now() + start_margin_cycles;
        m_start(m_start_cycle);
    }
}

void run_director::close(std::size_t end) {
    if (!m_done[end]) {
        m_done[end] = true;
        if (--m_open_ends == 0) {
            m_domain.stop();
        }
    }
}

void run_director::end_done(std::uint32_t connection, bool passive) {
    close(std::size_t{connection} * 2 + (passive ? 1 : 0));
}

void run_director::connection_failed(std::uint32_t connection) {
    ++m_failed;
    close(std::size_t{connection} * 2);
    close(std::size_t{connection} * 2 + 1);
}

void run_director::fault(const std::string& what) {
    if (m_fault.empty()) {
        m_fault = what;
    }
    m_domain.stop();
}

}  // namespace hcasim
