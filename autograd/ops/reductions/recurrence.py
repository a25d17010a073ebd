"""y[0] = b[0], y[i + 1] = b[i + 1] + a[i] y[i]: the one scan that gradients of running products and sums need."""

from __future__ import annotations

import numpy as np

from ...base.types import Array
from ...core.batching import along
from ...core.operation import Operation
from ...core.types import Context, Gradients, Operand, TensorOrArray
from ..pointwise.arithmetic import conjugates
from ..shape import flip, narrow


class Recurrence(Operation):
    """The solution y of the recurrence along dim; a is one shorter than b. Closed under differentiation."""

    batched = along("dim")

    @staticmethod
    def forward(ctx: Context, a: Array, b: Array, *, dim: int) -> Array:
        out = np.array(b)
        y, factors = np.moveaxis(out, dim, 0), np.moveaxis(a, dim, 0)
        for i in range(len(factors)):
            y[i + 1] += factors[i] * y[i]
        ctx.save(a, out)
        ctx.dim = dim
        return out

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        """b's gradient is the same recurrence from the other end; a's is that times what a multiplied."""
        a, y = ctx.values if g.dtype.kind != "c" else conjugates(*ctx.values)
        dim = ctx.dim
        gb = backwards(a, g, dim)
        n = y.shape[dim] - 1
        return narrow(gb, dim, 1, n) * narrow(y, dim, 0, n), gb


def forwards(a: Operand, b: Operand, dim: int) -> Operand:
    """y[0] = b[0], y[i + 1] = b[i + 1] + a[i] y[i] along dim."""
    return Recurrence.apply(a, b, dim=dim) if b.shape[dim] else b


def backwards(a: Operand, b: Operand, dim: int) -> Operand:
    """y[n - 1] = b[n - 1], y[i] = b[i] + a[i] y[i + 1] along dim."""
    return flip(forwards(flip(a, dim), flip(b, dim), dim), dim)
