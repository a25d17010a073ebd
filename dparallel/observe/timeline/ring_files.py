"""Recording: each rank writes its spans into files of fixed size, which outlive it and can be read at any time.

`<path>.parts` is a folder with, for each rank,

    rank-3.json         who it is: host, process, clocks (Part)
    rank-3.names        one line of JSON for each name of spans, in the order of their numbers: [name, kind]
    rank-3.12345.ring   the ring of thread 12345 (autograd/spans/spans.py): a page with its head and the thread's name,
                        then its blocks

Rings are mapped files, so a rank's last spans can be read after it was killed, and while it hangs. Ranks exchange nothing.
"""

from __future__ import annotations

import contextlib
import gc
import json
import math
import mmap
import os
import shutil
import sys
import threading
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from autograd.base.environment import usable_cores
from autograd.optim.optimizer import register_optimizer_step_post_hook
from autograd.spans import spans
from autograd.spans.spans import BLOCK, COUNTER, USER, Recorder, Ring, complete

from ...comm import Communicator, Devices, communicator
from ...comm.environment import environment, host_identity, write_whole
from ...comm.job import this_job
from ...comm.run_delay import RunDelay
from .clock_thread import ClockThread, thinned
from .clocks import Offset, compare_clocks, host_leaders
from .report import finish
from .run import NAME_AT, PAGE

LIMIT, ALL = 1 << 20, 1 << 23        # spans: of a thread 64 MiB; of all ranks together 512 MiB
COLLECTION = 20_000                  # ns: shorter runs of the garbage collector are not recorded
SAMPLED = 2_000_000                  # ns between two readings of the main thread's run delay
IDLE = 50_000                        # ns without running in between: another process ran, or the thread slept
WALL = 10_000_000_000                # ns between two readings of the system's clock
PROBE, PROBES = 1 << 21, 1 << 26     # float32 numbers in the sum that measures the network: 8 MiB; of all ranks
MSG_FOLDER = ("{path}: the timeline can't be written there ({error}); name a file in a folder that can be written, which "
              "all ranks see")


class FileRecorder(Recorder):
    """The recorder of one rank of a timeline: its rings are files in the folder."""

    def __init__(self, folder: Path, rank: int, limit: int, fine: bool = False) -> None:
        super().__init__(limit, fine=fine)
        self.folder, self.rank = folder, rank
        self._files: dict[int, int] = {}             # by ring: the descriptor of its file
        self._names = open(folder / f"rank-{rank}.names", "w", encoding="utf-8", buffering=1)       # noqa: SIM115
        self._naming, self._writing = threading.RLock(), False
        self._named, self._warned = 0, False
        self.sampler: Callable[[], object] | None = None         # called at spans of the main thread, every SAMPLED ns

    def start(self) -> None:
        """Record from now on, in all threads."""
        self._write_names()
        super().start()
        self._write_names()

    def named(self) -> None:
        """Write the new names of spans."""
        self._write_names()

    def _write_names(self) -> None:
        with self._naming, contextlib.suppress(OSError, ValueError):       # a full disk; closed
            if self._writing:
                return                               # the garbage collector interrupted the loop below
            self._writing = True
            try:
                while self._named < len(spans.names):
                    self._names.write(json.dumps(spans.names[self._named]) + "\n")
                    self._named += 1
            finally:
                self._writing = False

    def sample(self, ring: Ring) -> None:
        """Called when a span of the main thread begins or ends, some time after the last sample."""
        super().sample(ring)                         # sets ring.due first, because the sampler records spans too
        if self.sampler is not None:
            self.sampler()
            ring.due = ring.time + SAMPLED

    def head(self, ring: Ring) -> Any:
        """Create a ring's file and return the numbers at its beginning."""
        if ring.thread == threading.main_thread().native_id:
            ring.due = 0
        path = self.folder / f"rank-{self.rank}.{ring.thread}-{len(self.rings)}.ring"
        try:
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o666)
            allocate(file, 0, PAGE)
            page = mmap.mmap(file, PAGE)
        except OSError as error:
            self._warn(error)
            return super().head(ring)                # block() then takes memory, too
        self._files[id(ring)] = file
        name = ring.thread_name.encode()[:255]
        page[NAME_AT:NAME_AT + len(name)] = name
        numbers = memoryview(page)[:NAME_AT].cast("q")
        numbers[2] = ring.thread
        return numbers

    def block(self, ring: Ring, number: int) -> Any:
        """The next MiB of a ring's file."""
        if id(ring) not in self._files:
            return super().block(ring, number)
        start, size = PAGE + number * 64 * BLOCK, 64 * BLOCK
        try:
            allocate(self._files[id(ring)], start, size)
        except OSError as error:
            self._warn(error)
            raise
        return memoryview(mmap.mmap(self._files[id(ring)], size, offset=start)).cast("q")

    def _warn(self, error: OSError) -> None:
        """Warn once that the disk is full. Training continues, and the ring overwrites its existing blocks."""
        if not self._warned:
            self._warned = True
            warnings.warn(f"the timeline of rank {self.rank} is not complete: {self.folder}: {error.strerror or error}",
                          stacklevel=2)

    def close(self) -> None:
        """Close the files; their memory stays mapped as long as the rings live."""
        for file in self._files.values():
            os.close(file)
        self._files.clear()
        self._names.close()


def allocate(file: int, start: int, size: int) -> None:
    """Allocate a part of a file. OSError on a full disk, where a write through a map would end the process by SIGBUS."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file, start, size)
    else:                                            # macOS
        os.pwrite(file, bytes(size), start)


class Part:
    """The recording of one rank: starts and stops it, and writes the file that describes the rank."""

    def __init__(self, folder: Path, rank: int, size: int, *, steps: tuple[int, int] | None, limit: int | None,
                 operations: bool = False) -> None:
        self.folder, self.rank, self.size, self.steps = folder, rank, size, steps
        self.recorder = FileRecorder(folder, rank, limit or max(BLOCK, min(LIMIT, ALL // size)), operations)
        self.offsets: list[Offset] = []
        self.memberships: list[tuple[int, int, int]] = []        # of `dprun --survive`: (when, its number, steps before)
        self.network: dict[str, float] = {}
        self.finished = False
        self._process = os.getpid()
        self._collection = self._walled = 0
        self._delays = Delays()
        self._clocks: ClockThread | None = None
        self._hook: Any = None

    def start(self) -> None:
        """Begin to record."""
        self.recorder.sampler = self._sample
        self.recorder.start()
        self._sample()
        self._hook = register_optimizer_step_post_hook(self._stepped)
        this_job.when_settled.append(self._settled)
        gc.callbacks.append(self._collected)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forked)
        self.write()

    def stop(self) -> None:
        """Stop recording; a second call does nothing."""
        if self._hook is None:
            return
        if self._clocks is not None:
            self._clocks.stop()
        self._hook.remove()
        self._hook = None
        this_job.when_settled.remove(self._settled)
        gc.callbacks.remove(self._collected)
        self._sample()
        self._delays.close()
        self.recorder.stop()
        self.recorder.close()
        self.finished = True
        self.write()

    def write(self) -> None:
        """Write the file that describes this rank, completely or not at all."""
        host, boot = host_identity()
        item = {"version": 1, "rank": self.rank, "size": self.size, "host": host, "boot": boot, "process": self._process,
                "started": self.recorder.started, "stopped": self.recorder.stopped, "finished": self.finished,
                "steps": self.steps, "offsets": [offset._asdict() for offset in self.offsets], "network": self.network,
                "memberships": self.memberships, "cores": usable_cores(), "threads": environment.text("OMP_NUM_THREADS"),
                "main": threading.main_thread().native_id, "script": sys.argv[0] if sys.argv else ""}
        with contextlib.suppress(OSError):
            write_whole(str(self.folder / f"rank-{self.rank}.json"), json.dumps(item))

    # --- events other than spans ----------------------------------------------------------------------------------------

    def _stepped(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        """Called when an optimizer has made a step."""
        if spans.profilers and threading.get_ident() == threading.main_thread().ident:
            self._sample()                           # a profiler's ring calls no sampler
        before = self.memberships[-1][2] if self.memberships else 0
        if self.steps is not None and before + optimizer.steps_taken > self.steps[1]:
            self.stop()

    def _settled(self, number: int, steps: int) -> None:
        """From here on this rank is one of the active ranks, which have completed `steps` steps. Collective."""
        self.memberships.append((time.perf_counter_ns(), number, steps))
        self.write()
        offset = compare_clocks(this_job.comm) if number else None           # a spare that joins does not take part in this
        if offset is not None:
            self._measured(offset)

    def _sample(self) -> None:
        """Record the main thread's run delay, and the system's time every WALL ns."""
        now = time.perf_counter_ns()
        for at, delayed, ran in self._delays.look(now):
            complete("[run delay]", COUNTER, at, at, delayed, ran)
        if now - self._walled > WALL:
            self._walled = now
            complete("[system clock]", COUNTER, now, now, time.time_ns())

    def _collected(self, phase: str, info: dict[str, int]) -> None:
        """Called when the garbage collector begins or ends."""
        now = time.perf_counter_ns()
        if phase == "start":
            self._collection = now
        elif now - self._collection > COLLECTION:
            complete("garbage collection", USER, self._collection, now, info["generation"], info["collected"])

    def _forked(self) -> None:
        """Called in a child of this process, such as a worker of a DataLoader: it must not write into these files."""
        if self._hook is not None and self._process != os.getpid():
            self._hook = None
            self.recorder.forget()
            with contextlib.suppress(ValueError):
                gc.callbacks.remove(self._collected)

    def _measured(self, offset: Offset) -> None:
        """Called when an offset from rank 0's clock was measured."""
        self.offsets = thinned([*self.offsets, offset])
        self.write()

    # --- with other ranks -----------------------------------------------------------------------------------------------

    def meet(self, comm: Communicator) -> None:
        """Compare clocks with all ranks, and the first time measure the speed of a sum. Collective."""
        if comm.size == 1 or len(comm.held) > 1 or (this_job.membership is not None and this_job.membership.generation):
            return                                   # no other rank; or a spare joins, and the others do not call this
        offset = compare_clocks(comm)
        if offset is not None:
            self._measured(offset)
            if self._clocks is None and comm.several_threads:
                self._clocks = ClockThread(comm, host_leaders(comm), self._measured)
        if not self.network:
            self.network = measured_sum(comm)
        self.write()


class Delays:
    """RunDelay's readings that are worth a counter in the timeline. The thread's own clock takes 1 us to read, RunDelay 4
    to 12: while that clock keeps up with the wall clock, the delay is unchanged."""

    def __init__(self) -> None:
        self._counter = RunDelay()
        self._looked = self._ran = 0                 # at the last check: when, and what the thread had run by then
        self.seen = 0, 0, 0                          # at the last reading: (when, could have run, ran)

    def look(self, now: int) -> tuple[tuple[int, int, int], ...]:
        """The new readings (when, could have run, ran): two, at the last check and now, or none if the thread always
        ran."""
        ran = time.thread_time_ns()
        before, idle = self._looked, now - self._looked - (ran - self._ran)
        self._looked, self._ran = now, ran
        if idle < IDLE:
            return ()
        known, last = self.seen, (before, *self.seen[1:])
        self.seen = now, *self._counter.read()
        return (last, self.seen) if before > known[0] > 0 else (self.seen,)

    def close(self) -> None:
        """Close the counter."""
        self._counter.close()


def measured_sum(comm: Communicator) -> dict[str, float]:
    """Bytes, and seconds of the fastest of three sums of them over all ranks. Collective."""
    numbers = min(PROBE, PROBES // comm.size)
    vector = comm.persistent_sum(numbers, "float32")
    seconds = math.inf
    for _ in range(4):                               # the first sum touches the memory and does not count
        comm.barrier()
        began = time.perf_counter()
        vector.start().wait()
        seconds = min(seconds, time.perf_counter() - began)
    return {"bytes": 4.0 * numbers, "seconds": seconds}


class timeline:
    """Record what all ranks do in a block, into one file that Perfetto and chrome://tracing open. Collective.

    `dprun --timeline run.json.gz train.py` does the same without a change of the script. An exception leaves what was
    recorded in the folder `<path>.parts`, which `dprun --report` reads, too.
    """

    def __init__(self, path: str | os.PathLike[str] = "timeline.json.gz", *, comm: Any = None,
                 steps: tuple[int, int] | str | None = None, limit: int | None = None, operations: bool = False,
                 report: bool = False) -> None:
        self.path = Path(path).absolute()
        if self.path.suffixes[-2:] != [".json", ".gz"] and self.path.suffix != ".json":
            raise ValueError(f"timeline({str(path)!r}): the file's name ends in .json.gz or .json")
        self.steps = steps_of(steps)
        if limit is not None and limit < 1:
            raise ValueError(f"timeline(limit={limit!r}): a number of spans, of at least 1")
        self.limit, self.operations, self.report = limit, operations, report
        self._given, self._comm = comm, None
        self._part: Part | None = None

    def __enter__(self) -> timeline:
        comm: Any = communicator(self._given)
        if comm.kind == "threads":
            raise NotImplementedError("timeline() on ranks that are threads of one process: these share its spans; start "
                                      "processes with dprun, or use autograd.profiler")
        if len(comm.held) == comm.size > 1:
            comm = Devices(1)                        # local devices are lanes of one process
        elif len(comm.held) > 1:
            raise NotImplementedError(f"timeline(comm={comm!r}): its processes have several local ranks each; pass a "
                                      "communicator of the processes, such as world()")
        folder = parts_of(self.path)
        error = ""
        if comm.rank == 0:
            try:
                clear(folder)
            except OSError as failure:
                error = MSG_FOLDER.format(path=self.path, error=failure.strerror or failure)
        if error := comm.broadcast_object(error):
            raise OSError(error)
        problem = ""
        try:
            self._part = Part(folder, comm.rank, comm.size, steps=self.steps, limit=self.limit, operations=self.operations)
            self._part.start()
        except (OSError, RuntimeError) as failure:
            problem, self._part = f"{type(failure).__name__}: {failure}", None
        try:
            problems = comm.allgather_object([problem])
            if self._part is not None and not any(problems):
                self._part.meet(comm)
        except BaseException:                        # a rank was lost, or a wait was given up
            if self._part is not None:
                self._part.stop()
            raise
        if any(problems):
            if self._part is not None:
                self._part.stop()
            text = "; ".join(f"rank {rank}: {text}" for rank, text in enumerate(problems) if text)
            raise RuntimeError(text) if "RuntimeError" in text else OSError(MSG_FOLDER.format(path=self.path, error=text))
        self._comm = comm
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        part, comm = self._part, self._comm
        assert part is not None and comm is not None
        if error is not None:                        # no collective here: other ranks may not have raised
            part.stop()
            return
        part.meet(comm)
        part.stop()
        comm.barrier()
        if comm.rank == 0:
            report = finish(parts_of(self.path), self.path)
            if self.report:
                print(report.text(), flush=True)
        comm.barrier()


def parts_of(path: Path) -> Path:
    """The folder of a timeline's parts."""
    return path.with_name(path.name + ".parts")


def clear(folder: Path) -> None:
    """Create the folder of parts, or empty it."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    probe = folder / "probe"
    probe.write_bytes(b"")
    probe.unlink()


def steps_of(steps: tuple[int, int] | str | None) -> tuple[int, int] | None:
    """(first, last + 1) of "20:40" or of a pair; None: all. ValueError for anything else."""
    if steps is None or steps == "":
        return None
    try:
        first, last = (int(text or "0") for text in steps.split(":")) if isinstance(steps, str) else map(int, steps)
        if 0 <= first < last:
            return first, last
    except (TypeError, ValueError):
        pass
    raise ValueError(f"steps={steps!r}: the first step and one behind the last, such as 20:40")


# --- started by dprun -----------------------------------------------------------------------------------------------------

class StartedByDprun:
    """The recording of `dprun --timeline`, requested by environment variables: from the start of the process to its end."""

    def __init__(self) -> None:
        self.part: Part | None = None

    def start(self) -> None:
        """Begin to record, before the script runs."""
        folder = Path(environment.text("DPARALLEL_TIMELINE_PARTS"))
        rank = environment.number("RANK")
        try:
            self.part = Part(folder, max(rank, 0), max(environment.launched_size, 1),
                             steps=steps_of(environment.text("DPARALLEL_TIMELINE_STEPS")), limit=None)
            self.part.start()
        except OSError as error:
            warnings.warn(f"no timeline of rank {rank}: {error}", stacklevel=1)
            self.part = None
            return
        this_job.when_joined.append(self.part.meet)

    def finish(self) -> None:
        """Called when the script has ended on this rank."""
        if self.part is not None and self.part._process == os.getpid():
            self._compare_again(self.part)
            self.part.stop()

    def _compare_again(self, part: Part) -> None:
        """Over several hosts: compare clocks at the end, if all ranks come here within some seconds."""
        if part.offsets and this_job.comm is not None and not this_job.comm.freed:
            met: Callable[[Any], bool] = getattr(this_job.comm, "all_here", lambda seconds: False)
            if met(10.0):
                part.meet(this_job.comm)


started_by_dprun = StartedByDprun()
