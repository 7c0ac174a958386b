// One of the two tables of VL arbitration: weighted round robin among its VLs (IBTA 7.6.9). A VL keeps its
// turn while it has a packet and weight left, in units of 64 bytes; a packet that takes more than is left is
// the last one of its turn.
`default_nettype none

module vl_table #(
    parameter VLS = 2
) (
    input  wire             clk_i,
    input  wire             rst_ni,

    // Weight of VL v in bits 8v+7 .. 8v; 0 = not in this table.
    input  wire [8*VLS-1:0] cfg_weight_i,

    // VLs of this table that have a packet to send; the one whose turn it is, one-hot (0 when there is none).
    input  wire [  VLS-1:0] candidates_i,
    output wire [  VLS-1:0] chosen_o,

    // It sends a packet of so many units.
    input  wire             charge_i,
    input  wire [      6:0] units_i
);

    localparam [VLS-1:0] ONE = 1;

    reg [VLS-1:0] current_q;
    reg [    7:0] left_q;  // of the turn of current_q; what is overdrawn need not be kept

    wire           stays = (candidates_i & current_q) != 0 && left_q != 8'd0;
    wire [VLS-1:0] following;

    rotate_select #(
        .N(VLS)
    ) i_following (
        .among_i (candidates_i),
        .last_i  (current_q),
        .chosen_o(following)
    );

    assign chosen_o = stays ? current_q : following;

    reg     [7:0] weight;  // of the chosen VL
    integer       v;

    always @* begin
        weight = 8'd0;
        for (v = 0; v < VLS; v = v + 1) begin
            if (chosen_o[v]) weight = weight | cfg_weight_i[8*v+:8];
        end
    end

    wire [7:0] left  = stays ? left_q : weight;
    wire [7:0] units = {1'b0, units_i};

    always @(posedge clk_i) begin
        if (!rst_ni) begin
            current_q <= ONE;
            left_q    <= cfg_weight_i[7:0];
        end else if (charge_i) begin
            current_q <= chosen_o;
            left_q    <= left > units ? left - units : 8'd0;
        end
    end

endmodule

`default_nettype wire
