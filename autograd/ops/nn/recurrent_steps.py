"""Recurrent layers step by step in recorded operations: the backward pass of ops/nn/recurrent.py once more, for those who
differentiate it again. Formulas and names are those of kernels/recurrent.py, which see.
"""

from __future__ import annotations

from typing import Any

from ..linalg.matmul import linear, matrices
from ..pointwise.choice import where
from ..pointwise.exponential import sigmoid
from ..pointwise.trigonometric import tanh
from ..shape import cat, mT, narrow, split


class PlainSteps:
    """h = act(gates + h W^T)."""

    relu = False

    def forward(self, gates: Any, states: Any, weight: Any, bias: Any, projection: Any) -> Any:
        """The states after a step, and what backward() wants."""
        (h,) = states
        z = gates + linear(h, weight, bias)
        out = where(z > 0, z, 0.0) if self.relu else tanh(z)
        return (out,), out

    def backward(self, gs: Any, out: Any, weight: Any, projection: Any) -> Any:
        """Gradients of the gates, of their recurrent part, of the states, and of the projected output."""
        (gh,) = gs
        d = where(out > 0, gh, 0.0) if self.relu else gh * (1 - out * out)
        return d, d, (matrices(d, weight),), None


class ReluSteps(PlainSteps):
    """h = relu(gates + h W^T)."""

    relu = True


class LstmSteps:
    """c = f c + i g, h = o tanh(c)."""

    def forward(self, gates: Any, states: Any, weight: Any, bias: Any, projection: Any) -> Any:
        """The states after a step, and what backward() wants."""
        h, c = states
        i, f, g, o = split(gates + linear(h, weight, bias), c.shape[1], 1)
        i, f, g, o = sigmoid(i), sigmoid(f), tanh(g), sigmoid(o)
        cell = f * c + i * g
        t = tanh(cell)
        full = o * t
        return (full if projection is None else matrices(full, mT(projection)), cell), (i, f, g, o, c, t, full)

    def backward(self, gs: Any, kept: Any, weight: Any, projection: Any) -> Any:
        """Gradients of the gates, of their recurrent part, of the states, and of the projected output."""
        gh, gc = gs
        i, f, g, o, c, t, _ = kept
        full = gh if projection is None else matrices(gh, projection)
        gc = gc + full * o * (1 - t * t)
        d = cat([gc * g * i * (1 - i), gc * c * f * (1 - f), gc * i * (1 - g * g), full * t * o * (1 - o)], 1)
        return d, d, (matrices(d, weight), gc * f), gh


class GruSteps:
    """h = (1 - z) n + z h, n = tanh(gates + r (h W^T + b))."""

    def forward(self, gates: Any, states: Any, weight: Any, bias: Any, projection: Any) -> Any:
        """The states after a step, and what backward() wants."""
        (h,) = states
        (r, z, n), (r_h, z_h, q) = split(gates, h.shape[1], 1), split(linear(h, weight, bias), h.shape[1], 1)
        r, z = sigmoid(r + r_h), sigmoid(z + z_h)
        n = tanh(n + r * q)
        return ((1 - z) * n + z * h,), (r, z, n, q, h)

    def backward(self, gs: Any, kept: Any, weight: Any, projection: Any) -> Any:
        """Gradients of the gates, of their recurrent part, of the states, and of the projected output."""
        (g,) = gs
        r, z, n, q, h = kept
        gn = g * (1 - z) * (1 - n * n)
        gr, gz = gn * q * r * (1 - r), g * (h - n) * z * (1 - z)
        inner = cat([gr, gz, gn * r], 1)
        return cat([gr, gz, gn], 1), inner, (g * z + matrices(inner, weight),), None


CELLS: dict[str, Any] = {"RNN_TANH": PlainSteps(), "RNN_RELU": ReluSteps(), "LSTM": LstmSteps(), "GRU": GruSteps()}


def rejoin(first: Any, whole: Any) -> Any:
    """`whole` with its first rows replaced."""
    b = first.shape[0]
    return first if b == whole.shape[0] else cat([first, narrow(whole, 0, b, whole.shape[0] - b)], 0)


def gradients(cell: str, rows: Any, weights: Any, states: Any, gy: Any, gs: Any, steps: Any) -> Any:
    """Through all steps and back, recorded.

    rows (sum of batch sizes, features), weights (w_ih, w_hh, b_ih, b_hh, w_hr), states before the first step; gradients
    of the outputs (None: zero) and of the final states. Gradients of the gates, of their recurrent part, of the initial
    states, the states h before each step, gradients of the projected outputs, what was projected; rows in their order.
    """
    rule = CELLS[cell]
    w_ih, w_hh, b_ih, b_hh, w_hr = weights
    gates = linear(rows, w_ih, b_ih)
    trail = []
    for start, stop in steps:
        now = tuple(narrow(s, 0, 0, stop - start) for s in states)
        after, kept = rule.forward(narrow(gates, 0, start, stop - start), now, w_hh, b_hh, w_hr)
        trail.append((start, stop, now[0], kept))
        states = tuple(rejoin(new, old) for new, old in zip(after, states, strict=True))
    found = []
    for start, stop, before, kept in reversed(trail):
        now = tuple(narrow(g, 0, 0, stop - start) for g in gs)
        if gy is not None:
            now = (now[0] + narrow(gy, 0, start, stop - start), *now[1:])
        d, inner, earlier, projected = rule.backward(now, kept, w_hh, w_hr)
        gs = tuple(rejoin(new, old) for new, old in zip(earlier, gs, strict=True))
        found.append((start, d, inner, before, *(() if w_hr is None else (projected, kept[-1]))))
    found.sort(key=lambda entry: entry[0])
    d, inner, before, *both = (cat(list(parts), 0) for parts in list(zip(*found, strict=True))[1:])
    projected, full = both or (None, None)
    return d, inner, gs, before, projected, full


__all__: list[str] = []
METHODS: list[str] = []
