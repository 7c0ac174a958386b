// QP context cache: as qp_context_cache_formal.v, with one way per set, so that lines leave soon and come back: a line
// that is given up without write-back, or written back to another place, is seen within the depth.
// depth: 12
// mode: bmc
// sources: qp_context_cache.v qp_context_decision.v qp_context_responses.v qp_context_step.v qp_context_tags.v qp_context_waiting.v rotate_select.v
`include "qp_context_watch.v"
`default_nettype none

module qp_context_eviction_formal (
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
    input wire       writeback_ready_i
);

    qp_context_watch #(
        .WAYS(1)
    ) watch (
        .clk_i            (clk_i),
        .request_valid_i  (request_valid_i),
        .request_writes_i (request_writes_i),
        .request_slot_i   (request_slot_i),
        .request_value_i  (request_value_i),
        .request_mark_i   (request_mark_i),
        .response_ready_i (response_ready_i),
        .fill_ready_i     (fill_ready_i),
        .fill_answers_i   (fill_answers_i),
        .writeback_ready_i(writeback_ready_i),
        .waits_o          ()
    );

endmodule

`default_nettype wire
