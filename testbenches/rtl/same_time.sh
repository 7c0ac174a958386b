#!/bin/bash
# usage: same_time.sh HCASIM SCRATCH    two processes that begin with an empty cache of compiled Verilog at the same time do
# not disturb each other
set -u
hcasim=$1 scratch=$2
real=$(command -v verilator) || { echo "skipped: verilator is not installed"; exit 77; }
rm -rf "$scratch" && mkdir -p "$scratch/bin"
# A slow Verilator makes their questions to it overlap whatever the load of the machine is.
printf '#!/bin/bash\nsleep 0.4\nexec "%s" "$@"\n' "$real" >"$scratch/bin/verilator"
chmod +x "$scratch/bin/verilator"
export PATH="$scratch/bin:$PATH" HCASIM_RTL_CACHE="$scratch/cache"
"$hcasim" cosim doorbell_unit --cycles 20000 >"$scratch/first.txt" 2>&1 &
first=$!
sleep 0.2
"$hcasim" cosim link_rx --cycles 20000 >"$scratch/second.txt" 2>&1
second_code=$?
wait "$first"
first_code=$?
[ "$first_code" -eq 0 ] && [ "$second_code" -eq 0 ] && exit 0
cat "$scratch/first.txt" "$scratch/second.txt"
exit 1
