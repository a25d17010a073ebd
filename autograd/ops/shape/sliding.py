"""Windows that slide along a dimension."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.types import Array
from ...core.batching import placed
from ...core.declare import linear
from ...core.tensor import Tensor
from .dims import wrap_dim
from .views import unsqueeze


def _windows(x: Array, dim: int, size: int, step: int) -> Array:
    strides = list(x.strides)
    shape = list(x.shape)
    shape[dim] = (shape[dim] - size) // step + 1
    strides[dim] *= step
    return np.lib.stride_tricks.as_strided(x, (*shape, size), (*strides, x.strides[dim]), writeable=x.flags.writeable)


def _overlap_add(g: Array, shape: tuple[int, ...], dim: int, size: int, step: int) -> Array:
    out = np.zeros(shape, g.dtype)
    before, count = (slice(None),) * dim, g.shape[dim]
    for k in range(size):
        out[before + (slice(k, k + step * (count - 1) + 1, step),)] += g[..., k]
    return out


_unfold: Any = linear("Unfold", _windows, lambda g, was, dim, size, step: overlapped(g, was, dim, size, step), view=True,
                      batched=placed(1))
overlapped: Any = linear("UnfoldBackward", _overlap_add, lambda g, was, shape, dim, size, step: _unfold(g, dim, size, step),
                         batched=placed(2, shape=1))


def unfold(input: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """The windows of `size` elements, one each `step`, along a dimension: they come as the last dimension. A view."""
    dim = wrap_dim(dimension, input.ndim)
    length = input.shape[dim] if input.ndim else 1
    if size < 0:
        raise RuntimeError(f"size is {size} but must be >= 0")
    if size > length:
        raise RuntimeError(f"maximum size for tensor at dimension {dim} is {length} but size is {size}")
    if step <= 0:
        raise RuntimeError(f"step is {step} but must be > 0")
    if not input.ndim:
        return _unfold(unsqueeze(input, 0), 0, size, step)[0]
    return _unfold(input, dim, size, step)


METHODS = ["unfold"]
__all__: list[str] = []                              # nn.functional.unfold is another operation
