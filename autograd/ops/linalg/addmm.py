"""beta * input + alpha * (a product), in all ranks."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...base.dtypes import promote
from ...base.types import Array, Number
from ...core.batching import elementwise, leading
from ...core.casting import casts_lower
from ...core.operation import Operation, sum_to_like
from ...core.out import takes_out
from ...core.tensor import Tensor
from ...core.types import Context, Gradients, TensorOrArray
from ...kernels.products import product
from .._names import older_order
from ..pointwise.cast import cast
from ..pointwise.logic import logical_and, logical_or
from ..reductions.reduce import sum
from ..shape import expand
from ..shape.broadcast import expanded
from .matmul import bmm, demand_ndim, matmul, mm, mv, outer, product_gradients, size_text


class AddmmOfProduct(Operation, name="Addmm"):
    """beta * input + alpha * product; beta = 0 drops input, whatever it holds."""

    batched = elementwise

    mixes = True

    @staticmethod
    def forward(ctx: Context, input: Array, product: Array, *, beta: Number, alpha: Number) -> Array:
        ctx.factors = beta, alpha
        out = product if alpha == 1 else alpha * product
        if beta == 0:
            return out
        return out + (input if beta == 1 else beta * input)

    @staticmethod
    def backward(ctx: Context, g: Tensor) -> Gradients:
        beta, alpha = ctx.factors
        return (scaled(g, beta) if ctx.needs(0) else None), (scaled(g, alpha) if ctx.needs(1) else None)


class Addmm(Operation):
    """beta * input + alpha * (x @ y) in one node, for matrices or stacks of them in one floating dtype."""

    batched = leading

    @staticmethod
    def forward(ctx: Context, input: Array, x: Array, y: Array, *, beta: float, alpha: float) -> Array:
        ctx.save(x, y)
        ctx.factors, ctx.shape = (beta, alpha), input.shape
        out = product(x, y)
        if alpha != 1:
            out *= alpha
        if beta != 0:
            out += input if beta == 1 else beta * input
        return out

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        beta, alpha = ctx.factors
        x, y = ctx.values
        return (sum_to_like(scaled(g, beta), ctx.shape, g.dtype) if ctx.needs(0) else None,
                *product_gradients(scaled(g, alpha), x, y, ctx.needs(1), ctx.needs(2)))


def scaled(g: TensorOrArray, factor: Number) -> Any:
    """g * conj(factor)."""
    return g if factor == 1 else g * (factor.conjugate() if isinstance(factor, complex) else factor)


def plain(input: Tensor, x: Tensor, y: Tensor, ndim: int, beta: Number, alpha: Number) -> bool:
    """Whether Addmm takes these operands and factors, and they fit; AddmmOfProduct's way has the errors."""
    if not (isinstance(input, Tensor) and isinstance(x, Tensor) and isinstance(y, Tensor)):
        return False
    if beta.__class__ not in (int, float) or alpha.__class__ not in (int, float):
        return False
    dtype, a, b, c = x.dtype, x.array.shape, y.array.shape, input.array.shape
    if dtype is not y.dtype or dtype is not input.dtype or dtype.kind != "f" or len(a) != ndim or len(b) != ndim:
        return False
    if a[-1] != b[-2] or a[:-2] != b[:-2]:
        return False
    goal = (*a[:-1], b[-1])
    fits = goal[ndim - len(c):] == c
    return fits or (len(c) <= ndim and all(n in (1, m) for n, m in zip(c[::-1], goal[::-1], strict=False)))


def blended(name: str, input: Tensor, product: Tensor, beta: Any, alpha: Any) -> Tensor:
    """beta * input + alpha * product, where input broadcasts to the product's shape."""
    if input.dtype != product.dtype:
        raise RuntimeError(f"{name}: self and the product must have the same dtype, but got {input.dtype} "
                           f"and {product.dtype}")
    if product.dtype.kind in "iu":
        beta, alpha = int(beta), int(alpha)          # as PyTorch: cut off
    expanded(input.shape, product.shape)             # an error where it does not fit
    return AddmmOfProduct.apply(input, product, beta=beta, alpha=alpha)


@older_order("beta", "alpha")
@casts_lower
@takes_out
def addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
    """beta * input + alpha * (mat1 @ mat2)."""
    if plain(input, mat1, mat2, 2, beta, alpha):
        return Addmm.apply(input, mat1, mat2, beta=beta, alpha=alpha)
    return blended("addmm", input, mm(mat1, mat2), beta, alpha)


@older_order("beta", "alpha")
@takes_out
def addmv(input: Tensor, mat: Tensor, vec: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
    """beta * input + alpha * (mat @ vec)."""
    return blended("addmv", input, mv(mat, vec), beta, alpha)


@older_order("beta", "alpha")
@takes_out
def addr(input: Tensor, vec1: Tensor, vec2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
    """beta * input + alpha * outer(vec1, vec2)."""
    demand_ndim("addr", "vec1", vec1, 1)
    demand_ndim("addr", "vec2", vec2, 1)
    product = outer(vec1, vec2)
    if input.dtype == product.dtype == np.bool_:
        if not isinstance(beta, (bool, int)) or not isinstance(alpha, (bool, int)):
            raise RuntimeError("Boolean beta and alpha only supported for Boolean results.")
        product = logical_and(product, np.asarray(bool(alpha)))
        return logical_or(expand(input, product.shape), product) if beta else product
    dtype = promote(input.dtype, product.dtype)
    for argument, value in (("beta", beta), ("alpha", alpha)):
        if isinstance(value, bool):
            raise RuntimeError(f"Boolean {argument} only supported for Boolean results, not for {dtype}.")
        if dtype.kind in "iub" and isinstance(value, float):
            raise RuntimeError(f"For integral input tensors, argument {argument} must not be a floating point number.")
        if dtype.kind != "c" and isinstance(value, complex):
            raise RuntimeError(f"For non-complex input tensors, argument {argument} must not be a complex number.")
    return blended("addr", cast(input, dtype), cast(product, dtype), beta, alpha)


def _stacks(batch1: Tensor, batch2: Tensor) -> None:
    demand_ndim("addbmm", "batch1", batch1, 3)
    demand_ndim("addbmm", "batch2", batch2, 3)
    if batch1.shape[0] != batch2.shape[0]:
        raise RuntimeError("batch1 and batch2 must have same number of batches, got "
                           f"{batch1.shape[0]} and {batch2.shape[0]}")
    if batch1.shape[2] != batch2.shape[1]:
        raise RuntimeError(f"Incompatible matrix sizes for bmm ({size_text(batch1)} and {size_text(batch2)})")


@older_order("beta", "alpha")
@casts_lower
@takes_out
def addbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
    """beta * input + alpha * the sum of all batch1[i] @ batch2[i]."""
    _stacks(batch1, batch2)
    total = sum(bmm(batch1, batch2), 0, dtype=batch1.dtype)
    return blended("addbmm", input, total, beta, alpha)


@older_order("beta", "alpha")
@casts_lower
@takes_out
def baddbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
    """beta * input[i] + alpha * (batch1[i] @ batch2[i])."""
    if plain(input, batch1, batch2, 3, beta, alpha):
        return Addmm.apply(input, batch1, batch2, beta=beta, alpha=alpha)
    _stacks(batch1, batch2)
    return blended("baddbmm", input, bmm(batch1, batch2), beta, alpha)


@takes_out
def multi_dot(tensors: Sequence[Tensor]) -> Tensor:
    """The product of a chain of matrices, in the order that takes the fewest multiplications; the first and the last may
    be vectors."""
    xs = list(tensors)
    if len(xs) < 2:
        raise RuntimeError(f"multi_dot(): expected at least 2 tensors but got {len(xs)}")
    for i, x in enumerate(xs):
        if x.ndim != 2 and not (x.ndim == 1 and i in (0, len(xs) - 1)):
            raise RuntimeError(f"multi_dot(): tensor {i} must be 2D{' or 1D' if i in (0, len(xs) - 1) else ''} "
                               f"but got {x.ndim}D")
        if x.dtype != xs[0].dtype:
            raise RuntimeError("multi_dot(): all tensors must have be the same dtype but tensor 0 is "
                               f"{xs[0].dtype} and tensor {i} {x.dtype}")
    sizes = [xs[0].shape[0] if xs[0].ndim == 2 else 1, *(x.shape[0] for x in xs[1:]),
             xs[-1].shape[1] if xs[-1].ndim == 2 else 1]
    for i, (a, b) in enumerate(itertools.pairwise(xs)):
        if a.shape[-1] != b.shape[0]:
            raise RuntimeError(f"multi_dot(): tensors {i} and {i + 1} with shapes {list(a.shape)} and {list(b.shape)} "
                               "cannot be multiplied")
    best = chain_order(sizes)

    def product(i: int, j: int) -> Tensor:
        if i == j:
            return xs[i]
        k = best[i, j]
        return matmul(product(i, k), product(k + 1, j))

    return product(0, len(xs) - 1)


def chain_order(sizes: list[int]) -> dict[tuple[int, int], int]:
    """Where to cut the chain from matrix i to matrix j (sizes[i] x sizes[i + 1] is matrix i): the dynamic programme of
    Cormen et al., Introduction to Algorithms, 15.2."""
    n = len(sizes) - 1
    cost = {(i, i): 0 for i in range(n)}
    cut: dict[tuple[int, int], int] = {}
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            options = {k: cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1] for k in range(i, j)}
            cut[i, j] = min(options, key=options.__getitem__)
            cost[i, j] = options[cut[i, j]]
    return cut


@takes_out
def chain_matmul(*matrices: Any) -> Tensor:
    """multi_dot(matrices), under its older name."""
    if len(matrices) == 1:
        return matrices[0]
    return multi_dot(matrices)


__all__ = ["addbmm", "addmm", "addmv", "addr", "baddbmm", "chain_matmul"]
METHODS = ["addbmm", "addmm", "addmv", "addr", "baddbmm"]
IN_PLACE = ["addbmm", "addmm", "addmv", "addr", "baddbmm"]
