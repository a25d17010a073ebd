"""LSTM and GRU over a whole sequence: each step's recurrent product by a function whose address is given (oneDNN's sgemm),
then all gates in one loop. recurrent.py says what is what.
"""

from .functions import add, sigmoid_of, tanh
from .scalars import address, floats, gemm, ints


def lstm(z: floats, h: floats, c: floats, w: floats, before: floats, cells: floats, t: floats, out: floats, steps: ints,
         count: int, n: int, sgemm: address) -> None:
    """Gates z (rows, 4 n), order i, f, g, o, are activated in place; h and c move on. w is W_hh^T."""
    for step in range(count):
        start, rows = steps[2 * step], steps[2 * step + 1] - steps[2 * step]
        for k in range(rows * n):
            before[start * n + k] = h[k]
        gemm(sgemm, rows, 4 * n, n, h, w, 1, z[start * 4 * n:])
        for r in range(rows):
            at, gate, here = (start + r) * n, 4 * (start + r) * n, r * n
            for j in range(n):
                i, f = sigmoid_of(z[gate + j]), sigmoid_of(z[gate + n + j])
                g, o = tanh(z[gate + 2 * n + j]), sigmoid_of(z[gate + 3 * n + j])
                z[gate + j], z[gate + n + j], z[gate + 2 * n + j], z[gate + 3 * n + j] = i, f, g, o
                cells[at + j] = c[here + j]
                cell = f * c[here + j] + i * g
                c[here + j] = cell
                of_cell = tanh(cell)
                t[at + j] = of_cell
                out[at + j] = o * of_cell
                h[here + j] = o * of_cell


def lstm_backward(z: floats, cells: floats, t: floats, g: floats, gh: floats, gc: floats, w: floats, d: floats,
                  steps: ints, count: int, n: int, given: int, sgemm: address) -> None:
    """The gradient d of the gates, from gh (+ g, if given) and gc, which become those of the first states. w is W_hh."""
    for step in range(count):
        start, rows = steps[2 * step], steps[2 * step + 1] - steps[2 * step]
        if given:                                    # a gradient of the step's output
            add(gh, g[start * n:], rows * n)
        for r in range(rows):
            at, gate, here = (start + r) * n, 4 * (start + r) * n, r * n
            for j in range(n):
                i, f, new, o = z[gate + j], z[gate + n + j], z[gate + 2 * n + j], z[gate + 3 * n + j]
                of_cell, full = t[at + j], gh[here + j]
                cell = gc[here + j] + full * o * (1 - of_cell * of_cell)
                d[gate + j] = cell * new * i * (1 - i)
                d[gate + n + j] = cell * cells[at + j] * f * (1 - f)
                d[gate + 2 * n + j] = cell * i * (1 - new * new)
                d[gate + 3 * n + j] = full * of_cell * o * (1 - o)
                gc[here + j] = cell * f
        gemm(sgemm, rows, n, 4 * n, d[start * 4 * n:], w, 0, gh)


def gru(z: floats, h: floats, w: floats, part: floats, bias: floats, before: floats, inner: floats, out: floats,
        steps: ints, count: int, n: int, sgemm: address) -> None:
    """Gates z (rows, 3 n), order r, z, n, are activated in place; h moves on. w is W_hh^T, part for a step's product."""
    for step in range(count):
        start, rows = steps[2 * step], steps[2 * step + 1] - steps[2 * step]
        for k in range(rows * n):
            before[start * n + k] = h[k]
        gemm(sgemm, rows, 3 * n, n, h, w, 0, part)
        for r in range(rows):
            at, gate, here, own = (start + r) * n, 3 * (start + r) * n, r * n, 3 * r * n
            for j in range(n):
                reset, update = sigmoid_of(z[gate + j] + part[own + j]), sigmoid_of(z[gate + n + j] + part[own + n + j])
                q = part[own + 2 * n + j] + bias[j]
                new = tanh(z[gate + 2 * n + j] + reset * q)
                z[gate + j], z[gate + n + j], z[gate + 2 * n + j] = reset, update, new
                inner[at + j] = q
                state = (h[here + j] - new) * update + new
                h[here + j] = state
                out[at + j] = state


def gru_backward(z: floats, before: floats, inner: floats, g: floats, gh: floats, w: floats, d: floats, through: floats,
                 steps: ints, count: int, n: int, given: int, sgemm: address) -> None:
    """The gradient d of the gates' recurrent part, `through` that of the third gate's sum; gh becomes the first h's."""
    for step in range(count):
        start, rows = steps[2 * step], steps[2 * step + 1] - steps[2 * step]
        if given:                                    # a gradient of the step's output
            add(gh, g[start * n:], rows * n)
        for r in range(rows):
            at, gate, here = (start + r) * n, 3 * (start + r) * n, r * n
            for j in range(n):
                reset, update, new = z[gate + j], z[gate + n + j], z[gate + 2 * n + j]
                full = gh[here + j]
                third = full * (1 - update) * (1 - new * new)
                through[at + j] = third
                d[gate + j] = third * inner[at + j] * reset * (1 - reset)
                d[gate + n + j] = full * (before[at + j] - new) * update * (1 - update)
                d[gate + 2 * n + j] = third * reset
                gh[here + j] = full * update
        gemm(sgemm, rows, n, 3 * n, d[start * 3 * n:], w, 1, gh)
