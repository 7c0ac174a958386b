#!/bin/bash
# Builds the program a second time, unlike the first in compiler (clang++ where there is one) and optimisation, and holds
# it to the same golden results.
# usage: other_build.sh DIRECTORY   (kept, so that the next time only what changed is built)
set -eu
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$1
compiler=$(command -v clang++ || command -v g++)
cmake -S "$root" -B "$build" -G Ninja "-DCMAKE_CXX_COMPILER=$compiler" \
  -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O1 -DHCASIM_TESTS=OFF
cmake --build "$build" --target hcasim --parallel "$(nproc)"
"$build/bin/hcasim" regress "$root/traces"
