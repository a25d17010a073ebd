"""Sliding windows over the last dimensions of an array: padding, the elements under each window, and sums back from them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ..base.types import Array

Sizes = tuple[int, ...]
ALL = slice(None)
BLOCK = 1 << 17                                     # elements of patches at a time: half a MB of float32


class WindowGeometry(NamedTuple):
    """How a kernel slides over a plane of any number of dimensions; one number for each of them.

    before: how far the first window begins in front of the plane. out: how many windows there are. What windows cover
    beyond the plane, on either side, is padding.
    """

    kernel: Sizes
    stride: Sizes
    before: Sizes
    dilation: Sizes
    out: Sizes

    def padded_sizes(self, plane: Sizes) -> list[int]:
        """The sizes of the plane with the padding that the windows reach."""
        return [max((o - 1) * s + d * (k - 1) + 1, b + n) for k, s, b, d, o, n in zip(*self, plane, strict=True)]

    def plane_index(self, plane: Sizes) -> tuple[slice, ...]:
        """Where the plane lies in the padded array, as an index of the padded array."""
        return (ALL, ALL, *[slice(b, b + n) for b, n in zip(self.before, plane, strict=True)])

    def along(self, d: int) -> list[slice]:
        """For each place in the kernel's dimension d: what lies under it, in every window."""
        stride, dilation, out = self.stride[d], self.dilation[d], self.out[d]
        return [slice(p, p + (out - 1) * stride + 1, stride) for p in range(0, self.kernel[d] * dilation, dilation)]

    def places(self) -> Any:
        """For each place in the kernel, in order: what lies under it in every window, as an index of the padded array."""
        return product((ALL,), (ALL,), *[self.along(d) for d in range(len(self.kernel))])


def padded(x: Array, geometry: WindowGeometry, value: float = 0) -> Array:
    """x (n, c, *plane) with `value` around it, as far as the windows reach: x itself if they stay within it."""
    plane = x.shape[2:]
    room = geometry.padded_sizes(plane)
    if tuple(room) == plane:
        return x
    shape = (*x.shape[:2], *room)
    wide = np.zeros(shape, x.dtype) if value == 0 else np.full(shape, value, x.dtype)
    wide[geometry.plane_index(plane)] = x
    return wide


def windows(x: Array, geometry: WindowGeometry) -> Array:
    """Views of padded x (n, c, *room) under each window: (c, *kernel, n, *out), no copy."""
    sn, sc, *steps = x.strides
    inner = [s * d for s, d in zip(steps, geometry.dilation, strict=True)]
    outer = [s * t for s, t in zip(steps, geometry.stride, strict=True)]
    n, c = x.shape[:2]
    return as_strided(x, (c, *geometry.kernel, n, *geometry.out), (sc, *inner, sn, *outer), writeable=False)


def blocks(images: int, elements: int) -> Iterator[slice]:
    """Slices of the batch so that the patches of each, `elements` for one image, fit a block."""
    step = max(1, BLOCK // max(1, elements))
    for start in range(0, images, step):
        yield slice(start, min(start + step, images))


def add_windows(patches: Array, geometry: WindowGeometry, room: Array) -> None:
    """Add patches (c, *kernel, n, *out) to room (n, c, *sizes) where `windows` would take them: its adjoint."""
    c, n = room.shape[1], room.shape[0]
    target = room.swapaxes(0, 1)
    each = patches.reshape(c, prod(geometry.kernel), n, *geometry.out).swapaxes(0, 1)
    for patch, place in zip(each, geometry.places(), strict=True):
        target[place] += patch


def wide(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype to compute in: float32 for float16, which has no fast arithmetic."""
    return np.dtype(np.float32) if dtype == np.float16 else dtype
