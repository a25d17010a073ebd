"""softmax and its variants as torch.nn.functional has them, where `dim` may be left out (deprecated)."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ...base.types import Array, DTypeLike
from ...core.batching import maps, placed
from ...core.primitive import primitive
from ...core.tensor import Tensor
from ...modes.random import drawing
from ..shape import wrap_dim
from .softmax import log_softmax as log_softmax_of
from .softmax import softmax as softmax_of


def _chosen(name: str, dim: int | None, ndim: int, _stacklevel: int) -> int:
    if dim is not None:
        return dim
    warnings.warn(f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an "
                  "argument.", UserWarning, stacklevel=_stacklevel + 1)
    return 0 if ndim in (0, 1, 3) else 1


def softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: DTypeLike = None) -> Tensor:
    """exp(input) over its sum along `dim`."""
    return softmax_of(input, dim if dim is not None else _chosen("softmax", dim, input.ndim, _stacklevel), dtype=dtype)


def softmin(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: DTypeLike = None) -> Tensor:
    """softmax() of the negated input along `dim`."""
    return softmax_of(-input, dim if dim is not None else _chosen("softmin", dim, input.ndim, _stacklevel), dtype=dtype)


def log_softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: DTypeLike = None) -> Tensor:
    """log(softmax(input)), computed without losing small ones."""
    dim = dim if dim is not None else _chosen("log_softmax", dim, input.ndim, _stacklevel)
    return log_softmax_of(input, dim, dtype=dtype)


def gumbel_softmax(logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1) -> Any:
    """A soft sample of a category: softmax((logits + Gumbel noise) / tau)."""
    if eps != 1e-10:
        warnings.warn("`eps` parameter is deprecated and has no effect.", UserWarning, stacklevel=2)
    soft = softmax_of((logits + _noise(logits.shape, logits.dtype)) / tau, dim)
    return (_picked(soft.array, wrap_dim(dim, soft.ndim)) - soft.detach()) + soft if hard else soft


@primitive
def _noise(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    return np.asarray(-np.log(drawing(None).standard_exponential(shape))).astype(dtype)


@primitive
@maps(placed(1))
def _picked(soft: Array, dim: int) -> Array:
    """1 at the largest, else 0."""
    picked = np.zeros_like(soft)
    np.put_along_axis(picked, np.expand_dims(np.argmax(soft, axis=dim), dim), 1, axis=dim)
    return picked


__all__: list[str] = []
