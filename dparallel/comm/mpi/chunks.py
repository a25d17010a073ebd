"""Collectives in rounds, for more elements than an MPI call can count (2**31 - 1, in C ints).

In each round every rank sends or receives at most its share of what one call can count. Counts are in elements; all arrays
are flat. `comm` is mpi4py's communicator, `kind` MPI's type of an element.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .mpi_types import Datatype, Intracomm

Array = np.ndarray[Any, Any]


def gather(comm: Intracomm, x: Array, out: Array, counts: Sequence[int], kind: Datatype, limit: int,
           root: int | None) -> None:
    """Concatenate all ranks' x in out, on root or (None) on all; counts[r] elements come from rank r."""
    starts = offsets(counts)
    for start, sizes in rounds(counts, limit, comm.size):
        sent = [x[start:start + sizes[comm.rank]], sizes[comm.rank], kind]
        if root is not None and comm.rank != root:
            comm.Gatherv(sent, None, root)
            continue
        received = np.empty(sum(sizes), x.dtype)
        if root is None:
            comm.Allgatherv(sent, [received, sizes, None, kind])
        else:
            comm.Gatherv(sent, [received, sizes, None, kind], root)
        _copy_parts(received, out, [first + start for first in starts], sizes)


def scatter(comm: Intracomm, x: Array, out: Array, counts: Sequence[int], kind: Datatype, limit: int, root: int) -> None:
    """Split root's x: counts[r] elements go to rank r; this rank's go into out."""
    starts = offsets(counts)
    for start, sizes in rounds(counts, limit, comm.size):
        sent = None
        if comm.rank == root:
            sent = [_concatenate(x, [first + start for first in starts], sizes), sizes, None, kind]
        comm.Scatterv(sent, [out[start:start + sizes[comm.rank]], sizes[comm.rank], kind], root)


def alltoall(comm: Intracomm, x: Array, out: Array, send: Sequence[int], receive: Sequence[int], kind: Datatype,
             limit: int) -> None:
    """send[r] elements of x go to rank r; receive[r] elements come from it, into out."""
    largest = np.array([max(send)], np.int64)
    largest_of_ranks = np.empty(comm.size, np.int64)
    comm.Allgather(largest, largest_of_ranks)
    step = max(1, limit // comm.size)
    for start in range(0, int(largest_of_ranks.max()), step):
        sent_counts, received_counts = ([min(step, max(0, n - start)) for n in counts] for counts in (send, receive))
        received = np.empty(sum(received_counts), x.dtype)
        comm.Alltoallv([_concatenate(x, [first + start for first in offsets(send)], sent_counts), sent_counts, None, kind],
                       [received, received_counts, None, kind])
        _copy_parts(received, out, [first + start for first in offsets(receive)], received_counts)


def rounds(counts: Sequence[int], limit: int, size: int) -> Iterator[tuple[int, list[int]]]:
    """For each round the number of elements of each part that were sent before, and the numbers sent now, by rank."""
    step = max(1, limit // size)
    for start in range(0, max(counts), step):
        yield start, [min(step, max(0, n - start)) for n in counts]


def offsets(counts: Sequence[int]) -> list[int]:
    """The offset of each rank's part."""
    return [sum(counts[:rank]) for rank in range(len(counts))]


def _concatenate(x: Array, starts: Sequence[int], sizes: Sequence[int]) -> Array:
    """The parts of x at these offsets in one array."""
    return np.concatenate([x[start:start + n] for start, n in zip(starts, sizes, strict=True)])


def _copy_parts(received: Array, out: Array, starts: Sequence[int], sizes: Sequence[int]) -> None:
    """Copy the parts of received to their offsets in out."""
    at = 0
    for start, n in zip(starts, sizes, strict=True):
        out[start:start + n] = received[at:at + n]
        at += n
