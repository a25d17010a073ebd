"""Loops over samples whose channels lie last: batch, group and instance norm.

What belongs to a channel is repeated until loops are `width` numbers long, some 256: vectors pay on long loops only. Sums of
32 numbers in float32 are added up in float64: float32 alone loses 4 bits over 10,000 numbers. Variances are sums about the
mean of some rows, which takes one pass, and nothing cancels where the mean is far from 0.
"""

from .functions import add
from .scalars import doubles, floats, sqrt

WEIGHTED, SHIFTED = 2, 4                             # parts: there is a weight, a bias,
SUMS, OUTPUT = 8, 16                                 # and what is done
STEPS = 8                                            # of 4 widths, that are added up in float32
SOME = 32                                            # rows whose mean variances are taken about


def _repeated(room: floats, start: int, width: int, channels: int) -> None:
    """The first `channels` numbers, again and again."""
    for j in range(channels, width):
        room[start + j] = room[start + j - channels]


def _gathered(room: floats, start: int, totals: doubles, to: int, width: int, channels: int) -> None:
    """Add `width` numbers of room to the channels' totals, and clear them."""
    for k in range(width // channels):               # a step of range() may be 0: an exception, which kernels can't raise
        for j in range(channels):
            totals[to + j] += room[start + k * channels + j]
    for j in range(width):
        room[start + j] = 0


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


def _normalize(x: floats, mean: floats, factor: floats, shift: floats, out: floats, n: int) -> None:
    """Numbers of the output, one width at most."""
    for j in range(n):
        out[j] = (x[j] - mean[j]) * factor[j] + shift[j]


def _add_four_gradients(g: floats, x: floats, mean: floats, sums: floats, products: floats, width: int) -> None:
    """Add four widths of g, and of g (x - mean)."""
    for j in range(width):
        m = mean[j]
        a, b, c, d = g[j], g[width + j], g[2 * width + j], g[3 * width + j]
        sums[j] += (a + b) + (c + d)
        products[j] += ((a * (x[j] - m) + b * (x[width + j] - m))
                        + (c * (x[2 * width + j] - m) + d * (x[3 * width + j] - m)))


def _gradients(g: floats, x: floats, mean: floats, factor: floats, slope: floats, shift: floats, gx: floats,
               n: int) -> None:
    """Numbers of x's gradient, one width at most."""
    for j in range(n):
        gx[j] = g[j] * factor[j] - shift[j] - (x[j] - mean[j]) * slope[j]


def group_norm(x: floats, weight: floats, bias: floats, out: floats, means: floats, variances: floats, scales: floats,
               totals: doubles, room: floats, samples: int, total: int, first: int, last: int, width: int, channels: int,
               groups: int, parts: int, eps: float) -> None:
    """(x - mean) / sqrt(variance + eps) * weight + bias of samples of `total` numbers, of which first to last are read
    and written. Without OUTPUT only `totals` are made, without SUMS they are given: 2 for each channel. room: memory for 4
    widths."""
    size, count = channels // groups, total // channels
    mid, factor, shift, about = 0, width, 2 * width, 3 * width
    for s in range(samples):
        base = s * total
        start, end = base + first, base + last
        _some_means(x, base, total, room, about, width, channels)
        if parts & SUMS:
            for j in range(2 * channels):
                totals[j] = 0.0
            for j in range(2 * width):
                room[mid + j] = 0
            at, steps = start, 0
            while at + 4 * width <= end:
                _add_four(x[at:], room[about:], room[mid:], room[factor:], width)
                at += 4 * width
                steps += 1
                if steps == STEPS:
                    _gathered(room, mid, totals, 0, width, channels)
                    _gathered(room, factor, totals, channels, width, channels)
                    steps = 0
            while at < end:
                for j in range(min(width, end - at)):
                    a = x[at + j] - room[about + j]
                    room[mid + j] += a
                    room[factor + j] += a * a
                at += width
            _gathered(room, mid, totals, 0, width, channels)
            _gathered(room, factor, totals, channels, width, channels)
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
        at = start
        while at < end:
            _normalize(x[at:], room[mid:], room[factor:], room[shift:], out[at:], min(width, end - at))
            at += width


def group_norm_backward(g: floats, x: floats, weight: floats, means: floats, scales: floats, gx: floats, gw: floats,
                        gb: floats, totals: doubles, room: floats, samples: int, total: int, first: int, last: int,
                        width: int, channels: int, groups: int, parts: int) -> None:
    """With h = g * weight and z the standardized x: gx = (h - mean(h) - z mean(h z)) * scale; gw and gb are sums over all
    samples. `totals` has 4 for each channel: two as in group_norm, and those two sums. room: memory for 4 widths."""
    size, count = channels // groups, 1.0 * (total // groups)
    mid, factor, slope, shift = 0, width, 2 * width, 3 * width
    for j in range(2 * channels, 4 * channels):
        totals[j] = 0.0
    for s in range(samples):
        base = s * total
        start, end = base + first, base + last
        for j in range(channels):
            room[mid + j] = means[s * groups + j // size]
        _repeated(room, mid, width, channels)
        if parts & SUMS:
            for j in range(2 * channels):
                totals[j] = 0.0
            for j in range(2 * width):
                room[factor + j] = 0
            at, steps = start, 0
            while at + 4 * width <= end:
                _add_four_gradients(g[at:], x[at:], room[mid:], room[factor:], room[slope:], width)
                at += 4 * width
                steps += 1
                if steps == STEPS:
                    _gathered(room, factor, totals, 0, width, channels)
                    _gathered(room, slope, totals, channels, width, channels)
                    steps = 0
            while at < end:
                for j in range(min(width, end - at)):
                    room[factor + j] += g[at + j]
                    room[slope + j] += g[at + j] * (x[at + j] - room[mid + j])
                at += width
            _gathered(room, factor, totals, 0, width, channels)
            _gathered(room, slope, totals, channels, width, channels)
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
        at = start
        while at < end:
            _gradients(g[at:], x[at:], room[mid:], room[factor:], room[slope:], room[shift:], gx[at:], min(width, end - at))
            at += width
    for j in range(channels):
        gw[j], gb[j] = totals[2 * channels + j], totals[3 * channels + j]
