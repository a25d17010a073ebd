"""What all collective Functions share: Collective, their base, and how tensors of places are handed in and out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autograd import Function, Tensor, as_tensor

from ..comm import Communicator, world


class Collective(Function):
    """A Function that all ranks call together. It is recorded on all ranks or on none: on all if any rank's input
    requires grad; and its backward runs on every rank whose backward pass reaches it, whatever that rank needs."""

    always_runs = True
    asks = True

    @classmethod
    def records(cls, tracked: int, settings: dict[str, Any]) -> int:
        """Ask all ranks: a rank that decided for itself would leave the others waiting in backward."""
        return (settings.get("comm") or world()).any(bool(tracked))

    @classmethod
    def apply(cls, *args: Any, comm: Communicator | None = None, **settings: Any) -> Any:
        """Run on every rank; None as an input stands for having no part."""
        return super().apply(*[as_tensor(np.empty(0, np.float32)) if x is None else x for x in args],
                             comm=comm or world(), **settings)


def one_per_place(arrays: Sequence[Any], dim: int = 0) -> Any:
    """Arrays of the held places as Tensors, rows back along dim; one alone comes bare."""
    tensors = tuple(as_tensor(moved(array, 0, dim)) for array in arrays)
    return tensors[0] if len(tensors) == 1 else tensors


def moved(array: Any, source: int, destination: int) -> Any:
    """The array with one dimension moved, except where it has no part."""
    if source == destination or array.shape == (0,) or array.ndim < 2:
        return array
    return np.moveaxis(array, source, destination)


def rows_first(xs: Sequence[Tensor], dim: int) -> list[Any]:
    """The arrays with dim in front, where communicators cut and join."""
    return [moved(x.array, dim, 0) for x in xs]


def as_tuple(value: Any) -> tuple[Any, ...]:
    """A lone Tensor as a tuple of one."""
    return value if isinstance(value, tuple) else (value,)


def shaped(grads: Any, shapes: Sequence[tuple[int, ...]]) -> tuple[Any, ...]:
    """Gradients in their inputs' shapes: 0-d inputs were rows of one. An input that was not read has none."""
    return tuple(g if g.shape == shape else g.reshape(shape) if g.numel() == np.prod(shape, dtype=int) else None
                 for g, shape in zip(as_tuple(grads), shapes, strict=True))
