#include "testbenches/program/run_json.h"

#include "testbenches/program/result_names.h"

namespace hcasim {

namespace {

using nlohmann::ordered_json;

// What --set may bring in need not be UTF-8; the output is.
std::string scalar_text(const ordered_json& value) {
    return value.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

// On one line, with a blank behind each comma and colon.
std::string flat_text(const ordered_json& value) {
    if (!value.is_structured()) {
        return scalar_text(value);
    }
    std::string out(1, value.is_object() ? '{' : '[');
    const char* separator = "";
    for (auto it = value.begin(); it != value.end(); ++it) {
        out += separator;
        if (value.is_object()) {
            out += scalar_text(it.key()) + ": ";
        }
        out += flat_text(*it);
        separator = ", ";
    }
    out.push_back(value.is_object() ? '}' : ']');
    return out;
}

void write(const ordered_json& value, const std::string& indent, std::string& out) {
    // A distribution or a QP fits; lists of them do not.
    constexpr std::size_t longest_line = 320;
    const std::string flat = flat_text(value);
    if (!value.is_structured() || value.empty() || (flat.size() <= longest_line && !indent.empty())) {
        out += flat;
        return;
    }
    const std::string inner = indent + "  ";
    out += value.is_object() ? "{" : "[";
    const char* separator = "\n";
    for (auto it = value.begin(); it != value.end(); ++it) {
        out += separator + inner;
        if (value.is_object()) {
            out += scalar_text(it.key()) + ": ";
        }
        write(*it, inner, out);
        separator = ",\n";
    }
    out += "\n" + indent + (value.is_object() ? "}" : "]");
}

ordered_json openers_json(const std::vector<std::pair<ib::gate_opener, std::uint64_t>>& openers) {
    ordered_json list = ordered_json::array();
    for (const auto& [opener, cycle] : openers) {
        list.push_back({{"opener", opener_name(opener)}, {"cycle", cycle}});
    }
    return list;
}

ordered_json qp_json(const qp_record& qp) {
    ordered_json j;
    j["host"] = qp.host;
    j["qpn"] = qp.qpn;
    j["passive"] = qp.passive;
    j["final_state"] = std::string(ib::name(qp.final_state));
    j["opened_by"] = opener_name(qp.opened_by);
    j["gate_open_cycle"] = qp.gate_open_cycle;
    j["first_request_cycle"] = qp.first_request_cycle;
    j["first_request_psn"] = qp.first_request_psn;
    j["comm_est_cycle"] = qp.comm_est_cycle;
    j["openers"] = openers_json(qp.openers);
    return j;
}

ordered_json pairs_json(const std::vector<std::pair<std::string, std::uint64_t>>& pairs) {
    ordered_json j = ordered_json::object();
    for (const auto& [name, value] : pairs) {
        j[name] = value;
    }
    return j;
}

}  // namespace

ordered_json distribution_json(const distribution& d) {
    ordered_json j;
    j["count"] = d.count();
    j["min"] = d.min();
    // Thousandths of a cycle: the division gives the double nearest to them, and it is printed with the
    // digits that tell it apart.
    j["mean"] = static_cast<double>(d.mean_milli()) / 1000;
    j["p50"] = d.percentile(500);
    j["p90"] = d.percentile(900);
    j["p99"] = d.percentile(990);
    j["p99_9"] = d.percentile(999);
    j["max"] = d.max();
    return j;
}

ordered_json run_json(const run_result& result, const std::string& config_hash, bool with_speed) {
    ordered_json j;
    j["schema"] = "hcasim.run/1";
    j["scenario"] = result.scenario;
    j["seed"] = result.seed;
    j["clock_mhz"] = result.clock_mhz;
    j["cycles"] = result.cycles;
    j["config_hash"] = config_hash;

    const auto& m = result.messages;
    j["messages"] = {{"posted", m.posted},   {"completed", m.completed},     {"failed", m.failed},
                     {"flushed", m.flushed}, {"outstanding", m.outstanding}, {"duplicated", m.duplicated}};

    ordered_json gate;
    gate["policy"] = result.gate_policy;
    gate["open_on"] = result.gate_open_on;
    gate["waited"] = result.gate.waited;
    for (const auto opener : {ib::gate_opener::rtu, ib::gate_opener::packet, ib::gate_opener::comm_est}) {
        gate["opened_by"][opener_name(opener)] = result.gate.opened_by.at(static_cast<std::size_t>(opener));
    }
    gate["wait_cycles"] = distribution_json(result.gate.wait_cycles);
    gate["rejected_posts"] = result.gate.rejected_posts;
    gate["answer_cycles"] = distribution_json(result.gate.answer_cycles);
    gate["answer_waited_cycles"] = distribution_json(result.gate.answer_waited_cycles);
    gate["answer_ideal_cycles"] = distribution_json(result.gate.answer_ideal_cycles);
    j["gate"] = std::move(gate);

    j["events"] = pairs_json(result.events);
    j["latency_cycles"] = distribution_json(result.latency_cycles);
    // The first point is where the time starts; it has no stage of its own.
    for (unsigned i = 1; i < stage_count; ++i) {
        j["stages"][std::string(name(static_cast<stage>(i)))] = distribution_json(result.stages.at(i));
    }
    j["qps"] = ordered_json::array();
    for (const qp_record& qp : result.qps) {
        j["qps"].push_back(qp_json(qp));
    }
    j["counters"] = pairs_json(result.counters);
    j["invariants"] = {{"checked", result.invariants_checked}, {"violated", result.invariants_violated}};
    if (with_speed) {
        j["host_seconds"] = result.host_seconds;
        j["simulated_cycles_per_second"] =
            result.host_seconds > 0 ? static_cast<double>(result.cycles) / result.host_seconds : 0.0;
    }
    return j;
}

std::string json_text(const ordered_json& value) {
    std::string out;
    write(value, "", out);
    return out + "\n";
}

}  // namespace hcasim
