// Responses of the QP context cache to one client, in the order of their lookups. A response is offered from
// cfg_hit_cycles_i after its lookup on; there are at most eight, and one that is taken makes room in the same
// cycle. A response moves along a line of flip-flops in step with its delay: what is counted at the end of it has
// come of age, and because the delay is the same for all, the oldest is always in front.
// synthesis check: -chparam WIDTH 8
`default_nettype none

module qp_context_responses #(
    parameter WIDTH = 8
) (
    input  wire             clk_i,
    input  wire             rst_ni,

    input  wire [5:0]       cfg_hit_cycles_i,  // 1 .. 63; 0 means 64

    output wire             room_o,
    input  wire             push_i,  // only while room_o
    input  wire [WIDTH-1:0] push_response_i,

    output wire             valid_o,
    input  wire             ready_i,
    output wire [WIDTH-1:0] response_o,

    output wire             empty_o
);

    reg [WIDTH-1:0] responses[0:7];
    reg [2:0]       head;
    reg [2:0]       tail;
    reg [3:0]       level;
    reg [3:0]       due;      // of age, and not taken yet
    reg [63:0]      younger;  // bit n: a response was pushed n + 1 cycles ago

    wire [5:0] last_of_delay = cfg_hit_cycles_i - 6'd1;
    wire       comes_of_age  = younger[last_of_delay];

    assign valid_o    = due != 4'd0 || comes_of_age;
    assign response_o = responses[head];
    wire pop = valid_o && ready_i;

    assign room_o  = !level[3] || pop;
    assign empty_o = level == 4'd0;

    always @(posedge clk_i) begin
        if (!rst_ni) begin
            head    <= 3'd0;
            tail    <= 3'd0;
            level   <= 4'd0;
            due     <= 4'd0;
            younger <= 64'd0;
        end else begin
            younger <= {younger[62:0], push_i};
            due     <= due + {3'd0, comes_of_age} - {3'd0, pop};
            level   <= level + {3'd0, push_i} - {3'd0, pop};
            if (pop) head <= head + 3'd1;
            if (push_i) begin
                responses[tail] <= push_response_i;
                tail            <= tail + 3'd1;
            end
        end
    end

endmodule

`default_nettype wire
