"""Patches as columns (unfold), and columns added up to planes (fold)."""

from __future__ import annotations

from math import prod

from ...base.types import Array, SizeLike
from ...core.batching import samples
from ...core.operation import Operation
from ...core.tensor import Tensor
from ...core.types import Context, Gradients, TensorOrArray
from ...kernels import convolution as kernels
from ...kernels.windows import WindowGeometry
from ..shape import reshape, unsqueeze
from .geometry import Sizes, ints


class Im2Col(Operation):
    """The patches of x (n, c, h, w) as columns (n, c * kh * kw, windows)."""

    batched = samples()

    @staticmethod
    def forward(ctx: Context, x: Array, *, geometry: WindowGeometry) -> Array:
        ctx.geometry, ctx.plane = geometry, x.shape[2:]
        return kernels.unfold(x, geometry)

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        """Col2Im, the adjoint."""
        return Col2Im.apply(g, plane=ctx.plane, geometry=ctx.geometry)


class Col2Im(Operation):
    """Columns summed into the patches that Im2Col reads, its adjoint."""

    batched = samples()

    @staticmethod
    def forward(ctx: Context, x: Array, *, plane: Sizes, geometry: WindowGeometry) -> Array:
        ctx.geometry = geometry
        return kernels.fold(x, plane, geometry)

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        """Im2Col, the adjoint."""
        return Im2Col.apply(g, geometry=ctx.geometry)


def sliding(name: str, plane: Sizes, kernel_size: SizeLike, dilation: SizeLike, padding: SizeLike,
            stride: SizeLike) -> WindowGeometry:
    """How the kernel slides over a plane (h, w)."""
    kernel, dilation = ints(kernel_size, 2, "kernel_size"), ints(dilation, 2, "dilation")
    padding, stride = ints(padding, 2, "padding"), ints(stride, 2, "stride")
    for what, values, least in (("kernel_size", kernel, 1), ("dilation", dilation, 1), ("stride", stride, 1),
                                ("padding", padding, 0)):
        if min(values) < least:
            raise RuntimeError(f"{name}: {what} should be at least {least}, but got {what}={list(values)}")
    outs = tuple([(n + 2 * p - d * (k - 1) - 1) // s + 1
                  for n, p, d, k, s in zip(plane, padding, dilation, kernel, stride, strict=True)])
    if min(outs) < 1:
        raise RuntimeError(f"{name}: Given plane with spatial size {list(plane)}, kernel_size={list(kernel)}, dilation="
                           f"{list(dilation)}, padding={list(padding)}, stride={list(stride)}, calculated shape of the "
                           f"array of sliding blocks as {list(outs)}, but its components must be at least one.")
    return WindowGeometry(kernel, stride, padding, dilation, outs)


def unfold(input: Tensor, kernel_size: SizeLike, dilation: SizeLike = 1, padding: SizeLike = 0,
           stride: SizeLike = 1) -> Tensor:
    """The patches of input (n, c, h, w) or (c, h, w) as columns (n, c * kh * kw, windows)."""
    if input.ndim not in (3, 4) or 0 in input.shape[input.ndim - 3:]:
        raise RuntimeError(f"unfold: Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero "
                           f"dimensions for input, but got: {list(input.shape)}")
    geometry = sliding("unfold", tuple(input.shape[-2:]), kernel_size, dilation, padding, stride)
    if input.ndim == 3:
        out = Im2Col.apply(unsqueeze(input, 0), geometry=geometry)
        return reshape(out, out.shape[1:])
    return Im2Col.apply(input, geometry=geometry)


def fold(input: Tensor, output_size: SizeLike, kernel_size: SizeLike, dilation: SizeLike = 1, padding: SizeLike = 0,
         stride: SizeLike = 1) -> Tensor:
    """Columns (n, c * kh * kw, windows), or without n, added up to (n, c, *output_size) where unfold takes them."""
    plane = ints(output_size, 2, "output_size")
    if min(plane) < 1:
        raise RuntimeError(f"fold: Expected output spatial size to be at least one, but got output_size={list(plane)}")
    if input.ndim not in (2, 3) or 0 in input.shape[input.ndim - 2:]:
        raise RuntimeError(f"fold: Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and non-zero "
                           f"dimensions for input, but got: {list(input.shape)}")
    geometry = sliding("fold", plane, kernel_size, dilation, padding, stride)
    size, blocks = prod(geometry.kernel), prod(geometry.out)
    if input.shape[-2] % size:
        raise RuntimeError(f"fold: Expected size of input's dimension 1 to be divisible by the product of kernel_size, but "
                           f"got input.size(1)={input.shape[-2]} and kernel_size={list(geometry.kernel)}.")
    if input.shape[-1] != blocks:
        raise RuntimeError(f"fold: Given output_size={list(plane)}, kernel_size={list(geometry.kernel)}, dilation="
                           f"{list(geometry.dilation)}, padding={list(geometry.before)}, "
                           f"stride={list(geometry.stride)}, expected "
                           f"size of input's dimension 2 to match the calculated number of sliding blocks {blocks}, but got "
                           f"input.size(2)={input.shape[-1]}.")
    if input.ndim == 2:
        out = Col2Im.apply(unsqueeze(input, 0), plane=plane, geometry=geometry)
        return reshape(out, out.shape[1:])
    return Col2Im.apply(input, plane=plane, geometry=geometry)
