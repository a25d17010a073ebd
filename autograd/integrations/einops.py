"""The backend by which einops works on Tensors: rearrange, reduce, repeat, einsum, pack and unpack, recorded.

einops looks for a subclass of its AbstractBackend whose framework is imported; that there is one is all it needs."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base.third_party import TOP
from ..core.tensor import Tensor, result
from ..ops.creation.create import from_numpy
from ..ops.linalg.einsum import einsum
from ..ops.reductions.extremes import amax, amin
from ..ops.reductions.products import prod
from ..ops.reductions.reduce import all as all_of
from ..ops.reductions.reduce import any as any_of
from ..ops.reductions.reduce import mean
from ..ops.reductions.reduce import sum as sum_of
from ..ops.shape import cat, permute, stack, tile, unsqueeze

if TYPE_CHECKING:
    AbstractBackend: Any = object
else:
    AbstractBackend = sys.modules["einops._backends"].AbstractBackend       # whose import has called this module
REDUCTIONS = {"sum": sum_of, "mean": mean, "min": amin, "max": amax, "all": all_of, "any": any_of}


class Backend(AbstractBackend):
    """einops' interface implemented by our operations. The base class provides its other methods."""

    framework_name = TOP

    def is_appropriate_type(self, tensor: object) -> bool:
        """Whether it is a Tensor."""
        return isinstance(tensor, Tensor)

    def from_numpy(self, x: Any) -> Tensor:
        """A Tensor on the array's memory; of floats one that requires a gradient, as einops' tests of frameworks ask."""
        tensor = from_numpy(x)
        return tensor.requires_grad_() if self.is_float_type(tensor) else tensor

    def to_numpy(self, x: Tensor) -> Any:
        """The values, without the graph."""
        return x.detach().numpy()

    def arange(self, start: int, stop: int) -> Tensor:
        """The integers from start to stop - 1."""
        return result(np.arange(start, stop, dtype=np.int64))

    def shape(self, x: Tensor) -> tuple[int, ...]:
        """The sizes of the dimensions."""
        return tuple(x.shape)

    def transpose(self, x: Tensor, axes: Sequence[int]) -> Tensor:
        """The dimensions in another order, a view."""
        return permute(x, tuple(axes))

    def reduce(self, x: Tensor, operation: str, axes: Sequence[int]) -> Tensor:
        """sum, mean, min, max, prod, any or all over some dimensions. Gradients of min and max are shared by equal
        elements, as amin's and amax's are."""
        if operation == "prod":                      # one dimension at a time
            for axis in sorted(axes, reverse=True):
                x = prod(x, axis)
            return x
        return REDUCTIONS[operation](x, tuple(sorted(axes)))

    def stack_on_zeroth_dimension(self, tensors: list[Tensor]) -> Tensor:
        """A list as one tensor."""
        return stack(tensors)

    def add_axis(self, x: Tensor, new_position: int) -> Tensor:
        """A new dimension of size 1."""
        return unsqueeze(x, new_position)

    def add_axes(self, x: Tensor, n_axes: int, pos2len: dict[int, int]) -> Tensor:
        """New dimensions with repeated values: a view, with strides of 0."""
        sizes = [-1] * n_axes
        for position, length in pos2len.items():
            x = unsqueeze(x, position)
            sizes[position] = length
        return x.expand(tuple(sizes))

    def tile(self, x: Tensor, repeats: Sequence[int]) -> Tensor:
        """Copies of x along each dimension."""
        return tile(x, tuple(repeats))

    def concat(self, tensors: Sequence[Tensor], axis: int) -> Tensor:
        """Tensors joined along one dimension."""
        return cat(tuple(tensors), axis)

    def is_float_type(self, x: Tensor) -> bool:
        """Whether x has a mean in its own dtype."""
        return x.dtype.kind == "f" or x.dtype.name == "bfloat16"

    def einsum(self, pattern: str, *x: Tensor) -> Tensor:
        """A sum of products."""
        return einsum(pattern, *x)

    def layers(self) -> Any:
        """einops.layers of this framework."""
        return import_module(f"{TOP}.beside.einops_layers")
