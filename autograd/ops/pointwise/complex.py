"""Complex numbers: parts, conjugates, and views as pairs of real numbers.

The gradient of a real loss L with respect to z = a + ib is dL/da + i dL/db, PyTorch's convention: so the adjoint of a
product with w is a product with conj(w), and the adjoint of a cast from real to complex is the real part."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.types import Array
from ...core.batching import whole
from ...core.casting import casts_float32
from ...core.declare import elementwise, linear
from ...core.operation import Cast, Conj
from ...core.out import takes_out
from ...core.tensor import Tensor
from ...core.types import Operand, TensorOrArray
from .arithmetic import mul
from .rounding import zero
from .trigonometric import cos, sin
from .where import where


def complex_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """complex128 for float64 (and for itself), complex64 for everything else."""
    return np.dtype("complex128") if dtype in (np.float64, np.complex128) else np.dtype("complex64")


def as_complex(x: TensorOrArray) -> Any:
    """A real array or Tensor in the complex dtype of its precision; a complex one as it is."""
    return x if x.dtype.kind == "c" else Cast.apply(x, dtype=complex_dtype(x.dtype))


_real: Any = linear("Real", lambda x: x.real, lambda g, was: as_complex(g), view=True, batched=whole)
_imag: Any = linear("Imag", lambda x: x.imag, lambda g, was: _times_i(g), view=True, batched=whole)
_times_i: Any = linear("Complex", lambda x: x * x.dtype.type(1) * 1j, lambda g, was: imag(g), batched=whole)


def conj(input: Operand) -> Operand:
    """a - ib for a + ib; a real tensor as it is. Computed at once: there is no lazy conjugate bit here."""
    return input if input.dtype.kind != "c" else Conj.apply(input)


@takes_out
def conj_physical(input: Tensor) -> Tensor:
    """conj(input), as new memory."""
    return conj(input)


def real(input: Operand) -> Operand:
    """The real part, a view; a real tensor as it is."""
    return input if input.dtype.kind != "c" else _real(input)


def imag(input: Operand) -> Operand:
    """The imaginary part, a view. RuntimeError for a real tensor."""
    if input.dtype.kind != "c":
        raise RuntimeError(f"imag is not implemented for tensors with non-complex dtypes, here {input.dtype}.")
    return _imag(input)


def _joined(a: Array, b: Array) -> Array:
    out = np.empty(np.broadcast_shapes(np.shape(a), np.shape(b)), complex_dtype(np.asarray(a).dtype))
    out.real, out.imag = a, b
    return out


_complex = elementwise("Complex", _joined, lambda g: real(g), lambda g: imag(g))


def complex(real: Operand, imag: Operand, *, out: Tensor | None = None) -> Operand:
    """real + i imag."""
    for name, part in (("real", real), ("imag", imag)):
        if not isinstance(part, (Tensor, np.ndarray, np.generic)):
            raise TypeError(f"complex(): argument '{name}' must be Tensor, not {type(part).__name__}")
    for part in (real, imag):
        if part.dtype not in (np.float16, np.float32, np.float64):
            raise RuntimeError(f"Expected both inputs to be Half, Float or Double tensors but got {real.dtype} "
                               f"and {imag.dtype}")
    if real.dtype != imag.dtype:
        raise RuntimeError(f"Expected object of scalar type {real.dtype} but got scalar type {imag.dtype} "
                           "for second argument")
    if real.dtype == np.float16:
        raise NotImplementedError("complex(): NumPy has no complex numbers of two float16; use float32")
    if out is not None and out.dtype != complex_dtype(real.dtype):
        raise RuntimeError(f"Expected object of scalar type {complex_dtype(real.dtype)} but got scalar type {out.dtype} for "
                           "argument 'out'")
    return _complex(real, imag, out=out)


@casts_float32
@takes_out
def polar(abs: Tensor, angle: Tensor) -> Tensor:
    """abs * (cos(angle) + i sin(angle))."""
    for name, part in (("abs", abs), ("angle", angle)):
        if not isinstance(part, Tensor):
            raise TypeError(f"polar(): argument '{name}' must be Tensor, not {type(part).__name__}")
    if abs.dtype.kind not in "fV" or abs.dtype != angle.dtype:
        raise RuntimeError(f"polar expects two floating point tensors of one dtype, not {abs.dtype} and {angle.dtype}")
    return complex(mul(abs, cos(angle)), mul(abs, sin(angle)))


def _angle_rule(g: Tensor, x: Tensor) -> Tensor:
    """d atan2(b, a) = (a db - b da) / (a^2 + b^2); 0 at 0."""
    if x.dtype.kind != "c":
        return zero(g)
    a, b = real(x), imag(x)
    size = a * a + b * b
    share = where(size == 0, 0.0, g / where(size == 0, 1.0, size))
    return complex(-(b * share), a * share)


def _angle_of(x: Array) -> Array:
    if x.dtype.kind == "c":
        return np.angle(x)
    return np.where(np.isnan(x), x, np.where(x < 0, np.pi, 0.0)).astype(x.dtype)


_angle = elementwise("Angle", _angle_of, _angle_rule, floats=True)


def angle(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The argument of complex numbers, in (-pi, pi]; for real ones 0, or pi where negative."""
    return _angle(input, out=out)


def _pairs(x: Array) -> Array:
    return np.asarray(x)[..., None].view(x.real.dtype)


_as_real: Any = linear("ViewAsReal", _pairs, lambda g, was: complex(g[..., 0], g[..., 1]), view=True, batched=whole)


def view_as_real(input: Tensor) -> Tensor:
    """Complex numbers as pairs of real ones, along a new last dimension; a view."""
    if input.dtype.kind != "c":
        raise RuntimeError(f"view_as_real is only supported for complex tensors, not for {input.dtype}")
    return _as_real(input)


def _numbers(x: Array) -> Array:
    return x.view(complex_dtype(x.dtype))[..., 0]


_as_complex: Any = linear("ViewAsComplex", _numbers, lambda g, was: view_as_real(g), view=True, batched=whole)


@casts_float32
def view_as_complex(input: Tensor) -> Tensor:
    """Pairs of real numbers along the last dimension as complex ones; a view."""
    if input.dtype not in (np.float32, np.float64):
        raise RuntimeError(f"view_as_complex is only supported for floating point tensors, but got {input.dtype}")
    if input.ndim == 0:
        raise RuntimeError("Input tensor must have one or more dimensions")
    if input.shape[-1] != 2:
        raise RuntimeError(f"Tensor must have a last dimension of size 2, not {input.shape[-1]}")
    data = input.array if isinstance(input, Tensor) else input
    if data.strides[-1] != data.itemsize:
        raise RuntimeError("Tensor must have a last dimension with stride 1")
    if any(s % (2 * data.itemsize) for s, n in zip(data.strides[:-1], data.shape[:-1], strict=True) if n > 1):
        raise RuntimeError("Tensor must have a stride divisible by 2 for all but last dimension")
    return _as_complex(input)


__all__ = ["angle", "complex", "conj", "conj_physical", "imag", "polar", "real", "view_as_complex", "view_as_real"]
METHODS = ["angle", "conj", "conj_physical"]
IN_PLACE = ["conj_physical"]
