"""How init_process_group() finds this process's rank, and makes processes without an MPI launcher the ranks of an MPI job.

Rank 0 starts an mpirun of as many processes, each running launch/slot.py, on this host. Each sends the variables and the
connection by which an MPI library finds mpirun to the process that becomes its rank, over a Unix socket whose name depends
on MASTER_ADDR and MASTER_PORT, or on init_method. mpirun treats these processes as its ranks.
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
import threading
import time
import traceback
from datetime import timedelta
from types import TracebackType
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, parse_qs, urlsplit

from ..comm import launched_size
from ..comm.environment import environment
from ..comm.job import this_job
from .stores import Store

if TYPE_CHECKING:
    from launch import private, slot
    from launch.cli import parser
    from launch.mpirun import LaunchError, command, find, memory_folder, outer, shared_in
else:                                                # dprun.py: ROS 2 has a package launch too
    from dprun.cli import parser
    from dprun.mpirun import LaunchError, command, find, memory_folder, outer, shared_in

    from dprun import private, slot

METHODS = ("env", "tcp", "file")
RETRY_SECONDS = 0.02                                        # seconds between two attempts to connect to rank 0
REPORT_SECONDS = 10.0                                         # seconds in which rank 0 reports a failure to other ranks
MAX_WAIT = timedelta(minutes=5)                      # the longest time that processes wait for each other
REMEDY = "Start the script with `dprun -n {size} script.py`, or mpirun or srun, without world_size"


def join_job(init_method: str | None, rank: int, size: int, store: Store | None, timeout: timedelta) -> tuple[int, int]:
    """The requested rank and size, -1 where MPI decides. Without an MPI launcher, several processes become ranks of a new
    job."""
    method = urlsplit(init_method or "env://")
    if method.scheme not in METHODS:
        raise RuntimeError(f"No rendezvous handler for {init_method!r}: it must begin with env://, tcp:// or file://")
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
                         + REMEDY.format(size=size))
    if rank >= size:
        raise ValueError(f"init_process_group: rank={rank} is not one of the {size} ranks")
    if sys.platform == "win32":
        raise NotImplementedError(f"init_process_group: rank {rank} of {size} was not started by an MPI launcher, and on "
                                  "Windows can't join a job: start the ranks with Microsoft's or Intel's mpiexec")
    seconds = min(timeout, MAX_WAIT).total_seconds()
    _become_rank(_socket_path(method, size, rank, store), rank, size, seconds)
    return rank, size


def _socket_path(method: SplitResult, size: int, rank: int, store: Store | None) -> str:
    """The path of the socket to which the processes of this job connect, in a folder of this user."""
    if store is not None:                            # a key that rank 0 draws
        if rank == 0:
            store.set("dparallel/rendezvous", os.urandom(8).hex())
        key = store.get("dparallel/rendezvous").decode()
    elif method.scheme == "file":
        key = os.path.realpath(method.path)
    else:
        address, port = method.hostname, str(method.port or "")
        if method.scheme == "env":
            address, port = environment.text("MASTER_ADDR"), environment.text("MASTER_PORT")
        if not address or not port:
            raise ValueError(f"init_process_group: {size} ranks, and neither an MPI launcher nor MASTER_ADDR and "
                             f"MASTER_PORT in the environment. {REMEDY.format(size=size)}")
        local = environment.number("LOCAL_WORLD_SIZE")
        if 0 < local < size or not _is_here(address):
            raise RuntimeError(f"init_process_group: the {size} ranks are on several hosts (MASTER_ADDR={address}), and no "
                               f"MPI launcher has started them. Start the script with `dprun -n {size} -H host1,host2 "
                               "script.py`, mpirun or srun")
        key = f"{address}:{port}:{environment.text('TORCHELASTIC_RESTART_COUNT') or '0'}"
    name = hashlib.blake2b(f"{key} {size}".encode(), digest_size=8).hexdigest()
    return os.path.join(private.user_folder(of_host=True), name)


def _is_here(address: str) -> bool:
    """Whether an address belongs to this host."""
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.bind((socket.gethostbyname(address), 0))
    except OSError:
        return False
    return True


def _become_rank(path: str, rank: int, size: int, seconds: float) -> None:
    """Become rank `rank` of an MPI job of `size` processes: set the variables that MPI reads when it starts."""
    mpi = sys.modules.get("mpi4py.MPI")
    if mpi is not None and mpi.Is_initialized():
        raise RuntimeError("init_process_group: MPI is already running for this process alone (import mpi4py.MPI "
                           f"after init_process_group). {REMEDY.format(size=size)}")
    deadline = time.monotonic() + seconds
    try:
        variables, descriptors = _start_mpirun(path, size, deadline) if rank == 0 else _request_slot(path, rank, deadline)
    except TimeoutError:
        raise RuntimeError(f"init_process_group: rank {rank} of {size}, not started by an MPI launcher, waited "
                           f"{seconds:g} s for the others on this host. {REMEDY.format(size=size)}") from None
    except LaunchError as error:
        raise RuntimeError(f"init_process_group: the {size} ranks have no MPI launcher, and rank 0 can't start one: "
                           f"{error}") from error
    if slot.CONNECTION in variables:
        variables[slot.CONNECTION] = str(descriptors[1])
    environment.update(variables)
    this_job.comm = None                             # it may have been called before, when there was one process
    _EndReporter(descriptors[0])


def _start_mpirun(path: str, size: int, deadline: float) -> tuple[dict[str, str], list[int]]:
    """On rank 0: start mpirun, and pass the variables and descriptors of its processes to the ranks. Returns rank 0's."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)                              # of a job that was killed
    options = parser().parse_args(["-n", str(size), slot.__file__, path])
    kept = contextlib.ExitStack()                    # until this process ends
    atexit.register(kept.close)
    slots: dict[int, Any] = {}
    connections: dict[int, socket.socket] = {}
    mpirun = None
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        server.listen(2 * size)
        try:
            memory = kept.enter_context(memory_folder())
            mpirun = subprocess.Popen(command(find(), options, []), env={**outer(), **shared_in(memory.path)},
                                      stdin=subprocess.DEVNULL, start_new_session=True,
                                      pass_fds=[memory.lock] if memory.lock >= 0 else [])
            while len(slots) < size or len(connections) < size - 1:
                server.settimeout(max(0.01, min(0.2, deadline - time.monotonic())))
                if time.monotonic() > deadline:
                    raise TimeoutError
                if mpirun.poll() is not None:
                    raise LaunchError(f"mpirun ended with code {mpirun.returncode}")
                with contextlib.suppress(TimeoutError):
                    connection = server.accept()[0]
                    connection.settimeout(max(0.01, deadline - time.monotonic()))
                    message, descriptors = _receive(connection)
                    if "slot" in message:
                        slots[message["slot"]] = message["variables"], descriptors
                        connection.close()
                    else:
                        connections[message["rank"]] = connection
            for rank, connection in connections.items():
                variables, descriptors = slots[rank]
                slot.send(connection, variables, descriptors)
                connection.close()
                for descriptor in descriptors:
                    os.close(descriptor)
        except BaseException as error:
            if mpirun is not None:
                mpirun.terminate()
            if isinstance(error, LaunchError):
                _report_problem(server, connections, size, str(error))
            raise
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
    return slots[0]


def _report_problem(server: socket.socket, connections: dict[int, socket.socket], size: int, problem: str) -> None:
    """Send the problem to the ranks that have connected, or connect within REPORT_SECONDS."""
    deadline = time.monotonic() + REPORT_SECONDS
    with contextlib.suppress(OSError):
        while len(connections) < size - 1 and time.monotonic() < deadline:
            server.settimeout(max(0.01, deadline - time.monotonic()))
            connection = server.accept()[0]
            connections[_receive(connection)[0].get("rank", -1)] = connection
    for connection in connections.values():
        with contextlib.suppress(OSError):
            slot.send(connection, {"problem": problem}, [])


def _request_slot(path: str, rank: int, deadline: float) -> tuple[dict[str, str], list[int]]:
    """On other ranks: request the variables and descriptors from rank 0."""
    while True:
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.connect(path)
            slot.send(connection, {"rank": rank}, [])
            connection.settimeout(max(0.01, deadline - time.monotonic()))
            variables, descriptors = _receive(connection)
            if "problem" in variables:
                raise LaunchError(variables["problem"])
            return variables, descriptors
        except OSError as error:                     # rank 0 does not listen yet, or was killed
            if time.monotonic() > deadline or isinstance(error, TimeoutError):
                raise TimeoutError from error
        finally:
            connection.close()
        time.sleep(RETRY_SECONDS)


def _receive(connection: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """A message and the file descriptors that were sent with it."""
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


class _EndReporter:
    """Reports to launch/slot.py how this process ends. `link` is a descriptor: a socket object would be closed before MPI
    ends."""

    def __init__(self, link: int) -> None:
        self.link, self.process, self.hook = link, os.getpid(), sys.excepthook
        atexit.register(self.end_of_script)          # registered before MPI starts, so it runs after MPI's functions
        sys.excepthook = self.uncaught_error
        multiprocessing.util.Finalize(None, self.child_ends, exitpriority=-1000)         # a child runs no atexit functions
        threading.Thread(target=self._watch_mpirun, daemon=True).start()

    def _watch_mpirun(self) -> None:
        """End this process when mpirun has ended the job, because another rank has failed."""
        if not os.read(self.link, 1):
            sys.stderr.write(f"dparallel: process {self.process} ends, because mpirun has ended the job\n")
            self.end_all_ranks()

    def end_all_ranks(self) -> None:
        """End this process and, by mpirun, all ranks. MPI_Abort is not used, as it may wait for mpirun."""
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(1)

    def end_of_script(self) -> None:
        """Report the end of the script."""
        if os.getpid() == self.process:
            with contextlib.suppress(OSError):
                os.write(self.link, slot.DONE)

    def uncaught_error(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        """Show an uncaught exception, and end all ranks."""
        self.hook(kind, error, trace)
        if os.getpid() == self.process:
            self.end_all_ranks()

    def child_ends(self) -> None:
        """At the end of a forked process of multiprocessing: end MPI, since it skips Python's last step."""
        if multiprocessing.parent_process() is None or os.getpid() != self.process:
            return
        error = sys.exc_info()[1]
        if error is not None and not (isinstance(error, SystemExit) and not error.code):
            traceback.print_exc()
            self.end_all_ranks()
        self.end_of_script()
        mpi = sys.modules.get("mpi4py.MPI")
        if mpi is not None and mpi.Is_initialized() and not mpi.Is_finalized():
            mpi.Finalize()
