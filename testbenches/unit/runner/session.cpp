// In Catch2 v2 one file holds the implementation, and only there is the session declared.
#if !__has_include(<catch2/catch_all.hpp>)
#define CATCH_CONFIG_RUNNER
#endif
#include "testbenches/unit/runner/session.h"

#include "testbenches/unit/catch.h"

namespace hcasim::test {

int run_catch_session(int argc, char** argv) {
    Catch::Session session;
    const int bad_arguments = session.applyCommandLine(argc, argv);
    if (bad_arguments != 0) {
        return bad_arguments;
    }
#if CATCH_VERSION_MAJOR < 3
    // As v3 does by itself. CMake makes two names of one with a semicolon in it: neither is a test case.
    auto& warnings = session.configData().warnings;
    warnings = static_cast<Catch::WarnAbout::What>(warnings | Catch::WarnAbout::NoTests);
#endif
    return session.run();
}

}  // namespace hcasim::test
