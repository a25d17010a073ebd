"""Products of matrices and vectors, and the linear layers built of them."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ...base.dtypes import promote
from ...base.errors import check_broadcast, unsupported
from ...base.types import Array
from ...core.batching import Level
from ...core.casting import casting, lower
from ...core.grad_buffers import buffer_for
from ...core.operation import Operation, sum_to_like
from ...core.out import detached, into, takes_out
from ...core.tensor import Tensor
from ...core.types import Context, Declared, Gradients, TensorOrArray
from ...kernels.choose import PRODUCT
from ...kernels.openblas import alone
from ...kernels.products import affine, column_sums, product
from ...kernels.products import dot as dot_kernel
from ..pointwise.arithmetic import mul
from ..pointwise.cast import cast
from ..pointwise.complex import conj
from ..reductions.reduce import sum
from ..shape import mH, mT, reshape, unsqueeze
from .sparse_products import is_sparse, sparse_matmul


def _multiplied(level: Level, call: Any, args: Any, settings: Any) -> Any:
    """MatMul's rule for batches."""
    x, y = args
    ndim = max(x.ndim, y.ndim)
    if level.has(x) and level.has(y):
        if x.ndim == y.ndim == 2 and isinstance(x, Tensor) and isinstance(y, Tensor):
            return linear_each(level.raw(x), mT(level.raw(y)))
    elif level.has(x) and y.ndim == 2:
        return call(level.raw(x), y)
    return call(level.aligned(x, ndim), level.aligned(y, ndim))


def _multiplied_vector(level: Level, call: Any, args: Any, settings: Any) -> Any:
    """MatVec's rule for batches."""
    x, v = args
    if not level.has(x):
        return rows_times(level.raw(v), x)
    if level.has(v) and isinstance(x, Tensor):
        out = linear_each(unsqueeze(level.raw(v), 1), level.raw(x))
        return reshape(out, (out.shape[0], out.shape[2]))
    v = level.front(v)
    out = matrices(level.raw(x), reshape(v, (*v.shape, 1)))
    return reshape(out, out.shape[:-1])


def rows_times(x: Any, weight: Any) -> Any:
    """x @ weight^T for matrices."""
    return matrices(x, mT(weight))


def _dotted(level: Level, call: Any, args: Any, settings: Any) -> Any:
    """Dot's rule for batches."""
    return sum(mul(level.raw(args[0]), level.raw(args[1])), 1)


def _linear(level: Level, call: Any, args: Any, settings: Any) -> Any:
    """Linear's rule for batches: weights that differ by sample, or whose gradients do, have an operation of their own."""
    x, weight, bias = args
    if not level.has(weight) and not level.has(bias):
        return call(level.raw(x), weight, bias)
    x, lead = level.front(x), x.shape[:-1]
    out = linear_each(reshape(x, (level.size, prod(lead), x.shape[-1])), level.front(weight), level.front(bias))
    return reshape(out, (level.size, *lead, out.shape[2]))


class MatMul(Operation, name="Mm"):
    """x @ y with at least two dimensions each, leading ones broadcast: (..., n, k) @ (..., k, m) -> (..., n, m)."""

    batched = _multiplied

    @staticmethod
    def forward(ctx: Context, x: Array, y: Array) -> Array:
        ctx.save(x, y)
        return rows_product(x, y)

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        """g @ y^H and x^H @ g, summed over broadcast dimensions."""
        x, y = ctx.values
        return product_gradients(g, x, y, ctx.needs(0), ctx.needs(1))


matrices: Declared = MatMul.apply


def rows_product(x: Array, y: Array) -> Array:
    """x @ y of arrays; many matrices times one are one matrix, stacked."""
    if x.ndim > 2 and y.ndim == 2:
        return product(x.reshape(_rows(x), x.shape[-1]), y).reshape(*x.shape[:-1], y.shape[1])
    return product(x, y)


def product_gradients(g: TensorOrArray, x: Any, y: Any, first: bool, second: bool) -> tuple[Any, Any]:
    """The gradients of x @ y, those that are needed."""
    was_x, was_y = x.shape, y.shape
    if (type(g) is np.ndarray and len(was_x) == len(was_y) and was_x[:-2] == was_y[:-2]
            and x.dtype is y.dtype is g.dtype and g.dtype.kind == "f"):
        return product(g, y.swapaxes(-1, -2)) if first else None, product(x.swapaxes(-1, -2), g) if second else None
    gx = sum_to_like(matrices(g, mH(y)), was_x, x.dtype) if first else None
    if not second:
        return gx, None
    if len(was_y) == 2 and len(was_x) > 2:
        x, g = reshape(x, _rows(x), was_x[-1]), reshape(g, _rows(g), was_y[1])
    return gx, sum_to_like(matrices(mH(x), g), was_y, y.dtype)


def _rows(x: TensorOrArray) -> int:
    n = 1
    for size in x.shape[:-1]:
        n *= size
    return n


class MatVec(Operation, name="Mv"):
    """x @ v for x (n, k), v (k,)."""

    batched = _multiplied_vector

    @staticmethod
    def forward(ctx: Context, x: Array, v: Array) -> Array:
        ctx.save(x, v)
        with alone():
            return np.matmul(x, v)

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        """The outer product of g and v, and x^H @ g."""
        x, v = ctx.values
        return (mul(unsqueeze(g, 1), conj(v)) if ctx.needs(0) else None,
                MatVec.apply(mH(x), g) if ctx.needs(1) else None)


class Dot(Operation):
    """The sum of x * y, for vectors."""

    batched = _dotted

    @staticmethod
    def forward(ctx: Context, x: Array, y: Array) -> Any:
        """np.matmul of two vectors, in parts if they are long and real."""
        ctx.save(x, y)
        with alone():
            return dot_kernel(x, y) if x.dtype.kind == "f" and x.dtype == y.dtype else np.matmul(x, y)

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        """g * y and g * x."""
        x, y = ctx.values
        return mul(conj(y), g) if ctx.needs(0) else None, mul(conj(x), g) if ctx.needs(1) else None


def matmul(input: TensorOrArray, other: TensorOrArray, *, out: Tensor | None = None) -> Any:
    """The matrix product as Python's @: vectors are rows on the left, columns on the right; leading sizes broadcast."""
    x, y = input, other
    if casting.used and out is None:
        x, y = lower(x, y)
    if out is None and isinstance(x, Tensor) and isinstance(y, Tensor):
        one, two = x.array, y.array
        if one.ndim == two.ndim == 2 and one.shape[1] == two.shape[0] and one.dtype is two.dtype and one.dtype.kind == "f":
            return matrices(x, y)                    # most are of this kind
    if not isinstance(x, (Tensor, np.ndarray)) or not isinstance(y, (Tensor, np.ndarray)):
        if out is None and (is_sparse(x) or is_sparse(y)):
            return sparse_matmul(x, y)
        return unsupported("matmul", x, y, numbers=False)
    if out is not None:
        return into(out, multiplied(detached(x), detached(y)), x, y, name="matmul")
    return multiplied(x, y)


def multiplied(x: TensorOrArray, y: TensorOrArray) -> Any:
    """matmul() without autocast."""
    a, b = x.array.shape if isinstance(x, Tensor) else x.shape, y.array.shape if isinstance(y, Tensor) else y.shape
    nx, ny = len(a), len(b)
    if nx == 0 or ny == 0:
        raise RuntimeError(f"both arguments to matmul need to be at least 1D, but they are {nx}D and {ny}D")
    if a[-1] != (b[-2] if ny > 1 else b[0]):
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({size_text(x)} and {size_text(y)})")
    dtype = x.dtype
    if dtype != y.dtype:
        x, y = one_dtype(x, y)
    if dtype.kind == "b":
        raise NotImplementedError("matmul of Bool tensors is not implemented: cast them to integers first")
    if nx > 1 and ny > 1:
        if nx > 2 and ny > 2 and a[:-2] != b[:-2]:
            check_broadcast(a[:-2], b[:-2])
        return matrices(x, y)
    if nx == 1:
        if ny == 1:
            return Dot.apply(x, y)
        if ny == 2:
            return MatVec.apply(mT(y), x)
        z = matrices(unsqueeze(x, 0), y)
        return reshape(z, (*z.shape[:-2], z.shape[-1]))
    if nx == 2:
        return MatVec.apply(x, y)
    z = matrices(x, unsqueeze(y, 1))
    return reshape(z, z.shape[:-1])


def one_dtype(x: Any, y: Any) -> Any:
    """Operands of different dtypes: RuntimeError for Tensors, as in PyTorch; arrays, which rules pass, are promoted."""
    if isinstance(x, Tensor) and isinstance(y, Tensor):
        raise RuntimeError(f"expected m1 and m2 to have the same dtype, but got: {x.dtype} != {y.dtype}. "
                           "Bring one to the other's with .to(dtype)")
    dtype = promote(x.dtype, y.dtype)
    return cast(x, dtype), cast(y, dtype)


def size_text(x: Any) -> str:
    """A shape as in 2x3."""
    return "x".join(map(str, x.shape))


def demand_ndim(name: str, argument: str, x: Tensor, ndim: int) -> None:
    """RuntimeError unless x has `ndim` dimensions."""
    if x.ndim != ndim:
        kind = {1: "a vector", 2: "a matrix", 3: "a 3D tensor"}[ndim]
        raise RuntimeError(f"{name}: {argument} must be {kind}, not a tensor of shape {list(x.shape)}")


@takes_out
def mm(input: Tensor, mat2: Tensor) -> Tensor:
    """The product of two matrices: no broadcasting."""
    demand_ndim("mm", "self", input, 2)
    demand_ndim("mm", "mat2", mat2, 2)
    return matmul(input, mat2)


@takes_out
def bmm(input: Tensor, mat2: Tensor) -> Tensor:
    """The products of two stacks of matrices, (b, n, k) and (b, k, m)."""
    demand_ndim("bmm", "batch1", input, 3)
    demand_ndim("bmm", "batch2", mat2, 3)
    b, _, k = input.shape
    if mat2.shape[:2] != (b, k):
        raise RuntimeError(f"Expected size for first two dimensions of batch2 tensor to be: [{b}, {k}] but got: "
                           f"[{mat2.shape[0]}, {mat2.shape[1]}].")
    return matmul(input, mat2)


@takes_out
def mv(input: Tensor, vec: Tensor) -> Tensor:
    """The product of a matrix and a vector."""
    demand_ndim("mv", "self", input, 2)
    demand_ndim("mv", "vec", vec, 1)
    if input.shape[1] != vec.shape[0]:
        raise RuntimeError(f"size mismatch, got input ({input.shape[0]}), mat ({size_text(input)}), vec ({vec.shape[0]})")
    return multiplied(input, vec)                    # which autocast leaves as it is


def _vectors(name: str, x: Tensor, y: Tensor) -> None:
    if x.ndim != 1 or y.ndim != 1:
        raise RuntimeError(f"1D tensors expected, but got {x.ndim}D and {y.ndim}D tensors")
    if x.dtype != y.dtype:
        raise RuntimeError(f"{name} : expected both vectors to have same dtype, but found {x.dtype} and {y.dtype}")
    if x.shape != y.shape:
        raise RuntimeError(f"inconsistent tensor size, expected tensor {list(x.shape)} and src {list(y.shape)} to have the "
                           f"same number of elements, but got {x.shape[0]} and {y.shape[0]} elements respectively")


@takes_out
def dot(input: Tensor, tensor: Tensor) -> Tensor:
    """The sum of input * tensor, for two vectors."""
    _vectors("dot", input, tensor)
    return Dot.apply(input, tensor)


@takes_out
def vdot(input: Tensor, other: Tensor) -> Tensor:
    """The sum of conj(input) * other, for two vectors."""
    _vectors("vdot", input, other)
    return Dot.apply(conj(input), other)


@takes_out
def inner(input: Tensor, other: Tensor) -> Tensor:
    """Products of all vectors along the last dimensions: shape input.shape[:-1] + other.shape[:-1]."""
    if input.ndim == 0 or other.ndim == 0:
        return mul(input, other)
    if input.dtype != other.dtype:
        input, other = one_dtype(input, other)
    if input.shape[-1] != other.shape[-1]:
        raise RuntimeError(f"inner() the last dimension must match on both input tensors but got shapes {list(input.shape)} "
                           f"and {list(other.shape)}")
    if other.ndim == 1:
        return Dot.apply(input, other) if input.ndim == 1 else matmul(input, other)
    flat = reshape(other, _rows(other), other.shape[-1])
    return reshape(matmul(input, mT(flat)), (*input.shape[:-1], *other.shape[:-1]))


@takes_out
def outer(input: Tensor, vec2: Tensor) -> Tensor:
    """All products of elements of two vectors, as a matrix."""
    for argument, x in (("self", input), ("vec2", vec2)):
        if x.ndim != 1:
            raise RuntimeError(f"outer: Expected 1-D argument {argument}, but got {x.ndim}-D")
    return mul(unsqueeze(input, 1), vec2)


ger = outer


def product_in_buffer(ctx: Context, place: int, x: Array, y: Any) -> Array:
    """x @ y, arrays of one dtype, as the gradient of input `place`: computed in that leaf's gradient buffer, if any."""
    buffer = buffer_for(ctx, place)
    fits = (buffer is not None and x.dtype == y.dtype == buffer.dtype and buffer.dtype.char in "fd"
            and not np.may_share_memory(buffer, x) and not np.may_share_memory(buffer, y))
    return product(x, y, buffer if fits else None)


class Linear(Operation, name="Addmm"):
    """x @ weight^T + bias for x (..., k), weight (m, k), bias (m,) or None: one node for the three."""

    batched = _linear

    @staticmethod
    def forward(ctx: Context, x: Array, weight: Array, bias: Array | None) -> Array:
        """The product of the rows, into memory that is filled with the bias where that pays."""
        ctx.save(x, weight)
        if bias is None:
            return np.matmul(weight, x) if x.ndim == 1 else rows_product(x, weight.T)
        if x.ndim == 2:
            return affine(x, weight, bias)
        if x.ndim == 1:
            return np.matmul(weight, x) + bias
        return affine(x.reshape(_rows(x), x.shape[-1]), weight, bias).reshape(*x.shape[:-1], weight.shape[0])

    @staticmethod
    def backward(ctx: Context, g: Any) -> Gradients:
        """g @ conj(weight), g^T @ conj(x), and g summed over the rows."""
        x, weight = ctx.values
        gx = gw = None
        shape = x.shape
        if len(shape) == 1:
            return (MatVec.apply(conj(mT(weight)), g) if ctx.needs(0) else None,
                    mul(unsqueeze(g, 1), conj(x)) if ctx.needs(1) else None, g if ctx.needs(2) else None)
        if len(shape) != 2:
            n = _rows(x)
            x, g = reshape(x, n, shape[-1]), reshape(g, n, weight.shape[0])
        plain = type(g) is np.ndarray and x.dtype == weight.dtype == g.dtype and g.dtype.kind == "f"
        to_x, to_weight, to_bias = ctx.edges
        if to_x is not None:
            gx = product(g, weight) if plain else matrices(g, conj(weight))
            gx = gx if len(shape) == 2 else reshape(gx, shape)
        if to_weight is not None:
            gw = product_in_buffer(ctx, 1, g.T, x) if plain else matrices(mT(g), conj(x))
        if to_bias is None:
            return gx, gw, None
        return gx, gw, sum(g, 0) if isinstance(g, Tensor) or g.shape[1] == 1 else column_sums(g)


class LinearWithoutBias(Linear, name="Mm"):
    """Linear whose bias is None."""


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None, *, out: Tensor | None = None) -> Tensor:
    """input @ weight^T + bias: input (..., k), weight (m, k), bias (m,) -> (..., m)."""
    if out is not None:
        return into(out, linear(detached(input), detached(weight), detached(bias)), input, weight, bias)
    if casting.used:
        input, weight, bias = lower(input, weight, bias)
    x = input
    shape = x.array.shape if isinstance(x, Tensor) else getattr(x, "shape", None)
    if shape is None:
        raise TypeError(f"linear(): the input must be a Tensor, not {type(x).__name__}")
    matrix = weight.array.shape if isinstance(weight, Tensor) else weight.shape
    if len(matrix) > 2:
        raise RuntimeError(f"linear: weight must be a matrix (m, k), or a vector, but it is of shape {list(matrix)}")
    if not shape or shape[-1] != matrix[-1]:
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({size_text(x)} and "
                           f"{'x'.join(map(str, weight.shape[::-1]))})")
    if bias is None and len(matrix) == 2 and x.dtype == weight.dtype and x.dtype.kind in "fcV":
        return LinearWithoutBias.apply(x, weight, None)
    if bias is None or len(matrix) == 1 or not (x.dtype == weight.dtype == bias.dtype) or bias.ndim != 1:
        out = matmul(x, weight if weight.ndim == 1 else mT(weight))
        return out if bias is None else out + bias
    given = len(bias.array) if isinstance(bias, Tensor) else len(bias)
    if given == 1 and (matrix[0] != 1 or prod(shape) >= PRODUCT):          # oneDNN would add the bias before the product
        return matmul(x, mT(weight)) + bias
    if given != matrix[0]:
        raise RuntimeError(f"linear: bias has {given} elements, weight {matrix[0]} rows")
    return Linear.apply(x, weight, bias)


class LinearEach(Operation, name="Baddbmm"):
    """x @ weight^T + bias for each sample: x (b, n, k), weight (b, m, k), bias (b, m) or None.

    The weight may be one that is repeated (stride 0), as parameters are whose gradients are taken by sample: it is
    multiplied with once. The gradients are always those of each sample."""

    @staticmethod
    def forward(ctx: Context, x: Array, weight: Array, bias: Array | None) -> Array:
        ctx.save(x, weight)
        out = _product_each(x, weight.swapaxes(1, 2))
        if bias is not None:
            out += bias[:, None]
        return out

    @staticmethod
    def backward(ctx: Context, g: Any) -> Gradients:
        """g @ conj(weight), g^T @ conj(x), and g summed over the rows of each sample."""
        x, weight = ctx.values
        gx = gw = gb = None
        if isinstance(g, Tensor):
            gx = matrices(g, conj(weight)) if ctx.needs(0) else None
            gw = matrices(mT(g), conj(x)) if ctx.needs(1) else None
            return gx, gw, sum(g, 1) if ctx.needs(2) else None
        if ctx.needs(0):
            gx = _product_each(g, conj(weight))
        if ctx.needs(1):
            gw = g[:, 0, :, None] * conj(x) if g.shape[1] == 1 else product(g.swapaxes(1, 2), conj(x))
        if ctx.needs(2):
            gb = g[:, 0].copy() if g.shape[1] == 1 else np.add.reduce(g, 1)
        return gx, gw, gb


def _product_each(x: Array, y: Array) -> Array:
    """x @ y for stacks of matrices; once, if all of y are one."""
    if y.strides[0] == 0 and len(y):
        b, n, k = x.shape
        return product(x.reshape(b * n, k), y[0]).reshape(b, n, y.shape[2])
    return product(x, y)


def linear_each(x: Any, weight: Any, bias: Any = None) -> Any:
    """x @ weight^T + bias, by a LinearEach node."""
    return LinearEach.apply(x, weight, bias)


spmm = mm                                            # the name that graph networks use: here both matrices are dense
__all__ = ["bmm", "dot", "ger", "inner", "matmul", "mm", "mv", "outer", "spmm", "vdot"]
METHODS = ["bmm", "dot", "ger", "inner", "matmul", "mm", "mv", "outer", "vdot"]
