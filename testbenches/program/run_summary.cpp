#include "testbenches/program/run_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "testbenches/program/input_error.h"
#include "testbenches/program/result_names.h"

namespace hcasim {

namespace {

constexpr std::size_t text_width = 110;

class summary_writer {
public:
    summary_writer(const run_result& result, const scenario_config& scenario, const std::string& hash)
        : m_result(result), m_scenario(scenario), m_hash(hash) {}

    std::string text() {
        title();
        gate_in_words();
        openers();
        answers();
        latency();
        waterfall();
        counters();
        ending();
        return std::move(m_text);
    }

private:
    template <class... Arguments>
    void add(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
        fmt::format_to(std::back_inserter(m_text), format, std::forward<Arguments>(arguments)...);
    }

    // A paragraph, broken between words.
    void paragraph(const std::string& words, const std::string& indent = "") {
        std::size_t column = 0;
        for (std::size_t begin = 0; begin < words.size();) {
            const std::size_t end = std::min(words.find(' ', begin), words.size());
            const std::string word = words.substr(begin, end - begin);
            if (column != 0 && column + 1 + word.size() > text_width) {
                m_text += "\n" + indent;
                column = indent.size();
            } else if (column != 0) {
                m_text += ' ';
                ++column;
            }
            m_text += word;
            column += word.size();
            begin = end + 1;
        }
        m_text += '\n';
    }

    std::string time(std::uint64_t cycles) const { return time_text(cycles, m_result.clock_mhz); }
    std::string cycles_and_time(std::uint64_t cycles) const {
        return fmt::format("{} cycles ({})", grouped(cycles), time(cycles));
    }

    static std::string plural(std::uint64_t count, const char* one, const char* many) {
        return fmt::format("{} {}", grouped(count), count == 1 ? one : many);
    }

    std::uint64_t passive_qps() const {
        return static_cast<std::uint64_t>(std::count_if(m_result.qps.begin(), m_result.qps.end(),
                                                        [](const qp_record& qp) { return qp.passive; }));
    }

    void title() {
        add("{}: {}, seed {}, clock {} MHz (1 cycle = {}), configuration {}\n\n",
            printable(m_result.scenario, text_width), plural(passive_qps(), "connection", "connections"),
            m_result.seed, m_result.clock_mhz, time(1), m_hash);
    }

    void gate_in_words() {
        const auto& gate = m_result.gate;
        std::string words;
        const std::string open_on = fmt::format("{}", fmt::join(m_result.gate_open_on, " or "));
        switch (m_scenario.policy) {
            case gate_policy::hardware:
                words = fmt::format("The HCA holds early sends behind its gate, which opens on {}.", open_on);
                break;
            case gate_policy::software:
                words = "Software holds early sends in a queue above the send queue until the QP is in RTS.";
                break;
            case gate_policy::reject:
                words = "Early posts are refused, and the application tries again.";
                break;
        }
        words += fmt::format(" Of {} ", plural(m_result.messages.posted, "send", "sends"));
        if (gate.waited == 0) {
            words += "none waited.";
        } else {
            words += fmt::format("{} waited: half of them up to {}, 99 % up to {}, the longest {}.",
                                 grouped(gate.waited), cycles_and_time(gate.wait_cycles.percentile(500)),
                                 cycles_and_time(gate.wait_cycles.percentile(990)),
                                 cycles_and_time(gate.wait_cycles.max()));
        }
        if (m_scenario.policy == gate_policy::reject) {
            words += fmt::format(" {} refused.", plural(gate.rejected_posts, "post was", "posts were"));
        }
        paragraph(words);
    }

    void table_head(const char* what) {
        add("\n{:<28} {:>8} {:>14} {:>14} {:>14} {:>14} {:>12} {:>12}\n", what, "count", "mean", "p50", "p99",
            "max", "p50", "max");
    }
    void table_row(const std::string& label, const distribution& d) {
        if (d.count() == 0) {
            add("  {:<26} {:>8}\n", label, 0);
            return;
        }
        add("  {:<26} {:>8} {:>14} {:>14} {:>14} {:>14} {:>12} {:>12}\n", label, grouped(d.count()),
            grouped((d.mean_milli() + 500) / 1000), grouped(d.percentile(500)), grouped(d.percentile(990)),
            grouped(d.max()), time(d.percentile(500)), time(d.max()));
    }

    // Cycles a send was held although it was ready: behind the gate, or above the send queue.
    std::uint64_t wait_of(const wqe_record& w) const {
        const bool hardware = m_scenario.policy == gate_policy::hardware;
        const std::uint64_t from =
            w.cycle[static_cast<std::size_t>(hardware ? stage::pending : stage::submitted)];
        const std::uint64_t to = w.cycle[static_cast<std::size_t>(hardware ? stage::gate : stage::posted)];
        return to > from ? to - from : 0;
    }

    void openers() {
        std::map<ib::gate_opener, distribution> waits;
        for (const wqe_record& w : m_result.wqes) {
            if (w.waited_for != ib::gate_opener::none) {
                waits[w.waited_for].add(wait_of(w));
            }
        }
        std::map<ib::gate_opener, std::uint64_t> opened;
        for (const qp_record& qp : m_result.qps) {
            opened[qp.opened_by] += qp.passive ? 1 : 0;
        }
        table_head("sends that waited");
        for (unsigned i = 1; i < ib::gate_opener_count; ++i) {
            const auto opener = static_cast<ib::gate_opener>(i);
            if (opened[opener] != 0 || waits[opener].count() != 0) {
                table_row(fmt::format("{} ({} opened)", opener_name(opener),
                                      plural(opened[opener], "gate", "gates")),
                          waits[opener]);
            }
        }
        if (opened[ib::gate_opener::none] != 0) {
            add("  {} never opened\n", plural(opened[ib::gate_opener::none], "gate", "gates"));
        }
    }

    void answers() {
        const auto& gate = m_result.gate;
        if (gate.answer_cycles.count() == 0) {
            return;
        }
        const std::uint64_t ideal = gate.answer_ideal_cycles.percentile(500);
        distribution late;
        for (const wqe_record& w : m_result.wqes) {
            const std::uint64_t wire = w.cycle[static_cast<std::size_t>(stage::wire)];
            if (w.command_arrived_cycle == 0 || wire == 0 || w.waited_for == ib::gate_opener::none) {
                continue;
            }
            const std::uint64_t took = wire - w.command_arrived_cycle;
            late.add(gate.answer_ideal_cycles.count() == 0 ? wait_of(w) : (took > ideal ? took - ideal : 0));
        }
        table_head("command in to answer out");
        table_row("gate open: the ideal", gate.answer_ideal_cycles);
        table_row("waited for the gate", gate.answer_waited_cycles);
        table_row("  later than the ideal by", late);
    }

    void latency() {
        const distribution& d = m_result.latency_cycles;
        add("\n{:<28} {:>8} {:>10} {:>12} {:>10} {:>10} {:>10} {:>10} {:>12}\n",
            "message ready to completion", "count", "min", "mean", "p50", "p90", "p99", "p99.9", "max");
        add("  {:<26} {:>8} {:>10} {:>12} {:>10} {:>10} {:>10} {:>10} {:>12}\n", "cycles", grouped(d.count()),
            grouped(d.min()), grouped((d.mean_milli() + 500) / 1000), grouped(d.percentile(500)),
            grouped(d.percentile(900)), grouped(d.percentile(990)), grouped(d.percentile(999)),
            grouped(d.max()));
        add("  {:<26} {:>8} {:>10} {:>12} {:>10} {:>10} {:>10} {:>10} {:>12}\n", "time", "", time(d.min()),
            time((d.mean_milli() + 500) / 1000), time(d.percentile(500)), time(d.percentile(900)),
            time(d.percentile(990)), time(d.percentile(999)), time(d.max()));
    }

    void waterfall() {
        constexpr std::uint64_t bar_columns = 40;
        std::uint64_t total = 0;
        for (const distribution& d : m_result.stages) {
            total += d.sum();
        }
        if (total == 0) {
            return;
        }
        add("\n{:<14} {:>12} {:>12} {:>14} {:>12}  {}\n", "stage", "p50", "p99", "mean", "mean time",
            "where the mean goes");
        std::uint64_t before = 0;
        for (unsigned i = 1; i < stage_count; ++i) {
            const distribution& d = m_result.stages.at(i);
            const std::uint64_t begin = before * bar_columns / total;
            before += d.sum();
            const std::uint64_t end = before * bar_columns / total;
            const std::string bar =
                std::string(begin, ' ') + (d.sum() == 0   ? ""
                                           : end == begin ? "|"
                                                          : std::string(end - begin, '#'));
            const std::uint64_t milli = d.mean_milli();
            add("{:<14} {:>12} {:>12} {:>14} {:>12}  {}\n", name(static_cast<stage>(i)),
                grouped(d.percentile(500)), grouped(d.percentile(990)),
                fmt::format("{}.{}", grouped(milli / 1000), milli % 1000 / 100), time((milli + 500) / 1000),
                bar);
        }
        const distribution& all = m_result.latency_cycles;
        add("{:<14} {:>12} {:>12} {:>14} {:>12}\n", "total", grouped(all.percentile(500)),
            grouped(all.percentile(990)),
            fmt::format("{}.{}", grouped(all.mean_milli() / 1000), all.mean_milli() % 1000 / 100),
            time((all.mean_milli() + 500) / 1000));
    }

    void counters() {
        std::map<std::string, std::string> groups;
        const auto collect = [&](const std::string& group, const std::string& name, std::uint64_t value) {
            std::string& line = groups[group];
            line += fmt::format("{}{} {}", line.empty() ? "" : ", ", name, grouped(value));
        };
        for (const auto& [key, value] : m_result.counters) {
            const auto dot = key.find('.');
            collect(dot == std::string::npos ? "other" : key.substr(0, dot),
                    dot == std::string::npos ? key : key.substr(dot + 1), value);
        }
        for (const auto& [event, count] : m_result.events) {
            collect("events", event, count);
        }
        m_text += '\n';
        for (const auto& [group, line] : groups) {
            const std::string label = fmt::format("{:<15}", group);
            paragraph(label + line, std::string(label.size(), ' '));
        }
    }

    void ending() {
        const auto& m = m_result.messages;
        std::string words =
            fmt::format("{}: {} completed", plural(m.posted, "message", "messages"), grouped(m.completed));
        const std::pair<std::uint64_t, const char*> others[] = {{m.failed, "failed"},
                                                                {m.flushed, "flushed"},
                                                                {m.outstanding, "outstanding"},
                                                                {m.duplicated, "duplicated"}};
        for (const auto& [count, what] : others) {
            words += count == 0 ? "" : fmt::format(", {} {}", grouped(count), what);
        }
        words += fmt::format("; {} rules checked, {} violated.", grouped(m_result.invariants_checked),
                             grouped(m_result.invariants_violated));
        m_text += '\n';
        paragraph(words);
        const double speed =
            m_result.host_seconds > 0 ? static_cast<double>(m_result.cycles) / m_result.host_seconds : 0;
        paragraph(fmt::format("{} simulated in {:.3f} s: {} cycles per second.",
                              cycles_and_time(m_result.cycles), m_result.host_seconds,
                              grouped(static_cast<std::uint64_t>(speed))));
    }

    const run_result& m_result;
    const scenario_config& m_scenario;
    const std::string& m_hash;
    std::string m_text;
};

}  // namespace

std::string run_summary(const run_result& result, const scenario_config& scenario,
                        const std::string& config_hash) {
    return summary_writer{result, scenario, config_hash}.text();
}

std::string grouped(std::uint64_t value) {
    std::string digits = std::to_string(value);
    for (std::size_t at = digits.size(); at > 3;) {
        at -= 3;
        digits.insert(at, 1, ',');
    }
    return digits;
}

std::string time_text(std::uint64_t cycles, std::uint64_t clock_mhz) {
    double value =
        static_cast<double>(cycles) * 1000.0 / static_cast<double>(std::max<std::uint64_t>(clock_mhz, 1));
    const char* const units[] = {"ns", "us", "ms", "s"};
    std::size_t unit = 0;
    for (; unit + 1 < std::size(units) && value >= 1000; ++unit) {
        value /= 1000;
    }
    if (unit == 0) {
        return fmt::format("{:.{}f} ns", value,
                           value == static_cast<double>(static_cast<std::uint64_t>(value)) ? 0 : 2);
    }
    return fmt::format("{:.{}f} {}", value, value < 10 ? 3 : value < 100 ? 2 : 1, units[unit]);
}

}  // namespace hcasim
