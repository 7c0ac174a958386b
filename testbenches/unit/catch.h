#ifndef HCASIM_TESTBENCHES_UNIT_CATCH_H
#define HCASIM_TESTBENCHES_UNIT_CATCH_H

// Catch2, whichever major version is installed.
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
namespace hcasim {
/// Matches a text with `part` in it.
inline auto has_part(const char* part) { return Catch::Matchers::ContainsSubstring(part); }
}  // namespace hcasim
#else
#include <catch2/catch.hpp>
namespace hcasim {
inline auto has_part(const char* part) { return Catch::Matchers::Contains(part); }
}  // namespace hcasim
#endif

#endif
