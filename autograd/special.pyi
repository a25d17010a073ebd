"""Written by tests/autograd/make_stubs.py from what is bound at run time: do not edit."""

import numpy as np
from .base.types import Array
from .base.types import DTypeLike
from .base.types import Dims
from .base.types import Number
from .core.tensor import Tensor as Tensor
from .core.types import TensorOrNumber
from typing import overload

__all__ = ["airy_ai", "bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1", "chebyshev_polynomial_t", "chebyshev_polynomial_u", "chebyshev_polynomial_v", "chebyshev_polynomial_w", "digamma", "entr", "erf", "erfc", "erfcx", "erfinv", "exp2", "expit", "expm1", "gammainc", "gammaincc", "gammaln", "hermite_polynomial_h", "hermite_polynomial_he", "i0", "i0e", "i1", "i1e", "laguerre_polynomial_l", "legendre_polynomial_p", "log1p", "log_ndtr", "log_softmax", "logit", "logsumexp", "modified_bessel_i0", "modified_bessel_i1", "modified_bessel_k0", "modified_bessel_k1", "multigammaln", "ndtr", "ndtri", "polygamma", "psi", "round", "scaled_modified_bessel_k0", "scaled_modified_bessel_k1", "shifted_chebyshev_polynomial_t", "shifted_chebyshev_polynomial_u", "shifted_chebyshev_polynomial_v", "shifted_chebyshev_polynomial_w", "sinc", "softmax", "spherical_bessel_j0", "xlog1py", "xlogy", "zeta"]

def airy_ai(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The Airy function Ai."""
def bessel_j0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The Bessel function of the first kind, of order 0."""
def bessel_j1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The Bessel function of the first kind, of order 1."""
def bessel_y0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The Bessel function of the second kind, of order 0."""
def bessel_y1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The Bessel function of the second kind, of order 1."""
def chebyshev_polynomial_t(input: Tensor, n: TensorOrNumber, *, out: Tensor | None = None) -> Tensor:
    """The Chebyshev polynomial of the first kind, of degree n."""
def chebyshev_polynomial_u(input: Tensor, n: TensorOrNumber, *, out: Tensor | None = None) -> Tensor:
    """The Chebyshev polynomial of the second kind, of degree n."""
def chebyshev_polynomial_v(input: Tensor, n: TensorOrNumber, *, out: Tensor | None = None) -> Tensor:
    """The Chebyshev polynomial of the third kind, of degree n."""
def chebyshev_polynomial_w(input: Tensor, n: TensorOrNumber, *, out: Tensor | None = None) -> Tensor:
    """The Chebyshev polynomial of the fourth kind, of degree n."""
def digamma(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The derivative of lgamma."""
def entr(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """-x log(x) where x > 0, 0 at 0, -inf below."""
def erf(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The error function, 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x."""
def erfc(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """1 - erf(x), accurate where that is near 0."""
def erfcx(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """exp(x^2) erfc(x)."""
def erfinv(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse of erf."""
def exp2(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """2 to the power of input."""
def expit(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """1 / (1 + exp(-input))."""
def expm1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """exp(input) - 1, accurate near 0."""
def gammainc(input: Tensor, other: Tensor | Number | Array | np.generic, *, out: Tensor | None = None) -> Tensor:
    """The regularised lower incomplete gamma function P(input, other)."""
def gammaincc(input: Tensor, other: Tensor | Number | Array | np.generic, *, out: Tensor | None = None) -> Tensor:
    """The regularised upper incomplete gamma function, 1 - igamma(input, other)."""
def gammaln(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The logarithm of the absolute value of the gamma function."""
def hermite_polynomial_h(input: Tensor, n: TensorOrNumber, *, out: Tensor | None = None) -> Tensor:
    """The physicists' Hermite polynomial of degree n."""
def hermite_polynomial_he(input: Tensor, n: TensorOrNumber, *, out: Tensor | None = None) -> Tensor:
    """The probabilists' Hermite polynomial of degree n."""
def i0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The modified Bessel function of the first kind, of order 0."""
def i0e(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """exp(-|x|) i0(x)."""
def i1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The modified Bessel function of the first kind, of order 1."""
def i1e(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """exp(-|x|) i1(x)."""
def laguerre_polynomial_l(input: Tensor, n: TensorOrNumber, *, out: Tensor | None = None) -> Tensor:
    """The Laguerre polynomial of degree n."""
def legendre_polynomial_p(input: Tensor, n: TensorOrNumber, *, out: Tensor | None = None) -> Tensor:
    """The Legendre polynomial of degree n."""
def log1p(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """log(1 + input), accurate near 0."""
def log_ndtr(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """log(ndtr(x)), accurate for large negative x."""
@overload
def log_softmax(input: Tensor, dim: int, dtype: DTypeLike = None, *, out: Tensor | None = None) -> Tensor:
    """log(softmax(input, dim)), computed without losing small ones."""
@overload
def log_softmax(input: Tensor, *, axis: int, dtype: DTypeLike = None, out: Tensor | None = None) -> Tensor:
    """log(softmax(input, dim)), computed without losing small ones."""
def logit(input: Tensor, eps: float | None = None, *, out: Tensor | None = None) -> Tensor:
    """log(x / (1 - x)), the inverse of sigmoid; with eps, x is first clamped to [eps, 1 - eps]."""
@overload
def logsumexp(input: Tensor, dim: Dims, keepdim: bool = False, *, out: Tensor | None = None, keepdims: bool | None = None) -> Tensor:
    """log of the sum of exp(input) over `dim`, without overflow."""
@overload
def logsumexp(input: Tensor, *, axis: Dims, keepdim: bool = False, out: Tensor | None = None, keepdims: bool | None = None) -> Tensor:
    """log of the sum of exp(input) over `dim`, without overflow."""
def modified_bessel_i0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The modified Bessel function of the first kind, of order 0."""
def modified_bessel_i1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The modified Bessel function of the first kind, of order 1."""
def modified_bessel_k0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The modified Bessel function of the second kind, of order 0."""
def modified_bessel_k1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The modified Bessel function of the second kind, of order 1."""
def multigammaln(input: Tensor, p: int, *, out: Tensor | None = None) -> Tensor:
    """log of the multivariate gamma function of dimension p: lgamma(x) + ... + lgamma(x - (p - 1) / 2) + constant."""
def ndtr(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The distribution function of the standard normal distribution."""
def ndtri(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse of ndtr."""
def polygamma(n: int, input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The n-th derivative of digamma at input."""
def psi(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The derivative of lgamma."""
def round(input: Tensor, *, decimals: int = 0, out: Tensor | None = None) -> Tensor:
    """The nearest integer, the even one of two; with `decimals`, the nearest multiple of 10**-decimals."""
def scaled_modified_bessel_k0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """exp(x) modified_bessel_k0(x)."""
def scaled_modified_bessel_k1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """exp(x) modified_bessel_k1(x)."""
def shifted_chebyshev_polynomial_t(input: Tensor, n: TensorOrNumber, *, out: Tensor | None = None) -> Tensor:
    """The Chebyshev polynomial of the first kind at 2 input - 1, of degree n."""
def shifted_chebyshev_polynomial_u(input: Tensor, n: TensorOrNumber, *, out: Tensor | None = None) -> Tensor:
    """The Chebyshev polynomial of the second kind at 2 input - 1, of degree n."""
def shifted_chebyshev_polynomial_v(input: Tensor, n: TensorOrNumber, *, out: Tensor | None = None) -> Tensor:
    """The Chebyshev polynomial of the third kind at 2 input - 1, of degree n."""
def shifted_chebyshev_polynomial_w(input: Tensor, n: TensorOrNumber, *, out: Tensor | None = None) -> Tensor:
    """The Chebyshev polynomial of the fourth kind at 2 input - 1, of degree n."""
def sinc(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """sin(pi input) / (pi input), 1 at 0."""
@overload
def softmax(input: Tensor, dim: int, dtype: DTypeLike = None, *, out: Tensor | None = None) -> Tensor:
    """exp(input) over its sum along `dim`: positive, adding up to 1."""
@overload
def softmax(input: Tensor, *, axis: int, dtype: DTypeLike = None, out: Tensor | None = None) -> Tensor:
    """exp(input) over its sum along `dim`: positive, adding up to 1."""
def spherical_bessel_j0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """sin(x) / x, 1 at 0."""
def xlog1py(input: Tensor | Number, other: Tensor | Number | Array | np.generic, *, out: Tensor | None = None) -> Tensor:
    """input log1p(other), 0 where input is 0."""
def xlogy(input: Tensor | Number, other: Tensor | Number | Array | np.generic, *, out: Tensor | None = None) -> Tensor:
    """input log(other), 0 where input is 0."""
def zeta(input: Tensor | Number, other: Tensor | Number | Array | np.generic, *, out: Tensor | None = None) -> Tensor:
    """The Hurwitz zeta function, the sum of (n + q)^-x over n >= 0."""
