"""Written by tests/autograd/make_stubs.py from what is bound at run time: do not edit."""

from .base.types import DTypeLike
from .base.types import DeviceLike
from .base.types import Layout
from .base.types import SizeLike
from .core.tensor import Tensor as Tensor
from collections.abc import Sequence

__all__ = ["fft", "fft2", "fftfreq", "fftn", "fftshift", "hfft", "hfft2", "hfftn", "ifft", "ifft2", "ifftn", "ifftshift", "ihfft", "ihfft2", "ihfftn", "irfft", "irfft2", "irfftn", "rfft", "rfft2", "rfftfreq", "rfftn"]

def fft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """sum over m of x[m] exp(-2 pi i k m / n), along `dim`; n cuts off or fills up with zeros."""
def fft2(input: Tensor, s: Sequence[int] | None = None, dim: Sequence[int] = ..., norm: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """fftn over two dimensions, by default the last two."""
def fftfreq(n: int, d: float = 1.0, *, dtype: DTypeLike = None, layout: Layout | None = None, device: DeviceLike = None, requires_grad: bool = False, pin_memory: bool = False, out: Tensor | None = None) -> Tensor:
    """The frequencies of fft of n samples d apart: [0, 1, ..., -2, -1] / (n d)."""
def fftn(input: Tensor, s: Sequence[int] | None = None, dim: Sequence[int] | None = None, norm: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """fft over several dimensions, by default all, or the last len(s)."""
def fftshift(input: Tensor, dim: SizeLike | None = None) -> Tensor:
    """Frequency 0 moved to the middle, along `dim` or all dimensions."""
def hfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """fft of a signal whose second half is the conjugate of its first half, which is given: n real numbers."""
def hfft2(input: Tensor, s: Sequence[int] | None = None, dim: Sequence[int] = ..., norm: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """hfftn over two dimensions, by default the last two."""
def hfftn(input: Tensor, s: Sequence[int] | None = None, dim: Sequence[int] | None = None, norm: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """hfft over the last of several dimensions, fft over the others."""
def ifft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The inverse of fft."""
def ifft2(input: Tensor, s: Sequence[int] | None = None, dim: Sequence[int] = ..., norm: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """ifftn over two dimensions, by default the last two."""
def ifftn(input: Tensor, s: Sequence[int] | None = None, dim: Sequence[int] | None = None, norm: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The inverse of fftn."""
def ifftshift(input: Tensor, dim: SizeLike | None = None) -> Tensor:
    """The inverse of fftshift."""
def ihfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The inverse of hfft."""
def ihfft2(input: Tensor, s: Sequence[int] | None = None, dim: Sequence[int] = ..., norm: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """ihfftn over two dimensions, by default the last two."""
def ihfftn(input: Tensor, s: Sequence[int] | None = None, dim: Sequence[int] | None = None, norm: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The inverse of hfftn."""
def irfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The inverse of rfft, for n real numbers; n is by default even."""
def irfft2(input: Tensor, s: Sequence[int] | None = None, dim: Sequence[int] = ..., norm: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """irfftn over two dimensions, by default the last two."""
def irfftn(input: Tensor, s: Sequence[int] | None = None, dim: Sequence[int] | None = None, norm: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The inverse of rfftn."""
def rfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The first n // 2 + 1 coefficients of fft of real input; the others are their conjugates."""
def rfft2(input: Tensor, s: Sequence[int] | None = None, dim: Sequence[int] = ..., norm: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """rfftn over two dimensions, by default the last two."""
def rfftfreq(n: int, d: float = 1.0, *, dtype: DTypeLike = None, layout: Layout | None = None, device: DeviceLike = None, requires_grad: bool = False, pin_memory: bool = False, out: Tensor | None = None) -> Tensor:
    """The frequencies of rfft of n samples d apart: [0, 1, ..., n // 2] / (n d)."""
def rfftn(input: Tensor, s: Sequence[int] | None = None, dim: Sequence[int] | None = None, norm: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """rfft over the last of several dimensions, fft over the others."""
