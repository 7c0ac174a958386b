// VL arbitration (IBTA 7.6.9): the high-priority table goes first, until it has sent high_limit * 4096 bytes
// since the last low-priority packet while one waits.
`default_nettype none

module vl_arbiter #(
    parameter VLS = 2
) (
    input  wire             clk_i,
    input  wire             rst_ni,

    input  wire [      7:0] cfg_high_limit_i,   // 0: one packet, 255: no limit
    input  wire [8*VLS-1:0] cfg_high_weight_i,  // VL v in bits 8v+7 .. 8v, units of 64 bytes
    input  wire [8*VLS-1:0] cfg_low_weight_i,

    // VLs that have a packet and credits for it; the chosen one, one-hot (0 when no table has any of them).
    input  wire [  VLS-1:0] candidates_i,
    output wire [  VLS-1:0] chosen_o,
    output wire             from_high_o,

    // The chosen VL sends a packet.
    input  wire             charge_i,
    input  wire [     12:0] size_bytes_i,
    input  wire [      6:0] units_i             // the same in units of 64 bytes, rounded up
);

    reg     [VLS-1:0] in_high;
    reg     [VLS-1:0] in_low;
    integer           v;

    always @* begin
        for (v = 0; v < VLS; v = v + 1) begin
            in_high[v] = cfg_high_weight_i[8*v+:8] != 8'd0;
            in_low[v]  = cfg_low_weight_i[8*v+:8] != 8'd0;
        end
    end

    wire [VLS-1:0] high = candidates_i & in_high;
    wire [VLS-1:0] low  = candidates_i & in_low;

    // Bytes that the high-priority table may still send before a low-priority packet. Only whether there are
    // any matters, so what is overdrawn is not kept.
    reg  [19:0] high_left_q;
    wire [19:0] high_limit = cfg_high_limit_i == 8'd0 ? 20'd1 : {cfg_high_limit_i, 12'd0};

    assign from_high_o =
        high != 0 && (low == 0 || high_left_q != 20'd0 || cfg_high_limit_i == 8'd255);

    wire [VLS-1:0] chosen_high;
    wire [VLS-1:0] chosen_low;

    vl_table #(
        .VLS(VLS)
    ) i_high (
        .clk_i       (clk_i),
        .rst_ni      (rst_ni),
        .cfg_weight_i(cfg_high_weight_i),
        .candidates_i(high),
        .chosen_o    (chosen_high),
        .charge_i    (charge_i && from_high_o),
        .units_i     (units_i)
    );

    vl_table #(
        .VLS(VLS)
    ) i_low (
        .clk_i       (clk_i),
        .rst_ni      (rst_ni),
        .cfg_weight_i(cfg_low_weight_i),
        .candidates_i(low),
        .chosen_o    (chosen_low),
        .charge_i    (charge_i && !from_high_o),
        .units_i     (units_i)
    );

    assign chosen_o = from_high_o ? chosen_high : chosen_low;

    wire [19:0] size_bytes = {7'd0, size_bytes_i};

    always @(posedge clk_i) begin
        if (!rst_ni) begin
            high_left_q <= high_limit;
        end else if (charge_i && from_high_o) begin
            high_left_q <= high_left_q > size_bytes ? high_left_q - size_bytes : 20'd0;
        end else if (charge_i) begin
            high_left_q <= high_limit;
        end
    end

endmodule

`default_nettype wire
