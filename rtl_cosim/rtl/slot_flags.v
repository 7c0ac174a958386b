// One flag per slot, none set after reset; PORTS slots are looked at and set in a cycle. Tells which entries of
// a memory that has no reset have been written since.
//
// The flags lie in words of up to 64 in a memory without reset; one bit per word, which is reset, says whether
// the word counts.
// synthesis check: -chparam SLOTS 128
`default_nettype none

module slot_flags #(
    parameter SLOTS = 1024,  // a power of two, at least 4
    parameter PORTS = 3
) (
    input  wire                           clk_i,
    input  wire                           rst_ni,
    input  wire [PORTS*$clog2(SLOTS)-1:0] slot_i,
    output wire [PORTS-1:0]               is_set_o,  // before this cycle; looked at only with set_i
    input  wire [PORTS-1:0]               set_i
);

    localparam SLOT_W    = $clog2(SLOTS);
    localparam BIT_W     = SLOT_W > 6 ? 6 : SLOT_W - 1;
    localparam ADDRESS_W = SLOT_W - BIT_W;
    localparam WORD_W    = 1 << BIT_W;
    localparam WORDS     = 1 << ADDRESS_W;

    reg  [WORD_W-1:0]       words[0:WORDS-1];
    reg  [WORDS-1:0]        used;
    wire [PORTS*WORD_W-1:0] next_words;

    genvar k;
    generate
        for (k = 0; k < PORTS; k = k + 1) begin : port
            wire [ADDRESS_W-1:0] address  = slot_i[k*SLOT_W+BIT_W+:ADDRESS_W];
            wire [BIT_W-1:0]     position = slot_i[k*SLOT_W+:BIT_W];
            wire [WORD_W-1:0]    stored   = words[address];

            // With the flags that other ports set in the same word, so that they write the same.
            reg [WORD_W-1:0] present;
            reg [WORD_W-1:0] next;
            integer          j;
            always @* begin
                j = 0;
                present = {WORD_W{1'b0}};
                next    = {WORD_W{1'b0}};
                if (set_i[k]) begin
                    if (used[address]) present = stored;
                    next = present;
                    for (j = 0; j < PORTS; j = j + 1)
                        if (set_i[j] && slot_i[j*SLOT_W+BIT_W+:ADDRESS_W] == address)
                            next[slot_i[j*SLOT_W+:BIT_W]] = 1'b1;
                end
            end
            assign next_words[k*WORD_W+:WORD_W] = next;
            assign is_set_o[k] = present[position];
        end
    endgenerate

    integer p;
    always @(posedge clk_i)
        if (!rst_ni) used <= {WORDS{1'b0}};
        else
            for (p = 0; p < PORTS; p = p + 1)
                if (set_i[p]) begin
                    words[slot_i[p*SLOT_W+BIT_W+:ADDRESS_W]] <= next_words[p*WORD_W+:WORD_W];
                    used[slot_i[p*SLOT_W+BIT_W+:ADDRESS_W]]  <= 1'b1;
                end

endmodule

`default_nettype wire
