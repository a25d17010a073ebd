"""What losses share: the argument reduction, broadcasting of input and target."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ...base.dtypes import promote
from ...base.types import Array
from ...core.primitive import shortcut
from ...core.tensor import Tensor
from ..pointwise.cast import cast
from ..reductions.reduce import mean, sum
from ..shape import expand

REDUCTIONS = ("none", "mean", "sum")


def chosen(reduction: str, size_average: bool | None = None, reduce: bool | None = None) -> str:
    """The reduction to use: the deprecated size_average and reduce override the argument."""
    if size_average is not None or reduce is not None:
        average = size_average is None or size_average
        reduction = "none" if not (reduce is None or reduce) else "mean" if average else "sum"
        warnings.warn(f"size_average and reduce args will be deprecated, please use reduction='{reduction}' instead.",
                      UserWarning, stacklevel=3)
    if reduction not in REDUCTIONS:
        raise ValueError(f"{reduction} is not a valid value for reduction; it is one of {', '.join(REDUCTIONS)}")
    return reduction


def reduced(losses: Tensor, reduction: str) -> Tensor:
    """Losses as they are, their mean or their sum."""
    return losses if reduction == "none" else mean(losses) if reduction == "mean" else sum(losses)


def broadcast_pair(input: Tensor, target: Tensor) -> tuple[Any, Any]:
    """Both broadcast to one shape and cast to one dtype, with a warning if the shapes differ."""
    if input.shape != target.shape:
        warnings.warn(f"Using a target size ({list(target.shape)}) that is different to the input size "
                      f"({list(input.shape)}). This will likely lead to incorrect results due to broadcasting. Please "
                      "ensure they have the same size.", UserWarning, stacklevel=3)
        try:
            shape = np.broadcast_shapes(input.shape, target.shape)
        except ValueError:
            raise RuntimeError(f"The size of input {list(input.shape)} must match the size of target {list(target.shape)}, "
                               "or one must broadcast to the other") from None
        input, target = expand(input, shape), expand(target, shape)
    if input.dtype != target.dtype:
        dtype = promote(input.dtype, target.dtype)
        input, target = cast(input, dtype), cast(target, dtype)
    return input, target


@shortcut
def all_finite(x: Array) -> bool:
    """Whether x has neither nan nor infinity."""
    return bool(np.isfinite(x).all())


__all__: list[str] = []
