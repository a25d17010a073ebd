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
from .loops import kernels_for, loop_for, loops
from .memory_format import in_rows
from .take_along import gather_along

SMALL = 256                          # elements up to which one call of argsort is faster
PLACE = 0xFFFFFFFF                   # a word's lower half
REST = np.int32(0x7FFFFFFF)
ZERO, INT64 = np.float32(0), np.dtype(np.int64)
MIDDLING = 1 << 16                   # elements from which words' memory costs more than calls of NumPy
SHORT = 32                           # elements of a row that a loop puts in order, one after the other
GONE = -2                            # the size of a dimension that results lack; loops leave it out, the rest keeps it as 1
FEW = 16                             # what is searched for one by one: of ascending numbers each is put in


def order(a: Array, dim: int, descending: bool = False) -> Array:
    """The places of an array's elements along dim in order; descending, equal ones stay in theirs, too."""
    sorted_rows = short(a, dim, 0, a.shape[dim], descending)
    if sorted_rows is not None:
        return sorted_rows[1]
    if a.size <= SMALL:
        return _stable(a, dim, descending)
    rows = across(a, dim)
    kernels = kernels_for(rows)
    if kernels is not None:
        return back(_places(_words(rows, descending, kernels)), a.ndim, dim)
    keys = integer_keys(rows)
    found = by_value(rows, descending) if keys is None else by_words(keys, np.arange(rows.shape[-1]), descending)
    return back(found, a.ndim, dim)


def ordered(a: Array, dim: int, descending: bool) -> tuple[Array, Array]:
    """The elements in order(), and their places."""
    found = short(a, dim, 0, a.shape[dim], descending)
    return with_values(a, order(a, dim, descending), dim) if found is None else found


def with_values(a: Array, places: Array, dim: int) -> tuple[Array, Array]:
    """The elements at these places along dim, and the places."""
    return gather_along(a, places, dim), places


def short(a: Array, dim: int, first: int, k: int, descending: bool = False, middle: int = 0) -> tuple[Array, Array] | None:
    """Elements first to first + k - 1 in order and their places, by the loop for short rows; None if it can't. k may be
    GONE; middle: see the loop."""
    kernels = loops.library
    if kernels is None or not 0 < a.shape[dim] <= SHORT or not k:
        return None
    loop, flip = kernels.ordered_of, -1 if descending else 0
    return loop(a, dim, k, first, flip, middle) or turned(loop, a, dim, k, first, flip, middle)


def turned(loop: Any, a: Array, dim: int, size: int, *settings: int) -> tuple[Array, Array] | None:
    """What a loop over rows, which has refused a itself, finds in a copy of its rows; None if it can't."""
    found = loop(across(a, dim), a.ndim - 1, size, *settings)
    return None if found is None else both_back(found[0], found[1], a, a.ndim - 1 if size == GONE else dim)


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


def both_back(values: Array, places: Array, a: Array, dim: int) -> tuple[Array, Array]:
    """What a loop has found in across(a, dim), as it lies in a, and of a's dtype."""
    return converted(back(values, a.ndim, dim), a.dtype, copy=False), back(places, a.ndim, dim)


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


def leading(a: Array, dim: int, k: int, largest: bool) -> tuple[Array, Array]:
    """The first k of order(a, dim, largest), values and places."""
    found = short(a, dim, 0, k, largest)
    if found is not None:
        return found
    n = a.shape[dim]
    if 0 < k <= min(n, FEW) and 4 * k <= n:
        rows = across(a, dim)
        loop, room = loop_for("leading", rows)
        if loop is not None:
            values, places = room(rows, k, False), room(rows, k, True)
            flip = -1 if largest else 0
            loop(rows, values, places, np.empty(k, INT64), rows.size // n, n, k, flip, 1.0 + 2.0 * flip)
            return both_back(values, places, a, dim)
    if a.size > SMALL and 0 < 4 * k <= n:
        places = _beyond(across(a, dim), k, largest)
        if places is not None:
            return with_values(a, back(places, a.ndim, dim), dim)
    return with_values(a, np.take(order(a, dim, largest), range(k), dim), dim)


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


def nth(a: Array, dim: int, k: int, size: int = 1) -> tuple[Array, Array]:
    """Element k of order(a, dim), and its place, with size 1 along dim, or GONE."""
    found = short(a, dim, k, size)
    if found is not None:
        return found
    if k < FEW and 4 * (k + 1) <= a.shape[dim]:
        last = (slice(None),) * dim + (slice(k, None),)
        values, places = leading(a, dim, k + 1, False)
        return np.ascontiguousarray(values[last]), np.ascontiguousarray(places[last])
    return with_values(a, _place(a, dim, k), dim)


def _place(a: Array, dim: int, k: int) -> Array:
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


def largest(a: Array, dim: int, size: int = 1) -> tuple[Array, Array]:
    """The first of the largest elements along dim, and its place, with size 1 along dim, or GONE; nan wins."""
    kernels = loops.library
    found = None if kernels is None else kernels.first_extremes_of(a, dim, size, 1.0)
    return with_values(a, a.argmax(dim, keepdims=True), dim) if found is None else found


def smallest(a: Array, dim: int, size: int = 1) -> tuple[Array, Array]:
    """The first of the smallest elements along dim, and its place, with size 1 along dim, or GONE; nan wins."""
    kernels = loops.library
    found = None if kernels is None else kernels.first_extremes_of(a, dim, size, -1.0)
    return with_values(a, a.argmin(dim, keepdims=True), dim) if found is None else found


def middle(a: Array, dim: int, skip_nan: bool, size: int = 1) -> tuple[Array, Array]:
    """The middle element along dim, the lower of two, and its place; the first nan if there is one, or the middle one of the
    others."""
    n = a.shape[dim]
    found = short(a, dim, 0, size, middle=2 if skip_nan else 1)
    if found is not None:
        return found
    nan = np.isnan(a) if a.dtype.kind in "fV" else None
    if nan is None or not nan.any():
        return nth(a, dim, (n - 1) // 2)
    nans = np.count_nonzero(nan, axis=dim, keepdims=True)
    at = np.maximum(n - nans - 1, 0) // 2 if skip_nan else np.where(nans, n - nans, (n - 1) // 2)
    return with_values(a, in_rows(np.take_along_axis(order(a, dim), at, dim)), dim)


def middle_of_all(a: Array, skip_nan: bool) -> Array:
    """The middle element of a vector, the lower of two, without dimensions; nan if there is one, or only if all are."""
    kernels = loops.library if a.size < MIDDLING else None
    found = None if kernels is None else kernels.middle_of_all_of(a, 0, -3, skip_nan)
    if found is not None:
        return found  # type: ignore[no-any-return]
    floating = a.dtype.kind in "fV"
    if floating and (skip_nan or np.isnan(a).any()):
        a = a[~np.isnan(a)] if skip_nan else a[:0]
    if not a.size:
        return np.array(np.nan if floating else np.iinfo(a.dtype).min, a.dtype)
    return np.asarray(_selected(a, (a.size - 1) // 2))


def _selected(a: Array, at: int) -> Any:
    """np.partition(a, at)[at] of a vector without nan. Of many elements a sample yields two limits, and most likely what is
    between them holds the place: a million take a quarter of the time."""
    if a.size >= MIDDLING:
        sample = np.sort(a[::a.size >> 12])
        place, reach = at * sample.size // a.size, 2 * int(sample.size ** 0.5)
        below = a < sample[max(place - reach, 0)]
        between = a[~below & (a <= sample[min(place + reach, sample.size - 1)])]
        rest = at - np.count_nonzero(below)
        if 0 <= rest < between.size:
            a, at = between, rest
    return np.partition(a, at)[at]


def mode(a: Array, dim: int, size: int = 1) -> tuple[Array, Array]:
    """The most frequent element along dim, the smallest of several, and its last place."""
    n = a.shape[dim]
    kernels = loops.library if n <= SHORT else None
    loop = kernels and kernels.most_frequent_of
    found = loop and (loop(a, dim, size) or turned(loop, a, dim, size))
    if found is not None:
        return found  # type: ignore[no-any-return]
    places = order(a, dim)
    values = np.moveaxis(np.take_along_axis(a, places, dim), dim, -1)
    new = np.ones(values.shape, bool)
    new[..., 1:] = values[..., 1:] != values[..., :-1]
    start = np.maximum.accumulate(np.where(new, np.arange(n), 0), axis=-1)
    best = np.argmax(np.arange(n) - start, axis=-1, keepdims=True)       # the first end of a longest run
    return with_values(a, np.take_along_axis(places, np.moveaxis(best, -1, dim), dim), dim)
