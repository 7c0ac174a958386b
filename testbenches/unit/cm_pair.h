#ifndef HCASIM_TESTBENCHES_UNIT_CM_PAIR_H
#define HCASIM_TESTBENCHES_UNIT_CM_PAIR_H

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "testbenches/bench/cm_agent.h"

namespace hcasim {

/// Two CM agents back to back: MADs take a given number of cycles and a filter may lose them. The users
/// accept, get ready and do nothing else unless told to.
class cm_pair {
public:
    static constexpr std::uint16_t lid_active = 1;
    static constexpr std::uint16_t lid_passive = 2;

    struct sent_mad {
        cycle_t cycle = 0;
        std::uint16_t from = 0;
        ib::cm_message m;
    };

    /// One agent and a user that notes what it hears.
    struct side final : cm_user {
        side(cm_pair& p, std::uint16_t own) : pair(p), lid(own), agent(*this) {}
        void cm_send(std::uint16_t to, const ib::cm_message& m) override { pair.carry(lid, to, m); }
        void cm_request_received(std::uint32_t id, const ib::cm_message& req) override {
            heard.push_back("request");
            last_id = id;
            last_request = req;
            if (accepts) {
                ib::cm_message rep;
                rep.qpn = 0x200;
                rep.starting_psn = 0x222222;
                agent.accept(pair.now, id, rep);
            }
        }
        void cm_reply_received(std::uint32_t id, const ib::cm_message&) override {
            heard.push_back("reply");
            if (gets_ready) {
                agent.ready(pair.now, id);
            }
        }
        void cm_established(std::uint32_t, cm_evidence how) override {
            heard.push_back(how == cm_evidence::rtu ? "established by rtu" : "established by comm_est");
            established_at = pair.now;
        }
        void cm_rtu_again(std::uint32_t) override { heard.push_back("rtu again"); }
        void cm_rejected(std::uint32_t, const ib::cm_message& rej) override {
            heard.push_back("rejected " + std::to_string(rej.reject_reason));
        }
        void cm_gave_up(std::uint32_t, ib::cm_attribute message) override {
            heard.push_back("gave up " + std::string(ib::name(message)));
            gave_up_at = pair.now;
        }
        void cm_disconnect_received(std::uint32_t) override { heard.push_back("disconnect"); }
        void cm_disconnected(std::uint32_t) override { heard.push_back("disconnected"); }

        cm_pair& pair;
        std::uint16_t lid;
        cm_agent agent;
        bool accepts = true;
        bool gets_ready = true;
        std::vector<std::string> heard;
        std::uint32_t last_id = 0;
        ib::cm_message last_request;
        cycle_t established_at = 0;
        cycle_t gave_up_at = 0;
    };

    cm_pair() : active(*this, lid_active), passive(*this, lid_passive) {
        cm_agent_config c;
        c.timer_shift = 10;
        c.ca_guid = 0xa;
        c.first_comm_id = 0x100;
        active.agent.reset(c);
        c.ca_guid = 0xb;
        c.first_comm_id = 0x200;
        c.agent_number = 2;
        passive.agent.reset(c);
    }

    static ib::cm_message request() {
        ib::cm_message req;
        req.qpn = 0x100;
        req.starting_psn = 0x111111;
        req.local_cm_response_timeout = 20;
        req.remote_cm_response_timeout = 20;
        req.max_cm_retries = 15;
        return req;
    }

    std::uint32_t connect() { return active.agent.connect(now, lid_passive, request()); }

    /// Runs up to and including `last`. In one cycle timers come before MADs, as each agent has it for
    /// itself.
    void run_to(cycle_t last) {
        for (;;) {
            const cycle_t timers = std::min(active.agent.next_deadline(), passive.agent.next_deadline());
            const cycle_t mads = m_on_their_way.empty() ? never : m_on_their_way.front().cycle;
            const cycle_t next = std::min(timers, mads);
            if (next > last) {
                break;
            }
            now = next;
            if (mads == next) {
                const travelling t = m_on_their_way.front();
                m_on_their_way.pop_front();
                (t.to == lid_active ? active : passive).agent.receive(now, t.from, t.m);
            } else {
                active.agent.advance(now);
                passive.agent.advance(now);
            }
        }
        now = last;
    }

    void carry(std::uint16_t from, std::uint16_t to, const ib::cm_message& m) {
        // Through the wire format and back: nothing may depend on what a MAD does not carry.
        std::uint8_t mad[256];
        ib::encode(m, mad);
        ib::cm_message copy;
        ib::decode(mad, copy);
        sent.push_back({now, from, copy});
        if (loses && loses(sent.back())) {
            return;
        }
        m_on_their_way.push_back({now + flight_cycles, from, to, copy});
    }

    std::size_t count(ib::cm_attribute attribute) const {
        std::size_t n = 0;
        for (const sent_mad& s : sent) {
            n += s.m.attribute == attribute ? 1 : 0;
        }
        return n;
    }
    std::vector<cycle_t> times(ib::cm_attribute attribute) const {
        std::vector<cycle_t> cycles;
        for (const sent_mad& s : sent) {
            if (s.m.attribute == attribute) {
                cycles.push_back(s.cycle);
            }
        }
        return cycles;
    }

    cycle_t now = 1;
    cycle_t flight_cycles = 100;
    std::function<bool(const sent_mad&)> loses;
    std::vector<sent_mad> sent;
    side active;
    side passive;

private:
    struct travelling {
        cycle_t cycle;
        std::uint16_t from, to;
        ib::cm_message m;
    };
    std::deque<travelling> m_on_their_way;
};

}  // namespace hcasim

#endif
