"""The largest element under each window, and where it stands: windows that geometry, and windows of any size and place.

A maximum over a window is taken along one dimension after the other, the last first, so that of equal elements the first
in memory wins. Which element won is a small integer, found by the same vector arithmetic as the maximum itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from itertools import product
from math import prod
from typing import Any

import numpy as np

from .halves import converted
from .windows import ALL, Array, Sizes, WindowGeometry, padded, wide


def pooled_size(size: int, kernel: int, stride: int, padding: int, dilation: int, ceil: bool) -> int:
    """How many windows fit; with `ceil` a last one may hang over, if it starts inside the input or its left padding."""
    room = size + 2 * padding - dilation * (kernel - 1) - 1
    count = (-(-room // stride) if ceil else room // stride) + 1
    if ceil and (count - 1) * stride >= size + padding:
        count -= 1
    return count


def lowest(dtype: np.dtype[Any]) -> Any:
    """What loses against every number of dtype."""
    return -np.inf if dtype.kind == "f" else np.iinfo(dtype).min


def winner(views: Iterable[tuple[Array, Any]], dtype: np.dtype[Any]) -> tuple[Array, Array]:
    """The elementwise maximum of views, and the code of the first that holds it. Codes, numbers or arrays, go up from 0."""
    best: Any = None
    for view, code in views:
        if best is None:
            best = view.copy()
            codes = np.zeros(best.shape, dtype)
            codes += code
        else:
            better = np.greater(view, best)
            better = better.view(dtype) if dtype == np.uint8 else better.astype(dtype)
            better *= code
            np.maximum(codes, better, out=codes)                 # codes go up: a later winner's is the larger
            np.maximum(best, view, out=best)
    return best, codes


def winners(x: Array, geometry: WindowGeometry) -> tuple[Array, Array]:
    """The maximum under each window of padded x, and the number of its place in the kernel."""
    count = prod(geometry.kernel)
    dtype = np.dtype(np.uint8 if count <= 255 else np.int64)
    if count <= 4:                                    # one pass over few views beats several over fewer
        return winner(((x[place], dtype.type(i)) for i, place in enumerate(geometry.places())), dtype)
    codes: Any = None
    step = 1
    for d in reversed(range(len(geometry.kernel))):
        index = [(*(ALL,) * (d + 2), place) for place in geometry.along(d)]
        numbers = [dtype.type(i * step) for i in range(len(index))]
        x, codes = winner(((x[i], n if codes is None else codes[i] + n) for i, n in zip(index, numbers, strict=True)), dtype)
        step *= geometry.kernel[d]
    return x, codes


def max_windows(x: Array, geometry: WindowGeometry) -> tuple[Array, Array]:
    """The largest element under each window of x (n, c, *plane), and its place in the flat plane.

    Of equal ones the first is taken, of several nan the last; padding never wins.
    """
    plane = x.shape[2:]
    if not x.size or not prod(geometry.out):
        return np.empty((*x.shape[:2], *geometry.out), x.dtype), np.empty((*x.shape[:2], *geometry.out), np.int64)
    least = lowest(x.dtype)
    room = padded(converted(x, wide(x.dtype), copy=False), geometry, least)
    best, codes = winners(room, geometry)
    if (room is not x and (best == least).any()) or (best != best).any():
        best, places = max_spans(x, tables(geometry, plane))
        return np.where(beyond(geometry, plane), np.asarray(least, x.dtype), best), places
    return converted(best, x.dtype, copy=False), decoded(codes, geometry, plane)


def decoded(codes: Array, geometry: WindowGeometry, plane: Sizes) -> Array:
    """Places in the flat plane from those in the kernel, under each window."""
    begin, offsets = numbering(geometry, plane)
    places = offsets.take(codes)
    places += begin
    return places


@lru_cache(maxsize=256)
def numbering(geometry: WindowGeometry, plane: Sizes) -> tuple[Array, Array]:
    """Where each window begins in the flat plane, and how far from there each place of the kernel is."""
    begin, offsets = np.zeros((), np.int64), np.zeros((), np.int64)
    for d, (kernel, stride, before, dilation, out) in enumerate(zip(*geometry, strict=True)):
        step = prod(plane[d + 1:])
        begin = begin[..., None] + (np.arange(out) * stride - before) * step
        offsets = offsets[..., None] + np.arange(kernel) * (dilation * step)
    return begin, offsets.reshape(-1)


def tables(geometry: WindowGeometry, plane: Sizes) -> list[Array]:
    """For each dimension, (kernel, out): the elements under each window; what is padding is its nearest element again."""
    found = []
    for kernel, stride, before, dilation, out, size in zip(*geometry, plane, strict=True):
        first = np.arange(out) * stride - before
        low = np.maximum(0, -(first // dilation))                # the first place of the kernel that is not padding
        high = np.minimum(kernel - 1, (size - 1 - first) // dilation)
        index = first + np.clip(np.arange(kernel)[:, None], low, np.maximum(low, high)) * dilation
        found.append(np.clip(index, 0, size - 1))
    return found


def beyond(geometry: WindowGeometry, plane: Sizes) -> Array:
    """Which windows hold nothing but padding."""
    empty = np.zeros(geometry.out, bool)
    for d, (kernel, stride, before, dilation, out, size) in enumerate(zip(*geometry, plane, strict=True)):
        index = np.arange(out) * stride - before + np.arange(kernel)[:, None] * dilation
        none = ~((index >= 0) & (index < size)).any(0)
        empty |= none.reshape(-1, *(1,) * (len(plane) - 1 - d))
    return empty


def spans(sizes: Sizes, outs: Sizes) -> list[tuple[Array, Array]]:
    """For each dimension the beginnings and ends of `out` windows that cover `size` as evenly as they can."""
    return [(np.arange(o) * n // o, -(-np.arange(1, o + 1) * n // o)) for n, o in zip(sizes, outs, strict=True)]


def adaptive_tables(plane: Sizes, outs: Sizes) -> list[Array]:
    """The elements under each window of adaptive pooling, as `tables` gives them."""
    found = []
    for begin, end in spans(plane, outs):
        longest = int((end - begin).max()) if begin.size else 1
        found.append(np.minimum(begin + np.arange(longest)[:, None], end - 1))
    return found


def max_spans(x: Array, under: list[Array]) -> tuple[Array, Array]:
    """max_windows for windows given by tables (places, out) of what they hold along each dimension, in rising order."""
    outs = [t.shape[1] for t in under]
    if not x.size or not prod(outs):
        return np.empty((*x.shape[:2], *outs), x.dtype), np.empty((*x.shape[:2], *outs), np.int64)
    plane = x.shape[2:]
    places: Any = None
    for d in reversed(range(len(plane))):
        step = prod(plane[d + 1:])
        column = (-1, *(1,) * (len(plane) - 1 - d))
        best: Any = None
        for row in under[d]:
            value = x.take(row, d + 2)
            place = (row * step).reshape(column) + (0 if places is None else places.take(row, d + 2))
            if best is None:
                best, at = value, np.broadcast_to(place, value.shape)
            else:
                better = (value > best) | (value != value)
                best, at = np.where(better, value, best), np.where(better, place, at)
        x, places = best, at
    return x, places


def max_scattered(x: Array, starts: list[Array], kernel: Sizes) -> tuple[Array, Array]:
    """max_windows for windows of one size that begin at starts[d] (n, c, out), different in every plane."""
    n, c, *plane = x.shape
    flat = x.reshape(n * c, prod(plane))
    corner = np.zeros((n * c,), np.int64)
    for d, start in enumerate(starts):
        corner = corner[..., None] + (start.reshape(n * c, *(1,) * d, start.shape[-1]) * prod(plane[d + 1:]))
    shape = (n, c, *corner.shape[1:])
    corner = corner.reshape(n * c, prod(shape[2:]))
    best: Any = None
    for place in product(*map(range, kernel)):
        here = corner + sum(p * prod(plane[d + 1:]) for d, p in enumerate(place))
        value = np.take_along_axis(flat, here, 1)
        if best is None:
            best, at = value, here
        else:
            better = (value > best) | (value != value)
            best, at = np.where(better, value, best), np.where(better, here, at)
    return best.reshape(shape), at.reshape(shape)


def flat_places(places: Array, size: int) -> Array:
    """Places in planes of `size` (n, c, ...) as places in all of memory, one vector."""
    n, c = places.shape[:2]
    begin = np.arange(n * c) * size
    return (places.reshape(n * c, prod(places.shape[2:])) + begin[:, None]).reshape(-1)


def take_places(x: Array, places: Array) -> Array:
    """The elements of x (n, c, *plane) at places (n, c, ...) in each flat plane."""
    if not places.size:
        return np.empty(places.shape, x.dtype)
    return x.reshape(-1).take(flat_places(places, prod(x.shape[2:]))).reshape(places.shape)


def add_places(g: Array, places: Array, plane: Sizes) -> Array:
    """Zeros (n, c, *plane) with g (n, c, ...) added at places in each flat plane: the adjoint of take_places."""
    n, c = places.shape[:2]
    out = np.zeros(n * c * prod(plane), wide(g.dtype))
    if g.size:
        np.add.at(out, flat_places(places, prod(plane)), converted(g.reshape(-1), out.dtype, copy=False))
    return converted(out.reshape(n, c, *plane), g.dtype, copy=False)


def put_places(x: Array, places: Array, plane: Sizes) -> Array:
    """Zeros (n, c, *plane) with x (n, c, ...) put at places in each flat plane; of several the last stays."""
    n, c = places.shape[:2]
    out = np.zeros(n * c * prod(plane), x.dtype)
    if x.size:
        out[flat_places(places, prod(plane))] = x.reshape(-1)
    return out.reshape(n, c, *plane)


def fractional_starts(samples: Array, size: int, out: int, kernel: int) -> Array:
    """Where `out` windows begin that cover `size` in steps of random lengths: samples (n, c) -> (n, c, out).

    Graham, "Fractional max-pooling" (2014): steps of length alpha = (size - kernel) / (out - 1), shifted by a sample and
    rounded down.
    """
    starts = np.full((*samples.shape, out), size - kernel, np.int64)
    if out > 1:
        alpha = samples.dtype.type(size - kernel) / samples.dtype.type(out - 1)
        steps = np.arange(out - 1, dtype=samples.dtype)
        shifted = ((samples[..., None] + steps) * alpha).astype(np.int64)
        starts[..., :-1] = shifted - (samples[..., None] * alpha).astype(np.int64)
    return starts
