#!/bin/bash
# Fails when clang-tidy has something to say about the hardware model or its host side; files may be named instead.
# Skipped (77) without clang-tidy.
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
command -v clang-tidy >/dev/null || { echo "skipped: clang-tidy is not installed"; exit 77; }

if (($#)); then
  files=("$@")
else
  mapfile -t files < <(find model tlm -name '*.cpp' 2>/dev/null | sort)
fi
((${#files[@]})) || exit 0
# No compile database: it would bring the build compiler's precompiled header along. All that a file needs is this.
# Standard error only counts what is suppressed. What is said about a header is said again for each file that includes it.
complaints=$(printf '%s\0' "${files[@]}" |
  xargs -0 -n 1 -P "$(nproc)" bash -c 'clang-tidy --quiet "$1" -- -std=c++17 -I. 2>/dev/null' bash) && exit 0
awk '!seen[$0]++' <<<"$complaints"
exit 1
