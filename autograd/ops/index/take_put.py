"""Reading and writing by the number of an element in the flattened tensor: take, put."""

from __future__ import annotations

import numpy as np

from ...core.out import takes_out, takes_out_apart
from ...core.tensor import Tensor
from ...core.types import TensorOrArray
from ..shape import reshape
from .assignment import IndexPut
from .indexing import Index


def _checked(name: str, index: TensorOrArray, size: int) -> None:
    if not isinstance(index, (Tensor, np.ndarray)) or index.dtype != np.int64:
        raise RuntimeError(f"{name}(): Expected a long tensor for index, but got "
                           f"{getattr(index, 'dtype', type(index).__name__)}")
    array = index.array if isinstance(index, Tensor) else index
    if array.size and not size:
        raise IndexError(f"{name}(): tried to take from an empty tensor")
    if array.size and (array.min() < -size or array.max() >= size):
        bad = array.min() if array.min() < -size else array.max()
        raise IndexError(f"out of range: tried to access index {bad} on a tensor of {size} elements.")


@takes_out_apart
def take(input: Tensor, index: Tensor) -> Tensor:
    """The elements of input that index numbers, as if it were one row; the result has index's shape."""
    row = reshape(input, -1)
    _checked("take", index, row.shape[0])
    return reshape(Index.apply(row, reshape(index, -1), dims=(0,)), index.shape)


@takes_out
def put(input: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """input with the elements that index numbers, as if it were one row, replaced by source; or added to."""
    if source.dtype != input.dtype:
        raise RuntimeError(f"put(): self and source expected to have the same dtype, but got self.dtype = {input.dtype} and "
                           f"source.dtype = {source.dtype}")
    row = reshape(input, -1)
    _checked("put", index, row.shape[0])
    counts = [int(np.prod(v.shape)) for v in (source, index)]
    if counts[0] != counts[1]:
        raise IndexError(f"put(): Expected source and index to have the same number of elements, but got source.numel() = "
                         f"{counts[0]}, index.numel() = {counts[1]}")
    put_in = IndexPut.apply(row, reshape(source, -1), index=reshape(index, -1), accumulate=accumulate)
    return reshape(put_in, input.shape)


__all__ = ["put", "take"]
METHODS = __all__
IN_PLACE = ["put"]
