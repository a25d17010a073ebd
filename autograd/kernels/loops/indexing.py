"""Loops over rows that are given by number, places in rows, running products and extremes, margins between classes."""

from .functions import add
from .scalars import answer, as_int32, double, floats, int32, ints, memory, ordinal, real, reals, uint64

MOST, LAST = 0x7FFFFFFF, 0x7FFFFFFFFFFFFFFF


def add_rows(out: reals, index: ints, values: reals, count: int, n: int) -> None:
    """out[index[i]] += values[i], rows of n numbers."""
    if n == 1:
        for i in range(count):
            out[index[i]] += values[i]
        return
    for i in range(count):
        add(out[index[i] * n:], values[i * n:], n)


def extreme_rows(out: reals, index: ints, values: reals, count: int, n: int, sign: real) -> None:
    """out[index[i]] becomes the larger of itself and values[i], by element; the smaller one for sign -1. nan wins."""
    for i in range(count):
        to, at = index[i] * n, i * n
        for j in range(n):
            a, b = out[to + j], values[at + j]
            out[to + j] = a if (sign * b <= sign * a) | (a != a) else b


def sign_of_stray(index: ints, count: int, n: int) -> int:
    """Below 0 if one of the numbers is not in range(n)."""
    sign = 0
    for i in range(count):
        sign = sign | index[i] | n - 1 - index[i]
    return sign


def outside(index: ints, count: int, n: int) -> answer:
    """1 if one of the numbers is not in range(n)."""
    return 1 if sign_of_stray(index, count, n) < 0 else 0


def gather(x: reals, index: ints, out: reals, blocks: int, n: int, count: int, inner: int) -> answer:
    """out[b, i, j] = x[b, index[b, i, j], j], where x has n elements along its middle, the index `count`. 1 if the index has
    a number that is not in range(n), which costs nothing beside memory."""
    place: uint64
    end: uint64 = n
    for b in range(blocks):
        first = b * n * inner
        if inner == 1:
            for i in range(b * count, b * count + count):
                place = index[i]                     # of which negative numbers are large
                if place >= end:
                    return 1
                out[i] = x[first + place]
            continue
        for i in range(count):
            at = (b * count + i) * inner
            for j in range(inner):
                place = index[at + j]
                if place >= end:
                    return 1
                out[at + j] = x[first + place * inner + j]
    return 0


def scatter(out: reals, index: ints, src: reals, blocks: int, n: int, count: int, inner: int, add: int) -> answer:
    """out[b, index[b, i, j], j] = src[b, i, j], or += with `add`. 1 if the index has a number that is not in range(n)."""
    place: uint64
    end: uint64 = n
    for b in range(blocks):
        first = b * n * inner
        if inner == 1:
            if add:
                for i in range(b * count, b * count + count):
                    place = index[i]
                    if place >= end:
                        return 1
                    out[first + place] += src[i]
                continue
            for i in range(b * count, b * count + count):
                place = index[i]
                if place >= end:
                    return 1
                out[first + place] = src[i]
            continue
        for i in range(count):
            at = (b * count + i) * inner
            if add:
                for j in range(inner):
                    place = index[at + j]
                    if place >= end:
                        return 1
                    out[first + place * inner + j] += src[at + j]
                continue
            for j in range(inner):
                place = index[at + j]
                if place >= end:
                    return 1
                out[first + place * inner + j] = src[at + j]
    return 0


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


def leading(x: reals, out: reals, places: ints, best: ints, rows: int, n: int, k: int, flip: int, sign: real) -> None:
    """The first k of each row in that order, and where they are; flip and sign are -1 for the largest first, else 0 and 1.
    best: memory for k. 64 elements that are all behind the k-th so far are passed over by vectors."""
    end = LAST
    for r in range(rows):
        at, to, held, last = r * n, r * k, 0, end
        for start in range(0, n, 64):
            stop = min(start + 64, n)
            if held == k and last < end:
                bound, early = sign * out[to + k - 1], 0
                for i in range(at + start, at + stop):
                    early = early | (sign * x[i] < bound) | (x[i] != x[i])
                if early == 0:
                    continue
            for i in range(start, stop):
                here = ordinal(x[at + i]) ^ flip
                if held == k and here >= last:
                    continue
                held = min(held + 1, k)
                j = held - 1
                while j > 0 and best[j - 1] > here:
                    best[j] = best[j - 1]
                    out[to + j] = out[to + j - 1]
                    places[to + j] = places[to + j - 1]
                    j -= 1
                best[j] = here
                out[to + j] = x[at + i]
                places[to + j] = i
                last = best[k - 1] if held == k else last


def ordered(x: reals, out: reals, places: ints, rows: int, n: int, first: int, k: int, flip: int, middle: int) -> None:
    """Elements first to first + k - 1 of each row of up to 32 in order, and where they are. middle 1: the middle one, or the
    first nan; 2: the middle one of those that are not nan."""
    keys: ints = memory()
    order: ints = keys[32:]
    for r in range(rows):
        at, to, unordered, start = r * n, r * k, 0, first
        for i in range(n):
            here, j = ordinal(x[at + i]) ^ flip, i
            while j > 0 and keys[j - 1] > here:
                keys[j] = keys[j - 1]
                order[j] = order[j - 1]
                j -= 1
            keys[j] = here
            order[j] = i
        if middle:
            for i in range(at, at + n):
                unordered += x[i] != x[i]
            start = n - unordered if unordered and middle == 1 else max(n - unordered - 1, 0) // 2
        for j in range(k):
            i = order[start + j]
            places[to + j] = i
            out[to + j] = x[at + i]


def middle_of_all(x: reals, room: reals, out: reals, blocks: int, n: int, inner: int, skip_nan: int) -> None:
    """The middle number of a vector, the lower of two, of those that are not nan; else nan if there is one. By partitions
    (Hoare 1961) of what may still be the middle, at the middle one of three. room: memory for n numbers."""
    count, high, low = 0, 0, 0
    for i in range(n):
        if x[i] == x[i]:
            room[count] = x[i]
            count += 1
        else:
            out[0] = x[i]
    if count == 0 or (count < n and not skip_nan):
        return
    middle, high = (count - 1) // 2, count - 1
    while low < high:
        first, last = room[low], room[high]
        least, bound = first if first < last else last, last if first < last else first
        bound = room[middle] if room[middle] < bound else bound
        bound = least if bound < least else bound
        i, j = low, high
        while i <= j:
            while room[i] < bound:
                i += 1
            while room[j] > bound:
                j -= 1
            if i <= j:
                here = room[i]
                room[i] = room[j]
                room[j] = here
                i += 1
                j -= 1
        low = i if middle >= i else low
        high = j if middle <= j else high
        high = low if j < middle and middle < i else high
    out[0] = room[middle]


def most_frequent(x: reals, out: reals, places: ints, rows: int, n: int) -> None:
    """The most frequent element of each short row, the smallest of several, and where it is last. nan is unlike all."""
    for r in range(rows):
        at, most, best = r * n, -1, 0
        for i in range(n):
            here, count = x[at + i], 0
            for j in range(at, at + n):
                count += x[j] == here
            if count > most or (count == most and x[at + i] <= x[at + best]):
                most, best = count, i
        places[r] = best
        out[r] = x[at + best]


def _times(before: reals, x: reals, out: reals, n: int) -> None:
    """out = before x, rows that differ: no check of that is needed."""
    for j in range(n):
        out[j] = before[j] * x[j]


def running_products(x: reals, out: reals, blocks: int, n: int, inner: int) -> None:
    """The products of the first 1, 2, ... along the middle of (blocks, n, inner), one after the other as NumPy's. Of four
    rows at once: a product waits for the one before it."""
    b = 0
    while inner == 1 and b + 4 <= blocks:
        first = b * n
        one, two, three, four = x[first], x[first + n], x[first + 2 * n], x[first + 3 * n]
        out[first], out[first + n], out[first + 2 * n], out[first + 3 * n] = one, two, three, four
        for i in range(first + 1, first + n):
            one *= x[i]
            two *= x[i + n]
            three *= x[i + 2 * n]
            four *= x[i + 3 * n]
            out[i], out[i + n], out[i + 2 * n], out[i + 3 * n] = one, two, three, four
        b += 4
    while b < blocks:
        first = b * n * inner
        b += 1
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


def _latest(tops: reals, before: ints, x: reals, out: reals, places: ints, n: int, i: int, sign: real) -> None:
    """The largest so far in each column, and where it is, with row i."""
    for j in range(n):
        here, top = x[j], tops[j]
        later = (sign * here >= sign * top) | (here != here)
        out[j] = here if later else top
        places[j] = i if later else before[j]


def running_places(x: reals, out: reals, places: ints, blocks: int, n: int, inner: int, sign: real) -> None:
    """The largest of the first 1, 2, ... along the middle, and where it is, the last of equal ones; sign -1: the smallest.
    nan wins. 32 elements of a row without a new one are passed over by vectors."""
    for b in range(blocks):
        first = b * n * inner
        if inner == 1:
            top, place = x[first], 0
            for start in range(0, n, 32):
                stop, new = min(start + 32, n), start == 0
                for i in range(first + start, first + stop if start else first):
                    new = new | (sign * x[i] >= sign * top) | (x[i] != x[i])
                if new == 0:
                    for i in range(first + start, first + stop):
                        out[i] = top
                        places[i] = place
                    continue
                for i in range(start, stop):
                    y = x[first + i]
                    later = (sign * y >= sign * top) | (y != y)
                    top = y if later else top
                    place = i if later else place
                    out[first + i] = top
                    places[first + i] = place
            continue
        for j in range(first, first + inner):
            out[j] = x[j]
            places[j] = 0
        for i in range(1, n):
            at = first + i * inner
            _latest(out[at - inner:], places[at - inner:], x[at:], out[at:], places[at:], inner, i, sign)


def _first(tops: reals, places: ints, x: reals, n: int, i: int, sign: real) -> None:
    """The largest so far in each column, the first of equal ones, and where it is, with row i."""
    for j in range(n):
        here, top = x[j], tops[j]
        above = ((sign * here > sign * top) | (here != here)) & (top == top)
        tops[j] = here if above else top
        places[j] = i if above else places[j]


def first_extremes(x: reals, out: reals, places: ints, blocks: int, n: int, inner: int, sign: real) -> None:
    """The largest along the middle, and where it is first; sign -1: the smallest. nan wins. 32 elements of a row of which
    none is above those before are passed over by vectors."""
    for b in range(blocks):
        first, to = b * n * inner, b * inner
        if inner > 1:
            for j in range(inner):
                out[to + j] = x[first + j]
                places[to + j] = 0
            for i in range(1, n):
                _first(out[to:], places[to:], x[first + i * inner:], inner, i, sign)
            continue
        top, place = x[first], 0
        for start in range(0, n, 32):
            stop, new = min(start + 32, n), start == 0
            for i in range(first + start, first + stop if start else first):
                new = new | (sign * x[i] > sign * top) | (x[i] != x[i])
            for i in range(start, stop if new else start):
                y = x[first + i]
                above = ((sign * y > sign * top) | (y != y)) & (top == top)
                top = y if above else top
                place = i if above else place
        out[b] = top
        places[b] = place


def multi_margin(x: reals, t: ints, out: reals, rows: int, n: int, p: int, margin: real) -> answer:
    """The sum over j other than t of max(0, margin - x[t] + x[j])^p, over n; of each row. nan counts as 0, as in PyTorch.
    1 if t has a number that is not in range(n)."""
    one: double
    two: double
    if sign_of_stray(t, rows, n) < 0:
        return 1
    for r in range(rows):
        at, own, room = r * n, t[r], margin - x[r * n + t[r]]
        one, two = 0.0, 0.0
        for part in range(2):
            j = own + 1 if part else 0
            stop = n if part else own
            while j + 2 <= stop:
                y, z = room + x[at + j], room + x[at + j + 1]
                y = y if y > 0 else 0
                z = z if z > 0 else 0
                one += y if p == 1 else y * y
                two += z if p == 1 else z * z
                j += 2
            if j < stop:
                y = room + x[at + j]
                y = y if y > 0 else 0
                one += y if p == 1 else y * y
        out[r] = (one + two) / n
    return 0


def multi_margin_backward(x: reals, t: ints, g: reals, out: reals, rows: int, n: int, p: int, margin: real) -> None:
    """Its gradient, where g has that of each row."""
    total: double
    for r in range(rows):
        at, room, share, total = r * n, margin - x[r * n + t[r]], g[r] / n, 0.0
        for j in range(at, at + n):
            y = room + x[j]
            z = share if p == 1 else 2 * share * y
            out[j] = z if y > 0 else 0
        out[at + t[r]] = 0
        for j in range(at, at + n):
            total += out[j]
        out[at + t[r]] = -total


def multilabel_margin(x: reals, labels: ints, out: reals, slope: reals, rows: int, n: int) -> answer:
    """Of each row the sum over its labels i, up to the first below 0, and over all j that are none, of
    max(0, 1 - x[i] + x[j]), over n; and its gradient. 1 if there is a label that is neither -1 nor in range(n)."""
    total: double
    for r in range(rows):
        at, count, total = r * n, 0, 0.0
        for j in range(at, at + n):
            slope[j] = 0
            if labels[j] < -1 or labels[j] >= n:
                return 1
        while count < n and labels[at + count] >= 0:
            slope[at + labels[at + count]] = -1
            count += 1
        for i in range(at, at + count):
            own, missed = at + labels[i], 0
            room = 1 - x[own]
            for j in range(at, at + n):
                y = room + x[j]
                if slope[j] < 0 or not y > 0:        # below 0 it is a label's
                    continue
                total += y
                slope[j] += 1
                missed += 1
            slope[own] -= missed
        for j in range(at, at + n):
            y = slope[j] + 1 if slope[j] < 0 else slope[j]
            slope[j] = y / n
        out[r] = total / n
    return 0


def quotient_of_sum(x: reals, out: reals, blocks: int, n: int, inner: int, divisor: double) -> None:
    """The sum of all elements over a number, by four sums in float64."""
    one: double
    two: double
    three: double
    four: double
    one, two, three, four = 0.0, 0.0, 0.0, 0.0
    i, end = 0, blocks * n * inner
    while i + 4 <= end:
        one += x[i]
        two += x[i + 1]
        three += x[i + 2]
        four += x[i + 3]
        i += 4
    while i < end:
        one += x[i]
        i += 1
    out[0] = ((one + two) + (three + four)) / divisor


def picked_sum(x: reals, t: ints, out: reals, rows: int, n: int, scale: double) -> answer:
    """scale times the sum of x[t] of each row, a single number. 1 if t has a number that is not in range(n)."""
    total: double
    if sign_of_stray(t, rows, n) < 0:
        return 1
    total = 0.0
    for r in range(rows):
        total += x[r * n + t[r]]
    out[0] = total * scale
    return 0
