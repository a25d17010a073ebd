"""LSTM and GRU layers with each step's gates in one compiled loop; recurrent.py chooses, and says what these take and give.

Each product goes straight into the gates, or into h, by oneDNN where that is used.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .products import repeated


def lstm_forward(kernels: Any, gates: Any, h: Any, c: Any, weight: Any, steps: Any) -> Any:
    """recurrent.lstm_forward() without a projection."""
    rows, n = gates.shape[0], c.shape[1]
    before, out, cells, tanhs = np.empty((4, rows, n), gates.dtype)
    multiply = repeated(h.shape[0], weight.T, add=True)
    for start, stop in steps:
        size = stop - start
        part = slice(start, stop)
        z, state = gates[part], h[:size]
        before[part] = state
        multiply(state, z)
        kernels.lstm_step(z, c[:size], cells[part], tanhs[part], out[part], state, size, n)
    return out, (before, cells, gates, tanhs)


def lstm_backward(kernels: Any, g: Any, gh: Any, gc: Any, kept: Any, weight: Any, steps: Any) -> Any:
    """recurrent.lstm_backward() without a projection."""
    _, cells, gates, tanhs = kept
    n = cells.shape[1]
    d = np.empty_like(gates)
    multiply = repeated(gh.shape[0], weight)
    for start, stop in reversed(steps):
        size = stop - start
        part = slice(start, stop)
        state, z = gh[:size], d[part]
        kernels.lstm_step_backward(gates[part], cells[part], tanhs[part], state if g is None else g[part], state, gc[:size],
                                   z, size, n, g is not None)
        multiply(z, state)
    return d, d, None


def gru_forward(kernels: Any, gates: Any, h: Any, weight: Any, bias: Any, steps: Any) -> Any:
    """recurrent.gru_forward()."""
    rows, n = gates.shape[0], h.shape[1]
    before, out, inner = np.empty((3, rows, n), gates.dtype)
    recurrent = np.empty((h.shape[0], 3 * n), gates.dtype)
    bias = np.zeros(n, gates.dtype) if bias is None else np.ascontiguousarray(bias)
    multiply = repeated(h.shape[0], weight.T)
    for start, stop in steps:
        size = stop - start
        part = slice(start, stop)
        state = h[:size]
        before[part] = state
        multiply(state, recurrent[:size])
        kernels.gru_step(gates[part], recurrent, bias, inner[part], state, out[part], size, n)
    return out, (before, gates, inner)


def gru_backward(kernels: Any, g: Any, gh: Any, kept: Any, weight: Any, steps: Any) -> Any:
    """recurrent.gru_backward()."""
    before, gates, inner = kept
    n = before.shape[1]
    d, through = np.empty_like(gates), np.empty_like(before)
    multiply = repeated(gh.shape[0], weight, add=True)
    for start, stop in reversed(steps):
        size = stop - start
        part = slice(start, stop)
        state, z = gh[:size], d[part]
        kernels.gru_step_backward(gates[part], before[part], inner[part], state if g is None else g[part], state, z,
                                  through[part], size, n, g is not None)
        multiply(z, state)
    return np.concatenate([d[:, :2 * n], through], 1), d
