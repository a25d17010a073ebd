"""Images, sequences and volumes in another size: nearest neighbours, straight lines, cubics, and means of areas."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Sequence
from math import floor
from typing import Any

import numpy as np

from ...base.types import SizeLike
from ...core.tensor import Tensor, result
from ...kernels import resampling as kernels
from ...kernels.onednn.reorder import to_suggested_format
from .pooling import adaptive_avg_pool
from .resampling import Upsample

Scales = tuple[float | None, ...]

SMOOTH = ("linear", "bilinear", "bicubic", "trilinear")
NEEDS = {"linear": 3, "bilinear": 4, "bicubic": 4, "trilinear": 5}


def each(value: Any, dims: int, plane: tuple[int, ...], name: str) -> tuple[Any, ...]:
    """One value for each dimension of the plane, from one or from a sequence."""
    if not isinstance(value, Sequence):
        return (value,) * dims
    if len(value) != dims:
        raise ValueError(f"Input and {name} must have the same number of spatial dimensions, but got input with spatial "
                         f"dimensions of {list(plane)} and {name} of {list(value)}: give one number for each of {dims}")
    return tuple(value)


def targets(plane: tuple[int, ...], size: SizeLike | None, scale_factor: Any,
            recompute: bool) -> tuple[tuple[int, ...], Scales]:
    """The output's sizes, and the scale along each dimension where it is not the quotient of sizes."""
    dims = len(plane)
    if (size is None) == (scale_factor is None):
        raise ValueError("only one of size or scale_factor should be defined" if size is not None
                         else "either size or scale_factor should be defined")
    if size is not None:
        if recompute:
            raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
        try:
            return tuple([operator.index(n) for n in each(size, dims, plane, "output size")]), (None,) * dims
        except TypeError:
            raise TypeError(f"interpolate: size must be an integer or a sequence of integers, got {size!r}") from None
    scales = tuple([float(s) for s in each(scale_factor, dims, plane, "scale_factor")])
    outs = tuple([floor(n * s) for n, s in zip(plane, scales, strict=True)])
    return outs, (None,) * dims if recompute else scales


def interpolate(input: Tensor, size: SizeLike | None = None, scale_factor: Any = None, mode: str = "nearest",
                align_corners: bool | None = None, recompute_scale_factor: bool | None = None,
                antialias: bool = False) -> Tensor:
    """input (n, c, *plane) in another size, given as `size` or by `scale_factor`, for planes of 1 to 3 dimensions."""
    if mode in ("nearest", "area", "nearest-exact"):
        if align_corners is not None:
            raise ValueError("align_corners option can only be set with the interpolating modes: " + " | ".join(SMOOTH)
                             + f", not with mode={mode!r}")
    elif mode not in SMOOTH:
        raise NotImplementedError(f"interpolate: mode {mode!r} is none of nearest, nearest-exact, area, {', '.join(SMOOTH)}")
    if input.ndim not in (3, 4, 5):
        raise NotImplementedError(f"interpolate: only 3D, 4D and 5D input is supported, got {input.ndim}D: "
                                  f"{list(input.shape)}")
    if antialias and not (mode in ("bilinear", "bicubic") and input.ndim == 4):
        raise ValueError("Anti-alias option is restricted to bilinear and bicubic modes and requires a 4-D tensor as input, "
                         f"got mode={mode!r} and {list(input.shape)}")
    plane = tuple(input.shape[2:])
    outs, scales = targets(plane, size, scale_factor, bool(recompute_scale_factor) or (mode == "area" and size is None))
    if mode in SMOOTH and input.ndim != NEEDS[mode]:
        raise NotImplementedError(f"Got {input.ndim}D input, but {mode} mode needs {NEEDS[mode]}D input")
    if mode == "area":
        return adaptive_avg_pool(f"adaptive_avg_pool{len(plane)}d", len(plane), input, outs)
    return resized(input, plane, outs, scales, mode, bool(align_corners), antialias)


def resized(input: Tensor, plane: tuple[int, ...], outs: tuple[int, ...], scales: Scales, mode: str, corners: bool,
            antialias: bool) -> Tensor:
    """Interpolate to given sizes, in a mode."""
    if min(plane) < 1 or min(outs) < 1:
        raise RuntimeError(f"Input and output sizes should be greater than 0, but got input {list(plane)} and output "
                           f"{list(outs)}")
    if input.shape[1] == 0:
        raise RuntimeError(f"Non-empty {input.ndim}D data tensor expected but got a tensor with sizes {list(input.shape)}")
    if input.dtype.kind not in "fV" and not (input.dtype == np.uint8 and mode not in ("linear", "trilinear")):
        raise NotImplementedError(f"interpolate: mode {mode!r} is not implemented for {input.dtype}; use floating point")
    numbers = list(zip(plane, outs, scales, strict=True))
    if mode in ("nearest", "nearest-exact"):
        maps = [kernels.nearest(*n, mode == "nearest-exact") for n in numbers]
    elif antialias:
        maps = [kernels.smoothed(*n, corners, mode) for n in numbers]
    else:
        maps = [(kernels.cubic if mode == "bicubic" else kernels.linear)(*n, corners) for n in numbers]
    if input.dtype == np.uint8 and mode in SMOOTH:
        data = input.array if isinstance(input, Tensor) else input
        return result(to_suggested_format(kernels.resample_bytes(data, tuple(maps)), data))
    lines = mode in ("linear", "bilinear", "trilinear") and not (corners or antialias) and all(
        scale is None or n * scale == out for n, out, scale in numbers)
    return Upsample.apply(input, maps=tuple(maps), lines=lines)


def upsample(input: Tensor, size: SizeLike | None = None, scale_factor: Any = None, mode: str = "nearest",
             align_corners: bool | None = None) -> Tensor:
    """The old name of interpolate."""
    warnings.warn("`nn.functional.upsample` is deprecated. Use `nn.functional.interpolate` instead.", stacklevel=2)
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input: Tensor, size: SizeLike | None = None,
                     scale_factor: float | Sequence[float] | None = None) -> Tensor:
    """The old name of interpolate(mode="nearest")."""
    warnings.warn("`nn.functional.upsample_nearest` is deprecated. Use `nn.functional.interpolate` instead.", stacklevel=2)
    return interpolate(input, size, scale_factor, mode="nearest")


def upsample_bilinear(input: Tensor, size: SizeLike | None = None,
                      scale_factor: float | Sequence[float] | None = None) -> Tensor:
    """The old name of interpolate(mode="bilinear", align_corners=True)."""
    warnings.warn("`nn.functional.upsample_bilinear` is deprecated. Use `nn.functional.interpolate` instead.", stacklevel=2)
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)


__all__: list[str] = []
