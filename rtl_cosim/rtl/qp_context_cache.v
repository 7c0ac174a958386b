// QP context cache: set-associative, write-back, with fills under way side by side, and the one place where the
// state of a QP changes. Three clients (send engine, receive engine, command unit) read contexts by QPN, write
// their half back, and ask for changes; a change and the message that tells scheduler, send engine and receive
// engine of it are one step, so a send gate can never be opened by a change that a later one has undone.
//
// Contract: docs/microarchitecture.md, "QP context cache". Pins and timing: docs/rtl.md.
//
// One access to the lines per cycle, which is, in this order of precedence,
//   1. the install of a fill that has come, unless a replay is under way or the victim cannot be written back;
//   2. the request in front of the replay (those that waited for the last install, in the order of arrival);
//   3. a request of a client, in turn.
// Nothing is pinned: a line may leave while its QP is at work. That a replay is through before the next install
// means that a line is never taken away from those that have waited for it, so a replayed request always hits, in
// the line that was installed last.
//
// A client whose request cannot be served in a cycle (no room for its answer, no place to wait in, listeners that
// cannot be told of a change) does not hold up the others. Therefore all three are looked up side by side, down to
// the few bytes of the context that decide whether a change applies, and the turn goes to the next of those that
// can be served. A replay, on the other hand, waits for the one in front.
//
// Memories, all read combinationally:
//   lines      SETS * WAYS x 8 * CONTEXT_BYTES   1 read, 1 write (the same line)
//   summaries  SETS * WAYS x 42                  4 reads (clients, replay), 1 write: copies of QPN, state, valid and
//                                                has_rts_attributes
//   buffers    MISSES x 8 * CONTEXT_BYTES        1 read, 1 write: fills that wait to be installed
//   and those of qp_context_tags.v, qp_context_waiting.v, qp_context_responses.v
// synthesis check: -chparam QPS 16 -chparam SETS 2 -chparam WAYS 2 -chparam MISSES 2 -chparam WAITING 2
`default_nettype none

module qp_context_cache #(
    parameter QPS           = 1024,  // QP slots, a power of two, at least 2
    parameter SETS          = 64,    // a power of two
    parameter WAYS          = 4,     // 1 .. 16; pseudo-LRU needs a power of two
    parameter MISSES        = 8,     // fills under way, 1 .. 64
    parameter WAITING       = 64,    // requests that wait for a fill or for their turn after it, 1 .. 1024
    parameter CONTEXT_BYTES = 120    // of a line; in the memory of the host a context has 256
) (
    input  wire                       clk_i,
    input  wire                       rst_ni,

    input  wire                       cfg_plru_i,  // replacement: 0 least recently used, 1 tree pseudo-LRU
    input  wire [6:0]                 cfg_hit_cycles_i,  // lookup to response, 1 .. 64
    input  wire [63:0]                cfg_context_address_i,  // of slot 0 in the memory of the host

    input  wire                       send_request_valid_i,
    output wire                       send_request_ready_o,
    input  wire [2:0]                 send_request_operation_i,
    input  wire [31:0]                send_request_qpn_i,
    input  wire [31:0]                send_request_cookie_i,
    input  wire [63:0]                send_request_requester_i,
    input  wire [319:0]               send_request_responder_i,
    input  wire [31:0]                send_request_modify_from_states_i,
    input  wire [2:0]                 send_request_modify_to_i,
    input  wire                       send_request_modify_needs_rts_attributes_i,
    input  wire [2:0]                 send_request_modify_reason_i,
    input  wire [31:0]                send_request_modify_attribute_mask_i,
    input  wire [255:0]               send_request_modify_attributes_i,
    input  wire                       send_request_modify_destroy_i,
    input  wire [8*CONTEXT_BYTES-1:0] send_request_fresh_i,

    output wire                       send_response_valid_o,
    input  wire                       send_response_ready_i,
    output wire [31:0]                send_response_cookie_o,
    output wire                       send_response_known_o,
    output wire                       send_response_applied_o,
    output wire                       send_response_was_hit_o,
    output wire [2:0]                 send_response_from_o,
    output wire [8*CONTEXT_BYTES-1:0] send_response_context_o,

    input  wire                       receive_request_valid_i,
    output wire                       receive_request_ready_o,
    input  wire [2:0]                 receive_request_operation_i,
    input  wire [31:0]                receive_request_qpn_i,
    input  wire [31:0]                receive_request_cookie_i,
    input  wire [63:0]                receive_request_requester_i,
    input  wire [319:0]               receive_request_responder_i,
    input  wire [31:0]                receive_request_modify_from_states_i,
    input  wire [2:0]                 receive_request_modify_to_i,
    input  wire                       receive_request_modify_needs_rts_attributes_i,
    input  wire [2:0]                 receive_request_modify_reason_i,
    input  wire [31:0]                receive_request_modify_attribute_mask_i,
    input  wire [255:0]               receive_request_modify_attributes_i,
    input  wire                       receive_request_modify_destroy_i,
    input  wire [8*CONTEXT_BYTES-1:0] receive_request_fresh_i,

    output wire                       receive_response_valid_o,
    input  wire                       receive_response_ready_i,
    output wire [31:0]                receive_response_cookie_o,
    output wire                       receive_response_known_o,
    output wire                       receive_response_applied_o,
    output wire                       receive_response_was_hit_o,
    output wire [2:0]                 receive_response_from_o,
    output wire [8*CONTEXT_BYTES-1:0] receive_response_context_o,

    input  wire                       command_request_valid_i,
    output wire                       command_request_ready_o,
    input  wire [2:0]                 command_request_operation_i,
    input  wire [31:0]                command_request_qpn_i,
    input  wire [31:0]                command_request_cookie_i,
    input  wire [63:0]                command_request_requester_i,
    input  wire [319:0]               command_request_responder_i,
    input  wire [31:0]                command_request_modify_from_states_i,
    input  wire [2:0]                 command_request_modify_to_i,
    input  wire                       command_request_modify_needs_rts_attributes_i,
    input  wire [2:0]                 command_request_modify_reason_i,
    input  wire [31:0]                command_request_modify_attribute_mask_i,
    input  wire [255:0]               command_request_modify_attributes_i,
    input  wire                       command_request_modify_destroy_i,
    input  wire [8*CONTEXT_BYTES-1:0] command_request_fresh_i,

    output wire                       command_response_valid_o,
    input  wire                       command_response_ready_i,
    output wire [31:0]                command_response_cookie_o,
    output wire                       command_response_known_o,
    output wire                       command_response_applied_o,
    output wire                       command_response_was_hit_o,
    output wire [2:0]                 command_response_from_o,
    output wire [8*CONTEXT_BYTES-1:0] command_response_context_o,

    // The same event to all three, or to none.
    output wire                       scheduler_state_valid_o,
    input  wire                       scheduler_state_ready_i,
    output wire [23:0]                scheduler_state_qpn_o,
    output wire [2:0]                 scheduler_state_state_o,
    output wire [1:0]                 scheduler_state_gate_o,
    output wire [3:0]                 scheduler_state_sl_class_o,
    output wire                       scheduler_state_created_o,
    output wire                       scheduler_state_notify_drained_o,
    output wire                       send_state_valid_o,
    input  wire                       send_state_ready_i,
    output wire [23:0]                send_state_qpn_o,
    output wire [2:0]                 send_state_state_o,
    output wire [1:0]                 send_state_gate_o,
    output wire [3:0]                 send_state_sl_class_o,
    output wire                       send_state_created_o,
    output wire                       send_state_notify_drained_o,
    output wire                       receive_state_valid_o,
    input  wire                       receive_state_ready_i,
    output wire [23:0]                receive_state_qpn_o,
    output wire [2:0]                 receive_state_state_o,
    output wire [1:0]                 receive_state_gate_o,
    output wire [3:0]                 receive_state_sl_class_o,
    output wire                       receive_state_created_o,
    output wire                       receive_state_notify_drained_o,

    // Read of a context; fill_data_i is what has been read for the cookie of the answer.
    output wire                       fill_valid_o,
    input  wire                       fill_ready_i,
    output wire [63:0]                fill_address_o,
    output wire [31:0]                fill_bytes_o,
    output wire [31:0]                fill_cookie_o,
    input  wire                       fill_valid_i,
    output wire                       fill_ready_o,
    input  wire [31:0]                fill_cookie_i,
    input  wire [8*CONTEXT_BYTES-1:0] fill_data_i,

    // Write of a context; what is behind CONTEXT_BYTES is zero.
    output wire                       writeback_valid_o,
    input  wire                       writeback_ready_i,
    output wire [63:0]                writeback_address_o,
    output wire [31:0]                writeback_bytes_o,
    output wire [8*CONTEXT_BYTES-1:0] writeback_data_o,

    output wire                       busy_o,

    // A client's request ...
    output wire                       trace_hit_o,                // finds its line
    output wire                       trace_miss_o,               // starts a fill
    output wire                       trace_merged_o,             // waits for a fill under way
    output wire                       trace_replay_o,             // a request that has waited is served
    output wire                       trace_void_write_o,         // write-back of a half whose QP has been reset or destroyed
    output wire                       trace_install_o,            // a line comes
    output wire [23:0]                trace_installed_slot_o,
    output wire                       trace_eviction_o,           // ... and one leaves:
    output wire [23:0]                trace_evicted_slot_o,
    output wire [3:0]                 trace_evicted_way_o,
    output wire                       trace_writeback_o,          // ... it is dirty
    output wire                       trace_state_changed_o,      // a change is announced, or
    output wire                       trace_late_opener_o,        // a change to RTS finds the QP there:
    output wire [23:0]                trace_changed_qpn_o,
    output wire [2:0]                 trace_changed_reason_o,
    output wire [2:0]                 trace_changed_before_o,
    output wire [2:0]                 trace_changed_after_o,
    output wire [23:0]                trace_changed_next_psn_o,
    // Who waits for what.
    output wire                       trace_no_room_o,            // a client until its answers are taken
    output wire                       trace_no_place_o,           // a request for a place to wait in
    output wire                       trace_no_miss_o,            // a request for a miss entry
    output wire                       trace_untold_o,             // a change for a listener
    output wire                       trace_held_install_o        // an install for the write-back of its victim
);

    localparam CONTEXT_W = 8 * CONTEXT_BYTES;
    localparam SLOT_W    = $clog2(QPS);
    localparam USED_SETS = SETS < QPS ? SETS : QPS;
    localparam SET_W     = USED_SETS > 1 ? $clog2(USED_SETS) : 1;
    localparam WAY_W     = WAYS > 1 ? $clog2(WAYS) : 1;
    localparam LINES     = USED_SETS * WAYS;
    localparam LINE_W    = LINES > 1 ? $clog2(LINES) : 1;
    localparam MISS_W    = MISSES > 1 ? $clog2(MISSES) : 1;

    localparam [31:0] SLOT_BYTES = 32'd256;

    localparam [2:0] READ            = 3'd0;
    localparam [2:0] WRITE_REQUESTER = 3'd1;
    localparam [2:0] MODIFY          = 3'd3;
    localparam [2:0] CREATE          = 3'd4;

    localparam [2:0] RESET = 3'd0;
    localparam [2:0] RTS   = 3'd3;
    localparam [2:0] SQE   = 3'd5;
    localparam [2:0] ERR   = 3'd6;

    localparam [1:0] GATE_CLOSED = 2'd0;
    localparam [1:0] GATE_OPEN   = 2'd1;
    localparam [1:0] GATE_FLUSH  = 2'd2;

    wire unused_bits = &{1'b0, cfg_hit_cycles_i[6], fill_cookie_i[31:MISS_W]};

    // ---- requests ----

    // A request as one word: {client (one-hot), operation, qpn, cookie, what the operation needs}. The last part is
    // shared: a half of a context, a change, or a whole context.
    localparam CHANGE_W = 328;
    localparam RECORD_W = 3 + 3 + 32 + 32 + CONTEXT_W;

    function [CONTEXT_W-1:0] needs_of;
        input [2:0]           operation;
        input [63:0]          requester;
        input [319:0]         responder;
        input [CHANGE_W-1:0]  change;
        input [CONTEXT_W-1:0] fresh;
        case (operation)
            WRITE_REQUESTER: needs_of = {{(CONTEXT_W - 64) {1'b0}}, requester};
            MODIFY:          needs_of = {{(CONTEXT_W - CHANGE_W) {1'b0}}, change};
            CREATE:          needs_of = fresh;
            default:         needs_of = {{(CONTEXT_W - 320) {1'b0}}, responder};
        endcase
    endfunction

    wire [RECORD_W-1:0] send_record = {
        3'b001, send_request_operation_i, send_request_qpn_i, send_request_cookie_i,
        needs_of(send_request_operation_i, send_request_requester_i, send_request_responder_i,
                 {send_request_modify_destroy_i, send_request_modify_needs_rts_attributes_i,
                  send_request_modify_reason_i, send_request_modify_to_i, send_request_modify_from_states_i,
                  send_request_modify_attribute_mask_i, send_request_modify_attributes_i},
                 send_request_fresh_i)
    };
    wire [RECORD_W-1:0] receive_record = {
        3'b010, receive_request_operation_i, receive_request_qpn_i, receive_request_cookie_i,
        needs_of(receive_request_operation_i, receive_request_requester_i, receive_request_responder_i,
                 {receive_request_modify_destroy_i, receive_request_modify_needs_rts_attributes_i,
                  receive_request_modify_reason_i, receive_request_modify_to_i, receive_request_modify_from_states_i,
                  receive_request_modify_attribute_mask_i, receive_request_modify_attributes_i},
                 receive_request_fresh_i)
    };
    wire [RECORD_W-1:0] command_record = {
        3'b100, command_request_operation_i, command_request_qpn_i, command_request_cookie_i,
        needs_of(command_request_operation_i, command_request_requester_i, command_request_responder_i,
                 {command_request_modify_destroy_i, command_request_modify_needs_rts_attributes_i,
                  command_request_modify_reason_i, command_request_modify_to_i, command_request_modify_from_states_i,
                  command_request_modify_attribute_mask_i, command_request_modify_attributes_i},
                 command_request_fresh_i)
    };

    // What has to be known of all three at once; client 0 in the lowest bits.
    wire [2:0]  request_valid = {command_request_valid_i, receive_request_valid_i, send_request_valid_i};
    wire [8:0]  operations = {command_request_operation_i, receive_request_operation_i, send_request_operation_i};
    wire [95:0] qpns = {command_request_qpn_i, receive_request_qpn_i, send_request_qpn_i};
    wire [95:0] from_states = {
        command_request_modify_from_states_i, receive_request_modify_from_states_i, send_request_modify_from_states_i
    };
    wire [8:0] tos = {command_request_modify_to_i, receive_request_modify_to_i, send_request_modify_to_i};
    wire [2:0] need_rts = {
        command_request_modify_needs_rts_attributes_i,
        receive_request_modify_needs_rts_attributes_i,
        send_request_modify_needs_rts_attributes_i
    };
    wire [2:0] destroys = {
        command_request_modify_destroy_i, receive_request_modify_destroy_i, send_request_modify_destroy_i
    };
    wire [3*SLOT_W-1:0] slots = {
        command_request_qpn_i[SLOT_W-1:0], receive_request_qpn_i[SLOT_W-1:0], send_request_qpn_i[SLOT_W-1:0]
    };

    // ---- lines ----

    localparam SUMMARY_W = 32 + 8 + 1 + 1;  // {qpn, state, valid, has_rts_attributes}

    reg [CONTEXT_W-1:0] lines    [0:LINES-1];
    reg [SUMMARY_W-1:0] summaries[0:LINES-1];

    wire [2:0]          hit;
    wire [3*WAY_W-1:0]  ways;
    wire [3*LINE_W-1:0] found;  // the line of each client's slot, where there is one

    // ---- fills ----

    reg  [MISSES-1:0]        under_way;  // from the miss to the install
    reg  [MISSES-1:0]        filled;     // ... and the data is in buffers
    reg  [MISSES*SLOT_W-1:0] miss_slots;
    reg  [CONTEXT_W-1:0]     buffers[0:MISSES-1];

    integer m, c;
    reg [2:0]          merges;      // the client's slot is under way already
    reg [3*MISS_W-1:0] merge_with;
    reg                has_free;
    reg [MISS_W-1:0]   first_free;
    always @* begin
        merges     = 3'b000;
        merge_with = {(3 * MISS_W) {1'b0}};
        has_free   = 1'b0;
        first_free = {MISS_W{1'b0}};
        m = 0;
        for (c = 0; c < 3; c = c + 1) begin
            if (request_valid[c] && !hit[c]) begin
                for (m = 0; m < MISSES; m = m + 1) begin
                    if (under_way[m] && miss_slots[m*SLOT_W+:SLOT_W] == slots[c*SLOT_W+:SLOT_W]) begin
                        merges[c] = 1'b1;
                        merge_with[c*MISS_W+:MISS_W] = m[MISS_W-1:0];
                    end
                end
            end
        end
        for (m = MISSES - 1; m >= 0; m = m - 1) begin
            if (!under_way[m]) begin
                has_free   = 1'b1;
                first_free = m[MISS_W-1:0];
            end
        end
    end

    // The data of a fill is looked at in the cycle in which it comes.
    localparam [MISSES-1:0] FIRST_MISS = 1;
    wire [MISSES-1:0] arrives    = fill_valid_i ? FIRST_MISS << fill_cookie_i[MISS_W-1:0] : {MISSES{1'b0}};
    wire [MISSES-1:0] to_install = filled | arrives;

    integer f;
    reg [MISS_W-1:0] fill;  // the lowest of them
    always @* begin
        fill = {MISS_W{1'b0}};
        for (f = MISSES - 1; f >= 0; f = f - 1) if (to_install[f]) fill = f[MISS_W-1:0];
    end

    wire                replay;
    wire                wants_install = to_install != {MISSES{1'b0}} && !replay;
    wire                victim_valid;
    wire                victim_dirty;
    wire [WAY_W-1:0]    victim_way;
    wire [LINE_W-1:0]   victim_line;
    wire [SLOT_W-1:0]   victim_holds;
    wire [SLOT_W-1:0]   fill_slot = miss_slots[fill*SLOT_W+:SLOT_W];
    wire                install   = wants_install && (!victim_dirty || writeback_ready_i);

    // ---- who is served ----

    wire       listeners_ready = scheduler_state_ready_i && send_state_ready_i && receive_state_ready_i;
    wire       waiting_full;
    wire [2:0] room;  // for an answer

    wire [2:0] servable;
    wire [2:0] known;
    wire [2:0] applies;
    wire [2:0] announces;
    wire [2:0] late_openers;
    wire [2:0] no_room;  // why not
    wire [2:0] no_place;
    wire [2:0] no_miss;
    wire [2:0] untold;

    genvar g;
    generate
        for (g = 0; g < 3; g = g + 1) begin : client
            wire [SUMMARY_W-1:0] summary = summaries[found[g*LINE_W+:LINE_W]];

            qp_context_decision decision (
                .operation_i(operations[g*3+:3]),
                .qpn_i(qpns[g*32+:32]),
                .modify_from_states_i(from_states[g*32+:32]),
                .modify_to_i(tos[g*3+:3]),
                .modify_needs_rts_attributes_i(need_rts[g]),
                .modify_destroy_i(destroys[g]),
                .qpn_there_i(summary[41:10]),
                .state_there_i(summary[9:2]),
                .valid_there_i(summary[1]),
                .has_rts_attributes_there_i(summary[0]),
                .known_o(known[g]),
                .applies_o(applies[g]),
                .announces_o(announces[g]),
                .late_opener_o(late_openers[g])
            );

            assign no_room[g]  = !room[g];
            assign untold[g]   = hit[g] && announces[g] && !listeners_ready;
            assign no_place[g] = !hit[g] && waiting_full;
            assign no_miss[g]  = !hit[g] && !merges[g] && !has_free;
            assign servable[g] = request_valid[g] && !no_room[g] && !untold[g] && !no_place[g] && !no_miss[g] &&
                                 (hit[g] || merges[g] || fill_ready_i);
        end
    endgenerate

    reg  [2:0] last;  // client served last
    wire [2:0] chosen;
    rotate_select #(
        .N(3)
    ) turn (
        .among_i (install || replay ? 3'b000 : servable),
        .last_i  (last),
        .chosen_o(chosen)
    );

    wire hits   = (chosen & hit) != 3'b000;
    wire waits  = (chosen & ~hit) != 3'b000;
    wire merged = (chosen & merges) != 3'b000;

    // ---- replay ----

    wire [RECORD_W-1:0] replay_record;
    wire                replay_known;
    wire                replay_applies;
    wire                replay_announces;
    wire                replay_late_opener;
    reg  [SET_W-1:0]    replay_set;
    reg  [WAY_W-1:0]    replay_way;
    reg  [LINE_W-1:0]   replay_line;

    wire replay_room = (replay_record[RECORD_W-1-:3] & room) != 3'b000;
    wire replayed    = replay && replay_room && (!replay_announces || listeners_ready);

    // ---- the request that has the access ----

    reg [RECORD_W-1:0] asked;   // of the chosen client
    reg [RECORD_W-1:0] record;  // ... or of the replay
    reg [LINE_W-1:0]   line;
    reg [WAY_W-1:0]    way;
    reg [SLOT_W-1:0]   slot;
    reg [MISS_W-1:0]   miss;
    always @* begin
        case (chosen)
            3'b010: begin
                asked = receive_record;
                line  = found[1*LINE_W+:LINE_W];
                way   = ways[1*WAY_W+:WAY_W];
                slot  = slots[1*SLOT_W+:SLOT_W];
                miss  = merge_with[1*MISS_W+:MISS_W];
            end
            3'b100: begin
                asked = command_record;
                line  = found[2*LINE_W+:LINE_W];
                way   = ways[2*WAY_W+:WAY_W];
                slot  = slots[2*SLOT_W+:SLOT_W];
                miss  = merge_with[2*MISS_W+:MISS_W];
            end
            default: begin
                asked = send_record;
                line  = found[0*LINE_W+:LINE_W];
                way   = ways[0*WAY_W+:WAY_W];
                slot  = slots[0*SLOT_W+:SLOT_W];
                miss  = merge_with[0*MISS_W+:MISS_W];
            end
        endcase
        if (!merged) miss = first_free;
        record = replay ? replay_record : asked;
        if (replay) line = replay_line;
        if (install) line = victim_line;
    end

    wire                 access = hits || replayed;
    wire [2:0]           from;
    wire [2:0]           operation;
    wire [31:0]          qpn;
    wire [31:0]          cookie;
    wire [CONTEXT_W-1:0] needs;
    assign {from, operation, qpn, cookie, needs} = record;

    wire                 destroy;
    wire                 needs_rts;
    wire [2:0]           reason;
    wire [2:0]           to;
    wire [31:0]          states;
    wire [31:0]          attribute_mask;
    wire [255:0]         attributes;
    assign {destroy, needs_rts, reason, to, states, attribute_mask, attributes} = needs[CHANGE_W-1:0];

    wire [SUMMARY_W-1:0] replay_summary = summaries[replay_line];
    qp_context_decision replay_decision (
        .operation_i(operation),
        .qpn_i(qpn),
        .modify_from_states_i(states),
        .modify_to_i(to),
        .modify_needs_rts_attributes_i(needs_rts),
        .modify_destroy_i(destroy),
        .qpn_there_i(replay_summary[41:10]),
        .state_there_i(replay_summary[9:2]),
        .valid_there_i(replay_summary[1]),
        .has_rts_attributes_there_i(replay_summary[0]),
        .known_o(replay_known),
        .applies_o(replay_applies),
        .announces_o(replay_announces),
        .late_opener_o(replay_late_opener)
    );

    wire is_known    = replay ? replay_known : (chosen & known) != 3'b000;
    wire does_apply  = replay ? replay_applies : (chosen & applies) != 3'b000;
    wire is_opener   = replay ? replay_late_opener : (chosen & late_openers) != 3'b000;
    wire is_announce = replay ? replay_announces : (chosen & announces) != 3'b000;

    // ---- the access ----

    wire [CONTEXT_W-1:0] before = lines[line];
    wire [CONTEXT_W-1:0] after;
    wire                 changed;
    wire [2:0]           state_before;
    wire [31:0]          after_qpn;
    wire [7:0]           after_state;
    wire                 after_valid;
    wire                 after_has_rts;
    wire [3:0]           after_sl_class;
    wire                 after_notify;
    wire [23:0]          after_next_psn;

    qp_context_step #(
        .CONTEXT_BYTES(CONTEXT_BYTES)
    ) step (
        .install_i              (install),
        .fill_i                 (filled[fill] ? buffers[fill] : fill_data_i),
        .access_i               (access),
        .operation_i            (operation),
        .known_i                (is_known),
        .applies_i              (does_apply),
        .requester_i            (needs[63:0]),
        .responder_i            (needs[319:0]),
        .modify_to_i            (to),
        .modify_reason_i        (reason),
        .modify_attribute_mask_i(attribute_mask),
        .modify_attributes_i    (attributes),
        .modify_destroy_i       (destroy),
        .fresh_i                (needs),
        .context_i              (before),
        .state_before_o         (state_before),
        .context_o              (after),
        .changed_o              (changed),
        .qpn_o                  (after_qpn),
        .state_o                (after_state),
        .valid_o                (after_valid),
        .has_rts_attributes_o   (after_has_rts),
        .sl_class_o             (after_sl_class),
        .notify_drained_o       (after_notify),
        .next_psn_o             (after_next_psn)
    );

    qp_context_tags #(
        .SETS(USED_SETS),
        .WAYS(WAYS),
        .SLOT_W(SLOT_W),
        .SET_W(SET_W),
        .WAY_W(WAY_W),
        .LINE_W(LINE_W)
    ) tags (
        .clk_i         (clk_i),
        .rst_ni        (rst_ni),
        .cfg_plru_i    (cfg_plru_i),
        .lookup_i      (request_valid),
        .lookup_slot_i (slots),
        .lookup_hit_o  (hit),
        .lookup_way_o  (ways),
        .lookup_line_o (found),
        .victim_i      (wants_install),
        .victim_slot_i (fill_slot),
        .victim_way_o  (victim_way),
        .victim_line_o (victim_line),
        .victim_valid_o(victim_valid),
        .victim_dirty_o(victim_dirty),
        .victim_holds_o(victim_holds),
        .install_i     (install),
        .touch_i       (access),
        .touch_set_i   (replay ? replay_set : slot[SET_W-1:0]),
        .touch_way_i   (replay ? replay_way : way),
        .touch_dirty_i (changed)
    );

    qp_context_waiting #(
        .ENTRIES(WAITING),
        .LISTS(MISSES),
        .LIST_W(MISS_W),
        .WIDTH(RECORD_W)
    ) waiting (
        .clk_i           (clk_i),
        .rst_ni          (rst_ni),
        .full_o          (waiting_full),
        .add_i           (waits),
        .add_list_i      (miss),
        .add_first_i     (!merged),
        .add_request_i   (asked),
        .start_i         (install),
        .start_list_i    (fill),
        .replay_o        (replay),
        .replay_request_o(replay_record),
        .replay_done_i   (replayed)
    );

    always @(posedge clk_i) begin
        if (!rst_ni) begin
            under_way <= {MISSES{1'b0}};
            filled    <= {MISSES{1'b0}};
            last      <= 3'b100;
        end else begin
            if (chosen != 3'b000) last <= chosen;
            if (waits && !merged) begin
                under_way[miss] <= 1'b1;
                miss_slots[miss*SLOT_W+:SLOT_W] <= slot;
            end
            if (fill_valid_i) buffers[fill_cookie_i[MISS_W-1:0]] <= fill_data_i;
            filled <= to_install;
            if (install) begin
                under_way[fill] <= 1'b0;
                filled[fill]    <= 1'b0;
                replay_set      <= fill_slot[SET_W-1:0];
                replay_way      <= victim_way;
                replay_line     <= victim_line;
            end
            if (install || changed) begin
                lines[line]     <= after;
                summaries[line] <= {after_qpn, after_state, after_valid, after_has_rts};
            end
        end
    end

    // ---- what goes out ----

    assign send_request_ready_o    = chosen[0];
    assign receive_request_ready_o = chosen[1];
    assign command_request_ready_o = chosen[2];

    assign fill_valid_o   = waits && !merged;
    assign fill_address_o = cfg_context_address_i + {{(56 - SLOT_W) {1'b0}}, slot, 8'd0};
    assign fill_bytes_o   = SLOT_BYTES;
    assign fill_cookie_o  = {{(32 - MISS_W) {1'b0}}, miss};
    assign fill_ready_o   = 1'b1;

    assign writeback_valid_o   = install && victim_dirty;
    assign writeback_address_o = cfg_context_address_i + {{(56 - SLOT_W) {1'b0}}, victim_holds, 8'd0};
    assign writeback_bytes_o   = SLOT_BYTES;
    assign writeback_data_o    = before;

    // Responses: everything but a write is answered.
    wire       is_create  = operation == CREATE;
    wire       responds   = access && (operation == READ || operation == MODIFY || is_create);
    wire [2:0] push       = responds ? from : 3'b000;
    wire [2:0] state_told = operation == MODIFY && !is_known ? RESET : state_before;

    localparam RESPONSE_W = 32 + 3 + 3 + CONTEXT_W;
    wire [RESPONSE_W-1:0] response = {
        cookie, is_known || (is_create && does_apply), does_apply, !replay, state_told, after
    };
    wire [2:0] empty;

    qp_context_responses #(
        .WIDTH(RESPONSE_W)
    ) send_responses (
        .clk_i           (clk_i),
        .rst_ni          (rst_ni),
        .cfg_hit_cycles_i(cfg_hit_cycles_i[5:0]),
        .room_o          (room[0]),
        .push_i          (push[0]),
        .push_response_i (response),
        .valid_o         (send_response_valid_o),
        .ready_i         (send_response_ready_i),
        .response_o      ({
            send_response_cookie_o, send_response_known_o, send_response_applied_o,
            send_response_was_hit_o, send_response_from_o, send_response_context_o
        }),
        .empty_o         (empty[0])
    );

    qp_context_responses #(
        .WIDTH(RESPONSE_W)
    ) receive_responses (
        .clk_i           (clk_i),
        .rst_ni          (rst_ni),
        .cfg_hit_cycles_i(cfg_hit_cycles_i[5:0]),
        .room_o          (room[1]),
        .push_i          (push[1]),
        .push_response_i (response),
        .valid_o         (receive_response_valid_o),
        .ready_i         (receive_response_ready_i),
        .response_o      ({
            receive_response_cookie_o, receive_response_known_o, receive_response_applied_o,
            receive_response_was_hit_o, receive_response_from_o, receive_response_context_o
        }),
        .empty_o         (empty[1])
    );

    qp_context_responses #(
        .WIDTH(RESPONSE_W)
    ) command_responses (
        .clk_i           (clk_i),
        .rst_ni          (rst_ni),
        .cfg_hit_cycles_i(cfg_hit_cycles_i[5:0]),
        .room_o          (room[2]),
        .push_i          (push[2]),
        .push_response_i (response),
        .valid_o         (command_response_valid_o),
        .ready_i         (command_response_ready_i),
        .response_o      ({
            command_response_cookie_o, command_response_known_o, command_response_applied_o,
            command_response_was_hit_o, command_response_from_o, command_response_context_o
        }),
        .empty_o         (empty[2])
    );

    // State events. Nothing is accessed that is to be announced and cannot be.
    wire       announce = access && is_announce;
    reg  [1:0] gate;
    always @* begin
        case (after_state[2:0])
            RTS:      gate = GATE_OPEN;
            SQE, ERR: gate = GATE_FLUSH;
            default:  gate = GATE_CLOSED;
        endcase
    end

    assign scheduler_state_valid_o         = announce;
    assign scheduler_state_qpn_o           = after_qpn[23:0];
    assign scheduler_state_state_o         = after_state[2:0];
    assign scheduler_state_gate_o          = gate;
    assign scheduler_state_sl_class_o      = after_sl_class;
    assign scheduler_state_created_o       = is_create;
    assign scheduler_state_notify_drained_o= after_notify;
    assign send_state_valid_o              = announce;
    assign send_state_qpn_o                = after_qpn[23:0];
    assign send_state_state_o              = after_state[2:0];
    assign send_state_gate_o               = gate;
    assign send_state_sl_class_o           = after_sl_class;
    assign send_state_created_o            = is_create;
    assign send_state_notify_drained_o     = after_notify;
    assign receive_state_valid_o           = announce;
    assign receive_state_qpn_o             = after_qpn[23:0];
    assign receive_state_state_o           = after_state[2:0];
    assign receive_state_gate_o            = gate;
    assign receive_state_sl_class_o        = after_sl_class;
    assign receive_state_created_o         = is_create;
    assign receive_state_notify_drained_o  = after_notify;

    assign busy_o = request_valid != 3'b000 || fill_valid_i || filled != {MISSES{1'b0}} || replay || empty != 3'b111;

    // A cycle that is an install's or a replay's refuses nobody for what he lacks.
    wire [2:0] waits_here = install || replay ? 3'b000 : request_valid;

    assign trace_hit_o              = hits;
    assign trace_miss_o             = waits && !merged;
    assign trace_merged_o           = merged;
    assign trace_replay_o           = replayed;
    assign trace_void_write_o       = access && !responds && !changed;
    assign trace_install_o          = install;
    assign trace_installed_slot_o   = {{(24 - SLOT_W) {1'b0}}, fill_slot};
    assign trace_eviction_o         = install && victim_valid;
    assign trace_evicted_slot_o     = {{(24 - SLOT_W) {1'b0}}, victim_holds};
    assign trace_evicted_way_o      = {{(4 - WAY_W) {1'b0}}, victim_way};
    assign trace_writeback_o        = writeback_valid_o;
    assign trace_state_changed_o    = announce;
    assign trace_late_opener_o      = access && is_opener;
    assign trace_changed_qpn_o      = after_qpn[23:0];
    assign trace_changed_reason_o   = is_create ? 3'd0 : reason;
    assign trace_changed_before_o   = is_create ? RESET : state_before;
    assign trace_changed_after_o    = after_state[2:0];
    assign trace_changed_next_psn_o = is_create ? 24'd0 : after_next_psn;
    assign trace_no_room_o          = (waits_here & no_room) != 3'b000 || (replay && !replay_room);
    assign trace_no_place_o         = (waits_here & ~no_room & no_place) != 3'b000;
    assign trace_no_miss_o          = (waits_here & ~no_room & ~no_place & no_miss) != 3'b000;
    assign trace_untold_o           = (waits_here & ~no_room & untold) != 3'b000 ||
                                      (replay && replay_room && replay_announces && !listeners_ready);
    assign trace_held_install_o     = wants_install && !install;

endmodule

`default_nettype wire
