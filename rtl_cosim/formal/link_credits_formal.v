// Credits of one VL between a sender and a receiver, in runs of any length: the blocks of the modules tx_lane and
// rx_credits, a wire that delays as it likes and loses nothing, and the way back of the receiver's announcements. The
// receiver's buffer never overruns, its free blocks are never more than it has, FCTBS agrees with ABR at every
// flow-control packet, and the sender is never past the limit.
//
// Packets of up to 512 bytes, buffers of up to 15 blocks; counters of 12 bits that start anywhere a run can take them.
// depth: 2
// mode: induction
// engine: ind
// sources: tx_lane.v rx_credits.v
`default_nettype none

module link_credits_formal (
    input wire       clk_i,
    // Chosen by the solver, in every cycle.
    input wire       packet_valid_i,
    input wire [9:0] packet_size_i,
    input wire       send_i,           // the VL's turn, when it may
    input wire       flow_i,           // the sender's flow-control packet goes
    input wire       arrive_i,         // the oldest on the wire arrives
    input wire       take_i,           // the oldest in the buffer leaves it
    input wire       tell_i,           // receiver to its own transmitter
    input wire       announce_i,       // the receiver's flow-control packet goes
    input wire       deliver_i,        // ... and arrives
    input wire       period_i
);

    (* anyconst *) reg [3:0] buffer_blocks;

    reg rst_n = 1'b0;
    always @(posedge clk_i) rst_n <= 1'b1;

    // Blocks of what is on the wire and in the buffer, oldest first; 0 = nothing there. A flow-control packet
    // carries FCTBS.
    reg [3:0]  wire_blocks_0, wire_blocks_1;
    reg        wire_is_flow_0, wire_is_flow_1;
    reg [11:0] wire_fctbs_0, wire_fctbs_1;
    reg [1:0]  on_wire = 2'd0;
    reg [3:0]  buffer_0, buffer_1, buffer_2;
    reg [1:0]  buffered = 2'd0;

    // The announcement on its way: told to the transmitter, and on the wire back.
    reg        told = 1'b0;
    reg [11:0] told_fccl;
    reg        back = 1'b0;
    reg [11:0] back_fccl;

    wire [12:0] size = packet_size_i == 10'd0 ? 13'd64 : packet_size_i > 10'd512 ? 13'd512 : {3'd0, packet_size_i};
    wire [3:0]  size_blocks = size[9:6] + {3'd0, size[5:0] != 6'd0};

    // ------------------------------------------------------------------------------------------ the sender
    wire        head_valid, may_send, announce_a;
    wire [11:0] fctbs;
    wire        send = send_i && head_valid && may_send && on_wire != 2'd2;
    wire        flow = !send && flow_i && on_wire != 2'd2;
    wire        deliver = deliver_i && back;
    tx_lane #(
        .SOURCES(1)
    ) sender (
        .clk_i(clk_i),
        .rst_ni(rst_n),
        .cfg_buffer_blocks_i(11'd0),
        .cfg_repeat_i(1'b0),
        .credit_valid_i(deliver),
        .credit_from_peer_i(1'b1),
        .credit_at_once_i(1'b0),
        .credit_fccl_i(back_fccl),
        .period_ends_i(1'b0),
        .packet_valid_i(packet_valid_i),
        .packet_size_bytes_i(size),
        .head_valid_o(head_valid),
        .head_source_o(),
        .head_size_bytes_o(),
        .head_blocks_o(),
        .may_send_o(may_send),
        .credits_came_o(),
        .packet_sent_i(send),
        .announce_o(announce_a),
        .fctbs_o(fctbs),
        .fccl_o(),
        .announce_sent_i(flow),
        .quiet_o(),
        .look_i(1'b0),
        .trace_credit_stall_o()
    );

    // ---------------------------------------------------------------------------------------- the receiver
    wire        arrive = arrive_i && on_wire != 2'd0 && (wire_is_flow_0 || buffered != 2'd3);
    wire        data = arrive && !wire_is_flow_0;
    wire        fits, resync, changed;
    wire [11:0] fccl;
    wire        take = take_i && buffered != 2'd0;
    wire        tell = tell_i && changed && !told;
    rx_credits receiver (
        .clk_i(clk_i),
        .rst_ni(rst_n),
        .cfg_buffer_blocks_i({7'd0, buffer_blocks}),
        .cfg_update_bytes_i(17'd256),
        .size_bytes_i({3'd0, wire_blocks_0, 6'd0}),
        .count_i(data),
        .fits_o(fits),
        .keep_i(data && fits),
        .take_i(take),
        .take_size_bytes_i({3'd0, buffer_0, 6'd0}),
        .flow_i(arrive && wire_is_flow_0),
        .fctbs_i(wire_fctbs_0),
        .resync_o(resync),
        .changed_o(changed),
        .at_once_o(),
        .fccl_o(fccl),
        .told_i(tell)
    );

    // Its transmitter, which announces.
    wire        announce;
    wire [11:0] announced;
    wire        goes = announce_i && announce && !back;
    tx_lane #(
        .SOURCES(1)
    ) announcer (
        .clk_i(clk_i),
        .rst_ni(rst_n),
        .cfg_buffer_blocks_i({7'd0, buffer_blocks}),
        .cfg_repeat_i(1'b0),
        .credit_valid_i(told),
        .credit_from_peer_i(1'b0),
        .credit_at_once_i(1'b0),
        .credit_fccl_i(told_fccl),
        .period_ends_i(period_i),
        .packet_valid_i(1'b0),
        .packet_size_bytes_i(13'd0),
        .head_valid_o(),
        .head_source_o(),
        .head_size_bytes_o(),
        .head_blocks_o(),
        .may_send_o(),
        .credits_came_o(),
        .packet_sent_i(1'b0),
        .announce_o(announce),
        .fctbs_o(),
        .fccl_o(announced),
        .announce_sent_i(goes),
        .quiet_o(),
        .look_i(1'b0),
        .trace_credit_stall_o()
    );

    // ------------------------------------------------------------------------------------------- what moves
    wire [1:0] wire_end = on_wire - {1'b0, arrive};
    wire [1:0] buffer_end = buffered - {1'b0, take};
    always @(posedge clk_i) begin
        if (rst_n) begin
            if (arrive) begin
                wire_blocks_0  <= wire_blocks_1;
                wire_is_flow_0 <= wire_is_flow_1;
                wire_fctbs_0   <= wire_fctbs_1;
            end
            if ((send || flow) && wire_end == 2'd0) begin
                wire_blocks_0  <= size_blocks;
                wire_is_flow_0 <= flow;
                wire_fctbs_0   <= fctbs;
            end
            if ((send || flow) && wire_end == 2'd1) begin
                wire_blocks_1  <= size_blocks;
                wire_is_flow_1 <= flow;
                wire_fctbs_1   <= fctbs;
            end
            on_wire <= wire_end + {1'b0, send || flow};
            if (take) begin
                buffer_0 <= buffer_1;
                buffer_1 <= buffer_2;
            end
            if (data && fits) begin
                if (buffer_end == 2'd0) buffer_0 <= wire_blocks_0;
                if (buffer_end == 2'd1) buffer_1 <= wire_blocks_0;
                if (buffer_end == 2'd2) buffer_2 <= wire_blocks_0;
            end
            buffered <= buffer_end + {1'b0, data && fits};
            told <= tell;
            if (tell) told_fccl <= fccl;
            if (goes) begin
                back <= 1'b1;
                back_fccl <= announced;
            end else if (deliver) back <= 1'b0;
        end
    end

    // ------------------------------------------------------------------------------------------ what is kept
    (* hierconn *) wire [11:0] \sender.limit_q ;
    (* hierconn *) wire        \sender.has_limit_q ;
    (* hierconn *) wire [11:0] \receiver.abr_q ;
    (* hierconn *) wire [10:0] \receiver.free_q ;
    (* hierconn *) wire [11:0] \announcer.announced_q ;
    wire [11:0] limit     = \sender.limit_q ;
    wire        has_limit = \sender.has_limit_q ;
    wire [11:0] abr       = \receiver.abr_q ;
    wire [10:0] free      = \receiver.free_q ;
    wire [11:0] newest    = \announcer.announced_q ;

    // Everything is told by how far it lies behind the newest FCCL that the receiver could announce, in blocks: so
    // the solver has small numbers, and the counters of 12 bits are these and one more.
    reg [11:0] newest_fccl;
    reg [4:0]  sent_behind;   // FCTBS: what the receiver has free and is not on the wire
    reg [4:0]  told_behind, announced_behind, back_behind, limit_behind;
    wire [4:0] freed = take ? {1'b0, buffer_0} : 5'd0;
    wire [4:0] told_now = told ? told_behind : announced_behind;
    wire [4:0] limit_now = deliver ? back_behind : limit_behind;
    always @(posedge clk_i) begin
        if (!rst_n) begin
            newest_fccl      <= {8'd0, buffer_blocks};
            sent_behind      <= {1'b0, buffer_blocks};
            announced_behind <= 5'd0;
        end else begin
            newest_fccl      <= newest_fccl + {7'd0, freed};
            sent_behind      <= sent_behind + freed - (send ? {1'b0, size_blocks} : 5'd0);
            told_behind      <= tell ? 5'd0 : told_behind + freed;
            announced_behind <= told_now + freed;
            back_behind      <= (goes ? told_now : back_behind) + freed;
            limit_behind     <= limit_now + freed;
        end
    end

    wire [4:0] blocks = {1'b0, buffer_blocks};
    wire [4:0] free_5 = free[4:0];
    wire [4:0] first  = on_wire != 2'd0 && !wire_is_flow_0 ? {1'b0, wire_blocks_0} : 5'd0;
    wire [4:0] second = on_wire == 2'd2 && !wire_is_flow_1 ? {1'b0, wire_blocks_1} : 5'd0;
    wire [5:0] stored = (buffered > 2'd0 ? {2'd0, buffer_0} : 6'd0) + (buffered > 2'd1 ? {2'd0, buffer_1} : 6'd0) +
                        (buffered > 2'd2 ? {2'd0, buffer_2} : 6'd0);

    // Each of these follows from all of them one cycle before: they are proved as one.
    wire counters = abr == newest_fccl - {7'd0, free_5} && fctbs == newest_fccl - {7'd0, sent_behind} &&
                    newest == newest_fccl - {7'd0, announced_behind} &&
                    (!told || told_fccl == newest_fccl - {7'd0, told_behind}) &&
                    (!back || back_fccl == newest_fccl - {7'd0, back_behind}) &&
                    (!has_limit || limit == newest_fccl - {7'd0, limit_behind});
    wire nothing_lost = {1'b0, sent_behind} + {1'b0, first} + {1'b0, second} == {1'b0, free_5} && !resync;
    wire no_overrun = !(data && !fits) && free <= {7'd0, buffer_blocks} && {1'b0, free_5} + stored == {1'b0, blocks};
    // Announcements are in order; the sender is never past its limit, and has sent nothing without one.
    wire [4:0] oldest = back ? back_behind : announced_behind;
    wire in_order = (!told || told_behind <= announced_behind) && announced_behind <= oldest &&
                    (has_limit ? oldest <= limit_behind && limit_behind <= sent_behind
                               : oldest <= sent_behind && first == 5'd0 && second == 5'd0 && fctbs == 12'd0);
    // What the harness is made of.
    wire is_run = on_wire != 2'd3 &&
                  (on_wire == 2'd0 || !wire_is_flow_0 || wire_fctbs_0 == abr) &&
                  (on_wire != 2'd2 || !wire_is_flow_1 || wire_fctbs_1 == abr + {7'd0, first}) &&
                  (on_wire == 2'd0 || wire_blocks_0 <= 4'd8) && (on_wire != 2'd2 || wire_blocks_1 <= 4'd8) &&
                  (buffered == 2'd0 || buffer_0 <= 4'd8) && (buffered < 2'd2 || buffer_1 <= 4'd8) &&
                  (buffered < 2'd3 || buffer_2 <= 4'd8);
    wire is_start = on_wire == 2'd0 && buffered == 2'd0 && !told && !back;

    always @(posedge clk_i) begin
        assert (rst_n ? counters && nothing_lost && no_overrun && in_order && is_run : is_start);
    end

endmodule

`default_nettype wire
