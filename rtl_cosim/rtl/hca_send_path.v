// The send path in one piece: doorbell unit, QP context cache, send scheduler and the two sides of the link, joined by
// registered channels. Host interface, send engine, receive engine, completion unit and command unit are outside; their
// channels end at the pins, which are named as at the blocks, those of the link with tx_ and rx_ before them.
//
//   host ---> doorbell unit ---> send scheduler ---> grants, to the send engine
//                                  ^ state events
//   engines <---> QP context cache +---> state events, to the engines
//   packets ---> link tx ---> wire       ^
//   wire ---> link rx ---> packets       | credits: link rx ---> link tx
//
// Contract: docs/microarchitecture.md; pins and timing: docs/rtl.md. Clocked in every cycle.
// synthesis check of the blocks only
// synthesis check: -chparam QPS 8 -chparam DEPTH 4 -chparam SETS 2 -chparam WAYS 2 -chparam MISSES 2 -chparam WAITING 4 -chparam VLS 2 -chparam SOURCES 2 -chparam PACKETS 8 -chparam ARRIVING 4
`default_nettype none

module hca_send_path #(
    parameter QPS           = 1024,  // QP slots, a power of two, at least 4
    parameter DEPTH         = 32,    // entries of the doorbell FIFO
    parameter SETS          = 64,    // of the context cache
    parameter WAYS          = 4,
    parameter MISSES        = 8,     // fills under way
    parameter WAITING       = 64,    // requests that wait for a fill
    parameter CONTEXT_BYTES = 120,
    parameter VLS           = 2,     // data VLs
    parameter SOURCES       = 2,     // of packets per VL
    parameter PACKETS       = 512,   // in the receive buffer of a VL
    parameter ARRIVING      = 64     // packets in the receive pipeline
) (
    input  wire clk_i,
    input  wire rst_ni,

    // Doorbell unit
    input  wire                       cfg_coalesce_i,
    input  wire                       write_valid_i,
    output wire                       write_ready_o,
    input  wire [63:0]                write_word_i,
    output wire                       receive_valid_o,
    input  wire                       receive_ready_i,
    output wire [23:0]                receive_qpn_o,
    output wire [15:0]                receive_producer_o,
    output wire                       cq_valid_o,
    input  wire                       cq_ready_i,
    output wire [23:0]                cq_cqn_o,
    output wire [15:0]                cq_consumer_o,
    output wire                       cq_event_queue_o,

    // Send scheduler
    input  wire [1:0]                 cfg_arbitration_i,
    input  wire                       cfg_gate_in_context_i,
    input  wire [6:0]                 cfg_burst_i,
    input  wire [127:0]               cfg_weight_i,
    input  wire                       update_valid_i,
    output wire                       update_ready_o,
    input  wire [23:0]                update_qpn_i,
    input  wire                       update_end_service_i,
    input  wire                       update_set_consumer_i,
    input  wire [15:0]                update_consumer_i,
    input  wire                       update_resend_i,
    input  wire [15:0]                update_resend_until_i,
    input  wire [1:0]                 update_hold_i,
    input  wire                       update_gate_was_closed_i,
    output wire                       grant_valid_o,
    input  wire                       grant_ready_i,
    output wire [23:0]                grant_qpn_o,
    output wire [15:0]                grant_first_o,
    output wire [15:0]                grant_count_o,
    output wire                       grant_flush_o,

    // QP context cache
    input  wire                       cfg_plru_i,
    input  wire [6:0]                 cfg_hit_cycles_i,
    input  wire [63:0]                cfg_context_address_i,
    input  wire                       send_request_valid_i,
    output wire                       send_request_ready_o,
    input  wire [2:0]                 send_request_operation_i,
    input  wire [31:0]                send_request_qpn_i,
    input  wire [31:0]                send_request_cookie_i,
    input  wire [63:0]                send_request_requester_i,
    input  wire [319:0]               send_request_responder_i,
    input  wire [31:0]                send_request_modify_from_states_i,
    input  wire [2:0]                 send_request_modify_to_i,
    input  wire                       send_request_modify_needs_rts_attributes_i,
    input  wire [2:0]                 send_request_modify_reason_i,
    input  wire [31:0]                send_request_modify_attribute_mask_i,
    input  wire [255:0]               send_request_modify_attributes_i,
    input  wire                       send_request_modify_destroy_i,
    input  wire [8*CONTEXT_BYTES-1:0] send_request_fresh_i,
    output wire                       send_response_valid_o,
    input  wire                       send_response_ready_i,
    output wire [31:0]                send_response_cookie_o,
    output wire                       send_response_known_o,
    output wire                       send_response_applied_o,
    output wire                       send_response_was_hit_o,
    output wire [2:0]                 send_response_from_o,
    output wire [8*CONTEXT_BYTES-1:0] send_response_context_o,
    input  wire                       receive_request_valid_i,
    output wire                       receive_request_ready_o,
    input  wire [2:0]                 receive_request_operation_i,
    input  wire [31:0]                receive_request_qpn_i,
    input  wire [31:0]                receive_request_cookie_i,
    input  wire [63:0]                receive_request_requester_i,
    input  wire [319:0]               receive_request_responder_i,
    input  wire [31:0]                receive_request_modify_from_states_i,
    input  wire [2:0]                 receive_request_modify_to_i,
    input  wire                       receive_request_modify_needs_rts_attributes_i,
    input  wire [2:0]                 receive_request_modify_reason_i,
    input  wire [31:0]                receive_request_modify_attribute_mask_i,
    input  wire [255:0]               receive_request_modify_attributes_i,
    input  wire                       receive_request_modify_destroy_i,
    input  wire [8*CONTEXT_BYTES-1:0] receive_request_fresh_i,
    output wire                       receive_response_valid_o,
    input  wire                       receive_response_ready_i,
    output wire [31:0]                receive_response_cookie_o,
    output wire                       receive_response_known_o,
    output wire                       receive_response_applied_o,
    output wire                       receive_response_was_hit_o,
    output wire [2:0]                 receive_response_from_o,
    output wire [8*CONTEXT_BYTES-1:0] receive_response_context_o,
    input  wire                       command_request_valid_i,
    output wire                       command_request_ready_o,
    input  wire [2:0]                 command_request_operation_i,
    input  wire [31:0]                command_request_qpn_i,
    input  wire [31:0]                command_request_cookie_i,
    input  wire [63:0]                command_request_requester_i,
    input  wire [319:0]               command_request_responder_i,
    input  wire [31:0]                command_request_modify_from_states_i,
    input  wire [2:0]                 command_request_modify_to_i,
    input  wire                       command_request_modify_needs_rts_attributes_i,
    input  wire [2:0]                 command_request_modify_reason_i,
    input  wire [31:0]                command_request_modify_attribute_mask_i,
    input  wire [255:0]               command_request_modify_attributes_i,
    input  wire                       command_request_modify_destroy_i,
    input  wire [8*CONTEXT_BYTES-1:0] command_request_fresh_i,
    output wire                       command_response_valid_o,
    input  wire                       command_response_ready_i,
    output wire [31:0]                command_response_cookie_o,
    output wire                       command_response_known_o,
    output wire                       command_response_applied_o,
    output wire                       command_response_was_hit_o,
    output wire [2:0]                 command_response_from_o,
    output wire [8*CONTEXT_BYTES-1:0] command_response_context_o,
    output wire                       send_state_valid_o,
    input  wire                       send_state_ready_i,
    output wire [23:0]                send_state_qpn_o,
    output wire [2:0]                 send_state_state_o,
    output wire [1:0]                 send_state_gate_o,
    output wire [3:0]                 send_state_sl_class_o,
    output wire                       send_state_created_o,
    output wire                       send_state_notify_drained_o,
    output wire                       receive_state_valid_o,
    input  wire                       receive_state_ready_i,
    output wire [23:0]                receive_state_qpn_o,
    output wire [2:0]                 receive_state_state_o,
    output wire [1:0]                 receive_state_gate_o,
    output wire [3:0]                 receive_state_sl_class_o,
    output wire                       receive_state_created_o,
    output wire                       receive_state_notify_drained_o,
    output wire                       fill_valid_o,
    input  wire                       fill_ready_i,
    output wire [63:0]                fill_address_o,
    output wire [31:0]                fill_bytes_o,
    output wire [31:0]                fill_cookie_o,
    input  wire                       fill_valid_i,
    output wire                       fill_ready_o,
    input  wire [31:0]                fill_cookie_i,
    input  wire [8*CONTEXT_BYTES-1:0] fill_data_i,
    output wire                       writeback_valid_o,
    input  wire                       writeback_ready_i,
    output wire [63:0]                writeback_address_o,
    output wire [31:0]                writeback_bytes_o,
    output wire [8*CONTEXT_BYTES-1:0] writeback_data_o,

    // Link, transmit
    input  wire [17:0]                tx_cfg_cycle_units_i,
    input  wire [5:0]                 tx_cfg_byte_cycles_i,
    input  wire [17:0]                tx_cfg_byte_units_i,
    input  wire [4:0]                 tx_cfg_framing_bytes_i,
    input  wire [23:0]                tx_cfg_period_cycles_i,
    input  wire                       tx_cfg_repeat_i,
    input  wire [10:0]                tx_cfg_buffer_blocks_i,
    input  wire [7:0]                 tx_cfg_high_limit_i,
    input  wire [8*VLS-1:0]           tx_cfg_high_weight_i,
    input  wire [8*VLS-1:0]           tx_cfg_low_weight_i,
    input  wire [SOURCES*VLS-1:0]     tx_packet_valid_i,
    output wire [SOURCES*VLS-1:0]     tx_packet_ready_o,
    input  wire [SOURCES*VLS-1:0]     tx_packet_fresh_i,
    input  wire [64*SOURCES*VLS-1:0]  tx_packet_handle_i,
    input  wire [13*SOURCES*VLS-1:0]  tx_packet_size_bytes_i,
    input  wire [SOURCES*VLS-1:0]     tx_packet_has_wqe_i,
    input  wire [SOURCES*VLS-1:0]     tx_packet_is_ud_i,
    input  wire [24*SOURCES*VLS-1:0]  tx_packet_qpn_i,
    input  wire [16*SOURCES*VLS-1:0]  tx_packet_wqe_index_i,
    output wire                       tx_wire_valid_o,
    input  wire                       tx_wire_ready_i,
    output wire                       tx_wire_is_flow_control_o,
    output wire [3:0]                 tx_wire_vl_o,
    output wire [12:0]                tx_wire_size_bytes_o,
    output wire [63:0]                tx_wire_handle_o,
    output wire [47:0]                tx_wire_flow_control_o,
    output wire [47:0]                tx_wire_first_byte_cycle_o,
    output wire [47:0]                tx_wire_last_byte_cycle_o,
    output wire                       tx_sent_valid_o,
    input  wire                       tx_sent_ready_i,
    output wire [23:0]                tx_sent_qpn_o,
    output wire [15:0]                tx_sent_wqe_index_o,
    output wire [63:0]                tx_sent_last_byte_cycle_o,

    // Link, receive
    input  wire [31:0]                rx_cfg_arrival_cycles_i,
    input  wire [10:0]                rx_cfg_buffer_blocks_i,
    input  wire [16:0]                rx_cfg_update_bytes_i,
    input  wire                       rx_wire_valid_i,
    output wire                       rx_wire_ready_o,
    input  wire                       rx_wire_is_flow_control_i,
    input  wire [3:0]                 rx_wire_vl_i,
    input  wire [12:0]                rx_wire_size_bytes_i,
    input  wire [63:0]                rx_wire_handle_i,
    input  wire                       rx_wire_vcrc_ok_i,
    input  wire                       rx_wire_late_i,
    input  wire [47:0]                rx_wire_flow_control_i,
    input  wire [47:0]                rx_wire_last_byte_cycle_i,
    output wire                       rx_packet_valid_o,
    input  wire                       rx_packet_ready_i,
    output wire [63:0]                rx_packet_handle_o,
    output wire                       rx_drop_valid_o,
    output wire [63:0]                rx_drop_handle_o,

    output wire busy_o
);


    // Producer indices, doorbell unit to scheduler
    wire doorbell_out_valid, doorbell_out_ready, doorbell_in_valid, doorbell_in_ready;
    wire [23:0] doorbell_out_qpn, doorbell_in_qpn;
    wire [15:0] doorbell_out_producer, doorbell_in_producer;
    hca_channel #(
        .WIDTH(40)
    ) doorbell_channel (
        .clk_i       (clk_i),
        .rst_ni      (rst_ni),
        .push_valid_i(doorbell_out_valid),
        .push_ready_o(doorbell_out_ready),
        .push_data_i ({doorbell_out_qpn, doorbell_out_producer}),
        .pop_valid_o (doorbell_in_valid),
        .pop_ready_i (doorbell_in_ready),
        .pop_data_o  ({doorbell_in_qpn, doorbell_in_producer})
    );

    // State events, context cache to scheduler
    wire state_out_valid, state_out_ready, state_in_valid, state_in_ready;
    wire [23:0] state_out_qpn, state_in_qpn;
    wire [2:0] state_out_state, state_in_state;
    wire [1:0] state_out_gate, state_in_gate;
    wire [3:0] state_out_sl_class, state_in_sl_class;
    wire state_out_created, state_in_created;
    wire state_out_notify_drained, state_in_notify_drained;
    hca_channel #(
        .WIDTH(35)
    ) state_channel (
        .clk_i       (clk_i),
        .rst_ni      (rst_ni),
        .push_valid_i(state_out_valid),
        .push_ready_o(state_out_ready),
        .push_data_i ({state_out_qpn, state_out_state, state_out_gate, state_out_sl_class, state_out_created, state_out_notify_drained}),
        .pop_valid_o (state_in_valid),
        .pop_ready_i (state_in_ready),
        .pop_data_o  ({state_in_qpn, state_in_state, state_in_gate, state_in_sl_class, state_in_created, state_in_notify_drained})
    );

    // Credits, link rx to link tx
    wire credit_out_valid, credit_out_ready, credit_in_valid, credit_in_ready;
    wire credit_out_from_peer, credit_in_from_peer;
    wire credit_out_at_once, credit_in_at_once;
    wire [3:0] credit_out_vl, credit_in_vl;
    wire [11:0] credit_out_fccl, credit_in_fccl;
    hca_channel #(
        .WIDTH(18)
    ) credit_channel (
        .clk_i       (clk_i),
        .rst_ni      (rst_ni),
        .push_valid_i(credit_out_valid),
        .push_ready_o(credit_out_ready),
        .push_data_i ({credit_out_from_peer, credit_out_at_once, credit_out_vl, credit_out_fccl}),
        .pop_valid_o (credit_in_valid),
        .pop_ready_i (credit_in_ready),
        .pop_data_o  ({credit_in_from_peer, credit_in_at_once, credit_in_vl, credit_in_fccl})
    );

    wire doorbell_unit_busy, send_scheduler_busy, qp_context_cache_busy, link_tx_busy, link_tx_wakes, link_rx_busy;
    assign busy_o = doorbell_unit_busy | send_scheduler_busy | qp_context_cache_busy | link_tx_busy | link_tx_wakes |
                    link_rx_busy | doorbell_in_valid | state_in_valid | credit_in_valid;

    /* verilator lint_off PINCONNECTEMPTY */
    doorbell_unit #(
        .QPS(QPS),
        .DEPTH(DEPTH)
    ) doorbell_unit (
        .clk_i                 (clk_i),
        .rst_ni                (rst_ni),
        .cfg_coalesce_i        (cfg_coalesce_i),
        .write_valid_i         (write_valid_i),
        .write_ready_o         (write_ready_o),
        .write_word_i          (write_word_i),
        .send_valid_o          (doorbell_out_valid),
        .send_ready_i          (doorbell_out_ready),
        .send_qpn_o            (doorbell_out_qpn),
        .send_producer_o       (doorbell_out_producer),
        .receive_valid_o       (receive_valid_o),
        .receive_ready_i       (receive_ready_i),
        .receive_qpn_o         (receive_qpn_o),
        .receive_producer_o    (receive_producer_o),
        .cq_valid_o            (cq_valid_o),
        .cq_ready_i            (cq_ready_i),
        .cq_cqn_o              (cq_cqn_o),
        .cq_consumer_o         (cq_consumer_o),
        .cq_event_queue_o      (cq_event_queue_o),
        .busy_o                (doorbell_unit_busy),
        // Nothing here watches.
        .trace_received_o      (),
        .trace_coalesced_o     (),
        .trace_stale_o         (),
        .trace_unknown_o       (),
        .trace_full_o          (),
        .trace_merged_o        (),
        .trace_merged_qpn_o    (),
        .trace_merged_before_o (),
        .trace_merged_offered_o(),
        .trace_merged_after_o  (),
        .trace_level_o         ()
    );
    /* verilator lint_on PINCONNECTEMPTY */

    /* verilator lint_off PINCONNECTEMPTY */
    send_scheduler #(
        .QPS(QPS)
    ) send_scheduler (
        .clk_i                   (clk_i),
        .rst_ni                  (rst_ni),
        .cfg_arbitration_i       (cfg_arbitration_i),
        .cfg_gate_in_context_i   (cfg_gate_in_context_i),
        .cfg_burst_i             (cfg_burst_i),
        .cfg_weight_i            (cfg_weight_i),
        .doorbell_valid_i        (doorbell_in_valid),
        .doorbell_ready_o        (doorbell_in_ready),
        .doorbell_qpn_i          (doorbell_in_qpn),
        .doorbell_producer_i     (doorbell_in_producer),
        .state_valid_i           (state_in_valid),
        .state_ready_o           (state_in_ready),
        .state_qpn_i             (state_in_qpn),
        .state_state_i           (state_in_state),
        .state_gate_i            (state_in_gate),
        .state_sl_class_i        (state_in_sl_class),
        .state_created_i         (state_in_created),
        .state_notify_drained_i  (state_in_notify_drained),
        .update_valid_i          (update_valid_i),
        .update_ready_o          (update_ready_o),
        .update_qpn_i            (update_qpn_i),
        .update_end_service_i    (update_end_service_i),
        .update_set_consumer_i   (update_set_consumer_i),
        .update_consumer_i       (update_consumer_i),
        .update_resend_i         (update_resend_i),
        .update_resend_until_i   (update_resend_until_i),
        .update_hold_i           (update_hold_i),
        .update_gate_was_closed_i(update_gate_was_closed_i),
        .grant_valid_o           (grant_valid_o),
        .grant_ready_i           (grant_ready_i),
        .grant_qpn_o             (grant_qpn_o),
        .grant_first_o           (grant_first_o),
        .grant_count_o           (grant_count_o),
        .grant_flush_o           (grant_flush_o),
        .busy_o                  (send_scheduler_busy),
        // Nothing here watches.
        .trace_gate_changed_o    (),
        .trace_gate_was_pending_o(),
        .trace_gate_opened_o     (),
        .trace_gate_first_o      (),
        .trace_gate_end_o        (),
        .trace_doorbell_stale_o  (),
        .trace_doorbell_taken_o  (),
        .trace_doorbell_open_o   (),
        .trace_doorbell_first_o  (),
        .trace_consumer_set_o    (),
        .trace_closed_grant_o    ()
    );
    /* verilator lint_on PINCONNECTEMPTY */

    /* verilator lint_off PINCONNECTEMPTY */
    qp_context_cache #(
        .QPS(QPS),
        .SETS(SETS),
        .WAYS(WAYS),
        .MISSES(MISSES),
        .WAITING(WAITING),
        .CONTEXT_BYTES(CONTEXT_BYTES)
    ) qp_context_cache (
        .clk_i                                        (clk_i),
        .rst_ni                                       (rst_ni),
        .cfg_plru_i                                   (cfg_plru_i),
        .cfg_hit_cycles_i                             (cfg_hit_cycles_i),
        .cfg_context_address_i                        (cfg_context_address_i),
        .send_request_valid_i                         (send_request_valid_i),
        .send_request_ready_o                         (send_request_ready_o),
        .send_request_operation_i                     (send_request_operation_i),
        .send_request_qpn_i                           (send_request_qpn_i),
        .send_request_cookie_i                        (send_request_cookie_i),
        .send_request_requester_i                     (send_request_requester_i),
        .send_request_responder_i                     (send_request_responder_i),
        .send_request_modify_from_states_i            (send_request_modify_from_states_i),
        .send_request_modify_to_i                     (send_request_modify_to_i),
        .send_request_modify_needs_rts_attributes_i   (send_request_modify_needs_rts_attributes_i),
        .send_request_modify_reason_i                 (send_request_modify_reason_i),
        .send_request_modify_attribute_mask_i         (send_request_modify_attribute_mask_i),
        .send_request_modify_attributes_i             (send_request_modify_attributes_i),
        .send_request_modify_destroy_i                (send_request_modify_destroy_i),
        .send_request_fresh_i                         (send_request_fresh_i),
        .send_response_valid_o                        (send_response_valid_o),
        .send_response_ready_i                        (send_response_ready_i),
        .send_response_cookie_o                       (send_response_cookie_o),
        .send_response_known_o                        (send_response_known_o),
        .send_response_applied_o                      (send_response_applied_o),
        .send_response_was_hit_o                      (send_response_was_hit_o),
        .send_response_from_o                         (send_response_from_o),
        .send_response_context_o                      (send_response_context_o),
        .receive_request_valid_i                      (receive_request_valid_i),
        .receive_request_ready_o                      (receive_request_ready_o),
        .receive_request_operation_i                  (receive_request_operation_i),
        .receive_request_qpn_i                        (receive_request_qpn_i),
        .receive_request_cookie_i                     (receive_request_cookie_i),
        .receive_request_requester_i                  (receive_request_requester_i),
        .receive_request_responder_i                  (receive_request_responder_i),
        .receive_request_modify_from_states_i         (receive_request_modify_from_states_i),
        .receive_request_modify_to_i                  (receive_request_modify_to_i),
        .receive_request_modify_needs_rts_attributes_i(receive_request_modify_needs_rts_attributes_i),
        .receive_request_modify_reason_i              (receive_request_modify_reason_i),
        .receive_request_modify_attribute_mask_i      (receive_request_modify_attribute_mask_i),
        .receive_request_modify_attributes_i          (receive_request_modify_attributes_i),
        .receive_request_modify_destroy_i             (receive_request_modify_destroy_i),
        .receive_request_fresh_i                      (receive_request_fresh_i),
        .receive_response_valid_o                     (receive_response_valid_o),
        .receive_response_ready_i                     (receive_response_ready_i),
        .receive_response_cookie_o                    (receive_response_cookie_o),
        .receive_response_known_o                     (receive_response_known_o),
        .receive_response_applied_o                   (receive_response_applied_o),
        .receive_response_was_hit_o                   (receive_response_was_hit_o),
        .receive_response_from_o                      (receive_response_from_o),
        .receive_response_context_o                   (receive_response_context_o),
        .command_request_valid_i                      (command_request_valid_i),
        .command_request_ready_o                      (command_request_ready_o),
        .command_request_operation_i                  (command_request_operation_i),
        .command_request_qpn_i                        (command_request_qpn_i),
        .command_request_cookie_i                     (command_request_cookie_i),
        .command_request_requester_i                  (command_request_requester_i),
        .command_request_responder_i                  (command_request_responder_i),
        .command_request_modify_from_states_i         (command_request_modify_from_states_i),
        .command_request_modify_to_i                  (command_request_modify_to_i),
        .command_request_modify_needs_rts_attributes_i(command_request_modify_needs_rts_attributes_i),
        .command_request_modify_reason_i              (command_request_modify_reason_i),
        .command_request_modify_attribute_mask_i      (command_request_modify_attribute_mask_i),
        .command_request_modify_attributes_i          (command_request_modify_attributes_i),
        .command_request_modify_destroy_i             (command_request_modify_destroy_i),
        .command_request_fresh_i                      (command_request_fresh_i),
        .command_response_valid_o                     (command_response_valid_o),
        .command_response_ready_i                     (command_response_ready_i),
        .command_response_cookie_o                    (command_response_cookie_o),
        .command_response_known_o                     (command_response_known_o),
        .command_response_applied_o                   (command_response_applied_o),
        .command_response_was_hit_o                   (command_response_was_hit_o),
        .command_response_from_o                      (command_response_from_o),
        .command_response_context_o                   (command_response_context_o),
        .scheduler_state_valid_o                      (state_out_valid),
        .scheduler_state_ready_i                      (state_out_ready),
        .scheduler_state_qpn_o                        (state_out_qpn),
        .scheduler_state_state_o                      (state_out_state),
        .scheduler_state_gate_o                       (state_out_gate),
        .scheduler_state_sl_class_o                   (state_out_sl_class),
        .scheduler_state_created_o                    (state_out_created),
        .scheduler_state_notify_drained_o             (state_out_notify_drained),
        .send_state_valid_o                           (send_state_valid_o),
        .send_state_ready_i                           (send_state_ready_i),
        .send_state_qpn_o                             (send_state_qpn_o),
        .send_state_state_o                           (send_state_state_o),
        .send_state_gate_o                            (send_state_gate_o),
        .send_state_sl_class_o                        (send_state_sl_class_o),
        .send_state_created_o                         (send_state_created_o),
        .send_state_notify_drained_o                  (send_state_notify_drained_o),
        .receive_state_valid_o                        (receive_state_valid_o),
        .receive_state_ready_i                        (receive_state_ready_i),
        .receive_state_qpn_o                          (receive_state_qpn_o),
        .receive_state_state_o                        (receive_state_state_o),
        .receive_state_gate_o                         (receive_state_gate_o),
        .receive_state_sl_class_o                     (receive_state_sl_class_o),
        .receive_state_created_o                      (receive_state_created_o),
        .receive_state_notify_drained_o               (receive_state_notify_drained_o),
        .fill_valid_o                                 (fill_valid_o),
        .fill_ready_i                                 (fill_ready_i),
        .fill_address_o                               (fill_address_o),
        .fill_bytes_o                                 (fill_bytes_o),
        .fill_cookie_o                                (fill_cookie_o),
        .fill_valid_i                                 (fill_valid_i),
        .fill_ready_o                                 (fill_ready_o),
        .fill_cookie_i                                (fill_cookie_i),
        .fill_data_i                                  (fill_data_i),
        .writeback_valid_o                            (writeback_valid_o),
        .writeback_ready_i                            (writeback_ready_i),
        .writeback_address_o                          (writeback_address_o),
        .writeback_bytes_o                            (writeback_bytes_o),
        .writeback_data_o                             (writeback_data_o),
        .busy_o                                       (qp_context_cache_busy),
        // Nothing here watches.
        .trace_hit_o                                  (),
        .trace_miss_o                                 (),
        .trace_merged_o                               (),
        .trace_replay_o                               (),
        .trace_void_write_o                           (),
        .trace_install_o                              (),
        .trace_installed_slot_o                       (),
        .trace_eviction_o                             (),
        .trace_evicted_slot_o                         (),
        .trace_evicted_way_o                          (),
        .trace_writeback_o                            (),
        .trace_state_changed_o                        (),
        .trace_late_opener_o                          (),
        .trace_changed_qpn_o                          (),
        .trace_changed_reason_o                       (),
        .trace_changed_before_o                       (),
        .trace_changed_after_o                        (),
        .trace_changed_next_psn_o                     (),
        .trace_no_room_o                              (),
        .trace_no_place_o                             (),
        .trace_no_miss_o                              (),
        .trace_untold_o                               (),
        .trace_held_install_o                         ()
    );
    /* verilator lint_on PINCONNECTEMPTY */

    /* verilator lint_off PINCONNECTEMPTY */
    link_tx #(
        .VLS(VLS),
        .SOURCES(SOURCES)
    ) link_tx (
        .clk_i                  (clk_i),
        .rst_ni                 (rst_ni),
        .resume_i               (1'b0),
        .resume_cycle_i         (48'd0),
        .resume_period_i        (24'd0),
        .cfg_cycle_units_i      (tx_cfg_cycle_units_i),
        .cfg_byte_cycles_i      (tx_cfg_byte_cycles_i),
        .cfg_byte_units_i       (tx_cfg_byte_units_i),
        .cfg_framing_bytes_i    (tx_cfg_framing_bytes_i),
        .cfg_period_cycles_i    (tx_cfg_period_cycles_i),
        .cfg_repeat_i           (tx_cfg_repeat_i),
        .cfg_buffer_blocks_i    (tx_cfg_buffer_blocks_i),
        .cfg_high_limit_i       (tx_cfg_high_limit_i),
        .cfg_high_weight_i      (tx_cfg_high_weight_i),
        .cfg_low_weight_i       (tx_cfg_low_weight_i),
        .packet_valid_i         (tx_packet_valid_i),
        .packet_ready_o         (tx_packet_ready_o),
        .packet_fresh_i         (tx_packet_fresh_i),
        .packet_handle_i        (tx_packet_handle_i),
        .packet_size_bytes_i    (tx_packet_size_bytes_i),
        .packet_has_wqe_i       (tx_packet_has_wqe_i),
        .packet_is_ud_i         (tx_packet_is_ud_i),
        .packet_qpn_i           (tx_packet_qpn_i),
        .packet_wqe_index_i     (tx_packet_wqe_index_i),
        .credit_valid_i         (credit_in_valid),
        .credit_ready_o         (credit_in_ready),
        .credit_from_peer_i     (credit_in_from_peer),
        .credit_at_once_i       (credit_in_at_once),
        .credit_vl_i            (credit_in_vl),
        .credit_fccl_i          (credit_in_fccl),
        .wire_valid_o           (tx_wire_valid_o),
        .wire_ready_i           (tx_wire_ready_i),
        .wire_is_flow_control_o (tx_wire_is_flow_control_o),
        .wire_vl_o              (tx_wire_vl_o),
        .wire_size_bytes_o      (tx_wire_size_bytes_o),
        .wire_handle_o          (tx_wire_handle_o),
        .wire_flow_control_o    (tx_wire_flow_control_o),
        .wire_first_byte_cycle_o(tx_wire_first_byte_cycle_o),
        .wire_last_byte_cycle_o (tx_wire_last_byte_cycle_o),
        .sent_valid_o           (tx_sent_valid_o),
        .sent_ready_i           (tx_sent_ready_i),
        .sent_qpn_o             (tx_sent_qpn_o),
        .sent_wqe_index_o       (tx_sent_wqe_index_o),
        .sent_last_byte_cycle_o (tx_sent_last_byte_cycle_o),
        .busy_o                 (link_tx_busy),
        .wakes_o                (link_tx_wakes),
        // Nothing here watches.
        .trace_credit_stall_o   (),
        .trace_from_high_o      ()
    );
    /* verilator lint_on PINCONNECTEMPTY */

    /* verilator lint_off PINCONNECTEMPTY */
    link_rx #(
        .VLS(VLS),
        .PACKETS(PACKETS),
        .ARRIVING(ARRIVING)
    ) link_rx (
        .clk_i                     (clk_i),
        .rst_ni                    (rst_ni),
        .resume_i                  (1'b0),
        .resume_cycle_i            (48'd0),
        .cfg_arrival_cycles_i      (rx_cfg_arrival_cycles_i),
        .cfg_buffer_blocks_i       (rx_cfg_buffer_blocks_i),
        .cfg_update_bytes_i        (rx_cfg_update_bytes_i),
        .wire_valid_i              (rx_wire_valid_i),
        .wire_ready_o              (rx_wire_ready_o),
        .wire_is_flow_control_i    (rx_wire_is_flow_control_i),
        .wire_vl_i                 (rx_wire_vl_i),
        .wire_size_bytes_i         (rx_wire_size_bytes_i),
        .wire_handle_i             (rx_wire_handle_i),
        .wire_vcrc_ok_i            (rx_wire_vcrc_ok_i),
        .wire_late_i               (rx_wire_late_i),
        .wire_flow_control_i       (rx_wire_flow_control_i),
        .wire_last_byte_cycle_i    (rx_wire_last_byte_cycle_i),
        .packet_valid_o            (rx_packet_valid_o),
        .packet_ready_i            (rx_packet_ready_i),
        .packet_handle_o           (rx_packet_handle_o),
        .drop_valid_o              (rx_drop_valid_o),
        .drop_handle_o             (rx_drop_handle_o),
        .credit_valid_o            (credit_out_valid),
        .credit_ready_i            (credit_out_ready),
        .credit_from_peer_o        (credit_out_from_peer),
        .credit_at_once_o          (credit_out_at_once),
        .credit_vl_o               (credit_out_vl),
        .credit_fccl_o             (credit_out_fccl),
        .busy_o                    (link_rx_busy),
        // Nothing here watches.
        .trace_packet_o            (),
        .trace_flow_control_o      (),
        .trace_flow_control_error_o(),
        .trace_vcrc_error_o        (),
        .trace_overrun_o           (),
        .trace_resync_o            (),
        .trace_kept_bytes_o        ()
    );
    /* verilator lint_on PINCONNECTEMPTY */

endmodule

`default_nettype wire
