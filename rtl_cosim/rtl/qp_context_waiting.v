// Requests to the QP context cache that wait for a fill: one list per miss entry, in the order of arrival. When a
// fill has been installed its list is replayed from the front; the next one starts when that is through, so
// there is never more than one.
//
// All lists share the entries. Those that have been used and given back are a list too, linked through the same
// memory; `touched` counts the others in, so that nothing has to be initialized. In a cycle a request is added or
// the one in front of the replay leaves, never both: one read and one write of `following`.
//
// Memories:
//   requests   ENTRIES x WIDTH             1 read (front), 1 write
//   following  ENTRIES x log2(ENTRIES)     1 read, 1 write
//   heads, tails  LISTS x log2(ENTRIES)    1 read, 1 write each
// synthesis check: -chparam ENTRIES 4 -chparam LISTS 2 -chparam LIST_W 1
`default_nettype none

module qp_context_waiting #(
    parameter ENTRIES = 64,
    parameter LISTS   = 8,
    parameter LIST_W  = 3,  // log2(LISTS), at least 1
    parameter WIDTH   = 8
) (
    input  wire              clk_i,
    input  wire              rst_ni,

    output wire              full_o,

    input  wire              add_i,  // only while not full_o
    input  wire [LIST_W-1:0] add_list_i,
    input  wire              add_first_i,  // begins the list
    input  wire [WIDTH-1:0]  add_request_i,

    input  wire              start_i,  // the list is to be replayed; only while not replay_o
    input  wire [LIST_W-1:0] start_list_i,

    output reg               replay_o,
    output wire [WIDTH-1:0]  replay_request_o,
    input  wire              replay_done_i  // ... has been served; only while replay_o
);

    localparam PLACE_W = ENTRIES > 1 ? $clog2(ENTRIES) : 1;
    localparam LEVEL_W = $clog2(ENTRIES + 1);
    localparam [31:0] FULL = ENTRIES;

    reg [WIDTH-1:0]   requests [0:ENTRIES-1];
    reg [PLACE_W-1:0] following[0:ENTRIES-1];
    reg [PLACE_W-1:0] heads    [0:LISTS-1];
    reg [PLACE_W-1:0] tails    [0:LISTS-1];

    reg [PLACE_W-1:0] front;     // of the replay
    reg [PLACE_W-1:0] back;
    reg [PLACE_W-1:0] returned;  // first of the entries that were given back
    reg [LEVEL_W-1:0] level;     // entries in use
    reg [LEVEL_W-1:0] touched;   // entries that have been in use at least once: those below

    assign full_o = level == FULL[LEVEL_W-1:0];

    wire               reuse = touched != level;
    wire [PLACE_W-1:0] place = reuse ? returned : touched[PLACE_W-1:0];
    wire [PLACE_W-1:0] after = following[replay_done_i ? front : returned];
    wire [PLACE_W-1:0] tail  = tails[add_list_i];

    assign replay_request_o = requests[front];

    always @(posedge clk_i) begin
        if (!rst_ni) begin
            replay_o <= 1'b0;
            level    <= {LEVEL_W{1'b0}};
            touched  <= {LEVEL_W{1'b0}};
        end else begin
            if (add_i) begin
                requests[place]   <= add_request_i;
                tails[add_list_i] <= place;
                if (add_first_i) heads[add_list_i] <= place;
                level <= level + 1'b1;
                if (reuse) returned <= after;
                else touched <= touched + 1'b1;
            end
            if (start_i) begin
                replay_o <= 1'b1;
                front    <= heads[start_list_i];
                back     <= tails[start_list_i];
            end
            if (replay_done_i) begin
                replay_o <= front != back;
                front    <= after;
                returned <= front;
                level    <= level - 1'b1;
            end
            if (replay_done_i || (add_i && !add_first_i))
                following[replay_done_i ? front : tail] <= replay_done_i ? returned : place;
        end
    end

endmodule

`default_nettype wire
