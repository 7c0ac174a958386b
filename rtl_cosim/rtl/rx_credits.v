// Credits of one VL at the receiver (IBTA 7.9.4): blocks received, free blocks, and what link_tx has to be told of
// them.
`default_nettype none

module rx_credits (
    input  wire        clk_i,
    input  wire        rst_ni,

    input  wire [10:0] cfg_buffer_blocks_i,
    input  wire [16:0] cfg_update_bytes_i,   // freed bytes after which the peer is told at once

    // A packet has arrived: its blocks are counted, it is kept in the buffer; each only if it is said.
    input  wire [12:0] size_bytes_i,
    input  wire        count_i,
    output wire        fits_o,               // there is room for it
    input  wire        keep_i,

    // A packet leaves the buffer; this may be the one that has just arrived.
    input  wire        take_i,
    input  wire [12:0] take_size_bytes_i,

    // A flow-control packet has arrived: blocks that the peer has sent.
    input  wire        flow_i,
    input  wire [11:0] fctbs_i,
    output wire        resync_o,             // it names blocks that never came

    output wire        changed_o,            // link_tx does not know fccl_o
    output wire        at_once_o,
    output wire [11:0] fccl_o,
    input  wire        told_i
);

    // ABR: blocks received, whatever became of them, modulo 4096; what was lost on the wire comes with the
    // peer's FCTBS. FCCL = ABR + free blocks; these are at most 2047 by their width.
    reg  [11:0] abr_q;
    reg  [10:0] free_q;
    reg         changed_q;
    reg         at_once_q;
    reg  [16:0] freed_q;  // bytes since the peer was last told at once

    wire [ 6:0] blocks      = size_bytes_i[12:6] + {6'd0, size_bytes_i[5:0] != 6'd0};
    wire [ 6:0] take_blocks = take_size_bytes_i[12:6] + {6'd0, take_size_bytes_i[5:0] != 6'd0};

    wire [11:0] counted = count_i ? {5'd0, blocks} : 12'd0;
    wire [11:0] abr     = flow_i ? fctbs_i : abr_q + counted;
    wire [10:0] kept    = keep_i ? {4'd0, blocks} : 11'd0;
    wire [10:0] taken   = take_i ? {4'd0, take_blocks} : 11'd0;
    wire [10:0] free    = free_q - kept + taken;
    wire [16:0] freed   = freed_q + (take_i ? {4'd0, take_size_bytes_i} : 17'd0);
    wire        is_due  = take_i && freed >= cfg_update_bytes_i;

    assign fits_o    = free_q >= {4'd0, blocks};
    assign resync_o  = flow_i && fctbs_i != abr_q;
    assign changed_o = changed_q || count_i || resync_o || take_i;
    assign at_once_o = at_once_q || is_due;
    assign fccl_o    = abr + {1'b0, free};

    always @(posedge clk_i) begin
        if (!rst_ni) begin
            abr_q     <= 12'd0;
            free_q    <= cfg_buffer_blocks_i;
            changed_q <= 1'b0;
            at_once_q <= 1'b0;
            freed_q   <= 17'd0;
        end else begin
            abr_q     <= abr;
            free_q    <= free;
            changed_q <= changed_o && !told_i;
            at_once_q <= at_once_o && !told_i;
            freed_q   <= is_due ? 17'd0 : freed;
        end
    end

endmodule

`default_nettype wire
