#include "testbenches/sweep/point_row.h"

#include <cstring>
#include <stdexcept>
#include <type_traits>

#include "model/ib/qp_context.h"
#include "model/stats/stage.h"

namespace hcasim {

namespace {

constexpr std::uint64_t curve_steps = 64;

using named_counts = std::vector<std::pair<std::string, std::uint64_t>>;

// Names are those of the program: letters, digits, dots and underscores.
std::string json_object(const named_counts& counts) {
    std::string text = "{";
    for (const auto& [name, value] : counts) {
        text += text.size() == 1 ? "\"" : ",\"";
        text += name;
        text += "\":";
        text += std::to_string(value);
    }
    return text + "}";
}

class packer {
public:
    void add(const std::string& text) {
        add(static_cast<std::uint64_t>(text.size()));
        m_bytes += text;
    }
    template <class Number, class = std::enable_if_t<std::is_arithmetic_v<Number>>>
    void add(Number value) {
        m_bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    std::string take() { return std::move(m_bytes); }

private:
    std::string m_bytes;
};

class unpacker {
public:
    explicit unpacker(const std::string& bytes) : m_bytes(bytes) {}
    void add(std::string& text) {
        std::uint64_t size = 0;
        add(size);
        text = m_bytes.substr(take(size), size);
    }
    template <class Number, class = std::enable_if_t<std::is_arithmetic_v<Number>>>
    void add(Number& value) {
        std::memcpy(&value, m_bytes.data() + take(sizeof value), sizeof value);
    }
    std::uint64_t count() {
        std::uint64_t n = 0;
        add(n);
        if (n > m_bytes.size()) {
            throw std::runtime_error("a point's row is damaged");
        }
        return n;
    }

private:
    std::size_t take(std::uint64_t size) {
        if (size > m_bytes.size() - m_at) {
            throw std::runtime_error("a point's row is damaged");
        }
        const std::size_t at = m_at;
        m_at += size;
        return at;
    }
    const std::string& m_bytes;
    std::size_t m_at = 0;
};

// The plain fields, in the same order both ways.
template <class Archive, class Row>
void visit_plain(Archive& a, Row& r) {
    a.add(r.point);
    a.add(r.message);
    a.add(r.config_hash);
    for (auto* number :
         {&r.cycles, &r.clock_mhz, &r.posted, &r.completed, &r.failed, &r.flushed, &r.outstanding,
          &r.duplicated, &r.waited, &r.rejected_posts, &r.opened_by_rtu, &r.opened_by_packet,
          &r.opened_by_comm_est, &r.invariants_checked, &r.invariants_violated}) {
        a.add(*number);
    }
    a.add(r.events);
    a.add(r.counters);
    a.add(r.host_seconds);
}

template <class Archive, class Row>
void visit_plain_distribution(Archive& a, Row& d) {
    a.add(d.name);
    for (auto* number : {&d.count, &d.min, &d.mean_milli, &d.p50, &d.p90, &d.p99, &d.p99_9, &d.max}) {
        a.add(*number);
    }
}

}  // namespace

distribution_row row_of(const std::string& name, const distribution& d, bool with_curve) {
    distribution_row row;
    row.name = name;
    row.count = d.count();
    row.min = d.min();
    row.mean_milli = d.mean_milli();
    row.p50 = d.percentile(500);
    row.p90 = d.percentile(900);
    row.p99 = d.percentile(990);
    row.p99_9 = d.percentile(999);
    row.max = d.max();
    if (with_curve) {
        // A step is kept when it passes the next of 64 equal shares of the samples; so are the first and the
        // last.
        std::uint64_t below = 0;
        std::uint64_t next = 1;
        for (const auto& [value, times] : d.values()) {
            below += times;
            if (row.curve.empty() || below * curve_steps >= next * d.count()) {
                row.curve.emplace_back(value, below);
                next = below * curve_steps / d.count() + 1;
            }
        }
    }
    return row;
}

point_row row_of(const run_result& result) {
    point_row row;
    row.status = result.invariants_violated == 0 ? point_status::done : point_status::violated;
    row.message = result.violation;
    row.cycles = result.cycles;
    row.clock_mhz = result.clock_mhz;
    row.posted = result.messages.posted;
    row.completed = result.messages.completed;
    row.failed = result.messages.failed;
    row.flushed = result.messages.flushed;
    row.outstanding = result.messages.outstanding;
    row.duplicated = result.messages.duplicated;
    row.waited = result.gate.waited;
    row.rejected_posts = result.gate.rejected_posts;
    const auto opened = [&result](ib::gate_opener o) {
        return result.gate.opened_by[static_cast<std::size_t>(o)];
    };
    row.opened_by_rtu = opened(ib::gate_opener::rtu);
    row.opened_by_packet = opened(ib::gate_opener::packet);
    row.opened_by_comm_est = opened(ib::gate_opener::comm_est);
    row.invariants_checked = result.invariants_checked;
    row.invariants_violated = result.invariants_violated;
    row.events = json_object(result.events);
    row.counters = json_object(result.counters);
    row.host_seconds = result.host_seconds;
    row.distributions.push_back(row_of("latency", result.latency_cycles, true));
    row.distributions.push_back(row_of("wait", result.gate.wait_cycles, true));
    row.distributions.push_back(row_of("answer", result.gate.answer_cycles, true));
    row.distributions.push_back(row_of("answer_waited", result.gate.answer_waited_cycles, false));
    row.distributions.push_back(row_of("answer_ideal", result.gate.answer_ideal_cycles, false));
    // The first point of the path has no stage before it.
    for (unsigned s = 1; s < stage_count; ++s) {
        row.distributions.push_back(
            row_of("stage." + std::string(name(static_cast<stage>(s))), result.stages[s], false));
    }
    return row;
}

std::string pack(const point_row& row) {
    packer p;
    visit_plain(p, row);
    p.add(static_cast<std::uint64_t>(row.status));
    p.add(static_cast<std::uint64_t>(row.distributions.size()));
    for (const distribution_row& d : row.distributions) {
        visit_plain_distribution(p, d);
        p.add(static_cast<std::uint64_t>(d.curve.size()));
        for (const auto& [value, below] : d.curve) {
            p.add(value);
            p.add(below);
        }
    }
    return p.take();
}

point_row unpack_point_row(const std::string& bytes) {
    point_row row;
    unpacker u(bytes);
    visit_plain(u, row);
    std::uint64_t status = 0;
    u.add(status);
    if (status > static_cast<std::uint64_t>(point_status::violated)) {
        throw std::runtime_error("a point's row is damaged");
    }
    row.status = static_cast<point_status>(status);
    row.distributions.resize(u.count());
    for (distribution_row& d : row.distributions) {
        visit_plain_distribution(u, d);
        d.curve.resize(u.count());
        for (auto& [value, below] : d.curve) {
            u.add(value);
            u.add(below);
        }
    }
    return row;
}

}  // namespace hcasim
