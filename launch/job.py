"""Runs mpirun: forwards signals, ends all remaining processes, reports why a job failed, and returns its exit code."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from typing import Any

from .hosts import Host, silent
from .messages import Messages
from .mpirun import LaunchError, Mpi, mismatch, outer
from .rank import DIRECTORY
from .report import ended, failed, marked, needed_but_gone, over, positions, read, running, show, stopped, unjoined, vanished
from .streams import feed, finish_line, forwarded
from .tie import popen
from .timelines import Recorded

RENEWED = 76                                         # dparallel's: the state is left in memory for another job
FORWARDED = ("SIGINT", "SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2")
PATIENCE = 1.0                                       # seconds that mpirun has to end a job in which a rank failed
GRACE = 5.0                                          # seconds between asking mpirun to end a job and ending it
AFTER_GRACE = 2.0                                    # seconds in which ranks report that their grace is over


class Job:
    """One mpirun and the processes that it started: a session of processes, ended together.

    line       the command           changes    environment variables that differ from this process's
    folder     where ranks report    timeout    seconds, or None
    mpi        the MPI of mpirun     grace      seconds that ranks have after SIGTERM to end
    spread     whether ranks may be on other hosts
    survives   whether it continues when ranks die
    recorded   its timeline, or None
    lock       of the folder of its shared memory, which mpirun inherits; -1: none
    verbose    whether to show mpirun's messages about ranks that have ended
    hosts, ssh hosts that mpirun reaches by ssh, and the command
    """

    def __init__(self, line: list[str], changes: dict[str, str], folder: str, timeout: float | None = None, *,
                 mpi: Mpi, grace: float, spread: bool = False, survives: bool = False,
                 recorded: Recorded | None = None, lock: int = -1, verbose: bool = False,
                 hosts: Sequence[Host] = (), ssh: str = "ssh") -> None:
        self.recorded, self.lock, self.hosts, self.ssh = recorded, lock, hosts, ssh
        self.messages = Messages(verbose)            # mpirun's
        self.output: tuple[int, ...] = (1, 2)        # where mpirun writes
        self.line, self.changes, self.folder, self.timeout = line, changes, folder, timeout
        self.mpi, self.grace, self.spread, self.survives = mpi, grace, spread, survives
        self.process: subprocess.Popen[bytes] | None = None
        self.signal: int | None = None               # that ended the job
        self.timed_out = False
        self.gone: list[int] = []                    # ranks whose processes were found gone before the others' were
        self.lost: list[int] = []                    # ranks that ended silently, which mpirun did not notice
        self.stuck = ""                              # why ranks wait for others in vain
        self.kill_at = float("inf")                  # when patience ends
        self.ranks = 0                               # with spares
        self._marked: set[int] = set()               # ranks that have begun
        self._next_look, self._looks = 0.0, 0        # at mpirun's processes, and how often there was none without a mark
        self.ended_at = 0.0                          # time.monotonic() when the job's end began

    @property
    def ending(self) -> int:
        """The signal by which mpirun ends its job: MPICH's forwards SIGTERM to the ranks and survives.

        Open MPI's kills the ranks 0.5 s after SIGTERM, which schedulers send to all processes: it is blocked, and SIGINT
        ends the job.
        """
        return signal.SIGINT if self.mpi.family == "openmpi" else signal.SIGTERM

    def run(self) -> int:
        """Run to the end. Returns mpirun's exit code, negative for a signal."""
        with self.forwarding():
            try:
                self.process = popen(
                    self.line, self.ending, prepare=self.prepare, env={**outer(), **self.changes},
                    stdin=None if self.spread else subprocess.DEVNULL,       # rank 0 gets it from us
                    start_new_session=True,          # signals reach the job through us, once
                    stdout=self.output[0], stderr=self.output[1],
                    pass_fds=[self.lock] if self.lock >= 0 else [])
            except OSError as error:
                raise LaunchError(f"{self.line[0]} can't be run: {error}") from error
            if self.signal is not None:              # it arrived before there was a job
                self.end(GRACE)
            code = self.wait(self.process)
            self.ended_at = self.ended_at or time.monotonic()
            if code or self.signal is not None:      # what a rank has left behind, a killed one's workers
                self.kill()
        return code

    def prepare(self) -> None:
        """Run first in mpirun's process: block SIGTERM."""
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM} - {self.ending})

    def wait(self, process: subprocess.Popen[bytes]) -> int:
        """Wait for mpirun; end the job at the time limit or when a rank has failed, and by force if it does not end."""
        deadline = time.monotonic() + (float("inf") if self.timeout is None else self.timeout)
        failed_at = float("inf")                     # when the first report was seen
        while True:
            try:
                return process.wait(0.1)
            except subprocess.TimeoutExpired:
                now = time.monotonic()
            if self.recorded is not None:
                self.recorded.look(self.folder)
            self.gone = self.gone or (needed_but_gone(self.folder) if self.survives else vanished(self.folder))
            if self.survives and not self.spread and not self.gone and self.kill_at == float("inf"):
                self.gone = self.unborn(process.pid, now)
            nobody = self.survives and not self.spread and over(self.folder)
            if failed_at > now and (failed(self.folder) or self.gone or nobody):
                failed_at = self.ended_at = now
            if self.kill_at == float("inf") and (stuck := unjoined(self.folder)):
                self.stuck = stuck
                self.end(PATIENCE)
            if now > self.kill_at:
                self.kill()
            elif self.kill_at == float("inf") and now > deadline:
                self.timed_out = True
                self.end(GRACE)
            elif self.kill_at == float("inf") and now > failed_at + PATIENCE:
                self.lost = [] if failed(self.folder) else vanished(self.folder)
                self.end(PATIENCE)                   # mpirun may not end ranks that still wait in MPI_Init

    def unborn(self, mpirun: int, now: float) -> list[int]:
        """The ranks that died before they left a mark: under --survive mpirun continues, and the others wait in MPI_Init."""
        self._marked |= marked(self.folder)
        missing = sorted(set(range(self.ranks)) - self._marked)
        if not missing or not self._marked or now < self._next_look:
            return []
        self._next_look = now + PATIENCE / 2
        known = set(running(self.folder).values())
        if any(child not in known for child in children(mpirun)):
            self._looks = 0                          # it may be one of these, which has not come to its first line
        else:
            self._looks += 1
        return missing if self._looks > 2 else []

    def end(self, patience: float) -> None:
        """Request mpirun to end the job; patience in seconds."""
        self.kill_at = time.monotonic() + patience
        self.send(self.ending)

    def request_stop(self) -> None:
        """Request the ranks to end, by SIGTERM, which ends those at once that do not handle it.

        MPICH's mpirun forwards it. Open MPI's would end the job: this machine's ranks get it from here, others' SIGUSR1,
        forwarded.
        """
        self.kill_at = time.monotonic() + self.grace + AFTER_GRACE
        if self.mpi.family != "openmpi" or self.spread:
            self.send(signal.SIGUSR1 if self.mpi.family == "openmpi" else signal.SIGTERM)
            return
        ranks = running(self.folder)
        for process in ranks.values():
            with contextlib.suppress(OSError):
                os.kill(process, signal.SIGTERM)
        if not ranks:                                # none has begun
            self.end(GRACE)

    def send(self, number: int) -> None:
        """Send mpirun a signal, if it runs."""
        if self.process is not None:
            with contextlib.suppress(ProcessLookupError):
                self.process.send_signal(number)

    def kill(self) -> None:
        """End every process of the job on this machine; mpirun last, which then removes their shared memory."""
        process = self.process
        assert process is not None
        for pid in processes():
            with contextlib.suppress(OSError):
                if pid != process.pid and (os.getsid(pid) == process.pid or self.started(pid)):
                    os.kill(pid, signal.SIGKILL)
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:            # also where there is no list of processes
            with contextlib.suppress(OSError):
                os.killpg(process.pid, signal.SIGKILL)

    def started(self, pid: int) -> bool:
        """Whether a process belongs to this job, by its environment: MPICH's mpirun gives its ranks a separate session."""
        with open(f"/proc/{pid}/environ", "rb") as file:
            return pid != os.getpid() and f"{DIRECTORY}={self.folder}\0".encode() in file.read()

    @contextlib.contextmanager
    def forwarding(self) -> Iterator[None]:
        """Forward this process's signals to the job; those that end a job are recorded, and a second one ends it now."""
        def handler(number: int, frame: Any) -> None:
            if number == signal.SIGUSR2 and self.recorded is not None:
                self.recorded.asked = True
                return
            if number in (signal.SIGUSR1, signal.SIGUSR2):
                self.send(number)
                return
            first, self.signal = self.signal is None, number
            if not first:
                self.kill_at = 0.0
            elif number == signal.SIGINT:
                self.kill_at = time.monotonic() + GRACE
                self.send(number)
            else:
                self.request_stop()

        before = {}
        if threading.current_thread() is threading.main_thread():
            for number in (getattr(signal, name) for name in FORWARDED if hasattr(signal, name)):
                if signal.getsignal(number) is not signal.SIG_IGN:       # nohup, background jobs of a script
                    before[number] = signal.signal(number, handler)
        try:
            yield
        finally:
            for number, old in before.items():
                signal.signal(number, old)


def processes() -> list[int]:
    """All processes, from /proc; none where there is no /proc."""
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return []


def children(process: int) -> list[int]:
    """The processes that a process has started, and that run; none where there is no /proc."""
    found = []
    for pid in processes():
        with contextlib.suppress(OSError, ValueError, IndexError), open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            state, parent = file.read().rpartition(")")[2].split()[:2]
            if int(parent) == process and state not in "ZX":
                found.append(pid)
    return found


def run(job: Job, mpi: Mpi, ranks: int, tag: bool) -> int:
    """Run the job and report why it failed, if it did. Returns its exit code as a shell counts."""
    job.ranks = ranks
    with forwarded(job.folder, 0 if job.spread else ranks, tag and not job.spread, job.messages) as job.output:
        if not job.spread:
            feed(job.folder)
        code = job.run()
    if code:
        finish_line(job.messages.unfinished)
    if job.timed_out:
        print(f"dprun: the job was ended after {job.timeout:g} s (--timeout)", file=sys.stderr)
        return 124
    reports = read(job.folder)
    agreed = stopped(job.folder)
    if job.survives and not any(report["code"] is not None for report in reports):
        show_crashes(reports)                        # deaths that the job has survived
        reports = []
    if agreed == RENEWED and not reports:
        return agreed
    if agreed and not reports and (job.survives or code in (0, agreed)):
        print(f"dprun: the job ended after a step, on request, with exit code {agreed}", file=sys.stderr)
        return agreed
    if job.signal is not None:
        if reports:
            show(reports, ranks)
        return 128 + job.signal
    if job.stuck:
        print(job.stuck, file=sys.stderr)
        return 1
    if job.survives and not reports:
        return survived(job, code, mpi)
    stated = next((report["code"] for report in reports if report["code"] is not None), 0)
    if reports and (code or stated):
        show(reports, ranks)
        return int(stated) % 256 or 1 if reports[0]["code"] is not None else shell(code, mpi) or 1
    lost = job.lost or (vanished(job.folder, alive=True) if code == 0 else [])
    if lost:
        names = f"rank{'s' * (len(lost) > 1)} {', '.join(map(str, lost))}"
        print(job.messages.text() + f"dprun: {names} of {ranks} ended without finalizing MPI: by C's exit() or _exit(), "
              "without an exception or sys.exit(), or by mpirun, which reports why above; others may have waited for them "
              "in vain" + "".join(f"\n  {line}" for line in positions(job.folder)), file=sys.stderr)
        return 1
    return unreported(shell(code, mpi), mpi, job) if code else 0


def show_crashes(crashes: list[dict[str, Any]]) -> None:
    """Show where ranks crashed whose job has continued."""
    for crash in crashes:
        print(crash["text"].rstrip("\n"), f"dprun: rank {crash['rank']} crashed", sep="\n", file=sys.stderr)


def survived(job: Job, code: int, mpi: Mpi) -> int:
    """Report which ranks of a surviving job have died. Returns its exit code, 0 if a rank has finished the script."""
    dead, finished = vanished(job.folder), ended(job.folder)
    elsewhere = not finished and not running(job.folder)         # no rank was on this machine: mpirun's word has to do
    if job.gone:
        print(f"dprun: rank {job.gone[0]} died before MPI had started on it, and the others wait for it there: a job "
              "survives failed ranks only after dparallel.world(); --restarts starts another", file=sys.stderr)
        return shell(code, mpi) or 1
    if dead:
        how = "the others have finished" if finished else "none has reached the end of its script"
        print(f"dprun: rank{'s' * (len(dead) > 1)} {', '.join(map(str, dead))} died; {how}", file=sys.stderr)
    elif code and elsewhere:
        print(job.messages.text(), end="", file=sys.stderr)
    return 0 if finished or (elsewhere and code == 0) else shell(code, mpi) or 1


def shell(code: int, mpi: Mpi) -> int:
    """A failed mpirun's exit code as a shell counts: 128 + n if signal n ended it, or a rank."""
    if code < 0:
        return 128 - code
    return 128 + code if mpi.family == "mpich" and code < 32 else code       # Hydra's code is the bare signal


def unreported(code: int, mpi: Mpi, job: Job) -> int:
    """Report what is known of a failure without a report in dprun's folder. Returns the exit code."""
    remedy = mismatch(mpi)
    if remedy:
        print(f"dprun: {remedy}", file=sys.stderr)
        return 2
    death = job.messages.death({process: rank for rank, process in running(job.folder).items()})
    if job.messages.reported:                        # on its standard error, from another host
        return code
    if not death and (away := silent(job.hosts, job.ssh)):
        print(*(f"dprun: host {name} can't be reached by {job.ssh}{why}; `{job.ssh} {name} true` must succeed"
                for name, why in away.items()), sep="\n", file=sys.stderr)
        return code
    seen = positions(job.folder)
    number = int(death.get("signal", code - 128))
    if "abort" in death:
        how, code = f"called MPI_Abort with code {death['abort']}", int(death["abort"]) % 256 or 1
    elif "improper" in death:
        how = "ended without finalizing MPI: by C's exit() or _exit(), without an exception or sys.exit()"
    elif number in set(signal.Signals):
        how = f"was ended by signal {number} ({signal.Signals(number).name})"
        how += ", as by the kernel if memory ran out" if number == signal.SIGKILL else ""
    else:
        how = f"ended with exit code {code}, without a traceback"      # Intel's has 255
    rank = death.get("rank", str(job.gone[0]) if len(job.gone) == 1 else "")
    which = f"rank {rank} of {job.ranks}" if rank else "a rank"
    where = f" on {death['host']}" if job.spread and "host" in death else ""
    how += ". Where each rank was, a second or less before the end:" if seen else ""
    print(("" if death else job.messages.text()) + "\n  ".join([f"dprun: {which}{where} {how}", *seen]), file=sys.stderr)
    return code
