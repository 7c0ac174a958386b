#!/bin/bash
# A private Slurm of two nodes on this machine, to try `hcasim sweep --backend slurm`. No service of the system is touched.
#
#   slurm_lab.sh start DIR    starts it; everything it writes is in DIR. Then: export SLURM_CONF=DIR/slurm.conf
#   slurm_lab.sh stop DIR     cancels its jobs and ends it
#   slurm_lab.sh kill DIR N   ends node N (0 or 1) and all that runs on it, as a power cut would; waits until something runs there
set -u
what=${1-} lab=${2-}
[[ $what =~ ^(start|stop|kill)$ && $lab ]] || { sed -n '2,7s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 2; }
PATH=$PATH:/usr/sbin:/sbin
mkdir -p "$lab" && lab=$(cd "$lab" && pwd) || exit 1
export SLURM_CONF=$lab/slurm.conf

# The first of COUNT ports in a row that nobody listens on.
free_ports() {
  local count=$1 first port
  for first in $(seq $((20000 + $$ % 20000)) 7 60000); do
    for ((port = first; port < first + count; port++)); do
      (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && continue 2
    done
    echo "$first"
    return
  done
  return 1
}

write_configuration() {
  local host port user
  host=$(hostname -s) port=$(free_ports 3) user=$(id -un)
  mkdir -p "$lab"/munge "$lab"/state "$lab"/log "$lab"/spool/n0 "$lab"/spool/n1
  chmod 711 "$lab/munge"
  (umask 077 && head -c 1024 /dev/urandom >"$lab/munge/key")
  cat >"$SLURM_CONF" <<END
ClusterName=lab
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/munge
AuthInfo=socket=$lab/munge/socket
CredType=cred/munge
SlurmctldPidFile=$lab/slurmctld.pid
SlurmdPidFile=$lab/slurmd.%n.pid
SlurmdSpoolDir=$lab/spool/%n
StateSaveLocation=$lab/state
SlurmctldLogFile=$lab/log/slurmctld.log
SlurmdLogFile=$lab/log/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/builtin
SchedulerParameters=batch_sched_delay=0,default_queue_depth=1000
MaxArraySize=100001
MinJobAge=300
KillWait=2
SlurmdTimeout=${SLURMD_TIMEOUT:-20}
InactiveLimit=0
ReturnToService=2
SlurmdParameters=config_overrides
JobRequeue=1
NodeName=n0 NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port + 1)) CPUs=1 State=UNKNOWN
NodeName=n1 NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port + 2)) CPUs=1 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END
  # Slurm 23 and later look for a cgroup at the start, which a container may not have.
  version=$(slurmd -V) && version=${version#slurm* } && ((${version%%.*} >= 23)) &&
    echo "CgroupPlugin=disabled" >"$lab/cgroup.conf"
  return 0
}

# Process of a pid file, if it is still there.
process_of() { local pid; pid=$(cat "$1" 2>/dev/null) && [[ $pid ]] && kill -0 "$pid" 2>/dev/null && echo "$pid"; }

# What the jobs of a node run: they know its name and this configuration.
tasks_of() {
  local file
  for file in $(grep -lszx "SLURMD_NODENAME=$1" /proc/[0-9]*/environ); do
    grep -qszx "SLURM_CONF=$SLURM_CONF" "$file" && basename "${file%/environ}"
  done
}

case $what in
  start)
    write_configuration
    munged --force --key-file="$lab/munge/key" --socket="$lab/munge/socket" --pid-file="$lab/munge/pid" \
      --log-file="$lab/munge/log" --seed-file="$lab/munge/seed" || exit 1
    slurmctld -c -i 2>"$lab/log/start" || { cat "$lab/log/start" >&2; exit 1; }
    slurmd -N n0 && slurmd -N n1 || exit 1
    for _ in $(seq 150); do
      [[ $(sinfo -h -N -o %T 2>/dev/null | grep -c idle) == 2 ]] && exit 0
      sleep 0.1
    done
    echo "the nodes did not come up; logs are in $lab/log" >&2
    exit 1
    ;;
  kill)
    node=n${3:?number of the node}
    tasks=
    for _ in $(seq 300); do
      tasks=$(tasks_of "$node")
      [[ $tasks ]] && break
      sleep 0.1
    done
    # The daemon first, then slurmstepd, which outlives it, so that nobody reports what happens to the job.
    daemon=$(process_of "$lab/slurmd.$node.pid") && kill -9 "$daemon"
    for task in $tasks; do
      parent=$(ps -o ppid= -p "$task" | tr -d ' ')
      [[ $(ps -o comm= -p "$parent") == slurmstepd ]] && kill -9 "$parent"
    done
    kill -9 $tasks 2>/dev/null
    ;;
  stop)
    timeout 5 scancel -u "$(id -un)" 2>/dev/null
    for file in "$lab"/slurmd.*.pid "$lab/slurmctld.pid" "$lab/munge/pid"; do
      pid=$(process_of "$file") && kill "$pid"
    done
    for _ in $(seq 50); do
      left=
      for file in "$lab"/slurmd.*.pid "$lab/slurmctld.pid" "$lab/munge/pid"; do
        pid=$(process_of "$file") && left+=" $pid"
      done
      [[ $left ]] || exit 0
      sleep 0.1
    done
    kill -9 $left
    ;;
esac
exit 0
