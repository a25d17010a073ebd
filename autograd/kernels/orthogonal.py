"""Orthogonal polynomials by their three-term recurrences (Abramowitz and Stegun 22.7), of many degrees at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..base.types import Array

Step = Callable[[int, Array, Array, Array], Array]
LONGEST = 100_000               # degrees beyond give nan: the recurrence would take too long; huge and infinite ones 0


def recurrence(first: Callable[[Array], Array], step: Step) -> Callable[..., Any]:
    """p_n(x) as a function of (x, n): p_0 = 1, p_1 = first(x), p_(k+1) = step(k, x, p_k, p_(k-1)); 0 for n < 0."""

    def evaluate(x: Any, n: Any) -> Array:
        x, n = np.broadcast_arrays(x if hasattr(x, "dtype") else np.asarray(x, n.dtype), n)
        degree = np.where(np.abs(n) < 2.0**63, np.clip(n, -1, LONGEST + 1), -1).astype(np.int64)
        out = np.where(degree < 0, np.zeros((), x.dtype), np.full((), np.nan, x.dtype))
        before, now = np.ones_like(x), first(x)
        for k in range(min(int(degree.max(initial=-1)), LONGEST) + 1):
            np.copyto(out, before, where=degree == k)
            before, now = now, step(k + 1, x, now, before)
        return out

    return evaluate


def _chebyshev(k: int, x: Array, p: Array, q: Array) -> Array:
    return 2 * x * p - q


def shifted(evaluate: Callable[..., Any]) -> Callable[..., Any]:
    """The polynomial of 2x - 1: the same on [0, 1]."""
    return lambda x, n: evaluate(2 * x - 1, n)


chebyshev_t: Callable[..., Any] = recurrence(lambda x: x, _chebyshev)
chebyshev_u: Callable[..., Any] = recurrence(lambda x: 2 * x, _chebyshev)
chebyshev_v: Callable[..., Any] = recurrence(lambda x: 2 * x - 1, _chebyshev)
chebyshev_w: Callable[..., Any] = recurrence(lambda x: 2 * x + 1, _chebyshev)
hermite_h: Callable[..., Any] = recurrence(lambda x: 2 * x, lambda k, x, p, q: 2 * x * p - 2 * k * q)
hermite_he: Callable[..., Any] = recurrence(lambda x: x, lambda k, x, p, q: x * p - k * q)
laguerre_l: Callable[..., Any] = recurrence(lambda x: 1 - x, lambda k, x, p, q: ((2 * k + 1 - x) * p - k * q) / (k + 1))
legendre_p: Callable[..., Any] = recurrence(lambda x: x, lambda k, x, p, q: ((2 * k + 1) * x * p - k * q) / (k + 1))
