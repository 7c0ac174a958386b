#include "model/ib/work_queue.h"

namespace hcasim::ib {

std::string_view name(wc_status status) {
    switch (status) {
        case wc_status::success:
            return "SUCCESS";
        case wc_status::loc_len_err:
            return "LOC_LEN_ERR";
        case wc_status::loc_qp_op_err:
            return "LOC_QP_OP_ERR";
        case wc_status::wr_flush_err:
            return "WR_FLUSH_ERR";
        case wc_status::rem_inv_req_err:
            return "REM_INV_REQ_ERR";
        case wc_status::rem_access_err:
            return "REM_ACCESS_ERR";
        case wc_status::rem_op_err:
            return "REM_OP_ERR";
        case wc_status::retry_exc_err:
            return "RETRY_EXC_ERR";
        case wc_status::rnr_retry_exc_err:
            return "RNR_RETRY_EXC_ERR";
    }
    return "unknown";
}

std::string_view name(event_type type) {
    switch (type) {
        case event_type::completion:
            return "completion";
        case event_type::comm_est:
            return "comm_est";
        case event_type::sq_drained:
            return "sq_drained";
        case event_type::cq_error:
            return "cq_error";
        case event_type::qp_fatal:
            return "qp_fatal";
        case event_type::qp_inferred_rts:
            return "qp_inferred_rts";
        case event_type::command:
            return "command";
    }
    return "unknown";
}

}  // namespace hcasim::ib
