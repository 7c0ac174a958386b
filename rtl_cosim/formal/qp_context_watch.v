// For the proofs of the QP context cache: a cache of 8 QPs, 2 sets, 2 misses, 2 places to wait, a memory
// behind it, two clients that read and write back, and what has to hold of one slot, which is watched (which one
// makes no difference to the design):
//  - it never has two lines, and none is fetched for it while it has one;
//  - a read of it answers what the last write before it has left, however often the line was written back and
//    fetched in between: a dirty line that is not written back before its place is used, or to another place, or
//    a write lost in a replay, would show here;
//  - a read is answered at most once, and to the client that asked.
// What is read of a context is its QPN and one bit of the PSN, and only those vary.
`default_nettype none

module qp_context_watch #(
    parameter WAYS = 2
) (
    input wire       clk_i,
    // Chosen by the solver, in every cycle.
    input wire [1:0] request_valid_i,  // send engine, receive engine
    input wire [1:0] request_writes_i,
    input wire [5:0] request_slot_i,
    input wire [1:0] request_value_i,
    input wire [1:0] request_mark_i,
    input wire [1:0] response_ready_i,
    input wire       fill_ready_i,
    input wire       fill_answers_i,
    input wire       writeback_ready_i,

    output wire      waits_o  // a read of the watched slot is under way
);

    wire [2:0] watched = 3'd5;
    (* anyconst *) reg       plru;

    reg started = 1'b0;
    always @(posedge clk_i) started <= 1'b1;
    wire rst_n = started;

    localparam READ  = 3'd0;
    localparam WRITE = 3'd1;

    // A context of which only this varies; see qp_context_step.v for the places.
    function [959:0] context_of;
        input [2:0] slot;
        input       value;
        begin
            context_of = 960'd0;
            context_of[2:0] = slot;
            context_of[8*5] = 1'b1;
            context_of[8*72] = value;
        end
    endfunction

    wire [1:0]   request_ready;
    wire [1:0]   response_valid;
    wire [63:0]  response_cookie;
    wire [1919:0] response_context;
    wire         fill_valid;
    wire [63:0]  fill_address;
    wire [31:0]  fill_cookie;
    wire         writeback_valid;
    wire [63:0]  writeback_address;
    wire [959:0] writeback_data;
    wire         install;
    wire         eviction;
    wire [23:0]  installed;
    wire [23:0]  evicted;

    // ---- the memory of the host: what it holds for the watched slot, and reads under way ----

    reg       memory;
    reg [1:0] pending;  // reads that have not been answered, the first one in front
    reg [2:0] slot_0, slot_1;
    reg       cookie_0, cookie_1;

    wire       answer      = rst_n && pending != 2'd0 && fill_answers_i;
    wire       ask         = fill_valid && fill_ready_i;
    wire [1:0] left        = pending - {1'b0, answer};
    wire       answer_value = slot_0 == watched && memory;

    always @(posedge clk_i) begin
        if (!rst_n) begin
            pending <= 2'd0;
        end else begin
            pending <= left + {1'b0, ask};
            if (answer) begin
                slot_0   <= slot_1;
                cookie_0 <= cookie_1;
            end
            if (ask && left == 2'd0) begin
                slot_0   <= fill_address[10:8];
                cookie_0 <= fill_cookie[0];
            end
            if (ask && left == 2'd1) begin
                slot_1   <= fill_address[10:8];
                cookie_1 <= fill_cookie[0];
            end
            if (writeback_valid && writeback_ready_i && writeback_address[10:8] == watched)
                memory <= writeback_data[8*72];
        end
    end

    // ---- what a read has to find ----

    reg       tracked;  // one read of the watched slot, chosen by the solver
    reg       answered;
    reg       tracked_client;
    reg       value;  // written last
    reg       expected;

    wire [1:0] taken = request_valid_i & request_ready;
    wire [1:0] of_watched = {request_slot_i[5:3] == watched, request_slot_i[2:0] == watched};
    wire [1:0] marked = request_mark_i & of_watched & ~request_writes_i & {2{!tracked}};
    wire [1:0] answers = response_valid & response_ready_i & {response_cookie[32], response_cookie[0]};

    assign waits_o = tracked && !answered;

    reg present;  // the watched slot has a line

    always @(posedge clk_i) begin
        if (!rst_n) begin
            tracked  <= 1'b0;
            answered <= 1'b0;
            present  <= 1'b0;
            value    <= memory;
        end else begin
            if (taken[0] && request_writes_i[0] && of_watched[0]) value <= request_value_i[0];
            if (taken[1] && request_writes_i[1] && of_watched[1]) value <= request_value_i[1];
            if ((taken & marked) != 2'b00) begin
                tracked        <= 1'b1;
                tracked_client <= taken[1];
                expected       <= value;
            end
            if (answers != 2'b00) answered <= 1'b1;
            if (eviction && evicted[2:0] == watched) present <= 1'b0;
            if (install && installed[2:0] == watched) present <= 1'b1;
        end
    end

    always @* begin
        if (rst_n) begin
            assert (taken != 2'b11);
            if (install && installed[2:0] == watched) assert (!present);
            if (eviction && evicted[2:0] == watched) assert (present);
            if (ask && fill_address[10:8] == watched) assert (!present);
            if (answers != 2'b00) begin
                assert (tracked && !answered);
                assert (answers == (tracked_client ? 2'b10 : 2'b01));
                if (answers[0]) assert (response_context[8*72] == expected);
                if (answers[1]) assert (response_context[960+8*72] == expected);
            end
            if (writeback_valid) assert (writeback_data[2:0] == writeback_address[10:8]);
        end
    end

    qp_context_cache #(
        .QPS(8),
        .SETS(2),
        .WAYS(WAYS),
        .MISSES(2),
        .WAITING(2)
    ) dut (
        .clk_i(clk_i),
        .rst_ni(rst_n),
        .cfg_plru_i(plru),
        .cfg_hit_cycles_i(7'd1),
        .cfg_context_address_i(64'd0),

        .send_request_valid_i(request_valid_i[0]),
        .send_request_ready_o(request_ready[0]),
        .send_request_operation_i(request_writes_i[0] ? WRITE : READ),
        .send_request_qpn_i({29'd0, request_slot_i[2:0]}),
        .send_request_cookie_i({31'd0, marked[0]}),
        .send_request_requester_i({63'd0, request_value_i[0] && of_watched[0]}),
        .send_request_responder_i(320'd0),
        .send_request_modify_from_states_i(32'd0),
        .send_request_modify_to_i(3'd0),
        .send_request_modify_needs_rts_attributes_i(1'b0),
        .send_request_modify_reason_i(3'd0),
        .send_request_modify_attribute_mask_i(32'd0),
        .send_request_modify_attributes_i(256'd0),
        .send_request_modify_destroy_i(1'b0),
        .send_request_fresh_i(960'd0),
        .send_response_valid_o(response_valid[0]),
        .send_response_ready_i(response_ready_i[0]),
        .send_response_cookie_o(response_cookie[31:0]),
        .send_response_context_o(response_context[959:0]),

        .receive_request_valid_i(request_valid_i[1]),
        .receive_request_ready_o(request_ready[1]),
        .receive_request_operation_i(request_writes_i[1] ? WRITE : READ),
        .receive_request_qpn_i({29'd0, request_slot_i[5:3]}),
        .receive_request_cookie_i({31'd0, marked[1]}),
        .receive_request_requester_i({63'd0, request_value_i[1] && of_watched[1]}),
        .receive_request_responder_i(320'd0),
        .receive_request_modify_from_states_i(32'd0),
        .receive_request_modify_to_i(3'd0),
        .receive_request_modify_needs_rts_attributes_i(1'b0),
        .receive_request_modify_reason_i(3'd0),
        .receive_request_modify_attribute_mask_i(32'd0),
        .receive_request_modify_attributes_i(256'd0),
        .receive_request_modify_destroy_i(1'b0),
        .receive_request_fresh_i(960'd0),
        .receive_response_valid_o(response_valid[1]),
        .receive_response_ready_i(response_ready_i[1]),
        .receive_response_cookie_o(response_cookie[63:32]),
        .receive_response_context_o(response_context[1919:960]),

        .command_request_valid_i(1'b0),
        .command_request_operation_i(3'd0),
        .command_request_qpn_i(32'd0),
        .command_request_cookie_i(32'd0),
        .command_request_requester_i(64'd0),
        .command_request_responder_i(320'd0),
        .command_request_modify_from_states_i(32'd0),
        .command_request_modify_to_i(3'd0),
        .command_request_modify_needs_rts_attributes_i(1'b0),
        .command_request_modify_reason_i(3'd0),
        .command_request_modify_attribute_mask_i(32'd0),
        .command_request_modify_attributes_i(256'd0),
        .command_request_modify_destroy_i(1'b0),
        .command_request_fresh_i(960'd0),
        .command_response_ready_i(1'b1),

        .scheduler_state_ready_i(1'b1),
        .send_state_ready_i(1'b1),
        .receive_state_ready_i(1'b1),

        .fill_valid_o(fill_valid),
        .fill_ready_i(fill_ready_i),
        .fill_address_o(fill_address),
        .fill_cookie_o(fill_cookie),
        .fill_valid_i(answer),
        .fill_cookie_i({31'd0, cookie_0}),
        .fill_data_i(context_of(slot_0, answer_value)),

        .writeback_valid_o(writeback_valid),
        .writeback_ready_i(writeback_ready_i),
        .writeback_address_o(writeback_address),
        .writeback_data_o(writeback_data),

        .trace_install_o(install),
        .trace_installed_slot_o(installed),
        .trace_eviction_o(eviction),
        .trace_evicted_slot_o(evicted)
    );

endmodule

`default_nettype wire
