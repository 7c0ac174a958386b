// A second send scheduler, written without looking at the first: a worked example of how a design with other ports is
// put beside the model (docs/rtl.md, "Your own Verilog"). It knows queues, not producer indices: a doorbell says that a
// queue has work, a request asks the engine to send one WQE of a queue, and a status says whether there was one.
//
// - Doorbells and statuses have no back-pressure and are never lost: a doorbell sets a bit per queue, and there are no
//   more statuses on their way than tags.
// - The enable bit of a queue (this is what RTS sets) is written by AXI4-Lite at address 4 * queue, bit 0. Reading
//   gives bit 0 enabled, bit 1 has work.
// - One operation on the state of a queue per cycle: a write, else a status, else a doorbell. A queue that is enabled,
//   has work and is neither listed nor in service then enters the list of ready queues; requests leave from its head.
`default_nettype none

module second_scheduler #(
    parameter QUEUE_INDEX_WIDTH = 4,
    parameter TAG_WIDTH         = 3
) (
    input  wire                         clk,
    input  wire                         rst,

    input  wire                         enable,  // no request leaves while this is low

    input  wire                         doorbell_valid,
    input  wire [QUEUE_INDEX_WIDTH-1:0] doorbell_queue,

    output wire                         request_valid,
    input  wire                         request_ready,
    output wire [QUEUE_INDEX_WIDTH-1:0] request_queue,
    output wire [TAG_WIDTH-1:0]         request_tag,

    input  wire                         status_valid,
    input  wire [TAG_WIDTH-1:0]         status_tag,
    input  wire [15:0]                  status_len,  // 0: the queue was empty

    input  wire [15:0]                  s_axil_awaddr,
    input  wire                         s_axil_awvalid,
    output wire                         s_axil_awready,
    input  wire [31:0]                  s_axil_wdata,
    input  wire                         s_axil_wvalid,
    output wire                         s_axil_wready,
    output wire [1:0]                   s_axil_bresp,
    output reg                          s_axil_bvalid,
    input  wire                         s_axil_bready,
    input  wire [15:0]                  s_axil_araddr,
    input  wire                         s_axil_arvalid,
    output wire                         s_axil_arready,
    output reg  [31:0]                  s_axil_rdata,
    output wire [1:0]                   s_axil_rresp,
    output reg                          s_axil_rvalid,
    input  wire                         s_axil_rready
);

    localparam QUEUES = 1 << QUEUE_INDEX_WIDTH;
    localparam TAGS   = 1 << TAG_WIDTH;

    reg [QUEUES-1:0] enabled;
    reg [QUEUES-1:0] has_work;
    reg [QUEUES-1:0] listed;
    reg [QUEUES-1:0] in_service;
    reg [QUEUES-1:0] rang;   // a doorbell that came while the queue was in service: the status does not know of it
    reg [QUEUES-1:0] bells;  // doorbells not looked at yet

    // --- statuses: as many places as tags
    reg  [TAG_WIDTH-1:0] status_tags [0:TAGS-1];
    reg  [TAGS-1:0]      status_empty_queue;
    reg  [TAG_WIDTH:0]   status_head;
    reg  [TAG_WIDTH:0]   status_tail;
    wire                 has_status = status_head != status_tail;
    wire [TAG_WIDTH-1:0] front_tag  = status_tags[status_head[TAG_WIDTH-1:0]];
    wire                 was_empty  = status_empty_queue[status_head[TAG_WIDTH-1:0]];

    // --- which queue a tag stands for
    reg  [QUEUE_INDEX_WIDTH-1:0] queue_of_tag [0:TAGS-1];
    reg  [TAGS-1:0]              tag_used;

    reg  [TAG_WIDTH-1:0] free_tag;
    integer t;
    always @* begin
        free_tag = {TAG_WIDTH{1'b0}};
        for (t = TAGS - 1; t >= 0; t = t - 1)
            if (!tag_used[t]) free_tag = t[TAG_WIDTH-1:0];
    end

    // --- the first doorbell
    reg  [QUEUE_INDEX_WIDTH-1:0] first_bell;
    integer b;
    always @* begin
        first_bell = {QUEUE_INDEX_WIDTH{1'b0}};
        for (b = QUEUES - 1; b >= 0; b = b - 1)
            if (bells[b]) first_bell = b[QUEUE_INDEX_WIDTH-1:0];
    end

    // --- one operation per cycle
    wire write_now  = s_axil_awvalid && s_axil_wvalid && !s_axil_bvalid;
    wire status_now = !write_now && has_status;
    wire bell_now   = !write_now && !has_status && bells != {QUEUES{1'b0}};

    wire [QUEUE_INDEX_WIDTH-1:0] q = write_now  ? s_axil_awaddr[QUEUE_INDEX_WIDTH+1:2] :
                                     status_now ? queue_of_tag[front_tag] : first_bell;

    wire enabled_next    = write_now ? s_axil_wdata[0] : enabled[q];
    wire work_next       = bell_now ? 1'b1 : status_now ? !was_empty || rang[q] : has_work[q];
    wire in_service_next = status_now ? 1'b0 : in_service[q];
    wire list_now        = (write_now || status_now || bell_now) && enabled_next && work_next && !in_service_next &&
                           !listed[q];

    // --- the list of ready queues; a queue is in it once at most
    reg  [QUEUE_INDEX_WIDTH-1:0] list [0:QUEUES-1];
    reg  [QUEUE_INDEX_WIDTH:0]   list_head;
    reg  [QUEUE_INDEX_WIDTH:0]   list_tail;
    wire                         has_listed = list_head != list_tail;
    wire [QUEUE_INDEX_WIDTH-1:0] first      = list[list_head[QUEUE_INDEX_WIDTH-1:0]];

    // A queue that was disabled while it was listed leaves without a request; enabling it lists it again.
    wire may_request = enabled[first] && !(write_now && q == first);
    wire tag_is_free = tag_used != {TAGS{1'b1}};

    assign request_valid = enable && has_listed && may_request && tag_is_free;
    assign request_queue = first;
    assign request_tag   = free_tag;

    wire requested = request_valid && request_ready;
    wire unlisted  = has_listed && !enabled[first] && !(write_now && q == first);

    assign s_axil_awready = write_now;
    assign s_axil_wready  = write_now;
    assign s_axil_bresp   = 2'b00;
    assign s_axil_arready = !s_axil_rvalid;
    assign s_axil_rresp   = 2'b00;

    always @(posedge clk) begin
        if (rst) begin
            enabled       <= {QUEUES{1'b0}};
            has_work      <= {QUEUES{1'b0}};
            listed        <= {QUEUES{1'b0}};
            in_service    <= {QUEUES{1'b0}};
            rang          <= {QUEUES{1'b0}};
            bells         <= {QUEUES{1'b0}};
            tag_used      <= {TAGS{1'b0}};
            status_head   <= {TAG_WIDTH+1{1'b0}};
            status_tail   <= {TAG_WIDTH+1{1'b0}};
            list_head     <= {QUEUE_INDEX_WIDTH+1{1'b0}};
            list_tail     <= {QUEUE_INDEX_WIDTH+1{1'b0}};
            s_axil_bvalid <= 1'b0;
            s_axil_rvalid <= 1'b0;
        end else begin
            if (write_now || status_now || bell_now) begin
                enabled[q]    <= enabled_next;
                has_work[q]   <= work_next;
                in_service[q] <= in_service_next;
                if (status_now) rang[q] <= 1'b0;
                if (bell_now && in_service[q]) rang[q] <= 1'b1;
            end
            if (bell_now) bells[first_bell] <= 1'b0;
            if (doorbell_valid) bells[doorbell_queue] <= 1'b1;

            if (list_now) begin
                listed[q]                               <= 1'b1;
                list[list_tail[QUEUE_INDEX_WIDTH-1:0]]  <= q;
                list_tail                               <= list_tail + 1'b1;
            end
            if (requested || unlisted) begin
                listed[first] <= 1'b0;
                list_head     <= list_head + 1'b1;
            end
            if (requested) begin
                in_service[first]      <= 1'b1;
                tag_used[free_tag]     <= 1'b1;
                queue_of_tag[free_tag] <= first;
            end
            if (status_now) begin
                tag_used[front_tag] <= 1'b0;
                status_head         <= status_head + 1'b1;
            end
            if (status_valid) begin
                status_tags[status_tail[TAG_WIDTH-1:0]]        <= status_tag;
                status_empty_queue[status_tail[TAG_WIDTH-1:0]] <= status_len == 16'd0;
                status_tail                                    <= status_tail + 1'b1;
            end

            if (write_now) s_axil_bvalid <= 1'b1;
            else if (s_axil_bready) s_axil_bvalid <= 1'b0;
            if (s_axil_arvalid && s_axil_arready) begin
                s_axil_rvalid <= 1'b1;
                s_axil_rdata  <= {30'd0, has_work[s_axil_araddr[QUEUE_INDEX_WIDTH+1:2]],
                                  enabled[s_axil_araddr[QUEUE_INDEX_WIDTH+1:2]]};
            end else if (s_axil_rready) begin
                s_axil_rvalid <= 1'b0;
            end
        end
    end

endmodule

`default_nettype wire
