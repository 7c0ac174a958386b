// Cycle contract of the command unit: docs/microarchitecture.md, "Command unit".
#include "model/command_unit/command_unit.h"

#include "model/clock/cycle_time.h"
#include "testbenches/timing/block_bench.h"
#include "testbenches/unit/catch.h"

namespace {

using namespace hcasim;        // NOLINT
using namespace hcasim::test;  // NOLINT
using ib::command_opcode;
using ib::modify_status;
using ib::qp_state;

constexpr engine_kind both[] = {engine_kind::wheel, engine_kind::poll};
constexpr std::uint64_t mailbox = 0x2000;

// The command unit before a context table that does with modify and create what the context cache does.
struct command_bench : block_bench {
    ib::packet_pool pool;
    command_unit block{"command_unit", domain};
    stimulus<command_doorbell> doorbell{*this, "doorbell", block.command_i};
    fixed_latency_memory memory{*this, block.read_o, block.read_i, 50};
    capture<dma_write> write{*this, "write", block.write_o};
    capture<qpc_request> request{*this, "request", block.context_o};
    stimulus<qpc_response> response{*this, "response", block.context_i};
    capture<queue_setup> setup{*this, "setup", block.setup_o};
    capture<event> events{*this, "event", block.event_o};
    command_unit_config config;
    ib::qp_context context;                          // the one QP
    std::function<void(ib::qp_context&)> meanwhile;  // done once, after a request has been checked
    std::vector<ib::command_mailbox> results;
    cycle_t at = 20;

    command_bench() {
        write.then = [this](const dma_write& w, cycle_t) {
            std::memcpy(&memory.bytes[w.address], w.data, w.bytes);
            pool.put(w.packet);
        };
        events.then = [this](const event&, cycle_t) {
            ib::command_mailbox m;
            std::memcpy(&m, &memory.bytes[mailbox], sizeof(m));
            results.push_back(m);
        };
        request.then = [this](const qpc_request& r, cycle_t now) { serve(r, now); };
    }
    void serve(const qpc_request& r, cycle_t now) {
        qpc_response a;
        a.cookie = r.cookie;
        a.known = context.valid != 0 && context.qpn == r.qpn;
        a.from = context.state;
        if (r.operation == qpc_operation::create) {
            if (context.valid == 0) {
                context = *r.fresh;
                a.known = a.applied = true;
            }
        } else if (r.operation == qpc_operation::modify && a.known) {
            if (meanwhile) {
                meanwhile(context);
                meanwhile = {};
                a.from = context.state;
            }
            if ((r.modify->from_states >> static_cast<unsigned>(context.state) & 1u) != 0) {
                a.applied = true;
                context.state = r.modify->to;
                context.opened_by = r.modify->reason;
                context.valid = r.modify->destroy ? 0 : 1;
                if ((r.modify->attribute_mask & ib::attr_sq_psn) != 0) {
                    context.requester.next_psn = r.modify->attributes.sq_psn;
                }
                if ((r.modify->attribute_mask & ib::rts_attributes_rc) == ib::rts_attributes_rc) {
                    context.has_rts_attributes = 1;
                }
            }
        }
        a.context = context;
        response.visible_at(now + 2 + 1, a);
    }
    /// One command, to its end; gives its status.
    modify_status run(ib::command_mailbox m) {
        memory.put(mailbox, m);
        doorbell.visible_at(at, {mailbox});
        const std::size_t before = results.size();
        run_to(at + 60000);
        at = domain.now() > at ? domain.now() + 10 : at + 60010;
        REQUIRE(results.size() == before + 1);
        CHECK(results.back().done == 1);
        return results.back().status;
    }
    static ib::command_mailbox modify(qp_state to, std::uint32_t mask) {
        ib::command_mailbox m;
        m.opcode = command_opcode::modify_qp;
        m.number = 3;
        m.state = to;
        m.attribute_mask = mask;
        m.attributes.path_mtu = 3;
        m.attributes.sq_psn = 77;
        return m;
    }
    static ib::command_mailbox create() {
        ib::command_mailbox m;
        m.opcode = command_opcode::create_qp;
        m.number = 3;
        return m;
    }

protected:
    void reset_block() override {
        pool.reclaim();
        results.clear();
        context = {};
        meanwhile = {};
        at = 20;
        block.reset(config, 250, pool);
    }
};

constexpr std::uint32_t to_init = ib::attr_pkey_index | ib::attr_port | ib::attr_access_flags;
constexpr std::uint32_t to_rtr = ib::attr_av | ib::attr_path_mtu | ib::attr_dest_qpn | ib::attr_rq_psn |
                                 ib::attr_max_dest_rd_atomic | ib::attr_min_rnr_timer;
constexpr std::uint32_t to_rts = ib::rts_attributes_rc;

}  // namespace

TEST_CASE("command unit: the formula of the document") {
    command_bench b;
    for (const engine_kind kind : both) {
        b.start(kind);
        b.context.qpn = 3;
        b.context.valid = 1;
        b.context.state = qp_state::rtr;
        b.memory.put(mailbox, b.modify(qp_state::rts, to_rts));
        const cycle_t m = 20;
        b.doorbell.visible_at(m, {mailbox});
        b.run_to(20000);
        const cycle_t mailbox_here = m + 1 + b.memory.cycles() + 1;  // L + 3 cycles of bus are the memory's
        const cycle_t context_here = mailbox_here + 1 + 1 + 2 + 1;
        const cycle_t y = context_here + ns_to_cycles(b.config.modify_qp_ns, 250);
        CHECK(b.memory.requests.cycles() == std::vector<cycle_t>{m + 1});
        REQUIRE(b.request.seen.size() == 2);
        CHECK(b.request.seen[0].cycle == mailbox_here + 1 + 1);
        CHECK(b.request.seen[0].value.operation == qpc_operation::read);
        CHECK(b.request.seen[1].cycle == y + 1);
        CHECK(b.request.seen[1].value.operation == qpc_operation::modify);
        CHECK(b.results.size() == 1);
        CHECK(b.pool.in_use() == 0);
    }
}

TEST_CASE("command unit: a QP's way through the states, and what is refused on it") {
    command_bench b;
    b.start();
    CHECK(b.run(b.modify(qp_state::init, to_init)) == modify_status::unknown_qp);
    CHECK(b.run(b.create()) == modify_status::ok);
    CHECK(b.run(b.modify(qp_state::rts, to_rts)) == modify_status::bad_transition);
    CHECK(b.run(b.modify(qp_state::init, ib::attr_port)) == modify_status::missing_attribute);
    CHECK(b.run(b.modify(qp_state::init, to_init)) == modify_status::ok);
    CHECK(b.context.state == qp_state::init);
    CHECK(b.run(b.modify(qp_state::rtr, to_rtr | ib::attr_qkey)) == modify_status::unexpected_attribute);
    CHECK(b.run(b.modify(qp_state::rtr, to_rtr)) == modify_status::ok);
    CHECK(b.context.state == qp_state::rtr);
    ib::command_mailbox bad = b.modify(qp_state::rts, to_rts);
    bad.attributes.timeout = 32;
    CHECK(b.run(bad) == modify_status::bad_value);
    ib::command_mailbox from = b.modify(qp_state::rts, to_rts | ib::attr_cur_state);
    from.current_state = qp_state::init;
    CHECK(b.run(from) == modify_status::wrong_current_state);
    CHECK(b.run(b.modify(qp_state::rts, to_rts)) == modify_status::ok);
    CHECK(b.context.requester.next_psn == 77);
    CHECK(b.run(b.modify(qp_state::sqd, 0)) == modify_status::ok);
    CHECK(b.run(b.modify(qp_state::rts, 0)) == modify_status::ok);
    CHECK(b.run(b.modify(qp_state::err, 0)) == modify_status::ok);
    CHECK(b.run(b.modify(qp_state::rts, to_rts)) == modify_status::bad_transition);
    CHECK(b.run(b.modify(qp_state::reset, 0)) == modify_status::ok);
    CHECK(b.context.state == qp_state::reset);
    ib::command_mailbox destroy = b.create();
    destroy.opcode = command_opcode::destroy_qp;
    CHECK(b.run(destroy) == modify_status::ok);
    CHECK(b.context.valid == 0);
    CHECK(b.run(destroy) == modify_status::unknown_qp);
    ib::command_mailbox unknown = b.create();
    unknown.opcode = static_cast<command_opcode>(99);
    CHECK(b.run(unknown) == modify_status::bad_command);
}

TEST_CASE("command unit: creating a QP where one is fails and ends") {
    command_bench b;
    b.start();
    CHECK(b.run(b.create()) == modify_status::ok);
    CHECK(b.run(b.create()) == modify_status::bad_value);
    CHECK(b.request.seen.size() == 2);
    // Also right after a modify that had nothing to do.
    b.context.state = qp_state::rts;
    b.context.opened_by = ib::gate_opener::packet;
    CHECK(b.run(b.modify(qp_state::rts, to_rts)) == modify_status::ok);
    CHECK(b.run(b.create()) == modify_status::bad_value);
}

TEST_CASE("command unit: the five attributes of RTS with INIT to RTR: all or none (B26)") {
    command_bench b;
    b.start();
    b.run(b.create());
    b.run(b.modify(qp_state::init, to_init));
    for (const std::uint32_t left_out : {ib::attr_sq_psn, ib::attr_timeout, ib::attr_retry_cnt,
                                         ib::attr_rnr_retry, ib::attr_max_qp_rd_atomic}) {
        CHECK(b.run(b.modify(qp_state::rtr, to_rtr | (to_rts & ~left_out))) ==
              modify_status::missing_attribute);
        CHECK(b.context.state == qp_state::init);
    }
    CHECK(b.run(b.modify(qp_state::rtr, to_rtr | to_rts)) == modify_status::ok);
    CHECK(b.context.has_rts_attributes == 1);
    b.config.rts_preload = false;
    b.start();
    b.run(b.create());
    b.run(b.modify(qp_state::init, to_init));
    CHECK(b.run(b.modify(qp_state::rtr, to_rtr | to_rts)) == modify_status::unexpected_attribute);
}

TEST_CASE(
    "command unit: RTS of a QP that a packet has brought there changes no PSN (B05), with CUR_STATE = RTR it "
    "is refused (B15)") {
    command_bench b;
    b.start();
    b.context.qpn = 3;
    b.context.valid = 1;
    b.context.state = qp_state::rts;
    b.context.opened_by = ib::gate_opener::packet;
    b.context.requester.next_psn = 500;
    CHECK(b.run(b.modify(qp_state::rts, to_rts)) == modify_status::ok);
    CHECK(b.context.requester.next_psn == 500);
    CHECK(b.block.counters().already_rts == 1);
    ib::command_mailbox m = b.modify(qp_state::rts, to_rts | ib::attr_cur_state);
    m.current_state = qp_state::rtr;
    CHECK(b.run(m) == modify_status::wrong_current_state);
    CHECK(b.context.requester.next_psn == 500);
}

TEST_CASE("command unit: the packet wins between the check and the change") {
    command_bench b;
    for (const bool with_current_state : {false, true}) {
        b.start();
        b.context.qpn = 3;
        b.context.valid = 1;
        b.context.state = qp_state::rtr;
        b.context.requester.next_psn = 500;
        b.meanwhile = [](ib::qp_context& c) {
            c.state = qp_state::rts;
            c.opened_by = ib::gate_opener::packet;
        };
        ib::command_mailbox m =
            b.modify(qp_state::rts, to_rts | (with_current_state ? ib::attr_cur_state : 0u));
        m.current_state = qp_state::rtr;
        CHECK(b.run(m) == (with_current_state ? modify_status::wrong_current_state : modify_status::ok));
        CHECK(b.context.state == qp_state::rts);
        CHECK(b.context.requester.next_psn == 500);
        CHECK(b.context.opened_by == ib::gate_opener::packet);
    }
    // An error comes in between: RTS is not asked for any more.
    b.start();
    b.context.qpn = 3;
    b.context.valid = 1;
    b.context.state = qp_state::rtr;
    b.meanwhile = [](ib::qp_context& c) { c.state = qp_state::err; };
    CHECK(b.run(b.modify(qp_state::rts, to_rts)) == modify_status::bad_transition);
    CHECK(b.context.state == qp_state::err);
}

TEST_CASE("command unit: queues, query, several commands one after another, back-pressure") {
    command_bench b;
    for (std::uint32_t stall : {0u, 300u}) {
        b.start(engine_kind::wheel, stall, 5);
        ib::command_mailbox cq;
        cq.opcode = command_opcode::create_cq;
        cq.number = 4;
        cq.ring_address = 0x9000;
        cq.ring_entries = 100;
        CHECK(b.run(cq) == modify_status::bad_value);
        cq.ring_entries = 128;
        CHECK(b.run(cq) == modify_status::ok);
        REQUIRE(b.setup.seen.size() == 1);
        CHECK(b.setup.seen[0].value.entries == 128);
        CHECK_FALSE(b.setup.seen[0].value.is_event_queue);
        b.run(b.create());
        b.context.requester.next_psn = 12;
        ib::command_mailbox query = b.create();
        query.opcode = command_opcode::query_qp;
        CHECK(b.run(query) == modify_status::ok);
        CHECK(b.results.back().sq_psn == 12);
        const std::size_t before = b.results.size();
        b.memory.put(mailbox, query);
        for (cycle_t i = 0; i < 4; ++i) {
            b.doorbell.visible_at(b.at + i, {mailbox});
        }
        b.run_to(b.at + 60000);
        CHECK(b.results.size() == before + 4);
    }
}
