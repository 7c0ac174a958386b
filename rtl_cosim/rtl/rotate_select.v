// Round robin among N: of the bits set in among_i the first one after last_i, cyclically; last_i itself comes
// last. Both last_i and chosen_o are one-hot (chosen_o is 0 when among_i is). Used by several blocks.
`default_nettype none

module rotate_select #(
    parameter N = 2
) (
    input  wire [N-1:0] among_i,
    input  wire [N-1:0] last_i,
    output wire [N-1:0] chosen_o
);

    localparam [N-1:0] ONE = 1;

    // Bits above last_i; x & -x leaves the lowest bit of x.
    wire [N-1:0] above = among_i & ~(last_i | (last_i - ONE));
    wire [N-1:0] first = (above != 0) ? above : among_i;

    assign chosen_o = first & (~first + ONE);

endmodule

`default_nettype wire
