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
from .windows import BLOCK, Array, Slide, blocks, windows


def conv_weight(g: Array, x: Array, slide: Slide) -> Array:
    """See convolution.conv_weight, of one group."""
    g, x = to_channels_last(g), to_channels_last(x)
    m, places, deep = g.shape[1], prod(slide.out), x.shape[1] * prod(slide.kernel)
    patches, rows = _patches(x, slide), g.transpose(last_axes(g.ndim))
    out = np.zeros((m, deep), g.dtype)
    lines = max(1, BLOCK // (places // slide.out[0] * deep))         # of windows that fit a block
    for images in blocks(len(rows), places * deep):
        for line in range(0, slide.out[0], lines):
            block = images, slice(line, line + lines)
            product(rows[block].reshape(-1, m).T, patches[block].reshape(-1, deep), out, add=True)
    return np.ascontiguousarray(np.moveaxis(out.reshape(m, *slide.kernel, x.shape[1]), -1, 1))


def _patches(x: Array, slide: Slide) -> Array:
    """A view of x (n, c, *plane) under each window: (n, *out, *kernel, c)."""
    dims, room = len(slide.kernel), slide.room(x.shape[2:])
    if tuple(room) != x.shape[2:]:
        wide = zeros_like_order((*x.shape[:2], *room), x)
        wide[slide.inside(x.shape[2:])] = x
        x = wide
    return windows(x, slide).transpose(*range(1 + dims, 2 + 2 * dims), *range(1, 1 + dims), 0)
