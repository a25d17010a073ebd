"""Conversions between float16, bfloat16 and the wider floats, with NumPy's results and at one speed for all values.

NumPy raises a floating-point flag for each number that is rounded to a subnormal half (below 6.1e-5), which takes 65 ns:
1.5 million gradients near 1e-7 take 100 ms, and near 1 3.7 ms. Here they take 0.1 ms compiled, 6 to 8 ms in NumPy alone.
NumPy's arithmetic converts in the same way. Here +, -, *, / of float16 are computed in float32 and rounded once, with the
same bits: so large a product takes 0.5 ms, in NumPy 5.6, near 1e-7 90. `python tests/bench/halves.py` has all ways.
What overflows becomes infinite without a warning, as in PyTorch. Compiled conversions make a signalling nan quiet; the other
bits of nan that fit are NumPy's.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import numpy as np

from ..base.arrays import is_bfloat16
from ..base.types import Array, DTypeLike
from .loops import kernels_for
from .loops.halves import BLOCK
from .memory_format import channels_last, order_of

FLOAT16, FLOAT32, FLOAT64, UINT16 = (np.dtype(kind) for kind in (np.float16, np.float32, np.float64, np.uint16))
SMALLEST_NORMAL = 2.0 ** -14                         # of float16, whose subnormal numbers are multiples of 2**-24
# the numbers whose last bit is worth 2**-24, by dtype: adding one rounds a small number to a subnormal half, ties to even
ROUNDER: dict[Any, Any] = {FLOAT32: np.float32(2.0 ** -1), FLOAT64: np.float64(2.0 ** 28)}
ARITHMETIC = frozenset((np.add, np.subtract, np.multiply, np.divide, np.sqrt, np.square))
FEW = 64                             # elements: converting them takes NumPy less than 5 us
WORTH_A_TABLE = 1 << 14              # elements from which all 65,536 halves are converted once, and looked up


def converted(x: Array, dtype: DTypeLike, copy: bool = True) -> Array:
    """x.astype(dtype, copy=copy), in x's order of memory."""
    source, dtype = x.dtype, np.dtype(dtype)
    if (source.itemsize == 2 or dtype.itemsize == 2) and source != dtype:
        if isinstance(x, np.memmap):
            x = x.view(np.ndarray)
        if type(x) is np.ndarray:
            if not source.isnative:
                return converted(x.astype(source.newbyteorder("=")), dtype)
            if source in ROUNDER and dtype == FLOAT16:
                return _narrowed(x)
            if x.size > FEW and dtype.isnative:
                if source == FLOAT16:
                    return _widened(x, dtype) if dtype in ROUNDER else converted(_widened(x, FLOAT32), dtype)
                if is_bfloat16(x) and dtype.kind in "fc":
                    return _from_bfloat16(x, dtype)
                if dtype.kind == "V" and dtype.name == "bfloat16" and source.kind == "f":
                    return _to_bfloat16(x, dtype)
    return x.astype(dtype, order_of(x), copy=copy) if type(x) is np.ndarray else x.astype(dtype, copy=copy)


def rounded_once(function: Callable[..., Any], *operands: Any) -> Any:
    """function(*operands) of ARITHMETIC: NumPy computes it for float16 in float32 too, but converts more slowly."""
    if not any(type(a) is np.ndarray and a.dtype == FLOAT16 and a.size > FEW for a in operands) or not all(
            a.dtype == FLOAT16 if type(a) in (np.ndarray, np.float16) else type(a) in (float, int) for a in operands):
        return function(*operands)
    made: Array = function(*[converted(a, FLOAT32) if type(a) is np.ndarray else FLOAT32.type(FLOAT16.type(a))
                             for a in operands])
    return converted(made, FLOAT16)


add, multiply = partial(rounded_once, np.add), partial(rounded_once, np.multiply)


def add_to(out: Array, x: Array) -> None:
    """out += x."""
    _in_place(np.add, out, x)


def multiply_by(out: Array, x: Array) -> None:
    """out *= x."""
    _in_place(np.multiply, out, x)


def _in_place(function: Any, out: Array, x: Array) -> None:
    if out.dtype == FLOAT16 and out.size > FEW:
        np.copyto(out, rounded_once(function, out, x))
    else:
        function(out, x, out=out)


def in_single(g: Array, *values: Any) -> tuple[Any, ...]:
    """A gradient and what its rule reads: float16 arrays in the gradient's dtype, or in float32 if that is float16."""
    if g.size <= FEW or g.dtype.kind != "f" or all(v is None for v in values):
        return g, *values
    wide = FLOAT32 if g.dtype == FLOAT16 else g.dtype
    return tuple([converted(v, wide, copy=False) if type(v) is np.ndarray and v.dtype == FLOAT16 else v
                  for v in (g, *values)])


def array_of(x: Any, dtype: DTypeLike) -> Array:
    """np.asarray(x, dtype), which converts halves by the loops."""
    return converted(x, dtype, copy=False) if type(x) is np.ndarray else np.asarray(x, dtype)


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


def _from_bfloat16(x: Array, dtype: np.dtype[Any]) -> Array:
    """By way of float32, whose upper half a bfloat16 is."""
    dense = _dense(x)
    flat = dense.ravel(order="K").view(UINT16)
    kernels = kernels_for(flat, dtype=UINT16)
    if kernels is None:
        return x.astype(dtype, order_of(x))
    out = np.empty_like(dense, FLOAT32)
    kernels.from_bfloat16(flat, out.ravel(order="K"), x.size)
    return converted(out, dtype, copy=False)


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
