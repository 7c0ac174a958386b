#ifndef HCASIM_TESTBENCHES_UNIT_RUNNER_SESSION_H
#define HCASIM_TESTBENCHES_UNIT_RUNNER_SESSION_H

namespace hcasim::test {

/// Runs the Catch2 test cases that are linked in, as the arguments say; returns the exit code of the process,
/// which is not 0 when the arguments name no test case.
int run_catch_session(int argc, char** argv);

}  // namespace hcasim::test

#endif
