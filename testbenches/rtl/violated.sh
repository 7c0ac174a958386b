#!/bin/bash
# usage: violated.sh HCASIM RTL_COSIM SCENARIO SCRATCH    a run on a faulty block breaks a rule of the protocol: one line with cycle,
# block and QP, exit code 3; the same run on the right block is good
set -u
for tool in verilator patch; do
  command -v "$tool" >/dev/null || { echo "skipped: $tool is not installed"; exit 77; }
done
hcasim=$1 rtl_cosim=$2 scenario=$3 scratch=$4
rm -rf "$scratch" && mkdir -p "$scratch" && cd "$scratch" || exit 1
failures=0
# try NAME BLOCK MUTANT CODE TEXT    MUTANT "" for none
try() {
  mkdir -p "$1/cache" && cp -r "$rtl_cosim/rtl" "$1/" || exit 1
  if [ -n "$3" ]; then
    sed 's#\([ab]\)/rtl_cosim/#\1/#' "$rtl_cosim/mutants/$2/$3" | patch -s -p1 -d "$1" || exit 1
  fi
  HCASIM_RTL_SOURCES=$PWD/$1 HCASIM_RTL_CACHE=$PWD/$1/cache "$hcasim" run "$scenario" --set "rtl.$2=true" \
    --set qp_context_cache.sets=2 --set qp_context_cache.ways=2 >"$1.txt" 2>"$1.error"
  local code=$?
  # No line for a good run, one for another.
  if [ "$code" -ne "$4" ] || [ "$(grep -cE -- "$5" "$1.error")" -ne "$(($4 != 0))" ] || [ "$(wc -l <"$1.error")" -ne "$(($4 != 0))" ]; then
    echo "$1: exit code $code, expected $4 and \"$5\"; it said:"
    cat "$1.error"
    failures=$((failures + 1))
  fi
}

try good send_scheduler "" 0 ""
# A wake-up that is lost: an eligible QP is never granted.
try lost_wake send_scheduler 46_one_change_per_word.patch 3 \
  'violated: cycle [0-9]+, host [0-9], send_scheduler, QP 0x[0-9a-f]{6}: invariant 6: WQE [0-9]+ is pending'
# More is granted than was posted.
try too_much send_scheduler 16_consumer_moves_by_burst.patch 3 \
  'violated: cycle [0-9]+, host [0-9], send_scheduler, QP 0x[0-9a-f]{6}: invariant 5: WQE [0-9]+ was never posted'
# A context is lost: a command that must not fail is refused.
try lost_context qp_context_cache 13_written_back_to_new_slot.patch 3 \
  'violated: cycle [0-9]+, host [0-9], command_unit, QP 0x[0-9a-f]{6}: modify_qp to INIT refused: unknown_qp'
exit "$failures"
