"""Flatten and Unflatten: reshapes between one dimension and several."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...core.tensor import Tensor
from ..module import Module

if TYPE_CHECKING:
    from collections.abc import Sequence


class Flatten(Module):
    """Merge dimensions start_dim to end_dim (inclusive) into one."""

    _shown = "start_dim end_dim"

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim: int = start_dim
        self.end_dim: int = end_dim

    def forward(self, input: Tensor) -> Tensor:
        """input (n, *dims) -> (n, prod(dims)) with the default arguments; a view where memory order allows it."""
        return input.flatten(self.start_dim, self.end_dim)


class Unflatten(Module):
    """Split dimension dim into several of the sizes unflattened_size; one of them may be -1."""

    _shown = "dim unflattened_size"

    def __init__(self, dim: int, unflattened_size: Sequence[int]) -> None:
        super().__init__()
        if isinstance(dim, str):
            raise NotImplementedError(f"Unflatten(dim={dim!r}): dimensions have no names here; give a number")
        if not isinstance(unflattened_size, (tuple, list)):
            raise TypeError(f"unflattened_size must be a tuple or list, but found type {type(unflattened_size).__name__}")
        for position, size in enumerate(unflattened_size):
            if not isinstance(size, int):
                raise TypeError(f"unflattened_size must be tuple of ints, but found element of type {type(size).__name__} "
                                f"at pos {position}")
        self.dim: int = dim
        self.unflattened_size: Sequence[int] = unflattened_size

    def forward(self, input: Tensor) -> Tensor:
        """input (..., prod(sizes), ...) -> (..., *sizes, ...). RuntimeError if the sizes do not multiply to the dimension.
        """
        return input.unflatten(self.dim, self.unflattened_size)


__all__ = ["Flatten", "Unflatten"]
