"""Plain NumPy: the meaning of every kernel, always available, the yardstick of the fast ones. Arrays in, arrays out."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

Array = np.ndarray[Any, Any]
Pair = tuple[int, int]


def windows(x: Array, kernel: Pair, stride: Pair, dilation: Pair = (1, 1)) -> Array:
    """Views of x (n, c, h, w) under a sliding kernel: (n, c, out_h, out_w, kernel_h, kernel_w), no copy."""
    n, c, h, w = x.shape
    sn, sc, sh, sw = x.strides
    out_h = (h - dilation[0] * (kernel[0] - 1) - 1) // stride[0] + 1
    out_w = (w - dilation[1] * (kernel[1] - 1) - 1) // stride[1] + 1
    return as_strided(x, (n, c, out_h, out_w, *kernel),
                      (sn, sc, sh * stride[0], sw * stride[1], sh * dilation[0], sw * dilation[1]), writeable=False)


def padded(x: Array, padding: Pair, value: float = 0) -> Array:
    """x (n, c, h, w) with `value` around height and width."""
    if padding == (0, 0):
        return x
    return np.pad(x, ((0, 0), (0, 0), (padding[0],) * 2, (padding[1],) * 2), constant_values=value)


def columns(x: Array, kernel: Pair, stride: Pair, dilation: Pair, groups: int) -> Array:
    """The patches of padded x as matrices: (groups, n * out_h * out_w, c / groups * kernel_h * kernel_w)."""
    n, c = x.shape[:2]
    view = windows(x, kernel, stride, dilation)
    out_h, out_w = view.shape[2:4]
    grouped = view.transpose(1, 0, 2, 3, 4, 5).reshape(groups, c // groups, n * out_h * out_w, *kernel)
    return grouped.transpose(0, 2, 1, 3, 4).reshape(groups, n * out_h * out_w, c // groups * kernel[0] * kernel[1])


def conv2d(x: Array, weight: Array, stride: Pair, padding: Pair, dilation: Pair, groups: int) -> Array:
    """Cross-correlation: x (n, c, h, w), weight (m, c / groups, kh, kw) -> (n, m, out_h, out_w)."""
    n, m = x.shape[0], weight.shape[0]
    x = padded(x, padding)
    kernel = weight.shape[2:]
    out_h = (x.shape[2] - dilation[0] * (kernel[0] - 1) - 1) // stride[0] + 1
    out_w = (x.shape[3] - dilation[1] * (kernel[1] - 1) - 1) // stride[1] + 1
    flat = weight.reshape(groups, m // groups, -1)
    out = np.matmul(columns(x, kernel, stride, dilation, groups), flat.transpose(0, 2, 1))
    return np.ascontiguousarray(
        out.reshape(groups, n, out_h, out_w, m // groups).transpose(1, 0, 4, 2, 3)).reshape(n, m, out_h, out_w)


def conv2d_input(g: Array, weight: Array, shape: tuple[int, ...], stride: Pair, padding: Pair, dilation: Pair,
                 groups: int) -> Array:
    """The adjoint of conv2d in x: g (n, m, out_h, out_w) -> gradient of x, of `shape` (n, c, h, w)."""
    n, c, h, w = shape
    m, _, kh, kw = weight.shape
    out_h, out_w = g.shape[2:]
    rows = g.reshape(n, groups, m // groups, out_h, out_w).transpose(1, 0, 3, 4, 2)
    rows = rows.reshape(groups, n * out_h * out_w, m // groups)
    patches = np.matmul(rows, weight.reshape(groups, m // groups, -1))
    patches = patches.reshape(groups, n, out_h, out_w, c // groups, kh, kw).transpose(1, 0, 4, 5, 6, 2, 3)
    patches = patches.reshape(n, c, kh, kw, out_h, out_w)
    out = np.zeros((n, c, h + 2 * padding[0], w + 2 * padding[1]), g.dtype)
    for i in range(kh):
        for j in range(kw):
            top, left = i * dilation[0], j * dilation[1]
            out[:, :, top:top + stride[0] * out_h:stride[0], left:left + stride[1] * out_w:stride[1]] += \
                patches[:, :, i, j]
    return out[:, :, padding[0]:padding[0] + h, padding[1]:padding[1] + w]


def conv2d_weight(g: Array, x: Array, shape: tuple[int, ...], stride: Pair, padding: Pair, dilation: Pair,
                  groups: int) -> Array:
    """The adjoint of conv2d in weight: g (n, m, out_h, out_w), x (n, c, h, w) -> gradient of weight, of `shape`."""
    m = shape[0]
    n, _, out_h, out_w = g.shape
    x = padded(x, padding)
    rows = g.reshape(n, groups, m // groups, out_h, out_w).transpose(1, 2, 0, 3, 4)
    rows = rows.reshape(groups, m // groups, n * out_h * out_w)
    kernel = (shape[2], shape[3])
    used = x[:, :, :(out_h - 1) * stride[0] + dilation[0] * (kernel[0] - 1) + 1,
             :(out_w - 1) * stride[1] + dilation[1] * (kernel[1] - 1) + 1]
    return np.matmul(rows, columns(used, kernel, stride, dilation, groups)).reshape(shape)


def max_pool2d(x: Array, kernel: Pair, stride: Pair, padding: Pair, dilation: Pair, ceil: bool) -> tuple[Array, Array]:
    """The largest element under each window, and where in its (h, w) plane it stands (the first of equal ones)."""
    n, c, h, w = x.shape
    lowest = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
    outs = [pooled_size(size, k, s, p, d, ceil)
            for size, k, s, p, d in zip((h, w), kernel, stride, padding, dilation, strict=True)]
    need = [(o - 1) * s + d * (k - 1) + 1 for o, k, s, d in zip(outs, kernel, stride, dilation, strict=True)]
    extra = [max(0, a - (size + 2 * p)) for a, size, p in zip(need, (h, w), padding, strict=True)]
    wide = np.pad(x, ((0, 0), (0, 0), (padding[0], padding[0] + extra[0]), (padding[1], padding[1] + extra[1])),
                  constant_values=lowest) if any(padding) or any(extra) else x
    view = windows(wide, kernel, stride, dilation)[:, :, :outs[0], :outs[1]]
    flat = view.reshape(n, c, *outs, kernel[0] * kernel[1])
    best = flat.argmax(axis=-1) if flat.size else np.zeros(flat.shape[:-1], np.int64)
    values = np.take_along_axis(flat, best[..., None], -1)[..., 0]
    row = best // kernel[1] * dilation[0] + (np.arange(outs[0]) * stride[0] - padding[0])[:, None]
    column = best % kernel[1] * dilation[1] + (np.arange(outs[1]) * stride[1] - padding[1])
    return values, row * w + column


def pooled_size(size: int, kernel: int, stride: int, padding: int, dilation: int, ceil: bool) -> int:
    """How many windows fit; with `ceil` a last one may hang over, if it starts inside the input or its left padding."""
    room = size + 2 * padding - dilation * (kernel - 1) - 1
    count = (-(-room // stride) if ceil else room // stride) + 1
    if ceil and (count - 1) * stride >= size + padding:
        count -= 1
    return count


def add_at(g: Array, places: Array, size: int) -> Array:
    """Zeros (n, c, size) with g (n, c, ...) added at places (n, c, ...): the adjoint of picking by place."""
    n, c = g.shape[:2]
    out = np.zeros((n * c, size), g.dtype)
    if g.size:
        np.add.at(out, (np.arange(n * c)[:, None], places.reshape(n * c, -1)), g.reshape(n * c, -1))
    return out.reshape(n, c, size)
