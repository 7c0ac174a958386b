// What link_rx keeps of one VL: its buffer (descriptors of packets, in order), credits, and what link_tx has to
// be told. A packet that arrives in an empty buffer can leave it in the same cycle.
`default_nettype none

module rx_lane #(
    parameter PACKETS = 64  // a power of two, at least 2; not fewer than cfg_buffer_blocks_i
) (
    input  wire        clk_i,
    input  wire        rst_ni,

    input  wire [10:0] cfg_buffer_blocks_i,
    input  wire [16:0] cfg_update_bytes_i,   // freed bytes after which the peer is told at once

    // A packet of this VL has arrived. count_i: its blocks have not been counted yet. Without good_i it is
    // not kept.
    input  wire        arrived_i,
    input  wire        count_i,
    input  wire        good_i,
    input  wire [12:0] size_bytes_i,
    input  wire [63:0] handle_i,
    output wire        overrun_o,            // there is no room for it

    // A flow-control packet of this VL has arrived: blocks that the peer has sent, and its limit.
    input  wire        flow_i,
    input  wire [11:0] fctbs_i,
    input  wire [11:0] fccl_i,
    output wire        resync_o,             // the peer has sent blocks that never came

    // The oldest packet in the buffer.
    output wire        head_valid_o,
    output wire [63:0] head_handle_o,
    input  wire        take_i,               // it leaves

    // Told to link_tx: the peer's limit, our own FCCL.
    output wire        limit_valid_o,
    output wire [11:0] limit_o,
    input  wire        limit_told_i,
    output wire        changed_o,
    output wire        at_once_o,
    output wire [11:0] fccl_o,
    input  wire        fccl_told_i,

    output wire        busy_o
);

    localparam PLACE_BITS = $clog2(PACKETS);
    localparam [PLACE_BITS-1:0] ONE = 1;

    // ---------------------------------------------------------------------------------------------- buffer
    reg [76:0] buffer[0:PACKETS-1];  // size, handle
    reg [PLACE_BITS-1:0] head_q;
    reg [PLACE_BITS-1:0] tail_q;
    reg is_empty_q;

    wire        fits;
    wire        keep = arrived_i && good_i && fits;
    wire        push = keep && !(is_empty_q && take_i);
    wire        pop  = take_i && !is_empty_q;
    wire [12:0] head_size_bytes;

    assign overrun_o    = arrived_i && good_i && !fits;
    assign head_valid_o = !is_empty_q || keep;
    assign {head_size_bytes, head_handle_o} = is_empty_q ? {size_bytes_i, handle_i} : buffer[head_q];

    wire [PLACE_BITS-1:0] head = pop ? head_q + ONE : head_q;
    wire [PLACE_BITS-1:0] tail = push ? tail_q + ONE : tail_q;

    always @(posedge clk_i) begin
        if (push) buffer[tail_q] <= {size_bytes_i, handle_i};
    end

    always @(posedge clk_i) begin
        if (!rst_ni) begin
            head_q     <= {PLACE_BITS{1'b0}};
            tail_q     <= {PLACE_BITS{1'b0}};
            is_empty_q <= 1'b1;
        end else begin
            head_q <= head;
            tail_q <= tail;
            if (push) is_empty_q <= 1'b0;
            else if (pop && head == tail_q) is_empty_q <= 1'b1;
        end
    end

    // --------------------------------------------------------------------------------------------- credits
    rx_credits i_credits (
        .clk_i              (clk_i),
        .rst_ni             (rst_ni),
        .cfg_buffer_blocks_i(cfg_buffer_blocks_i),
        .cfg_update_bytes_i (cfg_update_bytes_i),
        .size_bytes_i       (size_bytes_i),
        .count_i            (arrived_i && count_i),
        .fits_o             (fits),
        .keep_i             (keep),
        .take_i             (take_i),
        .take_size_bytes_i  (head_size_bytes),
        .flow_i             (flow_i),
        .fctbs_i            (fctbs_i),
        .resync_o           (resync_o),
        .changed_o          (changed_o),
        .at_once_o          (at_once_o),
        .fccl_o             (fccl_o),
        .told_i             (fccl_told_i)
    );

    // ------------------------------------------------------------------------------------ the peer's limit
    // While link_tx takes nothing the newest one counts.
    reg        has_limit_q;
    reg [11:0] limit_q;

    assign limit_valid_o = has_limit_q || flow_i;
    assign limit_o       = flow_i ? fccl_i : limit_q;

    always @(posedge clk_i) begin
        if (!rst_ni) has_limit_q <= 1'b0;
        else has_limit_q <= limit_valid_o && !limit_told_i;
        limit_q <= limit_o;
    end

    assign busy_o = !is_empty_q || changed_o || limit_valid_o;

endmodule

`default_nettype wire
