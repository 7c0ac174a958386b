// Sets of QP slots, one for each ring, as hierarchical bitmaps: each bit of a level says whether a word of 64
// bits of the level below is not empty, and one bit per ring at the top whether the ring is. A change touches
// one word per level, and so does the search for the next member behind a slot; with 64-ary levels two of them
// hold 4096 slots and three 262,144.
//
// After reset all sets are empty, although only the bits at the top are reset (ready_bitmap_level.v).
//
// Size: RINGS x SLOTS bits and 1/64 of that. Each level has PORTS + 2 reads and PORTS writes, which means flip-flops
// or, in an FPGA, registers for a few thousand slots; with fewer ports per cycle (inputs queued before the
// scheduler) it would fit multi-bank RAM.
// synthesis check: -chparam SLOTS 16
`default_nettype none

module ready_bitmap #(
    parameter SLOTS = 1024,  // a power of two, at least 2
    parameter RINGS = 16,    // 16
    parameter PORTS = 5      // changes of one cycle
) (
    input  wire                             clk_i,
    input  wire                             rst_ni,

    // Changes of this cycle, in this order: the last one of several to the same member holds.
    input  wire [PORTS-1:0]                 change_valid_i,
    input  wire [PORTS*4-1:0]               change_ring_i,
    input  wire [PORTS*$clog2(SLOTS)-1:0]   change_slot_i,
    input  wire [PORTS-1:0]                 change_ready_i,

    // As they were at the edge.
    output wire [RINGS-1:0]                 nonempty_o,
    input  wire [3:0]                       ring_i,
    input  wire [$clog2(SLOTS)-1:0]         from_i,
    output wire [$clog2(SLOTS)-1:0]         next_o  // first member of ring_i at or behind from_i, around
);

    localparam SLOT_W = $clog2(SLOTS);
    localparam LEVELS = (SLOT_W + 5) / 6;

    reg [RINGS-1:0] nonempty;
    assign nonempty_o = nonempty;

    genvar l;
    genvar k;

    // Between the levels: changes and hits go up, what counts and what is found come down.
    generate
        for (l = 0; l <= LEVELS; l = l + 1) begin : border
            wire [PORTS-1:0]  change_valid;
            wire [PORTS-1:0]  change_value;
            wire [PORTS-1:0]  change_set;
            wire              from_set;
            wire              hit;
            wire [SLOT_W-1:0] found;
        end
    endgenerate

    assign border[0].change_valid = change_valid_i;
    assign border[0].change_value = change_ready_i;
    assign border[0].hit          = 1'b0;
    assign next_o                 = border[0].found;

    generate
        for (l = 0; l < LEVELS; l = l + 1) begin : level
            ready_bitmap_level #(
                .SLOT_W(SLOT_W),
                .SHIFT(6 * l),
                .BIT_W(l == LEVELS - 1 ? SLOT_W - 6 * l : 6),
                .PORTS(PORTS),
                .FROM_TOO(l == 0 ? 1 : 0)
            ) storage (
                .clk_i(clk_i),
                .change_valid_i(border[l].change_valid),
                .change_ring_i(change_ring_i),
                .change_slot_i(change_slot_i),
                .change_value_i(border[l].change_value),
                .change_used_i(border[l+1].change_set),
                .change_set_o(border[l].change_set),
                .up_valid_o(border[l+1].change_valid),
                .up_value_o(border[l+1].change_value),
                .ring_i(ring_i),
                .from_i(from_i),
                .from_used_i(border[l+1].from_set),
                .from_set_o(border[l].from_set),
                .hit_below_i(border[l].hit),
                .hit_o(border[l+1].hit),
                .found_i(border[l+1].found),
                .found_o(border[l].found)
            );
        end
    endgenerate

    // The top: one bit per ring.
    generate
        for (k = 0; k < PORTS; k = k + 1) begin : top
            assign border[LEVELS].change_set[k] = nonempty[change_ring_i[k*4+:4]];
        end
    endgenerate
    assign border[LEVELS].from_set = nonempty[ring_i];
    assign border[LEVELS].found    = {SLOT_W{1'b0}};

    wire unused_bits = &{1'b0, border[LEVELS].hit, border[0].change_set, border[0].from_set};

    integer p;
    always @(posedge clk_i)
        if (!rst_ni) nonempty <= {RINGS{1'b0}};
        else
            for (p = 0; p < PORTS; p = p + 1)
                if (border[LEVELS].change_valid[p])
                    nonempty[change_ring_i[p*4+:4]] <= border[LEVELS].change_value[p];

endmodule

`default_nettype wire
