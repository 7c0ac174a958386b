// Send scheduler of 8 slots, in runs of any length: all policies, all inputs in any combination in every cycle. One
// slot, which may be any, is accounted for by the text of the contract (docs/microarchitecture.md, "Send scheduler and
// send gate"), one input behind the other, without forwarding, bitmaps or priority encoders:
//  - it is granted only while it is eligible: never, above all, while its gate is closed, except what had begun before
//    a go-back-N (or, with the gate in the context, for the engine to look); and with the right QPN, WQEs and mark;
//  - no doorbell is lost, and no wake-up: the slot is in the ready set exactly while it is eligible, and then there is
//    a grant, whatever doorbell, gate, grant and update have met in whichever cycle before;
//  - round robin: while it stays eligible there are at most 7 grants to others before its own;
//  - strict: it passes no higher service level, and is passed by no lower one; within its level as round robin;
//  - weighted: while it waits every other level has at most one turn before its own level has one, and at most its
//    weight in a row; within its level as round robin.
// Weights are 1 or more; nothing else is assumed.
// depth: 2
// mode: induction
// engine: ind
// sources: send_scheduler.v ready_bitmap.v ready_bitmap_level.v slot_flags.v
`default_nettype none

module send_scheduler_formal (
    input wire        clk_i,
    // Chosen by the solver, in every cycle.
    input wire        doorbell_valid_i,
    input wire [23:0] doorbell_qpn_i,
    input wire [15:0] doorbell_producer_i,
    input wire        state_valid_i,
    input wire [23:0] state_qpn_i,
    input wire [2:0]  state_state_i,
    input wire [1:0]  state_gate_i,
    input wire [3:0]  state_level_i,
    input wire        state_created_i,
    input wire        update_valid_i,
    input wire [23:0] update_qpn_i,
    input wire        update_end_service_i,
    input wire        update_set_consumer_i,
    input wire [15:0] update_consumer_i,
    input wire        update_resend_i,
    input wire [15:0] update_until_i,
    input wire [1:0]  update_hold_i,
    input wire        update_gate_was_closed_i,
    input wire        grant_ready_i
);

    (* anyconst *) reg [2:0]   slot;  // the one that is watched
    (* anyconst *) reg [1:0]   arbitration;
    (* anyconst *) reg         in_context;
    (* anyconst *) reg [6:0]   burst;
    (* anyconst *) reg [127:0] weights;

    wire round_robin = arbitration == 2'd0;
    wire weighted    = arbitration == 2'd1;
    wire strict      = arbitration == 2'd2 || arbitration == 2'd3;

    reg rst_n = 1'b0;
    always @(posedge clk_i) rst_n <= 1'b1;

    wire        doorbell_ready;
    wire        state_ready;
    wire        update_ready;
    wire        grant_valid;
    wire [23:0] grant_qpn;
    wire [15:0] grant_first;
    wire [15:0] grant_count;
    wire        grant_flush;
    wire        busy;

    send_scheduler #(
        .QPS(8)
    ) dut (
        .clk_i(clk_i),
        .rst_ni(rst_n),
        .cfg_arbitration_i(arbitration),
        .cfg_gate_in_context_i(in_context),
        .cfg_burst_i(burst),
        .cfg_weight_i(weights),
        .doorbell_valid_i(doorbell_valid_i),
        .doorbell_ready_o(doorbell_ready),
        .doorbell_qpn_i(doorbell_qpn_i),
        .doorbell_producer_i(doorbell_producer_i),
        .state_valid_i(state_valid_i),
        .state_ready_o(state_ready),
        .state_qpn_i(state_qpn_i),
        .state_state_i(state_state_i),
        .state_gate_i(state_gate_i),
        .state_sl_class_i(state_level_i),
        .state_created_i(state_created_i),
        .state_notify_drained_i(1'b0),
        .update_valid_i(update_valid_i),
        .update_ready_o(update_ready),
        .update_qpn_i(update_qpn_i),
        .update_end_service_i(update_end_service_i),
        .update_set_consumer_i(update_set_consumer_i),
        .update_consumer_i(update_consumer_i),
        .update_resend_i(update_resend_i),
        .update_resend_until_i(update_until_i),
        .update_hold_i(update_hold_i),
        .update_gate_was_closed_i(update_gate_was_closed_i),
        .grant_valid_o(grant_valid),
        .grant_ready_i(grant_ready_i),
        .grant_qpn_o(grant_qpn),
        .grant_first_o(grant_first),
        .grant_count_o(grant_count),
        .grant_flush_o(grant_flush),
        .busy_o(busy),
        .trace_gate_changed_o(),
        .trace_gate_was_pending_o(),
        .trace_gate_opened_o(),
        .trace_gate_first_o(),
        .trace_gate_end_o(),
        .trace_doorbell_stale_o(),
        .trace_doorbell_taken_o(),
        .trace_doorbell_open_o(),
        .trace_doorbell_first_o(),
        .trace_consumer_set_o(),
        .trace_closed_grant_o()
    );

    // ---- what the design keeps ----

    (* hierconn *) wire [2:0]  \dut.granted_slot ;
    (* hierconn *) wire [3:0]  \dut.ring ;
    (* hierconn *) wire [3:0]  \dut.turn ;
    (* hierconn *) wire [7:0]  \dut.left ;
    (* hierconn *) wire [1:0]  \dut.arbitration ;
    (* hierconn *) wire        \dut.gate_in_context ;
    (* hierconn *) wire [6:0]  \dut.burst ;
    (* hierconn *) wire [15:0] \dut.ready.nonempty ;
    (* hierconn *) wire [1:0]  \dut.written.used ;
    (* hierconn *) wire [59:0]
        \dut.entries[0] , \dut.entries[1] , \dut.entries[2] , \dut.entries[3] ,
        \dut.entries[4] , \dut.entries[5] , \dut.entries[6] , \dut.entries[7] ;
    (* hierconn *) wire [23:0]
        \dut.qpns[0] , \dut.qpns[1] , \dut.qpns[2] , \dut.qpns[3] ,
        \dut.qpns[4] , \dut.qpns[5] , \dut.qpns[6] , \dut.qpns[7] ;
    (* hierconn *) wire [3:0]
        \dut.written.words[0] , \dut.written.words[1] ;
    (* hierconn *) wire [7:0]
        \dut.ready.level[0].storage.words[0] , \dut.ready.level[0].storage.words[1] ,
        \dut.ready.level[0].storage.words[2] , \dut.ready.level[0].storage.words[3] ,
        \dut.ready.level[0].storage.words[4] , \dut.ready.level[0].storage.words[5] ,
        \dut.ready.level[0].storage.words[6] , \dut.ready.level[0].storage.words[7] ,
        \dut.ready.level[0].storage.words[8] , \dut.ready.level[0].storage.words[9] ,
        \dut.ready.level[0].storage.words[10] , \dut.ready.level[0].storage.words[11] ,
        \dut.ready.level[0].storage.words[12] , \dut.ready.level[0].storage.words[13] ,
        \dut.ready.level[0].storage.words[14] , \dut.ready.level[0].storage.words[15] ;
    (* hierconn *) wire [2:0]
        \dut.from[0] , \dut.from[1] , \dut.from[2] , \dut.from[3] , \dut.from[4] , \dut.from[5] , \dut.from[6] , \dut.from[7] ,
        \dut.from[8] , \dut.from[9] , \dut.from[10] , \dut.from[11] , \dut.from[12] , \dut.from[13] , \dut.from[14] , \dut.from[15] ;

    wire [2:0]  granted_slot = \dut.granted_slot ;
    wire [3:0]  ring         = \dut.ring ;
    wire [3:0]  turn         = \dut.turn ;
    wire [7:0]  left         = \dut.left ;
    wire [15:0] nonempty     = \dut.ready.nonempty ;
    wire [1:0]  used         = \dut.written.used ;
    wire [479:0] entries = {
        \dut.entries[7] , \dut.entries[6] , \dut.entries[5] , \dut.entries[4] ,
        \dut.entries[3] , \dut.entries[2] , \dut.entries[1] , \dut.entries[0]
    };
    wire [191:0] qpns = {
        \dut.qpns[7] , \dut.qpns[6] , \dut.qpns[5] , \dut.qpns[4] ,
        \dut.qpns[3] , \dut.qpns[2] , \dut.qpns[1] , \dut.qpns[0]
    };
    wire [7:0] written_words = {
        \dut.written.words[1] , \dut.written.words[0]
    };
    wire [127:0] ready_words = {
        \dut.ready.level[0].storage.words[15] , \dut.ready.level[0].storage.words[14] ,
        \dut.ready.level[0].storage.words[13] , \dut.ready.level[0].storage.words[12] ,
        \dut.ready.level[0].storage.words[11] , \dut.ready.level[0].storage.words[10] ,
        \dut.ready.level[0].storage.words[9] , \dut.ready.level[0].storage.words[8] ,
        \dut.ready.level[0].storage.words[7] , \dut.ready.level[0].storage.words[6] ,
        \dut.ready.level[0].storage.words[5] , \dut.ready.level[0].storage.words[4] ,
        \dut.ready.level[0].storage.words[3] , \dut.ready.level[0].storage.words[2] ,
        \dut.ready.level[0].storage.words[1] , \dut.ready.level[0].storage.words[0]
    };
    wire [47:0] from = {
        \dut.from[15] , \dut.from[14] , \dut.from[13] , \dut.from[12] , \dut.from[11] , \dut.from[10] , \dut.from[9] , \dut.from[8] ,
        \dut.from[7] , \dut.from[6] , \dut.from[5] , \dut.from[4] , \dut.from[3] , \dut.from[2] , \dut.from[1] , \dut.from[0]
    };

    // Of the watched slot. An entry that has not been written reads as zero.
    wire        written = used[slot[2]] && written_words[slot];
    wire [59:0] stored;
    wire [59:0] entry   = written ? stored : 60'd0;
    wire [23:0] qpn;
    chosen_word #(.WIDTH(60), .CHOICE_W(3)) of_entries (.words_i(entries), .choice_i(slot), .word_o(stored));
    chosen_word #(.WIDTH(24), .CHOICE_W(3)) of_qpns (.words_i(qpns), .choice_i(slot), .word_o(qpn));

    // The rings in which it stands; and what makes a ring count: one that is not empty has a member, and under round
    // robin there is one ring only.
    reg  [15:0] in_rings;
    reg         rings_right;
    reg  [7:0]  members;
    integer     r;
    always @* begin
        rings_right = !round_robin || nonempty[15:1] == 15'd0;
        for (r = 0; r < 16; r = r + 1) begin
            members = ready_words[8*r+:8];
            in_rings[r] = nonempty[r] && members[slot];
            if (nonempty[r] && members == 8'd0) rings_right = 1'b0;
        end
    end

    // ---- the account ----

    wire grant   = grant_valid && grant_ready_i;
    wire is_mine = granted_slot == slot;

    wire        eligible;
    wire        closed;
    wire        resend;
    wire        parked;
    wire [59:0] here_entry;
    wire [3:0]  here_level;
    wire [23:0] here_qpn;
    wire [15:0] here_first;
    wire [15:0] here_count;
    wire        here_flush;
    scheduler_account account (
        .clk_i(clk_i),
        .rst_ni(rst_n),
        .slot_i(slot),
        .in_context_i(in_context),
        .burst_i(burst),
        .granted_i(grant && is_mine),
        .granted_end_i(grant_first + grant_count),
        .state_valid_i(state_valid_i),
        .state_qpn_i(state_qpn_i),
        .state_gate_i(state_gate_i),
        .state_level_i(state_level_i),
        .state_new_life_i(state_created_i || state_state_i == 3'd0),
        .doorbell_valid_i(doorbell_valid_i),
        .doorbell_qpn_i(doorbell_qpn_i),
        .doorbell_producer_i(doorbell_producer_i),
        .update_valid_i(update_valid_i),
        .update_qpn_i(update_qpn_i),
        .update_end_service_i(update_end_service_i),
        .update_set_consumer_i(update_set_consumer_i),
        .update_consumer_i(update_consumer_i),
        .update_resend_i(update_resend_i),
        .update_until_i(update_until_i),
        .update_hold_i(update_hold_i),
        .update_gate_was_closed_i(update_gate_was_closed_i),
        .eligible_o(eligible),
        .closed_o(closed),
        .resend_o(resend),
        .parked_o(parked),
        .entry_o(here_entry),
        .level_o(here_level),
        .qpn_o(here_qpn),
        .first_o(here_first),
        .count_o(here_count),
        .flush_o(here_flush)
    );

    wire [3:0] here_ring = round_robin ? 4'd0 : here_level;

    // While it stays eligible in one ring:
    wire starts_again = !eligible || (grant && is_mine) ||
                        (state_valid_i && state_qpn_i[2:0] == slot && !round_robin && state_level_i != here_level);
    reg  [3:0] others;    // grants to others of its ring
    reg  [4:0] turns;     // turns of other levels since its own had one
    reg  [8:0] in_a_row;  // grants of the other level that has been granted last
    always @(posedge clk_i)
        if (!rst_n || starts_again) begin
            others   <= 4'd0;
            turns    <= 5'd0;
            in_a_row <= 9'd0;
        end else if (grant) begin
            if (ring == here_ring) begin
                others   <= others + 4'd1;
                turns    <= 5'd0;
                in_a_row <= 9'd0;
            end else begin
                if (ring != turn) turns <= turns + 5'd1;
                in_a_row <= ring == turn ? in_a_row + 9'd1 : 9'd1;
            end
        end

    // ---- what is proved ----

    // Each of these follows from all of them one cycle before: they are proved as one. First what carries the rest.
    wire policies = \dut.arbitration == arbitration && \dut.gate_in_context == in_context && \dut.burst == burst;
    wire same     = entry == here_entry && (!entry[59] || qpn == here_qpn);
    // Without a QPN a slot answers to QPN 0, which is that of slot 0.
    wire named    = entry[59] ? here_qpn[2:0] == slot
                              : here_qpn == 24'd0 && (slot == 3'd0 || here_entry[15:0] == here_entry[31:16]);
    wire in_ready = in_rings == {15'd0, eligible} << here_ring;

    // How far its slot is ahead of the search in its ring, and its level ahead of the one that has the turn: both only
    // become less while it waits.
    wire [2:0] search;
    wire [7:0] weight;
    chosen_word #(.WIDTH(3), .CHOICE_W(4)) of_from (.words_i(from), .choice_i(here_ring), .word_o(search));
    chosen_word #(.WIDTH(8), .CHOICE_W(4)) of_weights (.words_i(weights), .choice_i(turn), .word_o(weight));
    wire [2:0] steps    = slot - search;
    wire [3:0] levels   = here_ring - turn;
    wire       searched = !eligible || {1'b0, others} + {2'd0, steps} <= 5'd7;
    wire       turned   = !weighted || (left <= weight && (!eligible || (levels == 4'd0
                                                                ? turns == 5'd0 && in_a_row == 9'd0
                                                                : {1'b0, turns} + {2'd0, levels} <= 6'd16 &&
                                                                  in_a_row + {1'b0, left} <= {1'b0, weight})));

    wire all_taken = doorbell_ready && state_ready && update_ready;
    wire gate_kept = !(grant_valid && is_mine && closed) || resend || (in_context && !parked);
    wire right     = !(grant_valid && is_mine) ||
                     (eligible && ring == here_ring && grant_qpn == here_qpn && grant_qpn[2:0] == slot &&
                      grant_first == here_first && grant_count == here_count && grant_flush == here_flush);
    wire not_lost  = (!eligible || grant_valid) && (!grant_valid || busy);
    wire in_turn   = !eligible || (others <= 4'd7 && (!weighted || (turns <= 5'd15 && in_a_row <= {1'b0, weight})));
    wire in_order  = !strict || ((!eligible || ring >= here_ring) &&
                                 (!(grant_valid && is_mine) || nonempty >> here_ring == 16'd1));

    reg     weights_right;
    integer w;
    always @* begin
        weights_right = 1'b1;
        for (w = 0; w < 16; w = w + 1) if (weights[8*w+:8] == 8'd0) weights_right = 1'b0;
    end

    always @(posedge clk_i) begin
        assume (weights_right);
        if (rst_n)
            assert (policies && same && named && rings_right && in_ready && searched && turned && all_taken && gate_kept &&
                    right && not_lost && in_turn && in_order);
    end

endmodule

// One of several words, as the memories of the design are read.
module chosen_word #(
    parameter WIDTH    = 8,
    parameter CHOICE_W = 3
) (
    input  wire [(WIDTH<<CHOICE_W)-1:0] words_i,
    input  wire [CHOICE_W-1:0]          choice_i,
    output wire [WIDTH-1:0]             word_o
);

    reg [(WIDTH<<CHOICE_W)-1:0] left;
    integer                     b;
    always @* begin
        left = words_i;
        for (b = CHOICE_W - 1; b >= 0; b = b - 1) if (choice_i[b]) left = left >> (WIDTH << b);
    end
    assign word_o = left[WIDTH-1:0];

endmodule

// What one slot holds, and whether it is eligible.
module scheduler_account (
    input  wire        clk_i,
    input  wire        rst_ni,
    input  wire [2:0]  slot_i,
    input  wire        in_context_i,
    input  wire [6:0]  burst_i,
    input  wire        granted_i,
    input  wire [15:0] granted_end_i,  // first and count are compared with its own
    input  wire        state_valid_i,
    input  wire [23:0] state_qpn_i,
    input  wire [1:0]  state_gate_i,
    input  wire [3:0]  state_level_i,
    input  wire        state_new_life_i,
    input  wire        doorbell_valid_i,
    input  wire [23:0] doorbell_qpn_i,
    input  wire [15:0] doorbell_producer_i,
    input  wire        update_valid_i,
    input  wire [23:0] update_qpn_i,
    input  wire        update_end_service_i,
    input  wire        update_set_consumer_i,
    input  wire [15:0] update_consumer_i,
    input  wire        update_resend_i,
    input  wire [15:0] update_until_i,
    input  wire [1:0]  update_hold_i,
    input  wire        update_gate_was_closed_i,
    output wire        eligible_o,
    output wire        closed_o,
    output wire        resend_o,
    output wire        parked_o,
    output wire [59:0] entry_o,  // as the design keeps it
    output wire [3:0]  level_o,
    output wire [23:0] qpn_o,
    output wire [15:0] first_o,
    output wire [15:0] count_o,
    output wire        flush_o
);

    reg        named;  // by a state event; until then the QPN is 0
    reg [23:0] qpn;
    reg [15:0] producer, consumer, until;
    reg [3:0]  level;
    reg [1:0]  gate;
    reg        in_service, held, parked, moved, resend;

    wire        closed  = gate == 2'd0;
    wire [15:0] waiting = (closed && resend ? until : producer) - consumer;

    assign eligible_o = producer != consumer && (!closed || resend || (in_context_i && !parked)) && !in_service && !held;
    assign closed_o   = closed;
    assign resend_o   = resend;
    assign parked_o   = parked;
    assign entry_o    = {named, until, level, moved, resend, parked, held, in_service, gate, consumer, producer};
    assign level_o    = level;
    assign qpn_o      = qpn;
    assign first_o    = consumer;
    assign count_o    = waiting < {9'd0, burst_i} ? waiting : {9'd0, burst_i};
    assign flush_o    = gate == 2'd2;

    always @(posedge clk_i)
        if (!rst_ni) begin
            named      = 1'b0;
            qpn        = 24'd0;
            producer   = 16'd0;
            consumer   = 16'd0;
            until      = 16'd0;
            level      = 4'd0;
            gate       = 2'd0;
            in_service = 1'b0;
            held       = 1'b0;
            parked     = 1'b0;
            moved      = 1'b0;
            resend     = 1'b0;
        end else begin
            if (granted_i) begin
                consumer   = granted_end_i;
                in_service = 1'b1;
                moved      = 1'b0;
                if ($signed(until - consumer) <= $signed(16'd0)) resend = 1'b0;
            end
            if (state_valid_i && state_qpn_i[2:0] == slot_i) begin
                if (state_new_life_i) begin
                    producer = 16'd0;
                    consumer = 16'd0;
                    until    = 16'd0;
                    gate     = 2'd0;
                    held     = 1'b0;
                    parked   = 1'b0;
                    moved    = 1'b0;
                    resend   = 1'b0;
                end
                named = 1'b1;
                qpn   = state_qpn_i;
                level = state_level_i;
                if (gate != state_gate_i) begin
                    parked = 1'b0;
                    moved  = 1'b1;
                    if (state_gate_i == 2'd2) held = 1'b0;
                end
                gate = state_gate_i;
            end
            if (doorbell_valid_i && doorbell_qpn_i[2:0] == slot_i && doorbell_qpn_i == qpn &&
                $signed(doorbell_producer_i - producer) > $signed(16'd0))
                producer = doorbell_producer_i;
            if (update_valid_i && update_qpn_i[2:0] == slot_i) begin
                if (update_end_service_i) in_service = 1'b0;
                if (update_qpn_i == qpn) begin
                    if (update_gate_was_closed_i) parked = !moved;
                    if (update_set_consumer_i && $signed(producer - update_consumer_i) >= $signed(16'd0)) begin
                        consumer = update_consumer_i;
                        resend   = update_resend_i;
                        until    = update_until_i;
                    end
                    case (update_hold_i)
                        2'd1: held = gate != 2'd2;
                        2'd2: held = 1'b0;
                    endcase
                end
            end
        end

endmodule

`default_nettype wire
