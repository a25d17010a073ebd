"""In-place sampling: uniform_, normal_, exponential_ and the other distributions.

Each function here gives the new values as a result of the old tensor, with gradient zero; its in-place form is what users
call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...base import dtypes
from ...base.types import Array
from ...core.primitive import primitive
from ...core.tensor import Tensor
from ...core.types import TensorOrNumber
from ...kernels.halves import add, multiply
from ...modes.random import Generator, drawing
from . import draw
from .draw import Bernoulli, Normal, chances, integers, normal_numbers, uniform_numbers


class Uniform(Normal):
    """Redrawn from a uniform distribution."""


class Exponential(Normal):
    """Redrawn from an exponential distribution."""


class Geometric(Normal):
    """Redrawn from a geometric distribution."""


class Cauchy(Normal):
    """Redrawn from a Cauchy distribution."""


class LogNormal(Normal):
    """Redrawn from a log-normal distribution."""


class Random(Normal):
    """Redrawn as integers."""


def _checked(name: str, x: Tensor) -> np.dtype[Any]:
    dtype = x.array.dtype
    if dtypes.category(dtype) != 2:
        raise NotImplementedError(f"{name}_() draws floating point numbers; this tensor is {dtype}")
    return dtype


@primitive
def _drawn(draw: Callable[[], Any]) -> Array:
    """Call `draw`, which returns an array of random numbers."""
    return draw()


def uniform(x: Tensor, from_: float = 0.0, to: float = 1.0, *, generator: Generator | None = None, **named: float) -> Tensor:
    """Uniform on [from, to)."""
    from_ = named.pop("from", from_)
    if named:
        raise TypeError(f"uniform_() got an unexpected keyword argument '{next(iter(named))}'")
    dtype = _checked("uniform", x)
    if from_ > to:
        raise RuntimeError(f"uniform_ expects to return a [from, to) range, but found from={from_} > to={to}")
    low, width = dtype.type(from_), dtype.type(to - from_)
    most = np.nextafter(dtype.type(to), low)         # rounding must not reach `to`; `to` itself where the range is empty
    return Uniform.apply(x, values=_drawn(lambda: np.asarray(np.minimum(
        add(multiply(uniform_numbers(drawing(generator), x.array.shape, dtype), width), low), most), dtype)))


def normal(x: Tensor, mean: float = 0.0, std: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """Normal with this mean and standard deviation."""
    dtype = x.array.dtype if x.array.dtype.kind == "c" else _checked("normal", x)
    draw.check_std("normal", std)
    return Normal.apply(x, values=_drawn(lambda: np.asarray(
        add(multiply(normal_numbers(drawing(generator), x.array.shape, dtype), dtype.type(std)), dtype.type(mean)), dtype)))


def bernoulli(x: Tensor, p: TensorOrNumber = 0.5, *, generator: Generator | None = None) -> Tensor:
    """1 with probability p (a number, or a tensor that broadcasts to this one), else 0."""
    values = _below(generator, p, x)
    return Bernoulli.apply(x, p, values=values) if isinstance(p, Tensor) else Bernoulli.apply(x, values=values)


@primitive
def _below(generator: Generator | None, p: TensorOrNumber, x: Tensor) -> Array:
    """1 with probability p, else 0."""
    odds = chances("bernoulli_", p.array if isinstance(p, Tensor) else p, x.array.shape)
    return np.asarray(drawing(generator).random(x.array.shape) < odds).astype(x.array.dtype)


def exponential(x: Tensor, lambd: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """Exponential with rate lambd: density lambd exp(-lambd v)."""
    if dtypes.category(x.array.dtype) != 2:
        raise RuntimeError("Exponential distribution is a continuous probability distribution. dtype must be a floating "
                           f"point but you specified {x.array.dtype}")
    if not lambd > 0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={lambd}")
    return Exponential.apply(x, values=_drawn(lambda: np.asarray(
        drawing(generator).standard_exponential(x.array.shape) / lambd).astype(x.array.dtype)))


def geometric(x: Tensor, p: float, *, generator: Generator | None = None) -> Tensor:
    """The number of the first success, from 1 on, of trials that succeed with probability p."""
    if not 0 < p < 1:
        raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={p}")
    return Geometric.apply(x, values=_drawn(lambda: np.asarray(
        drawing(generator).geometric(p, x.array.shape)).astype(x.array.dtype)))


def cauchy(x: Tensor, median: float = 0.0, sigma: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """Cauchy: density 1 / (pi sigma (1 + ((v - median) / sigma)^2))."""
    if dtypes.category(x.array.dtype) != 2:
        raise RuntimeError("Cauchy distribution is a continuous probability distribution. dtype must be a floating point "
                           f"but you specified {x.array.dtype}")
    if not sigma > 0:
        raise RuntimeError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma}")
    return Cauchy.apply(x, values=_drawn(lambda: np.asarray(
        drawing(generator).standard_cauchy(x.array.shape) * sigma + median).astype(x.array.dtype)))


def log_normal(x: Tensor, mean: float = 1.0, std: float = 2.0, *, generator: Generator | None = None) -> Tensor:
    """exp of normal numbers with this mean and standard deviation."""
    dtype = _checked("log_normal", x)
    if not std > 0:
        raise RuntimeError(f"log_normal_ expects std > 0.0, but found std={std}")
    return LogNormal.apply(x, values=_drawn(lambda: np.asarray(
        drawing(generator).lognormal(mean, std, x.array.shape)).astype(dtype)))


def random(x: Tensor, *args: Any, to: Any = None, generator: Generator | None = None, **named: Any) -> Tensor:
    """Integers: random_() up to the largest that the dtype holds exactly, random_(to) below to, random_(from, to)."""
    dtype = x.array.dtype
    low = named.pop("from", 0)
    if named or len(args) > 2:
        raise TypeError(f"random_() takes (), (to) or (from, to), not {args} {named}")
    if len(args) == 2:
        low, to = args
    elif len(args) == 1:
        low, to = (low, args[0]) if to is None else (args[0], to)
    if to is None:
        exact = {"b": 1, "i": 2 ** (8 * dtype.itemsize - 1) - 1, "u": 2 ** (8 * dtype.itemsize) - 1}
        to = min(1 + exact[dtype.kind] if dtype.kind in exact else int(2 / dtypes.finfo(dtype).eps) + 1, 2**63 - 1)
    return Random.apply(x, values=_drawn(lambda: integers("random_", drawing(generator), low, to, x.array.shape, dtype)))


__all__: list[str] = []
METHODS: list[str] = []
IN_PLACE = ["bernoulli", "cauchy", "exponential", "geometric", "log_normal", "normal", "random", "uniform"]
