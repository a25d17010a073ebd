"""Dropout: elements, or whole channels, set to 0 at random while training, the rest scaled up to keep the mean."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from ...base.types import Array
from ...core.batching import elementwise, maps, whole
from ...core.operation import Operation
from ...core.primitive import primitive
from ...core.tensor import Tensor
from ...core.types import Context, Gradients
from ...kernels.halves import converted, multiply
from ...kernels.onednn.reorder import like_order
from ...modes.random import keep_mask
from .._pointwise import overwrite
from ..shape import clone, reshape
from .activation import SELU_ALPHA, SELU_SCALE

FLOOR = -SELU_ALPHA * SELU_SCALE                     # what selu goes to on the left


class Dropout(Operation, name="NativeDropout"):
    """x * scale where `keep` is true, 0 elsewhere."""

    batched = elementwise

    @staticmethod
    def forward(ctx: Context, x: Array, keep: Array, *, scale: float) -> Array:
        """One product with the mask, which has one byte an element."""
        keep = like_order(keep, x)
        ctx.save(keep)
        ctx.scale = scale
        if x.dtype == np.float16:
            return multiply(converted(converted(x, np.float32) * keep, np.float16), scale)
        out = np.multiply(x, keep, dtype=x.dtype)
        out *= scale
        return out

    @staticmethod
    def backward(ctx: Context, g: Array) -> Gradients:
        """The gradient through the same mask and scale."""
        (keep,) = ctx.values
        return Dropout.apply(g, keep, scale=ctx.scale), None


def _checked(p: float) -> None:
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def _dropped(input: Tensor, p: float, training: bool, inplace: bool, shape: tuple[int, ...]) -> Tensor:
    """The mask has `shape`, which broadcasts to the input's."""
    if not training or p == 0:
        return input
    if input.dtype.kind not in "fcV":
        raise RuntimeError(f"result type float32 can't be cast to {input.dtype}: dropout is for floating point")
    keep = np.zeros(shape, bool) if p == 1 else keep_mask(shape, p)
    scale = 1 / (1 - p) if p < 1 else 0.0
    if inplace:
        return overwrite(input, Dropout.apply(clone(input), keep, scale=scale))
    return Dropout.apply(input, keep, scale=scale)


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Each element is 0 with probability p, else divided by 1 - p; input itself if not training."""
    _checked(p)
    return _dropped(input, p, training, inplace, input.shape)


def _channels(input: Tensor) -> tuple[int, ...]:
    """One mask element for each sample and channel."""
    if input.ndim < 2:
        raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
    return (*input.shape[:2], *[1] * (input.ndim - 2))


def _feature_dropout(input: Tensor, p: float, training: bool, inplace: bool, batched: int) -> Tensor:
    """Whole channels; `batched` is the number of dimensions with a batch, one fewer is one sample."""
    _checked(p)
    if input.ndim == batched - 1:
        out = _dropped(reshape(input, (1, *input.shape)), p, training, False, (1, input.shape[0], *[1] * (batched - 2)))
        return overwrite(input, reshape(out, input.shape)) if inplace and training else reshape(out, input.shape)
    return _dropped(input, p, training, inplace, _channels(input))


def dropout1d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Whole channels of (n, c, length) or (c, length) are 0 with probability p."""
    _checked(p)
    if input.ndim not in (2, 3):
        raise RuntimeError(f"dropout1d: Expected 2D or 3D input, but received a {input.ndim}D input. Note that dropout1d "
                           "exists to provide channel-wise dropout on inputs with 1 spatial dimension, a channel "
                           "dimension, and an optional batch dimension.")
    return _feature_dropout(input, p, training, inplace, 3)


def dropout2d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Whole channels of (n, c, h, w) are 0 with probability p; three dimensions are taken as (n, c, length)."""
    _checked(p)
    if input.ndim not in (3, 4):
        warnings.warn(f"dropout2d: Received a {input.ndim}-D input to dropout2d, which is deprecated and will result in an "
                      "error in a future release. To retain the behavior and silence this warning, please use dropout "
                      "instead.", UserWarning, stacklevel=2)
    elif input.ndim == 3:
        warnings.warn("dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout behavior is "
                      "desired - input is interpreted as shape (N, C, L). Use dropout1d for that.", UserWarning,
                      stacklevel=2)
    return _dropped(input, p, training, inplace, _channels(input))


def dropout3d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Whole channels of (n, c, d, h, w), or (c, d, h, w), are 0 with probability p."""
    _checked(p)
    if input.ndim not in (4, 5):
        warnings.warn(f"dropout3d: Received a {input.ndim}-D input to dropout3d, which is deprecated and will result in an "
                      "error in a future release. To retain the behavior and silence this warning, please use dropout "
                      "instead.", UserWarning, stacklevel=2)
    return _feature_dropout(input, p, training, inplace, 5)


def _alpha(input: Tensor, p: float, training: bool, inplace: bool, shape: tuple[int, ...]) -> Tensor:
    """Dropped ones go to selu's lower limit; scaled and shifted so that mean 0 and variance 1 stay."""
    if not training or p == 0:
        return input
    x = clone(input) if inplace else input
    if p == 1:
        out = x * 0.0
    else:
        keep = keep_mask(shape, p)
        scale = 1 / math.sqrt((1 - p) * (1 + p * FLOOR * FLOOR))
        out = Dropout.apply(x, keep, scale=scale) + _floors(keep, scale, p, input.dtype)
    return overwrite(input, out) if inplace else out


@primitive
@maps(whole)
def _floors(keep: Array, scale: float, p: float, dtype: np.dtype[Any]) -> Array:
    return np.asarray(scale * FLOOR * (~keep - p)).astype(dtype)


def alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """Dropout that keeps mean 0 and variance 1, for networks of selu."""
    _checked(p)
    return _alpha(input, p, training, inplace, input.shape)


def feature_alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """alpha_dropout of whole channels."""
    _checked(p)
    return _alpha(input, p, training, inplace, _channels(input) if training else input.shape)


def feature_dropout(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """dropout of whole channels, dimension 1."""
    _checked(p)
    return _dropped(input, p, training, inplace, _channels(input))


__all__: list[str] = []
METHODS: list[str] = []
