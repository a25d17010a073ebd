"""The mean over ranks of arrays that travel in a narrower form.

Each rank gets one piece of everybody's encoded array, adds the pieces up in float32 (a sum in the narrow form would
overflow, or round at every step) and sends the encoded result to all: the two halves of a ring allreduce, at the narrow
form's size. What is decoded is the same on all ranks, so the result is bitwise the same.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autograd.kernels.halves import converted
from autograd.kernels.numba import kernels_for

from ..comm import Handle, even_split

Array = np.ndarray[Any, Any]


class Codec(ABC):
    """A narrower form of arrays of floats."""

    @abstractmethod
    def encode(self, x: Array) -> Array:
        """A vector -> rows, which can be cut between any two, of a dtype that communicators take."""

    @abstractmethod
    def decode(self, rows: Array) -> Array:
        """Rows -> a float32 vector, with padding at its end if rows stand for several elements each."""


class Float16(Codec):
    """Half precision: 11 bits of precision, up to 65504; what is larger becomes infinite."""

    def encode(self, x: Array) -> Array:
        """x rounded to float16."""
        return converted(x, np.float16)

    def decode(self, rows: Array) -> Array:
        """The float16 numbers in float32."""
        return converted(rows, np.float32)


class BFloat16(Codec):
    """The upper half of float32: its range, 8 bits of precision; rounded to nearest, ties to even."""

    def encode(self, x: Array) -> Array:
        """Adding half of what is cut off carries into what stays; a nan keeps one bit, lest it become infinite."""
        with np.errstate(over="ignore"):
            x = x.astype(np.float32, copy=False)
        kernels = kernels_for(x)
        if kernels is not None:
            out = np.empty(x.shape, np.uint16)
            kernels.to_bfloat16(x, out, x.size)
            return out
        bits = x.view(np.uint32)
        rounded = (bits + (np.uint32(0x7FFF) + ((bits >> 16) & 1))) >> 16
        return np.where(np.isnan(x), np.uint32(0x7FC0), rounded).astype(np.uint16)

    def decode(self, rows: Array) -> Array:
        """The same numbers."""
        return (rows.astype(np.uint32) << 16).view(np.float32)


class Int8(Codec):
    """Chunks of `chunk` elements, each as one float32 scale and integers from -127 to 127: x is about scale * integer."""

    def __init__(self, chunk: int) -> None:
        self.chunk = chunk

    def encode(self, x: Array) -> Array:
        """(chunks, 4 + chunk) bytes. A nan or infinity makes its whole chunk nan."""
        rows = np.zeros((-(-x.size // self.chunk), self.chunk), np.float32)
        with np.errstate(over="ignore"):
            rows.reshape(-1)[:x.size] = x
        largest = np.abs(rows).max(1, keepdims=True)
        scale = np.where(np.isfinite(largest), np.maximum(largest / 127, np.finfo(np.float32).tiny), np.nan)
        with np.errstate(invalid="ignore"):
            whole = np.rint(np.nan_to_num(rows / scale)).clip(-127, 127).astype(np.int8)
        return np.concatenate([scale.astype(np.float32).view(np.uint8), whole.view(np.uint8)], axis=1)

    def decode(self, rows: Array) -> Array:
        """scale * integer, chunk by chunk."""
        rows = rows.reshape(-1, 4 + self.chunk)
        scale = np.ascontiguousarray(rows[:, :4]).view(np.float32)
        return (np.ascontiguousarray(rows[:, 4:]).view(np.int8) * scale).reshape(-1)


def start_encoded_piece(comm: Any, x: Array, sizes: Sequence[int], codec: Codec) -> Handle:
    """The sum over ranks of one vector of each, cut in pieces, under way: the handle's value is this rank's piece, of
    sizes[rank] elements and x's dtype. codec: one whose rows are elements."""
    def add_up(handle: Handle) -> Array:
        return _added(handle.value()[0].reshape(comm.size, sizes[comm.rank]), codec).astype(x.dtype, copy=False)

    return comm.start_alltoall([codec.encode(x)], [list(sizes)]).then(add_up)


def _added(pieces: Array, codec: Codec) -> Array:
    """The encoded pieces of all ranks, decoded and added up in float32."""
    total = codec.decode(pieces[0])
    for piece in pieces[1:]:
        total += codec.decode(piece)
    return total


def start_encoded_sum(comm: Any, x: Array, codec: Codec, lost: Callable[[int, Array], None] | None = None) -> Handle:
    """The sum over ranks of one vector of each, under way: the handle's value is a vector, bitwise the same everywhere.

    lost(start, error) is told what this rank's encoding has taken off: off all of x (start 0), then off the sum of the
    piece that this rank adds up.
    """
    size, rank = comm.size, comm.rank
    if not x.size:
        return Handle(None, value=x)
    rows = codec.encode(x)
    cuts = even_split(len(rows), size)
    if lost is not None:
        lost(0, x - codec.decode(rows)[:x.size])

    def add_up(handle: Handle) -> Handle:
        pieces = handle.value()[0].reshape(size, cuts[rank], *rows.shape[1:])
        total = _added(pieces, codec)
        mine = codec.encode(total)
        if lost is not None:
            start = sum(cuts[:rank]) * (codec.decode(rows[:1]).size)
            lost(start, (total - codec.decode(mine))[:max(x.size - start, 0)])
        return comm.start_allgather([mine]).then(lambda gathered: codec.decode(gathered.value()[0])[:x.size])

    return comm.start_alltoall([rows], [cuts]).then(add_up)
