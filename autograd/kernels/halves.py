"""Conversions between float16, bfloat16 and the wider floats, with NumPy's results and at one speed for all values.

NumPy raises a floating-point flag for each number that is rounded to a subnormal half (below 6.1e-5), which takes 65 ns:
1.5 million gradients near 1e-7 take 100 ms, and near 1 3.7 ms. Here they take 0.3 ms compiled, 6 to 8 ms in NumPy alone.
What overflows becomes infinite without a warning, as in PyTorch. Compiled conversions make a signalling nan quiet; the other
bits of nan that fit are NumPy's.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from ..base.types import Array, DTypeLike
from .loops import kernels_for
from .loops.halves import BLOCK
from .memory_format import channels_last, order_of

FLOAT16, FLOAT32, FLOAT64, UINT16 = (np.dtype(kind) for kind in (np.float16, np.float32, np.float64, np.uint16))
SMALLEST_NORMAL = 2.0 ** -14                         # of float16, whose subnormal numbers are multiples of 2**-24
# the numbers whose last bit is worth 2**-24, by dtype: adding one rounds a small number to a subnormal half, ties to even
ROUNDER: dict[Any, Any] = {FLOAT32: np.float32(2.0 ** -1), FLOAT64: np.float64(2.0 ** 28)}
FEW = 64                             # elements: converting them takes NumPy less than 5 us
WORTH_A_TABLE = 1 << 14              # elements from which all 65,536 halves are converted once, and looked up


def converted(x: Array, dtype: DTypeLike, copy: bool = True) -> Array:
    """x.astype(dtype, copy=copy), in x's order of memory."""
    source, dtype = x.dtype, np.dtype(dtype)
    if type(x) is np.ndarray and source != dtype:
        if source in ROUNDER and dtype == FLOAT16:
            return _narrowed(x)
        if x.size > FEW:
            if source == FLOAT16 and dtype in ROUNDER:
                return _widened(x, dtype)
            if dtype.kind == "V" and dtype.name == "bfloat16" and source.kind == "f":
                return _to_bfloat16(x, dtype)
    return x.astype(dtype, order_of(x), copy=copy) if type(x) is np.ndarray else x.astype(dtype, copy=copy)


def scale(x: Array, factor: float) -> None:
    """x *= factor; halves are multiplied in float32 and rounded once."""
    if x.dtype == FLOAT16:
        np.copyto(x, converted(converted(x, FLOAT32) * np.float32(factor), FLOAT16))
    else:
        x *= factor


def copy_into(out: Array, x: Array) -> None:
    """np.copyto(out, x, casting="unsafe")."""
    np.copyto(out, converted(x, out.dtype, copy=False), casting="unsafe")


def _narrowed(x: Array) -> Array:
    if x.size > FEW:
        dense = _dense(x)
        flat = dense.ravel(order="K")
        kernels = kernels_for(flat, dtype=x.dtype)
        if kernels is not None:
            out = np.empty_like(dense, FLOAT16)
            if x.dtype == FLOAT32:
                kernels.to_half(flat, out.ravel(order="K"), x.size)
            else:
                kernels.to_half_double(flat, np.empty(BLOCK, FLOAT32), out.ravel(order="K"), x.size)
            return out
        x = _rounded(dense)
    with np.errstate(over="ignore", under="ignore"):
        return x.astype(FLOAT16, order_of(x))


def _rounded(x: Array) -> Array:
    """x with what is subnormal as a half rounded to one: converting it then raises no flag for each number."""
    size = np.abs(x)
    small = size < SMALLEST_NORMAL
    if not small.any():
        return x
    size += ROUNDER[x.dtype]
    size -= ROUNDER[x.dtype]
    return np.where(small, np.copysign(size, x, out=size), x)


def _widened(x: Array, dtype: np.dtype[Any]) -> Array:
    dense = _dense(x)
    flat = dense.ravel(order="K")
    kernels = kernels_for(flat, dtype=FLOAT16)
    out = np.empty_like(dense, dtype)
    if kernels is not None and dtype == FLOAT32:
        kernels.from_half(flat, out.ravel(order="K"), x.size)
    elif kernels is not None:
        kernels.from_half_double(flat, np.empty(BLOCK, FLOAT32), out.ravel(order="K"), x.size)
    elif x.size < WORTH_A_TABLE:
        out[...] = x
    else:
        np.take(_table(dtype), flat.view(np.uint16), out=out.ravel(order="K"), mode="clip")
    return out


def _to_bfloat16(x: Array, dtype: np.dtype[Any]) -> Array:
    """float64 becomes float32 first, as in ml_dtypes and PyTorch."""
    if x.dtype != FLOAT32:
        with np.errstate(over="ignore", under="ignore"):
            x = converted(x, FLOAT32)
    dense = _dense(x)
    flat = dense.ravel(order="K")
    kernels = kernels_for(flat)
    if kernels is None:
        return x.astype(dtype)
    out = np.empty_like(dense, np.uint16)
    kernels.to_bfloat16(flat, out.ravel(order="K"), x.size)
    return out.view(dtype)


@lru_cache(maxsize=2)
def _table(dtype: np.dtype[Any]) -> Array:
    """All halves as another dtype."""
    return np.arange(1 << 16, dtype=np.uint16).view(FLOAT16).astype(dtype)


def _dense(x: Array) -> Array:
    """x, or a copy without gaps in x's order of memory."""
    if x.flags.forc or (x.ndim > 2 and channels_last(x)):
        return x
    dense = np.empty_like(x, order=order_of(x))
    dense[...] = x
    return dense
