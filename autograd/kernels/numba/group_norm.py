"""Loops over samples whose channels lie last: group norm. Compiled by numba; arrays come as pointers to objects.

What belongs to a channel is repeated until loops are `width` numbers long, some 256: vectors pay on long loops only.
"""

from __future__ import annotations

import math
from typing import Any

from .processor import njit
from .scalar_math import F
from .signatures import SHIFTED, WEIGHTED

DATA = 2
ONE = F(1)


@njit(error_model="numpy", forceinline=True)
def cleared(room: Any, start: int, n: int) -> None:
    """Set n numbers of `room` from `start` on to zero."""
    for j in range(n):
        room[start + j] = F(0)


@njit(fastmath={"contract", "reassoc"}, error_model="numpy", forceinline=True)
def over_channels(room: Any, start: int, first: int, size: int, width: int, channels: int) -> Any:
    """The sum of what room holds for channels first to first + size, in all repetitions."""
    total = F(0)
    for k in range(width // channels):               # a step of range() may be 0: an exception, which kernels can't raise
        for j in range(size):
            total += room[start + k * channels + first + j]
    return total


@njit(error_model="numpy", forceinline=True)
def repeated(room: Any, start: int, width: int, channels: int) -> None:
    """The first `channels` numbers, again and again."""
    for j in range(channels, width):
        room[start + j] = room[start + j - channels]


def group_norm(x_: Any, weight_: Any, bias_: Any, out_: Any, means_: Any, vars_: Any, scales_: Any, room_: Any, samples: int,
               total: int, width: int, channels: int, groups: int, parts: int, eps: Any) -> None:
    """(x - mean) / sqrt(variance + eps) * weight + bias of samples of `total` numbers; room: memory for 4 widths."""
    x, weight, bias, out, room = x_[DATA], weight_[DATA], bias_[DATA], out_[DATA], room_[DATA]
    means, variances, scales = means_[DATA], vars_[DATA], scales_[DATA]
    size, count, blocks = channels // groups, F(total // groups), -(-total // width)
    mid, factor, shift = width, 2 * width, 3 * width
    for s in range(samples):
        base = s * total
        cleared(room, 0, width)
        for block in range(blocks):
            at = base + block * width
            for j in range(min(width, base + total - at)):
                room[j] += x[at + j]
        for k in range(groups):
            mean = over_channels(room, 0, k * size, size, width, channels) / count
            means[s * groups + k] = mean
            for j in range(k * size, k * size + size):
                room[mid + j] = mean
        repeated(room, mid, width, channels)
        cleared(room, 0, width)
        for block in range(blocks):
            at = base + block * width
            for j in range(min(width, base + total - at)):
                y = x[at + j] - room[mid + j]
                room[j] += y * y
        for k in range(groups):
            variance = over_channels(room, 0, k * size, size, width, channels) / count
            scale = ONE / math.sqrt(variance + eps)
            variances[s * groups + k] = variance
            scales[s * groups + k] = scale
            for j in range(k * size, k * size + size):
                room[factor + j] = scale * weight[j] if parts & WEIGHTED else scale
                room[shift + j] = bias[j] if parts & SHIFTED else F(0)
        repeated(room, factor, width, channels)
        repeated(room, shift, width, channels)
        for block in range(blocks):
            at = base + block * width
            for j in range(min(width, base + total - at)):
                out[at + j] = (x[at + j] - room[mid + j]) * room[factor + j] + room[shift + j]


def group_norm_backward(g_: Any, x_: Any, weight_: Any, means_: Any, scales_: Any, gx_: Any, gw_: Any, gb_: Any, room_: Any,
                        samples: int, total: int, width: int, channels: int, groups: int, parts: int) -> None:
    """With h = g * weight and z the standardized x: gx = (h - mean(h) - z mean(h z)) * scale; gw and gb add up. room: memory
    for 5 widths."""
    g, x, weight, means, scales = g_[DATA], x_[DATA], weight_[DATA], means_[DATA], scales_[DATA]
    gx, gw, gb, room = gx_[DATA], gw_[DATA], gb_[DATA], room_[DATA]
    size, count, blocks = channels // groups, F(total // groups), -(-total // width)
    mid, along, factor, slope, shift = 0, width, 2 * width, 3 * width, 4 * width
    for s in range(samples):
        base = s * total
        for j in range(channels):
            room[mid + j] = means[s * groups + j // size]
        repeated(room, mid, width, channels)
        cleared(room, along, width)
        cleared(room, factor, width)
        for block in range(blocks):
            at = base + block * width
            for j in range(min(width, base + total - at)):
                room[factor + j] += g[at + j]
                room[along + j] += g[at + j] * (x[at + j] - room[mid + j])
        for k in range(groups):
            scale = scales[s * groups + k]
            of_h, of_hz = F(0), F(0)
            for j in range(k * size, k * size + size):
                of_g = over_channels(room, factor, j, 1, width, channels)
                of_gz = over_channels(room, along, j, 1, width, channels) * scale
                gb[j] += of_g
                gw[j] += of_gz
                w = weight[j] if parts & WEIGHTED else ONE
                of_h += w * of_g
                of_hz += w * of_gz
                room[factor + j] = w * scale
            for j in range(k * size, k * size + size):
                room[slope + j] = of_hz / count * (scale * scale)
                room[shift + j] = of_h / count * scale
        repeated(room, factor, width, channels)
        repeated(room, slope, width, channels)
        repeated(room, shift, width, channels)
        for block in range(blocks):
            at = base + block * width
            for j in range(min(width, base + total - at)):
                gx[at + j] = (g[at + j] * room[factor + j] - room[shift + j]
                                     - (x[at + j] - room[mid + j]) * room[slope + j])
