// The main of test programs that need no SystemC.
#include "testbenches/unit/runner/session.h"

int main(int argc, char** argv) { return hcasim::test::run_catch_session(argc, argv); }
