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

    wire [6:0] blocks = size_bytes_i[12:6] + {6'd0, size_bytes_i[5:0] != 6'd0};

    // ---------------------------------------------------------------------------------------------- buffer
    reg [76:0] buffer[0:PACKETS-1];  // size, handle
    reg [PLACE_BITS-1:0] head_q;
    reg [PLACE_BITS-1:0] tail_q;
    reg [10:0] free_q;  // blocks of 64 bytes
    reg is_empty_q;

    wire        fits = free_q >= {4'd0, blocks};
    wire        keep = arrived_i && good_i && fits;
    wire        push = keep && !(is_empty_q && take_i);
    wire        pop  = take_i && !is_empty_q;
    wire [12:0] head_size_bytes;
    wire [ 6:0] head_blocks = head_size_bytes[12:6] + {6'd0, head_size_bytes[5:0] != 6'd0};

    assign overrun_o    = arrived_i && good_i && !fits;
    assign head_valid_o = !is_empty_q || keep;
    assign {head_size_bytes, head_handle_o} = is_empty_q ? {size_bytes_i, handle_i} : buffer[head_q];

    wire [PLACE_BITS-1:0] head = pop ? head_q + ONE : head_q;
    wire [PLACE_BITS-1:0] tail = push ? tail_q + ONE : tail_q;
    wire [10:0] kept  = keep ? {4'd0, blocks} : 11'd0;
    wire [10:0] taken = take_i ? {4'd0, head_blocks} : 11'd0;
    wire [10:0] free  = free_q - kept + taken;

    always @(posedge clk_i) begin
        if (push) buffer[tail_q] <= {size_bytes_i, handle_i};
    end

    always @(posedge clk_i) begin
        if (!rst_ni) begin
            head_q     <= {PLACE_BITS{1'b0}};
            tail_q     <= {PLACE_BITS{1'b0}};
            is_empty_q <= 1'b1;
            free_q     <= cfg_buffer_blocks_i;
        end else begin
            head_q <= head;
            tail_q <= tail;
            free_q <= free;
            if (push) is_empty_q <= 1'b0;
            else if (pop && head == tail_q) is_empty_q <= 1'b1;
        end
    end

    // --------------------------------------------------------------------------------------------- credits
    // ABR: blocks received, whatever became of them, modulo 4096; what was lost on the wire comes with the
    // peer's FCTBS. FCCL = ABR + free blocks (IBTA 7.9.4; the free ones are at most 2047 by their width).
    reg  [11:0] abr_q;
    reg         changed_q;
    reg         at_once_q;
    reg  [16:0] freed_q;  // bytes since the peer was last told at once

    wire [11:0] counted = arrived_i && count_i ? {5'd0, blocks} : 12'd0;
    wire [11:0] abr     = flow_i ? fctbs_i : abr_q + counted;
    wire [16:0] freed   = freed_q + (take_i ? {4'd0, head_size_bytes} : 17'd0);
    wire        is_due  = take_i && freed >= cfg_update_bytes_i;

    assign resync_o  = flow_i && fctbs_i != abr_q;
    assign changed_o = changed_q || (arrived_i && count_i) || resync_o || take_i;
    assign at_once_o = at_once_q || is_due;
    assign fccl_o    = abr + {1'b0, free};

    always @(posedge clk_i) begin
        if (!rst_ni) begin
            abr_q     <= 12'd0;
            changed_q <= 1'b0;
            at_once_q <= 1'b0;
            freed_q   <= 17'd0;
        end else begin
            abr_q     <= abr;
            changed_q <= changed_o && !fccl_told_i;
            at_once_q <= at_once_o && !fccl_told_i;
            freed_q   <= is_due ? 17'd0 : freed;
        end
    end

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

    assign busy_o = !is_empty_q || changed_q || has_limit_q;

endmodule

`default_nettype wire
