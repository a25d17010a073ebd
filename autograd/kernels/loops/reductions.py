"""Loops over the middle dimension of (blocks, n, inner): sums, logarithms of sums of exponentials."""

from .float64 import power_below_double
from .functions import exp
from .rows import power_sums
from .scalars import double, doubles, fabs, floats, inf, reals, sum_of
from .special import logarithm_double


def powered(x: double, top: double) -> double:
    """exp(x - top), x <= top; 1 for equal ones, which may be infinite. nan of nan."""
    return 1.0 if x == top else power_below_double(x - top)


def sums(x: floats, totals: doubles, out: floats, blocks: int, n: int, inner: int) -> None:
    """The sums over the middle: of 8 rows at a time, these in float64. totals: memory for `inner` numbers."""
    if inner == 1:
        for b in range(blocks):
            out[b] = sum_of(x[b * n:], n)
        return
    for b in range(blocks):
        for j in range(inner):
            totals[j] = 0.0
        i = 0
        while i + 8 <= n:
            a0 = (b * n + i) * inner
            a1, a2, a3, a4, a5, a6, a7 = (a0 + inner, a0 + 2 * inner, a0 + 3 * inner, a0 + 4 * inner, a0 + 5 * inner,
                                          a0 + 6 * inner, a0 + 7 * inner)
            for j in range(inner):
                totals[j] += (((x[a0 + j] + x[a1 + j]) + (x[a2 + j] + x[a3 + j]))
                              + ((x[a4 + j] + x[a5 + j]) + (x[a6 + j] + x[a7 + j])))
            i += 8
        while i < n:
            at = (b * n + i) * inner
            for j in range(inner):
                totals[j] += x[at + j]
            i += 1
        for j in range(inner):
            out[b * inner + j] = totals[j]


def middle_power_sums(x: floats, memory: floats, wide: doubles, tops: floats, totals: floats, blocks: int, n: int,
                      inner: int) -> None:
    """The largest elements over the middle (0 where that is infinite), and the sums of exp(x - largest). `memory` is for the
    larger of n + MANY and inner, `wide` for inner numbers."""
    if inner == 1:
        power_sums(x, memory, tops, totals, blocks, n, 1)
        return
    for b in range(blocks):
        to = b * inner
        for j in range(inner):
            tops[to + j] = -inf
            wide[j] = 0.0
        for i in range(n):
            at = (b * n + i) * inner
            for j in range(inner):
                top, here = tops[to + j], x[at + j]
                tops[to + j] = here if here > top else top
        for j in range(inner):
            top = tops[to + j]
            tops[to + j] = top if fabs(top) < inf else 0
        for i in range(n):
            at = (b * n + i) * inner
            for j in range(inner):
                memory[j] = exp(x[at + j] - tops[to + j])
            for j in range(inner):
                wide[j] += memory[j]
        for j in range(inner):
            totals[to + j] = wide[j]


def logsumexp_backward(x: floats, z: floats, g: floats, out: floats, blocks: int, n: int, inner: int) -> None:
    """g exp(x - z), where z and g lack the middle; z is not -inf."""
    for b in range(blocks):
        if inner == 1:
            for i in range(b * n, b * n + n):
                out[i] = exp(x[i] - z[b])
            for i in range(b * n, b * n + n):
                out[i] *= g[b]
            continue
        to = b * inner
        for i in range(n):
            at = (b * n + i) * inner
            for j in range(inner):
                out[at + j] = exp(x[at + j] - z[to + j])
            for j in range(inner):
                out[at + j] *= g[to + j]


def _two_rows(totals: doubles, x: reals, y: reals, above: reals, below: reals, n: int) -> None:
    """The running sums of two rows that follow each other, in one pass through totals."""
    for j in range(n):
        total = totals[j] + x[j]
        above[j] = total
        total += y[j]
        below[j] = total
        totals[j] = total


def running_sums(x: reals, totals: doubles, out: reals, blocks: int, n: int, inner: int, back: int) -> None:
    """The sums, in float64, of the first 1, 2, ... along the middle; of the last ones if `back`. totals: memory for inner
    numbers. Four rows are added up at once: a sum waits for the one before it."""
    step = -inner if back else inner
    b = 0
    while inner == 1 and b + 4 <= blocks:
        at = b * n + (n - 1 if back else 0)
        one, two, three, four = 0.0, 0.0, 0.0, 0.0
        for _ in range(n):
            one += x[at]
            two += x[at + n]
            three += x[at + 2 * n]
            four += x[at + 3 * n]
            out[at], out[at + n], out[at + 2 * n], out[at + 3 * n] = one, two, three, four
            at += step
        b += 4
    while b < blocks:
        first = (b * n + (n - 1 if back else 0)) * inner
        b += 1
        if inner == 1:
            total = 0.0
            for i in range(n):
                total += x[first + i * step]
                out[first + i * step] = total
            continue
        for j in range(inner):
            totals[j] = 0.0
        for i in range(1, n, 2):
            at = first + i * step
            _two_rows(totals, x[at - step:], x[at:], out[at - step:], out[at:], inner)
        if n % 2:
            at = first + (n - 1) * step
            for j in range(inner):
                out[at + j] = totals[j] + x[at + j]


def logcumsumexp(x: reals, memory: doubles, out: reals, blocks: int, n: int, inner: int) -> None:
    """log(sum of exp) of the first 1, 2, ... along the middle: the largest so far, and the sum of exp(x - it). memory: for n
    numbers, or 2 inner."""
    top: double
    y: double
    for b in range(blocks):
        first = b * n * inner
        if inner == 1:
            total, top = 0.0, -inf
            for i in range(n):
                y = x[first + i]
                total = total * powered(top, y) + 1 if y > top else total + powered(y, top)
                top = y if y > top else top
                memory[i] = total
                out[first + i] = top
            for i in range(n):
                out[first + i] = out[first + i] + logarithm_double(memory[i])
            continue
        for j in range(inner):
            memory[j] = 0.0
            memory[inner + j] = -inf
        for i in range(n):
            at = first + i * inner
            for j in range(inner):
                y, top = x[at + j], memory[inner + j]
                low = powered(y if y < top else top, top if y < top else y)
                total = memory[j] * low + 1 if y > top else memory[j] + low
                memory[j] = total
                memory[inner + j] = y if y > top else top
                out[at + j] = memory[inner + j] + logarithm_double(total)


def extremes(x: floats, out: floats, blocks: int, n: int, inner: int, sign: float) -> None:
    """The largest over the middle, of n > 0; the smallest for sign -1. nan wins."""
    for b in range(blocks):
        if inner == 1:
            highest = x[b * n]
            for i in range(b * n + 1, b * n + n):
                highest = highest if (sign * x[i] <= sign * highest) | (highest != highest) else x[i]
            out[b] = highest
            continue
        to = b * inner
        for j in range(inner):
            out[to + j] = x[b * n * inner + j]
        for i in range(1, n):
            at = (b * n + i) * inner
            for j in range(inner):
                here, top = x[at + j], out[to + j]
                out[to + j] = top if (sign * here <= sign * top) | (top != top) else here
