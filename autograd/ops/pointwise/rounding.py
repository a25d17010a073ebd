"""Rounding: functions that are constant between jumps, so that their derivative is zero."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.types import Array
from ...core.batching import elementwise as elementwise_rule
from ...core.declare import elementwise
from ...core.operation import Operation
from ...core.out import takes_out
from ...core.tensor import Tensor
from ...core.types import Context, Declared, Gradients
from .._kinds import only, refuse

zero: Any = elementwise("Zero", np.zeros_like, inputs=1)       # the derivative of all that follows; constant, as PyTorch's


def _for_floats(kinds: str, name: str, forward: Any) -> Any:
    """`forward` of floats; integers are integers already."""
    return only(kinds, name, lambda x: forward(x) if np.asarray(x).dtype.kind in "fcV" else np.copy(x))


floor: Any = elementwise("Floor", _for_floats("fiu", "floor", np.floor), lambda g: zero(g))
ceil: Declared = elementwise("Ceil", _for_floats("fiu", "ceil", np.ceil), lambda g: zero(g))
trunc: Any = elementwise("Trunc", _for_floats("fiu", "trunc", np.trunc), lambda g: zero(g))
nearest: Declared = elementwise("Round", _for_floats("fiu", "round", np.rint), lambda g: zero(g))
frac: Declared = elementwise("Frac", only("f", "frac", lambda x: x - np.trunc(x)), lambda g: g)
fix = trunc


class RoundTo(Operation, name="Round"):
    """The nearest multiple of a power of ten."""

    batched = elementwise_rule

    @staticmethod
    def forward(ctx: Context, x: Array, *, decimals: int) -> Array:
        """Scaled by an exact power of ten: 10**-decimals itself is not one."""
        ten = np.asarray(x).dtype.type(10.0 ** np.abs(decimals))
        return np.rint(x * ten) / ten if decimals > 0 else np.rint(x / ten) * ten

    @staticmethod
    def backward(ctx: Context, g: Tensor) -> Gradients:
        return zero(g)


@takes_out
def round(input: Tensor, *, decimals: int = 0) -> Tensor:
    """The nearest integer, the even one of two; with `decimals`, the nearest multiple of 10**-decimals."""
    if decimals == 0:
        return nearest(input)
    if input.dtype.kind not in "fV":
        refuse("round with decimals", input.dtype)
    return RoundTo.apply(input, decimals=decimals)


__all__ = ["ceil", "fix", "floor", "frac", "round", "trunc"]
METHODS = __all__
IN_PLACE = __all__
