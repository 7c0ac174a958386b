// In Catch2 v2 one file holds the implementation, and only there is the session declared.
#if !__has_include(<catch2/catch_all.hpp>)
#define CATCH_CONFIG_RUNNER
#endif
#include "testbenches/unit/runner/session.h"

#include "testbenches/unit/catch.h"

namespace hcasim::test {

int run_catch_session(int argc, char** argv) { return Catch::Session().run(argc, argv); }

}  // namespace hcasim::test
