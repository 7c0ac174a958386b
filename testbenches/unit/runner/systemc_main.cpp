// The sc_main of test programs that use SystemC: the time resolution of the model, no banner, and a report
// handler that turns what SystemC complains about into failed checks.
#include <systemc>

#include <cstdlib>

#include "testbenches/unit/catch.h"
#include "testbenches/unit/runner/session.h"

namespace {

// Errors keep SystemC's own actions (throw; abort for a fatal one), so that a test can expect them with
// CHECK_THROWS_AS(..., sc_core::sc_report). Warnings would be printed and lost: they fail the test.
void report_to_catch(const sc_core::sc_report& report, const sc_core::sc_actions& actions) {
    switch (report.get_severity()) {
        case sc_core::SC_WARNING:
            FAIL_CHECK("SystemC warning " << report.get_msg_type() << ": " << report.get_msg());
            return;
        case sc_core::SC_FATAL:
            FAIL_CHECK("SystemC fatal error " << report.get_msg_type() << ": " << report.get_msg());
            break;
        default:
            break;
    }
    sc_core::sc_report_handler::default_handler(report, actions);
}

// The banner is printed before sc_main is called, into whatever reads the list of test cases.
const int banner_off = setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 1);

}  // namespace

int sc_main(int argc, char** argv) {
    static_cast<void>(banner_off);
    // Must come before the first sc_time of the process.
    sc_core::sc_set_time_resolution(1, sc_core::SC_FS);
    sc_core::sc_report_handler::set_handler(report_to_catch);
    return hcasim::test::run_catch_session(argc, argv);
}
