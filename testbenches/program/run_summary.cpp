#include "testbenches/program/run_summary.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
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

    // A paragraph behind a label, broken between words; further lines begin below its first word.
    void paragraph(const std::string& words, const std::string& label = "") {
        m_text += label;
        std::size_t column = label.size();
        for (std::size_t begin = 0; begin < words.size();) {
            const std::size_t end = std::min(words.find(' ', begin), words.size());
            if (begin != 0 && column + 1 + (end - begin) > text_width) {
                m_text += "\n" + std::string(label.size(), ' ');
                column = label.size();
            } else if (begin != 0) {
                m_text += ' ';
                ++column;
            }
            m_text += words.substr(begin, end - begin);
            column += end - begin;
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

    std::uint64_t counter(const std::string& name) const {
        for (const auto& [key, value] : m_result.counters) {
            if (key == name) {
                return value;
            }
        }
        return 0;
    }

    void title() {
        const auto passive = std::count_if(m_result.qps.begin(), m_result.qps.end(),
                                           [](const qp_record& qp) { return qp.passive; });
        const link_config& link = m_scenario.hca.link;
        add("{}: {} hosts, {}, {}, clock {} MHz (1 cycle = {}), seed {}, configuration {}\n\n",
            printable(m_result.scenario, text_width), m_scenario.hosts,
            plural(static_cast<std::uint64_t>(passive), "connection", "connections"),
            describe_link(link.speed, link.width), m_result.clock_mhz, time(1), m_result.seed, m_hash);
    }

    void gate_in_words() {
        switch (m_scenario.policy) {
            case gate_policy::hardware:
                paragraph(
                    fmt::format("A send posted before its QP is in RTS waits behind the gate of the HCA, "
                                "which opens on {}.",
                                open_on_in_words()));
                break;
            case gate_policy::software:
                paragraph(
                    fmt::format("A send that is ready before its QP is in RTS waits in a software queue "
                                "above the send queue. "
                                "Every post pays {} ns for that queue, waiting or not.",
                                grouped(m_scenario.host.software_queue_post_ns)));
                break;
            case gate_policy::reject:
                paragraph(
                    fmt::format("A post before its QP is in RTS is refused, and the application tries again "
                                "after {} ns: {} refused.",
                                grouped(m_scenario.host.poll_retry_ns),
                                plural(m_result.gate.rejected_posts, "post was", "posts were")));
                break;
        }
        paragraph(waits_in_words());
        const std::string loss = loss_in_words();
        if (!loss.empty()) {
            paragraph(loss);
        }
    }

    std::string open_on_in_words() const {
        std::vector<std::string> words;
        for (const std::string& name : m_result.gate_open_on) {
            words.push_back(name == "rtu" ? "the RTU (software answers it with modify_qp)"
                            : name == "packet"
                                ? "the first request packet (the HCA sees to it itself)"
                                : "the event Communication Established (software answers it with modify_qp)");
        }
        return fmt::format("{}", fmt::join(words, " or on "));
    }

    std::string waits_in_words() const {
        const auto& gate = m_result.gate;
        const auto& m = m_result.messages;
        if (m.posted == 0) {
            return "No send was posted.";
        }
        std::string words = fmt::format("Of {} ", plural(m.posted, "send", "sends"));
        if (gate.waited > 1) {
            words += fmt::format("{} waited: p50 {}, p99 {}, max {}.", grouped(gate.waited),
                                 cycles_and_time(gate.wait_cycles.percentile(500)),
                                 cycles_and_time(gate.wait_cycles.percentile(990)),
                                 cycles_and_time(gate.wait_cycles.max()));
        } else if (gate.waited == 1) {
            words += fmt::format("1 waited, for {}.", cycles_and_time(gate.wait_cycles.max()));
        } else if (m.completed == m.posted) {
            words += "none waited: every gate was open before there was something to send.";
        } else {
            words += "none that completed had waited.";
        }
        if (m.completed != m.posted) {
            words += fmt::format(" {} did not complete: {} flushed, {} failed, {} outstanding at the end.",
                                 grouped(m.posted - m.completed), grouped(m.flushed), grouped(m.failed),
                                 grouped(m.outstanding));
        }
        std::string opened;
        for (unsigned i = 0; i < ib::gate_opener_count; ++i) {
            const auto opener = static_cast<ib::gate_opener>(i);
            const auto count =
                std::count_if(m_result.qps.begin(), m_result.qps.end(),
                              [&](const qp_record& qp) { return qp.passive && qp.opened_by == opener; });
            if (count != 0) {
                opened += fmt::format(
                    "{}{} {}", opened.empty() ? "" : ", ", grouped(static_cast<std::uint64_t>(count)),
                    opener == ib::gate_opener::none ? "never" : "by " + opener_name(opener));
            }
        }
        return words + (opened.empty() ? "" : fmt::format(" Gates opened: {}.", opened));
    }

    // What became of the RTUs, and whether anybody had to wait for the timer that repairs a lost one.
    std::string loss_in_words() const {
        const std::uint64_t sent = counter("cm.rtu_sent") + counter("cm.rtu_resent");
        const std::uint64_t arrived =
            counter("cm.rtu_received") + counter("cm.rtu_duplicate") + counter("cm.rtu_late");
        const std::uint64_t gave_up = counter("cm.gave_up");
        if (arrived >= sent) {
            return {};
        }
        const std::uint64_t timer_cycles = rep_timer_cycles();
        std::uint64_t for_the_timer = 0;
        for (const wqe_record& w : m_result.wqes) {
            for_the_timer += w.waited_for != ib::gate_opener::none && wait_of(w) >= timer_cycles ? 1 : 0;
        }
        const std::string divided = m_scenario.timer_shift == 0
                                        ? ""
                                        : fmt::format("; this scenario divides all timers by {}",
                                                      grouped(std::uint64_t{1} << m_scenario.timer_shift));
        const std::string timer = fmt::format("the REP timer ({} cycles, {}{})", grouped(timer_cycles),
                                              time(timer_cycles), divided);
        std::string words =
            fmt::format("{} of {} did not arrive.", grouped(sent - arrived), plural(sent, "RTU", "RTUs"));
        if (for_the_timer != 0) {
            words += fmt::format(" {} waited until {} had brought the RTU again.",
                                 plural(for_the_timer, "send", "sends"), timer);
        } else if (gave_up == 0) {
            words += fmt::format(" No send waited for {} to bring a lost one again.", timer);
        }
        if (gave_up != 0) {
            words +=
                fmt::format(" {} given up after {} repetitions.",
                            plural(gave_up, "connection was", "connections were"), m_scenario.cm.max_retries);
        }
        return words;
    }

    // CM response timeout of the peer, 4.096 us * 2^n, after which the passive side sends its REP again.
    std::uint64_t rep_timer_cycles() const {
        const std::uint64_t ns =
            std::uint64_t{4096} << m_scenario.cm.response_timeout >> m_scenario.timer_shift;
        return ns * m_result.clock_mhz / 1000;
    }

    void table_head(const char* what) {
        add("\n{:<28} {:>8} {:>14} {:>14} {:>14} {:>14} {:>12} {:>12}\n", what, "count", "mean", "p50", "p99",
            "max", "p50 time", "max time");
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
        if (waits.empty()) {
            return;
        }
        table_head("cycles waited, until");
        for (const auto& [opener, wait] : waits) {
            table_row(opener_name(opener), wait);
        }
    }

    void answers() {
        const auto& gate = m_result.gate;
        if (gate.answer_cycles.count() == 0) {
            return;
        }
        const std::uint64_t ideal = gate.answer_ideal_cycles.percentile(500);
        const bool has_ideal = gate.answer_ideal_cycles.count() != 0;
        distribution late;
        for (const wqe_record& w : m_result.wqes) {
            const std::uint64_t wire = w.cycle[static_cast<std::size_t>(stage::wire)];
            if (w.command_arrived_cycle == 0 || wire == 0 || w.waited_for == ib::gate_opener::none) {
                continue;
            }
            const std::uint64_t took = wire - w.command_arrived_cycle;
            late.add(!has_ideal ? wait_of(w) : took > ideal ? took - ideal : 0);
        }
        table_head("cycles, command to answer");
        if (has_ideal) {
            table_row("gate was open: the ideal", gate.answer_ideal_cycles);
        }
        if (gate.answer_waited_cycles.count() != 0) {
            table_row("waited", gate.answer_waited_cycles);
        }
        if (late.count() != 0) {
            paragraph(
                fmt::format("Because they waited, {} left the wire later than the ideal: p50 {}, max {}.",
                            plural(late.count(), "answer", "answers"), cycles_and_time(late.percentile(500)),
                            cycles_and_time(late.max())));
        } else {
            add("No answer left the wire later than the ideal because of the gate.\n");
        }
    }

    void latency() {
        const distribution& d = m_result.latency_cycles;
        add("\n{:<28} {:>8} {:>10} {:>14} {:>10} {:>10} {:>14} {:>14} {:>14}\n",
            "message ready to completion", "count", "min", "mean", "p50", "p90", "p99", "p99.9", "max");
        add("  {:<26} {:>8} {:>10} {:>14} {:>10} {:>10} {:>14} {:>14} {:>14}\n", "cycles", grouped(d.count()),
            grouped(d.min()), grouped((d.mean_milli() + 500) / 1000), grouped(d.percentile(500)),
            grouped(d.percentile(900)), grouped(d.percentile(990)), grouped(d.percentile(999)),
            grouped(d.max()));
        add("  {:<26} {:>8} {:>10} {:>14} {:>10} {:>10} {:>14} {:>14} {:>14}\n", "time", "", time(d.min()),
            time((d.mean_milli() + 500) / 1000), time(d.percentile(500)), time(d.percentile(900)),
            time(d.percentile(990)), time(d.percentile(999)), time(d.max()));
    }

    // Stage by stage for the sends that waited and those that did not: in one mean of both neither would be
    // seen.
    void waterfall() {
        using stages_t = std::array<distribution, stage_count>;
        stages_t direct;
        stages_t waited;
        for (const wqe_record& w : m_result.wqes) {
            stages_t& into = w.waited_for == ib::gate_opener::none ? direct : waited;
            // A send that failed or was flushed has a CQE, but has not passed every stage.
            const bool whole = w.status == ib::wc_status::success && w.cycle.back() != 0 &&
                               std::is_sorted(w.cycle.begin(), w.cycle.end());
            for (unsigned i = 1; i < stage_count && whole; ++i) {
                into.at(i).add(w.cycle.at(i) - w.cycle.at(i - 1));
            }
        }
        if (direct.back().count() != 0) {
            print_waterfall(
                fmt::format("{} that did not wait", plural(direct.back().count(), "send", "sends")), direct);
        }
        if (waited.back().count() != 0) {
            print_waterfall(fmt::format("{} that waited", plural(waited.back().count(), "send", "sends")),
                            waited);
        }
    }

    void print_waterfall(const std::string& title, const std::array<distribution, stage_count>& stages) {
        constexpr std::uint64_t bar_columns = 40;
        std::uint64_t total = 0;
        for (const distribution& d : stages) {
            total += d.sum();
        }
        add("\n{:<28} {:>16} {:>14} {:>14} {:>12}  where the mean goes\n", title, "mean cycles", "p50", "p99",
            "mean time");
        std::uint64_t before = 0;
        for (unsigned i = 1; i < stage_count; ++i) {
            const distribution& d = stages.at(i);
            const std::uint64_t begin = before * bar_columns / total;
            before += d.sum();
            const std::uint64_t end = before * bar_columns / total;
            std::string bar;
            if (d.sum() != 0) {
                // Less than half a column is a mark, not a bar.
                const bool mark = end == begin || d.sum() * bar_columns * 2 < total;
                bar = "  " + std::string(begin, ' ') + (mark ? "|" : std::string(end - begin, '#'));
            }
            waterfall_row(name(static_cast<stage>(i)), d.mean_milli(), grouped(d.percentile(500)),
                          grouped(d.percentile(990)), bar);
        }
        const std::uint64_t count = stages.back().count();
        waterfall_row("total", (total * 1000 + count / 2) / count, "", "", "");
    }

    void waterfall_row(std::string_view label, std::uint64_t mean_milli, const std::string& p50,
                       const std::string& p99, const std::string& bar) {
        add("  {:<26} {:>16} {:>14} {:>14} {:>12}{}\n", label,
            fmt::format("{}.{}", grouped(mean_milli / 1000), mean_milli % 1000 / 100), p50, p99,
            time((mean_milli + 500) / 1000), bar);
    }

    void counters() {
        std::map<std::string, std::string> groups;
        const auto collect = [&](const std::string& group, const std::string& name, std::uint64_t value) {
            std::string& line = groups[group];
            if (value != 0) {
                line += fmt::format("{}{} {}", line.empty() ? "" : ", ", name, grouped(value));
            }
        };
        for (const auto& [key, value] : m_result.counters) {
            const auto dot = key.find('.');
            collect(dot == std::string::npos ? "other" : key.substr(0, dot),
                    dot == std::string::npos ? key : key.substr(dot + 1), value);
        }
        for (const auto& [event, count] : m_result.events) {
            collect("events", event, count);
        }
        add("\ncounters of all hosts (those that are not zero)\n");
        for (const auto& [group, line] : groups) {
            if (!line.empty()) {
                paragraph(line, fmt::format("  {:<18}", group));
            }
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
