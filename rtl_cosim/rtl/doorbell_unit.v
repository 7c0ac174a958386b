// Doorbell unit: decodes the 8-byte words that the host writes to UAR pages. Doorbells of send queues wait in
// a FIFO of QPs, where a further doorbell of a QP that waits already only moves that QP's producer index, and
// only forward; those of receive queues, CQs and event queues pass in the cycle in which they come.
//
// Contract: docs/microarchitecture.md, "Doorbell unit". Pins and timing: docs/rtl.md.
//
// Where a QP stands in the FIFO is looked up by slot (QPN modulo QPS) in `places`, one access instead of a
// compare with all entries. That table is never cleared and needs no reset: what it says counts only if the
// entry it points to is in the FIFO and carries the QPN asked for, and every entry that enters writes its own
// place. A stale or random place points to no entry, or to one of another slot, and fails that test.
//
// Memories, all read combinationally (flip-flops or distributed RAM; `places` of a card with many QPs needs a
// second pipeline stage before it fits a block RAM):
//   qpns       DEPTH x 24            2 reads (head, lookup), 1 write
//   producers  DEPTH x 16            2 reads, 1 write
//   places     QPS x log2(DEPTH)     1 read, 1 write
// synthesis check: -chparam QPS 64
`default_nettype none

module doorbell_unit #(
    parameter QPS   = 1024,  // QP slots, a power of two
    parameter DEPTH = 32     // entries of the FIFO, at least 1
) (
    input  wire        clk_i,
    input  wire        rst_ni,

    // A doorbell of a QP that waits in the FIFO moves its entry's index; else each takes an entry of its own.
    input  wire        cfg_coalesce_i,

    input  wire        write_valid_i,
    output wire        write_ready_o,
    input  wire [63:0] write_word_i,

    output wire        send_valid_o,
    input  wire        send_ready_i,
    output wire [23:0] send_qpn_o,
    output wire [15:0] send_producer_o,

    output wire        receive_valid_o,
    input  wire        receive_ready_i,
    output wire [23:0] receive_qpn_o,
    output wire [15:0] receive_producer_o,

    output wire        cq_valid_o,
    input  wire        cq_ready_i,
    output wire [23:0] cq_cqn_o,
    output wire [15:0] cq_consumer_o,
    output wire        cq_event_queue_o,

    output wire        busy_o,

    output wire        trace_received_o,   // a word of any type is taken
    output wire        trace_coalesced_o,  // ... moves the index of an entry
    output wire        trace_stale_o,      // ... is not ahead of its entry
    output wire        trace_unknown_o,    // ... is of a type not known, and dropped
    output wire        trace_full_o,       // a word finds the FIFO full (its first cycle only)
    output wire        trace_merged_o,     // a send-queue doorbell is taken:
    output wire [23:0] trace_merged_qpn_o,
    output wire [15:0] trace_merged_before_o,   // index that waited (the offered one if none did)
    output wire [15:0] trace_merged_offered_o,
    output wire [15:0] trace_merged_after_o,    // index that waits now
    output wire [$clog2(DEPTH+1)-1:0] trace_level_o  // entries after this cycle
);

    localparam SLOT_W  = $clog2(QPS);
    localparam PLACE_W = DEPTH > 1 ? $clog2(DEPTH) : 1;
    localparam LEVEL_W = $clog2(DEPTH + 1);
    localparam [31:0] LAST = DEPTH - 1;
    localparam [31:0] FULL = DEPTH;

    localparam [7:0] SEND_QUEUE    = 8'd0;
    localparam [7:0] RECEIVE_QUEUE = 8'd1;
    localparam [7:0] ARM_CQ        = 8'd2;
    localparam [7:0] EVENT_QUEUE   = 8'd3;

    // ---- the word ----

    wire [7:0]  word_type   = write_word_i[63:56];
    wire [23:0] word_number = write_word_i[55:32];
    wire [15:0] word_index  = write_word_i[15:0];
    wire        unused_bits = &{1'b0, write_word_i[31:16]};

    wire is_send    = word_type == SEND_QUEUE;
    wire is_receive = word_type == RECEIVE_QUEUE;
    wire is_cq      = word_type == ARM_CQ || word_type == EVENT_QUEUE;

    // ---- the FIFO ----

    reg [23:0]        qpns     [0:DEPTH-1];
    reg [15:0]        producers[0:DEPTH-1];
    reg [PLACE_W-1:0] places   [0:QPS-1];  // by slot: where its newest entry is, or was
    reg [PLACE_W-1:0] head;
    reg [PLACE_W-1:0] tail;
    reg [LEVEL_W-1:0] level;
    reg               blocked;  // the word in front has been told to have found the FIFO full

    wire full = level == FULL[LEVEL_W-1:0];

    assign send_valid_o    = level != {LEVEL_W{1'b0}};
    assign send_qpn_o      = qpns[head];
    assign send_producer_o = producers[head];
    wire pop = send_valid_o && send_ready_i;

    function [PLACE_W-1:0] after;
        input [PLACE_W-1:0] place;
        after = place == LAST[PLACE_W-1:0] ? {PLACE_W{1'b0}} : place + 1'b1;
    endfunction

    // ---- lookup ----

    wire [SLOT_W-1:0]  slot  = word_number[SLOT_W-1:0];
    wire [PLACE_W-1:0] place = places[slot];
    // Steps from the head to the place, around the ring.
    wire [PLACE_W:0] distance =
        place >= head ? {1'b0, place} - {1'b0, head} : {1'b0, place} + FULL[PLACE_W:0] - {1'b0, head};
    wire [PLACE_W:0] level_wide = {{(PLACE_W + 1 - LEVEL_W) {1'b0}}, level};
    wire [23:0] place_qpn      = qpns[place];
    wire [15:0] place_producer = producers[place];

    // An entry that leaves in this cycle is not merged into. Written with `if`, because a place that was never
    // written is unknown in simulation and means "no entry".
    reg waits;
    always @* begin
        waits = 1'b0;
        if ({1'b0, place} < FULL[PLACE_W:0] && distance < level_wide && place_qpn == word_number &&
            !(pop && place == head))
            waits = 1'b1;
    end

    // 16-bit window: ahead by 1 .. 2^15 - 1.
    wire [15:0] advance = word_index - place_producer;
    wire        ahead   = advance != 16'd0 && !advance[15];

    // ---- what becomes of the word ----

    // The level at the edge decides: a place that is freed in this cycle is used from the next one on.
    wire merges  = cfg_coalesce_i && waits;
    wire refused = is_send && !merges && full;
    wire taken   = write_valid_i && write_ready_o;
    wire push    = taken && is_send && !merges;
    wire move    = taken && is_send && merges && ahead;

    assign write_ready_o = is_send    ? !refused :
                           is_receive ? receive_ready_i :
                           is_cq      ? cq_ready_i :
                                        1'b1;

    assign receive_valid_o    = write_valid_i && is_receive;
    assign receive_qpn_o      = word_number;
    assign receive_producer_o = word_index;

    assign cq_valid_o       = write_valid_i && is_cq;
    assign cq_cqn_o         = word_number;
    assign cq_consumer_o    = word_index;
    assign cq_event_queue_o = word_type == EVENT_QUEUE;

    assign busy_o = send_valid_o || write_valid_i;

    wire [LEVEL_W-1:0] next_level = push && !pop ? level + 1'b1 :
                                    pop && !push ? level - 1'b1 :
                                                   level;

    always @(posedge clk_i) begin
        if (!rst_ni) begin
            head    <= {PLACE_W{1'b0}};
            tail    <= {PLACE_W{1'b0}};
            level   <= {LEVEL_W{1'b0}};
            blocked <= 1'b0;
        end else begin
            level <= next_level;
            if (pop) head <= after(head);
            if (push) begin
                tail         <= after(tail);
                qpns[tail]   <= word_number;
                places[slot] <= tail;
            end
            if (push || move) producers[push ? tail : place] <= word_index;
            if (write_valid_i && is_send) blocked <= refused;
        end
    end

    assign trace_received_o       = taken;
    assign trace_coalesced_o      = move;
    assign trace_stale_o          = taken && is_send && merges && !ahead;
    assign trace_unknown_o        = taken && !is_send && !is_receive && !is_cq;
    assign trace_full_o           = write_valid_i && refused && !blocked;
    assign trace_merged_o         = taken && is_send;
    assign trace_merged_qpn_o     = word_number;
    assign trace_merged_before_o  = waits ? place_producer : word_index;
    assign trace_merged_offered_o = word_index;
    assign trace_merged_after_o   = trace_stale_o ? place_producer : word_index;
    assign trace_level_o          = next_level;

endmodule

`default_nettype wire
