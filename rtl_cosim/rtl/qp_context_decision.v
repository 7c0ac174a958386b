// What a modify or a create would do to the QP context that its slot's line holds. Asked of all three clients in
// every cycle, because a change that the listeners cannot be told of must not hold up the other clients; it needs
// only a few bytes of the context for that.
//
// modify: applies when the state is one of from_states_i, and the attributes of RTR -> RTS are there if they are
// asked for (IBTA 11.2.5.2 lists them). create: applies when the slot is free.
`default_nettype none

module qp_context_decision (
    input  wire [2:0]  operation_i,
    input  wire [31:0] qpn_i,
    input  wire [31:0] modify_from_states_i,
    input  wire [2:0]  modify_to_i,
    input  wire        modify_needs_rts_attributes_i,
    input  wire        modify_destroy_i,

    // Of the context in the line.
    input  wire [31:0] qpn_there_i,
    input  wire [7:0]  state_there_i,
    input  wire        valid_there_i,
    input  wire        has_rts_attributes_there_i,

    output wire        known_o,        // the slot holds this QP
    output wire        applies_o,      // the context changes as asked for
    output wire        announces_o,    // ... and the listeners have to be told
    output wire        late_opener_o   // modify to RTS of a QP that is there already
);

    localparam [2:0] MODIFY = 3'd3;
    localparam [2:0] CREATE = 3'd4;
    localparam [2:0] RESET  = 3'd0;
    localparam [2:0] RTS    = 3'd3;

    wire is_modify = operation_i == MODIFY;
    wire is_create = operation_i == CREATE;

    assign known_o = valid_there_i && qpn_there_i == qpn_i;

    wire fits    = modify_from_states_i[state_there_i[4:0]] &&
                   (!modify_needs_rts_attributes_i || has_rts_attributes_there_i);
    wire changes = state_there_i != {5'd0, modify_to_i} || modify_destroy_i || modify_to_i == RESET;

    assign applies_o     = (is_modify && known_o && fits) || (is_create && !valid_there_i);
    assign announces_o   = applies_o && (changes || is_create);
    assign late_opener_o = is_modify && known_o && !fits && modify_to_i == RTS && state_there_i == {5'd0, RTS};

endmodule

`default_nettype wire
