#!/bin/bash
# Builds doorbell_unit.v as a SystemC module (verilator --sc) with a testbench of signals, and runs it.
# usage: run.sh DIRECTORY_OF_VERILOG SCRATCH
set -u
command -v verilator >/dev/null || { echo "skipped: verilator is not installed"; exit 77; }
rtl=$1 scratch=$2 here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mkdir -p "$scratch"
verilator --sc --exe --build -Wall --default-language 1364-2005 -y "$rtl" --top-module doorbell_unit -GQPS=16 -GDEPTH=4 \
  -CFLAGS "-std=c++17 -O1" --Mdir "$scratch" -o pins "$rtl/doorbell_unit.v" "$here/sc_main.cpp" >"$scratch/log.txt" 2>&1 ||
  { tail -n 40 "$scratch/log.txt"; exit 1; }
SYSTEMC_DISABLE_COPYRIGHT_MESSAGE=1 "$scratch/pins"
