# What holds for every target: the language level, the compiler cache, where programs are put.

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "kind of build" FORCE)
endif()

# The distribution's libsystemc exports one symbol that names the language level it was built for; any level other
# than C++17 fails at link time.
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)

set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")

# No fused multiply-add: results must be the same bytes on every compiler and processor.
add_compile_options(-ffp-contract=off)

find_program(HCASIM_CCACHE ccache)
mark_as_advanced(HCASIM_CCACHE)
if(HCASIM_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # A precompiled header makes ccache give up unless it is told which differences do not matter.
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env
      "CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime" "${HCASIM_CCACHE}")
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-fpch-preprocess)
  elseif(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    add_compile_options("SHELL:-Xclang -fno-pch-timestamp")
  endif()
endif()
