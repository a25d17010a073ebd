"""A recurrent layer over a whole sequence, in one direction, as one node of the graph.

Recurrent runs kernels/recurrent.py in both passes. Who differentiates its backward pass again needs that recorded: the step
classes below (PlainSteps to GruSteps) have the kernels' formulas in operations. They stand there a second time on purpose:
the kernels work in place on all gates of a step at once, and record nothing."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...base.dtypes import float32, promote
from ...base.types import Array
from ...core.casting import cast_to, casting, eligible, lower
from ...core.modes import modes
from ...core.operation import Operation
from ...core.tensor import Tensor
from ...core.types import Context, Gradients
from ...kernels import recurrent as kernels
from ...kernels.products import affine, column_sums, product
from ..linalg.matmul import linear, matrices, product_in_buffer
from ..pointwise.exponential import sigmoid
from ..pointwise.trigonometric import tanh
from ..pointwise.where import where
from ..reductions.reduce import sum
from ..shape import cat, mT, narrow, reshape, split


class Recurrent(Operation):
    """(outputs, final h[, final c]) of a layer: x (t, b, k), or packed (rows, k) with the batch size of each step.

    Weights as PyTorch names them: w_ih (gates n, k), w_hh (gates n, p), b_ih, b_hh (gates n,) or None, w_hr (p, n) or None;
    h (b, p) and, for an LSTM, c (b, n): the first states, zeros if None. One product makes the inputs' part of all gates."""

    @staticmethod
    def forward(ctx: Context, x: Array, w_ih: Array, w_hh: Array, b_ih: Any, b_hh: Any, w_hr: Array | None, h: Array | None,
                c: Array | None, *, cell: str, sizes: tuple[int, ...] | None, reverse: bool) -> tuple[Array, ...]:
        """The kernel of the cell. It saves its intermediate values as one tuple, which the graph does not see."""
        ctx.cell = cell
        ctx.steps = kernels.steps_of((x.shape[1],) * x.shape[0] if sizes is None else sizes, reverse)
        batch, n, p = (x.shape[1] if sizes is None else max(sizes, default=0)), w_ih.shape[0], w_hh.shape[1]
        rows = x if sizes is not None else np.reshape(x, (x.shape[0] * batch, x.shape[2]))
        final = np.zeros((batch, p), x.dtype) if h is None else h.copy()
        if b_ih is None:
            gates = product(rows, w_ih.T)
        else:                                        # GRU's third gate keeps its recurrent bias apart
            bias = b_ih + b_hh if cell != "GRU" else np.concatenate([b_ih[:2 * p] + b_hh[:2 * p], b_ih[2 * p:]])
            gates = affine(rows, w_ih, bias)
        states: tuple[Any, ...] = (final,)
        if cell == "LSTM":
            states = final, np.zeros((batch, n // 4), x.dtype) if c is None else c.copy()
            y, kept = kernels.lstm_forward(gates, *states, w_hh, w_hr, ctx.steps)
        elif cell == "GRU":
            y, kept = kernels.gru_forward(gates, final, w_hh, None if b_hh is None else b_hh[2 * p:], ctx.steps)
        else:
            y, kept = kernels.plain_forward(gates, final, w_hh, ctx.steps, cell == "RNN_RELU")
        ctx.save(x, w_ih, w_hh, b_ih, b_hh, w_hr, h, c, kept)
        return y if sizes is not None else y.reshape(*x.shape[:2], p), *states

    @staticmethod
    def backward(ctx: Context, gy: Array | None, gh: Array | None, gc: Any = None) -> Gradients:
        """The backward pass through the steps, in kernels or recorded; then one product for each weight and for x."""
        x, w_ih, w_hh, _, _, w_hr, *given, kept = ctx.values
        rows = x if x.ndim == 2 else reshape(x, (x.shape[0] * x.shape[1], x.shape[2]))
        gy = gy if gy is None or gy.ndim == 2 else reshape(gy, (rows.shape[0], gy.shape[2]))
        batch = max((stop - start for start, stop in ctx.steps), default=0)
        sizes = (batch, w_hh.shape[1]), (batch, w_ih.shape[0] // 4)
        count = 2 if ctx.cell == "LSTM" else 1
        recorded = any(isinstance(g, Tensor) for g in (gy, gh, gc))
        gs = _filled((gh, gc)[:count], sizes, w_hh.dtype, copy=not recorded)
        if recorded:
            d, inner, gs, before, projected, full = gradients(
                ctx.cell, rows, ctx.values[1:6], _filled(given[:count], sizes, w_hh.dtype), gy, gs, ctx.steps)
        else:
            d, inner, before, projected, full = _by_kernel(ctx, gy, gs, kept, w_hh, w_hr)
        gx = matrices(d, w_ih) if ctx.needs(0) else None
        add_up = (lambda rows: sum(rows, 0)) if recorded else column_sums
        gb: Any = add_up(d) if ctx.needs(3) else None
        same = gb is not None and inner is d and not recorded      # a copy: both become gradients, which are written to
        return (gx if gx is None or x.ndim == 2 else reshape(gx, x.shape),
                _of_weight(ctx, 1, d, rows), _of_weight(ctx, 2, inner, before),
                gb, None if not ctx.needs(4) else gb.copy() if same else add_up(inner),
                _of_weight(ctx, 5, projected, full),
                gs[0] if ctx.needs(6) else None,
                gs[1] if ctx.needs(7) else None)


def _of_weight(ctx: Any, place: int, g: Any, x: Any) -> Array | None:
    """The gradient g^T x of the weight that is input number `place`; None where it is not needed."""
    if not ctx.needs(place):
        return None
    return matrices(mT(g), x) if isinstance(g, Tensor) else product_in_buffer(ctx, place, g.T, x)


def _filled(values: Any, shapes: Any, dtype: np.dtype[Any], copy: bool = False) -> tuple[Any, ...]:
    """The values, zeros for those that are None."""
    return tuple(np.zeros(shape, dtype) if v is None else v.copy() if copy else v
                 for v, shape in zip(values, shapes, strict=False))


def _by_kernel(ctx: Context, gy: Any, gs: tuple[Any, ...], kept: Sequence[Array], w_hh: Array, w_hr: Any) -> Any:
    """The backward pass through the steps, on arrays: gs become the gradients of the initial states."""
    projected = full = None
    if ctx.cell == "LSTM":
        d, inner, projected = kernels.lstm_backward(gy, gs[0], gs[1], kept, w_hh, w_hr, ctx.steps)
        if w_hr is not None:
            gates, tanhs = kept[2:]
            full = gates[:, 3 * tanhs.shape[1]:] * tanhs
    elif ctx.cell == "GRU":
        d, inner = kernels.gru_backward(gy, gs[0], kept, w_hh, ctx.steps)
    else:
        d, inner = kernels.plain_backward(gy, gs[0], kept, w_hh, ctx.steps, ctx.cell == "RNN_RELU")
    return d, inner, kept[0], projected, full


def recurrent(*operands: Any, cell: str, sizes: tuple[int, ...] | None, reverse: bool) -> tuple[Tensor, ...]:
    """Recurrent of (x, w_ih, w_hh, b_ih, b_hh, w_hr, h, c); under autocast input and weights are rounded to its dtype, and
    the rest is computed in float32.

    What comes out has the dtypes of PyTorch's composition: a state that is only products and activations is of the lower
    precision, one that is carried over by sums has the dtype that the states came with. An LSTM that is not packed and has
    no projection is one operation in bfloat16, all of whose results are."""
    if not casting.used or (dtype := modes.autocast) is None or not eligible(operands[0]):
        return Recurrent.apply(*operands, cell=cell, sizes=sizes, reverse=reverse)
    x, *weights, h, c = operands
    carried = functools.reduce(promote, [s.dtype for s in (h, c) if s is not None] or [x.dtype], dtype)
    rows_of_all = cell == "LSTM" and sizes is None and weights[-1] is None and dtype.name == "bfloat16"
    outer = dtype if cell.startswith("RNN") or rows_of_all or weights[-1] is not None else carried
    y, *states = Recurrent.apply(*cast_to([*lower(x, *weights), h, c], float32), cell=cell, sizes=sizes, reverse=reverse)
    dtypes = (outer, outer, dtype if rows_of_all else carried)
    return tuple([cast_to(z, kind) for z, kind in zip((y, *states), dtypes, strict=False)])


class PlainSteps:
    """h = act(gates + h W^T)."""

    relu = False

    def forward(self, gates: Any, states: Any, weight: Any, bias: Any, projection: Any) -> Any:
        """One step forward: the states, and the intermediate values for backward()."""
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
        """One step forward: the states, and the intermediate values for backward()."""
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
        """One step forward: the states, and the intermediate values for backward()."""
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


def rejoin(first: Any, rows_of_all: Any) -> Any:
    """`whole` with its first rows replaced."""
    b = first.shape[0]
    return first if b == rows_of_all.shape[0] else cat([first, narrow(rows_of_all, 0, b, rows_of_all.shape[0] - b)], 0)


def gradients(cell: str, rows: Any, weights: Any, states: Any, gy: Any, gs: Any, steps: Any) -> Any:
    """The backward pass through all steps, recorded for a second derivative.

    rows (sum of batch sizes, features), weights (w_ih, w_hh, b_ih, b_hh, w_hr), states before the first step; gradients of
    the outputs (None: zero) and of the final states. Gradients of the gates, of their recurrent part, of the initial states,
    the states h before each step, gradients of the projected outputs, what was projected; rows in their order."""
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
