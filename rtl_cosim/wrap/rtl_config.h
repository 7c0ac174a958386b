#ifndef HCASIM_RTL_COSIM_WRAP_RTL_CONFIG_H
#define HCASIM_RTL_COSIM_WRAP_RTL_CONFIG_H

#include "model/stats/parameter.h"
#include "rtl_cosim/wrap/rtl_mode.h"

namespace hcasim {

/// Which blocks of every card are Verilog. Results do not depend on it.
struct rtl_config {
    rtl_mode all = rtl_mode::model;  ///< what was last given for all at once
    rtl_mode doorbell_unit = rtl_mode::model;
    rtl_mode qp_context_cache = rtl_mode::model;
    rtl_mode send_scheduler = rtl_mode::model;
    rtl_mode link_tx = rtl_mode::model;
    rtl_mode link_rx = rtl_mode::model;
    bool send_path = false;  ///< hca_send_path.v beside the five, which are rtl_mode::shadow then

    bool any() const;
    void describe(parameter_list& list);
};

/// Keys of rtl_config begin with this.
constexpr const char* rtl_key_prefix = "rtl.";

}  // namespace hcasim

#endif
