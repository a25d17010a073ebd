#!/bin/bash
# Two hosts on this machine, for tests/launch/test_hosts.py: network namespaces with an address, a host name and an sshd each. As root.
#
#   tests/launch/two_hosts.sh start FOLDER       makes hosts dp1 (10.77.0.1) and dp2 (10.77.0.2); FOLDER/ssh is the ssh command
#   tests/launch/two_hosts.sh run FOLDER COMMAND on dp1
#   tests/launch/two_hosts.sh stop FOLDER
set -eu
folder=$(realpath -m "$2")
on() { local host=$1; shift; ip netns exec "$host" unshare --uts sh -c "hostname $host; exec \"\$@\"" sh "$@"; }
on_exec() { exec ip netns exec "$1" unshare --uts sh -c "hostname $1; shift; exec \"\$@\"" sh "$@"; }

case $1 in
start)
    mkdir -p "$folder" /run/sshd
    chmod 700 "$folder"
    ssh-keygen -q -t ed25519 -N "" -f "$folder/key"
    : > "$folder/pids"
    for n in 1 2; do ip netns add dp$n; done
    ip link add dpv1 netns dp1 type veth peer name dpv2 netns dp2
    for n in 1 2; do
        ip -n dp$n addr add 10.77.0.$n/24 dev dpv$n
        ip -n dp$n link set lo up
        ip -n dp$n link set dpv$n up
        on_exec dp$n "$(command -v sshd)" -D -f /dev/null -h "$folder/key" -o AuthorizedKeysFile="$folder/key.pub" -o StrictModes=no \
            -o PermitRootLogin=yes -o PidFile=none -o UsePAM=no -o SetEnv="DPRUN_TEST=$n" > "$folder/sshd$n.log" 2>&1 &
        echo $! >> "$folder/pids"
    done
    printf '#!/bin/sh\nexec ssh -F /dev/null -q -i %s -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null "$@"\n' "$folder/key" > "$folder/ssh"
    chmod +x "$folder/ssh"
    for _ in $(seq 50); do on dp1 "$folder/ssh" -o BatchMode=yes 10.77.0.2 true && exit 0; sleep 0.1; done
    cat "$folder"/sshd*.log >&2
    "$0" stop "$folder"
    exit 1;;
run)
    shift 2
    on_exec dp1 "$@";;               # so that a signal to this process is one to the command
stop)
    for pid in $(cat "$folder/pids"); do kill "$pid" 2>/dev/null || true; done
    for n in 1 2; do ip netns del dp$n 2>/dev/null || true; done;;
esac
