"""Loops over samples whose channels lie last: batch, group and instance norm.

What belongs to a channel is repeated until loops are `width` numbers long, some 256: vectors pay on long loops only. Sums of
32 or 64 numbers in float32 are added up in float64: float32 alone loses 4 bits over 10,000 numbers. Variances are sums about
the mean of some rows, which takes one pass, and nothing cancels where the mean is far from 0.

Where 64 is a multiple of the channels, a loop is one row of 64 numbers, whose statistics stay in registers. Memory is then
read from its start to its end: 20 to 30 % faster than four rows at once on arrays that exceed the caches.
"""

from .functions import add
from .scalars import doubles, floats, sqrt

WEIGHTED, SHIFTED = 2, 4                             # parts: there is a weight, a bias,
SUMS, OUTPUT = 8, 16                                 # and what is done
STEPS = 8                                            # of 4 widths, that are added up in float32
SOME = 32                                            # rows whose mean variances are taken about
NARROW = 64                                          # numbers of a row, if they are a multiple of the channels
BACK = 1 << 16                                       # numbers: the second pass starts with the last ones, still in cache


def _repeated(room: floats, start: int, width: int, channels: int) -> None:
    """The first `channels` numbers, again and again."""
    for j in range(channels, width):
        room[start + j] = room[start + j - channels]


def _gathered(room: floats, start: int, totals: doubles, to: int, n: int) -> None:
    """Add n numbers of room to totals, and clear them."""
    for j in range(n):
        totals[to + j] += room[start + j]
    for j in range(n):
        room[start + j] = 0


def _of_channels(totals: doubles, to: int, start: int, width: int, channels: int) -> None:
    """The channels' totals, of `width` numbers from start on."""
    for j in range(channels):
        totals[to + j] = totals[start + j]
    for k in range(1, width // channels):            # a step of range() may be 0: an exception, which kernels can't raise
        for j in range(channels):
            totals[to + j] += totals[start + k * channels + j]


def _some_means(x: floats, base: int, total: int, room: floats, to: int, width: int, channels: int) -> None:
    """Means of rows all over the sample."""
    rows = total // channels
    some = min(rows, SOME)
    for j in range(channels):
        room[to + j] = 0
    for k in range(some):
        at = base + k * rows // some * channels
        add(room[to:], x[at:], channels)
    for j in range(channels):
        room[to + j] /= some
    _repeated(room, to, width, channels)


# Pointers of their own to parts of `room`: the compiler need not check, before each loop, that they do not overlap.

def _add_four(x: floats, about: floats, sums: floats, squares: floats, width: int) -> None:
    """Add four widths of x - about, and of its square."""
    for j in range(width):
        m = about[j]
        a, b, c, d = x[j] - m, x[width + j] - m, x[2 * width + j] - m, x[3 * width + j] - m
        sums[j] += (a + b) + (c + d)
        squares[j] += (a * a + b * b) + (c * c + d * d)


def _normalize_four(x: floats, mean: floats, factor: floats, shift: floats, out: floats, width: int) -> None:
    """Four widths of the output."""
    for j in range(width):
        m, f, b = mean[j], factor[j], shift[j]
        out[j] = (x[j] - m) * f + b
        out[width + j] = (x[width + j] - m) * f + b
        out[2 * width + j] = (x[2 * width + j] - m) * f + b
        out[3 * width + j] = (x[3 * width + j] - m) * f + b


def _normalize_rows(x: floats, mean: floats, factor: floats, shift: floats, out: floats, rows: int) -> None:
    """Rows of the output, NARROW numbers each."""
    for r in range(rows):
        for j in range(NARROW):
            out[r * NARROW + j] = (x[r * NARROW + j] - mean[j]) * factor[j] + shift[j]


def _normalize(x: floats, mean: floats, factor: floats, shift: floats, out: floats, n: int, width: int) -> None:
    """n numbers of the output."""
    at = 0
    while at + 4 * width <= n:
        _normalize_four(x[at:], mean, factor, shift, out[at:], width)
        at += 4 * width
    while at < n:
        for j in range(min(width, n - at)):
            out[at + j] = (x[at + j] - mean[j]) * factor[j] + shift[j]
        at += width


def _standardize(x: floats, m: float, f: float, b: float, out: floats, n: int, parts: int) -> None:
    """n numbers of one channel."""
    if parts & SHIFTED:
        for j in range(n):
            out[j] = (x[j] - m) * f + b
    else:
        for j in range(n):
            out[j] = (x[j] - m) * f


def _add_four_gradients(g: floats, x: floats, mean: floats, sums: floats, products: floats, width: int) -> None:
    """Add four widths of g, and of g (x - mean)."""
    for j in range(width):
        m = mean[j]
        a, b, c, d = g[j], g[width + j], g[2 * width + j], g[3 * width + j]
        sums[j] += (a + b) + (c + d)
        products[j] += ((a * (x[j] - m) + b * (x[width + j] - m))
                        + (c * (x[2 * width + j] - m) + d * (x[3 * width + j] - m)))


def _add_rows_of_gradients(g: floats, x: floats, mean: floats, sums: floats, products: floats) -> None:
    """Add eight rows of g, and of g (x - mean), NARROW numbers each."""
    for j in range(NARROW):
        m = mean[j]
        a, b, c, d = g[j], g[NARROW + j], g[2 * NARROW + j], g[3 * NARROW + j]
        e, f, h, i = g[4 * NARROW + j], g[5 * NARROW + j], g[6 * NARROW + j], g[7 * NARROW + j]
        sums[j] += ((a + b) + (c + d)) + ((e + f) + (h + i))
        products[j] += (((a * (x[j] - m) + b * (x[NARROW + j] - m))
                         + (c * (x[2 * NARROW + j] - m) + d * (x[3 * NARROW + j] - m)))
                        + ((e * (x[4 * NARROW + j] - m) + f * (x[5 * NARROW + j] - m))
                           + (h * (x[6 * NARROW + j] - m) + i * (x[7 * NARROW + j] - m))))


def _four_gradients(g: floats, x: floats, mean: floats, factor: floats, slope: floats, shift: floats, gx: floats,
                    width: int) -> None:
    """Four widths of x's gradient."""
    for j in range(width):
        m, f, s, b = mean[j], factor[j], slope[j], shift[j]
        gx[j] = g[j] * f - b - (x[j] - m) * s
        gx[width + j] = g[width + j] * f - b - (x[width + j] - m) * s
        gx[2 * width + j] = g[2 * width + j] * f - b - (x[2 * width + j] - m) * s
        gx[3 * width + j] = g[3 * width + j] * f - b - (x[3 * width + j] - m) * s


def _rows_of_gradients(g: floats, x: floats, mean: floats, factor: floats, slope: floats, shift: floats, gx: floats,
                       rows: int) -> None:
    """Rows of x's gradient, NARROW numbers each."""
    for r in range(rows):
        for j in range(NARROW):
            gx[r * NARROW + j] = g[r * NARROW + j] * factor[j] - shift[j] - (x[r * NARROW + j] - mean[j]) * slope[j]


def _gradients(g: floats, x: floats, mean: floats, factor: floats, slope: floats, shift: floats, gx: floats, n: int,
               width: int) -> None:
    """n numbers of x's gradient."""
    at = 0
    while at + 4 * width <= n:
        _four_gradients(g[at:], x[at:], mean, factor, slope, shift, gx[at:], width)
        at += 4 * width
    while at < n:
        for j in range(min(width, n - at)):
            gx[at + j] = g[at + j] * factor[j] - shift[j] - (x[at + j] - mean[j]) * slope[j]
        at += width


def running_norm(x: floats, mean: floats, factor: floats, shift: floats, out: floats, rows: int, channels: int, inner: int,
                 parts: int) -> None:
    """(x - mean) * factor + shift; a row is `channels` blocks of `inner` numbers, each with a mean, factor and shift."""
    for r in range(rows):
        at = r * channels * inner
        if inner > 1:
            for c in range(channels):
                _standardize(x[at + c * inner:], mean[c], factor[c], shift[c], out[at + c * inner:], inner, parts)
        elif parts & SHIFTED:
            for j in range(channels):
                out[at + j] = (x[at + j] - mean[j]) * factor[j] + shift[j]
        else:
            for j in range(channels):
                out[at + j] = (x[at + j] - mean[j]) * factor[j]


def group_norm(x: floats, weight: floats, bias: floats, out: floats, means: floats, variances: floats, scales: floats,
               totals: doubles, room: floats, samples: int, total: int, first: int, last: int, width: int, channels: int,
               groups: int, parts: int, eps: float) -> None:
    """(x - mean) / sqrt(variance + eps) * weight + bias of samples of `total` numbers, of which first to last are read
    and written. Without OUTPUT only `totals` are made, without SUMS they are given: 2 for each channel, behind memory
    for 4, and 2 widths. room: memory for 4 widths."""
    size, count, wide = channels // groups, total // channels, 4 * channels
    mid, factor, shift, about = 0, width, 2 * width, 3 * width
    back = max(1, BACK // (4 * width)) * 4 * width
    narrow = 0 if NARROW % channels else 1
    for s in range(samples):
        base = s * total
        start, end = base + first, base + last
        _some_means(x, base, total, room, about, width, channels)
        if parts & SUMS:
            for j in range(2 * width):
                totals[wide + j] = 0.0
            for j in range(2 * width):
                room[mid + j] = 0
            at, steps = start, 0
            while at + 4 * width <= end:
                _add_four(x[at:], room[about:], room[mid:], room[factor:], width)
                at += 4 * width
                steps += 1
                if steps == STEPS:
                    _gathered(room, mid, totals, wide, width)
                    _gathered(room, factor, totals, wide + width, width)
                    steps = 0
            while at < end:
                for j in range(min(width, end - at)):
                    a = x[at + j] - room[about + j]
                    room[mid + j] += a
                    room[factor + j] += a * a
                at += width
            _gathered(room, mid, totals, wide, width)
            _gathered(room, factor, totals, wide + width, width)
            _of_channels(totals, 0, wide, width, channels)
            _of_channels(totals, channels, wide + width, width, channels)
        if not parts & OUTPUT:
            continue
        for j in range(2 * channels):
            totals[j] /= count
        for k in range(groups):
            mean, variance = 0.0, 0.0
            for j in range(k * size, k * size + size):
                mean += room[about + j] + totals[j]
            mean /= size
            for j in range(k * size, k * size + size):
                away = totals[j]
                variance += totals[channels + j] - away * away
                away += room[about + j] - mean
                variance += away * away
            variance = 0.0 if variance < 0.0 else variance / size
            scale = 1.0 / sqrt(variance + eps)
            means[s * groups + k], variances[s * groups + k], scales[s * groups + k] = mean, variance, scale
            rounded = means[s * groups + k]
            rest = rounded - mean                    # what float32 has rounded away
            for j in range(k * size, k * size + size):
                w = scale * weight[j] if parts & WEIGHTED else scale
                room[mid + j], room[factor + j] = mean, w
                room[shift + j] = ((bias[j] if parts & SHIFTED else 0.0) + rest * w)
        _repeated(room, mid, width, channels)
        _repeated(room, factor, width, channels)
        _repeated(room, shift, width, channels)
        while end > start:
            at = start + (end - start - 1) // back * back
            rows = (end - at) // NARROW * narrow
            after = at + rows * NARROW
            _normalize_rows(x[at:], room[mid:], room[factor:], room[shift:], out[at:], rows)
            _normalize(x[after:], room[mid:], room[factor:], room[shift:], out[after:], end - after, width)
            end = at


def group_norm_backward(g: floats, x: floats, weight: floats, means: floats, scales: floats, gx: floats, gw: floats,
                        gb: floats, totals: doubles, room: floats, samples: int, total: int, first: int, last: int,
                        width: int, channels: int, groups: int, parts: int) -> None:
    """With h = g * weight and z the standardized x: gx = (h - mean(h) - z mean(h z)) * scale; gw and gb are sums over all
    samples. `totals` has 4 for each channel, two as in group_norm and those two sums, and memory for 2 widths. room: memory
    for 4 widths."""
    size, count, wide = channels // groups, 1.0 * (total // groups), 4 * channels
    mid, factor, slope, shift = 0, width, 2 * width, 3 * width
    back = max(1, BACK // (4 * width)) * 4 * width
    narrow = 0 if NARROW % channels else 1
    for j in range(2 * channels, 4 * channels):
        totals[j] = 0.0
    for s in range(samples):
        base = s * total
        start, end = base + first, base + last
        for j in range(channels):
            room[mid + j] = means[s * groups + j // size]
        _repeated(room, mid, width, channels)
        if parts & SUMS:
            for j in range(2 * width):
                totals[wide + j] = 0.0
            for j in range(2 * width):
                room[factor + j] = 0
            at, steps = start, 0
            while narrow and at + 8 * NARROW <= end:
                _add_rows_of_gradients(g[at:], x[at:], room[mid:], room[factor:], room[slope:])
                at += 8 * NARROW
                steps += 1
                if steps == STEPS:
                    _gathered(room, factor, totals, wide, NARROW)
                    _gathered(room, slope, totals, wide + width, NARROW)
                    steps = 0
            while at + 4 * width <= end:
                _add_four_gradients(g[at:], x[at:], room[mid:], room[factor:], room[slope:], width)
                at += 4 * width
                steps += 1
                if steps == STEPS:
                    _gathered(room, factor, totals, wide, width)
                    _gathered(room, slope, totals, wide + width, width)
                    steps = 0
            while at < end:
                for j in range(min(width, end - at)):
                    room[factor + j] += g[at + j]
                    room[slope + j] += g[at + j] * (x[at + j] - room[mid + j])
                at += width
            _gathered(room, factor, totals, wide, width)
            _gathered(room, slope, totals, wide + width, width)
            _of_channels(totals, 0, wide, width, channels)
            _of_channels(totals, channels, wide + width, width, channels)
        if not parts & OUTPUT:
            continue
        for k in range(groups):
            scale = 1.0 * scales[s * groups + k]
            of_h, of_hz = 0.0, 0.0
            for j in range(k * size, k * size + size):
                of_gz = totals[channels + j] * scale
                totals[2 * channels + j] += of_gz
                totals[3 * channels + j] += totals[j]
                w = 1.0 * weight[j] if parts & WEIGHTED else 1.0
                of_h += w * totals[j]
                of_hz += w * of_gz
                room[factor + j] = w * scale
            for j in range(k * size, k * size + size):
                room[slope + j] = (of_hz / count * (scale * scale))
                room[shift + j] = (of_h / count * scale)
        _repeated(room, factor, width, channels)
        _repeated(room, slope, width, channels)
        _repeated(room, shift, width, channels)
        while end > start:
            at = start + (end - start - 1) // back * back
            rows = (end - at) // NARROW * narrow
            after = at + rows * NARROW
            _rows_of_gradients(g[at:], x[at:], room[mid:], room[factor:], room[slope:], room[shift:], gx[at:], rows)
            _gradients(g[after:], x[after:], room[mid:], room[factor:], room[slope:], room[shift:], gx[after:], end - after,
                       width)
            end = at
    for j in range(channels):
        gw[j], gb[j] = totals[2 * channels + j], totals[3 * channels + j]
