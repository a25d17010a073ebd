"""Windows of M points: symmetric ones, or with sym=False periodic ones, the first M of the symmetric window of M + 1."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ..base import docstrings as _docstrings
from ..base import dtypes
from ..base.devices import check, strided
from ..base.types import Array, DeviceLike, DTypeLike, Layout
from ..core.tensor import Tensor, result


def _window(name: str, M: int, sym: bool, values: Callable[..., Any], options: dict[str, Any]) -> Tensor:
    """values(points, last point of the symmetric window) as a Tensor; 1 where there is only one point."""
    dtype, layout, device = options["dtype"], options["layout"], options["device"]
    if M < 0:
        raise ValueError(f"{name} requires non-negative window length, got M={M}")
    if layout is not None and layout is not strided:
        raise ValueError(f"{name} is implemented for strided tensors only, got: {layout}")
    dtype = dtypes.default.dtype if dtype is None else dtypes.as_dtype(dtype)
    if dtype not in (dtypes.float32, dtypes.float64):
        raise ValueError(f"{name} expects float32 or float64 dtypes, got: {dtype}")
    check(device)
    points = np.arange(M, dtype=np.float64)
    out = result((np.ones(M) if M < 2 else values(points, M - 1 if sym else M)).astype(dtype))
    if options["requires_grad"]:
        out.requires_grad = True
    return out


def _cosines(weights: tuple[float, ...]) -> Callable[..., Any]:
    """sum over k of (-1)^k weights[k] cos(2 pi k i / last)."""
    def values(points: Array, last: int) -> Array:
        return sum((-1) ** k * w * np.cos(2 * math.pi * k * points / last) for k, w in enumerate(weights))

    return values


def _options(dtype: DTypeLike, layout: Layout | None, device: DeviceLike, requires_grad: bool) -> dict[str, Any]:
    return {"dtype": dtype, "layout": layout, "device": device, "requires_grad": requires_grad}


def general_cosine(M: int, *, a: Iterable[float], sym: bool = True, dtype: DTypeLike = None, layout: Layout | None = None,
                   device: DeviceLike = None, requires_grad: bool = False) -> Tensor:
    """sum over k of (-1)^k a[k] cos(2 pi k i / last)."""
    if not isinstance(a, Iterable):
        raise TypeError("Coefficients must be a list/tuple")
    weights = tuple(a)
    if not weights:
        raise ValueError("Coefficients cannot be empty")
    return _window("general_cosine", M, sym, _cosines(weights), _options(dtype, layout, device, requires_grad))


def general_hamming(M: int, *, alpha: float = 0.54, sym: bool = True, dtype: DTypeLike = None, layout: Layout | None = None,
                    device: DeviceLike = None, requires_grad: bool = False) -> Tensor:
    """alpha - (1 - alpha) cos(2 pi i / last)."""
    return _window("general_hamming", M, sym, _cosines((alpha, 1 - alpha)), _options(dtype, layout, device, requires_grad))


def hamming(M: int, *, sym: bool = True, dtype: DTypeLike = None, layout: Layout | None = None, device: DeviceLike = None,
            requires_grad: bool = False) -> Tensor:
    """0.54 - 0.46 cos(2 pi i / last)."""
    return _window("hamming", M, sym, _cosines((0.54, 0.46)), _options(dtype, layout, device, requires_grad))


def hann(M: int, *, sym: bool = True, dtype: DTypeLike = None, layout: Layout | None = None, device: DeviceLike = None,
         requires_grad: bool = False) -> Tensor:
    """1/2 - 1/2 cos(2 pi i / last)."""
    return _window("hann", M, sym, _cosines((0.5, 0.5)), _options(dtype, layout, device, requires_grad))


def blackman(M: int, *, sym: bool = True, dtype: DTypeLike = None, layout: Layout | None = None, device: DeviceLike = None,
             requires_grad: bool = False) -> Tensor:
    """0.42 - 0.5 cos(2 pi i / last) + 0.08 cos(4 pi i / last)."""
    return _window("blackman", M, sym, _cosines((0.42, 0.5, 0.08)), _options(dtype, layout, device, requires_grad))


def nuttall(M: int, *, sym: bool = True, dtype: DTypeLike = None, layout: Layout | None = None, device: DeviceLike = None,
            requires_grad: bool = False) -> Tensor:
    """Four cosines with weights that keep the side lobes below -98 dB (Nuttall, 1981)."""
    weights = (0.3635819, 0.4891775, 0.1365995, 0.0106411)
    return _window("nuttall", M, sym, _cosines(weights), _options(dtype, layout, device, requires_grad))


def bartlett(M: int, *, sym: bool = True, dtype: DTypeLike = None, layout: Layout | None = None, device: DeviceLike = None,
             requires_grad: bool = False) -> Tensor:
    """A triangle: 1 - |2 i / last - 1|."""
    def values(points: Any, last: int) -> Any:
        return 1 - np.abs(2 * points / last - 1)

    return _window("bartlett", M, sym, values, _options(dtype, layout, device, requires_grad))


def cosine(M: int, *, sym: bool = True, dtype: DTypeLike = None, layout: Layout | None = None, device: DeviceLike = None,
           requires_grad: bool = False) -> Tensor:
    """sin(pi (i + 1/2) / (last + 1))."""
    def values(points: Any, last: int) -> Any:
        return np.sin(math.pi * (points + 0.5) / (last + 1))

    return _window("cosine", M, sym, values, _options(dtype, layout, device, requires_grad))


def exponential(M: int, *, center: float | None = None, tau: float = 1.0, sym: bool = True, dtype: DTypeLike = None,
                layout: Layout | None = None, device: DeviceLike = None, requires_grad: bool = False) -> Tensor:
    """exp(-|i - center| / tau); the center of a symmetric window is its middle."""
    if tau <= 0:
        raise ValueError(f"Tau must be positive, got: {tau} instead.")
    if sym and center is not None:
        raise ValueError("Center must be None for symmetric windows")

    def values(points: Array, last: int) -> Array:
        return np.exp(-np.abs(points - (last / 2 if center is None else center)) / tau)

    return _window("exponential", M, sym, values, _options(dtype, layout, device, requires_grad))


def gaussian(M: int, *, std: float = 1.0, sym: bool = True, dtype: DTypeLike = None, layout: Layout | None = None,
             device: DeviceLike = None, requires_grad: bool = False) -> Tensor:
    """exp(-((i - middle) / std)^2 / 2)."""
    if std <= 0:
        raise ValueError(f"Standard deviation must be positive, got: {std} instead.")

    def values(points: Array, last: int) -> Array:
        return np.exp(-0.5 * ((points - last / 2) / std) ** 2)

    return _window("gaussian", M, sym, values, _options(dtype, layout, device, requires_grad))


def kaiser(M: int, *, beta: float = 12.0, sym: bool = True, dtype: DTypeLike = None, layout: Layout | None = None,
           device: DeviceLike = None, requires_grad: bool = False) -> Tensor:
    """I0(beta sqrt(1 - (2 i / last - 1)^2)) / I0(beta), with the modified Bessel function I0."""
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")

    def values(points: Any, last: int) -> Any:
        return np.i0(beta * np.sqrt(np.maximum(1 - (2 * points / last - 1) ** 2, 0))) / np.i0(beta)

    return _window("kaiser", M, sym, values, _options(dtype, layout, device, requires_grad))


__all__ = ["bartlett", "blackman", "cosine", "exponential", "gaussian", "general_cosine", "general_hamming", "hamming",
           "hann", "kaiser", "nuttall"]

_docstrings.attach(globals(), "signal", "signal.windows.")
