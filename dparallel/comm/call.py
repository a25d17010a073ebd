"""What a place asks of a collective, and whether what all places ask fits together.

Every checked collective first lets all places see each other's Call (over MPI as one small header). All of them reach
the same verdict, so a mistake on one rank is the same clear error on every rank, never a hang.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np

DTYPES = [np.dtype(name) for name in (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "float32", "float64", "complex64", "complex128")]
CODES = {dtype: code for code, dtype in enumerate(DTYPES)}
NAMES = ["broadcast", "reduce", "scatter", "gather", "allreduce", "allgather", "reduce_scatter", "alltoall", "barrier",
         "rows", "alltoall_sizes"]
OPS = ["sum", "prod", "max", "min"]
REDUCTIONS = {"reduce", "allreduce", "reduce_scatter"}
JOINING = {"gather", "allgather", "alltoall"}
FROM_ROOT = {"broadcast", "scatter"}
MAX_DIMS = 8
MAX_COUNT = 2**31 - 1                               # Open MPI 5 implements MPI 3.1, whose counts are C ints
HEADER = 8 + MAX_DIMS


class CollectiveError(ValueError):
    """The places of a communicator do not ask for one and the same possible collective."""


class Call:
    """One place's part in a collective: which one, its settings, and the dtype and shape of its array."""

    __slots__ = ("dtype", "error", "name", "op", "root", "shape", "sizes_sum")

    def __init__(self, name: str, root: int = 0, op: str = "sum", x: Any = None, sizes: Any = None) -> None:
        self.name, self.root, self.op = name, root, op
        self.dtype = None if x is None else x.dtype
        self.shape: tuple[int, ...] = () if x is None else x.shape
        self.sizes_sum = 0 if sizes is None else checksum(sizes)
        self.error = self._problem(x)

    def _problem(self, x: Any) -> str:
        """What is wrong with this call taken alone."""
        if self.op not in OPS:
            return f"op {self.op!r} is not one of {', '.join(OPS)}"
        if x is None:
            return ""
        if x.dtype not in CODES:
            return f"arrays of dtype {x.dtype} can't be sent; numbers and bool can"
        if x.ndim > MAX_DIMS:
            return f"arrays have at most {MAX_DIMS} dimensions here, not {x.ndim}"
        if x.size > MAX_COUNT:
            return f"{x.size} elements are too many for one collective (at most {MAX_COUNT}); send pieces"
        if self.name in REDUCTIONS and x.dtype.kind == "c" and self.op in ("max", "min"):
            return f"complex numbers have no {self.op}"
        return ""

    def encode(self, row: Any) -> None:
        """Write the call into a row of HEADER integers."""
        row[:8] = (NAMES.index(self.name), self.root, OPS.index(self.op) if self.op in OPS else -1,
                   -1 if self.dtype is None else CODES.get(self.dtype, -2), len(self.shape), self.sizes_sum,
                   bool(self.error), 0)
        for i, n in enumerate(self.shape[:MAX_DIMS]):
            row[8 + i] = n

    @staticmethod
    def decode(row: Sequence[int]) -> Call:
        """The call that encode() wrote, without its error's text."""
        call = Call.__new__(Call)
        call.name, call.root, call.op = NAMES[row[0]], row[1], OPS[row[2]] if row[2] >= 0 else "?"
        call.dtype = DTYPES[row[3]] if row[3] >= 0 else None
        call.shape = tuple(row[8:8 + min(row[4], MAX_DIMS)])
        call.sizes_sum, call.error = row[5], "error" if row[6] else ""
        return call

    def __str__(self) -> str:
        what = f"{self.name}(root={self.root})" if self.name in FROM_ROOT | {"reduce", "gather"} else self.name
        if self.name in REDUCTIONS:
            what += f" of op {self.op}"
        if self.dtype is not None:
            what += f" with {self.dtype} {list(self.shape)}"
        return f"{what}: {self.error}" if self.error else what


def checksum(sizes: Any) -> int:
    """A number that differs for different sizes, never 0."""
    return zlib.crc32(np.asarray(sizes, np.int64).tobytes()) + 1


def part_less(call: Call) -> bool:
    """Whether a place holds no rows, shape (0,): that fits beside arrays of any shape."""
    return call.shape == (0,)


def verdict(calls: Sequence[Call]) -> str:
    """Why the calls of all places do not fit together; empty if they do."""
    first, size = calls[0], len(calls)
    for call in calls:
        if call.error:
            return "bad input"
        if call.name != first.name:
            return "the ranks call different collectives"
        if call.root != first.root:
            return "the ranks name different roots"
        if call.op != first.op:
            return "the ranks name different operations"
    if not 0 <= first.root < size:
        return f"root {first.root} is not one of the places 0 to {size - 1}"
    return _shapes_verdict(first.name, calls) or _sizes_verdict(calls)


def _shapes_verdict(name: str, calls: Sequence[Call]) -> str:
    first = calls[0]
    if name in REDUCTIONS:
        for call in calls:
            if call.dtype != first.dtype:
                return "the dtypes differ"
            if call.shape != first.shape:
                return "the shapes differ"
    if name in JOINING:
        full = [call for call in calls if not part_less(call)]
        for call in full:
            if call.dtype != full[0].dtype:
                return "the dtypes differ"
            if call.shape[1:] != full[0].shape[1:] or len(call.shape) != len(full[0].shape):
                return "the shapes differ beyond the first dimension"
    if name == "scatter" and not calls[first.root].shape:
        return "a 0-d array can't be scattered; reshape it to one row"
    if name in ("reduce_scatter", "alltoall") and not first.shape:
        return f"a 0-d array can't be cut for {name}; reshape it to one row"
    return ""


def _sizes_verdict(calls: Sequence[Call]) -> str:
    sums = {call.sizes_sum for call in calls if call.sizes_sum}
    return "the ranks pass different sizes" if len(sums) > 1 and calls[0].name in ("scatter", "reduce_scatter") else ""


def explain(reason: str, texts: Sequence[str]) -> CollectiveError:
    """The error that every place raises."""
    lines = "\n".join(f"  place {place}: {text}" for place, text in enumerate(texts))
    return CollectiveError(f"collective of {len(texts)} places refused, {reason}:\n{lines}")


def even_split(rows: int, size: int) -> list[int]:
    """rows over size places, as evenly as can be, the first ones one larger."""
    return [rows // size + (place < rows % size) for place in range(size)]


def sizes_problem(sizes: Any, rows: int, size: int) -> str:
    """Why `sizes` can't cut `rows` rows for `size` places; empty if they can."""
    if len(sizes) != size:
        return f"{len(sizes)} sizes {list(sizes)} for {size} places"
    if any(n < 0 for n in sizes):
        return f"negative sizes in {list(sizes)}"
    if sum(sizes) != rows:
        return f"sizes {list(sizes)} add up to {sum(sizes)}, the array has {rows} rows; pass one size per place"
    return ""
