# Everything that comes from outside, found once and given one target name each:
#   hcasim::systemc  hcasim::zlib                                          the model
#   hcasim::cli11  hcasim::toml  hcasim::json  hcasim::fmt  hcasim::xxhash  hcasim::sqlite
#                                                                          the program
#   hcasim::catch2  hcasim::rapidcheck                                     the tests
# The root script hcasim has the packages they come in.

find_package(PkgConfig REQUIRED)

# SystemC has no CMake package in the distributions; pkg-config knows it in both 2.3.4 and 3.0.
pkg_check_modules(hcasim_systemc REQUIRED IMPORTED_TARGET GLOBAL systemc>=2.3.3)
add_library(hcasim::systemc ALIAS PkgConfig::hcasim_systemc)

find_package(ZLIB REQUIRED)
add_library(hcasim::zlib ALIAS ZLIB::ZLIB)

if(HCASIM_PROGRAM OR HCASIM_TESTS)
  find_package(CLI11 REQUIRED)
  find_package(nlohmann_json REQUIRED)
  find_package(fmt REQUIRED)
  # toml++ is a shared library in some distributions and header-only in others; pkg-config tells which.
  pkg_check_modules(hcasim_toml REQUIRED IMPORTED_TARGET tomlplusplus>=3.0)
  pkg_check_modules(hcasim_xxhash REQUIRED IMPORTED_TARGET libxxhash)
  pkg_check_modules(hcasim_sqlite REQUIRED IMPORTED_TARGET sqlite3)
  add_library(hcasim::sqlite ALIAS PkgConfig::hcasim_sqlite)
  add_library(hcasim::cli11 ALIAS CLI11::CLI11)
  add_library(hcasim::json ALIAS nlohmann_json::nlohmann_json)
  add_library(hcasim::fmt ALIAS fmt::fmt)
  add_library(hcasim::toml ALIAS PkgConfig::hcasim_toml)
  add_library(hcasim::xxhash ALIAS PkgConfig::hcasim_xxhash)
endif()

if(HCASIM_TESTS)
  find_package(Catch2 REQUIRED)
  include(Catch)
  find_package(rapidcheck REQUIRED)
  add_library(hcasim::catch2 ALIAS Catch2::Catch2)
  add_library(hcasim::rapidcheck ALIAS rapidcheck)
endif()
