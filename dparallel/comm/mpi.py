"""Ranks as MPI processes. The only file that imports mpi4py; importing it starts MPI."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from mpi4py import MPI

from .base import Array, Communicator, Handle, even_split
from .call import HEADER, Call, explain, verdict

OPS = {"sum": MPI.SUM, "prod": MPI.PROD, "max": MPI.MAX, "min": MPI.MIN}
BOOL_OPS = {"sum": MPI.LOR, "prod": MPI.LAND, "max": MPI.LOR, "min": MPI.LAND}


class MpiComm(Communicator):
    """One rank of an MPI communicator, duplicated: our messages never meet the user's. Default: COMM_WORLD."""

    kind = "mpi"

    def __init__(self, comm: Any = None) -> None:
        self.comm = (MPI.COMM_WORLD if comm is None else comm).Dup()
        self.size = self.comm.size
        self.held = (self.comm.rank,)
        self._header = np.zeros(HEADER, np.int64)
        self._headers = np.zeros((self.size, HEADER), np.int64)
        self._flag, self._flags = np.zeros(1, np.int8), np.zeros(1, np.int8)

    def free(self) -> None:
        """Give the duplicated communicator back. Collective."""
        self.comm.Free()

    def _run(self, calls: list[Call], xs: Sequence[Array], sizes: Any) -> Handle:
        call = calls[0]
        call.encode(self._header)
        self.comm.Allgather(self._header, self._headers)
        everyone = [Call.decode(row) for row in self._headers.tolist()]
        reason = verdict(everyone)
        if reason:                                   # the same on all ranks, so all come here
            raise explain(reason, self.comm.allgather(str(call)))
        x = np.ascontiguousarray(xs[0]).reshape(np.shape(xs[0]))
        return getattr(self, "_" + call.name)(call, everyone, x, sizes)

    def _barrier(self, call: Call, everyone: list[Call], x: Array, sizes: Any) -> Handle:
        return Handle(lambda: None)                  # the exchange of headers was one

    def _broadcast(self, call: Call, everyone: list[Call], x: Array, sizes: Any) -> Handle:
        source = everyone[call.root]
        out = x.copy() if self.rank == call.root else np.empty(source.shape, source.dtype)
        return _handle(self.comm.Ibcast(wire(out), call.root), lambda: [out], out)

    def _reduce(self, call: Call, everyone: list[Call], x: Array, sizes: Any) -> Handle:
        sent, op = summed(x, call.op)
        out = np.empty_like(sent) if self.rank == call.root else None
        request = self.comm.Ireduce(sent, out, op, call.root)
        return _handle(request, lambda: np.empty(0, x.dtype) if out is None else out.astype(x.dtype, copy=False),
                       sent, out)

    def _allreduce(self, call: Call, everyone: list[Call], x: Array, sizes: Any) -> Handle:
        sent, op = summed(x, call.op)
        out = np.empty_like(sent)
        return _handle(self.comm.Iallreduce(sent, out, op), lambda: [out.astype(x.dtype, copy=False)], sent, out)

    def _scatter(self, call: Call, everyone: list[Call], x: Array, sizes: Any) -> Handle:
        source = everyone[call.root]
        counts = np.array(sizes if sizes is not None and self.rank == call.root
                          else even_split(source.shape[0], self.size), np.int64)
        if any(c.sizes_sum for c in everyone):
            self.comm.Bcast(counts, call.root)
        out = np.empty((int(counts[self.rank]), *source.shape[1:]), source.dtype)
        width = _width(source.shape)
        sent = [wire(x), (counts * width).tolist(), None, _type(source.dtype)] if self.rank == call.root else None
        return _handle(self.comm.Iscatterv(sent, wire(out), call.root), lambda: [out], x, out)

    def _joined(self, call: Call, everyone: list[Call]) -> tuple[list[int], Array, list[Any]]:
        """Counts of elements, the array for all rows, and how MPI receives into it."""
        full = next((c for c in everyone if c.shape != (0,)), everyone[0])
        rows = [c.shape[0] if c.shape else 1 for c in everyone]
        width = _width(full.shape)
        counts = [n * width for n in rows]
        out = np.empty((sum(rows), *full.shape[1:]), full.dtype)
        return counts, out, [wire(out), counts, None, _type(out.dtype)]

    def _gather(self, call: Call, everyone: list[Call], x: Array, sizes: Any) -> Handle:
        if self.rank != call.root:
            return _handle(self.comm.Igatherv(self._sent(x, everyone), None, call.root),
                           lambda: np.empty(0, x.dtype), x)
        _, out, received = self._joined(call, everyone)
        return _handle(self.comm.Igatherv(self._sent(x, everyone), received, call.root), lambda: out, x, out)

    def _allgather(self, call: Call, everyone: list[Call], x: Array, sizes: Any) -> Handle:
        _, out, received = self._joined(call, everyone)
        return _handle(self.comm.Iallgatherv(self._sent(x, everyone), received), lambda: [out], x, out)

    def _sent(self, x: Array, everyone: list[Call]) -> Any:
        """x as MPI sends it; a part-less place sends nothing, of the others' dtype."""
        full = next((c for c in everyone if c.shape != (0,)), everyone[0])
        return wire(x if x.shape != (0,) else np.empty(0, full.dtype))

    def _reduce_scatter(self, call: Call, everyone: list[Call], x: Array, sizes: Any) -> Handle:
        given = np.array(sizes if sizes is not None else even_split(len(x), self.size), np.int64)
        sums = [c.sizes_sum for c in everyone]
        if any(sums) and not all(sums):              # some ranks passed sizes: take the first one's
            self.comm.Bcast(given, next(rank for rank, s in enumerate(sums) if s))
        sent, op = summed(x, call.op)
        counts = (given * _width(x.shape)).tolist()
        out = np.empty((int(given[self.rank]), *x.shape[1:]), sent.dtype)
        return _handle(self.comm.Ireduce_scatter(sent, out, counts, op), lambda: [out.astype(x.dtype, copy=False)],
                       sent, out)

    def _alltoall(self, call: Call, everyone: list[Call], x: Array, sizes: Any) -> Handle:
        full = next((c for c in everyone if c.shape != (0,)), everyone[0])
        width = _width(full.shape)
        send = np.array(sizes[0], np.int64)
        receive = np.empty(self.size, np.int64)
        self.comm.Alltoall(send, receive)
        out = np.empty((int(receive.sum()), *full.shape[1:]), full.dtype)
        kind = _type(full.dtype)
        request = self.comm.Ialltoallv([self._sent(x, everyone), (send * width).tolist(), None, kind],
                                       [wire(out), (receive * width).tolist(), None, kind])
        return _handle(request, lambda: [out], x, out)

    def any(self, flag: bool) -> bool:
        """One allreduce of a byte."""
        self._flag[0] = flag
        self.comm.Allreduce(self._flag, self._flags, MPI.MAX)
        return bool(self._flags[0])

    def start_sum_in_place(self, arrays: Sequence[Array]) -> Handle:
        """Iallreduce in place; float16 by way of float32."""
        array = arrays[0]
        if array.dtype == np.float16:
            wide = array.astype(np.float32)
            return _handle(self.comm.Iallreduce(MPI.IN_PLACE, wide), lambda: np.copyto(array, wide, casting="same_kind"),
                           wide)
        return _handle(self.comm.Iallreduce(MPI.IN_PLACE, array), lambda: None, array)

    def sum_in_place(self, arrays: Sequence[Array]) -> None:
        """The blocking allreduce, which MPI does faster than starting and waiting."""
        if arrays[0].dtype == np.float16:
            self.start_sum_in_place(arrays).wait()
        else:
            self.comm.Allreduce(MPI.IN_PLACE, arrays[0])

    def allgather_object(self, objects: Sequence[Any]) -> list[Any]:
        """mpi4py's allgather, which pickles."""
        return self.comm.allgather(objects[0])

    def broadcast_object(self, obj: Any, root: int = 0) -> Any:
        """mpi4py's bcast, which pickles."""
        return self.comm.bcast(obj, root)

    def duplicate(self) -> MpiComm:
        """MPI_Comm_dup."""
        return MpiComm(self.comm)

    def abort(self, message: str) -> None:
        """MPI_Abort."""
        sys.stderr.write(f"rank {self.rank} of {self.size}: {message}\n")
        sys.stderr.flush()
        self.comm.Abort(1)


def wire(x: Array) -> Array:
    """x as MPI can carry it: half floats travel as 16-bit integers."""
    return x.view(np.uint16) if x.dtype == np.float16 else x


def summed(x: Array, op: str) -> tuple[Array, Any]:
    """x and the operation as MPI can reduce them: half floats in float32, booleans logically."""
    if x.dtype == np.float16:
        return x.astype(np.float32), OPS[op]
    return x, (BOOL_OPS if x.dtype == np.bool_ else OPS)[op]


def _width(shape: tuple[int, ...]) -> int:
    """Elements in one row."""
    width = 1
    for n in shape[1:]:
        width *= n
    return width


def _type(dtype: Any) -> Any:
    """MPI's name for a dtype."""
    return MPI._typedict[np.dtype(np.uint16 if dtype == np.float16 else dtype).char]


def _handle(request: Any, finish: Callable[[], Any], *buffers: Any) -> Handle:
    """A Handle over an MPI request, which keeps the buffers alive."""

    def wait() -> Any:
        request.Wait()
        del kept[:]
        return finish()

    kept = list(buffers)
    return Handle(wait, request.Test)


def mpi_size() -> int:
    """The number of ranks that MPI knows of."""
    return MPI.COMM_WORLD.size
