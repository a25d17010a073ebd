"""Ranks as MPI processes. Importing this module imports mpi4py, which starts MPI."""

from __future__ import annotations

import atexit
import functools
import itertools
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any, cast

import mpi4py
import numpy as np
from numpy.typing import DTypeLike

from ..environment import environment

if environment.survive_size:                         # MPI_Finalize may wait for ranks that have died (seen in 1 run of 3)
    mpi4py.rc.finalize = False
from mpi4py import MPI

from autograd.kernels.halves import converted, copy_into
from autograd.spans.spans import MESSAGE, number_of, recorders

from ..base import Array, Communicator, Handle, vectors_of
from ..groups import Freed
from ..handle import obligations, outlive_python
from ..header import (
    DTYPES,
    REDUCTIONS,
    SCANS,
    Call,
    even_split,
)
from ..lost import Abandoned, RankLost
from ..persistent import PersistentSum
from ..reference import is_half, neutral
from ..waiting import Flight, blocked
from ..watchdog.stall import Watch, members_of, watch
from . import chunks as rounds
from . import tuning
from .comparison import CallSummary, Comparison
from .handle import MpiHandle
from .messages import KINDS, MpiMessages, raise_if_lost
from .mpi_types import Intracomm, Op, Request
from .operations import reducible
from .shared_calls import SUPPORTED
from .shared_memory import shared_file, shared_parts
from .shared_sum import SharedSums
from .surviving import surviving

BITS = np.dtype(np.uint16)
SENT_AS = {dtype: BITS for dtype in DTYPES if is_half(dtype)}   # MPI has no half floats: they are sent as integers
TYPES: dict[Any, Any] = {dtype: MPI.Datatype.fromcode(SENT_AS.get(dtype, dtype).char) for dtype in DTYPES}
MAX_SUMMARIES = 512
MAX_PENDING = 64
PREFERENCES = tuning.prefer(MPI.__file__, MPI.Query_thread())
NUMBERS = itertools.count()          # of communicators whose rank 0 this process is


class MpiComm(Comparison, MpiMessages, Communicator):
    """One rank of an MPI communicator (default: COMM_WORLD), duplicated so that our messages never match the user's.
    Collective.

    More than `max_count` elements (MPI 3 counts in C ints) are sent in pieces of whole rows, or in rounds; these collectives
    are complete when they have been started.
    """

    kind = "mpi"
    check: Any
    freed: bool
    entered: int

    def __init__(self, comm: Intracomm | None = None) -> None:
        base = MPI.COMM_WORLD if comm is None else checked_intracomm(comm)
        base = surviving(base) if environment.survive_size else base
        self.entered = self.messages = 0             # collectives so far; messages
        self.waiting: Any = "MpiComm()"              # what this rank waits in, for the watchdog; None if it does not wait
        self.watch: Watch = watch(MPI)
        self.key: str = f"new {id(self)}"
        self.members: Sequence[int] = members_of(base, MPI.COMM_WORLD)
        self._reversed_comm: Any = None                  # the same ranks in reverse order, for reverse scans
        self.watch.join(self)
        try:
            self.comm: Any = base.Dup()
        except RankLost:
            self.watch.part(self)
            raise
        self.size: int = self.comm.size
        self.held: tuple[int, ...] = (self.comm.rank,)
        self.max_count = 2**31 - 1
        self._pending: dict[int, Any] = {}           # operations in progress
        self._abandoned: list[Any] = []              # requests of messages that were never received
        self._row_types: dict[Any, Any] = {}
        self._shared = SharedSums(self)
        self.max_tag: int = int(MPI.COMM_WORLD.Get_attr(MPI.TAG_UB) or 2**15 - 1) // len(KINDS) - 1
        atexit.register(self._leak_pending)               # also a reference to this object and its buffers
        first = (f"{self.watch.rank}.{next(NUMBERS)}", self.watch.settings.check) if self.comm.rank == 0 else ("", False)
        infos = self.comm.allgather((*first, len(DTYPES),
                                      # with --survive a rank that waits must be able to notice another's death
                                      SUPPORTED and not environment.survive_size))
        key, self.check = infos[0][:2]
        dtypes = [known for _, _, known, _ in infos]  # installations may differ
        self.without_bfloat16: list[int] = [rank for rank, known in enumerate(dtypes) if known < max(dtypes)]
        self.start_comparing(all(able for *_, able in infos))
        if 1 < self.size == self.watch.size:
            self.watch.share(MPI, MPI.COMM_WORLD)
        self.watch.part(self)
        self.waiting, self.key = None, key           # the same on all its ranks
        self.flights: int = number_of(f"communicator {key}", MESSAGE) << 40
        self.watch.join(self)

    def free(self) -> None:
        """Complete pending operations and free the duplicated communicator. A second call does nothing. Collective.

        CollectiveError on all ranks if a message was never received.
        """
        if self.freed:
            return
        obligations.before_closing(self)
        self.entered, self.waiting = self.entered + 1, "free()"
        self.free_groups()
        self._shared.free()
        lost = self.comm.allgather(self._lost_messages())
        for request, *_ in self._pending.values():
            request.Wait()
        self._pending.clear()
        atexit.unregister(self._leak_pending)
        for comm in (self._reversed_comm, self.comm):
            if comm is not None:
                comm.Free()
        self.waiting, self.comm, self._shared_calls = None, Freed(), None
        self._known_calls.clear()
        self.watch.part(self)
        self.freed = True
        raise_if_lost(lost)

    def shared_file(self, nbytes: int) -> tuple[int, Any] | None:
        """A file of nbytes zeros in the ranks' shared memory: its descriptor and map. None on several hosts. Collective."""
        return shared_file(self.comm, nbytes)

    def shared_memory(self, nbytes: int) -> list[memoryview] | None:
        """Memory that the ranks of one host share."""
        return shared_parts(self.comm, nbytes)

    def abandon(self) -> None:
        """Abort pending operations after a rank has died: all calls of all ranks on this communicator raise errors."""
        if self.freed:
            return
        self.freed = self.abandoned = True
        for comm in (self._reversed_comm, self.comm):
            if comm is not None:
                comm.abandon()
        self._shared.abandon()
        outlive_python(self._pending)                # MPI may still write there
        atexit.unregister(self._leak_pending)
        self.watch.part(self)
        self.waiting, self.comm, self._node, self._leaders = None, Abandoned(), None, ()

    def _leak_pending(self) -> None:
        """At exit: keep the buffers of incomplete requests. Waiting here would hang if another rank has failed."""
        if self._pending:
            self._report_unreceived()
            outlive_python(self._pending)

    def flight(self) -> int:
        """The number of the last collective, combined with the number of the communicator's name in spans."""
        return self.flights + self.entered

    # --- the collectives ----------------------------------------------------------------------------------------------

    def allreduce(self, xs: Sequence[Array], op: str = "sum") -> list[Array]:
        """Reduce arrays of all ranks."""
        known = self.known_allreduce(xs, op)
        return super().allreduce(xs, op) if known is None else known

    def issue(self, name: str, xs: Array | Sequence[Array] | None, **settings: Any) -> Handle:
        """Start a collective."""
        if name == "allreduce" and settings.keys() <= {"blocking", "op", "ties"} \
                and (known := self.known_allreduce(xs, **settings)) is not None:
            return Handle(None, value=known)
        return super().issue(name, xs, **settings)

    def _issue(self, calls: list[Call], xs: list[Array], blocking: bool) -> Handle:
        call, x = calls[0], xs[0]
        try:
            if call.name == "allreduce" and (done := self._allreduce_compared(call, x)) is not None:
                return done
            return self._run(call, self._compare_calls(call), x, blocking)
        finally:
            self.waiting = None

    def _run(self, call: Call, summary: CallSummary, x: Array, blocking: bool) -> Handle:
        """Start the collective that a call names."""
        if not x.flags.c_contiguous:
            x = np.array(x, order="C")
        if summary.dtype.kind == "V" and call.name not in REDUCTIONS | {"permute"}:           # bfloat16: unknown to buffers
            dtype, summary = summary.dtype, summary._replace(dtype=BITS)
            return METHODS[call.name](self, call, summary, x.view(BITS), blocking).then(
                lambda h: [y.view(dtype) for y in h.value()] if isinstance(h.value(), list) else h.value().view(dtype))
        return METHODS[call.name](self, call, summary, x, blocking)

    def _broadcast(self, call: Call, summary: CallSummary, x: Array, blocking: bool) -> Handle:
        out = x.copy() if self.rank == call.root else np.empty(summary.shape, summary.dtype)
        if out.size > self.max_count:
            for piece in self._pieces(out):
                self.comm.Bcast(_spec(piece), call.root)
            return Handle(None, value=[out])
        return self._call_mpi(blocking, "Bcast", (_spec(out), call.root), lambda: [out], out)

    def _reduce(self, call: Call, summary: CallSummary, x: Array, blocking: bool) -> Handle:
        sent, op, back = reducible(x, call.op, self.size)
        out = np.empty_like(sent) if self.rank == call.root else None
        if x.size > self.max_count:
            self._reduce_pieces(sent, out, op, call.root)
            return Handle(None, value=np.empty(0, x.dtype) if out is None else back(out))
        return self._call_mpi(blocking, "Reduce", (_spec(sent), None if out is None else _spec(out), op, call.root),
                        lambda: np.empty(0, x.dtype) if out is None else back(out), sent, out)

    def _allreduce(self, call: Call, summary: CallSummary, x: Array, blocking: bool) -> Handle:
        sent, op, back = reducible(x, call.op, self.size)
        out = np.empty_like(sent)
        if x.size > self.max_count:
            for source, target in zip(self._pieces(sent), self._pieces(out), strict=True):
                self.comm.Allreduce(_spec(source), _spec(target), op)
            return Handle(None, value=[back(out)])
        return self._call_mpi(blocking, "Allreduce", (_spec(sent), _spec(out), op), lambda: [back(out)], sent, out)

    def _scatter(self, call: Call, summary: CallSummary, x: Array, blocking: bool) -> Handle:
        source = summary.calls[call.root]
        sizes = np.array(call.sizes if call.sizes is not None else even_split(summary.shape[0], self.size), np.int64)
        if source.key:
            self.comm.Bcast(sizes, call.root)
        out = np.empty((int(sizes[self.rank]), *summary.shape[1:]), summary.dtype)
        if sizes.sum() > self.max_count:
            counts = (sizes * summary.width).tolist()
            rounds.scatter(self.comm, x.reshape(-1), out.reshape(-1), counts, TYPES[summary.dtype], self.max_count,
                           call.root)
            return Handle(None, value=[out])
        kind, unit = self._row_type(summary, summary.shape[0])
        sent = [x, (sizes * unit).tolist(), None, kind] if self.rank == call.root else None
        return self._call_mpi(blocking, "Scatterv", (sent, [out, int(sizes[self.rank]) * unit, kind], call.root),
                              lambda: [out], x, out)

    def _gather(self, call: Call, summary: CallSummary, x: Array, blocking: bool) -> Handle:
        if sum(summary.rows) > self.max_count:
            return self._concatenate_in_rounds(summary, x, call.root)
        kind, unit = self._row_type(summary, sum(summary.rows))
        sent = [x, summary.rows[self.rank] * unit, kind]
        if self.rank != call.root:
            return self._call_mpi(blocking, "Gatherv", (sent, None, call.root), lambda: np.empty(0, summary.dtype), x)
        out = np.empty((sum(summary.rows), *summary.shape[1:]), summary.dtype)
        received = [out, [n * unit for n in summary.rows], None, kind]
        return self._call_mpi(blocking, "Gatherv", (sent, received, call.root), lambda: out, x, out)

    def _allgather(self, call: Call, summary: CallSummary, x: Array, blocking: bool) -> Handle:
        if sum(summary.rows) > self.max_count:
            return self._concatenate_in_rounds(summary, x, None)
        kind, unit = self._row_type(summary, sum(summary.rows))
        out = np.empty((sum(summary.rows), *summary.shape[1:]), summary.dtype)
        return self._call_mpi(blocking, "Allgatherv", ([x, summary.rows[self.rank] * unit, kind],
                                            [out, [n * unit for n in summary.rows], None, kind]), lambda: [out], x, out)

    def _reduce_scatter(self, call: Call, summary: CallSummary, x: Array, blocking: bool) -> Handle:
        sizes: Any = call.sizes
        sent, op, back = reducible(x, call.op, self.size)
        out = np.empty((sizes[self.rank], *x.shape[1:]), sent.dtype)
        if x.size > self.max_count:
            start = 0
            for rank, rows in enumerate(sizes):
                self._reduce_pieces(sent[start:start + rows], out if rank == self.rank else None, op, rank)
                start += rows
            return Handle(None, value=[back(out)])
        kind = TYPES[sent.dtype]
        return self._call_mpi(blocking, "Reduce_scatter", ([sent, sent.size, kind], [out, out.size, kind],
                                                [n * summary.width for n in sizes], op), lambda: [back(out)], sent, out)

    def _alltoall(self, call: Call, summary: CallSummary, x: Array, blocking: bool) -> Handle:
        send, receive = np.array(call.sizes, np.int64), np.empty(self.size, np.int64)
        if summary.calls:
            self.comm.Alltoall(send, receive)
        else:                                        # start_known(): all ranks pass the same sizes
            receive[:] = send[self.rank]
        out = np.empty((int(receive.sum()), *summary.shape[1:]), summary.dtype)
        if sum(summary.rows) > self.max_count:
            rounds.alltoall(self.comm, x.reshape(-1), out.reshape(-1), (send * summary.width).tolist(),
                            (receive * summary.width).tolist(), TYPES[summary.dtype], self.max_count)
            return Handle(None, value=[out])
        kind, unit = self._row_type(summary, sum(summary.rows))
        return self._call_mpi(blocking, "Alltoallv", ([x, (send * unit).tolist(), None, kind],
                                           [out, (receive * unit).tolist(), None, kind]), lambda: [out], x, out)

    def _scan(self, call: Call, summary: CallSummary, x: Array, blocking: bool) -> Handle:
        name, comm, first = call.name.removeprefix("reverse_").capitalize(), self.comm, 0
        if call.name.startswith("reverse"):
            if self._reversed_comm is None:
                self._reversed_comm = self.comm.Split(0, -self.rank)
            comm, first = self._reversed_comm, self.size - 1
        sent, op, back = reducible(x, call.op, self.size)
        out = np.empty_like(sent)

        def result() -> list[Array]:
            return [neutral(x, call.op) if name == "Exscan" and self.rank == first else back(out)]

        if not blocking and x.size <= self.max_count:
            return MpiHandle(self, getattr(comm, "I" + name.lower())(_spec(sent), _spec(out), op), result, (sent, out))
        for source, target in zip(self._pieces(sent), self._pieces(out), strict=True):
            getattr(comm, name)(_spec(source), _spec(target), op)
        return Handle(None, value=result())

    # --- calls of MPI -------------------------------------------------------------------------------------------------

    def _call_mpi(self, blocking: bool, name: str, args: Any, finish: Callable[[], Any], *buffers: Any) -> Handle:
        """Call MPI's blocking function, which is faster, or the non-blocking one."""
        if blocking:
            getattr(self.comm, name)(*args)
            return Handle(None, value=finish())
        return MpiHandle(self, getattr(self.comm, "I" + name.lower())(*args), finish, buffers)

    def _row_type(self, summary: CallSummary, rows: int) -> tuple[Any, int]:
        """MPI's type to count in, and how many of it make a row: elements, or whole rows if there are too many elements."""
        if rows * summary.width <= self.max_count:
            return TYPES[summary.dtype], summary.width
        key = summary.dtype, summary.width
        if key not in self._row_types:
            self._row_types[key] = TYPES[summary.dtype].Create_contiguous(summary.width).Commit()
        return self._row_types[key], 1

    def _concatenate_in_rounds(self, summary: CallSummary, x: Array, root: int | None) -> Handle:
        """gather on root, or (None) allgather, of more rows than MPI can count."""
        has_result = root in (None, self.rank)
        out = np.empty((sum(summary.rows), *summary.shape[1:]) if has_result else 0, summary.dtype)
        rounds.gather(self.comm, x.reshape(-1).astype(summary.dtype, copy=False), out.reshape(-1),
                      [n * summary.width for n in summary.rows], TYPES[summary.dtype], self.max_count, root)
        return Handle(None, value=[out] if root is None else out)

    def _pieces(self, x: Array) -> list[Array]:
        """Flat views of max_count elements at most."""
        flat = x.reshape(-1)
        return [flat[start:start + self.max_count] for start in range(0, flat.size, self.max_count)]

    def _reduce_pieces(self, sent: Array, out: Array | None, op: Op, root: int) -> None:
        """Reduce to root in pieces of max_count elements."""
        pieces = self._pieces(sent)
        targets = [None] * len(pieces) if out is None else self._pieces(out)
        for source, target in zip(pieces, targets, strict=True):
            self.comm.Reduce(_spec(source), None if target is None else _spec(target), op, root)

    def hold_buffers(self, request: Request, buffers: Any, message: str | None = None) -> None:
        """Hold the memory that MPI reads and writes until release_buffers(), or until an abandoned request is complete.

        message: what the request sends to another rank; empty for a receive, None for a collective.
        """
        if len(self._pending) >= MAX_PENDING:
            self._pending = {key: item for key, item in self._pending.items() if not item[0].Test()}
        self._pending[id(request)] = (request, buffers, message)

    def release_buffers(self, request: Request) -> None:
        """Release the buffers of a complete request."""
        self._pending.pop(id(request), None)

    # --- without checks -----------------------------------------------------------------------------------------------

    def start_sum_in_place(self, arrays: Sequence[Array]) -> Handle:
        """Iallreduce in place; float16 and bfloat16 are summed in float32."""
        array = vectors_of(arrays)[0]
        try:
            self.enter_sum(array)
            if is_half(array.dtype):
                wide = converted(array, np.float32)
                return MpiHandle(self, self.comm.Iallreduce(MPI.IN_PLACE, wide),
                                 lambda: copy_into(array, wide), wide)
            return MpiHandle(self, self.comm.Iallreduce(MPI.IN_PLACE, array), None, array)
        finally:
            self.waiting = None

    def start_known(self, name: str, x: Array, sizes: Sequence[int]) -> Handle[Array]:
        """Start a collective whose calls are known to match: see Communicator.start_known()."""
        call = Call(name, self.size, x, sizes=None if name == "allgather" else sizes)
        rows = list(sizes) if name == "allgather" else [len(x)] * self.size
        self.entered, self.waiting, self.watch.latest = self.entered + 1, call, call
        if self.check:
            self.watch.latest_site = self._history.record(self.entered, call)
        try:
            handle = self._run(call, CallSummary([], rows, x.shape, x.dtype, 1), x, False)
        finally:
            self.waiting = None
        if recorders:
            handle.flight = Flight(name, x.nbytes, self.flight())
        return handle.then(lambda done: done.value()[0])

    def sum_in_place(self, arrays: Sequence[Array]) -> None:
        """The blocking Allreduce, which is faster than starting and waiting."""
        if is_half(vectors_of(arrays)[0].dtype):
            self.start_sum_in_place(arrays).wait()
            return
        blocked("sum_in_place", arrays, self.flight, self._sum_in_place, arrays[0])

    def _sum_in_place(self, array: Array) -> None:
        try:
            self.enter_sum(array)
            self.comm.Allreduce(MPI.IN_PLACE, array)
        finally:
            self.waiting = None

    def persistent_sum(self, size: int, dtype: DTypeLike) -> PersistentSum:
        """A PersistentSum; its vector is in memory shared by the ranks, if all are on one host."""
        return self._shared.vector(size, dtype) or PersistentSum(self, size, dtype)

    def duplicate(self) -> MpiComm:
        """A communicator of the same ranks with its own message context (MPI_Comm_dup). Collective."""
        self._blocked_exchange([Call("duplicate", self.size)])
        return MpiComm(self.comm)

    def _groups(self, groups: list[list[int]], group_numbers: list[int | None]) -> list[Any]:
        number = group_numbers[0]
        return [_from_raw(self.comm.Split(MPI.UNDEFINED if number is None else number,
                                       0 if number is None else groups[number].index(self.rank)))]

    def split_node(self) -> Any:
        """A communicator of the ranks that share memory with this one (MPI_Comm_split_type)."""
        return _from_raw(self.comm.Split_type(MPI.COMM_TYPE_SHARED, self.rank))

    @property
    def library(self) -> str:
        """The name and version of the MPI library."""
        return str(MPI.Get_library_version())

    @property
    def several_threads(self) -> bool:                      # type: ignore[override]
        """Whether threads of this process may call MPI at the same time."""
        return bool(MPI.Query_thread() == MPI.THREAD_MULTIPLE)

    def all_here(self, seconds: float) -> bool:
        """Whether all ranks call this within some seconds. Collective; if not, the communicator is not usable afterwards."""
        request, until = self.comm.Ibarrier(), time.monotonic() + seconds
        while not request.Test():
            if time.monotonic() > until:
                outlive_python(request)
                return False
            time.sleep(1e-4)
        return True

    def abort(self, message: str) -> None:
        """Print the message with this rank's number and end all ranks by MPI_Abort, with exit status 1."""
        sys.stderr.write(f"rank {self.rank} of {self.size}: {message}\n")
        sys.stderr.flush()
        self.comm.Abort(1)

    # --- for the watchdog, and in check mode --------------------------------------------------------------------------

    @property
    def sum_start_blocks(self) -> bool:                     # type: ignore[override]
        """In check mode ranks compare their calls when a sum starts."""
        return bool(self.check)

    def enter_sum(self, array: Array, compared: bool = False) -> None:
        """Enter an in-place sum. In check mode ranks compare their calls first, unless `compared` elsewhere."""
        obligations.before_waiting()
        if self.check and not compared:
            self._compare_calls(Call("sum_in_place", self.size, array))
        else:
            self.entered += 1
            self.waiting, self.watch.latest = array, "sum_in_place"
            if self.check:
                self.watch.latest_site = self._history.record(self.entered, Call("sum_in_place", self.size, array))


MpiComm.spec = staticmethod(lambda x: _spec(x))
METHODS = {
    "broadcast": MpiComm._broadcast, "reduce": MpiComm._reduce, "scatter": MpiComm._scatter, "gather": MpiComm._gather,
    "allreduce": MpiComm._allreduce, "allgather": MpiComm._allgather, "reduce_scatter": MpiComm._reduce_scatter,
    "alltoall": MpiComm._alltoall, "alltoall_sizes": MpiComm._allgather, "broadcast_object": MpiComm._broadcast,
    "allgather_object": MpiComm._allgather, "gather_object": MpiComm._gather, "scatter_object": MpiComm._scatter}
METHODS |= {"permute": MpiComm._permute_arrays, **dict.fromkeys(SCANS, MpiComm._scan)}


def _spec(x: Array) -> list[Any]:
    """x in the form that mpi4py uses without inspection; bfloat16, which the buffer protocol lacks, as 16-bit integers."""
    return [x.view(BITS) if x.dtype.kind == "V" else x, x.size, TYPES[x.dtype]]


def _from_raw(comm: Intracomm) -> MpiComm | None:
    """An MpiComm over a raw communicator created here, which is freed; None if this rank is no member."""
    if comm == MPI.COMM_NULL:
        return None
    group = MpiComm(comm)
    comm.Free()
    return group


def checked_intracomm(comm: Intracomm) -> Intracomm:
    """A user's communicator; TypeError unless it is an MPI.Intracomm with this rank in it."""
    if not isinstance(comm, MPI.Intracomm) or comm == MPI.COMM_NULL:
        raise TypeError(f"{comm!r} is no communicator of this rank: pass an MPI.Intracomm such as MPI.COMM_WORLD")
    return comm


def attached_communicator(comm: Intracomm) -> MpiComm:
    """The MpiComm of a user's communicator: created at the first call (collectively), attached to it, freed with it."""
    attached: Any = checked_intracomm(comm).Get_attr(_keyval())
    if attached is None or attached.freed:
        attached = MpiComm(comm)
        comm.Set_attr(_keyval(), attached)
    return cast(MpiComm, attached)


def is_world(comm: Intracomm) -> bool:
    """Whether comm is COMM_WORLD itself."""
    return isinstance(comm, MPI.Intracomm) and comm == MPI.COMM_WORLD


@functools.cache
def _keyval() -> int:
    """The MPI attribute key under which a user's communicator keeps its MpiComm."""
    return MPI.Comm.Create_keyval(delete_fn=lambda comm, keyval, attached: attached.free())


def mpi_size() -> int:
    """The number of ranks in COMM_WORLD."""
    return int(MPI.COMM_WORLD.size)
