"""The gradient of a convolution's weight as one matrix product, of arrays whose channels lie last.

A row of the matrix of patches is then as many runs of memory as a window has lines: laying it out takes a tenth of the time
of the product. choose.patches() says where it is the quickest way.
"""

from __future__ import annotations

from math import prod

import numpy as np

from .memory_format import last_axes, zeros_like_order
from .onednn.reorder import to_channels_last
from .products import product
from .windows import BLOCK, Array, WindowGeometry, blocks, windows


def conv_weight(g: Array, x: Array, geometry: WindowGeometry) -> Array:
    """See convolution.conv_weight, of one group."""
    g, x = to_channels_last(g), to_channels_last(x)
    m, places, deep = g.shape[1], prod(geometry.out), x.shape[1] * prod(geometry.kernel)
    patches, rows = _patches(x, geometry), g.transpose(last_axes(g.ndim))
    out = np.zeros((m, deep), g.dtype)
    lines = max(1, BLOCK // (places // geometry.out[0] * deep))         # of windows that fit a block
    for images in blocks(len(rows), places * deep):
        for line in range(0, geometry.out[0], lines):
            block = images, slice(line, line + lines)
            product(rows[block].reshape(-1, m).T, patches[block].reshape(-1, deep), out, add=True)
    return np.ascontiguousarray(np.moveaxis(out.reshape(m, *geometry.kernel, x.shape[1]), -1, 1))


def _patches(x: Array, geometry: WindowGeometry) -> Array:
    """A view of x (n, c, *plane) under each window: (n, *out, *kernel, c)."""
    dims, room = len(geometry.kernel), geometry.padded_sizes(x.shape[2:])
    if tuple(room) != x.shape[2:]:
        wide = zeros_like_order((*x.shape[:2], *room), x)
        wide[geometry.plane_index(x.shape[2:])] = x
        x = wide
    return windows(x, geometry).transpose(*range(1 + dims, 2 + 2 * dims), *range(1, 1 + dims), 0)
