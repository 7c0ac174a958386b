// A doorbell unit as a fast pipeline: two registers from the pins to the decoder, no FIFO, nothing merged. It does what
// the project's does as long as nothing refuses its outputs, two cycles later: an example of latency_cycles in a map.
`default_nettype none

module pipelined_doorbell_unit (
    input  wire        clock,
    input  wire        reset,  // active high

    input  wire        bar_write,  // no back-pressure
    input  wire [63:0] bar_data,   // type 63..56, number 55..32, index 15..0

    output wire        sq_valid,
    output wire [23:0] sq_qpn,
    output wire [15:0] sq_index,

    output wire        rq_valid,
    output wire [23:0] rq_qpn,
    output wire [15:0] rq_index,

    output wire        cq_valid,
    output wire [23:0] cq_number,
    output wire [15:0] cq_index,
    output wire        cq_of_events
);

    localparam [7:0] SEND = 8'd0, RECEIVE = 8'd1, CQ = 8'd2, EVENT_QUEUE = 8'd3;

    reg        first_valid, second_valid, third_valid;
    reg [63:0] first, second, third;

    always @(posedge clock) begin
        first_valid  <= bar_write && !reset;
        second_valid <= first_valid && !reset;
        third_valid  <= second_valid && !reset;
        first        <= bar_data;
        second       <= first;
        third        <= second;
    end

    // Doorbells of send queues take a cycle more: in the project's unit they pass its FIFO.
    assign sq_valid = third_valid && third[63:56] == SEND;
    assign sq_qpn   = third[55:32];
    assign sq_index = third[15:0];

    assign rq_valid = second_valid && second[63:56] == RECEIVE;
    assign rq_qpn   = second[55:32];
    assign rq_index = second[15:0];

    assign cq_valid     = second_valid && (second[63:56] == CQ || second[63:56] == EVENT_QUEUE);
    assign cq_number    = second[55:32];
    assign cq_index     = second[15:0];
    assign cq_of_events = second[63:56] == EVENT_QUEUE;

endmodule

`default_nettype wire
