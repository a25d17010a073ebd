"""Who this process is in its job, by what init_process_group was given and what the environment says; and how processes that
no MPI launcher has started become the ranks of an MPI job.

For these rank 0 starts an mpirun of as many processes, launch/place.py, on this host. Each of them hands its place in the
job, the variables and the connection by which an MPI library finds mpirun, to the process that is to be that rank, which
then starts MPI in it. So it is the same for all MPIs, and what mpirun does for its ranks (a failure ends the job) it does
for these. They meet at a Unix socket, named after MASTER_ADDR and MASTER_PORT, or what init_method says in their place.
"""

from __future__ import annotations

import array
import atexit
import contextlib
import hashlib
import json
import multiprocessing.util
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

from launch import place
from launch.cli import parser
from launch.mpirun import LaunchError, command, find, outer

from ..comm import launched_size, world
from ..comm.environment import environment

METHODS = ("env", "tcp", "file")
PERIOD = 0.02                                        # seconds between two tries to reach rank 0
GRACE = 10.0                                         # seconds in which rank 0 tells others that they can't be joined
PATIENCE = timedelta(minutes=5)                      # how long at most processes wait for each other to come
HOW = "Start the script with `dprun -n {size} script.py`, or mpirun or srun, which need no world_size"


def joined(init_method: str | None, rank: int, size: int, store: Any, timeout: timedelta) -> tuple[int, int]:
    """The rank and the number of ranks that were asked for, -1 for what MPI is to say. Where there is no MPI launcher, but
    several ranks are asked for, they are joined by one."""
    method = urlsplit(init_method or "env://")
    if method.scheme not in METHODS:
        raise RuntimeError(f"No rendezvous handler for {init_method!r}: it begins with env://, tcp:// or file://")
    query = parse_qs(method.query)
    rank = int(query["rank"][0]) if rank < 0 and "rank" in query else rank
    size = int(query["world_size"][0]) if size < 0 and "world_size" in query else size
    announced = launched_size()
    by_environment = method.scheme == "env" and store is None
    if size < 0 and by_environment:
        size = environment.number("WORLD_SIZE")
    if rank < 0 and by_environment and not announced:
        rank = environment.number("RANK")
    if announced or size <= 1:
        return (-1, size) if size <= 1 and not announced else (rank, size)
    if rank < 0:
        raise ValueError(f"init_process_group: world_size={size} without a rank, and no MPI launcher. "
                         + HOW.format(size=size))
    if rank >= size:
        raise ValueError(f"init_process_group: rank={rank} is not one of the {size} ranks")
    limit = min(timeout, PATIENCE).total_seconds()
    _take_place(_path(method, size, rank, store), rank, size, limit)
    return rank, size


def _path(method: Any, size: int, rank: int, store: Any) -> str:
    """Where the processes of this job meet: a socket in a folder of this user's."""
    if store is not None:                            # what rank 0 makes up
        if rank == 0:
            store.set("dparallel/rendezvous", os.urandom(8).hex())
        key = store.get("dparallel/rendezvous").decode()
    elif method.scheme == "file":
        key = os.path.realpath(method.path)
    else:
        address, port = method.hostname, method.port
        if method.scheme == "env":
            address, port = environment.text("MASTER_ADDR"), environment.text("MASTER_PORT")
        if not address or not port:
            raise ValueError(f"init_process_group: {size} ranks, and neither an MPI launcher nor MASTER_ADDR and "
                             f"MASTER_PORT in the environment. {HOW.format(size=size)}")
        local = environment.number("LOCAL_WORLD_SIZE")
        if 0 < local < size or not _is_here(address):
            raise RuntimeError(f"init_process_group: the {size} ranks are on several hosts (MASTER_ADDR={address}), and no "
                               f"MPI launcher has started them. Start the script with `dprun -n {size} -H host1,host2 "
                               "script.py`, mpirun or srun")
        key = f"{address}:{port}:{environment.text('TORCHELASTIC_RESTART_COUNT') or '0'}"
    folder = os.path.join(tempfile.gettempdir(), f"dparallel-{os.getuid()}")
    os.makedirs(folder, mode=0o700, exist_ok=True)
    if os.stat(folder).st_uid != os.getuid():
        raise RuntimeError(f"{folder} belongs to another user; set TMPDIR to a folder of your own")
    return os.path.join(folder, hashlib.blake2b(f"{key} {size}".encode(), digest_size=8).hexdigest())


def _is_here(address: str) -> bool:
    """Whether an address is one of this host."""
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.bind((socket.gethostbyname(address), 0))
    except OSError:
        return False
    return True


def _take_place(path: str, rank: int, size: int, limit: float) -> None:
    """Become rank `rank` of an MPI job of `size` processes: set the variables that MPI reads when it starts."""
    mpi = sys.modules.get("mpi4py.MPI")
    if mpi is not None and mpi.Is_initialized():
        raise RuntimeError("init_process_group: MPI was started here before, for this process alone (import mpi4py.MPI "
                           f"after init_process_group). {HOW.format(size=size)}")
    deadline = time.monotonic() + limit
    try:
        found = _host(path, size, deadline) if rank == 0 else _asked(path, rank, deadline)
    except TimeoutError:
        raise RuntimeError(f"init_process_group: rank {rank} of {size}, which no MPI launcher has started, waited "
                           f"{limit:g} s for the others on this host. {HOW.format(size=size)}") from None
    except LaunchError as error:
        raise RuntimeError(f"init_process_group: no MPI launcher has started the {size} ranks, and rank 0 can't start one: "
                           f"{error}") from error
    variables, descriptors = found
    if place.CONNECTION in variables:
        variables[place.CONNECTION] = str(descriptors[1])
    environment.update(variables)
    world.cache_clear()                              # it may have been asked before: there was one process then
    _End(descriptors[0])


def _host(path: str, size: int, deadline: float) -> tuple[dict[str, str], list[int]]:
    """Rank 0: start mpirun, and bring each place to who is to take it; this rank's own place."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)                              # of a job that was killed
    options = parser().parse_args(["-n", str(size), place.__file__, path])
    places: dict[int, Any] = {}
    takers: dict[int, socket.socket] = {}
    mpirun = None
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        server.listen(2 * size)
        try:
            mpirun = subprocess.Popen(command(find(), options, []), env=outer(), stdin=subprocess.DEVNULL,
                                      start_new_session=True)
            while len(places) < size or len(takers) < size - 1:
                server.settimeout(max(0.01, min(0.2, deadline - time.monotonic())))
                if time.monotonic() > deadline:
                    raise TimeoutError
                if mpirun.poll() is not None:
                    raise LaunchError(f"mpirun ended with code {mpirun.returncode}")
                with contextlib.suppress(TimeoutError):
                    connection = server.accept()[0]
                    connection.settimeout(max(0.01, deadline - time.monotonic()))
                    message, descriptors = _receive(connection)
                    if "place" in message:
                        places[message["place"]] = message["variables"], descriptors
                        connection.close()
                    else:
                        takers[message["rank"]] = connection
            for rank, connection in takers.items():
                variables, descriptors = places[rank]
                place.send(connection, variables, descriptors)
                connection.close()
                for descriptor in descriptors:
                    os.close(descriptor)
        except BaseException as error:
            if mpirun is not None:
                mpirun.terminate()
            if isinstance(error, LaunchError):
                _tell(server, takers, size, str(error))
            raise
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
    return places[0]


def _tell(server: socket.socket, takers: dict[int, socket.socket], size: int, problem: str) -> None:
    """Tell the ranks that are here, or come soon, that they can't be joined."""
    deadline = time.monotonic() + GRACE
    with contextlib.suppress(OSError):
        while len(takers) < size - 1 and time.monotonic() < deadline:
            server.settimeout(max(0.01, deadline - time.monotonic()))
            connection = server.accept()[0]
            takers[_receive(connection)[0].get("rank", -1)] = connection
    for connection in takers.values():
        with contextlib.suppress(OSError):
            place.send(connection, {"problem": problem}, [])


def _asked(path: str, rank: int, deadline: float) -> tuple[dict[str, str], list[int]]:
    """Another rank: its place, from rank 0."""
    while True:
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.connect(path)
            place.send(connection, {"rank": rank}, [])
            connection.settimeout(max(0.01, deadline - time.monotonic()))
            variables, descriptors = _receive(connection)
            if "problem" in variables:
                raise LaunchError(variables["problem"])
            return variables, descriptors
        except OSError as error:                     # not there yet, or one that was killed
            if time.monotonic() > deadline or isinstance(error, TimeoutError):
                raise TimeoutError from error
        finally:
            connection.close()
        time.sleep(PERIOD)


def _receive(connection: socket.socket) -> tuple[Any, list[int]]:
    """A message and the file descriptors that came with it."""
    head, ancillary, _, _ = connection.recvmsg(8, socket.CMSG_SPACE(2 * array.array("i").itemsize))
    descriptors = array.array("i")
    for level, kind, data in ancillary:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
            descriptors.frombytes(data[:len(data) // descriptors.itemsize * descriptors.itemsize])
    length, text = int.from_bytes(head, "little"), b""
    if len(head) < 8:
        raise ConnectionError("the connection was closed")
    while len(text) < length:
        piece = connection.recv(length - len(text))
        if not piece:
            raise ConnectionError("the connection was closed")
        text += piece
    return json.loads(text), list(descriptors)


class _End:
    """Tells launch/place.py how this process ends: well, or by an error, which ends the job on all ranks. `link` is a bare
    file descriptor: a socket object would be closed before Python's last step, where MPI ends."""

    def __init__(self, link: int) -> None:
        self.link, self.process, self.hook = link, os.getpid(), sys.excepthook
        atexit.register(self.well)                   # before MPI is started, so it comes after what that registers
        sys.excepthook = self.failed
        multiprocessing.util.Finalize(None, self.child_ends, exitpriority=-1000)         # a child runs no atexit functions
        threading.Thread(target=self._follow, daemon=True).start()

    def _follow(self) -> None:
        """End when mpirun has ended the job: another rank has failed."""
        if not os.read(self.link, 1):
            sys.stderr.write(f"dparallel: process {self.process} is ended, because mpirun has ended the job\n")
            self.leave()

    def leave(self) -> None:
        """End this process, and so all ranks. Not by MPI_Abort, which may wait for the mpirun that runs elsewhere."""
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(1)

    def well(self) -> None:
        """The end of the script."""
        if os.getpid() == self.process:
            with contextlib.suppress(OSError):
                os.write(self.link, place.DONE)

    def failed(self, kind: Any, error: Any, trace: Any) -> None:
        """An error that nobody caught: show it, and end all ranks."""
        self.hook(kind, error, trace)
        if os.getpid() == self.process:
            self.leave()

    def child_ends(self) -> None:
        """The end of a process of multiprocessing: a forked one leaves without Python's own end, where MPI ends."""
        if multiprocessing.parent_process() is None or os.getpid() != self.process:
            return
        error = sys.exc_info()[1]
        if error is not None and not (isinstance(error, SystemExit) and not error.code):
            traceback.print_exc()
            self.leave()
        self.well()
        mpi = sys.modules.get("mpi4py.MPI")
        if mpi is not None and mpi.Is_initialized() and not mpi.Is_finalized():
            mpi.Finalize()
