"""Allreduce and reduce-scatter of arrays sent in a narrower encoding: float16, bfloat16 or int8.

Each rank gets one part of every rank's encoded array (alltoall), sums the parts in float32, where they do not overflow, and
sends the encoded sum to all (allgather). All ranks decode the same data, so the result is bitwise the same.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autograd.kernels.halves import UINT16, converted
from autograd.kernels.loops import kernels_for

from ..comm import Communicator, Handle, even_split

Array = np.ndarray[Any, Any]


class Codec(ABC):
    """An encoding of arrays of floats in fewer bytes."""

    @abstractmethod
    def encode(self, x: Array) -> Array:
        """A vector -> rows of a dtype that communicators can send. The array can be split between any two rows."""

    @abstractmethod
    def decode(self, rows: Array) -> Array:
        """Rows -> a float32 vector, padded at its end if a row has several elements."""


class Float16(Codec):
    """float16: 11 bits of precision; numbers above 65504 become infinite."""

    def encode(self, x: Array) -> Array:
        """x rounded to float16."""
        return converted(x, np.float16)

    def decode(self, rows: Array) -> Array:
        """The float16 numbers in float32."""
        return converted(rows, np.float32)


class BFloat16(Codec):
    """bfloat16, the upper 16 bits of float32: the same range, 8 bits of precision, rounded to nearest, ties to even."""

    def encode(self, x: Array) -> Array:
        """x as the bits of bfloat16, rounded to nearest. A nan keeps a bit, or it would become infinite."""
        with np.errstate(over="ignore"):
            x = converted(x, np.float32, copy=False)
        kernels = kernels_for(x)
        if kernels is not None:
            out = np.empty(x.shape, np.uint16)
            kernels.to_bfloat16(x, out, x.size)
            return out
        bits = x.view(np.uint32)
        rounded = (bits + (np.uint32(0x7FFF) + ((bits >> 16) & 1))) >> 16
        return np.where(np.isnan(x), np.uint32(0x7FC0), rounded).astype(np.uint16)

    def decode(self, rows: Array) -> Array:
        """The bfloat16 numbers in float32."""
        kernels = kernels_for(rows, dtype=UINT16)
        if kernels is not None:
            out = np.empty(rows.shape, np.float32)
            kernels.from_bfloat16(rows, out, rows.size)
            return out
        return (rows.astype(np.uint32) << 16).view(np.float32)


class Int8(Codec):
    """Chunks of `chunk` elements, each as a float32 scale and integers from -127 to 127, whose product approximates x."""

    def __init__(self, chunk: int) -> None:
        self.chunk = chunk

    def encode(self, x: Array) -> Array:
        """x as (chunks, 4 + chunk) bytes. A nan or infinity makes its whole chunk nan."""
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


def start_reduce_scatter_encoded(start_alltoall: Callable[[Array, Sequence[int]], Handle], comm: Communicator, x: Array,
                                 sizes: Sequence[int], codec: Codec) -> Handle:
    """Start a reduce-scatter of one vector per rank; the handle's value is this rank's sizes[rank] elements of the sum.
    start_alltoall(vector, sizes) sends sizes[r] elements to rank r."""
    def sum_parts(handle: Handle) -> Array:
        return converted(_sum_decoded(handle.value().reshape(comm.size, sizes[comm.rank]), codec), x.dtype, copy=False)

    return start_alltoall(codec.encode(x), sizes).then(sum_parts)


def _sum_decoded(parts: Array, codec: Codec) -> Array:
    """The sum of encoded parts in float32, in rank order."""
    total = codec.decode(parts[0])
    for part in parts[1:]:
        total += codec.decode(part)
    return total


def start_allreduce_encoded(comm: Communicator, x: Array, codec: Codec,
                            on_error: Callable[[int, Array], None] | None = None) -> Handle:
    """Start an allreduce of one vector of each rank. The handle's value is the sum, bitwise the same on all ranks.

    on_error(start, error) gets the errors of this rank's encodings: of x (start 0), then of its part of the sum (at its
    offset).
    """
    size, rank = comm.size, comm.rank
    if not x.size:
        return Handle(None, value=x)
    rows = codec.encode(x)
    counts = even_split(len(rows), size)
    if on_error is not None:
        on_error(0, x - codec.decode(rows)[:x.size])

    def sum_parts(handle: Handle) -> Handle:
        parts = handle.value()[0].reshape(size, counts[rank], *rows.shape[1:])
        total = _sum_decoded(parts, codec)
        encoded_total = codec.encode(total)
        if on_error is not None:
            start = sum(counts[:rank]) * (codec.decode(rows[:1]).size)
            on_error(start, (total - codec.decode(encoded_total))[:max(x.size - start, 0)])
        return comm.start_allgather([encoded_total]).then(lambda gathered: codec.decode(gathered.value()[0])[:x.size])

    return comm.start_alltoall([rows], [counts]).then(sum_parts)
