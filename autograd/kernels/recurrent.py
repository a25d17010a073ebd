"""Recurrent layers over whole sequences, on arrays: each cell's steps forward, and backward through time.

The rows of a sequence of batches are stored one step after another, (sum of batch sizes, features). `steps` are the
(start, stop) of each step's rows in the order in which they are visited. Batches may shrink (packed sequences, visited
first to last) or grow (visited last to first): the states h and c have a row for each sequence, a step takes and leaves
the first of them, so that at the end each row holds the last state of its sequence, and in a backward pass the gradient
of its first.

Each forward takes `gates`, the inputs' part of the gates, for all steps at once, and returns (outputs, kept); h (and c)
become the final states. Each backward returns (gradient of gates, of the recurrent part of the gates, of the projected
outputs); gh (and gc) become the gradients of the initial states. What does not depend on the order of steps is worked
out for all of them at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ..base.types import Array
from . import recurrent_fused as fused
from .products import product


@lru_cache(maxsize=256)
def steps_of(sizes: tuple[int, ...], reverse: bool) -> tuple[tuple[int, int], ...]:
    """The rows of each step, for these batch sizes, in the order in which they are visited."""
    stops = np.cumsum(sizes).tolist()
    steps = tuple((stop - size, stop) for stop, size in zip(stops, sizes, strict=True))
    return steps[::-1] if reverse else steps


def _sigmoid(x: Array) -> None:
    """The logistic function in place: tanh is NumPy's fastest road there, and exact where gates are used, near 0 and 1."""
    x *= 0.5
    np.tanh(x, out=x)
    x *= 0.5
    x += 0.5


# --- the plain cell: h = act(gates + h W^T) ---------------------------------------------------------------------------

def plain_forward(gates: Array, h: Array, weight: Array, steps: Any, relu: bool) -> Any:
    """Outputs (rows, n) in the memory of the gates, and the state before each step."""
    before = np.empty_like(gates)
    back = weight.T
    for start, stop in steps:
        z, state = gates[start:stop], h[:stop - start]
        before[start:stop] = state
        z += product(state, back)
        if relu:
            np.maximum(z, 0, out=z)
        else:
            np.tanh(z, out=z)
        state[...] = z
    return gates, (before, gates.copy())


def plain_backward(g: Any, gh: Any, kept: Any, weight: Any, steps: Any, relu: bool) -> Any:
    """The gradient of the gates, which is that of their recurrent part too."""
    _, out = kept
    d = (out > 0).astype(out.dtype) if relu else 1 - out * out
    for start, stop in reversed(steps):
        state = gh[:stop - start]
        if g is not None:
            state += g[start:stop]
        z = d[start:stop]
        z *= state
        product(z, weight, state)
    return d, d


# --- LSTM: c = f c + i g, h = o tanh(c); gates in the order i, f, g, o --------------------------------------------------

def lstm_forward(gates: Array, h: Array, c: Array, weight: Array, projection: Array | None, steps: Any) -> Any:
    """Outputs (rows, n or p); kept: states before, cells before, activated gates, tanh of cells. Hochreiter & Schmidhuber
    1997; the projection: Sak et al. 2014 (arXiv:1402.1128).
    """
    quick = fused.lstm_forward(gates, h, c, weight, steps) if projection is None else None
    if quick is not None:
        return quick
    rows, n = gates.shape[0], c.shape[1]
    before, out = (np.empty((rows, h.shape[1]), gates.dtype) for _ in range(2))
    cells, tanhs = np.empty((2, rows, n), gates.dtype)
    half = np.full(4 * n, 0.5, gates.dtype)          # sigmoid(x) = tanh(x / 2) / 2 + 1 / 2: one call for all four gates
    half[2 * n:3 * n] = 1
    shift = 1 - half
    back = weight.T
    for start, stop in steps:
        z, state, cell, t = gates[start:stop], h[:stop - start], c[:stop - start], tanhs[start:stop]
        before[start:stop] = state
        cells[start:stop] = cell
        z += product(state, back)
        z *= half
        np.tanh(z, out=z)
        z *= half
        z += shift
        cell *= z[:, n:2 * n]
        cell += z[:, :n] * z[:, 2 * n:3 * n]
        np.tanh(cell, out=t)
        y = out[start:stop]
        if projection is None:
            np.multiply(z[:, 3 * n:], t, out=y)
        else:
            product(z[:, 3 * n:] * t, projection.T, y)
        state[...] = y
    return out, (before, cells, gates, tanhs)


def lstm_backward(g: Array | None, gh: Array, gc: Array, kept: Sequence[Array], weight: Array, projection: Any,
                  steps: Any) -> Any:
    """The gradient of the gates, and (rows, p) that of the projected outputs, None without a projection."""
    _, cells, gates, tanhs = kept
    g = None if g is None else np.ascontiguousarray(g)
    quick = fused.lstm_backward(g, gh, gc, kept, weight, steps) if projection is None else None
    if quick is not None:
        return quick
    rows, n = cells.shape
    i, f, c, o = (gates[:, k * n:(k + 1) * n] for k in range(4))
    d = np.subtract(1, gates)                        # what each gate's gradient is, per unit of that of c (of h for o)
    d *= gates
    d[:, :n] *= c
    d[:, n:2 * n] *= cells
    np.multiply(c, c, out=d[:, 2 * n:3 * n])
    np.subtract(1, d[:, 2 * n:3 * n], out=d[:, 2 * n:3 * n])
    d[:, 2 * n:3 * n] *= i
    d[:, 3 * n:] *= tanhs
    through = tanhs * tanhs                          # from h to c
    np.subtract(1, through, out=through)
    through *= o
    projected = None if projection is None else np.empty((rows, projection.shape[0]), gates.dtype)
    for start, stop in reversed(steps):
        size = stop - start
        state, cell, z = gh[:size], gc[:size], d[start:stop]
        if g is not None:
            state += g[start:stop]
        full = state
        if projected is not None:
            projected[start:stop] = state
            full = product(state, projection)
        cell += full * through[start:stop]
        parts = z[:, :3 * n].reshape(size, 3, n)
        parts *= cell[:, None]
        z[:, 3 * n:] *= full
        cell *= f[start:stop]
        product(z, weight, state)
    return d, d, projected


# --- GRU: h = (1 - z) n + z h, n = tanh(gates + r (h W^T + b)); gates in the order r, z, n ------------------------------

def gru_forward(gates: Array, h: Array, weight: Array, bias: Array | None, steps: Any) -> Any:
    """Outputs (rows, n); kept: states before, activated gates, the recurrent part of the third. `bias` is that part's own.
    Cho et al. 2014 (arXiv:1406.1078), in the form of cuDNN.
    """
    quick = fused.gru_forward(gates, h, weight, bias, steps)
    if quick is not None:
        return quick
    rows, n = gates.shape[0], h.shape[1]
    before, out, inner = (np.empty((rows, n), gates.dtype) for _ in range(3))
    back = weight.T
    for start, stop in steps:
        z, state, q = gates[start:stop], h[:stop - start], inner[start:stop]
        before[start:stop] = state
        part = product(state, back)
        both, new = z[:, :2 * n], z[:, 2 * n:]
        both += part[:, :2 * n]
        _sigmoid(both)
        q[...] = part[:, 2 * n:]
        if bias is not None:
            q += bias
        new += z[:, :n] * q
        np.tanh(new, out=new)
        state -= new
        state *= z[:, n:2 * n]
        state += new
        out[start:stop] = state
    return out, (before, gates, inner)


def gru_backward(g: Array | None, gh: Array, kept: Sequence[Array], weight: Array, steps: Any) -> tuple[Array, ...]:
    """The gradient of the gates, and that of their recurrent part, which r multiplies in the third gate."""
    before, gates, inner = kept
    g = None if g is None else np.ascontiguousarray(g)
    quick = fused.gru_backward(g, gh, kept, weight, steps)
    if quick is not None:
        return quick
    n = before.shape[1]
    r, u, new = (gates[:, k * n:(k + 1) * n] for k in range(3))
    through = (1 - u) * (1 - new * new)              # from h to the third gate's sum
    d = np.empty_like(gates)
    d[:, :n] = through * inner * r * (1 - r)
    d[:, n:2 * n] = (before - new) * u * (1 - u)
    d[:, 2 * n:] = through * r
    for start, stop in reversed(steps):
        size = stop - start
        state, z = gh[:size], d[start:stop]
        if g is not None:
            state += g[start:stop]
        parts = z.reshape(size, 3, n)
        parts *= state[:, None]
        through[start:stop] *= state
        state *= u[start:stop]
        state += product(z, weight)
    return np.concatenate([d[:, :2 * n], through], 1), d
