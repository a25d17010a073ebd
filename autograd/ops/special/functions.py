"""Special functions: error, gamma and Bessel functions and their relatives. autograd/kernels computes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...base.dtypes import default
from ...base.types import Array, Number
from ...core.batching import elementwise as elementwise_rule
from ...core.declare import elementwise
from ...core.operation import Operation
from ...core.out import takes_out
from ...core.tensor import Tensor
from ...core.types import Context, Declared, Gradients, Operand, TensorOrArray
from ...kernels import bessel, error_functions, gamma_functions
from .._kinds import as_arrays, demand_real, in_floats, only, tensors, undifferentiable
from ..pointwise.cast import cast
from ..pointwise.exponential import exp, log
from ..pointwise.sign import sign
from ..pointwise.where import where

ROOT_PI, ROOT_2PI, ROOT_HALF = float(np.sqrt(np.pi)), float(np.sqrt(2 * np.pi)), float(np.sqrt(0.5))

# --- the normal distribution -------------------------------------------------------------------------------------------

# exp(-x^2) in the rules of others: where it is 0, so are its derivatives, at infinity too
bell: Any = elementwise("Exp", lambda x: np.exp(-x * x), lambda g, z, x: g * (-2 * where(z == 0, 0.0, x) * z), floats=True)
erf: Declared = elementwise("Erf", error_functions.erf, lambda g, x: g * (2 / ROOT_PI) * bell(x), floats=True, real=True)
erfc: Declared
erfc = elementwise("Erfc", error_functions.erfc, lambda g, x: -g * (2 / ROOT_PI) * bell(x), floats=True, real=True)
erfcx: Any = elementwise("SpecialErfcx", error_functions.erfcx, lambda g, z, x: g * _erfcx_slope(z, x), floats=True,
                         real=True)
erfinv: Declared
erfinv = elementwise("Erfinv", error_functions.erfinv, lambda g, z: g * (ROOT_PI / 2) * exp(z * z), floats=True, real=True)
ndtr: Declared = elementwise("SpecialNdtr", error_functions.ndtr, lambda g, x: g * (1 / ROOT_2PI) * bell(x * ROOT_HALF),
                   floats=True, real=True)
ndtri: Declared = elementwise("SpecialNdtri", error_functions.ndtri, lambda g, z: g * ROOT_2PI * exp(0.5 * (z * z)),
                    floats=True, real=True)
log_ndtr: Declared = elementwise("SpecialLogNdtr", error_functions.log_ndtr, lambda g, x: g * _hazard(x), floats=True,
                                 real=True)


def _hazard(x: Operand) -> Operand:
    """The density of a standard normal number over the probability of a smaller one; below 0 by erfcx, which does not
    vanish."""
    left = x < 0
    low, high = where(left, x, 0.0), where(left, 0.0, x)
    right = (1 / ROOT_2PI) * bell(high * ROOT_HALF) / ndtr(high)
    return where(left, float(np.sqrt(2 / np.pi)) / erfcx(low * -ROOT_HALF), right)


def _erfcx_slope(z: Operand, x: Operand) -> Operand:
    """2 x erfcx(x) - 2 / sqrt(pi); far to the right, where the two cancel, by the asymptotic series of erfcx."""
    far = x > 50
    u = 1 / where(far, x, 50.0)
    square = u * u
    tail = square * (1 - square * (1.5 - square * (3.75 - square * (13.125 - square * 59.0625))))
    return where(far, (-1 / ROOT_PI) * tail, 2 * where(far, 0.0, x) * z - 2 / ROOT_PI)


# --- entropy and odds ----------------------------------------------------------------------------------------------------

def _entr(x: Array) -> Array:
    inside = np.where(x > 0, x, np.ones_like(x))    # 1 has the entropy of 0
    return np.where(x < 0, -inside * np.inf, np.where(x == x, -inside * np.log(inside), x))


def _times(log_of: Callable[..., Any]) -> Callable[..., Any]:
    """The function x log(y): 0 where x is 0, unless y is nan."""
    def forward(x: Array, y: Array | Number) -> Array:
        x, y = as_arrays(x, y)
        product = np.asarray(x * log_of(y))
        return np.where((x == 0) & (y == y), np.zeros((), product.dtype), product)

    return in_floats(forward)


def _slope(shift: int) -> Callable[..., Any]:
    """The rule of x log(y + shift) for y: g x / (y + shift), and 0 of every order where both are 0."""
    def rule(g: Any, x: Any, y: Any) -> Any:
        below = y + shift if shift else y
        nothing = (x == 0) & (below == 0)
        return where(nothing, 0.0, g * x / where(nothing, 1.0, below))

    return rule


entr: Declared = elementwise("SpecialEntr", _entr, lambda g, x: g * (-1 - log(x)), floats=True, real=True)
xlogy: Any = elementwise("Xlogy", _times(np.log), lambda g, x, y: where((x == 0) & (y <= 0), 0.0, xlogy(g, y)),
                         _slope(0), real=True)
xlog1py: Any = elementwise("SpecialXlog1Py", _times(np.log1p),
                           lambda g, x, y: where((x == 0) & (y <= -1), 0.0, xlog1py(g, y)),
                           _slope(1), real=True)


class Logit(Operation):
    """log(x / (1 - x)), after clamping x to [eps, 1 - eps] if eps is given."""

    batched = elementwise_rule

    @staticmethod
    def forward(ctx: Context, x: Array, *, eps: float | None) -> Array:
        """As a difference of logarithms, accurate at both ends."""
        ctx.save(x)
        ctx.eps = eps
        p = x if eps is None else np.clip(x, eps, 1 - eps)
        return np.log(p / (1 - p))

    @staticmethod
    def backward(ctx: Context, g: Tensor) -> Gradients:
        """g / (x (1 - x)); outside, nan without eps and 0 with it."""
        (x,) = ctx.values
        low = 0.0 if ctx.eps is None else ctx.eps
        inside = (x >= low) & (x <= 1 - low)
        safe = where(inside, x, 0.5)
        return where(inside, g / (safe * (1 - safe)), np.nan if ctx.eps is None else 0.0)


@takes_out
def logit(input: Tensor, eps: float | None = None) -> Tensor:
    """log(x / (1 - x)), the inverse of sigmoid; with eps, x is first clamped to [eps, 1 - eps]."""
    demand_real("logit", input)
    return Logit.apply(floating(input), eps=eps)


def floating(x: Operand) -> Operand:
    """x, integers and booleans converted to the default floating type."""
    return x if x.dtype.kind in "fcV" else cast(x, default.dtype)


# --- gamma ---------------------------------------------------------------------------------------------------------------

lgamma: Any = elementwise("Lgamma", gamma_functions.lgamma, lambda g, x: g * digamma(x), floats=True, real=True)
digamma: Any = elementwise("Digamma", gamma_functions.digamma, lambda g, x: g * polygamma(1, x), floats=True, real=True)
zeta: Any = elementwise("SpecialZeta", in_floats(gamma_functions.zeta), undifferentiable("zeta's first argument"),
                        lambda g, x, y: g * (-x * zeta(x + 1, y)), real=True)
igamma: Declared = elementwise("Igamma", tensors("igamma", only("f", "igamma", gamma_functions.gammainc)),
                     undifferentiable("igamma's first argument"), lambda g, x, y: g * _gamma_density(x, y))
igammac: Declared = elementwise("Igammac", tensors("igammac", only("f", "igammac", gamma_functions.gammaincc)),
                      undifferentiable("igammac's first argument"), lambda g, x, y: -g * _gamma_density(x, y))


def _gamma_density(a: Tensor, x: Tensor) -> Tensor:
    """x^(a - 1) exp(-x) / gamma(a), also at 0 and at infinity."""
    finite = where(x == np.inf, 0.0, x)
    return where(x == np.inf, 0.0, exp(xlogy(a - 1, finite) - finite - lgamma(a)))


class Polygamma(Operation):
    """The n-th derivative of digamma."""

    batched = elementwise_rule

    @staticmethod
    def forward(ctx: Context, x: Array, *, n: int) -> Array:
        ctx.save(x)
        ctx.n = n
        return gamma_functions.polygamma(n, x)

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        (x,) = ctx.values
        return g * polygamma(ctx.n + 1, x)


@takes_out
def polygamma(n: int, input: Operand) -> Operand:
    """The n-th derivative of digamma at input."""
    if n < 0:
        raise RuntimeError(f"polygamma(n, x) does not support negative n, such as {n}.")
    demand_real("polygamma", input)
    return Polygamma.apply(floating(input), n=n)


def polygamma_method(self: Tensor, n: int) -> Tensor:
    """The n-th derivative of digamma at this tensor."""
    return polygamma(n, self)


@takes_out
def mvlgamma(input: Tensor, p: int) -> Tensor:
    """log of the multivariate gamma function of dimension p: lgamma(x) + ... + lgamma(x - (p - 1) / 2) + constant."""
    if p < 1:
        raise RuntimeError(f"mvlgamma: p has to be greater than or equal to 1, not {p}")
    x = floating(input)
    total = lgamma(x) + p * (p - 1) / 4 * float(np.log(np.pi))
    for j in range(1, p):
        total = total + lgamma(x - j / 2)
    return total


# --- Bessel ----------------------------------------------------------------------------------------------------------------

def _over(z: Operand, x: Operand) -> Operand:
    """z / x, and 1/2 at 0: of a function that begins as x / 2."""
    return where(x == 0, 0.5, z / where(x == 0, 1.0, x))


i0: Any = elementwise("I0", bessel.i0, lambda g, x: g * i1(x), floats=True, real=True)
i0e: Any = elementwise("SpecialI0E", bessel.i0e, lambda g, z, x: g * (i1e(x) - sign(x) * z), floats=True, real=True)
i1: Any = elementwise("SpecialI1", bessel.i1, lambda g, z, x: g * (i0(x) - _over(z, x)), floats=True, real=True)
i1e: Any = elementwise("SpecialI1E", bessel.i1e, lambda g, z, x: g * (i0e(x) - sign(x) * z - _over(z, x)),
                       floats=True, real=True)


def _plain(name: str, kernel: Callable[..., Any]) -> Callable[..., Any]:
    """A function that PyTorch does not differentiate."""
    return elementwise(f"Special{name.title().replace('_', '')}", kernel, undifferentiable(name), floats=True, real=True)


bessel_j0: Declared = _plain("bessel_j0", bessel.j0)
bessel_j1: Declared = _plain("bessel_j1", bessel.j1)
bessel_y0: Declared = _plain("bessel_y0", bessel.y0)
bessel_y1: Declared = _plain("bessel_y1", bessel.y1)
modified_bessel_i0: Declared = _plain("modified_bessel_i0", bessel.i0)
modified_bessel_i1: Declared = _plain("modified_bessel_i1", bessel.i1)
modified_bessel_k0: Declared = _plain("modified_bessel_k0", bessel.k0)
modified_bessel_k1: Declared = _plain("modified_bessel_k1", bessel.k1)
scaled_modified_bessel_k0: Declared = _plain("scaled_modified_bessel_k0", bessel.k0e)
scaled_modified_bessel_k1: Declared = _plain("scaled_modified_bessel_k1", bessel.k1e)
spherical_bessel_j0: Declared = _plain("spherical_bessel_j0", bessel.spherical_j0)
airy_ai: Declared = _plain("airy_ai", bessel.airy_ai)

__all__ = ["digamma", "erf", "erfc", "erfinv", "i0", "igamma", "igammac", "lgamma", "logit", "mvlgamma", "polygamma",
           "xlogy"]
METHODS = __all__
IN_PLACE = METHODS
