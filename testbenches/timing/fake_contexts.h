#ifndef HCASIM_TESTBENCHES_TIMING_FAKE_CONTEXTS_H
#define HCASIM_TESTBENCHES_TIMING_FAKE_CONTEXTS_H

#include <map>

#include "testbenches/timing/block_bench.h"

namespace hcasim::test {

/// The context cache as a table in which everything hits: a request visible at r is answered at r +
/// hit_cycles + 1, a change of state is told at r + 1.
class fake_contexts {
public:
    template <class Out, class In, class State>
    fake_contexts(block_bench& bench, Out& request_o, In& response_i, State& state_i)
        : requests(bench, "context_request", request_o),
          answers(bench, "context_response", response_i),
          states(bench, "state_event", state_i) {
        requests.then = [this](const qpc_request& r, cycle_t at) { serve(r, at); };
        states.then = [this](const state_event& e, cycle_t) { apply(e); };
    }
    capture<qpc_request> requests;
    stimulus<qpc_response> answers;
    stimulus<state_event> states;
    std::map<std::uint32_t, ib::qp_context> table;
    cycle_t hit_cycles = 2;
    std::function<void(const state_event&, cycle_t)>
        on_change;  ///< other listeners: the event is visible to them in this cycle

    /// A fresh table.
    void clear() {
        table.clear();
        hit_cycles = 2;
    }
    /// Changes the state so that the block sees the event at `cycle`.
    void change(std::uint32_t qpn, ib::qp_state to, cycle_t cycle, bool created = false,
                bool notify = false) {
        state_event e;
        e.qpn = qpn;
        e.state = to;
        e.gate = to == ib::qp_state::rts                              ? gate_state::open
                 : to == ib::qp_state::err || to == ib::qp_state::sqe ? gate_state::flush
                                                                      : gate_state::closed;
        e.sl_class = table[qpn].resources.sl_class;
        e.created = created;
        e.notify_drained = notify;
        states.visible_at(cycle, e);
        if (on_change) {
            on_change(e, cycle);
        }
    }

private:
    void apply(const state_event& e) {
        ib::qp_context& c = table[e.qpn];
        c.state = e.state;
        if (e.state == ib::qp_state::reset) {
            const ib::qp_context ended = c;
            c.requester = {};
            c.responder = {};
            c.requester.life = ended.requester.life + 1;
            c.responder.life = static_cast<std::uint16_t>(ended.responder.life + 1);
        }
    }
    void serve(const qpc_request& r, cycle_t at) {
        const auto found = table.find(r.qpn);
        qpc_response answer;
        answer.cookie = r.cookie;
        answer.known = found != table.end();
        switch (r.operation) {
            case qpc_operation::write_requester:
                if (found->second.requester.life == r.requester.life) {
                    found->second.requester = r.requester;
                }
                return;
            case qpc_operation::write_responder:
                if (found->second.responder.life == r.responder.life) {
                    found->second.responder = r.responder;
                }
                return;
            case qpc_operation::modify: {
                const auto state = static_cast<unsigned>(found->second.state);
                answer.applied = (r.modify->from_states >> state & 1u) != 0 &&
                                 (!r.modify->needs_rts_attributes || found->second.has_rts_attributes != 0);
                if (answer.applied) {
                    found->second.state = r.modify->to;
                    change(r.qpn, r.modify->to, at + 1);
                }
                break;
            }
            default:
                break;
        }
        if (answer.known) {
            answer.context = found->second;
        }
        answers.visible_at(at + hit_cycles + 1, answer);
    }
};

}  // namespace hcasim::test

#endif
