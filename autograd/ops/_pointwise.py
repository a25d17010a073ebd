"""pointwise(): elementwise operations with settings (a slope, a threshold, ...)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..base.types import Array
from ..core.batching import maps, whole
from ..core.declare import settled
from ..core.primitive import primitive, shortcut
from ..core.tensor import Tensor
from ..core.types import TensorOrArray
from ..kernels import activations
from ..kernels.halves import array_of


def pointwise(name: str, forward: Callable[..., Any], rule: Callable[..., Any], integers: bool = False,
              kernel: str = "", straight: bool = False) -> Any:
    """An operation on one tensor and numbers: forward(x, *settings), and rule(g, x, *settings), its gradient.

    integers: whether it takes them; floating point is required otherwise. kernel: its name in kernels.activations.
    straight: whether the rule is constant in x between jumps.

    >>> hardshrink = pointwise("Hardshrink", kernel, lambda g, x, lambd: g * (abs(x) > lambd))
    """

    kinds = "fiu" if integers else "f"               # bfloat16 comes as float32

    def computed(x: Array, *settings: Any) -> Array:
        quick = activations.forward(kernel, x, *settings) if kernel else None
        if quick is not None:
            return quick
        if x.dtype.kind == "c":
            raise NotImplementedError(f'"{name}" not implemented for {x.dtype}; compute it from the real and imaginary '
                                      "parts")
        if x.dtype.kind not in kinds:
            raise NotImplementedError(f'"{name.lower()}" not implemented for {x.dtype}; cast to floating point first')
        return array_of(forward(x, *settings), x.dtype)

    def derivative(g: TensorOrArray, x: Any, *settings: Any) -> Any:
        quick = activations.backward(kernel, g, x, *settings) if kernel and not isinstance(g, Tensor) else None
        return rule(g, x, *settings) if quick is None else quick

    return settled(name, computed, derivative, ((0,),) if straight else None)


def lifted(x: Tensor, least: float) -> Tensor:
    """x where it is at least `least`, elsewhere that; its gradient is passed on everywhere, as if nothing had been done."""
    return x if _reaches(x.array, least) else x + _missing(x.array, least)


@shortcut
@maps(whole)
def _reaches(a: Array, least: float) -> bool:
    """Whether all elements are at least `least`."""
    return bool((a >= least).all())


@primitive
@maps(whole)
def _missing(a: Any, least: float) -> Any:
    """What elements have less than `least`."""
    return np.maximum(least - a, 0).astype(a.dtype)


def overwrite(input: Tensor, value: Tensor) -> Tensor:
    """Write `value`, computed from a copy of input, to input's memory, as inplace=True asks for. Returns input."""
    return input.copy_(value)
