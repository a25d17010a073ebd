"""A copy with one part of it replaced, a part that some view shows: select_scatter, slice_scatter and others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...base.types import Array, Number
from ...core.operation import Operation
from ...core.out import takes_out
from ...core.tensor import Tensor
from ...core.types import Context, Gradients, TensorOrArray
from ..shape import clone, diagonal, select, wrap_dim
from .indexing import getitem


class ViewScatter(Operation):
    """x with its part view_of(x) replaced by src. `view_of` takes arrays and Tensors, and returns views."""

    @staticmethod
    def forward(ctx: Context, x: Array, src: Array | Number, *, view_of: Callable[[Any], Any]) -> Array:
        ctx.view_of = view_of
        out = np.array(x)
        view_of(out)[...] = src
        return out

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        """The gradient of x is g with zeros in the view; that of src is the view of g."""
        gx = ViewScatter.apply(g, 0, view_of=ctx.view_of) if ctx.needs(0) else None
        return gx, ctx.view_of(g) if ctx.needs(1) else None


def _replace(x: Tensor, src: Tensor, view_of: Callable[[Any], Any]) -> Tensor:
    shape = view_of(x.detach()).shape
    if src.shape != shape:
        raise RuntimeError(f"expected src to have a size equal to the slice of self. src size = {list(src.shape)}, slice "
                           f"size = {list(shape)}")
    if src.dtype != x.dtype:
        src = src.to(x.dtype)
    return ViewScatter.apply(x, src, view_of=view_of)


def select_scatter(input: Tensor, src: Tensor, dim: int, index: int) -> Tensor:
    """input with its slice number `index` along `dim` replaced by src."""
    return _replace(input, src, lambda x: select(x, dim, index))


@takes_out
def slice_scatter(input: Tensor, src: Tensor, dim: int = 0, start: int | None = None, end: int | None = None,
                  step: int = 1) -> Tensor:
    """input with its slices start to end along `dim`, each step-th, replaced by src."""
    if step <= 0:
        raise RuntimeError(f"slice step must be positive, not {step}")
    if not input.ndim:
        raise RuntimeError("slice_scatter() cannot be applied to a 0-dim tensor.")
    at = (*[slice(None)] * wrap_dim(dim, input.ndim), slice(start, end, step))
    return _replace(input, src, lambda x: getitem(x, at))


@takes_out
def slice_copy(input: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1) -> Tensor:
    """A copy of input's slices start to end along `dim`, each step-th."""
    return clone(getitem(input, (*[slice(None)] * wrap_dim(dim, input.ndim), slice(start, end, step))))


def diagonal_scatter(input: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """input with a diagonal replaced by src."""
    return _replace(input, src, lambda x: diagonal(x, offset, dim1, dim2))


__all__ = ["diagonal_scatter", "select_scatter", "slice_copy", "slice_scatter"]
METHODS = ["diagonal_scatter", "select_scatter", "slice_scatter"]
