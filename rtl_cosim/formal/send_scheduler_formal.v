// Send scheduler of 8 slots, all policies. Two slots, which may be any, are accounted for by the text of the contract
// (docs/microarchitecture.md, "Send scheduler and send gate"), one input behind the other:
//  - a slot is granted only while it is eligible: never, above all, while its gate is closed, except what had begun
//    before a go-back-N (or, with the gate in the context, for the engine to look); and with the right QPN, WQEs, mark;
//  - no wake-up is lost: when one is eligible there is a grant, whatever doorbell, gate and update met in whichever
//    cycle before;
//  - round robin: one that stays eligible is granted within 8 grants, and no other one twice before it;
//  - strict: no grant passes a higher service level;
//  - weighted: a service level does not get more than its weight while another one waits.
// Inputs come in any combination in every cycle. QPNs vary in the slot and one bit more, indices in the upper two and
// the lower two bits, service levels are 0, 1, 8 and 9, weights and bursts 1 to 3.
// depth: 5
// mode: bmc
// sources: send_scheduler.v ready_bitmap.v ready_bitmap_level.v slot_flags.v
`default_nettype none

module send_scheduler_formal (
    input wire       clk_i,
    // Chosen by the solver, in every cycle.
    input wire       doorbell_valid_i,
    input wire [3:0] doorbell_number_i,
    input wire [1:0] doorbell_index_i,
    input wire       state_valid_i,
    input wire [3:0] state_number_i,
    input wire       state_is_reset_i,
    input wire [1:0] state_gate_i,
    input wire [1:0] state_level_i,
    input wire       state_created_i,
    input wire       update_valid_i,
    input wire [3:0] update_number_i,
    input wire       update_end_service_i,
    input wire       update_set_consumer_i,
    input wire [1:0] update_index_i,
    input wire       update_resend_i,
    input wire [1:0] update_until_i,
    input wire [1:0] update_hold_i,
    input wire       update_gate_was_closed_i,
    input wire       grant_ready_i
);

    localparam [2:0] slot_a = 3'd2;
    localparam [2:0] slot_b = 3'd5;
    (* anyconst *) reg [1:0] arbitration;
    (* anyconst *) reg       in_context;
    (* anyconst *) reg [1:0] burst;
    (* anyconst *) reg [7:0] weights;  // of levels 0, 1, 8, 9

    reg rst_n = 1'b0;
    always @(posedge clk_i) rst_n <= 1'b1;

    always @* begin
        assume (arbitration != 2'd3);
        assume (burst != 2'd0);
        assume (weights[1:0] != 2'd0 && weights[3:2] != 2'd0 && weights[5:4] != 2'd0 && weights[7:6] != 2'd0);
        assume (state_gate_i != 2'd3);
        assume (update_hold_i != 2'd3);
        if (update_resend_i) assume (update_until_i > update_index_i);
    end

    function [23:0] qpn_of;
        input [3:0] number;
        qpn_of = {1'b0, number[3], 19'd0, number[2:0]};
    endfunction

    function [15:0] index_of;
        input [1:0] bits;
        index_of = {14'd0, bits[1:0]};
    endfunction

    wire [23:0] doorbell_qpn    = qpn_of(doorbell_number_i);
    wire [15:0] doorbell_index  = index_of(doorbell_index_i);
    wire [23:0] state_qpn       = qpn_of(state_number_i);
    wire [3:0]  state_level     = {state_level_i[1], 2'b00, state_level_i[0]};
    wire [23:0] update_qpn      = qpn_of(update_number_i);
    wire [15:0] update_consumer = index_of(update_index_i);
    wire [15:0] update_until    = index_of(update_until_i);
    wire        new_life        = state_created_i || state_is_reset_i;

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
        .cfg_burst_i({5'd0, burst}),
        .cfg_weight_i({48'd0, 6'd0, weights[7:6], 6'd0, weights[5:4], 48'd0, 6'd0, weights[3:2], 6'd0, weights[1:0]}),
        .doorbell_valid_i(doorbell_valid_i),
        .doorbell_ready_o(doorbell_ready),
        .doorbell_qpn_i(doorbell_qpn),
        .doorbell_producer_i(doorbell_index),
        .state_valid_i(state_valid_i),
        .state_ready_o(state_ready),
        .state_qpn_i(state_qpn),
        .state_state_i(state_is_reset_i ? 3'd0 : 3'd3),
        .state_gate_i(state_gate_i),
        .state_sl_class_i(state_level),
        .state_created_i(state_created_i),
        .state_notify_drained_i(1'b0),
        .update_valid_i(update_valid_i),
        .update_ready_o(update_ready),
        .update_qpn_i(update_qpn),
        .update_end_service_i(update_end_service_i),
        .update_set_consumer_i(update_set_consumer_i),
        .update_consumer_i(update_consumer),
        .update_resend_i(update_resend_i),
        .update_resend_until_i(update_until),
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

    wire grant = grant_valid && grant_ready_i;

    // ---- the accounts ----

    wire [1:0]  here_eligible;
    wire [31:0] here_rings;
    wire [7:0]  here_level;
    wire [47:0] here_qpn;
    wire [31:0] here_first;
    wire [31:0] here_count;
    wire [1:0]  here_flush;

    genvar n;
    generate
        for (n = 0; n < 2; n = n + 1) begin : account
            scheduler_account of_slot (
                .clk_i(clk_i),
                .rst_ni(rst_n),
                .slot_i(n == 0 ? slot_a : slot_b),
                .in_context_i(in_context),
                .one_ring_i(arbitration == 2'd0),
                .burst_i(burst),
                .granted_i(grant && grant_qpn[2:0] == (n == 0 ? slot_a : slot_b)),
                .state_valid_i(state_valid_i),
                .state_qpn_i(state_qpn),
                .state_gate_i(state_gate_i),
                .state_level_i(state_level),
                .state_new_life_i(new_life),
                .doorbell_valid_i(doorbell_valid_i),
                .doorbell_qpn_i(doorbell_qpn),
                .doorbell_index_i(doorbell_index),
                .update_valid_i(update_valid_i),
                .update_qpn_i(update_qpn),
                .update_end_service_i(update_end_service_i),
                .update_set_consumer_i(update_set_consumer_i),
                .update_consumer_i(update_consumer),
                .update_resend_i(update_resend_i),
                .update_until_i(update_until),
                .update_hold_i(update_hold_i),
                .update_gate_was_closed_i(update_gate_was_closed_i),
                .eligible_o(here_eligible[n]),
                .rings_o(here_rings[16*n+:16]),
                .level_o(here_level[4*n+:4]),
                .qpn_o(here_qpn[24*n+:24]),
                .first_o(here_first[16*n+:16]),
                .count_o(here_count[16*n+:16]),
                .flush_o(here_flush[n])
            );
        end
    endgenerate

    wire [3:0] level_a = here_level[3:0];
    wire [3:0] level_b = here_level[7:4];
    wire [1:0] weight_b = level_b == 4'd0 ? weights[1:0] : level_b == 4'd1 ? weights[3:2] :
                          level_b == 4'd8 ? weights[5:4] : weights[7:6];

    // While a has been eligible without a break: grants to others, and to b; and, as long as b alone is granted, from
    // another service level than a's, how many.
    reg [3:0] others;
    reg [1:0] to_b;
    reg [2:0] b_alone;
    always @(posedge clk_i)
        if (!rst_n || !here_eligible[0] || (grant && grant_qpn[2:0] == slot_a)) begin
            others  <= 4'd0;
            to_b    <= 2'd0;
            b_alone <= 3'd0;
        end else if (grant) begin
            others <= others + 4'd1;
            if (grant_qpn[2:0] != slot_b || level_b == level_a) b_alone <= 3'd0;
            else if (!b_alone[2]) b_alone <= b_alone + 3'd1;
            if (grant_qpn[2:0] == slot_b) to_b <= to_b + 2'd1;
        end

    // b's level does not change while it is counted.
    reg [3:0] last_level_b;
    always @(posedge clk_i) begin
        last_level_b <= level_b;
        if (state_valid_i && b_alone != 3'd0) assume (state_number_i[2:0] != slot_b && state_number_i[2:0] != slot_a);
    end

    always @(posedge clk_i)
        if (rst_n) begin
            assert (doorbell_ready && state_ready && update_ready);
            assert (here_rings[15:0] == {15'd0, here_eligible[0]} << (arbitration == 2'd0 ? 4'd0 : level_a));
            assert (here_rings[31:16] == {15'd0, here_eligible[1]} << (arbitration == 2'd0 ? 4'd0 : level_b));
            assert (grant_valid || here_eligible == 2'b00);
            if (grant_valid) assert (busy);
            if (grant_valid && grant_qpn[2:0] == slot_a) begin
                assert (here_eligible[0]);
                assert (grant_qpn == here_qpn[23:0]);
                assert (grant_first == here_first[15:0]);
                assert (grant_count == here_count[15:0]);
                assert (grant_flush == here_flush[0]);
            end
            if (grant_valid && grant_qpn[2:0] == slot_b) assert (here_eligible[1]);
            if (arbitration == 2'd0) begin
                assert (others < 4'd8);
                assert (to_b < 2'd2);
            end
            if (arbitration == 2'd1 && level_b == last_level_b) assert (b_alone <= {1'b0, weight_b});
            if (arbitration == 2'd2 && grant_valid && grant_qpn[2:0] == slot_b && here_eligible[0])
                assert (level_b >= level_a);
        end

endmodule

// What one slot holds.
module scheduler_account (
    input  wire        clk_i,
    input  wire        rst_ni,
    input  wire [2:0]  slot_i,
    input  wire        in_context_i,
    input  wire        one_ring_i,
    input  wire [1:0]  burst_i,
    input  wire        granted_i,
    input  wire        state_valid_i,
    input  wire [23:0] state_qpn_i,
    input  wire [1:0]  state_gate_i,
    input  wire [3:0]  state_level_i,
    input  wire        state_new_life_i,
    input  wire        doorbell_valid_i,
    input  wire [23:0] doorbell_qpn_i,
    input  wire [15:0] doorbell_index_i,
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
    output reg  [15:0] rings_o,  // ring in which the slot stands, while it is eligible
    output wire [3:0]  level_o,
    output wire [23:0] qpn_o,
    output wire [15:0] first_o,
    output wire [15:0] count_o,
    output wire        flush_o
);

    reg [23:0] qpn;
    reg [15:0] producer, consumer, until;
    reg [3:0]  level;
    reg [1:0]  gate;
    reg        in_service, held, parked, moved, resend;

    wire        closed  = gate == 2'd0;
    wire [15:0] waiting = (closed && resend ? until : producer) - consumer;

    assign eligible_o = producer != consumer && (!closed || resend || (in_context_i && !parked)) && !in_service && !held;
    assign level_o    = level;
    assign qpn_o      = qpn;
    assign first_o    = consumer;
    assign count_o    = waiting > {14'd0, burst_i} ? {14'd0, burst_i} : waiting;
    assign flush_o    = gate == 2'd2;

    always @(posedge clk_i)
        if (!rst_ni) begin
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
            rings_o    = 16'd0;
        end else begin
            if (granted_i) begin
                consumer   = consumer + count_o;
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
                qpn   = state_qpn_i;
                level = state_level_i;
                if (gate != state_gate_i) begin
                    parked = 1'b0;
                    moved  = 1'b1;
                    if (state_gate_i == 2'd2) held = 1'b0;
                end
                gate = state_gate_i;
            end
            if (doorbell_valid_i && doorbell_qpn_i == qpn && doorbell_qpn_i[2:0] == slot_i &&
                $signed(doorbell_index_i - producer) > $signed(16'd0))
                producer = doorbell_index_i;
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
            rings_o = 16'd0;
            rings_o[one_ring_i ? 4'd0 : level] = producer != consumer &&
                (gate != 2'd0 || resend || (in_context_i && !parked)) && !in_service && !held;
        end

endmodule

`default_nettype wire
