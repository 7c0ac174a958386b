#include "rtl_cosim/wrap/rtl_config.h"

namespace hcasim {

namespace {

const std::vector<std::string>& mode_names() {
    static const std::vector<std::string> names = {"false", "true", "shadow"};
    return names;
}

}  // namespace

bool rtl_config::any() const {
    for (const rtl_mode mode : {doorbell_unit, qp_context_cache, send_scheduler, link_tx, link_rx}) {
        if (mode != rtl_mode::model) {
            return true;
        }
    }
    return false;
}

void rtl_config::describe(parameter_list& list) {
    parameter& whole = list.choice(
        "rtl.all", all, mode_names(),
        {"1", "the same for every block that has Verilog; a block named by itself afterwards differs",
         evidence::assumed, ""});
    whole.set_text = [this, set = whole.set_text](const std::string& value) {
        set(value);
        for (rtl_mode* mode : {&doorbell_unit, &qp_context_cache, &send_scheduler, &link_tx, &link_rx}) {
            *mode = all;
        }
    };
    const about each = {"1",
                        "true: the Verilog of this block stands in its place; shadow: it runs beside the "
                        "model and is compared in every cycle",
                        evidence::assumed, ""};
    list.choice("rtl.doorbell_unit", doorbell_unit, mode_names(), each);
    list.choice("rtl.qp_context_cache", qp_context_cache, mode_names(), each);
    list.choice("rtl.send_scheduler", send_scheduler, mode_names(), each);
    list.choice("rtl.link_tx", link_tx, mode_names(), each);
    list.choice("rtl.link_rx", link_rx, mode_names(), each);
    parameter& joined = list.boolean(
        "rtl.send_path", send_path,
        {"1",
         "hca_send_path.v, the five blocks joined, runs beside them and is compared in every cycle; all five "
         "become shadow",
         evidence::assumed, ""});
    joined.set_boolean = [this, set = whole.set_text](bool on) {
        send_path = on;
        if (on) {
            set("shadow");
        }
    };
}

}  // namespace hcasim
