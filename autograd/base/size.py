"""Size: the shape of a tensor, a tuple that knows its number of elements."""

from __future__ import annotations

import math
from typing import Any, SupportsIndex, overload


class Size(tuple[int, ...]):
    """A tuple of sizes, as PyTorch's torch.Size; slices and sums of it are Sizes too."""

    __slots__ = ()

    def numel(self) -> int:
        """The number of elements of a tensor of this shape."""
        return math.prod(self)

    @overload
    def __getitem__(self, index: SupportsIndex) -> int: ...
    @overload
    def __getitem__(self, index: slice) -> Size: ...
    def __getitem__(self, index: Any) -> Any:
        part = tuple.__getitem__(self, index)
        return Size(part) if index.__class__ is slice else part

    def __add__(self, other: Any) -> Any:
        total = tuple.__add__(self, other)
        return Size(total) if total is not NotImplemented else total

    def __radd__(self, other: Any) -> Any:
        return Size(other + tuple(self)) if isinstance(other, tuple) else NotImplemented

    def __mul__(self, count: Any) -> Any:
        return Size(tuple(self) * count)

    def __rmul__(self, count: Any) -> Any:
        return self * count

    def __repr__(self) -> str:
        return f"Size({list(self)})"
