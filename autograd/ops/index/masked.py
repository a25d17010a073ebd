"""Reading and writing of elements that a mask selects."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.types import Array, Number
from ...core.batching import leading
from ...core.operation import Operation
from ...core.out import takes_out, takes_out_apart
from ...core.primitive import data_dependent
from ...core.tensor import Tensor
from ...core.types import Context, Gradients, TensorOrArray, TensorOrNumber
from ...kernels.where import alternates, where
from ..creation.arguments import fitting
from ..shape import broadcast_shapes, expand, pad_constant, reshape
from .indexing import MaskedSelect


class MaskedFill(Operation):
    """x, but value where the mask holds. The value is one element."""

    batched = leading

    mixes = True

    @staticmethod
    def forward(ctx: Context, x: Array, mask: Array, value: Array | Number) -> Array:
        """NumPy's copyto, into a copy; where many are chosen, the kernel for that."""
        ctx.save(mask)
        if x.dtype.kind == "f" and type(x) is type(mask) is np.ndarray and x.flags.c_contiguous and alternates(mask):
            return where(mask, np.asarray(value).astype(x.dtype), x)
        out = np.array(x, order="C")
        np.copyto(out, value, where=mask, casting="unsafe")
        return out

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        """The gradient of x is g outside of the mask; that of value is the sum of the rest (fitted to its shape
        afterwards)."""
        (mask,) = ctx.values
        gx = MaskedFill.apply(g, mask, 0) if ctx.needs(0) else None
        return gx, None, g * mask if ctx.needs(2) else None


class MaskedScatter(Operation):
    """x, but the elements of source, one after the other, where the mask holds."""

    @staticmethod
    def forward(ctx: Context, x: Array, mask: Array, source: Array) -> Array:
        ctx.save(mask)
        ctx.shape = source.shape
        out = np.array(x, order="C")
        out[mask] = source.reshape(-1)[:np.count_nonzero(mask)]
        return out

    @staticmethod
    def backward(ctx: Context, g: Tensor) -> Gradients:
        """The gradient of x is g outside of the mask; that of source is g at the mask, then zeros."""
        (mask,) = ctx.values
        gx = MaskedFill.apply(g, mask, 0) if ctx.needs(0) else None
        gs = None
        if ctx.needs(2):
            used = MaskedSelect.apply(g, mask)
            gs = reshape(pad_constant(used, ((0, int(np.prod(ctx.shape)) - used.shape[0]),)), ctx.shape)
        return gx, None, gs


def _broadcast_mask(name: str, x: Tensor, mask: TensorOrArray) -> tuple[Any, Any]:
    """x and the mask in the shape that they broadcast to."""
    if not isinstance(mask, (Tensor, np.ndarray)):
        raise TypeError(f"{name}(): argument 'mask' must be Tensor, not {type(mask).__name__}")
    if mask.dtype.kind != "b":
        raise RuntimeError(f"{name} only supports boolean masks, but got mask with dtype {mask.dtype}")
    if mask.shape == x.shape:
        return x, mask
    shape = broadcast_shapes(x.shape, mask.shape)
    return x if x.shape == shape else expand(x, shape), mask if mask.shape == shape else expand(mask, shape)


@takes_out
def masked_fill(input: Tensor, mask: Tensor, value: TensorOrNumber) -> Tensor:
    """input, but `value` (a number or a 0-d Tensor) where the mask holds."""
    if isinstance(value, Tensor) and value.ndim:
        raise RuntimeError(f"masked_fill only supports a 0-dimensional value tensor, but got tensor with {value.ndim} "
                           "dimension(s).")
    plain = value.__class__ in (int, float, bool)
    kind = "f" if plain else value.dtype.kind if isinstance(value, Tensor) else np.asarray(value).dtype.kind
    if kind == "c" and input.dtype.kind != "c":
        raise RuntimeError("value cannot be converted to type of input without overflow: it is complex")
    x, mask = _broadcast_mask("masked_fill", input, mask)
    if value.__class__ is float and x.dtype.kind in "fcV":
        fitting(value, x.dtype)
    return MaskedFill.apply(x, mask, value)


def fill(input: Tensor, value: TensorOrNumber) -> Tensor:
    """`value`, a number or a 0-d Tensor, in input's shape and dtype: fill_() as a new tensor."""
    if isinstance(value, Tensor) and value.ndim:
        raise RuntimeError(f"fill only supports 0-dimension value tensor but got tensor with {value.ndim} dimensions.")
    return MaskedFill.apply(input, np.True_, value)


@data_dependent
@takes_out
def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """input, but the elements of source, one after the other, where the mask holds."""
    if source.dtype != input.dtype:
        raise RuntimeError(f"masked_scatter: expected self and source to have same dtypes but got {input.dtype} and "
                           f"{source.dtype}")
    x, mask = _broadcast_mask("masked_scatter", input, mask)
    size, wanted = int(np.prod(source.shape)), np.count_nonzero(mask.array if isinstance(mask, Tensor) else mask)
    if size < wanted:
        raise RuntimeError(f"Number of elements of source < number of ones in mask: {size} < {wanted}")
    return MaskedScatter.apply(x, mask, source)


@data_dependent
@takes_out_apart
def masked_select(input: Tensor, mask: Tensor) -> Tensor:
    """The elements of input where the mask holds, in one dimension; the two broadcast."""
    x, mask = _broadcast_mask("masked_select", input, mask)
    return MaskedSelect.apply(x, mask)


__all__ = ["fill", "masked_fill", "masked_scatter", "masked_select"]
METHODS = ["masked_fill", "masked_scatter", "masked_select"]
IN_PLACE = ["masked_fill", "masked_scatter"]
