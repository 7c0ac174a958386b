#!/bin/bash
# usage: sweep_command.sh HCASIM TRACES SCRATCH    the sweep command: the same results whatever the number of jobs and however
# often it was killed, full disks, changed sweeps, failed points
set -u
hcasim=$1 traces=$2 scratch=$3
rm -rf "$scratch" && mkdir -p "$scratch" && cd "$scratch" || exit 1
failures=0
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }
expect() { # expect CODE TEXT COMMAND...: exit code, and a text in what it says
  local code=$1 text=$2; shift 2
  "$@" >said.txt 2>&1
  local got=$?
  [ "$got" -eq "$code" ] && grep -q -- "$text" said.txt || { fail "exit code $got, expected $code and \"$text\": $*"; head -5 said.txt; }
}

cat >sweep.toml <<END
schema = "hcasim.sweep/1"
name = "trial"
scenario = "$traces/srp_target.toml"
[set]
topology.connections = 8
timers.shift = 14
[repeat]
seeds = 40
[[axis]]
key = "cm.rtu_loss"
values = [0.0, 0.5, 1.0]
[[axis]]
key = "gate.open_on"
values = [["rtu"], ["packet"], ["rtu", "packet"]]
[[axis]]
key = "topology.hosts"
values = [2, 3]
[[axis]]
name = "cache"
[[axis.preset]]
name = "small"
set = { qp_context_cache.sets = 2, qp_context_cache.ways = 1 }
[[axis.preset]]
name = "large"
set = { qp_context_cache.sets = 64, qp_context_cache.ways = 4 }
END

# Whatever the number of jobs; and each point is what a process of its own gives.
expect 0 "1440 points" "$hcasim" sweep sweep.toml --out one --jobs 1 --csv one.csv
expect 0 "1440 points" "$hcasim" sweep sweep.toml --out three --jobs 3 --csv three.csv
cmp one.csv three.csv || fail "results differ between 1 and 3 jobs"
[ "$(wc -l <one.csv)" -eq 1441 ] || fail "one.csv has $(wc -l <one.csv) lines, expected 1441"
for point in 0 501 1439; do
  line=$(sed -n "$((point + 2))p" one.csv)
  values=$(sqlite3 one/results.db "select printf('%s %s %s %s', \"cm.rtu_loss\", replace(\"gate.open_on\", ', ', '\",\"'), \"topology.hosts\", seed) from result where point = $point" 2>/dev/null) || break
  read -r loss open hosts seed <<<"$values"
  sets=2 ways=1
  [[ $line == *large* ]] && sets=64 ways=4
  "$hcasim" run "$traces/srp_target.toml" --set topology.connections=8 --set timers.shift=14 --set cm.rtu_loss="$loss" \
    --set "gate.open_on=[\"$open\"]" --set topology.hosts="$hosts" --set qp_context_cache.sets=$sets --set qp_context_cache.ways=$ways \
    --seed "$seed" --json run.json >run.txt || fail "point $point as a run of its own"
  hash=$(sed -n 's/.*"config_hash": "\(.*\)".*/\1/p' run.json) cycles=$(sed -n 's/.*"cycles": \([0-9]*\),.*/\1/p' run.json | head -1)
  [[ $line == *",$cycles,"* && $line == *",$hash,"* ]] || fail "point $point: cycles $cycles and hash $hash are not in $line"
done
expect 0 "1440 points are the same, 0 differ" "$hcasim" compare one three
expect 0 "1440 of 1440 points are there already" "$hcasim" sweep sweep.toml --out one

# kill -9 again and again: nothing that was finished is lost, and the end is the same.
before=0 kills=0
for _ in $(seq 1 60); do
  timeout -s KILL 0.3 "$hcasim" sweep sweep.toml --out killed --jobs 2 >said.txt 2>&1
  [ $? -eq 0 ] && break
  kills=$((kills + 1))
  # Reading brings back what a killed writer has left.
  expect 0 "" "$hcasim" sweep sweep.toml --out killed --filter point=0
  now=$("$hcasim" compare one killed | sed -n 's/^\([0-9]*\) points are the same.*/\1/p')
  [ "${now:-0}" -ge "$before" ] || fail "after a kill there are $now points, before it there were $before"
  before=${now:-0}
done
[ "$kills" -ge 2 ] || fail "the sweep was killed $kills times only: it is too short for this test"
expect 0 "" "$hcasim" sweep sweep.toml --out killed --csv killed.csv
cmp one.csv killed.csv || fail "results differ after kill -9"

# Ctrl-C keeps what was finished.
"$hcasim" sweep sweep.toml --out stopped --jobs 1 >said.txt 2>&1 &
pid=$!
sleep 0.3
kill -INT $pid
wait $pid
code=$?
[ $code -eq 130 ] || [ $code -eq 0 ] || fail "Ctrl-C: exit code $code, expected 130"
[ $code -eq 0 ] || grep -q "the same command goes on" said.txt || fail "Ctrl-C: $(cat said.txt)"
expect 0 "" "$hcasim" sweep sweep.toml --out stopped --csv stopped.csv
cmp one.csv stopped.csv || fail "results differ after Ctrl-C"

# Two at once are one too many; the lock goes with a sweep that is killed.
"$hcasim" sweep sweep.toml --out twice --jobs 1 >first.txt 2>&1 &
pid=$!
for _ in $(seq 100); do [ -e twice/results.db ] && break; sleep 0.05; done
expect 2 "another sweep is writing" "$hcasim" sweep sweep.toml --out twice
kill -9 $pid
wait $pid 2>/dev/null
expect 0 "" "$hcasim" sweep sweep.toml --out twice --filter point=0

# A disk that is full: one line, and what was there is still there.
(ulimit -f 300; "$hcasim" sweep sweep.toml --out full --jobs 2 >said.txt 2>&1; echo $? >code.txt)
[ "$(cat code.txt)" -eq 2 ] && grep -q "what was finished before is kept" said.txt || fail "full disk: $(cat code.txt) $(cat said.txt)"
expect 0 "" "$hcasim" sweep sweep.toml --out full --csv full.csv
cmp one.csv full.csv || fail "results differ after a full disk"

# Another sweep is refused, with the reason.
expect 2 "another base scenario" "$hcasim" sweep sweep.toml --out one --set traffic.message_bytes=128
sed 's/values = \[2, 3\]/values = [2, 4]/' sweep.toml >other.toml
expect 2 "other axes" "$hcasim" sweep other.toml --out one
echo "no database" >bad.db && mkdir bad && mv bad.db bad/results.db
expect 2 "results.db" "$hcasim" sweep sweep.toml --out bad
expect 2 "is no sweep's results" "$hcasim" compare one nowhere

# A point that cannot run is recorded, and the sweep goes on; --fail-fast does not.
sed 's/\[\["rtu"\], \["packet"\], \["rtu", "packet"\]\]/[["rtu"], ["packet"]]/; s/timers.shift = 14/timers.shift = 14\ngate.policy = "software"/' sweep.toml >failing.toml
expect 1 "point 160: gate.policy and gate.open_on" "$hcasim" sweep failing.toml --out failing --filter seed=1 --filter cm.rtu_loss=0
expect 1 "stopped" "$hcasim" sweep failing.toml --out fast --fail-fast --jobs 1
expect 1 "" "$hcasim" sweep failing.toml --out failing --filter seed=1 --filter cm.rtu_loss=0 --retry-failed

# Tolerances, and two designs against each other.
sed 's/cm.rtu_loss"/host.interrupt_ns"/; s/values = \[0.0, 0.5, 1.0\]/values = [2000]/' sweep.toml >a.toml
sed 's/values = \[2000\]/values = [2004]/' a.toml >b.toml
expect 0 "" "$hcasim" sweep a.toml --out a
expect 0 "" "$hcasim" sweep b.toml --out b
expect 1 "480 only in A, 480 only in B" "$hcasim" compare a b
expect 1 "differ" "$hcasim" compare a b --ignore host.interrupt_ns
expect 0 "480 points are the same within 20 %" "$hcasim" compare a b --ignore host.interrupt_ns --tolerance 0.2 --metric latency.p50
expect 2 "did you mean 'answer'" "$hcasim" compare a b --metric anser
expect 2 "--backend" "$hcasim" sweep a.toml --out x --backend slrm
expect 0 "about" "$hcasim" sweep sweep.toml --dry-run
[ ! -e trial ] || fail "--dry-run wrote something"
exit $((failures != 0))
