// SystemC has the main of the process and calls sc_main.
#include <systemc>

#include <cstdlib>
#include <string>
#include <vector>

#include "testbenches/program/commands.h"

namespace {

// SystemC prints its banner before sc_main is called.
const int banner_off = setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 1);

}  // namespace

int sc_main(int argc, char** argv) {
    static_cast<void>(banner_off);
    // Must come before the first sc_time of the process.
    sc_core::sc_set_time_resolution(1, sc_core::SC_FS);
    return hcasim::program_main({argv + 1, argv + argc});
}
