#!/bin/bash
# usage: cosim.sh HCASIM BLOCK CYCLES SEED...    model and Verilog of a block in lockstep, with each of the seeds
set -u
command -v verilator >/dev/null || { echo "skipped: verilator is not installed"; exit 77; }
hcasim=$1 block=$2 cycles=$3
shift 3
for seed; do
  "$hcasim" cosim "$block" --cycles "$cycles" --seed "$seed" --full-coverage || exit
done
