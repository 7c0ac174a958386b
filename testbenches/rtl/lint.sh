#!/bin/bash
# Every module of the Verilog is accepted without a warning by Verilator, Icarus and Yosys, and synthesizes without a
# latch or a loop.
# usage: lint.sh DIRECTORY_OF_VERILOG SCRATCH
set -u
rtl=$1 scratch=$2
for tool in verilator iverilog yosys; do
  command -v $tool >/dev/null || { echo "skipped: $tool is not installed"; exit 77; }
done
mkdir -p "$scratch"
failures=0
try() {
  local what=$1
  shift
  "$@" >"$scratch/out" 2>&1
  local result=$?
  # Newer Verilators end with a report.
  sed -i '/^- /d' "$scratch/out"
  if ((result != 0)) || [[ -s $scratch/out ]]; then
    echo "FAILED: $what"
    head -n 30 "$scratch/out" | sed 's/^/  /'
    failures=$((failures + 1))
  fi
}
for file in "$rtl"/*.v; do
  module=$(basename "$file" .v)
  try "$module: verilator" verilator --lint-only -Wall --default-language 1364-2005 -y "$rtl" --top-module "$module" "$file"
  try "$module: iverilog" iverilog -Wall -g2005 -t null -y "$rtl" -s "$module" "$file"
  # Small sizes where a module has them: the structure is the same and the check is quick.
  parameters=$(sed -n 's|^// synthesis check: *||p' "$file")
  # What only joins blocks is not synthesized once more as a whole.
  synthesis="synth -top $module; check -assert; select -assert-none t:\$_DLATCH_*"
  grep -q '^// synthesis check of the blocks only' "$file" && synthesis=
  try "$module: yosys" yosys -q -p "read_verilog $rtl/*.v; hierarchy -check -top $module $parameters; proc; opt_clean; check -assert; \
    select -assert-none t:\$dlatch t:\$adlatch; $synthesis"
done
((failures == 0))
