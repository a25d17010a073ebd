"""Loops over rows: softmax and its kin, layer norm."""

from .functions import exp, exp_below, power
from .scalars import (
    as_double,
    as_float,
    as_int32,
    as_int64,
    double,
    doubles,
    fabs,
    floats,
    inf,
    int32,
    ints,
    real,
    reals,
    sqrt,
    sum_of,
    sum_of_products,
    sum_of_squares,
    sums_of_gradient,
    sums_of_weighted,
)
from .special import logarithm

MANY = 512                           # numbers of short rows whose exponentials are one loop,
LONG = 128                           # rows that are a loop each
LEAST, LEAST_DOUBLE = -0x7f800001, -0x7ff0000000000001        # -inf in the order of largest()
MOST = 0x7fffffffffffffff
CENTRED, WEIGHTED, SHIFTED = 1, 2, 4         # parts of layer_norm: the mean is taken out, there is a weight, a bias
OF_X, OF_WEIGHT, OF_BIAS = 8, 16, 32         # and which gradients are wanted


def largest(x: floats, n: int) -> float:
    """The largest of n numbers, -inf of none. By their bits, which as integers are in the same order once those of negative
    numbers are turned round: floating point maxima are not made into vectors unless nan is ruled out. A nan wins."""
    top: int32 = LEAST
    key: int32
    for j in range(n):
        key = as_int32(x[j])
        key = key ^ (key >> 31 & 0x7fffffff)
        top = key if key > top else top
    return as_float(top ^ (top >> 31 & 0x7fffffff))


def largest_double(x: doubles, n: int) -> double:
    """The same of float64."""
    most: int = MOST
    top: int = LEAST_DOUBLE
    for j in range(n):
        key = as_int64(x[j])
        key = key ^ (key >> 63 & most)
        top = key if key > top else top
    return as_double(top ^ (top >> 63 & most))


# in place, and in two loops: together with the sum exponentials stay scalar
def powers(x: floats, n: int, top: float) -> float:
    """Elements become exp(x - top), some numbers for top = nan; their sum, nan for top = nan and infinite ones."""
    for j in range(n):
        x[j] = power(x[j] - top)
    return sum_of(x, n) + (top - top)


def softmax(x: reals, out: reals, rows: int, n: int) -> None:
    """exp(x) over its sum, row by row. Exponentials of many short rows are one loop: what is left of vectors takes long."""
    together, first = max(1, MANY // n), 0
    while first < rows:
        last = min(first + together, rows)
        for r in range(first, last):
            top = largest(x[r * n:], n)
            for j in range(n):
                out[r * n + j] = x[r * n + j] - top
        for j in range(first * n, last * n):
            out[j] = exp_below(out[j])
        for r in range(first, last):
            total = 1 / sum_of(out[r * n:], n)
            for j in range(n):
                out[r * n + j] *= total
        first = last


def softmax_backward(z: reals, g: reals, out: reals, rows: int, n: int) -> None:
    """z * (g - sum(g * z))."""
    for r in range(rows):
        total = sum_of_products(z[r * n:], g[r * n:], n)
        for j in range(n):
            out[r * n + j] = z[r * n + j] * (g[r * n + j] - total)


def power_sums(x: reals, room: reals, tops: reals, sums: reals, rows: int, n: int, finite: int) -> None:
    """Each row's largest element, and the sum of exp(x - largest). `room` is memory for n + MANY numbers.
    finite: 0 for a largest element that is infinite."""
    together, first = max(1, MANY // n), 0
    while first < rows:
        last = min(first + together, rows)
        for r in range(first, last):
            top = largest(x[r * n:], n)
            top = 0 if finite and not fabs(top) < inf else top
            tops[r] = top
            for j in range(n):
                room[(r - first) * n + j] = x[r * n + j] - top
        for j in range((last - first) * n):
            room[j] = exp(room[j])
        for r in range(first, last):
            sums[r] = sum_of(room[(r - first) * n:], n)
        first = last


def cross_entropy(x: reals, t: ints, room: reals, out: reals, tops: reals, sums: reals, rows: int, n: int) -> None:
    """log(sum of exp(x - largest)) - (x[t] - largest) of each row, and what power_sums() makes. t is in range(n)."""
    power_sums(x, room, tops, sums, rows, n, 0)
    for r in range(rows):
        out[r] = logarithm(sums[r])
    for r in range(rows):
        out[r] += tops[r] - x[r * n + t[r]]


def log_softmax(x: reals, room: reals, out: reals, rows: int, n: int) -> None:
    """x - largest - log(sum of exp(x - largest)), row by row. room: memory for n + 2 MANY numbers."""
    together, first, sums = max(1, MANY // n), 0, max(n, MANY)
    while first < rows:
        last = min(first + together, rows)
        for r in range(first, last):
            top = largest(x[r * n:], n)
            for j in range(n):
                out[r * n + j] = x[r * n + j] - top
        for j in range((last - first) * n):
            room[j] = exp_below(out[first * n + j])
        for r in range(last - first):
            room[sums + r] = sum_of(room[r * n:], n)
        for r in range(last - first):
            room[sums + r] = logarithm(room[sums + r])
        for r in range(first, last):
            for j in range(n):
                out[r * n + j] -= room[sums + r - first]
        first = last


def log_softmax_backward(z: reals, g: reals, out: reals, rows: int, n: int) -> None:
    """g - exp(z) * sum(g)."""
    if n >= LONG:
        for r in range(rows):
            total = sum_of(g[r * n:], n)
            for j in range(n):
                out[r * n + j] = g[r * n + j] - exp_below(z[r * n + j]) * total
        return
    together, first = max(1, MANY // n), 0
    while first < rows:
        last = min(first + together, rows)
        for j in range(first * n, last * n):
            out[j] = exp_below(z[j])
        for r in range(first, last):
            total = sum_of(g[r * n:], n)
            for j in range(n):
                out[r * n + j] = g[r * n + j] - out[r * n + j] * total
        first = last


def cross_entropy_backward(x: reals, tops: reals, factor: reals, share: reals, target: ints, out: reals, rows: int,
                           n: int) -> None:
    """exp(x - top) * factor - one hot * share."""
    if n >= LONG:
        for r in range(rows):
            for j in range(n):
                out[r * n + j] = exp_below(x[r * n + j] - tops[r]) * factor[r]
            out[r * n + target[r]] -= share[r]
        return
    together, first = max(1, MANY // n), 0
    while first < rows:
        last = min(first + together, rows)
        for r in range(first, last):
            for j in range(n):
                out[r * n + j] = x[r * n + j] - tops[r]
        for j in range(first * n, last * n):
            out[j] = exp_below(out[j])
        for r in range(first, last):
            for j in range(n):
                out[r * n + j] *= factor[r]
            out[r * n + target[r]] -= share[r]
        first = last


# --- attention: the first columns of a row count, those of keys not after the query; the loops go over all, for vectors ---

def limit_of(row: int, n: int, first: int) -> int:
    """How many columns count; all, if first is -1."""
    return n if first < 0 or first + row + 1 > n else first + row + 1


def attention_softmax(s: floats, tops: floats, sums: floats, matrices: int, rows: int, n: int, first: int,
                      scale: float) -> None:
    """Scores become probabilities, in place; a row without any stays 0."""
    for r in range(matrices * rows):
        m = limit_of(r % rows, n, first)
        for j in range(n):
            y = s[r * n + j] * scale
            s[r * n + j] = y if j < m else -inf
        top = largest(s[r * n:], n)
        top = 0 if top == -inf else top
        total = powers(s[r * n:], n, top)
        total = 1 if total == 0 else total
        tops[r] = top
        sums[r] = total
        total = 1 / total
        for j in range(n):
            s[r * n + j] *= total


def attention_again(s: floats, tops: floats, sums: floats, matrices: int, rows: int, n: int, first: int,
                    scale: float) -> None:
    """The same from tops and sums that are known."""
    for r in range(matrices * rows):
        m = limit_of(r % rows, n, first)
        share = 1 / sums[r]
        top = tops[r]
        for j in range(n):
            y = power(s[r * n + j] * scale - top) * share
            s[r * n + j] = y if j < m else 0


def attention_backward(p: floats, g: floats, rows: int, n: int, scale: float) -> None:
    """The gradient g of the probabilities becomes that of the scores, in place; where a probability is 0, 0."""
    for r in range(rows):
        total = sum_of_products(p[r * n:], g[r * n:], n)
        for j in range(n):
            g[r * n + j] = p[r * n + j] * (g[r * n + j] - total) * scale


# --- layer norm ---------------------------------------------------------------------------------------------------------

def layer_norm(x: reals, weight: reals, bias: reals, out: reals, means: reals, scales: reals, rows: int, n: int,
               parts: int, eps: real) -> None:
    """(x - mean) / sqrt(variance + eps) * weight + bias, row by row. Short rows' statistics are made for many at once: roots
    and quotients are vectors, and no row waits for those of the row before."""
    together, first = max(1, 4 * MANY // n), 0
    while first < rows:
        last = min(first + together, rows)
        if parts & CENTRED:
            for r in range(first, last):
                means[r] = sum_of(x[r * n:], n)
            for r in range(first, last):
                means[r] /= n
        else:
            for r in range(first, last):
                means[r] = 0
        for r in range(first, last):
            scales[r] = sum_of_squares(x[r * n:], means[r], n)
        for r in range(first, last):
            scales[r] = 1 / sqrt(scales[r] / n + eps)
        for r in range(first, last):
            at, mean, scale = r * n, means[r], scales[r]
            if parts & WEIGHTED and parts & SHIFTED:
                for j in range(n):
                    out[at + j] = (x[at + j] - mean) * scale * weight[j] + bias[j]
            elif parts & WEIGHTED:
                for j in range(n):
                    out[at + j] = (x[at + j] - mean) * scale * weight[j]
            else:
                for j in range(n):
                    out[at + j] = (x[at + j] - mean) * scale
        first = last


def layer_norm_backward(g: reals, x: reals, weight: reals, means: reals, scales: reals, gx: reals, gw: reals,
                        gb: reals, totals: doubles, rows: int, n: int, parts: int) -> None:
    """With h = g * weight and z the standardized x: gx = (h - mean(h) - z mean(h z)) * scale; gw and gb, which are zeros,
    add up, 16 rows at a time in their precision, these in float64. totals: zeros for 2 rows."""
    for r in range(rows):
        at, mean, scale = r * n, means[r], scales[r]
        if parts & OF_WEIGHT and parts & OF_BIAS and r % 2 == 0 and r + 1 < rows:        # two rows at once
            other, scale_of_other = means[r + 1], scales[r + 1]
            for j in range(n):
                gw[j] += (g[at + j] * ((x[at + j] - mean) * scale)
                          + g[at + n + j] * ((x[at + n + j] - other) * scale_of_other))
                gb[j] += g[at + j] + g[at + n + j]
        elif parts & OF_WEIGHT and parts & OF_BIAS and r % 2 == 0:
            for j in range(n):
                gw[j] += g[at + j] * ((x[at + j] - mean) * scale)
                gb[j] += g[at + j]
        elif parts & OF_WEIGHT and parts & OF_BIAS:
            pass
        elif parts & OF_WEIGHT:
            for j in range(n):
                gw[j] += g[at + j] * ((x[at + j] - mean) * scale)
        elif parts & OF_BIAS:
            for j in range(n):
                gb[j] += g[at + j]
        if parts & OF_WEIGHT and (r % 16 == 15 or r == rows - 1):
            for j in range(n):
                totals[j] += gw[j]
                gw[j] = totals[j] if r == rows - 1 else 0
        if parts & OF_BIAS and (r % 16 == 15 or r == rows - 1):
            for j in range(n):
                totals[n + j] += gb[j]
                gb[j] = totals[n + j] if r == rows - 1 else 0
        if not parts & OF_X:
            continue
        if parts & WEIGHTED:
            whole = sums_of_weighted(g[at:], weight, x[at:], mean, scale, n, gx[at:])
        else:
            whole = sums_of_gradient(g[at:], x[at:], mean, scale, n, gx[at:])
        whole = whole / n if parts & CENTRED else 0
        along = gx[at] / n
        if parts & WEIGHTED:
            for j in range(n):
                gx[at + j] = (g[at + j] * weight[j] - whole - (x[at + j] - mean) * scale * along) * scale
        else:
            for j in range(n):
                gx[at + j] = (g[at + j] - whole - (x[at + j] - mean) * scale * along) * scale
