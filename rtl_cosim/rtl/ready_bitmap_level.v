// One level of ready_bitmap.v: words of up to 64 bits in a memory. A bit of the lowest level is one member, a
// bit of a higher level says that a word of the level below is not empty.
//
// The memory is not reset: a word counts only while its bit in the level above is set, and reads as empty else.
// synthesis check: -chparam SLOT_W 5 -chparam SHIFT 2 -chparam BIT_W 2
`default_nettype none

module ready_bitmap_level #(
    parameter SLOT_W   = 10,
    parameter SHIFT    = 0,  // bits of a slot that the levels below resolve
    parameter BIT_W    = 6,  // bits of a slot that this level resolves, 1..6
    parameter PORTS    = 5,  // changes of one cycle
    parameter FROM_TOO = 1   // the search begins at `from` itself, else behind it
) (
    input  wire                    clk_i,

    // Changes of this cycle. The last one of several to the same bit holds.
    input  wire [PORTS-1:0]        change_valid_i,
    input  wire [PORTS*4-1:0]      change_ring_i,
    input  wire [PORTS*SLOT_W-1:0] change_slot_i,
    input  wire [PORTS-1:0]        change_value_i,
    input  wire [PORTS-1:0]        change_used_i,  // its word counts (level above)
    output wire [PORTS-1:0]        change_set_o,   // its bit before the changes
    output wire [PORTS-1:0]        up_valid_o,     // its word becomes empty or ceases to be so:
    output wire [PORTS-1:0]        up_value_o,     // ... change of the level above

    // Search, before the changes: first member at or behind `from` in the word of `from`, else the first one
    // in the word that the levels above have found.
    input  wire [3:0]              ring_i,
    input  wire [SLOT_W-1:0]       from_i,
    input  wire                    from_used_i,    // its word counts
    output wire                    from_set_o,     // its bit
    input  wire                    hit_below_i,    // a lower level has a member behind its own
    output wire                    hit_o,          // this level or a lower one has
    input  wire [SLOT_W-1:0]       found_i,        // found by the levels above; what they leave open is 0
    output wire [SLOT_W-1:0]       found_o
);

    localparam LOW_W     = SHIFT + BIT_W;
    localparam MEMBER_W  = 4 + SLOT_W;
    localparam ADDRESS_W = MEMBER_W - LOW_W;
    localparam WORD_W    = 1 << BIT_W;
    localparam [WORD_W-1:0] ONE = 1;

    reg [WORD_W-1:0] words[0:(1 << ADDRESS_W)-1];

    function [ADDRESS_W-1:0] address_of;
        input [3:0]        ring;
        input [SLOT_W-1:0] slot;
        reg   [LOW_W-1:0]  unused_bits;
        {address_of, unused_bits} = {ring, slot};
    endfunction

    // ---- changes ----

    wire [PORTS*WORD_W-1:0]    next_words;
    wire [PORTS*ADDRESS_W-1:0] addresses;

    genvar k;
    generate
        for (k = 0; k < PORTS; k = k + 1) begin : port
            wire [ADDRESS_W-1:0] address = address_of(change_ring_i[k*4+:4], change_slot_i[k*SLOT_W+:SLOT_W]);
            assign addresses[k*ADDRESS_W+:ADDRESS_W] = address;
            wire [WORD_W-1:0]    present = change_used_i[k] ? words[address] : {WORD_W{1'b0}};

            // Every port writes its word with all changes that concern it, so that ports with the same word
            // write the same.
            reg [WORD_W-1:0] next;
            integer          j;
            always @* begin
                j = 0;
                next = present;
                if (change_valid_i[k])
                    for (j = 0; j < PORTS; j = j + 1)
                        if (change_valid_i[j] &&
                            address_of(change_ring_i[j*4+:4], change_slot_i[j*SLOT_W+:SLOT_W]) == address)
                            next[change_slot_i[j*SLOT_W+SHIFT+:BIT_W]] = change_value_i[j];
            end
            assign next_words[k*WORD_W+:WORD_W] = next;
            assign change_set_o[k] = present[change_slot_i[k*SLOT_W+SHIFT+:BIT_W]];
            assign up_valid_o[k]   = (next != {WORD_W{1'b0}}) != (present != {WORD_W{1'b0}});
            assign up_value_o[k]   = next != {WORD_W{1'b0}};
        end
    endgenerate

    integer p;
    always @(posedge clk_i)
        for (p = 0; p < PORTS; p = p + 1)
            if (change_valid_i[p])
                words[addresses[p*ADDRESS_W+:ADDRESS_W]] <= next_words[p*WORD_W+:WORD_W];

    // ---- search ----

    wire [BIT_W-1:0]     from_bit      = from_i[SHIFT+:BIT_W];
    wire [ADDRESS_W-1:0] from_address  = address_of(ring_i, from_i);
    wire [ADDRESS_W-1:0] found_address = address_of(ring_i, found_i);
    wire [WORD_W-1:0] from_word  = from_used_i ? words[from_address] : {WORD_W{1'b0}};
    wire [WORD_W-1:0] at_from    = ONE << from_bit;
    wire [WORD_W-1:0] ahead      = from_word & ~(at_from - ONE) & (FROM_TOO != 0 ? {WORD_W{1'b1}} : ~at_from);
    wire              hit        = ahead != {WORD_W{1'b0}};
    wire [WORD_W-1:0] candidates = hit ? ahead : words[found_address];
    wire [WORD_W-1:0] lowest     = candidates & (~candidates + ONE);

    // Number of the only bit that is set: bit b of it is the OR of all positions whose bit b is set.
    wire [63:0] lowest_wide = {{(64 - WORD_W) {1'b0}}, lowest};
    wire [5:0]  number = {
        |(lowest_wide & 64'hffffffff00000000), |(lowest_wide & 64'hffff0000ffff0000),
        |(lowest_wide & 64'hff00ff00ff00ff00), |(lowest_wide & 64'hf0f0f0f0f0f0f0f0),
        |(lowest_wide & 64'hcccccccccccccccc), |(lowest_wide & 64'haaaaaaaaaaaaaaaa)
    };
    wire [SLOT_W+5:0] placed = {{SLOT_W{1'b0}}, number} << SHIFT;
    wire unused_bits = &{1'b0, placed};

    assign from_set_o = (from_word & at_from) != {WORD_W{1'b0}};
    assign hit_o      = hit_below_i || hit;
    // A lower level goes on in the word of `from`; the levels above have followed it too.
    assign found_o    = found_i | (hit_below_i ? {{(SLOT_W - BIT_W) {1'b0}}, from_bit} << SHIFT : placed[SLOT_W-1:0]);

endmodule

`default_nettype wire
