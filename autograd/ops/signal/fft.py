"""Discrete Fourier transforms. All are linear, and each one's adjoint is another of them, unscaled the other way.

norm says where the factor 1/n of a transform and its inverse goes: "backward" (to the inverse), "forward" (to the forward
one) or "ortho" (1/sqrt(n) to both)."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...base.dtypes import as_dtype, default
from ...base.types import Array, DeviceLike, DTypeLike, Layout, SizeLike
from ...core.batching import along
from ...core.casting import casts_float32
from ...core.operation import Operation
from ...core.out import takes_out
from ...core.tensor import Tensor, result
from ...core.types import Context, Declared, Gradients, TensorOrArray
from ..pointwise.arithmetic import mul
from ..pointwise.cast import cast
from ..pointwise.complex import as_complex, conj
from ..shape import narrow, pad_constant, roll, wrap_dim

Dims = tuple[int, ...]

# norm of the adjoint: a factor that the transform has, its adjoint has too, and NumPy counts norm by direction
ADJOINT = {"backward": "forward", "forward": "backward", "ortho": "ortho"}


class FftC2C(Operation):
    """Complex to complex, over dims."""

    batched = along("dims")

    @staticmethod
    def forward(ctx: Context, x: Array, *, dims: Dims, norm: str, inverse: bool) -> Array:
        ctx.settings = dims, norm, inverse
        return (np.fft.ifftn if inverse else np.fft.fftn)(x, axes=dims, norm=norm)  # type: ignore

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        dims, norm, inverse = ctx.settings
        return FftC2C.apply(g, dims=dims, norm=ADJOINT[norm], inverse=not inverse)


class FftR2C(Operation):
    """Real to the first half of the complex coefficients, along one dimension."""

    batched = along("dim")

    @staticmethod
    def forward(ctx: Context, x: Array, *, dim: int, norm: str) -> Array:
        ctx.settings = dim, norm, x.shape[dim]
        return np.fft.rfft(x, axis=dim, norm=norm)  # type: ignore

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        """The inverse counts each coefficient but the ends twice, for its mirror image; the adjoint counts it once."""
        dim, norm, n = ctx.settings
        return FftC2R.apply(mul(g, weights(n, 0.5, g, dim)), dim=dim, n=n, norm=ADJOINT[norm])


class FftC2R(Operation):
    """The first half of the coefficients of n real numbers to the numbers, along one dimension."""

    batched = along("dim")

    @staticmethod
    def forward(ctx: Context, x: Array, *, dim: int, n: int, norm: str) -> Array:
        ctx.settings = dim, norm, n
        return np.fft.irfft(x, n, axis=dim, norm=norm)  # type: ignore

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        """The first half of the coefficients of g, doubled but at the ends."""
        dim, norm, n = ctx.settings
        out = FftR2C.apply(g, dim=dim, norm=ADJOINT[norm])
        return mul(out, weights(n, 2.0, out, dim))


def weights(n: int, inside: float, x: TensorOrArray, dim: int) -> Array:
    """`inside` for coefficients with a mirror image, 1 for the others: the first, and the last if n is even."""
    count = x.shape[dim]
    out = np.full(count, inside, np.float64 if x.dtype in (np.complex128, np.float64) else np.float32)
    out[0] = 1
    if n % 2 == 0:
        out[-1] = 1
    return out.reshape((count,) + (1,) * (x.ndim - dim - 1))


# --- arguments -------------------------------------------------------------------------------------------------------

def _input(x: Tensor, real: bool = False) -> Tensor:
    """x as floating point, or complex."""
    if x.dtype == np.float16:
        raise RuntimeError(f"Unsupported dtype {x.dtype}: Fourier transforms take float32, float64 and complex numbers")
    if real and x.dtype.kind == "c":
        raise RuntimeError(f"Expected a real input tensor to the transform, got {x.dtype}. Use fft() for complex input")
    x = x if x.dtype.kind in "fcV" else cast(x, default.dtype)
    return x if real else as_complex(x)


def _norm(norm: str | None) -> str:
    if norm not in (None, "backward", "forward", "ortho"):
        raise RuntimeError(f'Invalid normalization mode: "{norm}"; use "backward", "forward" or "ortho"')
    return norm or "backward"


def _sized(x: Tensor, dim: int, n: int) -> Tensor:
    """x with n elements along dim: cut off, or with zeros behind."""
    if n < 1:
        raise RuntimeError(f"Invalid number of data points ({n}) specified")
    have = x.shape[dim]
    if have > n:
        return narrow(x, dim, 0, n)
    return x if have == n else pad_constant(x, tuple((0, n - have if d == dim else 0) for d in range(x.ndim)))


def _places(x: Tensor, s: SizeLike | None, dim: SizeLike | None) -> tuple[list[int], list[int]]:
    """The dimensions to transform, and their lengths (-1: as they are)."""
    s = (s,) if isinstance(s, int) else s
    dim = (dim,) if isinstance(dim, int) else dim
    if dim is None:
        if s is not None and len(s) > x.ndim:
            raise RuntimeError(f"Got shape with {len(s)} values but input tensor only has {x.ndim} dimensions.")
        dims = list(range(x.ndim)) if s is None else list(range(x.ndim - len(s), x.ndim))
    else:
        dims = [wrap_dim(d, x.ndim) for d in dim]
        if x.ndim == 0 and dims:
            raise IndexError(f"Dimension specified as {dim[0]} but tensor has no dimensions")
        if len(set(dims)) < len(dims):
            raise RuntimeError(f"FFT dims must be unique, got {tuple(dim)}")
        if s is not None and len(s) != len(dims):
            raise RuntimeError(f"When given, dim and shape arguments must have the same length, not "
                               f"{tuple(dim)} and {tuple(s)}")
    lengths = [x.shape[d] for d in dims] if s is None else [x.shape[d] if n == -1 else operator.index(n)
                                                           for d, n in zip(dims, s, strict=True)]
    return dims, lengths


def _complex(x: Tensor, s: SizeLike | None, dim: SizeLike | None, norm: str | None, inverse: bool) -> Tensor:
    x, norm = _input(x), _norm(norm)
    dims, lengths = _places(x, s, dim)
    for d, n in zip(dims, lengths, strict=True):
        x = _sized(x, d, n)
    return FftC2C.apply(x, dims=tuple(dims), norm=norm, inverse=inverse) if dims else x


def _to_half(x: Tensor, s: SizeLike | None, dim: SizeLike | None, norm: str | None) -> Tensor:
    x, norm = _input(x, True), _norm(norm)
    dims, lengths = _places(x, s, dim)
    if not dims:
        raise RuntimeError("at least one axis must be transformed")
    for d, n in zip(dims, lengths, strict=True):
        x = _sized(x, d, n)
    out = FftR2C.apply(x, dim=dims[-1], norm=norm)
    return FftC2C.apply(out, dims=tuple(dims[:-1]), norm=norm, inverse=False) if dims[1:] else out


def _from_half(x: Tensor, s: SizeLike | None, dim: SizeLike | None, norm: str | None) -> Tensor:
    x, norm = _input(x), _norm(norm)
    dims, lengths = _places(x, s, dim)
    if not dims:
        raise RuntimeError("at least one axis must be transformed")
    given = s if isinstance(s, int) or s is None else s[-1]
    n = 2 * (x.shape[dims[-1]] - 1) if given in (None, -1) else lengths[-1]
    if n < 1:
        raise RuntimeError(f"Invalid number of data points ({n}) specified")
    for d, size in zip(dims, [*lengths[:-1], n // 2 + 1], strict=True):
        x = _sized(x, d, size)
    if dims[1:]:
        x = FftC2C.apply(x, dims=tuple(dims[:-1]), norm=norm, inverse=True)
    return FftC2R.apply(x, dim=dims[-1], n=n, norm=norm)


def _one(name: str, dim: int) -> int:
    if not isinstance(dim, int):
        raise TypeError(f"{name}(): argument 'dim' must be int, not {type(dim).__name__}")
    return dim


# --- transforms ------------------------------------------------------------------------------------------------------

@casts_float32
@takes_out
def fft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """sum over m of x[m] exp(-2 pi i k m / n), along `dim`; n cuts off or fills up with zeros."""
    return _complex(input, n, _one("fft", dim), norm, False)


@casts_float32
@takes_out
def ifft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The inverse of fft."""
    return _complex(input, n, _one("ifft", dim), norm, True)


@casts_float32
@takes_out
def rfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The first n // 2 + 1 coefficients of fft of real input; the others are their conjugates."""
    return _to_half(input, n, _one("rfft", dim), norm)


@casts_float32
@takes_out
def irfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The inverse of rfft, for n real numbers; n is by default even."""
    return _from_half(input, n, _one("irfft", dim), norm)


@casts_float32
@takes_out
def hfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """fft of a signal whose second half is the conjugate of its first half, which is given: n real numbers."""
    return _from_half(conj(_input(input)), n, _one("hfft", dim), ADJOINT[_norm(norm)])


@casts_float32
@takes_out
def ihfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The inverse of hfft."""
    return conj(_to_half(input, n, _one("ihfft", dim), ADJOINT[_norm(norm)]))


@casts_float32
@takes_out
def fftn(input: Tensor, s: Sequence[int] | None = None, dim: Sequence[int] | None = None, norm: str | None = None) -> Tensor:
    """fft over several dimensions, by default all, or the last len(s)."""
    return _complex(input, s, dim, norm, False)


@casts_float32
@takes_out
def ifftn(input: Tensor, s: Sequence[int] | None = None, dim: Sequence[int] | None = None,
          norm: str | None = None) -> Tensor:
    """The inverse of fftn."""
    return _complex(input, s, dim, norm, True)


@casts_float32
@takes_out
def rfftn(input: Tensor, s: Sequence[int] | None = None, dim: Sequence[int] | None = None,
          norm: str | None = None) -> Tensor:
    """rfft over the last of several dimensions, fft over the others."""
    return _to_half(input, s, dim, norm)


@casts_float32
@takes_out
def irfftn(input: Tensor, s: Sequence[int] | None = None, dim: Sequence[int] | None = None,
           norm: str | None = None) -> Tensor:
    """The inverse of rfftn."""
    return _from_half(input, s, dim, norm)


@takes_out
def hfftn(input: Tensor, s: Sequence[int] | None = None, dim: Sequence[int] | None = None,
          norm: str | None = None) -> Tensor:
    """hfft over the last of several dimensions, fft over the others."""
    return _from_half(conj(_input(input)), s, dim, ADJOINT[_norm(norm)])


@takes_out
def ihfftn(input: Tensor, s: Sequence[int] | None = None, dim: Sequence[int] | None = None,
           norm: str | None = None) -> Tensor:
    """The inverse of hfftn."""
    return conj(_to_half(input, s, dim, ADJOINT[_norm(norm)]))


def _of_two(transform: Callable[..., Any], name: str) -> Callable[..., Any]:
    """A transform of several dimensions as one of the last two."""

    def both(input: Tensor, s: Sequence[int] | None = None, dim: Sequence[int] = (-2, -1), norm: str | None = None, *,
             out: Tensor | None = None) -> Tensor:
        return transform(input, s, dim, norm, out=out)

    both.__name__ = both.__qualname__ = name
    both.__doc__ = f"{name[:-1]}n over two dimensions, by default the last two."
    return both


irfft2: Declared
rfft2: Declared
ifft2: Declared
fft2: Declared
fft2, ifft2, rfft2, irfft2 = (casts_float32(_of_two(f, name)) for f, name in (
    (fftn, "fft2"), (ifftn, "ifft2"), (rfftn, "rfft2"), (irfftn, "irfft2")))
hfft2: Declared = _of_two(hfftn, "hfft2")
ihfft2: Declared = _of_two(ihfftn, "ihfft2")


# --- order and frequencies ---------------------------------------------------------------------------------------------

def _shift(x: Tensor, dim: int | Sequence[int] | None, sign: int) -> Tensor:
    dims = range(x.ndim) if dim is None else [wrap_dim(d, x.ndim) for d in ((dim,) if isinstance(dim, int) else dim)]
    halves = [x.shape[d] // 2 if sign > 0 else -(x.shape[d] // 2) for d in dims]
    return roll(x, halves, tuple(dims))


def fftshift(input: Tensor, dim: SizeLike | None = None) -> Tensor:
    """Frequency 0 moved to the middle, along `dim` or all dimensions."""
    return _shift(input, dim, 1)


def ifftshift(input: Tensor, dim: SizeLike | None = None) -> Tensor:
    """The inverse of fftshift."""
    return _shift(input, dim, -1)


def _frequencies(values: Array, n: int, d: float, settings: dict[str, Any]) -> Tensor:
    dtype, device = settings.get("dtype"), settings.get("device")
    for name in ("layout", "pin_memory"):
        if settings.get(name):
            raise NotImplementedError(f"{name}={settings[name]!r} is not implemented: leave it out")
    if device is not None and str(device) != "cpu":
        raise NotImplementedError(f"device={device!r}: tensors live in the CPU's memory")
    dtype = default.dtype if dtype is None else as_dtype(dtype)
    if dtype.kind not in "fcV":
        raise RuntimeError(f"fftfreq and rfftfreq require a floating point or complex dtype, not {dtype}")
    out = result((values / (n * d)).astype(dtype))
    return out.requires_grad_() if settings.get("requires_grad") else out


@takes_out
def fftfreq(n: int, d: float = 1.0, *, dtype: DTypeLike = None, layout: Layout | None = None, device: DeviceLike = None,
            requires_grad: bool = False, pin_memory: bool = False) -> Tensor:
    """The frequencies of fft of n samples d apart: [0, 1, ..., -2, -1] / (n d)."""
    return _frequencies(np.fft.ifftshift(np.arange(n) - n // 2), n, d, {
        "dtype": dtype, "layout": layout, "device": device, "requires_grad": requires_grad, "pin_memory": pin_memory})


@takes_out
def rfftfreq(n: int, d: float = 1.0, *, dtype: DTypeLike = None, layout: Layout | None = None, device: DeviceLike = None,
             requires_grad: bool = False, pin_memory: bool = False) -> Tensor:
    """The frequencies of rfft of n samples d apart: [0, 1, ..., n // 2] / (n d)."""
    return _frequencies(np.arange(n // 2 + 1), n, d, {
        "dtype": dtype, "layout": layout, "device": device, "requires_grad": requires_grad, "pin_memory": pin_memory})


__all__: list[str] = []
