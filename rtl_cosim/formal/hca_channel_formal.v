// Channel of two entries. Watches one entry, which may be any: what has been pushed as the n-th comes out as the
// n-th, once and unchanged; neither side's promise depends on the other side.
// depth: 0
// mode: induction
// sources: hca_channel.v
`default_nettype none

module hca_channel_formal (
    input wire       clk_i,
    input wire       push_valid_i,
    input wire [3:0] push_data_i,
    input wire       pop_ready_i
);

    reg rst_n = 1'b0;
    always @(posedge clk_i) rst_n <= 1'b1;

    wire       push_ready;
    wire       pop_valid;
    wire [3:0] pop_data;
    hca_channel #(
        .WIDTH(4),
        .DEPTH(2)
    ) dut (
        .clk_i(clk_i),
        .rst_ni(rst_n),
        .push_valid_i(push_valid_i),
        .push_ready_o(push_ready),
        .push_data_i(push_data_i),
        .pop_valid_o(pop_valid),
        .pop_ready_i(pop_ready_i),
        .pop_data_o(pop_data)
    );

    // The same as a queue that moves up: what is in it is in front.
    reg [1:0] level = 2'd0;
    reg [3:0] front;
    reg [3:0] second;

    wire push = push_valid_i && push_ready;
    wire pop  = pop_valid && pop_ready_i;

    always @(posedge clk_i)
        if (rst_n) begin
            assert (pop_valid == (level != 2'd0));
            assert (push_ready == (level != 2'd2));
            if (pop_valid) assert (pop_data == front);
            level <= level + {1'b0, push} - {1'b0, pop};
            if (pop) front <= second;
            if (push && (level == 2'd0 || (level == 2'd1 && pop))) front <= push_data_i;
            else if (push) second <= push_data_i;
        end

endmodule

`default_nettype wire
