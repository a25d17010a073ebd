"""Normalization of groups of channels, sample by sample, compiled: the channels last in memory. None without numba.

16 samples of 32 x 32 x 32 numbers, 4 groups: 0.16 ms forward and 0.15 back, where NumPy takes 2.7 and 5.2.
"""

from __future__ import annotations

import numpy as np

from ..base.types import Array
from .memory_format import empty_last, last_axes
from .numba import FLOAT32, WORTH, kernels_for, numba
from .numba.signatures import SHIFTED, WEIGHTED
from .onednn.reorder import to_channels_last

LOOP = 256                                           # numbers that a loop should have


def _flat(x: Array) -> Array:
    """The memory of x (n, c, *plane), whose channels lie last."""
    return x.transpose(last_axes(x.ndim))


def _sizes(x: Array, groups: int) -> tuple[int, int, int, int, int]:
    """Samples, numbers in one, the length of loops, channels, groups."""
    samples, channels = x.shape[:2]
    total = x.size // samples
    return samples, total, channels * max(1, min(LOOP, total) // channels), channels, groups


def _takes(x: Array) -> bool:
    """Whether x is for the kernels, once its channels lie last."""
    return (x.dtype is FLOAT32 and x.ndim > 1 and x.size >= WORTH and bool(x.flags.aligned)
            and numba.library() is not None)


def forward(x: Array, weight: Array | None, bias: Array | None, groups: int,
            eps: float) -> tuple[Array, Array, Array, Array] | None:
    """The output, and the means, variances and 1 / sqrt(variance + eps) of all groups, (n, groups)."""
    if not _takes(x):
        return None
    x = to_channels_last(x)
    flat = _flat(x)
    kernels = kernels_for(flat, weight, bias)
    if kernels is None:
        return None
    sizes, out = _sizes(x, groups), empty_last(x.shape, FLOAT32)
    means, variances, scales = np.empty((3, x.shape[0], groups), FLOAT32)
    parts = WEIGHTED * (weight is not None) | SHIFTED * (bias is not None)
    filled = [flat if v is None else v for v in (weight, bias)]
    room = np.empty(4 * sizes[2], FLOAT32)
    kernels.group_norm(flat, *filled, _flat(out), means, variances, scales, room, *sizes, parts, eps)
    return out, means, variances, scales


def backward(g: Array, x: Array, weight: Array | None, means: Array, scales: Array) -> tuple[Array, Array, Array] | None:
    """The gradients of x, weight and bias."""
    if not (_takes(x) and _takes(g)):
        return None
    g, x = to_channels_last(g), to_channels_last(x)
    flat = _flat(x)
    kernels = kernels_for(flat, _flat(g), weight)
    if kernels is None:
        return None
    sizes, gx = _sizes(x, means.shape[1]), empty_last(x.shape, FLOAT32)
    gw, gb = np.zeros((2, x.shape[1]), FLOAT32)
    kernels.group_norm_backward(_flat(g), flat, flat if weight is None else weight, means, scales, _flat(gx), gw, gb,
                                np.empty(5 * sizes[2], FLOAT32), *sizes, WEIGHTED * (weight is not None))
    return gx, gw, gb
