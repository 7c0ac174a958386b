// Transmit side of a port: VL arbitration, credits, flow-control packets, serialization. Packets are
// descriptors: a handle, and what has to be known of the packet to time it and to tell who sent it.
//
// The queues of a VL stand outside. Queue s * VLS + v is that of source s and VL v; its pins are slices of the
// packet_ vectors, entry 0 in the lowest bits.
`default_nettype none

module link_tx #(
    parameter VLS     = 2,  // data VLs, 1..15
    parameter SOURCES = 2   // 1..2
) (
    input  wire                      clk_i,
    input  wire                      rst_ni,

    // After cycles without a clock: the count of this cycle, and the place of this cycle in its period (1 ..
    // cfg_period_cycles_i). Else resume_i is low.
    input  wire                      resume_i,
    input  wire [              47:0] resume_cycle_i,
    input  wire [              23:0] resume_period_i,

    // A cycle has cycle_units, a byte takes byte_cycles cycles and byte_units of the next.
    input  wire [              17:0] cfg_cycle_units_i,
    input  wire [               5:0] cfg_byte_cycles_i,
    input  wire [              17:0] cfg_byte_units_i,
    input  wire [               4:0] cfg_framing_bytes_i,
    input  wire [              23:0] cfg_period_cycles_i,   // of flow-control packets, at least 1
    input  wire                      cfg_repeat_i,          // also those that bring no news
    input  wire [              10:0] cfg_buffer_blocks_i,   // per VL, of our receiver
    input  wire [               7:0] cfg_high_limit_i,
    input  wire [         8*VLS-1:0] cfg_high_weight_i,
    input  wire [         8*VLS-1:0] cfg_low_weight_i,

    input  wire [   SOURCES*VLS-1:0] packet_valid_i,
    output wire [   SOURCES*VLS-1:0] packet_ready_o,
    input  wire [   SOURCES*VLS-1:0] packet_fresh_i,        // has come to the queue's head from outside just now
    input  wire [64*SOURCES*VLS-1:0] packet_handle_i,
    input  wire [13*SOURCES*VLS-1:0] packet_size_bytes_i,   // LRH .. VCRC
    input  wire [   SOURCES*VLS-1:0] packet_has_wqe_i,
    input  wire [   SOURCES*VLS-1:0] packet_is_ud_i,
    input  wire [24*SOURCES*VLS-1:0] packet_qpn_i,
    input  wire [16*SOURCES*VLS-1:0] packet_wqe_index_i,

    input  wire                      credit_valid_i,
    output wire                      credit_ready_o,
    input  wire                      credit_from_peer_i,
    input  wire                      credit_at_once_i,
    input  wire [               3:0] credit_vl_i,
    input  wire [              11:0] credit_fccl_i,

    output wire                      wire_valid_o,
    input  wire                      wire_ready_i,
    output wire                      wire_is_flow_control_o,
    output wire [               3:0] wire_vl_o,
    output wire [              12:0] wire_size_bytes_o,
    output wire [              63:0] wire_handle_o,         // of a packet; 0 for flow control
    output wire [              47:0] wire_flow_control_o,   // bytes of a flow-control packet; else 0
    output wire [              47:0] wire_first_byte_cycle_o,
    output wire [              47:0] wire_last_byte_cycle_o,

    output wire                      sent_valid_o,
    input  wire                      sent_ready_i,
    output wire [              23:0] sent_qpn_o,
    output wire [              15:0] sent_wqe_index_o,
    output wire [              63:0] sent_last_byte_cycle_o,

    output wire                      busy_o,
    output wire                      wakes_o,               // not busy, but the end of the period will be seen

    output wire [           VLS-1:0] trace_credit_stall_o,  // a packet has come to the head without credits
    output wire                      trace_from_high_o      // the packet on the wire is of the high table
);

    localparam QUEUE_BITS = SOURCES * VLS > 1 ? $clog2(SOURCES * VLS) : 1;
    localparam [31:0] SECOND_QUEUES = VLS;
    localparam [QUEUE_BITS-1:0] SECOND = SECOND_QUEUES[QUEUE_BITS-1:0];  // first queue of the second source

    // ----------------------------------------------------------------------------------------------- time
    reg [47:0] cycle_q;
    reg [23:0] period_q;  // cycles of this period so far, with this one

    wire [47:0] cycle       = resume_i ? resume_cycle_i : cycle_q;
    wire [23:0] period      = resume_i ? resume_period_i : period_q;
    wire        period_ends = period == cfg_period_cycles_i;

    always @(posedge clk_i) begin
        if (!rst_ni) begin
            cycle_q  <= 48'd1;
            period_q <= 24'd1;
        end else begin
            cycle_q  <= cycle + 48'd1;
            period_q <= period_ends ? 24'd1 : period + 24'd1;
        end
    end

    // ------------------------------------------------------------------------------------------------ VLs
    wire [   VLS-1:0] head_valid;
    wire [   VLS-1:0] head_source;
    wire [13*VLS-1:0] head_size_bytes;
    wire [ 7*VLS-1:0] head_blocks;
    wire [   VLS-1:0] may_send;
    wire [   VLS-1:0] credits_came;
    wire [   VLS-1:0] announce;
    wire [12*VLS-1:0] fctbs;
    wire [12*VLS-1:0] fccl;
    wire [   VLS-1:0] quiet;

    wire [   VLS-1:0] announced;  // a flow-control packet of this VL goes
    wire [   VLS-1:0] sent;       // a packet of this VL goes
    wire              look;       // packets have their turn

    assign credit_ready_o = 1'b1;

    genvar v, s;
    generate
        for (v = 0; v < VLS; v = v + 1) begin : lanes
            localparam [3:0] VL = v;
            wire [   SOURCES-1:0] valid;
            wire [13*SOURCES-1:0] size_bytes;
            for (s = 0; s < SOURCES; s = s + 1) begin : sources
                assign valid[s]             = packet_valid_i[s*VLS+v];
                assign size_bytes[13*s+:13] = packet_size_bytes_i[13*(s*VLS+v)+:13];
                assign packet_ready_o[s*VLS+v] = sent[v] && head_source[v] == s;
            end

            tx_lane #(
                .SOURCES(SOURCES)
            ) i_lane (
                .clk_i               (clk_i),
                .rst_ni              (rst_ni),
                .cfg_buffer_blocks_i (cfg_buffer_blocks_i),
                .cfg_repeat_i        (cfg_repeat_i),
                .credit_valid_i      (credit_valid_i && credit_vl_i == VL),
                .credit_from_peer_i  (credit_from_peer_i),
                .credit_at_once_i    (credit_at_once_i),
                .credit_fccl_i       (credit_fccl_i),
                .period_ends_i       (period_ends),
                .packet_valid_i      (valid),
                .packet_size_bytes_i (size_bytes),
                .head_valid_o        (head_valid[v]),
                .head_source_o       (head_source[v]),
                .head_size_bytes_o   (head_size_bytes[13*v+:13]),
                .head_blocks_o       (head_blocks[7*v+:7]),
                .may_send_o          (may_send[v]),
                .credits_came_o      (credits_came[v]),
                .packet_sent_i       (sent[v]),
                .announce_o          (announce[v]),
                .fctbs_o             (fctbs[12*v+:12]),
                .fccl_o              (fccl[12*v+:12]),
                .announce_sent_i     (announced[v]),
                .quiet_o             (quiet[v]),
                .look_i              (look),
                .trace_credit_stall_o(trace_credit_stall_o[v])
            );
        end
    endgenerate

    // --------------------------------------------------------------------------------------- whose turn
    // Flow control goes before packets, its VLs in turn. While it waits for the wire, so do packets.
    wire           free;
    wire           idle;
    wire           flow = announce != 0;
    wire [VLS-1:0] flow_vl;
    wire [VLS-1:0] packet_vl;
    reg  [VLS-1:0] last_flow_q;
    reg            initializing_q;  // until the first flow-control packet of the last VL has gone

    rotate_select #(
        .N(VLS)
    ) i_flow (
        .among_i (announce),
        .last_i  (last_flow_q),
        .chosen_o(flow_vl)
    );

    wire [VLS-1:0] candidates = free && !flow ? head_valid & may_send : {VLS{1'b0}};
    wire           from_high;

    // A packet may need both the wire and a notice, so nothing starts while either has no room.
    assign wire_valid_o = free && sent_ready_i && (flow || packet_vl != 0);

    wire           start = wire_valid_o && wire_ready_i;
    wire [VLS-1:0] vl    = flow ? flow_vl : packet_vl;

    assign announced = start && flow ? flow_vl : {VLS{1'b0}};
    assign sent      = start && !flow ? packet_vl : {VLS{1'b0}};
    assign look      = free && !flow && (candidates == 0 || (wire_ready_i && sent_ready_i));

    localparam [VLS-1:0] LAST_VL = 1 << (VLS - 1);

    always @(posedge clk_i) begin
        if (!rst_ni) begin
            last_flow_q    <= LAST_VL;
            initializing_q <= 1'b1;
        end else if (start && flow) begin
            last_flow_q <= flow_vl;
            if (flow_vl[VLS-1]) initializing_q <= 1'b0;
        end
    end

    // Number of the VL, what is kept of it, and the queue at its head.
    reg     [           3:0] vl_number;
    reg     [          12:0] packet_size_bytes;
    reg     [           6:0] packet_blocks;
    reg     [QUEUE_BITS-1:0] queue;
    reg     [          11:0] flow_fctbs;
    reg     [          11:0] flow_fccl;
    integer                  i;

    always @* begin
        vl_number         = 4'd0;
        packet_size_bytes = 13'd0;
        packet_blocks     = 7'd0;
        queue             = {QUEUE_BITS{1'b0}};
        flow_fctbs        = 12'd0;
        flow_fccl         = 12'd0;
        for (i = 0; i < VLS; i = i + 1) begin
            if (vl[i]) begin
                vl_number         = vl_number | i[3:0];
                packet_size_bytes = packet_size_bytes | head_size_bytes[13*i+:13];
                packet_blocks     = packet_blocks | head_blocks[7*i+:7];
                queue             = queue | (i[QUEUE_BITS-1:0] + (head_source[i] ? SECOND : {QUEUE_BITS{1'b0}}));
                flow_fctbs        = flow_fctbs | fctbs[12*i+:12];
                flow_fccl         = flow_fccl | fccl[12*i+:12];
            end
        end
    end

    vl_arbiter #(
        .VLS(VLS)
    ) i_arbiter (
        .clk_i            (clk_i),
        .rst_ni           (rst_ni),
        .cfg_high_limit_i (cfg_high_limit_i),
        .cfg_high_weight_i(cfg_high_weight_i),
        .cfg_low_weight_i (cfg_low_weight_i),
        .candidates_i     (candidates),
        .chosen_o         (packet_vl),
        .from_high_o      (from_high),
        .charge_i         (start && !flow),
        .size_bytes_i     (packet_size_bytes),
        .units_i          (packet_blocks)
    );

    // ---------------------------------------------------------------------------------------------- wire
    // A packet starts at the very byte at which the one before it ended, unless the wire is idle, or the
    // packet or its credits have come in this cycle only: then at the edge.
    wire at_edge = flow || idle || packet_fresh_i[queue] || (credits_came & packet_vl) != 0;

    wire [12:0] size_bytes = flow ? 13'd6 : packet_size_bytes;
    wire        first_is_before;
    wire [19:0] last_cycles;

    serializer i_serializer (
        .clk_i            (clk_i),
        .rst_ni           (rst_ni),
        .cfg_cycle_units_i(cfg_cycle_units_i),
        .cfg_byte_cycles_i(cfg_byte_cycles_i),
        .cfg_byte_units_i (cfg_byte_units_i),
        .start_i          (start),
        .at_edge_i        (at_edge),
        .bytes_i          (size_bytes + {8'd0, cfg_framing_bytes_i}),
        .free_o           (free),
        .idle_o           (idle),
        .first_is_before_o(first_is_before),
        .last_cycles_o    (last_cycles)
    );

    // Flow-control packet (IBTA 7.9.4): operand and FCTBS, VL and FCCL, LPCRC.
    wire [31:0] flow_bytes = {
        flow_fccl[7:0], vl_number, flow_fccl[11:8],
        flow_fctbs[7:0], 3'd0, initializing_q, flow_fctbs[11:8]
    };
    wire [15:0] flow_crc;

    lpcrc i_lpcrc (
        .valid_i(flow),
        .bytes_i(flow_bytes),
        .crc_o  (flow_crc)
    );

    assign wire_is_flow_control_o  = flow;
    assign wire_vl_o               = vl_number;
    assign wire_size_bytes_o       = size_bytes;
    assign wire_handle_o           = flow ? 64'd0 : packet_handle_i[64*queue+:64];
    assign wire_flow_control_o     = flow ? {flow_crc, flow_bytes} : 48'd0;
    assign wire_first_byte_cycle_o = cycle - {47'd0, first_is_before};
    assign wire_last_byte_cycle_o  = cycle + {28'd0, last_cycles};

    // An unreliable datagram is complete when it is on the wire: its sender is told when that will be.
    assign sent_valid_o            = start && !flow && packet_has_wqe_i[queue] && packet_is_ud_i[queue];
    assign sent_qpn_o              = packet_qpn_i[24*queue+:24];
    assign sent_wqe_index_o        = packet_wqe_index_i[16*queue+:16];
    assign sent_last_byte_cycle_o  = {16'd0, wire_last_byte_cycle_o};

    assign busy_o                  = !idle || flow;
    assign wakes_o                 = quiet != {VLS{1'b1}};

    assign trace_from_high_o       = start && !flow && from_high;

endmodule

`default_nettype wire
