"""One time step of LSTM and GRU cells, all gates in one loop. Compiled by numba; arrays come as pointers to objects."""

from __future__ import annotations

from typing import Any

from .numbers import F, sigmoid, squashed

DATA = 2
ONE = F(1)


def lstm_step(z_: Any, c_: Any, before_: Any, t_: Any, out_: Any, h_: Any, rows: int, n: int) -> None:
    """Gates z (rows, 4 n), order i, f, g, o, are activated in place; c and h move on, c's old value goes to `before`."""
    z, c, before, t, out, h = z_[DATA], c_[DATA], before_[DATA], t_[DATA], out_[DATA], h_[DATA]
    for r in range(rows):
        at, gate = r * n, 4 * r * n
        for j in range(n):
            i, f = sigmoid(z[gate + j]), sigmoid(z[gate + n + j])
            g, o = squashed(z[gate + 2 * n + j]), sigmoid(z[gate + 3 * n + j])
            z[gate + j], z[gate + n + j], z[gate + 2 * n + j], z[gate + 3 * n + j] = i, f, g, o
            before[at + j] = c[at + j]
            cell = f * c[at + j] + i * g
            c[at + j] = cell
            t_of_c = squashed(cell)
            t[at + j] = t_of_c
            out[at + j] = o * t_of_c
            h[at + j] = o * t_of_c


def lstm_step_backward(z_: Any, before_: Any, t_: Any, g_: Any, gh_: Any, gc_: Any, d_: Any, rows: int, n: int,
                       given: int) -> None:
    """The gradient d of the gates, from gh (+ g, if given) and gc, which becomes that of the cell before."""
    z, before, t, g, gh, gc, d = z_[DATA], before_[DATA], t_[DATA], g_[DATA], gh_[DATA], gc_[DATA], d_[DATA]
    if given:
        for k in range(rows * n):
            gh[k] += g[k]
    for r in range(rows):
        at, gate = r * n, 4 * r * n
        for j in range(n):
            i, f, new, o = z[gate + j], z[gate + n + j], z[gate + 2 * n + j], z[gate + 3 * n + j]
            t_of_c, full = t[at + j], gh[at + j]
            cell = gc[at + j] + full * o * (ONE - t_of_c * t_of_c)
            d[gate + j] = cell * new * i * (ONE - i)
            d[gate + n + j] = cell * before[at + j] * f * (ONE - f)
            d[gate + 2 * n + j] = cell * i * (ONE - new * new)
            d[gate + 3 * n + j] = full * t_of_c * o * (ONE - o)
            gc[at + j] = cell * f


def gru_step(z_: Any, part_: Any, bias_: Any, inner_: Any, h_: Any, out_: Any, rows: int, n: int) -> None:
    """Gates z (rows, 3 n), order r, z, n, plus their recurrent part, are activated in place; h moves on."""
    z, part, bias, inner, h, out = z_[DATA], part_[DATA], bias_[DATA], inner_[DATA], h_[DATA], out_[DATA]
    for r in range(rows):
        at, gate = r * n, 3 * r * n
        for j in range(n):
            reset, update = sigmoid(z[gate + j] + part[gate + j]), sigmoid(z[gate + n + j] + part[gate + n + j])
            q = part[gate + 2 * n + j] + bias[j]
            new = squashed(z[gate + 2 * n + j] + reset * q)
            z[gate + j], z[gate + n + j], z[gate + 2 * n + j] = reset, update, new
            inner[at + j] = q
            state = (h[at + j] - new) * update + new
            h[at + j] = state
            out[at + j] = state


def gru_step_backward(z_: Any, before_: Any, inner_: Any, g_: Any, gh_: Any, d_: Any, through_: Any, rows: int, n: int,
                      given: int) -> None:
    """The gradient d of the gates' recurrent part, `through` of the third gate's sum; gh: what h itself passes on."""
    z, before, inner, g, gh = z_[DATA], before_[DATA], inner_[DATA], g_[DATA], gh_[DATA]
    d, through = d_[DATA], through_[DATA]
    if given:
        for k in range(rows * n):
            gh[k] += g[k]
    for r in range(rows):
        at, gate = r * n, 3 * r * n
        for j in range(n):
            reset, update, new = z[gate + j], z[gate + n + j], z[gate + 2 * n + j]
            full = gh[at + j]
            third = full * (ONE - update) * (ONE - new * new)
            through[at + j] = third
            d[gate + j] = third * inner[at + j] * reset * (ONE - reset)
            d[gate + n + j] = full * (before[at + j] - new) * update * (ONE - update)
            d[gate + 2 * n + j] = third * reset
            gh[at + j] = full * update
