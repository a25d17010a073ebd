#!/bin/sh
# slow_network.sh RATE [arguments of slow_network.py]: see there. Needs root, for a network namespace, and Linux' tc.
set -e
rate=$1
shift
here=$(dirname "$0")
exec unshare --net sh -c '
    ip link set lo up
    ip link add near type veth peer name far      # an address besides 127.0.0.1, which Open MPI does not use
    ip address add 198.18.0.1/24 dev near
    ip link set near up
    ip link set far up
    tc qdisc add dev lo root tbf rate "$0" burst 256kb latency 200ms
    export OMPI_MCA_pml=ob1 OMPI_MCA_btl=tcp,self OMPI_MCA_btl_tcp_if_include=near
    exec python -m launch -n 2 --threads 1 "$@"' "$rate" "$here/slow_network.py" "$@"
