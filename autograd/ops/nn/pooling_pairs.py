"""Pooling functions that always give the maxima and their places, under the names that PyTorch has for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import max_pooling as pools


def paired(function: Callable[..., Any]) -> Callable[..., Any]:
    """A pooling function with return_indices as if it were always True."""

    def both(*args: Any, return_indices: bool = True, **kwargs: Any) -> Any:
        return function(*args, return_indices=True, **kwargs)

    both.__name__ = both.__qualname__ = f"{function.__name__}_with_indices"
    both.__doc__ = f"{function.__name__} with the places of the maxima: (values, indices)."
    return both


max_pool1d_with_indices = paired(pools.max_pool1d)
max_pool2d_with_indices = paired(pools.max_pool2d)
max_pool3d_with_indices = paired(pools.max_pool3d)
adaptive_max_pool1d_with_indices = paired(pools.adaptive_max_pool1d)
adaptive_max_pool2d_with_indices = paired(pools.adaptive_max_pool2d)
adaptive_max_pool3d_with_indices = paired(pools.adaptive_max_pool3d)
fractional_max_pool2d_with_indices = paired(pools.fractional_max_pool2d)
fractional_max_pool3d_with_indices = paired(pools.fractional_max_pool3d)


def adaptive_max_pool1d(input: Any, output_size: Any) -> Any:
    """(values, indices) of the maxima over output_size windows: torch.adaptive_max_pool1d, unlike nn.functional's."""
    return pools.adaptive_max_pool1d(input, output_size, True)


__all__ = ["adaptive_max_pool1d", "max_pool1d_with_indices"]
