"""Products of tensors that are no matrix products: tensordot, kron, cross, vecdot, powers of a vector."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.dtypes import int64
from ...base.types import Array
from ...core.batching import along
from ...core.casting import casting, casts_lower, lower
from ...core.operation import Operation
from ...core.out import takes_out
from ...core.tensor import Tensor
from ...core.types import Context, Gradients, TensorOrArray
from ..pointwise.arithmetic import mul
from ..pointwise.cast import cast
from ..pointwise.complex import conj
from ..reductions.reduce import sum
from ..shape import cat, flip, reshape, unsqueeze, wrap_dim
from .einsum import Contract
from .matmul import one_dtype


@takes_out
def tensordot(a: Tensor, b: Tensor, dims: Any = 2) -> Tensor:
    """The sum of products over the last `dims` dimensions of a and the first of b, or over the two lists in `dims`."""
    if isinstance(dims, Tensor):
        dims = dims.tolist()
    if isinstance(dims, int):
        if dims < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
        if dims > min(a.ndim, b.ndim):
            raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims} for {a.ndim}D and {b.ndim}D")
        dims = list(range(a.ndim - dims, a.ndim)), list(range(dims))
    first, second = ([d] if isinstance(d, int) else list(d) for d in dims)
    if len(first) != len(second):
        raise RuntimeError(f"both dimension lists should have same length, got {first} and {second}")
    first, second = [wrap_dim(d, a.ndim) for d in first], [wrap_dim(d, b.ndim) for d in second]
    if len(set(first)) < len(first) or len(set(second)) < len(second):
        raise RuntimeError(f"tensordot: dims appear multiple times in {first} or {second}")
    if casting.used and not len(first) == a.ndim == b.ndim:       # a product of matrices, not of vectors
        a, b = lower(a, b)
    if a.dtype != b.dtype:
        a, b = one_dtype(a, b)
    for i, j in zip(first, second, strict=True):
        if a.shape[i] == b.shape[j]:
            continue
        if a.shape[i] != 1 and b.shape[j] != 1:
            raise RuntimeError(f"contracted dimensions need to match, but first has size {a.shape[i]} in dim {i} and second "
                               f"has size {b.shape[j]} in dim {j}")
        a, b = (a, sum(b, j, keepdim=True)) if a.shape[i] == 1 else (sum(a, i, keepdim=True), b)
    left, right = list(range(a.ndim)), list(range(a.ndim, a.ndim + b.ndim))
    for i, j in zip(first, second, strict=True):
        right[j] = i
    output_labels = (*(n for n in left if n not in first), *(n for n in right if n >= a.ndim))
    return Contract.apply(a, b, left=tuple(left), right=tuple(right), output_labels=output_labels)


@takes_out
def kron(input: Tensor, other: Tensor) -> Tensor:
    """The Kronecker product: each element of input times all of other."""
    ndim = max(input.ndim, other.ndim)
    big, small = ((1,) * (ndim - x.ndim) + tuple(x.shape) for x in (input, other))
    spread = [reshape(x, tuple(n for size in sizes for n in ((size, 1) if first else (1, size))))
              for x, sizes, first in ((input, big, True), (other, small, False))]
    return reshape(mul(*spread), tuple(m * n for m, n in zip(big, small, strict=True)))


class Cross(Operation, name="LinalgCross"):
    """x cross y along a dimension of size 3."""

    batched = along("dim")

    mixes = True

    @staticmethod
    def forward(ctx: Context, x: Array, y: Array, *, dim: int) -> Array:
        ctx.save(x, y)
        ctx.dim = dim
        return np.cross(x, y, axis=dim)

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        """y x g and g x x, by the triple product."""
        x, y = ctx.values
        return (Cross.apply(conj(y), g, dim=ctx.dim) if ctx.needs(0) else None,
                Cross.apply(g, conj(x), dim=ctx.dim) if ctx.needs(1) else None)


@takes_out
def linalg_cross(input: Tensor, other: Tensor, *, dim: int = -1) -> Tensor:
    """The cross product of vectors of 3 elements along `dim`; other dimensions broadcast."""
    if input.ndim != other.ndim:
        raise RuntimeError(f"linalg.cross: inputs must have the same number of dimensions, got {input.ndim} "
                           f"and {other.ndim}")
    place = wrap_dim(dim, input.ndim)
    if input.shape[place] != 3 or other.shape[place] != 3:
        raise RuntimeError(f"linalg.cross: inputs dimension {dim} must have length 3. Got {input.shape[place]} and "
                           f"{other.shape[place]}")
    _broadcast("linalg.cross", input, other)
    if input.dtype != other.dtype:
        input, other = one_dtype(input, other)
    return Cross.apply(input, other, dim=place)


def _broadcast(name: str, x: Tensor, y: Tensor) -> None:
    try:
        np.broadcast_shapes(x.shape, y.shape)
    except ValueError:
        raise RuntimeError(f"{name}: the shapes {list(x.shape)} and {list(y.shape)} do not broadcast") from None


@takes_out
def cross(input: Tensor, other: Tensor, dim: int | None = None) -> Tensor:
    """The cross product of vectors of 3 elements along `dim`, by default the first dimension of that size."""
    if dim is None:
        _broadcast("cross", input, other)
        shape = np.broadcast_shapes(input.shape, other.shape)
        if 3 not in shape:
            raise RuntimeError(f"no dimension of size 3 in input, of shape {list(shape)}")
        dim = shape.index(3) - len(shape)
    return linalg_cross(input, other, dim=dim)


@casts_lower
@takes_out
def vecdot(x: Tensor, y: Tensor, *, dim: int = -1) -> Tensor:
    """The sum of conj(x) * y along `dim`."""
    for v in (x, y):
        if v.dtype.kind not in "fcV":
            raise RuntimeError(f"linalg.vecdot: Expected a floating point or complex tensor as input. Got {v.dtype}")
    if x.dtype != y.dtype:
        raise RuntimeError(f"linalg.vecdot: Expected vectors of one dtype, but found {x.dtype} and {y.dtype}")
    return sum(mul(conj(x), y), dim)


@takes_out
def linalg_vander(x: TensorOrArray, *, N: int | None = None) -> Tensor:
    """The powers 0 to N - 1 of x along a new last dimension; N is by default the size of x's last one."""
    if x.ndim == 0 and N is None:
        raise RuntimeError("linalg.vander: The input tensor must have at least one dimension, or N must be given.")
    if x.ndim == 0:
        x = reshape(x, 1)
    n = x.shape[-1] if N is None else N
    if n <= 1 and N is not None:
        raise RuntimeError(f"N must be greater than 1, got {N}.")
    if x.dtype == np.bool_ or x.dtype.kind in "iu":
        x = cast(x, int64)
    powers = [np.ones((*x.shape, 1), x.dtype)]
    for _ in range(n - 1):
        powers.append(unsqueeze(x, -1) if len(powers) == 1 else mul(powers[-1], unsqueeze(x, -1)))
    return cat(powers, -1) if n > 1 or isinstance(x, np.ndarray) else 0 * unsqueeze(x, -1) + 1


def vander(x: Tensor, N: int | None = None, increasing: bool = False) -> Tensor:
    """The matrix of the powers of a vector's elements, N of them (by default as many as elements), from the highest on."""
    if x.ndim != 1:
        raise RuntimeError(f"x must be a one-dimensional tensor, not one of shape {list(x.shape)}")
    n = len(x) if N is None else N
    if n < 0:
        raise RuntimeError(f"N must be non-negative, got {n}")
    x = cast(x, int64) if x.dtype.kind in "biu" else x
    if n < 2:
        return unsqueeze(x, -1)[:, :n] * 0 + 1
    out = linalg_vander(x, N=n)
    return out if increasing else flip(out, -1)


__all__ = ["cross", "kron", "tensordot", "vander"]
METHODS = ["cross", "kron"]
