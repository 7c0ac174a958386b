// What link_tx keeps of one VL: credits, what is to be announced to the peer, and which of its sources is at
// the head.
`default_nettype none

module tx_lane #(
    parameter SOURCES = 2
) (
    input  wire                  clk_i,
    input  wire                  rst_ni,

    input  wire [          10:0] cfg_buffer_blocks_i,  // of our receiver, all free at the start
    input  wire                  cfg_repeat_i,         // announce at the end of each period for ever

    // A credit update of this VL.
    input  wire                  credit_valid_i,
    input  wire                  credit_from_peer_i,
    input  wire                  credit_at_once_i,
    input  wire [          11:0] credit_fccl_i,

    input  wire                  period_ends_i,

    // Heads of the queues of this VL.
    input  wire [   SOURCES-1:0] packet_valid_i,
    input  wire [13*SOURCES-1:0] packet_size_bytes_i,

    // The head of the VL.
    output wire                  head_valid_o,
    output wire                  head_source_o,
    output wire [          12:0] head_size_bytes_o,
    output wire [           6:0] head_blocks_o,
    output wire                  may_send_o,           // it has credits
    output wire                  credits_came_o,       // in this cycle, and it had none before
    input  wire                  packet_sent_i,

    output wire                  announce_o,           // a flow-control packet is due
    output wire [          11:0] fctbs_o,
    output wire [          11:0] fccl_o,
    input  wire                  announce_sent_i,

    output wire                  quiet_o,              // the end of the period will make none due

    input  wire                  look_i,               // packets have their turn in this cycle
    output wire                  trace_credit_stall_o  // a packet has come to the head without credits
);

    // ------------------------------------------------------------------------------------------- the head
    // The sources take turns; one without a packet is passed over.
    generate
        if (SOURCES == 1) begin : one_source
            assign head_source_o     = 1'b0;
            assign head_size_bytes_o = packet_size_bytes_i;
        end else begin : two_sources
            reg next_source_q;

            assign head_source_o     = packet_valid_i[next_source_q] ? next_source_q : !next_source_q;
            assign head_size_bytes_o =
                head_source_o ? packet_size_bytes_i[13+:13] : packet_size_bytes_i[0+:13];

            always @(posedge clk_i) begin
                if (!rst_ni) next_source_q <= 1'b0;
                else if (packet_sent_i) next_source_q <= !head_source_o;
            end
        end
    endgenerate

    assign head_valid_o  = packet_valid_i != 0;
    // Blocks of 64 bytes, rounded up (IBTA 7.9.2). A packet has at most 4224 bytes.
    assign head_blocks_o = head_size_bytes_o[12:6] + {6'd0, head_size_bytes_o[5:0] != 6'd0};

    // -------------------------------------------------------------------------------------------- credits
    // FCTBS: blocks sent since the start; FCCL of the peer: the block up to which it has room. Modulo 4096.
    reg  [11:0] fctbs_q;
    reg  [11:0] limit_q;
    reg         has_limit_q;

    wire        from_peer = credit_valid_i && credit_from_peer_i;
    wire [11:0] limit     = from_peer ? credit_fccl_i : limit_q;
    wire [11:0] after     = fctbs_q + {5'd0, head_blocks_o};
    wire        may_old   = has_limit_q && reaches(limit_q, after);
    wire        has_new   = has_limit_q || from_peer;

    // (FCCL - FCTBS) modulo 4096 below 2048: the limit is not behind.
    function reaches;
        input [11:0] fccl;
        input [11:0] fctbs;
        reaches = ((fccl - fctbs) & 12'h800) == 12'd0;
    endfunction

    assign may_send_o     = has_new && reaches(limit, after);
    assign credits_came_o = from_peer && !may_old;
    assign fctbs_o        = fctbs_q;

    always @(posedge clk_i) begin
        if (!rst_ni) begin
            fctbs_q     <= 12'd0;
            limit_q     <= 12'd0;
            has_limit_q <= 1'b0;
        end else begin
            limit_q     <= limit;
            has_limit_q <= has_new;
            if (packet_sent_i) fctbs_q <= after;
        end
    end

    // --------------------------------------------------------------------------------------- announcements
    // Our receiver's FCCL goes to the peer at the start, when the receiver wants it told at once, and at the
    // end of a period, unless two periods have passed without news of it.
    reg  [11:0] announced_q;
    reg         announce_q;
    reg  [ 1:0] quiet_periods_q;

    wire        own         = credit_valid_i && !credit_from_peer_i;
    wire        has_news    = own && (credit_fccl_i != announced_q || credit_at_once_i);
    wire [ 1:0] quiet_now   = has_news ? 2'd0 : quiet_periods_q;
    wire        is_periodic = period_ends_i && (quiet_now != 2'd2 || cfg_repeat_i);

    assign fccl_o     = own ? credit_fccl_i : announced_q;
    assign announce_o = announce_q || (own && credit_at_once_i) || is_periodic;
    assign quiet_o    = quiet_periods_q == 2'd2 && !cfg_repeat_i;

    always @(posedge clk_i) begin
        if (!rst_ni) begin
            announced_q     <= {1'b0, cfg_buffer_blocks_i};
            announce_q      <= 1'b1;
            quiet_periods_q <= 2'd0;
        end else begin
            announced_q <= fccl_o;
            announce_q  <= announce_o && !announce_sent_i;
            if (packet_sent_i) quiet_periods_q <= 2'd0;
            else if (is_periodic && quiet_now != 2'd2) quiet_periods_q <= quiet_now + 2'd1;
            else quiet_periods_q <= quiet_now;
        end
    end

    // ---------------------------------------------------------------------------------------------- trace
    reg stalled_q;  // this head has been told of

    wire is_stalled = look_i && head_valid_o && !may_send_o;

    assign trace_credit_stall_o = is_stalled && !stalled_q;

    always @(posedge clk_i) begin
        if (!rst_ni || packet_sent_i) stalled_q <= 1'b0;
        else if (is_stalled) stalled_q <= 1'b1;
    end

endmodule

`default_nettype wire
