"""What stands for kernels where a rule is taken apart for native code (inline.py), by function."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from ...base.types import Array
from ...core.operation import SumTo
from ...kernels import group_norm, recurrent_fused
from ...kernels import pooling as places
from ...kernels.addresses import address
from ...kernels.chebyshev import pieces
from ...kernels.error_functions import erf
from ...kernels.matmul import matmul
from ...kernels.memory_format import channels_last, is_channels_last, ordered_last
from ...kernels.norms import exact, power_of_two
from ...kernels.onednn import convolution, pooling, resampling
from ...kernels.onednn.library import supported
from ...kernels.onednn.reorder import to_channels_last, to_rows
from ...kernels.products import affine, column_sums, product
from ...kernels.scatter import add_rows as add_into_rows
from ...kernels.segments import add_rows
from ...kernels.sums import total
from ...kernels.take_along import check_places, limits, subtract_per_row, take_per_row
from ...kernels.where import masked
from ...kernels.windows import Sizes, WindowGeometry

# what lower.py knows by its own name
WHOLE: set[Any] = {take_per_row, subtract_per_row, masked, product, affine, matmul, column_sums, add_rows, erf, power_of_two,
                   add_into_rows}
# what lowering/primitives.py makes calls of C functions of
LIBRARY: set[Any] = {
    convolution.conv, convolution.conv_input, convolution.conv_weight, pooling.mean_windows, pooling.mean_windows_back,
    pooling.max_windows_back, resampling.linear, resampling.linear_back, group_norm.forward, group_norm.backward,
    recurrent_fused.lstm_forward, recurrent_fused.lstm_backward, recurrent_fused.gru_forward, recurrent_fused.gru_backward}
ANSWERS: dict[Any, Any] = {exact: False, limits: (-1, 0)}      # of tests of values: those that are right for all values
CHECKS: set[Any] = {check_places}                               # kernels that raise errors for some values
OF_LAYOUT: set[Any] = {channels_last, ordered_last, is_channels_last, supported}     # they read no values


def piecewise(x: Any, *parts: Any) -> Any:
    """pieces() of all elements: each formula of all, then one of their results."""
    out = np.nan
    for mask, formula in reversed(parts):
        out = np.where(mask, formula(x), out)  # type: ignore[assignment]
    return out


def by_running(x: Any, mean: Any, factor: Any, shift: Any) -> Any:
    """Three operations, which a loop fuses with others."""
    out = (x - mean) * factor
    return out if shift is None else out + shift


def copied_last(x: Any) -> Any:
    """A copy by NumPy."""
    return x if channels_last(x) else np.moveaxis(np.array(np.moveaxis(x, 1, -1), order="C"), -1, 1)


def copied_rows(x: Any) -> Any:
    """A copy by NumPy."""
    return np.array(x, order="C")


def no_address(x: Any) -> int:
    """What works on addresses would not be recorded."""
    raise TypeError("the address of an array in a rule that is recorded")


def sum_to(ctx: Any, g: Any, *, shape: Any) -> Any:
    """SumTo.forward, which is compiled: what it calls would not be recorded."""
    ctx.shape, extra = g.shape, g.ndim - len(shape)
    dims = (*range(extra), *[d + extra for d, n in enumerate(shape) if n == 1 and g.shape[d + extra] != 1])
    return total(g, dims).reshape(shape)


def max_windows(x: Array, geometry: WindowGeometry) -> tuple[Array, Array] | None:
    """oneDNN's maxima and codes, also where there are nan: of several the last, of equal numbers the first."""
    if x.ndim < 3 or not supported(x):
        return None
    x = x if x.flags.c_contiguous else to_channels_last(x)
    order = "rows" if x.flags.c_contiguous else "last"
    if pooling.planned(pooling.MAXIMUM, x.shape, geometry, order) is None:
        return None
    best: Any
    room, best, codes = surrounded(x, geometry, order), None, np.uint8(0)
    for number, (place, begins) in enumerate(zip(geometry.places(), beginnings(x.shape[2:], geometry), strict=True)):
        view = room[place]
        if best is None:
            best = np.copy(view)
            continue
        better = np.logical_or(view > best, view != view)
        if begins is not None:                       # -inf here is a number, not padding
            better = np.logical_or(better, begins)
        best, codes = np.where(better, view, best), np.where(better, np.uint8(number), codes)  # type: ignore[assignment]
    return best, codes  # type: ignore[return-value]


def decoded(codes: Array, geometry: WindowGeometry, plane: Sizes) -> Any:
    """kernels.pooling.decoded() by functions of NumPy."""
    begin, offsets = places.numbering(geometry, plane)
    return np.take(offsets, codes) + begin


def surrounded(x: Array, geometry: WindowGeometry, order: str) -> Array:
    """x with -inf around it, as far as the windows reach."""
    room = tuple(geometry.padded_sizes(x.shape[2:]))
    if room == x.shape[2:]:
        return x
    n, c = x.shape[:2]
    wide = np.full((n, c, *room) if order == "rows" else (n, *room, c), -np.inf, x.dtype)
    wide = wide if order == "rows" else np.moveaxis(wide, -1, 1)
    wide[geometry.plane_index(x.shape[2:])] = x
    return wide


@lru_cache(maxsize=64)
def beginnings(plane: Sizes, geometry: WindowGeometry) -> list[Array | None]:
    """For each place in the kernel: the windows whose first element of the plane is there. None: no window's, or all."""
    inside = np.zeros(geometry.padded_sizes(plane), bool)
    inside[geometry.plane_index(plane)[2:]] = True
    missing = np.ones(geometry.out, bool)
    found: list[Array | None] = []
    for place in geometry.places():
        begins = missing & inside[place[2:]]
        missing &= ~begins
        found.append(begins if found and begins.any() else None)
    return found


REPLACED: dict[Any, Callable[..., Any]] = {
    pieces: piecewise, group_norm.by_running: by_running, pooling.max_windows: max_windows, places.decoded: decoded,
    to_channels_last: copied_last, to_rows: copied_rows, address: no_address}
IN_PYTHON: dict[Any, Callable[..., Any]] = {SumTo.forward: sum_to}         # compiled functions of autograd's core
__all__ = ["ANSWERS", "CHECKS", "IN_PYTHON", "LIBRARY", "OF_LAYOUT", "REPLACED", "WHOLE"]
