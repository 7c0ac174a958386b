// Runs the Catch2 test cases that are linked in.
#ifndef HCASIM_TESTBENCHES_UNIT_RUNNER_SESSION_H
#define HCASIM_TESTBENCHES_UNIT_RUNNER_SESSION_H

namespace hcasim::test {

// Returns the number of failed test cases, 255 at most; that many are listed by --list-test-names-only, too.
int run_catch_session(int argc, char** argv);

}  // namespace hcasim::test

#endif
