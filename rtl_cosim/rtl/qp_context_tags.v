// Tags and replacement of the QP context cache: which slots have a line, which of their lines are dirty, and
// which way of a set is the next to be given up.
//
// Three clients are looked up in the same cycle (the cache has to know of all three whether they can be served).
// The fourth question is which line a slot would be put into: an invalid way of its set, the lowest first, else
// the victim. One change per cycle: a line is touched (and may become dirty), or a slot is installed.
//
// Least recently used: one bit per pair of ways says which of the two was used later, kept as a square matrix.
// A touch of way w sets row w and clears column w; the victim's row is empty. Tree pseudo-LRU: node n has the
// children 2n + 1 and 2n + 2, its bit names the half that was used less recently.
// Neither is reset: a victim is only asked for when all ways of the set are valid, and by then each of them has
// been touched, which has given every bit of the matrix and of the tree its value.
//
// Memories, read combinationally:
//   slots     SETS x WAYS * SLOT_W    4 reads (clients, victim), 1 write
//   valid     SETS x WAYS             4 reads, 1 write; a set that has not been written counts as empty
//   dirty     SETS x WAYS             2 reads (victim, touch), 1 write
//   later     SETS x WAYS * WAYS      2 reads, 1 write
//   tree      SETS x WAYS - 1         2 reads, 1 write
// synthesis check: -chparam SETS 2 -chparam WAYS 4 -chparam SLOT_W 4 -chparam SET_W 1 -chparam LINE_W 3
`default_nettype none

module qp_context_tags #(
    parameter SETS   = 64,  // a power of two, at most 2 ** SLOT_W
    parameter WAYS   = 4,   // at least 1; pseudo-LRU needs a power of two
    parameter SLOT_W = 10,  // bits of a slot's number
    parameter SET_W  = 6,   // bits of a set's number: log2(SETS), at least 1
    parameter WAY_W  = 2,   // bits of a way's number: log2(WAYS), at least 1
    parameter LINE_W = 8    // bits of a line's number, which is set * WAYS + way
) (
    input  wire                clk_i,
    input  wire                rst_ni,

    input  wire                cfg_plru_i,

    // Client 0 in the lowest bits.
    input  wire [2:0]          lookup_i,
    input  wire [3*SLOT_W-1:0] lookup_slot_i,
    output reg  [2:0]          lookup_hit_o,
    output reg  [3*WAY_W-1:0]  lookup_way_o,
    output wire [3*LINE_W-1:0] lookup_line_o,

    input  wire                victim_i,
    input  wire [SLOT_W-1:0]   victim_slot_i,
    output reg  [WAY_W-1:0]    victim_way_o,
    output wire [LINE_W-1:0]   victim_line_o,
    output wire                victim_valid_o,  // another slot is there
    output wire                victim_dirty_o,  // ... and has to be written back
    output wire [SLOT_W-1:0]   victim_holds_o,  // ... that slot

    input  wire                install_i,  // victim_slot_i into victim_way_o, clean
    input  wire                touch_i,    // touch_way_i of touch_set_i is used
    input  wire [SET_W-1:0]    touch_set_i,  // low bits of the slot
    input  wire [WAY_W-1:0]    touch_way_i,
    input  wire                touch_dirty_i  // ... and changed
);

    localparam LEVELS  = $clog2(WAYS);
    localparam TREE_W  = (1 << WAY_W) - 1;  // WAYS - 1 nodes of a power of two
    localparam [WAY_W-1:0] FIRST_CHILD = 1;
    localparam WORD_W  = WAYS * SLOT_W;
    localparam [31:0] SETS_32 = SETS - 1;
    localparam [31:0] WAYS_32 = WAYS;

    reg [WORD_W-1:0]    slots[0:SETS-1];
    reg [WAYS*WAYS-1:0] later[0:SETS-1];
    reg [TREE_W-1:0]    tree [0:SETS-1];
    reg [WAYS-1:0]      valid[0:SETS-1];
    reg [WAYS-1:0]      dirty[0:SETS-1];

    localparam [SET_W-1:0] SET_MASK = SETS_32[SET_W-1:0];  // 0 when there is only one set

    function [LINE_W-1:0] line_of;
        input [SET_W-1:0] set;
        input [WAY_W-1:0] way;
        line_of = {{(LINE_W - SET_W) {1'b0}}, set} * WAYS_32[LINE_W-1:0] + {{(LINE_W - WAY_W) {1'b0}}, way};
    endfunction

    wire [SET_W-1:0] victim_set = victim_slot_i[SET_W-1:0] & SET_MASK;

    // ---- sets that have been written since the reset ----

    // One flag per set, in groups of up to 64; a group that has not been written itself counts as empty.
    localparam FLAG_W   = SET_W > 2 ? SET_W : 2;  // a set's number, of two bits at least
    localparam PLACE_W  = FLAG_W > 6 ? 6 : FLAG_W - 1;
    localparam GROUP_W  = FLAG_W - PLACE_W;
    localparam GROUPS   = 1 << GROUP_W;
    localparam MEMBERS  = 1 << PLACE_W;

    reg [MEMBERS-1:0] written[0:GROUPS-1];
    reg [GROUPS-1:0]  group_written;

    wire [FLAG_W-1:0]  victim_flag    = {{(FLAG_W - SET_W) {1'b0}}, victim_set};
    wire [GROUP_W-1:0] victim_group   = victim_flag[FLAG_W-1:PLACE_W];
    wire [PLACE_W-1:0] victim_place   = victim_flag[PLACE_W-1:0];
    wire [MEMBERS-1:0] victim_flags   = group_written[victim_group] ? written[victim_group] : {MEMBERS{1'b0}};
    wire               victim_written = victim_flags[victim_place];

    reg [MEMBERS-1:0] next_flags;
    always @* begin
        next_flags = victim_flags;
        next_flags[victim_place] = 1'b1;
    end

    always @(posedge clk_i) begin
        if (!rst_ni) begin
            group_written <= {GROUPS{1'b0}};
        end else if (install_i) begin
            group_written[victim_group] <= 1'b1;
            written[victim_group]       <= next_flags;
        end
    end

    // ---- lookups ----

    wire [3*WORD_W-1:0] words;
    wire [3*WAYS-1:0]   occupied;
    genvar c;
    generate
        for (c = 0; c < 3; c = c + 1) begin : lookup
            wire [SET_W-1:0]   set   = lookup_slot_i[c*SLOT_W+:SET_W] & SET_MASK;
            wire [FLAG_W-1:0]  flag  = {{(FLAG_W - SET_W) {1'b0}}, set};
            wire [GROUP_W-1:0] group = flag[FLAG_W-1:PLACE_W];
            wire [MEMBERS-1:0] flags = written[group];

            assign words[c*WORD_W+:WORD_W] = slots[set];
            assign occupied[c*WAYS+:WAYS] =
                group_written[group] && flags[flag[PLACE_W-1:0]] ? valid[set] : {WAYS{1'b0}};
            assign lookup_line_o[c*LINE_W+:LINE_W] = line_of(set, lookup_way_o[c*WAY_W+:WAY_W]);
        end
    endgenerate

    integer l, lw;
    always @* begin
        lookup_hit_o = 3'b000;
        lookup_way_o = {(3 * WAY_W) {1'b0}};
        lw = 0;
        for (l = 0; l < 3; l = l + 1) begin
            if (lookup_i[l]) begin
                for (lw = 0; lw < WAYS; lw = lw + 1) begin
                    if (occupied[l*WAYS+lw] &&
                        words[l*WORD_W+lw*SLOT_W+:SLOT_W] == lookup_slot_i[l*SLOT_W+:SLOT_W]) begin
                        lookup_hit_o[l] = 1'b1;
                        lookup_way_o[l*WAY_W+:WAY_W] = lw[WAY_W-1:0];
                    end
                end
            end
        end
    end

    // ---- victim ----

    wire [WORD_W-1:0]    victim_word  = slots[victim_set];
    wire [WAYS-1:0]      victim_valid = victim_written ? valid[victim_set] : {WAYS{1'b0}};
    wire [WAYS-1:0]      victim_dirty = dirty[victim_set];
    wire [WAYS*WAYS-1:0] victim_later = later[victim_set];
    wire [TREE_W-1:0]    victim_tree  = tree[victim_set];

    integer v, vl;
    reg [WAY_W-1:0] victim_node;
    always @* begin
        victim_way_o = {WAY_W{1'b0}};
        victim_node  = {WAY_W{1'b0}};
        v  = 0;
        vl = 0;
        if (victim_i) begin
            if (cfg_plru_i) begin
                for (vl = 0; vl < LEVELS; vl = vl + 1) begin
                    victim_way_o[LEVELS-1-vl] = victim_tree[victim_node];
                    victim_node = (victim_node << 1) + FIRST_CHILD + {{(WAY_W - 1) {1'b0}}, victim_tree[victim_node]};
                end
            end else begin
                for (v = WAYS - 1; v >= 0; v = v - 1)
                    if (victim_later[v*WAYS+:WAYS] == {WAYS{1'b0}}) victim_way_o = v[WAY_W-1:0];
            end
            for (v = WAYS - 1; v >= 0; v = v - 1)
                if (!victim_valid[v]) victim_way_o = v[WAY_W-1:0];
        end
    end

    assign victim_line_o  = line_of(victim_set, victim_way_o);
    assign victim_valid_o = victim_valid[victim_way_o];
    assign victim_dirty_o = victim_valid_o && victim_dirty[victim_way_o];
    assign victim_holds_o = victim_word[victim_way_o*SLOT_W+:SLOT_W];

    // ---- the change ----

    wire [SET_W-1:0]     used_set   = install_i ? victim_set : touch_set_i & SET_MASK;
    wire [WAY_W-1:0]     used_way   = install_i ? victim_way_o : touch_way_i;
    wire [WAYS-1:0]      used_dirty = dirty[used_set];
    wire [WAYS*WAYS-1:0] used_later = later[used_set];
    wire [TREE_W-1:0]    used_tree  = tree[used_set];

    integer i, n;
    reg [WORD_W-1:0]    next_word;
    reg [WAYS-1:0]      next_valid;
    reg [WAYS-1:0]      next_dirty;
    reg [WAYS*WAYS-1:0] next_later;
    reg [TREE_W-1:0]    next_tree;
    reg [WAY_W-1:0]     next_node;
    always @* begin
        next_word  = victim_word;
        next_valid = victim_valid;
        next_dirty = used_dirty;
        next_later = used_later;
        next_tree  = used_tree;
        next_node  = {WAY_W{1'b0}};
        i = 0;
        n = 0;
        if (install_i || touch_i) begin
            next_word[used_way*SLOT_W+:SLOT_W] = victim_slot_i;
            next_valid[used_way] = 1'b1;
            next_dirty[used_way] = !install_i;
            next_later[used_way*WAYS+:WAYS] = {WAYS{1'b1}};
            for (i = 0; i < WAYS; i = i + 1) next_later[i*WAYS+{{(32 - WAY_W) {1'b0}}, used_way}] = 1'b0;
            for (n = 0; n < LEVELS; n = n + 1) begin
                next_tree[next_node] = !used_way[LEVELS-1-n];
                next_node = (next_node << 1) + FIRST_CHILD + {{(WAY_W - 1) {1'b0}}, used_way[LEVELS-1-n]};
            end
        end
    end

    always @(posedge clk_i) begin
        if (install_i || touch_i) begin
            later[used_set] <= next_later;
            tree[used_set]  <= next_tree;
        end
        if (install_i || touch_dirty_i) dirty[used_set] <= next_dirty;
        if (install_i) begin
            slots[victim_set] <= next_word;
            valid[victim_set] <= next_valid;
        end
    end

endmodule

`default_nettype wire
