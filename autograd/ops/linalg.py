"""Matrix products."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dtypes import promote
from ..operation import fit
from ..tensor import Tensor
from ._declare import Operation
from .arithmetic import mul
from .cast import cast
from .reduce import sum
from .shape import mT, reshape, unsqueeze


class MatMul(Operation, name="Mm"):
    """x @ y with at least two dimensions each, leading ones broadcast: (..., n, k) @ (..., k, m) -> (..., n, m)."""

    @staticmethod
    def forward(ctx: Any, x: Any, y: Any) -> Any:
        """np.matmul."""
        ctx.save(x, y)
        ctx.shapes = x.shape, y.shape
        return np.matmul(x, y)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        """g @ y^T and x^T @ g, summed over broadcast dimensions."""
        x, y = ctx.values
        was_x, was_y = ctx.shapes
        gx = fit(matrices(g, mT(y)), was_x, x.dtype) if ctx.needs(0) else None
        return gx, fit(matrices(mT(x), g), was_y, y.dtype) if ctx.needs(1) else None


matrices = MatMul.apply


def matmul(x: Any, y: Any) -> Any:
    """The matrix product as Python's @: vectors are rows on the left, columns on the right; leading sizes broadcast."""
    if not isinstance(x, (Tensor, np.ndarray)) or not isinstance(y, (Tensor, np.ndarray)):
        return NotImplemented
    if x.ndim == 0 or y.ndim == 0:
        raise RuntimeError("both arguments to matmul need to be at least 1D, but they are "
                           f"{x.ndim}D and {y.ndim}D")
    inner = y.shape[-2] if y.ndim > 1 else y.shape[0]
    if x.shape[-1] != inner:
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({_size(x)} and {_size(y)})")
    if x.dtype != y.dtype:
        dtype = promote(x.dtype, y.dtype)
        x, y = cast(x, dtype), cast(y, dtype)
    if x.ndim == 1 and y.ndim == 1:
        return sum(mul(x, y))
    left = unsqueeze(x, 0) if x.ndim == 1 else x
    right = unsqueeze(y, 1) if y.ndim == 1 else y
    out = matrices(left, right)
    if x.ndim == 1:
        return reshape(out, (*out.shape[:-2], out.shape[-1]))
    return reshape(out, out.shape[:-1]) if y.ndim == 1 else out


def _size(x: Any) -> str:
    return "x".join(map(str, x.shape))


class Linear(Operation, name="Addmm"):
    """x @ weight^T + bias for x (n, k), weight (m, k), bias (m,): one node for the three."""

    @staticmethod
    def forward(ctx: Any, x: Any, weight: Any, bias: Any) -> Any:
        """The product, the bias added in place."""
        ctx.save(x, weight)
        out = x @ weight.T
        out += bias
        return out

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        """g @ weight, g^T @ x, and g summed over the rows."""
        x, weight = ctx.values
        return (matrices(g, weight) if ctx.needs(0) else None,
                matrices(mT(g), x) if ctx.needs(1) else None,
                sum(g, 0) if ctx.needs(2) else None)


def linear(x: Any, weight: Any, bias: Any = None) -> Any:
    """x @ weight^T + bias: x (..., k), weight (m, k), bias (m,) -> (..., m)."""
    if x.ndim == 0 or x.shape[-1] != weight.shape[-1]:
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({_size(x)} and "
                           f"{'x'.join(map(str, weight.shape[::-1]))})")
    if bias is None or weight.ndim == 1 or not (x.dtype == weight.dtype == bias.dtype) or bias.ndim != 1:
        out = matmul(x, weight if weight.ndim == 1 else mT(weight))
        return out if bias is None else out + bias
    if bias.shape[0] != weight.shape[0]:
        raise RuntimeError(f"linear: bias has {bias.shape[0]} elements, weight {weight.shape[0]} rows")
    if x.ndim == 2:
        return Linear.apply(x, weight, bias)
    out = Linear.apply(reshape(x, (-1 if x.size else int(np.prod(x.shape[:-1])), x.shape[-1])), weight, bias)
    return reshape(out, (*x.shape[:-1], weight.shape[0]))


bmm = mm = matmul

__all__ = ["bmm", "matmul", "mm"]
METHODS = ["bmm", "matmul", "mm"]
