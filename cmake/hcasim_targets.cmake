# One function per kind of target. A room's CMakeLists.txt calls these and nothing else.
#
#   hcasim_rooms(<dir>...)
#       opens the directories, as far as they are there
#   hcasim_library(<name> [SYSTEMC] [SOURCES <file>...] [LINKS <target>...])
#       static library with the alias hcasim::<name without the prefix hcasim_>; without sources, headers only
#   hcasim_program(<name> [SYSTEMC] SOURCES <file>... [LINKS <target>...])
#       executable in <build>/bin
#   hcasim_test(<name> [SYSTEMC] SOURCES <file>... LABEL <label> [TIMEOUT <seconds>] [LINKS <target>...])
#       Catch2 executable; every TEST_CASE is a ctest entry "<name>/<test case>" and runs in a process of its own,
#       because SystemC cannot elaborate again once a simulation has run. Without sources, nothing.
#   hcasim_command_test(<name> LABEL <label> [TIMEOUT <seconds>] [DEPENDS <target>...] COMMAND <word>...)
#       ctest entry that passes when the command exits with 0 and is reported as skipped when it exits with 77
#
# SYSTEMC: the target may include <systemc>, and gets it precompiled. All such targets share one precompiled header.
# LABEL: unit, timing, system, regression, rtl, formal or style. TIMEOUT: default 60.

set(HCASIM_TEST_TIMEOUT_FACTOR 1 CACHE STRING "multiplies the time limit of every test (slow builds: sanitizers)")

function(hcasim_rooms)
  foreach(room IN LISTS ARGN)
    if(EXISTS "${PROJECT_SOURCE_DIR}/${room}/CMakeLists.txt")
      add_subdirectory("${PROJECT_SOURCE_DIR}/${room}" "${PROJECT_BINARY_DIR}/${room}")
    endif()
  endforeach()
endfunction()

function(hcasim_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "SYSTEMC" "" "SOURCES;LINKS")
  if(arg_SOURCES)
    set(scope PUBLIC)
    add_library(${name} STATIC ${arg_SOURCES})
    _hcasim_own_code(${name} ${arg_SYSTEMC})
  else()
    set(scope INTERFACE)
    add_library(${name} INTERFACE)
    if(arg_SYSTEMC)
      target_link_libraries(${name} INTERFACE hcasim::systemc)
    endif()
  endif()
  string(REGEX REPLACE "^hcasim_" "" short_name ${name})
  add_library(hcasim::${short_name} ALIAS ${name})
  set_target_properties(${name} PROPERTIES EXPORT_NAME ${short_name})
  target_compile_features(${name} ${scope} cxx_std_17)
  target_include_directories(${name} ${scope}
    "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>" "$<INSTALL_INTERFACE:include;include/hcasim>")
  target_link_libraries(${name} ${scope} ${arg_LINKS})
endfunction()

function(hcasim_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "SYSTEMC" "" "SOURCES;LINKS")
  add_executable(${name} ${arg_SOURCES})
  _hcasim_own_code(${name} ${arg_SYSTEMC})
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_link_libraries(${name} PRIVATE ${arg_LINKS})
endfunction()

function(hcasim_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "SYSTEMC" "LABEL;TIMEOUT" "SOURCES;LINKS")
  if(NOT arg_SOURCES)
    return()
  endif()
  if(arg_SYSTEMC)
    set(runner hcasim_systemc_runner)
    hcasim_program(${name} SYSTEMC SOURCES ${arg_SOURCES} LINKS ${arg_LINKS})
  else()
    set(runner hcasim_plain_runner)
    hcasim_program(${name} SOURCES ${arg_SOURCES} LINKS ${arg_LINKS})
  endif()
  target_link_libraries(${name} PRIVATE ${runner} hcasim_catch_session hcasim::catch2)
  _hcasim_timeout(seconds "${arg_TIMEOUT}")
  catch_discover_tests(${name} TEST_PREFIX "${name}/" PROPERTIES TIMEOUT ${seconds} LABELS ${arg_LABEL})
endfunction()

function(hcasim_command_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "LABEL;TIMEOUT" "DEPENDS;COMMAND")
  add_test(NAME ${name} COMMAND ${arg_COMMAND})
  _hcasim_timeout(seconds "${arg_TIMEOUT}")
  set_tests_properties(${name} PROPERTIES TIMEOUT ${seconds} LABELS "${arg_LABEL}" SKIP_RETURN_CODE 77)
endfunction()

# Gives result the time limit of a test: seconds, or 60, times the factor of this build.
function(_hcasim_timeout result seconds)
  if(NOT seconds)
    set(seconds 60)
  endif()
  math(EXPR seconds "${seconds} * ${HCASIM_TEST_TIMEOUT_FACTOR}")
  set(${result} ${seconds} PARENT_SCOPE)
endfunction()

# Warnings, and the precompiled header where with_systemc is true.
function(_hcasim_own_code name with_systemc)
  target_compile_options(${name} PRIVATE -Wall -Wextra -Wpedantic -Wconversion -Wshadow)
  if(HCASIM_WARNINGS_AS_ERRORS)
    target_compile_options(${name} PRIVATE -Werror)
  endif()
  if(with_systemc)
    target_link_libraries(${name} PUBLIC hcasim::systemc)
    if(NOT name STREQUAL "hcasim_systemc_header")
      target_precompile_headers(${name} REUSE_FROM hcasim_systemc_header)
    endif()
  endif()
endfunction()

# The one precompiled header. It holds what nearly every SystemC file includes; a file still includes what it uses.
add_library(hcasim_systemc_header OBJECT "${CMAKE_CURRENT_LIST_DIR}/systemc_header.cpp")
_hcasim_own_code(hcasim_systemc_header TRUE)
target_precompile_headers(hcasim_systemc_header PRIVATE
  <systemc> <tlm> <cstdint> <array> <deque> <functional> <map> <memory> <optional> <string> <string_view> <utility> <vector>)
