#!/bin/bash
# usage: cosim.sh HCASIM BLOCK CYCLES SEEDS    model and Verilog of a block in lockstep, with seeds 1 to SEEDS; together
# they must bring about every situation of the coverage list
set -u
command -v verilator >/dev/null || { echo "skipped: verilator is not installed"; exit 77; }
exec "$1" cosim "$2" --cycles "$3" --seeds "$4" --full-coverage
