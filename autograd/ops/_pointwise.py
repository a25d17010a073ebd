"""pointwise(): operations that treat each element alike and have settings (a slope, a threshold, ...)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ._declare import Operation


def pointwise(name: str, forward: Callable[..., Any], rule: Callable[..., Any], integers: bool = False) -> Any:
    """An operation on one tensor and numbers: forward(x, *settings), and rule(g, x, *settings), its gradient.

    integers: whether it takes them; floating point is required otherwise.

    >>> hardshrink = pointwise("Hardshrink", kernel, lambda g, x, lambd: g * (abs(x) > lambd))
    """

    class Pointwise(Operation, name=name):
        real = True

        @staticmethod
        def forward(ctx: Any, x: Any, *, settings: tuple[Any, ...]) -> Any:
            ctx.settings = settings
            ctx.save(x)
            return np.asarray(forward(x, *settings), x.dtype)

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return rule(g, ctx.values[0], *ctx.settings)

    apply = Pointwise.apply
    kinds = "fcViu" if integers else "fcV"

    def op(x: Any, *settings: Any) -> Any:
        if x.dtype.kind not in kinds:
            raise NotImplementedError(f'"{op.__name__}" not implemented for {x.dtype}; cast to floating point first')
        return apply(x, settings=settings)

    op.__name__ = op.__qualname__ = name.lower()
    return op


def overwrite(input: Any, value: Any) -> Any:
    """inplace=True: `value`, computed from a copy of input, goes into input's memory. Returns input."""
    return input.copy_(value)
