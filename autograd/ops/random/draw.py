"""Tensors of random numbers: uniform, normal, integers, permutations, and draws with given probabilities.

`generator=` draws from that stream instead of the default one. A draw has no derivative with respect to its parameters: as
in PyTorch their gradient is zero."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...base import dtypes
from ...base.types import Array, DeviceLike, DTypeLike, Layout, MemoryFormat, Number
from ...core.batching import elementwise
from ...core.declare import limits_of
from ...core.operation import Operation
from ...core.out import detached, into
from ...core.primitive import primitive
from ...core.tensor import Tensor, result
from ...core.types import Context, Gradients, TensorOrArray, TensorOrNumber
from ...kernels.halves import add, converted, multiply
from ...kernels.sorting import leading
from ...modes.random import Generator, drawing
from ..creation.arguments import extent, floating, integer, kind, new_leaf, shape_of
from ..creation.fill import like
from ..pointwise.rounding import zero


def uniform_numbers(rng: np.random.Generator, shape: tuple[int, ...], dtype: Any) -> Array:
    """Uniform on [0, 1), drawn in double precision for float64 and in single for all others."""
    return converted(np.asarray(rng.random(shape, np.float64 if dtype.itemsize >= 8 else np.float32)), dtype, copy=False)


def normal_numbers(rng: np.random.Generator, shape: tuple[int, ...], dtype: Any) -> Array:
    """Normal with mean 0 and variance 1, drawn in double precision for float64 and in single for all others."""
    if dtype.kind == "c":                            # both parts with variance 1/2
        parts = rng.standard_normal((*shape, 2), np.float64 if dtype.itemsize == 16 else np.float32) * math.sqrt(0.5)
        return (parts[..., 0] + 1j * parts[..., 1]).astype(dtype)
    drawn = rng.standard_normal(shape, np.float64 if dtype.itemsize >= 8 else np.float32)
    return converted(np.asarray(drawn), dtype, copy=False)


@primitive
def rand(*sizes: Any, size: Any = None, generator: Generator | None = None, out: Tensor | None = None, dtype: Any = None,
         layout: Layout | None = None, device: DeviceLike = None, pin_memory: bool = False,
         requires_grad: bool = False) -> Tensor:
    """Uniform on [0, 1)."""
    dtype = floating("rand", kind(dtype, layout, device, pin_memory, out))
    shape = extent("rand", sizes, size)
    if dtype.kind == "c":
        parts = drawing(generator).random((*shape, 2))
        return new_leaf((parts[..., 0] + 1j * parts[..., 1]).astype(dtype), requires_grad, out)
    return new_leaf(uniform_numbers(drawing(generator), shape, dtype), requires_grad, out)


@primitive
def randn(*sizes: Any, size: Any = None, generator: Generator | None = None, out: Tensor | None = None,
          dtype: DTypeLike = None, layout: Layout | None = None, device: DeviceLike = None, pin_memory: bool = False,
          requires_grad: bool = False) -> Tensor:
    """Normal with mean 0 and variance 1."""
    dtype = floating("randn", kind(dtype, layout, device, pin_memory, out))
    return new_leaf(normal_numbers(drawing(generator), extent("randn", sizes, size), dtype), requires_grad, out)


def integers(name: str, rng: np.random.Generator, low: Any, high: Any, shape: tuple[int, ...], dtype: Any) -> Array:
    """Integers from low to high - 1 as dtype; RuntimeError for an empty range or one that dtype cannot hold."""
    low, high = integer(name, "low", low), integer(name, "high", high)
    if low >= high:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    if dtype.kind in "biu":
        bottom, top = (0, 1) if dtype.kind == "b" else (limits_of(dtype).min, limits_of(dtype).max)
        for what, value in (("from", low), ("to - 1", high - 1)):
            if not bottom <= value <= top:
                raise RuntimeError(f"{what} is out of bounds for {dtype}: {value}")
    return np.asarray(rng.integers(low, high, shape)).astype(dtype, copy=False)


@primitive
def randint(*args: Any, low: Any = 0, high: Any = None, size: Sequence[int] | None = None,
            generator: Generator | None = None, out: Tensor | None = None, dtype: DTypeLike = None,
            layout: Layout | None = None, device: DeviceLike = None, pin_memory: bool = False,
            requires_grad: bool = False) -> Tensor:
    """Integers from low to high - 1; randint(high, size) starts at 0."""
    given = list(args)
    if given and isinstance(given[-1], (tuple, list)) and size is None:
        size = given.pop()
    if len(given) == 2:
        low, high = given
    elif len(given) == 1:
        low, high = (0, given[0]) if high is None else (given[0], high)
    if high is None or size is None or len(given) > 2:
        raise TypeError(f"randint() takes (high, size) or (low, high, size), not {args}")
    dtype = kind(dtypes.int64 if dtype is None and out is None else dtype, layout, device, pin_memory, out)
    return new_leaf(integers("randint", drawing(generator), low, high, shape_of("randint", size), dtype), requires_grad, out)


@primitive
def randperm(n: Any, *, generator: Generator | None = None, out: Any = None, dtype: DTypeLike = None,
             layout: Layout | None = None, device: DeviceLike = None, pin_memory: bool = False,
             requires_grad: bool = False) -> Tensor:
    """The numbers 0 to n - 1 in random order."""
    n = integer("randperm", "n", n)
    if n < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {n}: [{n}]")
    dtype = kind(dtypes.int64 if dtype is None and out is None else dtype, layout, device, pin_memory, out)
    if dtype.kind in "iu" and n - 1 > np.iinfo(dtype).max:
        raise RuntimeError(f"value cannot be converted to type {dtype} without overflow: {n - 1}")
    return new_leaf(drawing(generator).permutation(n).astype(dtype), requires_grad, out)


# --- like another ----------------------------------------------------------------------------------------------------

@primitive
def rand_like(input: Tensor, *, generator: Generator | None = None, dtype: DTypeLike = None, layout: Layout | None = None,
              device: DeviceLike = None, pin_memory: bool = False, requires_grad: bool = False,
              memory_format: MemoryFormat | None = None) -> Tensor:
    """Uniform on [0, 1), of input's shape and dtype."""
    array = like(input, dtype, layout, device, pin_memory, memory_format)
    array[...] = rand(size=array.shape, generator=generator, dtype=array.dtype).array
    return new_leaf(array, requires_grad)


@primitive
def randn_like(input: Tensor, *, generator: Generator | None = None, dtype: DTypeLike = None, layout: Layout | None = None,
               device: DeviceLike = None, pin_memory: bool = False, requires_grad: bool = False,
               memory_format: MemoryFormat | None = None) -> Tensor:
    """Normal with mean 0 and variance 1, of input's shape and dtype."""
    array = like(input, dtype, layout, device, pin_memory, memory_format)
    array[...] = normal_numbers(drawing(generator), array.shape, floating("randn_like", array.dtype))
    return new_leaf(array, requires_grad)


@primitive
def randint_like(input: Tensor, *args: Any, low: Any = 0, high: Any = None, generator: Generator | None = None,
                 dtype: DTypeLike = None, layout: Layout | None = None, device: DeviceLike = None, pin_memory: bool = False,
                 requires_grad: bool = False, memory_format: MemoryFormat | None = None) -> Tensor:
    """Integers from low to high - 1, of input's shape and dtype; randint_like(input, high) starts at 0."""
    array = like(input, dtype, layout, device, pin_memory, memory_format)
    array[...] = randint(*args, low=low, high=high, size=array.shape, generator=generator, dtype=array.dtype).array
    return new_leaf(array, requires_grad)


# --- with parameters that are tensors ----------------------------------------------------------------------------------

class Normal(Operation):
    """Drawn `values`, as a result of the parameters that they were drawn with."""

    batched = elementwise

    mixes = True

    @staticmethod
    def forward(ctx: Context, *parameters: Any, values: Array) -> Array:
        ctx.count = len(parameters)
        return values

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        return (zero(g),) * ctx.count


class Bernoulli(Normal):
    """Draws with success probabilities."""


class Poisson(Normal):
    """Draws with rates."""


def normal(mean: TensorOrNumber, std: TensorOrNumber = 1.0, size: Sequence[int] | None = None, *,
           generator: Generator | None = None, out: Tensor | None = None, dtype: DTypeLike = None,
           layout: Layout | None = None, device: DeviceLike = None, pin_memory: bool = False,
           requires_grad: bool = False) -> Tensor:
    """Normal numbers; mean and std are tensors (or one of them a number), or numbers, and then `size` is needed."""
    tensors = [p for p in (mean, std) if isinstance(p, Tensor)]
    if not tensors:
        if size is None:
            raise TypeError("normal() takes a Tensor as mean or std, or numbers and a size")
        check_std("normal", std)
        values = _normal_of_numbers(mean, std, shape_of("normal", size),
                       floating("normal", kind(dtype, layout, device, pin_memory, out)), generator)
        return new_leaf(values, requires_grad, out)
    if size is not None or dtype is not None:
        raise TypeError("normal(): size and dtype follow from mean and std where these are tensors")
    values = _normal_of_tensors(mean, std, tensors[0].dtype, generator)
    if out is not None:
        return into(out, result(values), *tensors)
    return Normal.apply(*tensors, values=values)


@primitive
def _normal_of_numbers(mean: Any, std: Any, shape: tuple[int, ...], dtype: Any, generator: Generator | None) -> Array:
    return np.asarray(add(multiply(normal_numbers(drawing(generator), shape, dtype), dtype.type(std)), dtype.type(mean)))


@primitive
def _normal_of_tensors(mean: Any, std: TensorOrNumber, dtype: DTypeLike, generator: Generator | None) -> Array:
    a, b = (p.array if isinstance(p, Tensor) else p for p in (mean, std))
    if np.any(np.less(b, 0)):
        raise RuntimeError("normal expects all elements of std >= 0.0" if isinstance(std, Tensor)
                           else f"normal expects std >= 0.0, but found std {std}")
    drawn = normal_numbers(drawing(generator), np.broadcast_shapes(np.shape(a), np.shape(b)), floating("normal", dtype))
    return converted(np.asarray(drawn * b + a), dtype, copy=False)


def check_std(name: str, std: Any) -> None:
    """RuntimeError for a negative standard deviation."""
    if std < 0:
        raise RuntimeError(f"{name} expects std >= 0.0, but found std {std}")


def chances(name: str, p: Array | Number, shape: tuple[int, ...]) -> Array:
    """A number or array of probabilities, checked, at `shape`."""
    if not np.all((np.asarray(p) >= 0) & (np.asarray(p) <= 1)):
        what = f"got p={p}" if np.ndim(p) == 0 else "some are outside"
        raise RuntimeError(f"{name} expects p to be in [0, 1], but {what}")
    try:
        return np.broadcast_to(p, shape)
    except ValueError:
        raise RuntimeError(f"{name}: p of shape {list(np.shape(p))} does not broadcast to {list(shape)}") from None


def bernoulli(input: Tensor, p: Any = None, *, generator: Generator | None = None, out: Tensor | None = None) -> Tensor:
    """1 with the probabilities in input, else 0; with `p` that is the probability everywhere, and input gives the shape."""
    array = input.array
    if p is None and dtypes.category(array.dtype) != 2:
        raise NotImplementedError(f"bernoulli(): probabilities are floating point, not {array.dtype}")
    values = _ones(array, p, generator)
    return Bernoulli.apply(input, values=values) if out is None else into(out, result(values), input)


@primitive
def _ones(array: Array, p: Any, generator: Generator | None) -> Array:
    odds = chances("bernoulli", array if p is None else detached(p), array.shape)
    return np.asarray(drawing(generator).random(array.shape) < odds).astype(array.dtype)


def poisson(input: Any, generator: Generator | None = None) -> Tensor:
    """Numbers of events whose expectation is input."""
    rates = input.array
    if dtypes.category(rates.dtype) != 2:
        raise NotImplementedError(f"poisson(): rates are floating point, not {rates.dtype}")
    return Poisson.apply(input, values=_counts(rates, generator))


@primitive
def _counts(rates: Any, generator: Generator | None) -> Any:
    if not np.all(rates >= 0):
        raise RuntimeError("invalid Poisson rate, expected rate to be non-negative")
    return np.asarray(drawing(generator).poisson(rates.astype(np.float64))).astype(rates.dtype)


@primitive
def multinomial(input: Tensor, num_samples: int, replacement: bool = False, *, generator: Generator | None = None,
                out: Tensor | None = None) -> Tensor:
    """num_samples indices from each row of weights; without replacement each index at most once.

    With replacement by the inverse of the distribution function, without as an exponential race (Efraimidis and Spirakis,
    2006): the smallest of E_i / weight_i win, for independent exponential E_i."""
    weights = input.array
    if weights.ndim not in (1, 2):
        raise RuntimeError(f"prob_dist must be 1 or 2 dim, not {weights.ndim}")
    if dtypes.category(weights.dtype) != 2:
        raise RuntimeError(f"multinomial only supports floating-point dtypes for input, got: {weights.dtype}")
    n = integer("multinomial", "num_samples", num_samples)
    if n <= 0:
        raise RuntimeError("cannot sample n_sample <= 0 samples")
    if not replacement and n > weights.shape[-1]:
        raise RuntimeError("cannot sample n_sample > prob_dist.size(-1) samples without replacement")
    weights = weights.astype(np.float64)
    totals = np.add.reduce(weights, -1, keepdims=True)
    least = np.minimum.reduce(weights, None, initial=0.0)
    if not (least == 0 and np.isfinite(totals).all()) and not np.all(np.isfinite(weights) & (weights >= 0)):
        raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
    if (totals <= 0).any():
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
    if out is not None and out.dtype != dtypes.int64:
        raise RuntimeError(f"multinomial expects Long tensor out, got: {out.dtype}")
    rng = drawing(generator)
    if replacement:
        steps = np.add.accumulate(weights, -1)
        marks = rng.random((*weights.shape[:-1], n)) * steps[..., -1:]
        if weights.ndim == 1:
            picked = steps.searchsorted(marks, "right")
        elif n == 1:
            picked = np.add.reduce(steps <= marks, 1, np.int64, keepdims=True)
        else:
            picked = np.array([row.searchsorted(mark, "right") for row, mark in zip(steps, marks, strict=True)]
                              ).reshape(marks.shape)
    else:
        with np.errstate(divide="ignore"):
            picked = leading(rng.standard_exponential(weights.shape) / weights, weights.ndim - 1, n, False)[1]
    return new_leaf(picked.astype(dtypes.int64), False, out)


__all__ = ["bernoulli", "multinomial", "normal", "poisson", "rand", "rand_like", "randint", "randint_like", "randn",
           "randn_like", "randperm"]
METHODS = ["bernoulli", "multinomial"]
