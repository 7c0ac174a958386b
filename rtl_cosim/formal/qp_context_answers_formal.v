// QP context cache: when clients, memory and bus do their part in every cycle, each read of the watched slot is
// answered, in the third cycle after it was taken at the latest; and all that qp_context_watch.v says holds, in runs of
// any length.
// depth: 0
// mode: induction
// sources: qp_context_cache.v qp_context_decision.v qp_context_responses.v qp_context_step.v qp_context_tags.v qp_context_waiting.v rotate_select.v
`include "qp_context_watch.v"
`default_nettype none

module qp_context_answers_formal (
    input wire       clk_i,
    input wire [1:0] request_valid_i,
    input wire [1:0] request_writes_i,
    input wire [5:0] request_slot_i,
    input wire [1:0] request_value_i,
    input wire [1:0] request_mark_i
);

    wire waits;
    qp_context_watch watch (
        .clk_i            (clk_i),
        .request_valid_i  (request_valid_i),
        .request_writes_i (request_writes_i),
        .request_slot_i   (request_slot_i),
        .request_value_i  (request_value_i),
        .request_mark_i   (request_mark_i),
        .response_ready_i (2'b11),
        .fill_ready_i     (1'b1),
        .fill_answers_i   (1'b1),
        .writeback_ready_i(1'b1),
        .waits_o          (waits)
    );

    reg [2:0] cycles = 3'd0;  // for which it has waited
    always @(posedge clk_i) cycles <= waits ? cycles + 3'd1 : 3'd0;
    always @* assert (cycles < 3'd4);

endmodule

`default_nettype wire
