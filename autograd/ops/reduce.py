"""Sums, means, extremes, and what is built of them: logsumexp, softmax."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..dtypes import int64
from ..tensor import Tensor, result
from ._declare import Operation
from .arithmetic import div, mul
from .cast import cast
from .choice import maximum, minimum
from .exponential import exp, log
from .powers import sqrt
from .shape import expand, reshape, wrap_dim

add_up: Any = np.add.reduce                          # half the overhead of x.sum()
every: Any = np.logical_and.reduce
some: Any = np.logical_or.reduce

Dims = int | tuple[int, ...] | list[int] | None


def dims_of(dim: Dims, ndim: int) -> tuple[int, ...]:
    """The dimensions to reduce, from the front; None and () stand for all."""
    if dim is None or (isinstance(dim, (tuple, list)) and not dim):
        return tuple(range(ndim))
    dims = tuple(wrap_dim(d, ndim) for d in ((dim,) if isinstance(dim, int) else dim))
    if len(set(dims)) != len(dims):
        raise RuntimeError(f"dim {dim} appears multiple times in the list of dims")
    return dims if ndim else ()


def kept(shape: tuple[int, ...], dims: tuple[int, ...]) -> tuple[int, ...]:
    """`shape` with the reduced dimensions at size 1."""
    return tuple(1 if i in dims else n for i, n in enumerate(shape))


class Sum(Operation):
    """The sum over dims."""

    @staticmethod
    def forward(ctx: Any, x: Any, *, dims: tuple[int, ...], keepdim: bool) -> Any:
        """np.add.reduce, in x's dtype."""
        ctx.shape, ctx.dims = x.shape, dims
        return add_up(x, axis=dims, dtype=x.dtype, keepdims=keepdim)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        """Repeat."""
        return expand(reshape(g, kept(ctx.shape, ctx.dims)), ctx.shape)


def sum(x: Any, dim: Dims = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The sum of all elements, or over the dimensions `dim`; integers and booleans add up in int64."""
    if dtype is None and x.dtype.kind in "iub":
        dtype = int64
    if dtype is not None:
        x = cast(x, dtype)
    return Sum.apply(x, dims=dims_of(dim, x.ndim), keepdim=keepdim)


class Mean(Operation):
    """The mean over dims."""

    @staticmethod
    def forward(ctx: Any, x: Any, *, dims: tuple[int, ...], keepdim: bool) -> Any:
        """The sum, divided by the count."""
        ctx.shape, ctx.dims = x.shape, dims
        ctx.count = count(x.shape, dims)
        total = add_up(x, axis=dims, dtype=x.dtype, keepdims=keepdim)
        with np.errstate(invalid="ignore", divide="ignore"):      # the mean of nothing is nan, as in PyTorch
            return np.true_divide(total, np.asarray(ctx.count, x.dtype))

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        """An equal share for each."""
        return expand(reshape(div(g, float(ctx.count)), kept(ctx.shape, ctx.dims)), ctx.shape)


def count(shape: tuple[int, ...], dims: tuple[int, ...]) -> int:
    """How many elements each result of a reduction takes in."""
    n = 1
    for d in dims:
        n *= shape[d]
    return n


def mean(x: Any, dim: Dims = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The mean of all elements, or over the dimensions `dim`; floating point only."""
    if dtype is not None:
        x = cast(x, dtype)
    if x.dtype.kind not in "fc":
        raise RuntimeError(f"mean(): could not infer output dtype. Input dtype must be either a floating point or "
                           f"complex dtype. Got: {x.dtype}")
    return Mean.apply(x, dims=dims_of(dim, x.ndim), keepdim=keepdim)


def var(x: Any, dim: Dims = None, *, correction: float = 1, keepdim: bool = False, unbiased: bool | None = None) -> Any:
    """The variance: squared distances from the mean, summed, over (count - correction)."""
    if unbiased is not None:
        correction = 1 if unbiased else 0
    dims = dims_of(dim, x.ndim)
    centred = x - mean(x, dims, keepdim=True)
    n = count(x.shape, dims) - correction
    total = sum(centred * centred, dims, keepdim=keepdim)
    return total / float(n) if n > 0 else total * float("nan")


def std(x: Any, dim: Dims = None, *, correction: float = 1, keepdim: bool = False, unbiased: bool | None = None) -> Any:
    """The square root of the variance."""
    return sqrt(var(x, dim, correction=correction, keepdim=keepdim, unbiased=unbiased))


class Extreme(Operation):
    """The largest (or smallest) element over dims; equal ones share the gradient, as PyTorch's amax."""

    @staticmethod
    def forward(ctx: Any, x: Any, *, dims: tuple[int, ...], keepdim: bool, pick: Any) -> Any:
        """np.maximum.reduce or np.minimum.reduce."""
        ctx.shape, ctx.dims = x.shape, dims
        out = np.asarray(pick.reduce(x, axis=dims, keepdims=keepdim))
        ctx.save(x, out)
        return out

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        """To the elements equal to the extreme, in equal parts."""
        x, z = ctx.values
        shape = kept(ctx.shape, ctx.dims)
        chosen = cast(x == reshape(z, shape), x.dtype)
        return chosen * reshape(g, shape) / sum(chosen, ctx.dims, keepdim=True)


def _extreme(x: Any, dim: Dims, keepdim: bool, pick: Any, name: str) -> Any:
    dims = dims_of(dim, x.ndim)
    if count(x.shape, dims) == 0:
        raise RuntimeError(f"{name}(): Expected reduction dim to have non-zero size, got shape {list(x.shape)}")
    return Extreme.apply(x, dims=dims, keepdim=keepdim, pick=pick)


def amax(x: Any, dim: Dims = None, keepdim: bool = False) -> Any:
    """The largest element over `dim`; equal ones share the gradient."""
    return _extreme(x, dim, keepdim, np.maximum, "amax")


def amin(x: Any, dim: Dims = None, keepdim: bool = False) -> Any:
    """The smallest element over `dim`; equal ones share the gradient."""
    return _extreme(x, dim, keepdim, np.minimum, "amin")


class Pick(Operation, name="Max"):
    """The elements of x at `indices` along dim."""

    @staticmethod
    def forward(ctx: Any, x: Any, indices: Any, *, dim: int) -> Any:
        """np.take_along_axis."""
        ctx.save(indices)
        ctx.dim, ctx.size = dim, x.shape[dim]
        return np.take_along_axis(x, indices, dim)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        """Put back where they were taken."""
        (indices,) = ctx.values
        return Put.apply(g, indices, dim=ctx.dim, size=ctx.size), None


class Put(Operation, name="Scatter"):
    """Zeros of `size` along dim, with g added at `indices`; the adjoint of Pick."""

    @staticmethod
    def forward(ctx: Any, g: Any, indices: Any, *, dim: int, size: int) -> Any:
        """np.put_along_axis; indices may repeat, and then add up."""
        ctx.save(indices)
        ctx.dim = dim
        out = np.zeros((*g.shape[:dim], size, *g.shape[dim + 1:]), g.dtype)
        if indices.shape[dim] == 1:
            np.put_along_axis(out, indices, g, dim)
        else:
            places = list(np.indices(indices.shape, sparse=True))
            places[dim] = indices
            np.add.at(out, tuple(places), g)
        return out

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        """Pick again."""
        (indices,) = ctx.values
        return Pick.apply(g, indices, dim=ctx.dim), None


def gather(x: Any, dim: int, index: Any) -> Any:
    """out[i, j] = x[index[i, j], j] for dim 0, and so on; index has the shape of the result."""
    return Pick.apply(x, index.array if isinstance(index, Tensor) else index, dim=wrap_dim(dim, x.ndim))


def _arg(x: Any, dim: int | None, keepdim: bool, find: Any) -> Any:
    a = x.array
    out = find(a, None if dim is None else wrap_dim(dim, a.ndim))
    if keepdim and dim is not None:
        out = np.expand_dims(out, wrap_dim(dim, a.ndim))
    return result(np.asarray(out))


class ValuesIndices(NamedTuple):
    """What max(dim) and min(dim) return."""

    values: Any
    indices: Any


def _select(x: Any, dim: int, keepdim: bool, find: Any) -> tuple[Any, Any]:
    """The extreme along dim and where it stands: the first of equal ones gets the whole gradient."""
    if x.ndim == 0:
        return ValuesIndices(x * 1, result(np.zeros((), int64)))
    dim = wrap_dim(dim, x.ndim)
    if x.shape[dim] == 0:
        raise IndexError(f"max(): Expected reduction dim {dim} to have non-zero size.")
    indices = np.expand_dims(find(x.array, dim), dim)
    values = Pick.apply(x, indices, dim=dim)
    if keepdim:
        return ValuesIndices(values, result(indices))
    shape = (*x.shape[:dim], *x.shape[dim + 1:])
    return ValuesIndices(reshape(values, shape), result(indices.reshape(shape)))


def max(x: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """The largest of all elements; with `dim`, (values, indices) along it; with a Tensor, elementwise."""
    if isinstance(dim, Tensor):
        return maximum(x, dim)
    return amax(x) if dim is None else _select(x, dim, keepdim, np.argmax)


def min(x: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """The smallest of all elements; with `dim`, (values, indices) along it; with a Tensor, elementwise."""
    if isinstance(dim, Tensor):
        return minimum(x, dim)
    return amin(x) if dim is None else _select(x, dim, keepdim, np.argmin)


def logsumexp(x: Any, dim: Dims, keepdim: bool = False) -> Any:
    """log of the sum of exp(x) over `dim`, without overflow."""
    dims = dims_of(dim, x.ndim)
    data = x.array if isinstance(x, Tensor) else x
    top = np.maximum.reduce(data, axis=dims, keepdims=True)
    top = np.where(np.isfinite(top), top, np.zeros((), top.dtype))
    total = log(sum(exp(x - top), dims, keepdim=True)) + top
    return total if keepdim else reshape(total, tuple(n for i, n in enumerate(x.shape) if i not in dims))


class LogSoftmax(Operation):
    """x - logsumexp(x) along dim."""

    @staticmethod
    def forward(ctx: Any, x: Any, *, dim: int) -> Any:
        """Shifted by the largest element first."""
        ctx.dim = dim
        shifted = x - np.maximum.reduce(x, axis=dim, keepdims=True, initial=-np.inf)
        out = shifted - np.log(add_up(np.exp(shifted), axis=dim, keepdims=True))
        ctx.save(out)
        return out

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        """g - softmax * sum(g)."""
        (z,) = ctx.values
        return g - exp(z) * sum(g, ctx.dim, keepdim=True)


class Softmax(Operation):
    """exp(x) / sum(exp(x)) along dim."""

    @staticmethod
    def forward(ctx: Any, x: Any, *, dim: int) -> Any:
        """Shifted by the largest element first."""
        ctx.dim = dim
        out = np.exp(x - np.maximum.reduce(x, axis=dim, keepdims=True, initial=-np.inf))
        out /= add_up(out, axis=dim, keepdims=True)
        ctx.save(out)
        return out

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        """z * (g - sum(g * z))."""
        (z,) = ctx.values
        return mul(z, g - sum(g * z, ctx.dim, keepdim=True))


def _normalised(operation: Any, x: Any, dim: int, dtype: Any) -> Any:
    if dtype is not None:
        x = cast(x, dtype)
    elif x.dtype.kind not in "fc":
        raise RuntimeError(f"softmax is implemented for floating point, not for {x.dtype}")
    if x.ndim == 0:
        wrap_dim(dim, 0)
        return reshape(operation.apply(reshape(x, 1), dim=0), ())
    return operation.apply(x, dim=wrap_dim(dim, x.ndim))


def softmax(x: Any, dim: int, dtype: Any = None) -> Any:
    """exp(x) over its sum along `dim`: positive, adding up to 1."""
    return _normalised(Softmax, x, dim, dtype)


def log_softmax(x: Any, dim: int, dtype: Any = None) -> Any:
    """log(softmax(x, dim)), computed without losing small ones."""
    return _normalised(LogSoftmax, x, dim, dtype)


def argmax(x: Any, dim: int | None = None, keepdim: bool = False) -> Any:
    """The index of the largest element, of all or along `dim`."""
    return _arg(x, dim, keepdim, np.argmax)


def argmin(x: Any, dim: int | None = None, keepdim: bool = False) -> Any:
    """The index of the smallest element, of all or along `dim`."""
    return _arg(x, dim, keepdim, np.argmin)


def all(x: Any, dim: Dims = None, keepdim: bool = False) -> Any:
    """Whether all elements are true."""
    return result(every(x.array, axis=dims_of(dim, x.ndim), keepdims=keepdim))


def any(x: Any, dim: Dims = None, keepdim: bool = False) -> Any:
    """Whether any element is true."""
    return result(some(x.array, axis=dims_of(dim, x.ndim), keepdims=keepdim))


__all__ = ["all", "amax", "amin", "any", "argmax", "argmin", "gather", "log_softmax", "logsumexp", "max", "mean", "min",
           "softmax", "std", "sum", "var"]
METHODS = ["sum", "mean", "var", "std", "amax", "amin", "max", "min", "argmax", "argmin", "all", "any", "logsumexp",
           "softmax", "log_softmax", "gather"]
