"""Windows: weights that fade out towards both ends, for spectra.

A periodic window is a symmetric one of one more point, without its last: what the Fourier transform continues."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...base import dtypes
from ...base.types import DeviceLike, DTypeLike, Layout
from ...core.tensor import Tensor
from ..creation.arguments import integer, kind, new_leaf


def _points(name: str, window_length: float, periodic: bool, dtype: DTypeLike, layout: Layout | None, device: DeviceLike,
            pin_memory: bool) -> tuple[Any, Any, int]:
    """Numbers of the points, the dtype, and the number of the last point of the symmetric window."""
    dtype = kind(dtype, layout, device, pin_memory)
    if dtypes.category(dtype) != 2:
        raise RuntimeError(f"{name} expects floating point dtypes, got: {dtype}")
    n = integer(name, "window_length", window_length)
    if n < 0:
        raise RuntimeError(f"{name} requires non-negative window_length, got window_length={n}")
    return np.arange(n, dtype=dtypes.float64), dtype, n if periodic else n - 1


def _cosines(name: str, weights: tuple[float, ...], window_length: float, periodic: bool, dtype: DTypeLike,
             layout: Layout | None, device: DeviceLike, pin_memory: bool, requires_grad: bool) -> Tensor:
    """sum over k of (-1)^k weights[k] cos(2 pi k i / last)."""
    points, dtype, last = _points(name, window_length, periodic, dtype, layout, device, pin_memory)
    if points.size == 1:
        return new_leaf(np.ones(1, dtype), requires_grad)
    values = np.zeros_like(points)
    for k, weight in enumerate(weights):
        values += (-1) ** k * weight * np.cos(2 * math.pi * k * points / last)
    return new_leaf(values.astype(dtype), requires_grad)


def hann_window(window_length: int, periodic: bool = True, *, dtype: DTypeLike = None, layout: Layout | None = None,
                device: DeviceLike = None, pin_memory: bool = False, requires_grad: bool = False) -> Tensor:
    """1/2 - 1/2 cos(2 pi i / n)."""
    return _cosines("hann_window", (0.5, 0.5), window_length, periodic, dtype, layout, device, pin_memory, requires_grad)


def hamming_window(window_length: int, periodic: bool = True, alpha: float = 0.54, beta: float = 0.46, *,
                   dtype: DTypeLike = None, layout: Layout | None = None, device: DeviceLike = None,
                   pin_memory: bool = False, requires_grad: bool = False) -> Tensor:
    """alpha - beta cos(2 pi i / n)."""
    return _cosines("hamming_window", (alpha, beta), window_length, periodic, dtype, layout, device, pin_memory,
                    requires_grad)


def blackman_window(window_length: int, periodic: bool = True, *, dtype: DTypeLike = None, layout: Layout | None = None,
                    device: DeviceLike = None, pin_memory: bool = False, requires_grad: bool = False) -> Tensor:
    """0.42 - 0.5 cos(2 pi i / n) + 0.08 cos(4 pi i / n)."""
    return _cosines("blackman_window", (0.42, 0.5, 0.08), window_length, periodic, dtype, layout, device, pin_memory,
                    requires_grad)


def bartlett_window(window_length: int, periodic: bool = True, *, dtype: DTypeLike = None, layout: Layout | None = None,
                    device: DeviceLike = None, pin_memory: bool = False, requires_grad: bool = False) -> Tensor:
    """A triangle: 1 - |2 i / n - 1|."""
    points, dtype, last = _points("bartlett_window", window_length, periodic, dtype, layout, device, pin_memory)
    values = 1 - np.abs(2 * points / last - 1) if points.size > 1 else np.ones_like(points)
    return new_leaf(values.astype(dtype), requires_grad)


def kaiser_window(window_length: int, periodic: bool = True, beta: float = 12.0, *, dtype: DTypeLike = None,
                  layout: Layout | None = None, device: DeviceLike = None, pin_memory: bool = False,
                  requires_grad: bool = False) -> Tensor:
    """I0(beta sqrt(1 - (2 i / n - 1)^2)) / I0(beta), with the modified Bessel function I0."""
    points, dtype, last = _points("kaiser_window", window_length, periodic, dtype, layout, device, pin_memory)
    if points.size < 2:
        return new_leaf(np.ones(points.size, dtype), requires_grad)
    inside = np.maximum(1 - (2 * points / last - 1) ** 2, 0)
    return new_leaf((np.i0(beta * np.sqrt(inside)) / np.i0(beta)).astype(dtype), requires_grad)


__all__ = ["bartlett_window", "blackman_window", "hamming_window", "hann_window", "kaiser_window"]
METHODS: list[str] = []
