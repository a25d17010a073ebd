"""Several dimensions as one, and one as several."""

from __future__ import annotations

from typing import Any

from ..module import Module
from .shown import shown


class Flatten(Module):
    """Dimensions start_dim to end_dim as one."""

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, input: Any) -> Any:
        """The reshape."""
        return input.flatten(self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        """The dimensions."""
        return shown(self, "start_dim end_dim")


class Unflatten(Module):
    """Dimension dim as several; one of the sizes may be -1."""

    def __init__(self, dim: int, unflattened_size: Any) -> None:
        if isinstance(dim, str):
            raise NotImplementedError(f"Unflatten(dim={dim!r}): dimensions have no names here; give a number")
        if not isinstance(dim, int):
            raise TypeError(f"invalid argument type for dim parameter: {type(dim).__name__}")
        if not isinstance(unflattened_size, (tuple, list)):
            raise TypeError(f"unflattened_size must be a tuple or list, but found type {type(unflattened_size).__name__}")
        for position, size in enumerate(unflattened_size):
            if not isinstance(size, int):
                raise TypeError(f"unflattened_size must be tuple of ints, but found element of type {type(size).__name__} "
                                f"at pos {position}")
        self.dim, self.unflattened_size = dim, unflattened_size

    def forward(self, input: Any) -> Any:
        """The reshape."""
        return input.unflatten(self.dim, self.unflattened_size)

    def extra_repr(self) -> str:
        """The dimension and its sizes."""
        return shown(self, "dim unflattened_size")


__all__ = ["Flatten", "Unflatten"]
