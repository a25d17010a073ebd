"""Convolution over planes of any number of dimensions: the product of patches and weight, and its two adjoints.

oneDNN does it where it can (float32), with the channels last in memory; what follows is for all the rest.
The patches of a few images at a time are laid out as a matrix, multiplied by one matrix product per group, and forgotten
while they are still in the cache: Chellapilla, Puri and Simard, "High performance convolutional neural networks for
document processing" (2006), in blocks. And the patches by themselves: unfold, and its adjoint, fold.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from math import prod
from typing import Any, TypeVar

import numpy as np

from . import choose, convolution_channels_last
from .halves import FLOAT16, FLOAT32, converted
from .matmul import matmul
from .memory_format import channels_last, last_axes
from .onednn import convolution as onednn
from .onednn.library import supported
from .onednn.reorder import like_order, to_channels_last
from .products import column_sums
from .windows import Array, Sizes, WindowGeometry, add_windows, blocks, padded, wide, windows

F = TypeVar("F", bound=Callable[..., Any])


def pointwise(geometry: WindowGeometry, plane: Sizes) -> bool:
    """Whether each window is one element, and each element in one window: then an image is its own matrix of patches."""
    return prod(geometry.kernel) == prod(geometry.stride) == 1 and not any(geometry.before) and geometry.out == tuple(plane)


def to_fastest_format(g: Array) -> Array:
    """g (n, m, *out) in the order of memory that both adjoints of conv are quickest with."""
    return to_channels_last(g) if supported(g) and g.ndim > 2 else g


def halves_in_float32(kernel: F) -> F:
    """A kernel whose float16 operands are converted first, and whose results are rounded once."""

    @functools.wraps(kernel)
    def converting(first: Array, *others: Any, **settings: Any) -> Any:
        if first.dtype != FLOAT16:
            return kernel(first, *others, **settings)
        wide = [converted(a, FLOAT32) if isinstance(a, np.ndarray) else a for a in (first, *others)]
        made = kernel(*wide, **settings)
        return tuple([converted(z, FLOAT16) for z in made]) if type(made) is tuple else converted(made, FLOAT16)

    return converting  # type: ignore[return-value]


@halves_in_float32
def conv(x: Array, weight: Array, bias: Array | None, geometry: WindowGeometry, groups: int) -> Array:
    """Cross-correlation: x (n, c, *plane), weight (m, c / groups, *kernel) -> (n, m, *out), plus bias (m,)."""
    quick = onednn.conv(x, weight, bias, geometry, groups)
    return like_order(_conv(x, weight, bias, geometry, groups), x) if quick is None else quick


def _conv(x: Array, weight: Array, bias: Array | None, geometry: WindowGeometry, groups: int) -> Array:
    n, c = x.shape[:2]
    m = weight.shape[0]
    each, dtype = m // groups, x.dtype
    deep, places = c // groups * prod(geometry.kernel), prod(geometry.out)
    matrix = weight.reshape(groups, each, deep)
    if pointwise(geometry, x.shape[2:]):
        out = matmul(matrix, x.reshape(n, groups, deep, places))
    else:
        out = np.empty((n, groups, each, places), dtype)
        x = padded(x, geometry)
        for block in blocks(n, groups * deep * places):
            images = block.stop - block.start
            patches = windows(x[block], geometry).reshape(groups, deep, images * places)
            out[block] = matmul(matrix, patches).reshape(groups, each, images, places).transpose(2, 0, 1, 3)
    if bias is not None:
        out += bias.reshape(groups, each, 1)
    return out.reshape(n, m, *geometry.out)


@halves_in_float32
def conv_input(g: Array, weight: Array, plane: Sizes, geometry: WindowGeometry, groups: int) -> Array:
    """The adjoint of conv in x: g (n, m, *out), weight (m, c / groups, *kernel) -> (n, c, *plane)."""
    quick = onednn.conv_input(g, weight, plane, geometry, groups)
    return like_order(_conv_input(g, weight, plane, geometry, groups), g) if quick is None else quick


def _conv_input(g: Array, weight: Array, plane: Sizes, geometry: WindowGeometry, groups: int) -> Array:
    n, m = g.shape[:2]
    c = weight.shape[1] * groups
    each, dtype = m // groups, g.dtype
    deep, places = c // groups * prod(geometry.kernel), prod(geometry.out)
    matrix = weight.reshape(groups, each, deep).transpose(0, 2, 1)
    if pointwise(geometry, plane):
        return matmul(matrix, g.reshape(n, groups, each, places)).reshape(n, c, *plane)
    room = np.zeros((n, c, *geometry.padded_sizes(plane)), dtype)
    if c == m == groups:
        _depthwise_input(g, matrix, geometry, room)
        return room[geometry.plane_index(plane)]
    rows = g.reshape(n, groups, each, places).transpose(1, 2, 0, 3)
    for block in blocks(n, groups * deep * places):
        images = block.stop - block.start
        grouped = rows[:, :, block].reshape(groups, each, images * places)
        add_windows(matmul(matrix, grouped), geometry, room[block])
    return room[geometry.plane_index(plane)]


def _depthwise_input(g: Array, matrix: Array, geometry: WindowGeometry, room: Array) -> None:
    """Each channel's g times its weight at each place in the kernel, added to room there: the same numbers as a product of
    matrices of one row and one column, in half its time."""
    factors = matrix.reshape(g.shape[1], -1, *(1,) * (g.ndim - 2)).swapaxes(0, 1)
    for block in blocks(len(g), 4 * prod(g.shape[1:])):
        part = g[block]
        scratch = np.empty_like(part)
        for factor, place in zip(factors, geometry.places(), strict=True):
            np.multiply(part, factor, out=scratch)
            room[block][place] += scratch


@halves_in_float32
def conv_weight(g: Array, x: Array, geometry: WindowGeometry, groups: int) -> Array:
    """The adjoint of conv in weight: g (n, m, *out), x (n, c, *plane) -> (m, c / groups, *kernel)."""
    quick = onednn.conv_weight(g, x, geometry, groups, False)
    return _product_weight(g, x, geometry, groups) if quick is None else quick[0]


@halves_in_float32
def conv_weight_bias(g: Array, x: Array, geometry: WindowGeometry, groups: int) -> tuple[Array, Array]:
    """conv_weight, and the sum of g over all but its channels: the gradient of a bias, found on the same way."""
    quick = onednn.conv_weight(g, x, geometry, groups, True)
    if quick is None or quick[1] is None:
        return _product_weight(g, x, geometry, groups), _channel_sums(g)
    return quick[0], quick[1]


def _product_weight(g: Array, x: Array, geometry: WindowGeometry, groups: int) -> Array:
    if choose.patches((g.shape[1], x.shape[1], *geometry.kernel), groups) and supported(g, x):
        return convolution_channels_last.conv_weight(g, x, geometry)
    return _conv_weight(g, x, geometry, groups)


def _channel_sums(g: Array) -> Array:
    if channels_last(g):                             # each image's first: a sum of all would round more
        return column_sums(column_sums(g.transpose(last_axes(g.ndim)).reshape(len(g), prod(g.shape[2:]), g.shape[1])))
    planes = np.add.reduce(g, axis=tuple(range(2, g.ndim)), dtype=g.dtype)          # along contiguous memory first
    return np.add.reduce(planes, axis=0, dtype=g.dtype)


def _conv_weight(g: Array, x: Array, geometry: WindowGeometry, groups: int) -> Array:
    n, m = g.shape[:2]
    c = x.shape[1]
    each, dtype = m // groups, g.dtype
    deep, places = c // groups * prod(geometry.kernel), prod(geometry.out)
    out = np.zeros((groups, each, deep), dtype)
    if pointwise(geometry, x.shape[2:]):
        rows = g.reshape(n, groups, each, places)
        columns = x.reshape(n, groups, deep, places).swapaxes(-1, -2)
        for block in blocks(n, m * deep):            # each image has a product of its own, as large as the weight
            out += matmul(rows[block], columns[block]).sum(0, dtype)
        return out.reshape(m, c // groups, *geometry.kernel)
    x = padded(x, geometry)
    rows = g.reshape(n, groups, each, places).transpose(1, 2, 0, 3)
    for block in blocks(n, groups * deep * places):
        images = block.stop - block.start
        grouped = rows[:, :, block].reshape(groups, each, images * places)
        out += matmul(grouped, windows(x[block], geometry).reshape(groups, deep, images * places).transpose(0, 2, 1))
    return out.reshape(m, c // groups, *geometry.kernel)


@halves_in_float32
def conv_weight_each(g: Array, x: Array, geometry: WindowGeometry, groups: int) -> Array:
    """conv_weight of each sample by itself: g (b, n, m, *out), x (b, n, c, *plane) -> (b, m, c / groups, *kernel)."""
    b, n, m = g.shape[:3]
    c = x.shape[2]
    deep, places = c // groups * prod(geometry.kernel), prod(geometry.out)
    out = np.empty((b, groups, m // groups, deep), g.dtype)
    rows = g.reshape(b, n, groups, m // groups, places)
    for block in blocks(b, n * groups * deep * places):
        count = block.stop - block.start
        patches = windows(padded(x[block].reshape(count * n, *x.shape[2:]), geometry), geometry)
        patches = np.moveaxis(patches, 1 + len(geometry.kernel), 0).reshape(count, n, groups, deep, places)
        if n == 1:
            matmul(rows[block, 0], patches[:, 0].swapaxes(-1, -2), out[block])
        else:
            grouped = rows[block].transpose(0, 2, 3, 1, 4).reshape(count, groups, m // groups, n * places)
            columns = patches.transpose(0, 2, 1, 4, 3).reshape(count, groups, n * places, deep)
            matmul(grouped, columns, out[block])
    return out.reshape(b, m, c // groups, *geometry.kernel)


def unfold(x: Array, geometry: WindowGeometry) -> Array:
    """The patches of x (n, c, *plane) as columns: (n, c * prod(kernel), prod(out))."""
    n, c = x.shape[:2]
    view = windows(padded(x, geometry), geometry)
    moved = np.moveaxis(view, 1 + len(geometry.kernel), 0)
    return np.ascontiguousarray(moved).reshape(n, c * prod(geometry.kernel), prod(geometry.out))


def fold(columns: Array, plane: Sizes, geometry: WindowGeometry) -> Array:
    """Columns (n, c * prod(kernel), prod(out)) added up where unfold takes them: (n, c, *plane)."""
    n = columns.shape[0]
    c = columns.shape[1] // prod(geometry.kernel)
    room = np.zeros((n, c, *geometry.padded_sizes(plane)), wide(columns.dtype))
    patches = columns.reshape(n, c, *geometry.kernel, *geometry.out)
    add_windows(np.moveaxis(patches, 0, 1 + len(geometry.kernel)), geometry, room)
    return converted(room[geometry.plane_index(plane)], columns.dtype)
