// Send scheduler and send gate. Keeps for each QP the producer index (what the host has posted), the consumer
// index (what has been granted) and the state of the gate, and grants the WQEs between the two to the send
// engine, one QP per cycle, when the gate lets them pass.
//
//   pending  = producer != consumer
//   eligible = pending && (gate is not closed || resend) && not in service && not held
//
// Contract: docs/microarchitecture.md, "Send scheduler and send gate". Pins and timing: docs/rtl.md. A post in RTR
// is taken and waits here (the gate opens with RTS); IBTA 11.4.1.1 would have it refused. ERR and SQE complete
// what is queued with WR_FLUSH_ERR (IBTA 10.3.1), which the engine does for grants with the flush mark.
//
// The order within a cycle is the heart of it. The grant is chosen among the QPs that were eligible at the edge;
// then the state event, the doorbell and the update of this cycle are applied one behind the other, each to
// what the one before has left, and only then is eligibility looked at again. A doorbell and a gate opening,
// in the same cycle or one before the other, therefore cannot miss each other: whichever is second sees what
// the first has done. All four may be about the same QP, hence the forwarding from each to all behind it.
//
// Memories, all read combinationally:
//   entries   QPS x 60 bits   4 reads (granted, state, doorbell, update), 4 writes
//   qpns      QPS x 24 bits   4 reads, 1 write
//   written   1 bit per slot: entries has no reset, and what has not been written reads as zero
//   ready     16 x QPS bits, see ready_bitmap.v
// Four writes per cycle are flip-flops in an ASIC (about 100 per QP) and a live-value table over four copies of
// block RAM in an FPGA; a design for 10^5 QPs would queue the three inputs and apply one per cycle, and pay for
// it with up to three cycles of latency.
// synthesis check: -chparam QPS 16
`default_nettype none

module send_scheduler #(
    parameter QPS = 1024  // QP slots, a power of two, 4 .. 65536
) (
    input  wire         clk_i,
    input  wire         rst_ni,

    input  wire [1:0]   cfg_arbitration_i,      // 0 round robin, 1 weighted, 2 strict
    input  wire         cfg_gate_in_context_i,  // the send engine looks at the gate, in the QP context
    input  wire [6:0]   cfg_burst_i,            // most WQEs of one grant, 1 .. 64
    input  wire [127:0] cfg_weight_i,           // grants per turn of service level i in bits 8i+7 .. 8i, 1 .. 255

    input  wire         doorbell_valid_i,
    output wire         doorbell_ready_o,
    input  wire [23:0]  doorbell_qpn_i,
    input  wire [15:0]  doorbell_producer_i,

    input  wire         state_valid_i,
    output wire         state_ready_o,
    input  wire [23:0]  state_qpn_i,
    input  wire [2:0]   state_state_i,
    input  wire [1:0]   state_gate_i,
    input  wire [3:0]   state_sl_class_i,
    input  wire         state_created_i,
    input  wire         state_notify_drained_i,

    input  wire         update_valid_i,
    output wire         update_ready_o,
    input  wire [23:0]  update_qpn_i,
    input  wire         update_end_service_i,
    input  wire         update_set_consumer_i,
    input  wire [15:0]  update_consumer_i,
    input  wire         update_resend_i,
    input  wire [15:0]  update_resend_until_i,
    input  wire [1:0]   update_hold_i,
    input  wire         update_gate_was_closed_i,

    output wire         grant_valid_o,
    input  wire         grant_ready_i,
    output wire [23:0]  grant_qpn_o,
    output wire [15:0]  grant_first_o,
    output wire [15:0]  grant_count_o,
    output wire         grant_flush_o,

    output wire         busy_o,

    output wire         trace_gate_changed_o,      // the gate of state_qpn_i changes to state_gate_i
    output wire         trace_gate_was_pending_o,  // ... and the QP was pending before the event
    output wire         trace_gate_opened_o,       // ... opens to WQEs first .. end - 1
    output wire [15:0]  trace_gate_first_o,
    output wire [15:0]  trace_gate_end_o,
    output wire         trace_doorbell_stale_o,    // the doorbell is not ahead, or of another QPN
    output wire         trace_doorbell_taken_o,    // it brings WQEs first .. doorbell_producer_i - 1
    output wire         trace_doorbell_open_o,     // ... and finds the gate open
    output wire [15:0]  trace_doorbell_first_o,
    output wire         trace_consumer_set_o,      // the update moves the consumer index of its QP
    output wire         trace_closed_grant_o       // a grant comes back because the engine found the gate closed
);

    localparam SLOT_W = $clog2(QPS);

    localparam [1:0] ROUND_ROBIN = 2'd0;
    localparam [1:0] WEIGHTED    = 2'd1;

    localparam [1:0] CLOSED = 2'd0;
    localparam [1:0] OPEN   = 2'd1;
    localparam [1:0] FLUSH  = 2'd2;

    localparam [1:0] HOLD    = 2'd1;
    localparam [1:0] RELEASE = 2'd2;

    localparam [2:0] STATE_RESET = 3'd0;

    // What is kept per QP. The first 38 bits decide whether it is eligible.
    localparam PRODUCER     = 0;   // 16 bits
    localparam CONSUMER     = 16;  // 16 bits
    localparam GATE         = 32;  // 2 bits
    localparam IN_SERVICE   = 34;  // a grant is with the send engine
    localparam HELD         = 35;  // by the engine: window, RNR wait
    localparam PARKED       = 36;  // gate bits in the context: the gate was found closed
    localparam RESEND       = 37;  // WQEs before resend_until had begun: SQD does not close the gate to them
    localparam CHANGED      = 38;  // the gate has changed since the grant
    localparam LEVEL        = 39;  // 4 bits: service level by which it is arbitrated
    localparam RESEND_UNTIL = 43;  // 16 bits
    localparam NAMED        = 59;  // a state event has come: qpns holds the QPN, which is 0 until then
    localparam ENTRY_W      = 60;

    // Signed distance of two indices in the window of 2^15: a - b < 0, and a - b > 0.
    function behind;
        input [15:0] a;
        input [15:0] b;
        reg   [14:0] unused_bits;
        {behind, unused_bits} = a - b;
    endfunction

    function ahead;
        input [15:0] a;
        input [15:0] b;
        ahead = a != b && !behind(a, b);
    endfunction

    function eligible;
        input [37:0] entry;
        input        in_context;
        eligible = entry[PRODUCER+:16] != entry[CONSUMER+:16] && !entry[IN_SERVICE] && !entry[HELD] &&
                   (entry[GATE+:2] != CLOSED || entry[RESEND] || (in_context && !entry[PARKED]));
    endfunction

    // Policies are taken over while in reset: what is chosen then hangs on registers alone.
    reg [1:0] arbitration;
    reg       gate_in_context;
    reg [6:0] burst;
    always @(posedge clk_i)
        if (!rst_ni) begin
            arbitration     <= cfg_arbitration_i;
            gate_in_context <= cfg_gate_in_context_i;
            burst           <= cfg_burst_i;
        end

    // ---- memories ----

    reg [ENTRY_W-1:0] entries[0:QPS-1];
    reg [23:0]        qpns   [0:QPS-1];

    wire [SLOT_W-1:0] granted_slot;
    wire [SLOT_W-1:0] state_slot    = state_qpn_i[SLOT_W-1:0];
    wire [SLOT_W-1:0] doorbell_slot = doorbell_qpn_i[SLOT_W-1:0];
    wire [SLOT_W-1:0] update_slot   = update_qpn_i[SLOT_W-1:0];

    wire state_written;
    wire doorbell_written;
    wire update_written;
    slot_flags #(
        .SLOTS(QPS),
        .PORTS(3)
    ) written (
        .clk_i(clk_i),
        .rst_ni(rst_ni),
        .slot_i({state_slot, doorbell_slot, update_slot}),
        .is_set_o({state_written, doorbell_written, update_written}),
        .set_i({state_valid_i, doorbell_valid_i, update_valid_i})
    );

    // ---- 1. grant ----

    wire [15:0] nonempty;  // service levels that have an eligible QP (bit 0 alone under round robin)
    reg  [3:0]  turn;      // weighted: service level whose turn it is
    reg  [7:0]  left;      // ... and the grants that are left of it
    reg  [3:0]  ring;
    reg         new_turn;

    // Lowest bit that is set at or above `from`, else the lowest at all.
    function [3:0] next_level;
        input [15:0] levels;
        input [3:0]  from;
        reg   [15:0] above;
        reg   [15:0] lowest;
        begin
            above  = levels & (16'hffff << from);
            above  = above != 16'd0 ? above : levels;
            lowest = above & (~above + 16'd1);
            next_level = {|(lowest & 16'hff00), |(lowest & 16'hf0f0), |(lowest & 16'hcccc), |(lowest & 16'haaaa)};
        end
    endfunction

    function [3:0] highest_level;
        input [15:0] levels;
        reg   [15:0] filled;  // all bits at or below the highest
        reg   [15:0] highest;
        begin
            filled  = levels | levels >> 1;
            filled  = filled | filled >> 2;
            filled  = filled | filled >> 4;
            filled  = filled | filled >> 8;
            highest = filled & ~(filled >> 1);
            highest_level = {
                |(highest & 16'hff00), |(highest & 16'hf0f0), |(highest & 16'hcccc), |(highest & 16'haaaa)
            };
        end
    endfunction

    always @* begin
        new_turn = 1'b0;
        case (arbitration)
            ROUND_ROBIN: ring = 4'd0;
            WEIGHTED: begin
                new_turn = !nonempty[turn] || left == 8'd0;
                ring     = new_turn ? next_level(nonempty, turn + 4'd1) : turn;
            end
            default: ring = highest_level(nonempty);
        endcase
    end

    reg  [SLOT_W-1:0]  from[0:15];  // per ring: behind the last one granted
    wire [SLOT_W-1:0]  ring_from = from[ring];
    wire [ENTRY_W-1:0] granted   = entries[granted_slot];

    // While the gate is closed only what had begun before a go-back-N is granted.
    wire        only_begun = granted[RESEND] && granted[GATE+:2] == CLOSED;
    wire [15:0] waiting    = (only_begun ? granted[RESEND_UNTIL+:16] : granted[PRODUCER+:16]) - granted[CONSUMER+:16];

    assign grant_valid_o = nonempty != 16'd0;
    assign grant_qpn_o   = granted[NAMED] ? qpns[granted_slot] : 24'd0;
    assign grant_first_o = granted[CONSUMER+:16];
    assign grant_count_o = waiting < {9'd0, burst} ? waiting : {9'd0, burst};
    assign grant_flush_o = granted[GATE+:2] == FLUSH;
    wire   grant         = grant_valid_o && grant_ready_i;

    reg [ENTRY_W-1:0] after_grant;
    always @* begin
        after_grant = granted;
        after_grant[CONSUMER+:16] = grant_first_o + grant_count_o;
        after_grant[RESEND]       = granted[RESEND] && ahead(granted[RESEND_UNTIL+:16], after_grant[CONSUMER+:16]);
        after_grant[IN_SERVICE]   = 1'b1;
        after_grant[CHANGED]      = 1'b0;
    end

    // Each of the three inputs below works on the entry of its slot as the steps before it have left it. All of it
    // stands behind the `valid` of the input: what is not there costs no power, and a simulation no time.

    // ---- 2. state event ----

    assign state_ready_o = 1'b1;
    wire unused_bits = &{1'b0, state_notify_drained_i};

    // A new life of the slot: nothing of the old one remains, except that the engine still has a grant of it.
    wire new_life = state_created_i || state_state_i == STATE_RESET;

    wire [ENTRY_W-1:0] state_stored = entries[state_slot];
    reg  [ENTRY_W-1:0] before_state;
    reg  [ENTRY_W-1:0] after_state;
    reg                gate_moves;
    reg                state_was;  // eligible before
    reg                state_is;   // eligible after
    always @* begin
        before_state = {ENTRY_W{1'b0}};
        after_state  = {ENTRY_W{1'b0}};
        gate_moves   = 1'b0;
        state_was    = 1'b0;
        state_is     = 1'b0;
        if (state_valid_i) begin
            if (grant && state_slot == granted_slot) before_state = after_grant;
            else if (state_written) before_state = state_stored;

            after_state[IN_SERVICE] = before_state[IN_SERVICE];
            if (!new_life) after_state = before_state;
            gate_moves = state_gate_i != after_state[GATE+:2];
            after_state[NAMED]    = 1'b1;
            after_state[LEVEL+:4] = state_sl_class_i;
            after_state[GATE+:2]  = state_gate_i;
            if (gate_moves) begin
                after_state[PARKED]  = 1'b0;
                after_state[CHANGED] = 1'b1;
                if (state_gate_i == FLUSH) after_state[HELD] = 1'b0;
            end
            state_was = eligible(before_state[37:0], gate_in_context);
            state_is  = eligible(after_state[37:0], gate_in_context);
        end
    end

    assign trace_gate_changed_o     = gate_moves;
    assign trace_gate_was_pending_o = before_state[PRODUCER+:16] != before_state[CONSUMER+:16];
    assign trace_gate_opened_o      = gate_moves && state_gate_i == OPEN && trace_gate_first_o != trace_gate_end_o;
    assign trace_gate_first_o       = after_state[CONSUMER+:16];
    assign trace_gate_end_o         = after_state[PRODUCER+:16];

    // ---- 3. doorbell ----

    assign doorbell_ready_o = 1'b1;

    wire [ENTRY_W-1:0] doorbell_stored = entries[doorbell_slot];
    wire [23:0]        doorbell_holder = qpns[doorbell_slot];
    reg  [ENTRY_W-1:0] before_doorbell;
    reg  [ENTRY_W-1:0] after_doorbell;
    reg  [23:0]        doorbell_named;  // QPN of the slot
    reg                doorbell_counts;
    reg                doorbell_was;
    reg                doorbell_is;
    always @* begin
        before_doorbell = {ENTRY_W{1'b0}};
        after_doorbell  = {ENTRY_W{1'b0}};
        doorbell_named  = 24'd0;
        doorbell_counts = 1'b0;
        doorbell_was    = 1'b0;
        doorbell_is     = 1'b0;
        if (doorbell_valid_i) begin
            if (state_valid_i && doorbell_slot == state_slot) before_doorbell = after_state;
            else if (grant && doorbell_slot == granted_slot) before_doorbell = after_grant;
            else if (doorbell_written) before_doorbell = doorbell_stored;

            if (state_valid_i && doorbell_slot == state_slot) doorbell_named = state_qpn_i;
            else if (before_doorbell[NAMED]) doorbell_named = doorbell_holder;

            // An index that is not ahead is late or repeated; one of another QPN is of an older life of the slot.
            after_doorbell = before_doorbell;
            if (doorbell_named == doorbell_qpn_i && ahead(doorbell_producer_i, before_doorbell[PRODUCER+:16])) begin
                doorbell_counts = 1'b1;
                after_doorbell[PRODUCER+:16] = doorbell_producer_i;
            end
            doorbell_was = eligible(before_doorbell[37:0], gate_in_context);
            doorbell_is  = eligible(after_doorbell[37:0], gate_in_context);
        end
    end

    assign trace_doorbell_stale_o = doorbell_valid_i && !doorbell_counts;
    assign trace_doorbell_taken_o = doorbell_counts;
    assign trace_doorbell_open_o  = before_doorbell[GATE+:2] == OPEN;
    assign trace_doorbell_first_o = before_doorbell[PRODUCER+:16];

    // ---- 4. update of the send engine ----

    assign update_ready_o = 1'b1;

    wire [ENTRY_W-1:0] update_stored = entries[update_slot];
    wire [23:0]        update_holder = qpns[update_slot];
    reg  [ENTRY_W-1:0] before_update;
    reg  [ENTRY_W-1:0] after_update;
    reg  [23:0]        update_named;
    reg                update_counts;
    reg                sets_consumer;
    reg                update_was;
    reg                update_is;
    always @* begin
        before_update = {ENTRY_W{1'b0}};
        after_update  = {ENTRY_W{1'b0}};
        update_named  = 24'd0;
        update_counts = 1'b0;
        sets_consumer = 1'b0;
        update_was    = 1'b0;
        update_is     = 1'b0;
        if (update_valid_i) begin
            if (doorbell_valid_i && update_slot == doorbell_slot) before_update = after_doorbell;
            else if (state_valid_i && update_slot == state_slot) before_update = after_state;
            else if (grant && update_slot == granted_slot) before_update = after_grant;
            else if (update_written) before_update = update_stored;

            if (state_valid_i && update_slot == state_slot) update_named = state_qpn_i;
            else if (before_update[NAMED]) update_named = update_holder;

            // The end of a grant counts for the slot, whoever holds it now; all else for the QP it names only.
            update_counts = update_named == update_qpn_i;
            // Never beyond what has been posted.
            sets_consumer = update_counts && update_set_consumer_i &&
                            !behind(before_update[PRODUCER+:16], update_consumer_i);
            after_update  = before_update;
            if (update_end_service_i) after_update[IN_SERVICE] = 1'b0;
            // Opened between the grant and now: the engine may have looked before, so it has to look again.
            if (update_counts && update_gate_was_closed_i) after_update[PARKED] = !before_update[CHANGED];
            if (sets_consumer) begin
                after_update[CONSUMER+:16]     = update_consumer_i;
                after_update[RESEND]           = update_resend_i;
                after_update[RESEND_UNTIL+:16] = update_resend_until_i;
            end
            // Nothing holds back a flush.
            if (update_counts && update_hold_i == HOLD) after_update[HELD] = before_update[GATE+:2] != FLUSH;
            if (update_counts && update_hold_i == RELEASE) after_update[HELD] = 1'b0;
            update_was = eligible(before_update[37:0], gate_in_context);
            update_is  = eligible(after_update[37:0], gate_in_context);
        end
    end

    assign trace_consumer_set_o = sets_consumer;
    assign trace_closed_grant_o = update_counts && update_gate_was_closed_i;

    // ---- what is eligible from the next cycle on ----

    // One ring for all under round robin.
    wire [3:0] by_level     = {4{arbitration != ROUND_ROBIN}};
    wire [3:0] left_ring    = before_state[LEVEL+:4] & by_level;
    wire [3:0] state_ring   = state_sl_class_i & by_level;
    wire [3:0] doorbell_ring = before_doorbell[LEVEL+:4] & by_level;
    wire [3:0] update_ring  = before_update[LEVEL+:4] & by_level;
    wire       moves        = left_ring != state_ring;

    // In the order of the cycle; an eligible QP whose service level changes leaves one ring and enters another.
    ready_bitmap #(
        .SLOTS(QPS),
        .RINGS(16),
        .PORTS(5)
    ) ready (
        .clk_i(clk_i),
        .rst_ni(rst_ni),
        .change_valid_i({
            update_was != update_is,
            doorbell_was != doorbell_is,
            state_was != state_is || (moves && state_is),
            moves && state_was,
            grant
        }),
        .change_ring_i({update_ring, doorbell_ring, state_ring, left_ring, ring}),
        .change_slot_i({update_slot, doorbell_slot, state_slot, state_slot, granted_slot}),
        .change_ready_i({update_is, doorbell_is, state_is, 1'b0, 1'b0}),
        .nonempty_o(nonempty),
        .ring_i(ring),
        .from_i(ring_from),
        .next_o(granted_slot)
    );

    assign busy_o = grant_valid_o || state_valid_i || doorbell_valid_i || update_valid_i;

    // Where several are about the same slot, the last one has what all before it did.
    always @(posedge clk_i) begin
        if (grant) entries[granted_slot] <= after_grant;
        if (state_valid_i) entries[state_slot] <= after_state;
        if (doorbell_valid_i) entries[doorbell_slot] <= after_doorbell;
        if (update_valid_i) entries[update_slot] <= after_update;
        if (state_valid_i) qpns[state_slot] <= state_qpn_i;
    end

    integer i;
    always @(posedge clk_i) begin
        if (!rst_ni) begin
            turn <= 4'd0;
            left <= cfg_weight_i[7:0];
            for (i = 0; i < 16; i = i + 1) from[i] <= {SLOT_W{1'b0}};
        end else if (grant) begin
            from[ring] <= granted_slot + 1'b1;
            if (arbitration == WEIGHTED) begin
                turn <= ring;
                left <= (new_turn ? cfg_weight_i[8*ring+:8] : left) - 8'd1;
            end
        end
    end

endmodule

`default_nettype wire
