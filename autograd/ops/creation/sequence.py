"""Tensors of numbers in sequence: arange, linspace, logspace, eye."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...base import dtypes
from ...base.types import Array, DeviceLike, DTypeLike, Layout
from ...core.primitive import spanned
from ...core.tensor import Tensor
from ...core.types import TensorOrNumber
from .arguments import fitting, integer, kind, new_leaf, number


@spanned
def arange(start: Any = None, end: Any = None, step: Any = 1, *, out: Tensor | None = None, dtype: DTypeLike = None,
           layout: Layout | None = None, device: DeviceLike = None, pin_memory: bool = False,
           requires_grad: bool = False) -> Tensor:
    """start, start + step, ... below end; arange(end) starts at 0. Integers give int64."""
    if end is None:
        start, end = 0, start
    elif start is None:
        start = 0
    parts = [number("arange", name, value) for name, value in (("start", start), ("end", end), ("step", step))]
    if dtype is None and out is None and all(isinstance(v, int) for v in parts):
        dtype = dtypes.int64
    dtype = kind(dtype, layout, device, pin_memory, out)
    if dtype.kind == "b":
        raise NotImplementedError("\"arange_cpu\" not implemented for 'Bool'")
    start, end, step = parts
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if not (math.isfinite(start) and math.isfinite(end)):
        raise RuntimeError(f"unsupported range: {start} -> {end}")
    if (end > start) != (step > 0) and end != start:
        raise RuntimeError(f"upper bound and lower bound inconsistent with step sign: arange({start}, {end}, {step})")
    if dtype == dtypes.int64:
        start, end, step = int(start), int(end), int(step)
        if step == 0:
            raise RuntimeError("step must be nonzero, as an integer too")
        count = max(0, -(-(end - start) // step))
    else:
        count = math.ceil((end - start) / step)      # before rounding to integers of other dtypes, as in PyTorch
    if dtype.kind in "iu":
        numbers = np.arange(count)
        if step != 1 or start != 0:                  # else they are what is wanted
            numbers = numbers * int(step) + int(start)
        return new_leaf(numbers.astype(dtype, copy=False), requires_grad, out)
    return new_leaf((start + np.arange(count, dtype=dtypes.float64) * step).astype(dtype, copy=False), requires_grad, out)


def _ends(name: str, start: TensorOrNumber, end: TensorOrNumber, steps: float) -> tuple[Any, Any, int]:
    for side, value in (("start", start), ("end", end)):
        if isinstance(value, Tensor) and value.ndim:
            raise RuntimeError(f"{name} only supports 0-dimensional start and end tensors, but got {side} with {value.ndim} "
                               "dimension(s).")
    steps = integer(name, "steps", steps)
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")
    return number(name, "start", start), number(name, "end", end), steps


def _dtype_of_ends(name: str, a: Any, b: Any, dtype: DTypeLike, out: Tensor | None, layout: Layout | None,
                   device: DeviceLike, pin_memory: bool) -> Any:
    """The dtype of a sequence between two numbers, complex where one of them is, and both numbers fitted to it."""
    is_complex = isinstance(a, complex) or isinstance(b, complex)
    if is_complex and dtype is None and out is None:
        dtype = dtypes.to_complex(dtypes.default.dtype)
    dtype = kind(dtype, layout, device, pin_memory, out)
    if is_complex and dtype.kind != "c":
        raise RuntimeError(f"{name}(): the complex sequence from {a} to {b} can't be safely cast to passed dtype {dtype}")
    if dtype.kind in "iu":
        a, b = fitting(a, dtype), fitting(b, dtype)
    return dtype, a, b


@spanned
def linspace(start: TensorOrNumber, end: TensorOrNumber, steps: Any, *, out: Tensor | None = None, dtype: DTypeLike = None,
             layout: Layout | None = None, device: DeviceLike = None, pin_memory: bool = False,
             requires_grad: bool = False) -> Tensor:
    """`steps` numbers from start to end, both included."""
    a, b, n = _ends("linspace", start, end, steps)
    dtype, a, b = _dtype_of_ends("linspace", a, b, dtype, out, layout, device, pin_memory)
    return new_leaf(even(a, b, n).astype(dtype, copy=False), requires_grad, out)


def even(start: float, end: float, steps: int) -> Array:
    """Even steps, counted from the nearer end, so that the sequence is as exact at its end as at its start."""
    if steps < 2:
        return np.full(steps, start, np.result_type(type(start), dtypes.float64))
    step = (end - start) / (steps - 1)
    number, half = np.arange(steps), steps // 2
    out: Any = start + step * number
    out[half:] = end - step * (steps - 1 - number[half:])
    return out


@spanned
def logspace(start: TensorOrNumber, end: TensorOrNumber, steps: int, base: float = 10.0, *, out: Tensor | None = None,
             dtype: DTypeLike = None, layout: Layout | None = None, device: DeviceLike = None, pin_memory: bool = False,
             requires_grad: bool = False) -> Tensor:
    """base to the power of `steps` numbers from start to end, both included."""
    a, b, n = _ends("logspace", start, end, steps)
    dtype, a, b = _dtype_of_ends("logspace", a, b, dtype, out, layout, device, pin_memory)
    return new_leaf(np.power(float(base), even(a, b, n)).astype(dtype), requires_grad, out)


@spanned
def eye(n: int, m: int | None = None, *, out: Tensor | None = None, dtype: DTypeLike = None, layout: Layout | None = None,
        device: DeviceLike = None, pin_memory: bool = False, requires_grad: bool = False) -> Tensor:
    """Ones on the diagonal of an (n, m) matrix, zeros elsewhere."""
    n = integer("eye", "n", n)
    m = n if m is None else integer("eye", "m", m)
    for name, size in (("n", n), ("m", m)):
        if size < 0:
            raise RuntimeError(f"{name} must be greater or equal to 0, got {size}")
    return new_leaf(np.eye(n, m, dtype=kind(dtype, layout, device, pin_memory, out)), requires_grad, out)


__all__ = ["arange", "eye", "linspace", "logspace"]
METHODS: list[str] = []
