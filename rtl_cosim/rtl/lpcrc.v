// Link packet CRC of a flow-control packet (IBTA 7.9.4): the CRC of the VCRC, x^16 + x^12 + x^3 + x + 1, over
// its first four bytes, least significant bit of each byte first; an XOR tree. Used by link_tx and link_rx.
`default_nettype none

module lpcrc (
    input  wire        valid_i,  // low: nothing moves, crc_o has no meaning
    input  wire [31:0] bytes_i,  // byte i in bits 8i+7 .. 8i
    output reg  [15:0] crc_o     // the byte that goes first in bits 7..0
);

    integer i;

    always @* begin
        crc_o = 16'hffff;
        if (valid_i) begin
            for (i = 0; i < 32; i = i + 1) begin
                crc_o = {1'b0, crc_o[15:1]} ^ ((crc_o[0] ^ bytes_i[i]) ? 16'hd008 : 16'h0000);
            end
        end
        crc_o = ~crc_o;
    end

endmodule

`default_nettype wire
