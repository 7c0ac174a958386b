#!/bin/bash
# Fails when a source file is not formatted as .clang-format says, and names it; with --fix, formats all of them.
# Skipped (77) without clang-format.
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
command -v clang-format >/dev/null || { echo "skipped: clang-format is not installed"; exit 77; }

mapfile -t files < <(find cmake model tlm rtl_cosim testbenches \( -name '*.h' -o -name '*.cpp' \) 2>/dev/null | sort)
if [[ ${1-} == --fix ]]; then
  exec clang-format -i "${files[@]}"
fi
if ! complaints=$(clang-format --dry-run -Werror "${files[@]}" 2>&1); then
  echo "not formatted (testbenches/style/clang_format.sh --fix does it):"
  grep -E '^[^ :]+:[0-9]+:[0-9]+: error' <<<"$complaints" | cut -d: -f1 | sort -u
  exit 1
fi
