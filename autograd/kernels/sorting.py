"""Where the elements of rows stand in order: by value, nan the largest, equal ones by place.

A number of 32 bits and its place make a word of 64. No two words are equal, so any sort of them is stable, and NumPy sorts
whole numbers in vectors: a million take 10 ms, its stable argsort of floats 105. Of a few elements, or of one, a partition
of the values tells the threshold, and where that is reached once it tells the places.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base.types import Array
from .blocks import empty
from .halves import converted
from .loops import kernels_for

SMALL = 256                          # elements up to which one call of argsort is faster
PLACE = 0xFFFFFFFF                   # a word's lower half
REST = np.int32(0x7FFFFFFF)
ZERO, INT64 = np.float32(0), np.dtype(np.int64)
MIDDLING = 1 << 16                   # elements from which words' memory costs more than calls of NumPy
FEW = 16                             # what is searched for one by one: of ascending numbers each is put in


def order(a: Array, dim: int, descending: bool = False) -> Array:
    """The places of an array's elements along dim in order; descending, equal ones stay in theirs, too."""
    if a.size <= SMALL:
        return _stable(a, dim, descending)
    rows = across(a, dim)
    kernels = kernels_for(rows)
    if kernels is not None:
        return back(_places(_words(rows, descending, kernels)), a.ndim, dim)
    keys = integer_keys(rows)
    found = by_value(rows, descending) if keys is None else by_words(keys, np.arange(rows.shape[-1]), descending)
    return back(found, a.ndim, dim)


def _words(rows: Array, descending: bool, kernels: Any) -> Array:
    words = empty(rows.shape, INT64)
    kernels.words(rows, words, rows.size // rows.shape[-1], rows.shape[-1], -int(descending))
    return words  # type: ignore[no-any-return]


def _stable(a: Array, dim: int, descending: bool) -> Array:
    if not descending:
        return np.argsort(a, axis=dim, kind="stable")
    found = np.argsort(np.flip(a, dim), axis=dim, kind="stable")
    return np.flip(a.shape[dim] - 1 - found, dim)


def across(a: Array, dim: int) -> Array:
    """The array with dim last, its rows together in memory; of numbers that NumPy can sort."""
    rows = a if dim == a.ndim - 1 else a.transpose(*[d for d in range(a.ndim) if d != dim], dim)
    if a.dtype.itemsize == 2 and a.dtype.kind in "fV":
        return np.ascontiguousarray(converted(rows, np.float32))     # exact
    return rows if rows.flags.c_contiguous else np.ascontiguousarray(rows)


def back(places: Array, ndim: int, dim: int) -> Array:
    """The last dimension back at dim, in C order."""
    if dim == ndim - 1:
        return places
    return np.ascontiguousarray(places.transpose(*range(dim), ndim - 1, *range(dim, ndim - 1)))


def integer_keys(rows: Array) -> Array | None:
    """New whole numbers of 32 bits in the same order; None if there are more values than that."""
    kind, size = rows.dtype.kind, rows.dtype.itemsize
    if kind == "f" and size == 4:
        keys = (rows + ZERO).view(np.int32)          # -0 becomes 0
        nan = np.isnan(rows)
        if nan.any():
            keys[nan] = REST                         # one like the other
        keys ^= (keys >> 31) & REST                  # the larger a negative number's bits, the smaller it is
        return keys
    if kind == "b" or (kind in "iu" and (size < 4 or (size == 4 and kind == "i"))):
        return rows.astype(np.int32)
    if kind not in "iu" or not rows.size:
        return None
    low = int(rows.min())
    return (rows - rows.dtype.type(low)).astype(np.int32) if int(rows.max()) - low <= REST else None


def by_words(keys: Array, places: Array, descending: bool) -> Array:
    """The places of whole numbers of 32 bits, which are overwritten, in order."""
    if descending:
        np.invert(keys, out=keys)
    words = empty(keys.shape, INT64)
    np.copyto(words, keys)
    words <<= 32
    words |= places
    return _places(words)


def _places(words: Array) -> Array:
    words.sort(axis=-1)
    words &= PLACE
    return words


def by_value(rows: Array, descending: bool) -> Array:
    """The places in order of numbers of 64 bits: NumPy's unstable sort, after which equal ones, if any, are put right."""
    found = np.argsort(rows, axis=-1)
    ordered = np.take_along_axis(rows, found, -1)
    former = ordered[..., :-1]
    same = (former == ordered[..., 1:]) | (former != former)         # all that follows a nan is nan
    if not same.any():
        return np.ascontiguousarray(found[..., ::-1]) if descending else found
    ranks = np.zeros(rows.shape, np.int32)
    np.cumsum(~same, axis=-1, dtype=np.int32, out=ranks[..., 1:])
    return by_words(ranks, found, descending)


def leading(a: Array, dim: int, k: int, largest: bool) -> Array:
    """The first k of order(a, dim, largest)."""
    n = a.shape[dim]
    if 0 < k <= n and (a.size <= SMALL or 4 * k <= n):
        rows = across(a, dim)
        kernels = kernels_for(rows) if k <= FEW else None
        if kernels is not None:
            out = np.empty((*rows.shape[:-1], k), np.int64)
            kernels.leading(rows, out, np.empty(k, np.int64), rows.size // n, n, k, -int(largest))
            return back(out, a.ndim, dim)
    if a.size > SMALL and 0 < 4 * k <= n:
        found = _beyond(rows, k, largest)
        if found is not None:
            return back(found, a.ndim, dim)
    return np.take(order(a, dim, largest), range(k), dim)


def _beyond(rows: Array, k: int, largest: bool) -> Array | None:
    """leading() if exactly k elements of each row reach the k-th; else None: equal ones at the threshold, or nan."""
    n = rows.shape[-1]
    at = n - k if largest else k - 1
    threshold = np.partition(rows, at, axis=-1)[..., at:at + 1]
    places = np.flatnonzero(rows >= threshold if largest else rows <= threshold)
    count = rows.size // n
    if len(places) != count * k:
        return None
    values = rows.reshape(-1)[places].reshape(count, k)
    inside = places.reshape(count, k)
    inside -= np.arange(0, rows.size, n)[:, None]
    if inside.min() < 0 or inside.max() >= n:        # one row has too many, another too few
        return None
    return np.take_along_axis(inside, order(values, 1, largest), 1).reshape(*rows.shape[:-1], k)


def nth(a: Array, dim: int, k: int) -> Array:
    """order(a, dim)[k], with size 1 along dim."""
    rows = across(a, dim) if a.size else a
    kernels = kernels_for(rows) if rows.size < MIDDLING else None
    if kernels is None and a.size <= SMALL:
        return np.take(order(a, dim), [k], dim)
    if kernels is not None:
        words = np.partition(_words(rows, False, kernels), k, axis=-1)
        return back(words[..., k:k + 1] & PLACE, a.ndim, dim)
    value = np.partition(rows, k, axis=-1)[..., k:k + 1]
    same, before = rows == value, np.count_nonzero(rows < value, axis=-1, keepdims=True)
    if not same.any(-1).all():                       # nan
        return np.take(order(a, dim), [k], dim)
    if (before != k).any():                          # equal ones before it
        same = np.cumsum(same, axis=-1) > k - before
    return back(same.argmax(-1, keepdims=True), a.ndim, dim)
