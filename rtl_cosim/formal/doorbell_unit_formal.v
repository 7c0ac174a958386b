// Doorbell unit of 8 slots with a FIFO of three, against a FIFO that moves up and looks for the newest entry of a
// slot by comparing with all: the same words taken and the same doorbells delivered in the same cycles. And what
// matters: of any one QP, an index that was taken is delivered, it or a later one, before the QP has left the FIFO.
// QPNs vary in five bits (three of them the slot), indices in the upper two and the lower two.
// depth: 10
// mode: bmc
// sources: doorbell_unit.v
`default_nettype none

module doorbell_unit_formal (
    input wire        clk_i,
    // Chosen by the solver, in every cycle.
    input wire        write_valid_i,
    input wire [2:0]  write_type_i,
    input wire [4:0]  write_number_i,
    input wire [3:0]  write_index_i,
    input wire        send_ready_i,
    input wire        receive_ready_i,
    input wire        cq_ready_i
);

    (* anyconst *) reg        coalesce;
    (* anyconst *) reg [23:0] watched;
    (* anyconst *) reg [3:0]  base;

    wire [7:0]  kind   = {5'd0, write_type_i};
    wire [23:0] number = {write_number_i[4], 6'd0, write_number_i[3], 13'd0, write_number_i[2:0]};
    wire [15:0] index  = {write_index_i[3:2], 12'd0, write_index_i[1:0]};

    reg rst_n = 1'b0;
    always @(posedge clk_i) rst_n <= 1'b1;

    wire        write_ready;
    wire        send_valid;
    wire [23:0] send_qpn;
    wire [15:0] send_producer;
    wire        receive_valid;
    wire [23:0] receive_qpn;
    wire [15:0] receive_producer;
    wire        cq_valid;
    wire [23:0] cq_cqn;
    wire [15:0] cq_consumer;
    wire        cq_event_queue;
    wire        busy;
    doorbell_unit #(
        .QPS(8),
        .DEPTH(3)
    ) dut (
        .clk_i(clk_i),
        .rst_ni(rst_n),
        .cfg_coalesce_i(coalesce),
        .write_valid_i(write_valid_i),
        .write_ready_o(write_ready),
        .write_word_i({kind, number, 16'd0, index}),
        .send_valid_o(send_valid),
        .send_ready_i(send_ready_i),
        .send_qpn_o(send_qpn),
        .send_producer_o(send_producer),
        .receive_valid_o(receive_valid),
        .receive_ready_i(receive_ready_i),
        .receive_qpn_o(receive_qpn),
        .receive_producer_o(receive_producer),
        .cq_valid_o(cq_valid),
        .cq_ready_i(cq_ready_i),
        .cq_cqn_o(cq_cqn),
        .cq_consumer_o(cq_consumer),
        .cq_event_queue_o(cq_event_queue),
        .busy_o(busy),
        .trace_received_o(),
        .trace_coalesced_o(),
        .trace_stale_o(),
        .trace_unknown_o(),
        .trace_full_o(),
        .trace_merged_o(),
        .trace_merged_qpn_o(),
        .trace_merged_before_o(),
        .trace_merged_offered_o(),
        .trace_merged_after_o(),
        .trace_level_o()
    );

    function ahead;
        input [15:0] a;
        input [15:0] b;
        ahead = $signed(a - b) > $signed(16'd0);
    endfunction

    // The FIFO, front first.
    reg [1:0]  level = 2'd0;
    reg [23:0] qpn[0:2];
    reg [15:0] producer[0:2];
    reg        was_full;
    reg        found;
    reg        taken;
    reg [1:0]  newest;
    integer    i;

    // The newest index of the watched QP that has been taken and not delivered. Which of two is newer can be said
    // while they lie within half the window, as they do in a send queue.
    always @* if (write_valid_i && number == watched) assume (write_index_i - base < 4'd8);
    reg        owed = 1'b0;
    reg [15:0] owed_index;

    always @(posedge clk_i)
        if (rst_n) begin
            was_full = level == 2'd3;
            assert (send_valid == (level != 2'd0));
            if (send_valid) assert (send_qpn == qpn[0] && send_producer == producer[0]);
            if (level != 2'd0) assert (busy);
            if (send_valid && send_ready_i) begin
                if (send_qpn == watched && !ahead(owed_index, send_producer)) owed = 1'b0;
                qpn[0]      = qpn[1];
                producer[0] = producer[1];
                qpn[1]      = qpn[2];
                producer[1] = producer[2];
                level       = level - 2'd1;
            end
            found  = 1'b0;
            newest = 2'd0;
            for (i = 0; i < 3; i = i + 1)
                if (i < level && qpn[i][2:0] == number[2:0]) begin
                    found  = 1'b1;
                    newest = i[1:0];
                end
            found = found && coalesce && qpn[newest] == number;
            taken = kind == 8'd0 ? found || !was_full : kind == 8'd1 ? receive_ready_i :
                    kind == 8'd2 || kind == 8'd3 ? cq_ready_i : 1'b1;
            if (write_valid_i) begin
                assert (write_ready == taken);
                if (kind == 8'd0 && taken) begin
                    if (!found) begin
                        qpn[level]      = number;
                        producer[level] = index;
                        level           = level + 2'd1;
                    end else if (ahead(index, producer[newest])) producer[newest] = index;
                    if (number == watched && (!owed || ahead(index, owed_index))) begin
                        owed       = 1'b1;
                        owed_index = index;
                    end
                end
            end
            assert (receive_valid == (write_valid_i && kind == 8'd1));
            if (receive_valid) assert (receive_qpn == number && receive_producer == index);
            assert (cq_valid == (write_valid_i && (kind == 8'd2 || kind == 8'd3)));
            if (cq_valid) assert (cq_cqn == number && cq_consumer == index && cq_event_queue == (kind == 8'd3));
            if (level == 2'd0) assert (!owed);
        end

endmodule

`default_nettype wire
