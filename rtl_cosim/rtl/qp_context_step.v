// One access to a line of the QP context cache: the context that goes in, what the operation makes of it, what comes
// out. The only place that knows where the fields of a context lie; they lie as in the memory of the host
// (struct qp_context of the model, little endian, byte i in bits 8i+7 .. 8i).
`default_nettype none

module qp_context_step #(
    parameter CONTEXT_BYTES = 120  // at least 120; bytes behind the fields are kept
) (
    input  wire                       install_i,  // fill_i replaces the context
    input  wire [8*CONTEXT_BYTES-1:0] fill_i,

    input  wire                       access_i,
    input  wire [2:0]                 operation_i,
    input  wire                       known_i,    // what qp_context_decision.v says
    input  wire                       applies_i,
    input  wire [63:0]                requester_i,
    input  wire [319:0]               responder_i,
    input  wire [2:0]                 modify_to_i,
    input  wire [2:0]                 modify_reason_i,
    input  wire [31:0]                modify_attribute_mask_i,
    input  wire [255:0]               modify_attributes_i,
    input  wire                       modify_destroy_i,
    input  wire [8*CONTEXT_BYTES-1:0] fresh_i,

    input  wire [8*CONTEXT_BYTES-1:0] context_i,
    output wire [2:0]                 state_before_o,
    output wire [8*CONTEXT_BYTES-1:0] context_o,
    output wire                       changed_o,  // the line is dirty from now on

    // Of context_o.
    output wire [31:0]                qpn_o,
    output wire [7:0]                 state_o,
    output wire                       valid_o,
    output wire                       has_rts_attributes_o,
    output wire [3:0]                 sl_class_o,
    output wire                       notify_drained_o,
    output wire [23:0]                next_psn_o
);

    // ---- layout: offset, and behind it the size, in bytes ----

    localparam QPN                = 0;   // 4
    localparam STATE              = 4;   // 1
    localparam VALID              = 5;   // 1
    localparam HAS_RTS_ATTRIBUTES = 6;   // 1
    localparam OPENED_BY          = 7;   // 1
    // From 8 on the resources, 32 bytes, of which is looked at:
    localparam SL_CLASS           = 35;  // 1
    localparam ATTRIBUTES         = 40;  // 32, which are:
    localparam DEST_QPN           = 40;  // 4
    localparam RQ_PSN             = 44;  // 4
    localparam SQ_PSN             = 48;  // 4
    localparam QKEY               = 52;  // 4
    localparam PKEY               = 56;  // 2
    localparam DLID               = 58;  // 2
    localparam SL                 = 60;  // 1
    localparam PORT               = 61;  // 1
    localparam PATH_MTU           = 62;  // 1
    localparam TIMEOUT            = 63;  // 1
    localparam RETRY_CNT          = 64;  // 1
    localparam RNR_RETRY          = 65;  // 1
    localparam MIN_RNR_TIMER      = 66;  // 1
    localparam MAX_RD_ATOMIC      = 67;  // 1
    localparam MAX_DEST_RD_ATOMIC = 68;  // 1
    localparam EN_SQD_NOTIFY      = 69;  // 1
    localparam REQUESTER          = 72;  // 8, which are:
    localparam NEXT_PSN           = 72;  // 4
    localparam REQUESTER_LIFE     = 76;  // 4
    localparam RESPONDER          = 80;  // 40, of which are looked at:
    localparam EXPECTED_PSN       = 80;  // 4
    localparam RESPONDER_LIFE     = 94;  // 2
    // 120 is the end.

    // Bits of the attribute mask (IBTA 11.2.5.2; numbers as in ibv_modify_qp).
    localparam M_EN_SQD_NOTIFY      = 2;
    localparam M_PKEY               = 4;
    localparam M_PORT               = 5;
    localparam M_QKEY               = 6;
    localparam M_AV                 = 7;
    localparam M_PATH_MTU           = 8;
    localparam M_TIMEOUT            = 9;
    localparam M_RETRY_CNT          = 10;
    localparam M_RNR_RETRY          = 11;
    localparam M_RQ_PSN             = 12;
    localparam M_MAX_RD_ATOMIC      = 13;
    localparam M_MIN_RNR_TIMER      = 15;
    localparam M_SQ_PSN             = 16;
    localparam M_MAX_DEST_RD_ATOMIC = 17;
    localparam M_DEST_QPN           = 20;

    localparam [2:0] WRITE_REQUESTER = 3'd1;
    localparam [2:0] WRITE_RESPONDER = 3'd2;
    localparam [2:0] MODIFY          = 3'd3;
    localparam [2:0] CREATE          = 3'd4;
    localparam [2:0] RESET           = 3'd0;
    localparam [2:0] RTR             = 3'd2;
    localparam [2:0] RTS             = 3'd3;

    // ---- the lives of the two halves ----

    // They move with create and RESET. An engine that writes its half back names the life it has read; if the
    // QP has been reset or destroyed in the meantime the write is void.
    wire [31:0] requester_life      = context_i[8*REQUESTER_LIFE+:32];
    wire [15:0] responder_life      = context_i[8*RESPONDER_LIFE+:16];
    wire [31:0] next_requester_life = requester_life + 32'd1;
    wire [15:0] next_responder_life = responder_life + 16'd1;

    wire requester_lives = requester_i[8*(REQUESTER_LIFE-REQUESTER)+:32] == requester_life;
    wire responder_lives = responder_i[8*(RESPONDER_LIFE-RESPONDER)+:16] == responder_life;

    wire [31:0] m = modify_attribute_mask_i;
    // The five attributes that RTR -> RTS of an RC QP requires.
    wire rts_attributes_given = m[M_SQ_PSN] && m[M_TIMEOUT] && m[M_RETRY_CNT] && m[M_RNR_RETRY] && m[M_MAX_RD_ATOMIC];
    wire unused_bits = &{1'b0, m[31:21], m[19:18], m[14], m[3], m[1:0], modify_attributes_i[255:240]};

    // ---- the step ----

    reg [8*CONTEXT_BYTES-1:0] next;
    reg                       changed;

    always @* begin
        next    = context_i;
        changed = 1'b0;
        if (install_i) begin
            next = fill_i;
        end else if (access_i) begin
            case (operation_i)
                WRITE_REQUESTER:
                    if (known_i && requester_lives) begin
                        next[8*REQUESTER+:64] = requester_i;
                        changed = 1'b1;
                    end
                WRITE_RESPONDER:
                    if (known_i && responder_lives) begin
                        next[8*RESPONDER+:320] = responder_i;
                        changed = 1'b1;
                    end
                MODIFY: begin
                    changed = known_i;
                    if (applies_i) begin
                        if (m[M_DEST_QPN]) next[8*DEST_QPN+:32] = modify_attributes_i[8*(DEST_QPN-ATTRIBUTES)+:32];
                        if (m[M_RQ_PSN]) begin
                            next[8*RQ_PSN+:32]       = modify_attributes_i[8*(RQ_PSN-ATTRIBUTES)+:32];
                            next[8*EXPECTED_PSN+:32] = modify_attributes_i[8*(RQ_PSN-ATTRIBUTES)+:32];
                        end
                        if (m[M_SQ_PSN]) begin
                            next[8*SQ_PSN+:32]   = modify_attributes_i[8*(SQ_PSN-ATTRIBUTES)+:32];
                            next[8*NEXT_PSN+:32] = modify_attributes_i[8*(SQ_PSN-ATTRIBUTES)+:32];
                        end
                        if (m[M_QKEY]) next[8*QKEY+:32] = modify_attributes_i[8*(QKEY-ATTRIBUTES)+:32];
                        if (m[M_PKEY]) next[8*PKEY+:16] = modify_attributes_i[8*(PKEY-ATTRIBUTES)+:16];
                        if (m[M_AV]) begin
                            next[8*DLID+:16] = modify_attributes_i[8*(DLID-ATTRIBUTES)+:16];
                            next[8*SL+:8]    = modify_attributes_i[8*(SL-ATTRIBUTES)+:8];
                        end
                        if (m[M_PORT]) next[8*PORT+:8] = modify_attributes_i[8*(PORT-ATTRIBUTES)+:8];
                        if (m[M_PATH_MTU]) next[8*PATH_MTU+:8] = modify_attributes_i[8*(PATH_MTU-ATTRIBUTES)+:8];
                        if (m[M_TIMEOUT]) next[8*TIMEOUT+:8] = modify_attributes_i[8*(TIMEOUT-ATTRIBUTES)+:8];
                        if (m[M_RETRY_CNT]) next[8*RETRY_CNT+:8] = modify_attributes_i[8*(RETRY_CNT-ATTRIBUTES)+:8];
                        if (m[M_RNR_RETRY]) next[8*RNR_RETRY+:8] = modify_attributes_i[8*(RNR_RETRY-ATTRIBUTES)+:8];
                        if (m[M_MIN_RNR_TIMER])
                            next[8*MIN_RNR_TIMER+:8] = modify_attributes_i[8*(MIN_RNR_TIMER-ATTRIBUTES)+:8];
                        if (m[M_MAX_RD_ATOMIC])
                            next[8*MAX_RD_ATOMIC+:8] = modify_attributes_i[8*(MAX_RD_ATOMIC-ATTRIBUTES)+:8];
                        if (m[M_MAX_DEST_RD_ATOMIC])
                            next[8*MAX_DEST_RD_ATOMIC+:8] = modify_attributes_i[8*(MAX_DEST_RD_ATOMIC-ATTRIBUTES)+:8];
                        // Asked for with each modify anew.
                        next[8*EN_SQD_NOTIFY+:8] =
                            m[M_EN_SQD_NOTIFY] ? modify_attributes_i[8*(EN_SQD_NOTIFY-ATTRIBUTES)+:8] : 8'd0;
                        if (rts_attributes_given) next[8*HAS_RTS_ATTRIBUTES+:8] = 8'd1;
                        next[8*STATE+:8] = {5'd0, modify_to_i};
                        if (context_i[8*STATE+:8] == {5'd0, RTR} && modify_to_i == RTS)
                            next[8*OPENED_BY+:8] = {5'd0, modify_reason_i};
                        if (modify_to_i == RESET) begin
                            next[8*REQUESTER+:64]         = {next_requester_life, 32'd0};
                            next[8*RESPONDER+:320]        = 320'd0;
                            next[8*RESPONDER_LIFE+:16]    = next_responder_life;
                            next[8*HAS_RTS_ATTRIBUTES+:8] = 8'd0;
                            next[8*OPENED_BY+:8]          = 8'd0;
                        end
                        if (modify_destroy_i) begin
                            next[8*VALID+:8] = 8'd0;
                            next[8*STATE+:8] = {5'd0, RESET};
                        end
                    end
                end
                CREATE:
                    if (applies_i) begin
                        next = fresh_i;
                        next[8*REQUESTER_LIFE+:32] = next_requester_life;
                        next[8*RESPONDER_LIFE+:16] = next_responder_life;
                        changed = 1'b1;
                    end
                default: ;
            endcase
        end
    end

    assign state_before_o       = context_i[8*STATE+:3];
    assign context_o            = next;
    assign changed_o            = changed;
    assign qpn_o                = next[8*QPN+:32];
    assign state_o              = next[8*STATE+:8];
    assign valid_o              = next[8*VALID+:8] != 8'd0;
    assign has_rts_attributes_o = next[8*HAS_RTS_ATTRIBUTES+:8] != 8'd0;
    assign sl_class_o           = next[8*SL_CLASS+:4];
    assign notify_drained_o     = next[8*EN_SQD_NOTIFY+:8] != 8'd0;
    assign next_psn_o           = next[8*NEXT_PSN+:24];

endmodule

`default_nettype wire
