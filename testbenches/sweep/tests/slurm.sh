#!/bin/bash
# usage: slurm.sh HCASIM TRACES SCRATCH    a sweep on a private cluster of two nodes: a node dies in the middle, Ctrl-C in the
# middle; the database is that of a local run. Skipped (77) without Slurm.
set -u
hcasim=$1 traces=$2 scratch=$3 here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
PATH=$PATH:/usr/sbin:/sbin
for tool in sbatch squeue scontrol slurmctld slurmd munged; do
  command -v $tool >/dev/null || { echo "skipped: $tool is not installed (slurm-wlm, munge)"; exit 77; }
done
rm -rf "$scratch" && mkdir -p "$scratch" && cd "$scratch" || exit 1
failures=0
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }
# Paths of sockets are short.
lab=$(mktemp -d -t slurm_lab.XXXXXX)
trap '"$here/slurm_lab.sh" stop "$lab"; rm -rf "$lab"' EXIT
# A node that does not answer is given up after five seconds.
SLURMD_TIMEOUT=5 "$here/slurm_lab.sh" start "$lab" || {
  tail -n 5 "$lab"/log/* 2>/dev/null
  echo "skipped: Slurm does not start on this machine"
  exit 77
}

cat >sweep.toml <<END
schema = "hcasim.sweep/1"
name = "trial"
scenario = "$traces/srp_target.toml"
[repeat]
seeds = 200
[[axis]]
key = "cm.rtu_loss"
values = [0.0, 0.5, 1.0]
[[axis]]
key = "gate.open_on"
values = [["rtu"], ["packet"]]
END

# No controller: one line.
SLURM_CONF=$scratch/none "$hcasim" sweep sweep.toml --out none --backend slurm >said.txt 2>&1
[ $? -eq 2 ] && [ "$(grep -c . said.txt)" -eq 1 ] && grep -q "no Slurm controller answers" said.txt || fail "without a controller: $(cat said.txt)"
export SLURM_CONF=$lab/slurm.conf
"$hcasim" sweep sweep.toml --out wrong --backend slurm --slurm-opt=--partition=nowhere >said.txt 2>&1
[ $? -eq 2 ] && grep -q "sbatch refused" said.txt || fail "a partition that is not there: $(cat said.txt)"

# Waits until the sweep has saved something (its tasks are at work), at most 30 s.
wait_for_results() {
  for _ in $(seq 300); do
    ls "$1"/slurm/round-1/shard-*.db "$1"/merged >/dev/null 2>&1 && return
    [ -n "$(squeue -h -t running -o %A)" ] && [ -d "$1/slurm/round-1" ] && return
    sleep 0.1
  done
}

# A node dies while it runs a task.
"$hcasim" sweep sweep.toml --out cluster --backend slurm --slurm-chunk-seconds 4 >cluster.txt 2>&1 &
sweep=$!
"$here/slurm_lab.sh" kill "$lab" 0
wait $sweep || fail "the sweep whose node died: $(cat cluster.txt)"
grep -q "^round 2" cluster.txt || fail "nothing was submitted again: $(cat cluster.txt)"
[ ! -e cluster/slurm ] || fail "files of the tasks were left behind"
"$hcasim" sweep sweep.toml --out local --jobs 2 >local.txt 2>&1 || fail "local run: $(cat local.txt)"
"$hcasim" compare local cluster >compared.txt
[ $? -eq 0 ] && grep -q "^1200 points are the same, 0 differ, 0 only in A, 0 only in B" compared.txt || fail "$(cat compared.txt)"

# Ctrl-C: no job stays, what was finished stays, and the same command ends it. One node is left.
"$hcasim" sweep sweep.toml --out stopped --backend slurm --slurm-chunk-seconds 1 >stopped.txt 2>&1 &
sweep=$!
wait_for_results stopped
sleep 2.5
kill -INT $sweep
wait $sweep
code=$?
[ $code -eq 130 ] && grep -q "the same command goes on" stopped.txt || fail "Ctrl-C: exit code $code: $(cat stopped.txt)"
for _ in $(seq 100); do [ -z "$(squeue -h)" ] && break; sleep 0.1; done
[ -z "$(squeue -h)" ] || fail "jobs are left: $(squeue -h)"
"$hcasim" sweep sweep.toml --out stopped --backend slurm --slurm-chunk-seconds 20 >again.txt 2>&1 || fail "after Ctrl-C: $(cat again.txt)"
"$hcasim" compare local stopped >compared.txt
[ $? -eq 0 ] || fail "after Ctrl-C: $(cat compared.txt)"
exit $((failures != 0))
