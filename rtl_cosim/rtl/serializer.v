// The wire as time: when the bytes of a packet leave, exact to the byte at every rate.
//
// A byte takes a fraction of a cycle, or several: cfg_byte_cycles_i + cfg_byte_units_i / cfg_cycle_units_i
// cycles (4X EDR at 250 MHz: 0 + 1/50, 4X FDR: 0 + 11/300). Times are kept as whole cycles and units of the
// fraction, so nothing is rounded and nothing grows.
//
// A packet of n bytes takes n times that. The product is the sum over the bits of n of the times of 1, 2, 4,
// ... bytes, which are 13 constants: each is the one before, doubled, and they are written when the block is
// in reset. Adding cycles and units apart leaves fewer than 14 * cfg_cycle_units_i units, whose whole cycles
// four conditional subtractions take out. No multiplier, no divider.
`default_nettype none

module serializer (
    input  wire        clk_i,
    input  wire        rst_ni,
    // Units of a cycle; below it, the units that a byte takes beyond its whole cycles.
    input  wire [17:0] cfg_cycle_units_i,
    input  wire [ 5:0] cfg_byte_cycles_i,
    input  wire [17:0] cfg_byte_units_i,
    // A packet of bytes_i goes on the wire: at this edge, or (at_edge_i low) where the last one ended, which
    // lies within the cycle before this edge. Only while free_o.
    input  wire        start_i,
    input  wire        at_edge_i,
    input  wire [12:0] bytes_i,
    output wire        free_o,             // free at this edge at the latest
    output wire        idle_o,             // free since an earlier edge
    output wire        first_is_before_o,  // the packet's first byte lies in the cycle before this edge
    output reg  [19:0] last_cycles_o       // its last byte has left so many cycles after this edge
);

    localparam BITS = 13;

    // Time of 2^k bytes, k = 0 .. 12.
    reg [20*BITS-1:0] weight_cycles_q;
    reg [18*BITS-1:0] weight_units_q;

    // 0: idle; 1: free from within the cycle before this edge on; n: free n - 1 cycles later.
    reg [19:0] busy_q;
    // In the last cycle in which it is used the wire is used up to and with this unit.
    reg [17:0] last_unit_q;

    assign free_o = busy_q <= 20'd1;
    assign idle_o = busy_q == 20'd0;

    wire [17:0] end_of_cycle = cfg_cycle_units_i - 18'd1;

    assign first_is_before_o = !at_edge_i && last_unit_q != end_of_cycle;

    // Whole cycles and units of the packet, the latter counted from the unit at which the wire was free.
    reg     [21:0] units;
    reg     [21:0] rest_8;
    reg     [20:0] rest_4;
    reg     [19:0] rest_2;
    reg     [17:0] rest_1;
    reg     [ 3:0] carry;
    reg     [19:0] cycles;
    integer        k;

    always @* begin
        cycles = 20'd0;
        units  = 22'd0;
        carry  = 4'd0;
        rest_8 = 22'd0;
        rest_4 = 21'd0;
        rest_2 = 20'd0;
        rest_1 = 18'd0;
        // Nothing moves while there is nothing to be timed.
        if (start_i) begin
            units = {4'd0, at_edge_i ? end_of_cycle : last_unit_q};
            for (k = 0; k < BITS; k = k + 1) begin
                if (bytes_i[k]) begin
                    cycles = cycles + weight_cycles_q[20*k+:20];
                    units  = units + {4'd0, weight_units_q[18*k+:18]};
                end
            end
            carry[3] = units >= {1'b0, cfg_cycle_units_i, 3'd0};
            rest_8   = carry[3] ? units - {1'b0, cfg_cycle_units_i, 3'd0} : units;
            carry[2] = rest_8 >= {2'b0, cfg_cycle_units_i, 2'd0};
            rest_4   = carry[2] ? rest_8[20:0] - {1'b0, cfg_cycle_units_i, 2'd0} : rest_8[20:0];
            carry[1] = rest_4 >= {2'b0, cfg_cycle_units_i, 1'd0};
            rest_2   = carry[1] ? rest_4[19:0] - {1'b0, cfg_cycle_units_i, 1'd0} : rest_4[19:0];
            carry[0] = rest_2 >= {2'b0, cfg_cycle_units_i};
            rest_1   = carry[0] ? rest_2[17:0] - cfg_cycle_units_i : rest_2[17:0];
        end
        last_cycles_o = cycles + {16'd0, carry};
    end

    always @(posedge clk_i) begin
        if (!rst_ni) begin
            busy_q      <= 20'd0;
            last_unit_q <= end_of_cycle;
        end else if (start_i) begin
            busy_q      <= last_cycles_o;
            last_unit_q <= rest_1;
        end else if (!idle_o) begin
            busy_q <= busy_q - 20'd1;
        end
    end

    // The constants, each from the one before: 2^(k+1) bytes from 2^k.
    reg     [20*BITS-1:0] weight_cycles;
    reg     [18*BITS-1:0] weight_units;
    reg     [       18:0] twice;
    reg                   is_over;
    integer               w;

    always @* begin
        weight_cycles = {20 * BITS{1'b0}};
        weight_units  = {18 * BITS{1'b0}};
        twice         = 19'd0;
        is_over       = 1'b0;
        if (!rst_ni) begin
            weight_cycles[5:0] = cfg_byte_cycles_i;
            weight_units[17:0] = cfg_byte_units_i;
            for (w = 1; w < BITS; w = w + 1) begin
                twice   = {weight_units[18*(w-1)+:18], 1'b0};
                is_over = twice >= {1'b0, cfg_cycle_units_i};
                twice   = is_over ? twice - {1'b0, cfg_cycle_units_i} : twice;
                weight_units[18*w+:18]  = twice[17:0];
                weight_cycles[20*w+:20] = {weight_cycles[20*(w-1)+:19], is_over};
            end
        end
    end

    always @(posedge clk_i) begin
        if (!rst_ni) begin
            weight_cycles_q <= weight_cycles;
            weight_units_q  <= weight_units;
        end
    end

endmodule

`default_nettype wire
