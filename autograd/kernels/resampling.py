"""Linear maps along one dimension whose matrix is mostly zeros: sums over windows, and the interpolations of images.

An `Along` is the list of a matrix's entries (to, from, weight). It is applied tap by tap: the first entry of every row at
once, then the second, and so on, so the work is that of the entries, and zeros of the matrix never meet an inf or a nan.
Its transpose is the same list read the other way round.
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from math import floor
from typing import Any

import numpy as np

from .halves import converted
from .pooling import spans
from .windows import ALL, Array, Sizes, WindowGeometry, wide

LONG = 8                                             # taps of a window above which summing it by NumPy is faster


def progression(index: Array) -> Any:
    """An index as a slice, where it is one that goes up evenly."""
    if index.size == 0:
        return slice(0, 0)
    if index.size == 1:
        return slice(int(index[0]), int(index[0]) + 1)
    step = int(index[1] - index[0])
    if step < 1 or not (np.diff(index) == step).all():
        return index
    return slice(int(index[0]), int(index[-1]) + 1, step)


class Along:
    """A sparse matrix (rows, columns) for one dimension: entries to[i], origin[i], weight[i]; weight None: all 1."""

    def __init__(self, rows: int, columns: int, to: Array, origin: Array, weight: Array | None = None) -> None:
        self.rows: int = rows
        self.columns: int = columns
        self.to: Array = to
        self.origin: Array = origin
        self.weight: Array | None = weight

    @cached_property
    def transpose(self) -> Along:
        """The transposed matrix, which takes gradients back."""
        return Along(self.columns, self.rows, self.origin, self.to, self.weight)

    @cached_property
    def taps(self) -> list[tuple[Any, Any, Any]]:
        """(rows, columns, weights) of the first entries of all rows, of the second, ...; rows None: all of them."""
        order = np.argsort(self.to, kind="stable")
        to, origin = self.to[order], self.origin[order]
        rank = np.arange(to.size) - np.searchsorted(to, to)
        taps = []
        for number in range(int(rank.max()) + 1 if rank.size else 0):
            chosen = rank == number
            whole = int(chosen.sum()) == self.rows
            weight = None if self.weight is None else self.weight[order][chosen]
            taps.append((None if whole else progression(to[chosen]), progression(origin[chosen]), weight))
        return taps

    @cached_property
    def even(self) -> int:
        """How many neighbours each row sums up, if it is a plain sum and all have equally many; else 0."""
        length = self.columns // self.rows if self.rows else 0
        if self.weight is not None or not length or self.columns % self.rows or self.to.size != self.columns:
            return 0
        every = np.arange(self.columns)
        return length if (self.origin == every).all() and (self.to == every // length).all() else 0

    def __call__(self, x: Array, axis: int) -> Array:
        """The map of x along `axis`."""
        if self.even > LONG:
            return np.add.reduce(x.reshape(*x.shape[:axis], self.rows, self.even, *x.shape[axis + 1:]), axis + 1, x.dtype)
        if self.transpose.even:                       # 1: the map changes nothing
            return x if self.transpose.even == 1 else np.repeat(x, self.transpose.even, axis)
        before, after = (ALL,) * axis, (1,) * (x.ndim - axis - 1)
        out: Any = None
        for rows, columns, weight in self.taps:
            part = x[before + (columns,)] if isinstance(columns, slice) else x.take(columns, axis)
            if weight is not None:
                part = part * weight.astype(x.dtype).reshape(-1, *after)
            if out is None:
                if rows is None:
                    out = part.copy() if weight is None else part
                    continue
                out = np.zeros_like(x, shape=(*x.shape[:axis], self.rows, *x.shape[axis + 1:]))
            if rows is None:
                out += part
            else:
                out[before + (rows,)] += part
        return np.zeros((*x.shape[:axis], self.rows, *x.shape[axis + 1:]), x.dtype) if out is None else out


def resample(x: Array, maps: tuple[Along, ...]) -> Array:
    """x (n, c, *plane) with a map applied along each dimension of its plane, those first that make it smaller."""
    out = converted(x, wide(x.dtype), copy=False)
    order = sorted(range(len(maps)), key=lambda d: maps[d].rows / max(1, maps[d].columns))
    for d in order:
        out = maps[d](out, d + 2)
    return converted(out, x.dtype, copy=out is x)


def in_bytes(along: Along) -> tuple[Along, int]:
    """A map with its weights as integers of at most 15 bits, and how many bits of them are fraction."""
    weight = np.ones(along.to.size) if along.weight is None else along.weight
    top = float(weight.max())
    bits = 0
    while bits < 22 and int(0.5 + top * (1 << (bits + 1))) < 1 << 15:
        bits += 1
    scaled = np.trunc(weight * (1 << bits) + np.where(weight < 0, -0.5, 0.5))
    return Along(along.rows, along.columns, along.to, along.origin, scaled), bits


def resample_bytes(x: Array, maps: tuple[Along, ...]) -> Array:
    """resample for uint8 as image libraries do it: in integers, the last dimension first, rounded after each."""
    out = x.astype(np.int64)
    for d in reversed(range(len(maps))):
        if maps[d].rows != maps[d].columns:
            whole, bits = in_bytes(maps[d])
            out = np.clip((whole(out, d + 2) + (1 << (bits - 1))) >> bits, 0, 255)
    return out.astype(np.uint8)


# --- sums over windows -----------------------------------------------------------------------------------------------

@lru_cache(maxsize=256)
def window_sums(size: int, kernel: int, stride: int, before: int, out: int) -> Along:
    """The sum of what lies under each of `out` sliding windows."""
    columns = np.arange(out)[:, None] * stride - before + np.arange(kernel)
    inside = (columns >= 0) & (columns < size)
    return Along(out, size, np.nonzero(inside)[0], columns[inside])


@lru_cache(maxsize=256)
def span_sums(size: int, out: int) -> Along:
    """The sums over `out` spans that cover `size` evenly."""
    ((begin, end),) = spans((size,), (out,))
    to = np.repeat(np.arange(out), end - begin)
    first = np.repeat(np.cumsum(end - begin) - (end - begin), end - begin)
    return Along(out, size, to, np.arange(to.size) - first + np.repeat(begin, end - begin))


def outer(factors: list[Array]) -> Array:
    """The products of one number from each vector, as an array with a dimension for each."""
    product: Any = np.ones((), np.int64)
    for factor in factors:
        product = product[..., None] * factor
    return product


@lru_cache(maxsize=256)
def span_counts(plane: Sizes, outs: Sizes) -> Array:
    """How many elements each window of adaptive pooling has."""
    return constant(outer([end - begin for begin, end in spans(plane, outs)]))


def constant(array: Array) -> Array:
    """The array, which is cached and must not be written to."""
    array.flags.writeable = False
    return array


@lru_cache(maxsize=256)
def window_counts(plane: Sizes, geometry: WindowGeometry, padding: Sizes, with_padding: bool) -> Array:
    """How many elements each sliding window has, with padding or without; never what is beyond the padding."""
    counts = []
    for size, pad, kernel, stride, before, _, out in zip(plane, padding, *geometry, strict=True):
        begin = np.arange(out) * stride - before
        end = np.minimum(begin + kernel, size + pad)
        if not with_padding:
            begin, end = np.maximum(begin, 0), np.minimum(end, size)
        counts.append(end - begin)
    return constant(outer(counts))


# --- interpolation ---------------------------------------------------------------------------------------------------

def step_of(size: int, out: int, scale: float | None, corners: bool) -> float:
    """How far apart in the input two neighbours of the output are."""
    if corners:
        return (size - 1) / (out - 1) if out > 1 else 0.0
    return 1 / scale if scale is not None and scale > 0 else size / out


@lru_cache(maxsize=256)
def nearest(size: int, out: int, scale: float | None, centred: bool) -> Along:
    """Each output takes the input that its left edge lies in, or, `centred`, its centre."""
    step = np.float32(step_of(size, out, scale, False))
    index = np.floor((np.arange(out, dtype=np.float32) + np.float32(0.5 if centred else 0)) * step)
    return Along(out, size, np.arange(out), np.minimum(index.astype(np.int64), size - 1))


def positions(size: int, out: int, scale: float | None, corners: bool) -> Array:
    """Where in the input the outputs lie: pixels are areas, or with `corners` points from corner to corner."""
    step = step_of(size, out, scale, corners)
    return np.arange(out) * step if corners else (np.arange(out) + 0.5) * step - 0.5


@lru_cache(maxsize=256)
def linear(size: int, out: int, scale: float | None, corners: bool) -> Along:
    """Each output lies on the straight line between its two neighbours."""
    if size == out:
        return Along(out, size, np.arange(out), np.arange(out))
    place = np.maximum(positions(size, out, scale, corners), 0)
    low = np.minimum(place.astype(np.int64), size - 1)
    high = np.minimum(low + 1, size - 1)
    part = place - low
    to = np.arange(out)
    return Along(out, size, np.concatenate([to, to]), np.concatenate([low, high]), np.concatenate([1 - part, part]))


def cubic_weight(t: Array, a: float) -> Array:
    """Keys' cubic convolution kernel at distance t (Cubic convolution interpolation for image processing, 1981)."""
    t = np.abs(t)
    near = ((a + 2) * t - (a + 3)) * t * t + 1
    far = ((t - 5) * t + 8) * t * a - 4 * a
    return np.where(t <= 1, near, np.where(t < 2, far, 0.0))


@lru_cache(maxsize=256)
def cubic(size: int, out: int, scale: float | None, corners: bool) -> Along:
    """Each output lies on the cubic through its four neighbours (Keys, a = -3/4); the border repeats."""
    place = positions(size, out, scale, corners)
    low = np.floor(place).astype(np.int64)
    columns = low[:, None] + np.arange(-1, 3)
    weight = cubic_weight(columns - place[:, None], -0.75)
    return Along(out, size, np.repeat(np.arange(out), 4), np.clip(columns, 0, size - 1).reshape(-1), weight.reshape(-1))


@lru_cache(maxsize=256)
def smoothed(size: int, out: int, scale: float | None, corners: bool, mode: str) -> Along:
    """Interpolation with a kernel as wide as an output pixel where that is wider than an input pixel (antialiasing)."""
    step = step_of(size, out, scale, corners)
    wide_step = max(step, 1.0)
    reach = (1 if mode == "bilinear" else 2) * wide_step
    to, origin, weights = [], [], []
    for i in range(out):
        centre = step * (i + 0.5)
        begin, end = max(floor(centre - reach + 0.5), 0), min(floor(centre + reach + 0.5), size)
        columns = np.arange(begin, end)
        distance = (columns - centre + 0.5) / wide_step
        weight = np.maximum(1 - np.abs(distance), 0) if mode == "bilinear" else cubic_weight(distance, -0.5)
        to.append(np.full(columns.size, i))
        origin.append(columns)
        weights.append(weight / weight.sum())
    return Along(out, size, np.concatenate(to), np.concatenate(origin), np.concatenate(weights))
