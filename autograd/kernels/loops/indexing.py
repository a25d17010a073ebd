"""Loops over rows that are given by number, in range, places in rows, running products and extremes."""

from .functions import add
from .scalars import as_int32, floats, int32, ints

MOST = 0x7FFFFFFF


def add_rows(out: floats, index: ints, values: floats, count: int, n: int) -> None:
    """out[index[i]] += values[i], rows of n numbers."""
    if n == 1:
        for i in range(count):
            out[index[i]] += values[i]
        return
    for i in range(count):
        add(out[index[i] * n:], values[i * n:], n)


def extreme_rows(out: floats, index: ints, values: floats, count: int, n: int, sign: float) -> None:
    """out[index[i]] becomes the larger of itself and values[i], by element; the smaller one for sign -1. nan wins."""
    for i in range(count):
        to, at = index[i] * n, i * n
        for j in range(n):
            a, b = out[to + j], values[at + j]
            out[to + j] = a if (sign * b <= sign * a) | (a != a) else b


def gather(x: floats, index: ints, out: floats, blocks: int, n: int, count: int, inner: int) -> None:
    """out[b, i, j] = x[b, index[b, i, j], j], where x has n elements along its middle, the index `count`."""
    if inner == 1:
        for b in range(blocks):
            for i in range(b * count, b * count + count):
                out[i] = x[b * n + index[i]]
        return
    for b in range(blocks):
        for i in range(count):
            at = (b * count + i) * inner
            for j in range(inner):
                out[at + j] = x[(b * n + index[at + j]) * inner + j]


def scatter_add(out: floats, index: ints, src: floats, blocks: int, n: int, count: int, inner: int) -> None:
    """out[b, index[b, i, j], j] += src[b, i, j]."""
    if inner == 1:
        for b in range(blocks):
            for i in range(b * count, b * count + count):
                out[b * n + index[i]] += src[i]
        return
    for b in range(blocks):
        for i in range(count):
            at = (b * count + i) * inner
            for j in range(inner):
                out[(b * n + index[at + j]) * inner + j] += src[at + j]


def key(x: float) -> int32:
    """A whole number in the order of the float32 numbers: -0 is 0, and all nan are one, the largest."""
    bits: int32 = as_int32(x + 0)
    ordered: int32 = bits ^ (bits >> 31 & MOST)
    return ordered if x == x else MOST


def place_and_key(key: int, flip: int, place: int) -> int:
    """A word in which the key comes before the place."""
    return (key ^ flip) << 32 | place


def words(x: floats, out: ints, rows: int, n: int, flip: int) -> None:
    """Words in the order of rows' elements, equal ones by place: the key above, the place below. flip: -1 for the largest
    first, else 0."""
    for r in range(rows):
        at = r * n
        for i in range(n):
            out[at + i] = place_and_key(key(x[at + i]), flip, i)


def leading(x: floats, out: ints, best: ints, rows: int, n: int, k: int, flip: int) -> None:
    """The places of the first k of each row in that order. best: memory for k. 64 elements that are all behind the k-th so
    far are passed over by vectors."""
    turn: int32 = flip
    last: int32
    first: int32
    here: int32
    for r in range(rows):
        at, to, held, last = r * n, r * k, 0, MOST
        for start in range(0, n, 64):
            stop = min(start + 64, n)
            first = MOST
            for i in range(start, stop):
                here = key(x[at + i]) ^ turn
                first = here if here < first else first
            if held == k and first >= last:
                continue
            for i in range(start, stop):
                here = key(x[at + i]) ^ turn
                if held == k and here >= last:
                    continue
                held = min(held + 1, k)
                j = held - 1
                while j > 0 and best[j - 1] > here:
                    best[j] = best[j - 1]
                    out[to + j] = out[to + j - 1]
                    j -= 1
                best[j] = here
                out[to + j] = i
                last = best[k - 1] if held == k else last


def _times(before: floats, x: floats, out: floats, n: int) -> None:
    """out = before x, rows that differ: no check of that is needed."""
    for j in range(n):
        out[j] = before[j] * x[j]


def running_products(x: floats, out: floats, blocks: int, n: int, inner: int) -> None:
    """The products of the first 1, 2, ... along the middle of (blocks, n, inner), one after the other as NumPy's."""
    for b in range(blocks):
        first = b * n * inner
        if inner == 1:
            total = x[first]
            out[first] = total
            for i in range(first + 1, first + n):
                total *= x[i]
                out[i] = total
            continue
        for j in range(first, first + inner):
            out[j] = x[j]
        for i in range(1, n):
            at = first + i * inner
            _times(out[at - inner:], x[at:], out[at:], inner)


def _latest(before: ints, x: floats, tops: floats, out: ints, n: int, i: int, sign: float) -> None:
    """Where the largest so far stand in each column, with row i."""
    for j in range(n):
        here, top = x[j], tops[j]
        later = (sign * here >= sign * top) | (here != here)
        tops[j] = here if later else top
        out[j] = i if later else before[j]


def running_places(x: floats, out: ints, tops: floats, blocks: int, n: int, inner: int, flip: int) -> None:
    """Where the largest of the first 1, 2, ... along the middle stands, the last of equal ones; the smallest for flip -1.
    nan wins. tops: memory for `inner`. Whole numbers are compared in a tenth of the time where each waits for the last."""
    turn: int32 = flip
    sign: float = 1 + 2 * flip
    highest: int32
    rank: int32
    place: int32
    for b in range(blocks):
        first = b * n * inner
        if inner == 1:
            highest, place = -0x80000000, 0
            for i in range(n):
                y = x[first + i]
                rank = key(y) ^ turn if y == y else MOST
                place = i if rank >= highest else place
                highest = rank if rank > highest else highest
                out[first + i] = place
            continue
        for j in range(inner):
            tops[j] = x[first + j]
            out[first + j] = 0
        for i in range(1, n):
            at = first + i * inner
            _latest(out[at - inner:], x[at:], tops, out[at:], inner, i, sign)
