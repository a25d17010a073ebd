"""Sampling planes and volumes at the points of a grid, and the grids of affine maps (Jaderberg et al. 2015).

Where a point lies among pixels is piecewise linear in the grid; its value is a polynomial in that, linear in the pixels.
Written in recorded operations, it has derivatives of any order to both."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from ...base.types import Array
from ...core.batching import elementwise
from ...core.casting import casts_float32
from ...core.operation import Operation
from ...core.tensor import Tensor, result
from ...core.types import Context, Gradients, TensorOrArray
from ...kernels import grid_sample as kernels
from ..linalg.matmul import matmul
from ..pointwise.arithmetic import weighted
from ..pointwise.where import where
from ..shape import reshape, transpose, unbind
from .pooling import GatherFlat

MODES = ("bilinear", "nearest", "bicubic")
PADDINGS = ("zeros", "border", "reflection")


class GridSampler(Operation):
    """A piecewise linear function of x: `value` with its `slope` at each element."""

    batched = elementwise

    @staticmethod
    def forward(ctx: Context, x: Array, *, value: Array, slope: Array) -> Array:
        """The slope at x, which forward has computed."""
        ctx.slope = slope
        return value

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        return g * ctx.slope


def pixels_at(input: Tensor, flat_indices: list[Any]) -> Tensor:
    """The pixels of input (n, c, *plane) at whole positions, one array (n, points) for each dimension; 0 outside."""
    index, valid = kernels.flat_index(flat_indices, tuple(input.shape[2:]))
    n, c = input.shape[:2]
    every = (n, c, index.shape[1])
    values = GatherFlat.apply(input, flat_indices=np.broadcast_to(index[:, None], every))
    return values if valid.all() else where(np.broadcast_to(valid[:, None], every), values, 0.0)


def cubic_weights(t: Tensor) -> list[Any]:
    """Keys' weights (a = -3/4) of the pixels at -1, 0, 1, 2 for a point at t between 0 and 1."""
    a = -0.75

    def near(s: Tensor) -> Tensor:
        return ((a + 2) * s - (a + 3)) * s * s + 1

    def far(s: Tensor) -> Tensor:
        return ((a * s - 5 * a) * s + 8 * a) * s - 4 * a

    return [far(t + 1), near(t), near(1 - t), far(2 - t)]


def corners_of(coordinate: Tensor, size: int, mode: str, padding: str, align: bool) -> list[tuple[Any, Any]]:
    """(whole position, weight) of the pixels along one dimension that a point is made of."""
    data = coordinate.array if isinstance(coordinate, Tensor) else coordinate
    place, slope = kernels.pixels(data, size, align)
    if mode != "bicubic":
        place, inner = kernels.apply_padding_mode(place, size, padding, align)
        slope = slope * inner
    if mode == "nearest":
        return [(np.rint(place), GridSampler.apply(coordinate, value=np.ones_like(place), slope=np.zeros_like(place)))]
    low = np.floor(place)
    t = GridSampler.apply(coordinate, value=place - low, slope=slope)
    if mode == "bilinear":
        return [(low, 1 - t), (low + 1, t)]
    return [(kernels.apply_padding_mode(low + k - 1, size, padding, align)[0], w) for k, w in enumerate(cubic_weights(t))]


def sampled(input: Tensor, grid: Tensor, mode: str, padding: str, align: bool) -> Tensor:
    """grid_sample() of arguments that have been checked."""
    n, c = input.shape[:2]
    plane = tuple(input.shape[2:])
    outs = tuple(grid.shape[1:-1])
    points = int(np.prod(outs, dtype=int))
    coordinates = unbind(reshape(grid, (n, points, len(plane))), 2)[::-1]         # x comes first, the last dimension
    along = [corners_of(x, size, mode, padding, align) for x, size in zip(coordinates, plane, strict=True)]
    total: Any = None
    for corner in product(*along):
        weight = corner[0][1]
        for _, factor in corner[1:]:
            weight = weight * factor
        part = weighted(pixels_at(input, [place for place, _ in corner]), reshape(weight, (n, 1, points)))
        total = part if total is None else total + part
    return reshape(total, (n, c, *outs))


@casts_float32
def grid_sample(input: Tensor, grid: Tensor, mode: str = "bilinear", padding_mode: str = "zeros",
                align_corners: bool | None = None) -> Tensor:
    """input (n, c, h, w) at the points of grid (n, h', w', 2), whose last dimension holds x and y from -1 to 1."""
    if mode not in MODES:
        raise ValueError(f"nn.functional.grid_sample(): expected mode to be one of {', '.join(MODES)}, but got: '{mode}'")
    if padding_mode not in PADDINGS:
        raise ValueError(f"nn.functional.grid_sample(): expected padding_mode to be one of {', '.join(PADDINGS)}, but got: "
                         f"'{padding_mode}'")
    if align_corners is None:
        warnings.warn("grid_sample: align_corners is False where it is not given (it was True before PyTorch 1.3)",
                      stacklevel=2)
    check_grid(input, grid, mode)
    return sampled(input, grid, mode, padding_mode, bool(align_corners))


def check_grid(input: Tensor, grid: Tensor, mode: str) -> None:
    """RuntimeError unless input and grid fit."""
    shapes = f"input with sizes {list(input.shape)} and grid with sizes {list(grid.shape)}"
    if input.dtype != grid.dtype:
        raise RuntimeError(f"grid_sampler(): expected input and grid to have same dtype, but input has {input.dtype} and "
                           f"grid has {grid.dtype}")
    if input.dtype.kind not in "fV":
        raise NotImplementedError(f"grid_sampler(): not implemented for {input.dtype}")
    if input.ndim not in (4, 5) or grid.ndim != input.ndim:
        raise RuntimeError(f"grid_sampler(): expected 4D or 5D input and grid with same number of dimensions, but got "
                           f"{shapes}")
    if grid.shape[0] != input.shape[0]:
        raise RuntimeError(f"grid_sampler(): expected grid and input to have same batch size, but got {shapes}")
    if grid.shape[-1] != input.ndim - 2:
        raise RuntimeError(f"grid_sampler(): expected grid to have size {input.ndim - 2} in last dimension, but got "
                           f"{shapes}")
    if 0 in input.shape[2:]:
        raise RuntimeError(f"grid_sampler(): expected input to have non-empty spatial dimensions, but got {shapes}")
    if mode == "bicubic" and input.ndim == 5:
        raise RuntimeError(f"grid_sampler(): bicubic interpolation only supports 4D input, but got {shapes}")


@casts_float32
def grid_sampler(input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool) -> Tensor:
    """grid_sample with its modes as numbers: bilinear, nearest, bicubic; zeros, border, reflection."""
    check_grid(input, grid, MODES[interpolation_mode])
    return sampled(input, grid, MODES[interpolation_mode], PADDINGS[padding_mode], align_corners)


@casts_float32
def grid_sampler_2d(input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool) -> Tensor:
    """grid_sampler of input (n, c, h, w)."""
    return grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners)


@casts_float32
def grid_sampler_3d(input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool) -> Tensor:
    """grid_sampler of input (n, c, d, h, w)."""
    return grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners)


# --- grids of affine maps --------------------------------------------------------------------------------------------

def affine_grid(theta: Tensor, size: Sequence[int], align_corners: bool | None = None) -> Tensor:
    """The grid for grid_sample that theta (n, 2, 3) makes of size (n, c, h, w); or theta (n, 3, 4), size (n, c, d, h, w)."""
    size = tuple(int(s) for s in size)
    if align_corners is None:
        warnings.warn("affine_grid: align_corners is False where it is not given (it was True before PyTorch 1.3)",
                      stacklevel=2)
        align_corners = False
    if theta.dtype.kind not in "fV":
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    if len(size) not in (4, 5):
        raise NotImplementedError(f"affine_grid: size must have 4 or 5 numbers (n, c and a plane or volume), got "
                                  f"{list(size)}")
    dims = len(size) - 2
    if theta.ndim != 3 or tuple(theta.shape[1:]) != (dims, dims + 1):
        raise ValueError(f"Expected a batch of {dims}D affine matrices of shape Nx{dims}x{dims + 1} for size {list(size)}. "
                         f"Got {list(theta.shape)}.")
    if min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {list(size)}")
    return affine_grid_generator(theta, size, align_corners)


def affine_grid_generator(theta: Tensor, size: Sequence[int], align_corners: bool) -> Tensor:
    """affine_grid without its checks."""
    n, plane = size[0], tuple(size[2:])
    if theta.shape[0] != n:
        raise RuntimeError(f"Expected theta to have batch size {n}, as size {list(size)} says, but got {list(theta.shape)}")
    axes = []
    for length in plane:
        line = np.linspace(-1, 1, length) if length > 1 else np.zeros(1)
        axes.append(line if align_corners else line * (length - 1) / length)
    points = np.meshgrid(*axes, indexing="ij")[::-1]
    base: Any = np.stack([*points, np.ones(plane)], -1).reshape(1, -1, len(plane) + 1).astype(theta.dtype)
    made = matmul(result(base) if isinstance(theta, Tensor) else base, transpose(theta, 1, 2))
    return reshape(made, (n, *plane, len(plane)))


__all__ = ["affine_grid_generator", "grid_sampler", "grid_sampler_2d", "grid_sampler_3d"]
