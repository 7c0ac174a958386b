// Receive side of a port: a pipeline in which packets are until their last byte has come and their VCRC is
// known, VL buffers, credits. Packets are descriptors: a handle, and what has to be known of the packet.
// Flow-control packets come with their bytes and end here.
`default_nettype none

module link_rx #(
    parameter VLS      = 2,   // data VLs, 1..15
    parameter PACKETS  = 64,  // in the buffer of a VL; a power of two, not fewer than cfg_buffer_blocks_i
    parameter ARRIVING = 8    // packets in the pipeline; a power of two, at least 2
) (
    input  wire        clk_i,
    input  wire        rst_ni,

    // After cycles without a clock: the count of this cycle. Else resume_i is low.
    input  wire        resume_i,
    input  wire [47:0] resume_cycle_i,

    input  wire [31:0] cfg_arrival_cycles_i,      // propagation and pipeline: last byte sent to VCRC checked
    input  wire [10:0] cfg_buffer_blocks_i,       // of 64 bytes, per VL
    input  wire [16:0] cfg_update_bytes_i,        // freed bytes after which the peer is told at once

    input  wire        wire_valid_i,
    output wire        wire_ready_o,
    input  wire        wire_is_flow_control_i,
    input  wire [ 3:0] wire_vl_i,                 // as the LRH has it
    input  wire [12:0] wire_size_bytes_i,         // LRH .. VCRC
    input  wire [63:0] wire_handle_i,
    input  wire        wire_vcrc_ok_i,
    input  wire        wire_late_i,               // overtaken on the wire: FCTBS has counted it already
    input  wire [47:0] wire_flow_control_i,       // bytes of a flow-control packet
    input  wire [47:0] wire_last_byte_cycle_i,    // when its last byte has left the peer

    output wire        packet_valid_o,
    input  wire        packet_ready_i,
    output wire [63:0] packet_handle_o,

    output wire        drop_valid_o,              // a packet that goes no further; taken in this cycle
    output wire [63:0] drop_handle_o,

    output wire        credit_valid_o,
    input  wire        credit_ready_i,
    output wire        credit_from_peer_o,
    output wire        credit_at_once_o,
    output wire [ 3:0] credit_vl_o,
    output wire [11:0] credit_fccl_o,

    output wire        busy_o,

    output wire        trace_packet_o,            // a packet has arrived
    output wire        trace_flow_control_o,      // a flow-control packet has arrived
    output wire        trace_flow_control_error_o,
    output wire        trace_vcrc_error_o,
    output wire        trace_overrun_o,
    output wire        trace_resync_o,
    output wire [12:0] trace_kept_bytes_o         // entered a buffer
);

    // ------------------------------------------------------------------------------------------- pipeline
    // A packet is handled when its last byte has passed, one per cycle, in order. Its cycle is known when it
    // is announced on the wire.
    localparam PLACE_BITS = $clog2(ARRIVING);
    localparam [PLACE_BITS-1:0] ONE_PLACE = 1;

    reg  [47:0] cycle_q;
    wire [47:0] cycle = resume_i ? resume_cycle_i : cycle_q;

    always @(posedge clk_i) begin
        if (!rst_ni) cycle_q <= 48'd1;
        else cycle_q <= cycle + 48'd1;
    end

    localparam ENTRY_BITS = 48 + 1 + 4 + 13 + 64 + 1 + 1;

    reg [ENTRY_BITS-1:0] arriving[0:ARRIVING-1];
    reg [PLACE_BITS-1:0] head_q;
    reg [PLACE_BITS-1:0] tail_q;
    reg is_empty_q;
    reg is_full_q;
    reg [47:0] newest_due_q;

    wire [47:0] last_due = wire_last_byte_cycle_i + {16'd0, cfg_arrival_cycles_i};
    wire [47:0] newest   = newest_due_q > cycle ? newest_due_q : cycle;
    wire [47:0] due      = last_due > newest ? last_due : newest + 48'd1;

    wire push = wire_valid_i && !is_full_q;

    assign wire_ready_o = !is_full_q;

    wire [47:0] head_due;
    wire        head_is_flow_control;
    wire [ 3:0] head_vl;
    wire [12:0] head_size_bytes;
    wire [63:0] head_handle;
    wire        head_vcrc_ok;
    wire        head_late;

    assign {head_due, head_is_flow_control, head_vl, head_size_bytes, head_handle, head_vcrc_ok, head_late} =
        arriving[head_q];

    wire arrived = !is_empty_q && head_due == cycle;

    wire [PLACE_BITS-1:0] head = arrived ? head_q + ONE_PLACE : head_q;
    wire [PLACE_BITS-1:0] tail = push ? tail_q + ONE_PLACE : tail_q;

    always @(posedge clk_i) begin
        if (push) begin
            // The bytes of a flow-control packet take the place of the handle.
            arriving[tail_q] <= {
                due, wire_is_flow_control_i, wire_vl_i, wire_size_bytes_i,
                wire_is_flow_control_i ? {16'd0, wire_flow_control_i} : wire_handle_i,
                wire_vcrc_ok_i, wire_late_i
            };
        end
    end

    always @(posedge clk_i) begin
        if (!rst_ni) begin
            head_q       <= {PLACE_BITS{1'b0}};
            tail_q       <= {PLACE_BITS{1'b0}};
            is_empty_q   <= 1'b1;
            is_full_q    <= 1'b0;
            newest_due_q <= 48'd0;
        end else begin
            head_q <= head;
            tail_q <= tail;
            if (push) newest_due_q <= due;
            if (push != arrived) begin
                is_empty_q <= arrived && head == tail;
                is_full_q  <= push && head == tail;
            end
        end
    end

    // ------------------------------------------------------------------------------------------- arrival
    // Flow-control packet (IBTA 7.9.4), byte 0 in the lowest bits.
    wire        flow = arrived && head_is_flow_control;
    wire        data = arrived && !head_is_flow_control;
    wire [15:0] flow_crc;
    wire [11:0] flow_fctbs = {head_handle[3:0], head_handle[15:8]};
    wire [ 3:0] flow_vl = head_handle[23:20];
    wire [11:0] flow_fccl = {head_handle[19:16], head_handle[31:24]};

    lpcrc i_lpcrc (
        .valid_i(flow),
        .bytes_i(head_handle[31:0]),
        .crc_o  (flow_crc)
    );

    localparam [31:0] VL_COUNT = VLS;

    wire flow_ok = flow && flow_crc == head_handle[47:32] && {1'b0, flow_vl} < VL_COUNT[4:0];
    wire has_vl  = {1'b0, head_vl} < VL_COUNT[4:0];

    // --------------------------------------------------------------------------------------------- lanes
    wire [   VLS-1:0] overrun;
    wire [   VLS-1:0] resync;
    wire [   VLS-1:0] has_packet;
    wire [64*VLS-1:0] handle;
    wire [   VLS-1:0] has_limit;
    wire [12*VLS-1:0] limit;
    wire [   VLS-1:0] changed;
    wire [   VLS-1:0] at_once;
    wire [12*VLS-1:0] fccl;
    wire [   VLS-1:0] lane_busy;

    wire [   VLS-1:0] packet_vl;  // whose turn it is
    wire [   VLS-1:0] limit_vl;
    wire [   VLS-1:0] fccl_vl;
    wire              tells_limit = has_limit != 0;
    wire              credit_goes = credit_valid_o && credit_ready_i;

    genvar v;
    generate
        for (v = 0; v < VLS; v = v + 1) begin : lanes
            localparam [3:0] VL = v;

            rx_lane #(
                .PACKETS(PACKETS)
            ) i_lane (
                .clk_i              (clk_i),
                .rst_ni             (rst_ni),
                .cfg_buffer_blocks_i(cfg_buffer_blocks_i),
                .cfg_update_bytes_i (cfg_update_bytes_i),
                .arrived_i          (data && head_vl == VL),
                .count_i            (!head_late),
                .good_i             (head_vcrc_ok),
                .size_bytes_i       (head_size_bytes),
                .handle_i           (head_handle),
                .overrun_o          (overrun[v]),
                .flow_i             (flow_ok && flow_vl == VL),
                .fctbs_i            (flow_fctbs),
                .fccl_i             (flow_fccl),
                .resync_o           (resync[v]),
                .head_valid_o       (has_packet[v]),
                .head_handle_o      (handle[64*v+:64]),
                .take_i             (packet_vl[v] && packet_ready_i),
                .limit_valid_o      (has_limit[v]),
                .limit_o            (limit[12*v+:12]),
                .limit_told_i       (limit_vl[v] && credit_goes),
                .changed_o          (changed[v]),
                .at_once_o          (at_once[v]),
                .fccl_o             (fccl[12*v+:12]),
                .fccl_told_i        (fccl_vl[v] && credit_goes && !tells_limit),
                .busy_o             (lane_busy[v])
            );
        end
    endgenerate

    // ---------------------------------------------------------------------- one packet per cycle, VLs in turn
    localparam [VLS-1:0] LAST_VL = 1 << (VLS - 1);

    reg [VLS-1:0] last_packet_q;
    reg [VLS-1:0] last_limit_q;
    reg [VLS-1:0] last_fccl_q;

    rotate_select #(
        .N(VLS)
    ) i_packet (
        .among_i (has_packet),
        .last_i  (last_packet_q),
        .chosen_o(packet_vl)
    );

    // One credit update per cycle, the peer's limits before our own.
    rotate_select #(
        .N(VLS)
    ) i_limit (
        .among_i (has_limit),
        .last_i  (last_limit_q),
        .chosen_o(limit_vl)
    );

    rotate_select #(
        .N(VLS)
    ) i_fccl (
        .among_i (changed),
        .last_i  (last_fccl_q),
        .chosen_o(fccl_vl)
    );

    assign packet_valid_o = has_packet != 0;
    assign credit_valid_o = tells_limit || changed != 0;

    wire [VLS-1:0] credit_vl = tells_limit ? limit_vl : fccl_vl;

    always @(posedge clk_i) begin
        if (!rst_ni) begin
            last_packet_q <= LAST_VL;
            last_limit_q  <= LAST_VL;
            last_fccl_q   <= LAST_VL;
        end else begin
            if (packet_valid_o && packet_ready_i) last_packet_q <= packet_vl;
            if (credit_goes && tells_limit) last_limit_q <= limit_vl;
            if (credit_goes && !tells_limit) last_fccl_q <= fccl_vl;
        end
    end

    reg     [63:0] packet_handle;
    reg     [ 3:0] credit_number;
    reg     [11:0] credit_fccl;
    integer        i;

    always @* begin
        packet_handle = 64'd0;
        credit_number = 4'd0;
        credit_fccl   = 12'd0;
        for (i = 0; i < VLS; i = i + 1) begin
            if (packet_vl[i]) packet_handle = packet_handle | handle[64*i+:64];
            if (credit_vl[i]) begin
                credit_number = credit_number | i[3:0];
                credit_fccl   = credit_fccl | (tells_limit ? limit[12*i+:12] : fccl[12*i+:12]);
            end
        end
    end

    assign packet_handle_o    = packet_handle;
    assign credit_from_peer_o = tells_limit;
    assign credit_at_once_o   = !tells_limit && (at_once & fccl_vl) != 0;
    assign credit_vl_o        = credit_number;
    assign credit_fccl_o      = credit_fccl;

    wire is_bad   = data && has_vl && !head_vcrc_ok;
    wire no_room  = overrun != 0 || (data && !has_vl);

    assign drop_valid_o               = is_bad || no_room;
    assign drop_handle_o              = head_handle;

    assign busy_o                     = !is_empty_q || lane_busy != 0;

    assign trace_packet_o             = data;
    assign trace_flow_control_o       = flow;
    assign trace_flow_control_error_o = flow && !flow_ok;
    assign trace_vcrc_error_o         = is_bad;
    assign trace_overrun_o            = no_room;
    assign trace_resync_o             = resync != 0;
    assign trace_kept_bytes_o         = data && !drop_valid_o ? head_size_bytes : 13'd0;

endmodule

`default_nettype wire
