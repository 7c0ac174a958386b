// Registered valid/ready FIFO between two blocks: what a channel of the model is. An entry that is pushed in
// cycle n can be popped from n + 1 on, a place that is freed in n can be filled from n + 1 on, so neither side
// sees in a cycle what the other does in it. Two entries carry one message per cycle.
//
// Shared: stands between all blocks of the send path.
`default_nettype none

module hca_channel #(
    parameter WIDTH = 8,
    parameter DEPTH = 2  // entries, at least 1
) (
    input  wire             clk_i,
    input  wire             rst_ni,

    input  wire             push_valid_i,
    output wire             push_ready_o,
    input  wire [WIDTH-1:0] push_data_i,

    output wire             pop_valid_o,
    input  wire             pop_ready_i,
    output wire [WIDTH-1:0] pop_data_o
);

    localparam PLACE_W = DEPTH > 1 ? $clog2(DEPTH) : 1;
    localparam LEVEL_W = $clog2(DEPTH + 1);
    localparam [31:0] LAST = DEPTH - 1;
    localparam [31:0] FULL = DEPTH;

    reg [WIDTH-1:0]   entries[0:DEPTH-1];
    reg [PLACE_W-1:0] head;  // oldest entry
    reg [PLACE_W-1:0] tail;  // next free place
    reg [LEVEL_W-1:0] level;

    assign push_ready_o = level != FULL[LEVEL_W-1:0];
    assign pop_valid_o  = level != {LEVEL_W{1'b0}};
    assign pop_data_o   = entries[head];

    wire push = push_valid_i && push_ready_o;
    wire pop  = pop_valid_o && pop_ready_i;

    function [PLACE_W-1:0] after;
        input [PLACE_W-1:0] place;
        after = place == LAST[PLACE_W-1:0] ? {PLACE_W{1'b0}} : place + 1'b1;
    endfunction

    always @(posedge clk_i) begin
        if (!rst_ni) begin
            head  <= {PLACE_W{1'b0}};
            tail  <= {PLACE_W{1'b0}};
            level <= {LEVEL_W{1'b0}};
        end else begin
            if (push) begin
                entries[tail] <= push_data_i;
                tail          <= after(tail);
            end
            if (pop) head <= after(head);
            if (push && !pop) level <= level + 1'b1;
            if (pop && !push) level <= level - 1'b1;
        end
    end

endmodule

`default_nettype wire
