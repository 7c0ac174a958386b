#include "testbenches/bench/script_plan.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>

namespace hcasim {

namespace {

[[noreturn]] void fail(const std::string& what) { throw scenario_error(what); }

std::uint64_t number(const std::string& key, const std::string& text, std::uint64_t largest) {
    std::size_t used = 0;
    std::uint64_t value = 0;
    try {
        value = text.empty() || text[0] == '-' ? 0 : std::stoull(text, &used, 0);
    } catch (const std::exception&) {
        used = 0;
    }
    if (used == 0 || used != text.size() || value > largest) {
        fail(key + " = \"" + text + "\": expected a number from 0 to " + std::to_string(largest));
    }
    return value;
}

std::vector<std::uint8_t> hex(const std::string& key, const std::string& text, std::size_t smallest,
                              std::size_t largest) {
    std::vector<std::uint8_t> bytes;
    const bool digits =
        std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isxdigit(c) != 0; });
    if (!digits || text.size() % 2 != 0 || text.size() / 2 < smallest || text.size() / 2 > largest) {
        fail(key + ": expected " + std::to_string(2 * smallest) +
             (smallest == largest ? "" : " to " + std::to_string(2 * largest)) + " hex digits");
    }
    for (std::size_t i = 0; i < text.size(); i += 2) {
        bytes.push_back(static_cast<std::uint8_t>(std::stoul(text.substr(i, 2), nullptr, 16)));
    }
    return bytes;
}

constexpr std::size_t largest_payload_bytes = 2048;
constexpr std::size_t request_private_bytes = 92;
constexpr std::size_t reply_private_bytes = 196;

using setter = std::function<void(const std::string& key, const std::string& text)>;
using setters = std::map<std::string, setter>;

template <class Integer>
setter integer(Integer& field, std::uint64_t largest) {
    return [&field, largest](const std::string& key, const std::string& text) {
        field = static_cast<Integer>(number(key, text, largest));
    };
}

void add_side(setters& known, const std::string& prefix, script_side& side, std::size_t private_bytes) {
    known[prefix + "lid"] = integer(side.lid, 0xbfff);
    known[prefix + "qpn"] = integer(side.qpn, 0xffffff);
    known[prefix + "psn"] = integer(side.psn, 0xffffff);
    known[prefix + "comm_id"] = integer(side.comm_id, 0xffffffff);
    known[prefix + "guid"] = integer(side.guid, ~std::uint64_t{0});
    known[prefix + "management_psn"] = integer(side.management_psn, 0xffffff);
    known[prefix + "gid"] = [&side](const std::string& key, const std::string& text) {
        const auto bytes = hex(key, text, side.gid.size(), side.gid.size());
        std::copy(bytes.begin(), bytes.end(), side.gid.begin());
    };
    known[prefix + "private_data"] = [&side, private_bytes](const std::string& key, const std::string& text) {
        side.private_data = hex(key, text, 0, private_bytes);
    };
}

// The fields of a connection but for the payloads.
setters setters_of(script_wire& w) {
    setters known;
    add_side(known, "active_", w.active, request_private_bytes);
    add_side(known, "passive_", w.passive, reply_private_bytes);
    known["transaction_id"] = integer(w.transaction_id, ~std::uint64_t{0});
    known["service_id"] = integer(w.service_id, ~std::uint64_t{0});
    known["responder_resources"] = integer(w.responder_resources, 255);
    known["cm_response_timeout"] = integer(w.cm_response_timeout, 31);
    known["max_cm_retries"] = integer(w.max_cm_retries, 15);
    known["retry_count"] = integer(w.retry_count, 7);
    known["rnr_retry_count"] = integer(w.rnr_retry_count, 7);
    known["path_mtu"] = integer(w.path_mtu, 5);
    known["ack_timeout"] = integer(w.ack_timeout, 31);
    known["target_ack_delay"] = integer(w.target_ack_delay, 31);
    known["rate"] = integer(w.rate, 63);
    known["srq"] = integer(w.srq, 1);
    return known;
}

// How the names of a side's payloads begin; a number from 1 on follows.
std::string payload_prefix(bool active) { return active ? "active_payload_" : "passive_payload_"; }

bool is_payload(const std::string& name, bool active) { return name.rfind(payload_prefix(active), 0) == 0; }

script_wire read_connection(const script_connection& c, std::size_t index) {
    script_wire w;
    w.active.host = c.active_host;
    w.passive.host = c.passive_host;
    const setters known = setters_of(w);
    const std::string prefix = "connection[" + std::to_string(index) + "].";
    std::vector<std::string> given;
    for (const auto& [name, text] : c.fields) {
        const std::string key = prefix + name;
        const bool active = is_payload(name, true);
        if (active || is_payload(name, false)) {
            auto& list = active ? w.active.payloads : w.passive.payloads;
            const std::uint64_t n = number(key, name.substr(payload_prefix(active).size()), 1000);
            if (n == 0) {
                fail(key + ": payloads are numbered from 1");
            }
            list.resize(std::max<std::size_t>(list.size(), static_cast<std::size_t>(n)));
            list[static_cast<std::size_t>(n - 1)] = hex(key, text, 1, largest_payload_bytes);
            continue;
        }
        const auto it = known.find(name);
        if (it == known.end()) {
            fail(key + " is not a known key of a connection");
        }
        it->second(key, text);
        given.push_back(name);
    }
    for (const char* needed :
         {"active_lid", "passive_lid", "active_qpn", "passive_qpn", "active_psn", "passive_psn"}) {
        if (std::find(given.begin(), given.end(), needed) == given.end()) {
            fail(prefix + needed + " is missing");
        }
    }
    if (w.path_mtu == 0) {
        fail(prefix + "path_mtu = 0: expected 1 to 5");
    }
    return w;
}

}  // namespace

const std::vector<std::string>& script_field_names() {
    static const std::vector<std::string> names = [] {
        script_wire unused;
        std::vector<std::string> all{payload_prefix(true) + "1", payload_prefix(false) + "1"};
        for (const auto& [name, set] : setters_of(unused)) {
            all.push_back(name);
        }
        return all;
    }();
    return names;
}

bool is_script_field(const std::string& name) {
    const auto& names = script_field_names();
    return is_payload(name, true) || is_payload(name, false) ||
           std::find(names.begin(), names.end(), name) != names.end();
}

const std::vector<std::string>& script_action_names() {
    static const std::vector<std::string> names{"req", "rep", "rtu", "send", "query", "close"};
    return names;
}

script_plan make_script_plan(const scenario_config& s) {
    script_plan plan;
    plan.lid_of_host.assign(s.hosts, 0);
    plan.management_psn_of_host.assign(s.hosts, 0);
    for (std::size_t i = 0; i < s.script_connections.size(); ++i) {
        plan.connections.push_back(read_connection(s.script_connections[i], i));
        const script_wire& w = plan.connections.back();
        for (const script_side* side : {&w.active, &w.passive}) {
            std::uint16_t& lid = plan.lid_of_host.at(side->host);
            if (lid == 0) {
                // The first connection of a host says where the PSNs of its QP1 begin.
                plan.management_psn_of_host[side->host] = side->management_psn;
            } else if (lid != side->lid) {
                fail("connection[" + std::to_string(i) + "]: host " + static_cast<char>('a' + side->host) +
                     " has LID " + std::to_string(side->lid) + " here and " + std::to_string(lid) +
                     " before");
            }
            lid = side->lid;
        }
    }
    std::vector<std::array<std::uint32_t, 2>> sends(plan.connections.size());
    for (std::size_t i = 0; i < s.steps.size(); ++i) {
        const script_step& step = s.steps[i];
        const std::string key = "step[" + std::to_string(i) + "]";
        script_deed d;
        d.at_ns = step.at_ns;
        d.host = static_cast<std::uint32_t>(step.host[0] - 'a');
        d.connection = step.connection;
        const auto& names = script_action_names();
        const auto name = std::find(names.begin(), names.end(), step.action);
        if (name == names.end()) {
            fail(key + ".action = \"" + step.action + "\" is not known");
        }
        d.action = static_cast<script_action>(name - names.begin());
        const script_wire& w = plan.connections[d.connection];
        if (d.host != w.active.host && d.host != w.passive.host) {
            fail(key + ".host: host " + step.host + " is no side of connection " +
                 std::to_string(d.connection));
        }
        d.by_active = d.host == w.active.host;
        const bool wrong_side =
            (d.action == script_action::rep && d.by_active) ||
            ((d.action == script_action::req || d.action == script_action::rtu) && !d.by_active);
        if (wrong_side) {
            fail(key + ": " + step.action + " is not for this side of connection " +
                 std::to_string(d.connection));
        }
        if (d.action == script_action::send) {
            d.number = sends[d.connection][d.by_active ? 0 : 1]++;
            if (d.number >= w.side(d.by_active).payloads.size()) {
                fail("connection[" + std::to_string(d.connection) + "]." +
                     (d.by_active ? "active" : "passive") + "_payload_" + std::to_string(d.number + 1) +
                     " is missing");
            }
        }
        plan.deeds.push_back(d);
    }
    for (std::uint32_t h = 0; h < s.hosts; ++h) {
        if (plan.lid_of_host[h] == 0) {
            fail("topology.hosts: host " + std::string(1, static_cast<char>('a' + h)) + " has no connection");
        }
        for (std::uint32_t other = 0; other < h; ++other) {
            if (plan.lid_of_host[other] == plan.lid_of_host[h]) {
                fail("connection: two hosts have LID " + std::to_string(plan.lid_of_host[h]));
            }
        }
    }
    return plan;
}

}  // namespace hcasim
