#ifndef HCASIM_TESTBENCHES_UNIT_CATCH_H
#define HCASIM_TESTBENCHES_UNIT_CATCH_H

// Catch2, whichever major version is installed.
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif

#endif
