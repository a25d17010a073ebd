"""What mpirun runs if another launcher has started the ranks' processes (torchrun, multiprocessing).

One runs for each rank. It sends the rank's variables and its connection to mpirun to the process that becomes this rank, and
exists as long as that process. If that ends without reporting success, this one fails and mpirun ends the job; if mpirun
ends this one, the other ends itself. See dparallel/distributed/rendezvous.py.
"""

from __future__ import annotations

import array
import json
import os
import socket
import sys

MARKS = ("PMIX_", "PMI_", "PRTE_", "OMPI_", "HYDI_", "HYDRA_", "MPI_LOCAL", "MPIR_CVAR_", "I_MPI_", "MV2_COMM_WORLD_")
RANKS = ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK")
CONNECTION = "PMI_FD"                                # Hydra's: a file descriptor that the rank inherits
DONE = b"done"


def main(path: str) -> int:
    """Send the variables over the socket `path`, and wait for the end of the receiver. Returns the exit code for mpirun."""
    variables = {name: value for name, value in os.environ.items() if name.startswith(MARKS)}
    rank = next(int(os.environ[name]) for name in RANKS if name in os.environ)
    mine, theirs = socket.socketpair()
    descriptors = [theirs.fileno()]
    if CONNECTION in variables:
        descriptors.append(int(variables[CONNECTION]))
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        send(connection, {"slot": rank, "variables": variables}, descriptors)
    theirs.close()
    if CONNECTION in variables:
        os.close(int(variables[CONNECTION]))
    said = b""
    while piece := mine.recv(32):
        said += piece
    return 0 if DONE in said else 1


def send(connection: socket.socket, message: object, descriptors: list[int]) -> None:
    """Send a message and file descriptors."""
    data = json.dumps(message).encode()
    ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))] if descriptors else []
    connection.sendmsg([len(data).to_bytes(8, "little")], ancillary)
    connection.sendall(data)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
