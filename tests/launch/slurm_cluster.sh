#!/bin/bash
# A Slurm of two nodes on this machine, for tests/launch/test_slurm.py. Debian or Ubuntu, as root.
#
#   tests/launch/slurm_cluster.sh install        packages: slurmctld, slurmd, slurm-client, munge
#   tests/launch/slurm_cluster.sh start FOLDER   munged, slurmctld, and a slurmd for each of node1 and node2
#   tests/launch/slurm_cluster.sh stop FOLDER
#
# Nothing but FOLDER is written, apart from munge's socket folder. To use it: export SLURM_CONF=FOLDER/slurm.conf
set -eu
cmd=${1:?install, start or stop}

if [ "$cmd" = install ]; then
    apt-get update -q
    DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends slurmctld slurmd slurm-client munge
    exit
fi

folder=$(realpath -m "${2:?a folder}")
pids=$folder/pids
if [ "$cmd" = stop ]; then
    export SLURM_CONF=$folder/slurm.conf
    timeout 10 scancel --full --signal=KILL --user="$(id -un)" || true
    timeout 10 scancel --user="$(id -un)" || true
    sleep 1
    for pid in $(tac "$pids"); do kill "$pid" 2>/dev/null || true; done
    exit
fi

mkdir -p "$folder"/{state,spool1,spool2,munge}
host=$(hostname -s)
cpus=${SLURM_TEST_CPUS:-4}
cat > "$folder/slurm.conf" <<END
ClusterName=tests
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmctldPort=17817
AuthType=auth/munge
AuthInfo=socket=$folder/munge/socket,cred_expire=3
CredType=cred/munge
StateSaveLocation=$folder/state
SlurmctldPidFile=$folder/slurmctld.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdPidFile=$folder/%n.pid
SlurmdLogFile=$folder/%n.log
SlurmdSpoolDir=$folder/spool-%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=5
MinJobAge=300
InactiveLimit=0
JobRequeue=1
RebootProgram=/bin/true
NodeName=node1 NodeHostname=$host NodeAddr=127.0.0.1 Port=17821 CPUs=$cpus State=UNKNOWN
NodeName=node2 NodeHostname=$host NodeAddr=127.0.0.1 Port=17822 CPUs=$cpus State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES State=UP OverSubscribe=YES MaxTime=INFINITE
END
: > "$pids"
head -c 1024 /dev/urandom > "$folder/munge/key"
chmod 700 "$folder/munge"; chmod 600 "$folder/munge/key"
# started by this user, not by munge's, so that no file of the system is needed
munged -F --force --key-file="$folder/munge/key" --socket="$folder/munge/socket" --pid-file="$folder/munge/pid" \
    --log-file="$folder/munge/log" --seed-file="$folder/munge/seed" > "$folder/munge.out" 2>&1 &
echo $! >> "$pids"
for _ in $(seq 50); do [ -S "$folder/munge/socket" ] && break; sleep 0.1; done
export SLURM_CONF=$folder/slurm.conf
slurmctld -D > "$folder/slurmctld.out" 2>&1 &
echo $! >> "$pids"
for node in node1 node2; do
    slurmd -D -N $node > "$folder/$node.out" 2>&1 &
    echo $! >> "$pids"
done
for _ in $(seq 100); do
    [ "$(sinfo -h -t idle -o %D 2>/dev/null)" = 2 ] && exit 0
    sleep 0.2
done
echo "Slurm did not come up; see $folder/*.log" >&2
"$0" stop "$folder"
exit 1
