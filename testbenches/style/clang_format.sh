#!/bin/bash
# Fails when a source file is not formatted as .clang-format says; with --fix, formats it. Skipped (77) without clang-format.
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
command -v clang-format >/dev/null || { echo "skipped: clang-format is not installed"; exit 77; }

mode=(--dry-run -Werror)
[[ ${1-} == --fix ]] && mode=(-i)
find cmake model tlm rtl_cosim testbenches \( -name '*.h' -o -name '*.cpp' \) -print0 2>/dev/null |
  xargs -0 -r clang-format "${mode[@]}"
