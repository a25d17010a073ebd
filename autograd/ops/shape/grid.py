"""All pairs and tuples: meshgrid, cartesian_prod, combinations."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from ...core.operation import Cast
from ...core.tensor import Tensor, result
from .broadcast import expand
from .join import common, stack
from .transposes import transpose
from .views import reshape


def meshgrid(*tensors: Any, indexing: str | None = None) -> tuple[Any, ...]:
    """Vectors as grids: the i-th result holds the i-th vector along dimension i; "xy" exchanges the first two. Views."""
    given = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else tensors
    xs = list(given)
    if not xs:
        raise RuntimeError("meshgrid expects a non-empty TensorList")
    if indexing not in (None, "ij", "xy"):
        raise RuntimeError(f"torch.meshgrid: indexing must be one of \"xy\" or \"ij\", but received: {indexing}")
    for x in xs:
        if x.ndim > 1:
            raise RuntimeError(f"torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got shape {list(x.shape)}")
        if x.dtype != xs[0].dtype:
            raise RuntimeError(f"torch.meshgrid expects all tensors to have the same dtype, not {x.dtype} and {xs[0].dtype}")
    shape = tuple([x.shape[0] if x.ndim else 1 for x in xs])
    grids = [expand(reshape(x, (*(1,) * i, -1, *(1,) * (len(xs) - 1 - i))) if x.array.size else
                    reshape(x, (*(1,) * i, 0, *(1,) * (len(xs) - 1 - i))), shape) for i, x in enumerate(xs)]
    return tuple([transpose(x, 0, 1) for x in grids] if indexing == "xy" and len(xs) > 1 else grids)


def cartesian_prod(*tensors: Any) -> Tensor:
    """All tuples with one element of each vector, as rows."""
    for x in tensors:
        if x.ndim != 1:
            raise RuntimeError(f"Expect a 1D vector, but got shape {list(x.shape)}")
    if len(tensors) == 1:
        return tensors[0]
    dtype = common(tensors)
    xs = [x if x.dtype == dtype else Cast.apply(x, dtype=dtype) for x in tensors]
    return stack([reshape(x, -1) for x in meshgrid(*xs, indexing="ij")], 1)


def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """All choices of r elements of a vector, in order, as rows."""
    if input.ndim != 1:
        raise RuntimeError(f"Expect a 1D vector, but got shape {list(input.shape)}")
    if r < 0:
        raise RuntimeError(f"Expect a non-negative number, but got {r}")
    if r == 0:
        return result(np.zeros(0, input.dtype))
    choose: Any = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    rows = np.array(list(choose(range(input.shape[0]), r)), np.int64).reshape(-1, r)
    return input[result(rows)]


__all__ = ["cartesian_prod", "combinations", "meshgrid"]
METHODS: list[str] = []
