"""LSTM and GRU over a whole sequence: each step's recurrent product by a function whose address is given (oneDNN's sgemm),
then all gates in one loop. Compiled by numba; arrays come as pointers to objects. recurrent.py says what is what.
"""

from __future__ import annotations

from typing import Any

from numba import types

from .scalar_math import F, inlined, sigmoid, squashed

DATA = 2
ONE, NOTHING = F(1), F(0)
FLOATS: Any = types.CPointer(types.float32)
WHOLE: Any = types.int64
# multiply(sgemm, rows, columns, inner, a, b, beta, c, start): c[start:] = a[...] @ b + beta c; build.py writes it
multiply: Any = types.ExternalFunction("multiply", types.void(*[WHOLE] * 4, FLOATS, WHOLE, FLOATS, types.float32, FLOATS,
                                                               WHOLE))


@inlined
def add_given(gh: Any, g: Any, start: int, count: int, given: int) -> None:
    """gh += g[start:start + count], if a gradient of the step's output was given."""
    if given:
        for k in range(count):
            gh[k] += g[start + k]


def lstm(z_: Any, h_: Any, c_: Any, w_: Any, before_: Any, cells_: Any, t_: Any, out_: Any, steps_: Any, count: int, n: int,
         sgemm: int) -> None:
    """Gates z (rows, 4 n), order i, f, g, o, are activated in place; h and c move on. w is W_hh^T."""
    z, h, c, w = z_[DATA], h_[DATA], c_[DATA], w_[DATA]
    before, cells, t, out, steps = before_[DATA], cells_[DATA], t_[DATA], out_[DATA], steps_[DATA]
    for step in range(count):
        start, rows = steps[2 * step], steps[2 * step + 1] - steps[2 * step]
        for k in range(rows * n):
            before[start * n + k] = h[k]
        multiply(sgemm, rows, 4 * n, n, h, 0, w, ONE, z, start * 4 * n)
        for r in range(rows):
            at, gate, here = (start + r) * n, 4 * (start + r) * n, r * n
            for j in range(n):
                i, f = sigmoid(z[gate + j]), sigmoid(z[gate + n + j])
                g, o = squashed(z[gate + 2 * n + j]), sigmoid(z[gate + 3 * n + j])
                z[gate + j], z[gate + n + j], z[gate + 2 * n + j], z[gate + 3 * n + j] = i, f, g, o
                cells[at + j] = c[here + j]
                cell = f * c[here + j] + i * g
                c[here + j] = cell
                of_cell = squashed(cell)
                t[at + j] = of_cell
                out[at + j] = o * of_cell
                h[here + j] = o * of_cell


def lstm_backward(z_: Any, cells_: Any, t_: Any, g_: Any, gh_: Any, gc_: Any, w_: Any, d_: Any, steps_: Any, count: int,
                  n: int, given: int, sgemm: int) -> None:
    """The gradient d of the gates, from gh (+ g, if given) and gc, which become those of the first states. w is W_hh."""
    z, cells, t, g, gh, gc = z_[DATA], cells_[DATA], t_[DATA], g_[DATA], gh_[DATA], gc_[DATA]
    w, d, steps = w_[DATA], d_[DATA], steps_[DATA]
    for step in range(count):
        start, rows = steps[2 * step], steps[2 * step + 1] - steps[2 * step]
        add_given(gh, g, start * n, rows * n, given)
        for r in range(rows):
            at, gate, here = (start + r) * n, 4 * (start + r) * n, r * n
            for j in range(n):
                i, f, new, o = z[gate + j], z[gate + n + j], z[gate + 2 * n + j], z[gate + 3 * n + j]
                of_cell, full = t[at + j], gh[here + j]
                cell = gc[here + j] + full * o * (ONE - of_cell * of_cell)
                d[gate + j] = cell * new * i * (ONE - i)
                d[gate + n + j] = cell * cells[at + j] * f * (ONE - f)
                d[gate + 2 * n + j] = cell * i * (ONE - new * new)
                d[gate + 3 * n + j] = full * of_cell * o * (ONE - o)
                gc[here + j] = cell * f
        multiply(sgemm, rows, n, 4 * n, d, start * 4 * n, w, NOTHING, gh, 0)


def gru(z_: Any, h_: Any, w_: Any, part_: Any, bias_: Any, before_: Any, inner_: Any, out_: Any, steps_: Any, count: int,
        n: int, sgemm: int) -> None:
    """Gates z (rows, 3 n), order r, z, n, are activated in place; h moves on. w is W_hh^T, part for a step's product."""
    z, h, w, part, bias = z_[DATA], h_[DATA], w_[DATA], part_[DATA], bias_[DATA]
    before, inner, out, steps = before_[DATA], inner_[DATA], out_[DATA], steps_[DATA]
    for step in range(count):
        start, rows = steps[2 * step], steps[2 * step + 1] - steps[2 * step]
        for k in range(rows * n):
            before[start * n + k] = h[k]
        multiply(sgemm, rows, 3 * n, n, h, 0, w, NOTHING, part, 0)
        for r in range(rows):
            at, gate, here, add = (start + r) * n, 3 * (start + r) * n, r * n, 3 * r * n
            for j in range(n):
                reset, update = sigmoid(z[gate + j] + part[add + j]), sigmoid(z[gate + n + j] + part[add + n + j])
                q = part[add + 2 * n + j] + bias[j]
                new = squashed(z[gate + 2 * n + j] + reset * q)
                z[gate + j], z[gate + n + j], z[gate + 2 * n + j] = reset, update, new
                inner[at + j] = q
                state = (h[here + j] - new) * update + new
                h[here + j] = state
                out[at + j] = state


def gru_backward(z_: Any, before_: Any, inner_: Any, g_: Any, gh_: Any, w_: Any, d_: Any, through_: Any, steps_: Any,
                 count: int, n: int, given: int, sgemm: int) -> None:
    """The gradient d of the gates' recurrent part, `through` that of the third gate's sum; gh becomes the first h's."""
    z, before, inner, g, gh, w = z_[DATA], before_[DATA], inner_[DATA], g_[DATA], gh_[DATA], w_[DATA]
    d, through, steps = d_[DATA], through_[DATA], steps_[DATA]
    for step in range(count):
        start, rows = steps[2 * step], steps[2 * step + 1] - steps[2 * step]
        add_given(gh, g, start * n, rows * n, given)
        for r in range(rows):
            at, gate, here = (start + r) * n, 3 * (start + r) * n, r * n
            for j in range(n):
                reset, update, new = z[gate + j], z[gate + n + j], z[gate + 2 * n + j]
                full = gh[here + j]
                third = full * (ONE - update) * (ONE - new * new)
                through[at + j] = third
                d[gate + j] = third * inner[at + j] * reset * (ONE - reset)
                d[gate + n + j] = full * (before[at + j] - new) * update * (ONE - update)
                d[gate + 2 * n + j] = third * reset
                gh[here + j] = full * update
        multiply(sgemm, rows, n, 3 * n, d, start * 3 * n, w, ONE, gh, 0)
