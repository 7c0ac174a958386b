#!/bin/bash
# usage: later_verilog.sh HCASIM EXAMPLES SCRATCH    a design whose outputs come two cycles later is equal to the model with
# the latency that its map tells, and with no other; a fault in it is found
set -u
command -v verilator >/dev/null || { echo "skipped: verilator is not installed"; exit 77; }
hcasim=$1 examples=$2 scratch=$3
rm -rf "$scratch" && mkdir -p "$scratch" && cd "$scratch" || exit 1
cp "$examples/pipelined_doorbell_unit.v" good.v && cp "$examples/pipelined_doorbell_unit.toml" good.toml
failures=0
# try NAME VERILOG MAP CODE TEXT
try() {
  "$hcasim" cosim doorbell_unit --rtl "$2" --map "$3" --cycles 200000 >"$1.txt" 2>&1
  local code=$?
  if [ "$code" -ne "$4" ] || ! grep -q -- "$5" "$1.txt"; then
    echo "$1: exit code $code, expected $4 and \"$5\"; it said:"
    cat "$1.txt"
    failures=$((failures + 1))
  fi
}
change() { sed "$1" "$2" >"$3" && ! cmp -s "$2" "$3" || { echo "$3: nothing changed"; exit 1; }; }

try equal good.v good.toml 0 "equal"
change 's/latency_cycles = 2/latency_cycles = 1/' good.toml early.toml
try early good.v early.toml 1 "DIFFERENT"
change 's/latency_cycles = 2/latency_cycles = 3/' good.toml late.toml
try late good.v late.toml 1 "DIFFERENT"
change 's/latency_cycles = 2/latency_cycles = 0/' good.toml at_once.toml
try at_once good.v at_once.toml 1 "DIFFERENT"
change "s/sq_index = third\[15:0\]/sq_index = third[15:0] ^ 16'h8000/" good.v index.v
try index index.v good.toml 1 "send_o.producer"
change 's/third_valid && third\[63:56\] == SEND/second_valid \&\& third[63:56] == SEND/' good.v lost.v
try lost lost.v good.toml 1 "send_o"
# A pin that is not there is told, in one line; only a `ready` may be left empty.
change 's/sq_qpn"/sq_number"/' good.toml name.toml
try name good.v name.toml 2 "has no port"
change 's/"sq_qpn"/""/' good.toml empty.toml
try empty good.v empty.toml 2 "ports.send_qpn_o: is empty"
change '/cfg_coalesce_i/d' good.toml policy.toml
try policy good.v policy.toml 2 "has no port cfg_coalesce_i"
exit "$failures"
