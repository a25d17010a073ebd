"""Tensors repeated, without a copy, to the shape that others have: expand and broadcasting."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy import ndarray

from ...core.operation import Expand
from ...core.tensor import Tensor
from .dims import either, sizes


def expand(input: Any, *args: Any, size: Any = None, implicit: bool = False) -> Tensor:
    """input repeated along dimensions of size 1 to `size` (-1: as it is), a view."""
    if input.__class__ is ndarray and len(args) == 1:            # of a rule, which knows what it does
        return Expand.apply(input, shape=args[0])
    return Expand.apply(input, shape=expanded(input.shape, sizes(either(args, size))))


def expanded(shape: tuple[int, ...], target: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that expanding `shape` to `target` gives, where -1 means: as it is. RuntimeError if it can't be."""
    added = len(target) - len(shape)
    if added < 0:
        raise RuntimeError(f"expand: the number of sizes provided ({len(target)}) must be greater or equal to the "
                           f"number of dimensions in the tensor ({len(shape)})")
    if added and min(target[:added]) < 0:
        i, n = next((i, n) for i, n in enumerate(target) if n < 0)
        raise RuntimeError(f"The expanded size of the tensor ({n}) isn't allowed in a leading, non-existing dimension {i}")
    full = target
    if -1 in target:
        full = (*target[:added], *[have if n == -1 else n for have, n in zip(shape, target[added:], strict=True)])
    for i, (have, want) in enumerate(zip(shape, full[added:], strict=True)):
        if have != want and (have != 1 or want < 0):
            raise RuntimeError(f"The expanded size of the tensor ({want}) must match the existing size ({have}) at "
                               f"non-singleton dimension {i + added}.  Target sizes: {list(target)}.  "
                               f"Tensor sizes: {list(shape)}")
    return full


def expand_as(input: Tensor, other: Tensor) -> Tensor:
    """input repeated to the shape of `other`."""
    return expand(input, other.shape)


def broadcast_to(input: Tensor, size: Sequence[int]) -> Tensor:
    """input repeated to `size`, a view."""
    return expand(input, size)


def broadcast_shapes(*shapes: Any) -> tuple[int, ...]:
    """The shape that tensors of these shapes broadcast to. RuntimeError if there is none."""
    for shape in shapes:
        if not isinstance(shape, (int, tuple, list)):
            raise RuntimeError(f"Input shapes should be of type ints, a tuple of ints, or a list of ints, got {shape}")
    full = [(s,) if isinstance(s, int) else tuple(s) for s in shapes]
    out = [1] * max([len(s) for s in full], default=0)
    for shape in full:
        for place, n in enumerate(shape, len(out) - len(shape)):
            if n < 0:
                raise RuntimeError(f"Trying to create tensor with negative dimension ({n}): {list(shape)}")
            if n != 1 and out[place] not in (1, n):
                raise RuntimeError(f"Shape mismatch: objects cannot be broadcast to a single shape: "
                                   f"{[list(s) for s in full]}")
            out[place] = n if n != 1 else out[place]
    return tuple(out)


def broadcast_tensors(*tensors: Any) -> tuple[Any, ...]:
    """The tensors, each expanded to the shape that all broadcast to."""
    given = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else tensors
    shape = broadcast_shapes(*[x.shape for x in given])
    return tuple([expand(x, shape) for x in given])


__all__ = ["broadcast_shapes", "broadcast_tensors", "broadcast_to"]
METHODS = ["broadcast_to", "expand", "expand_as"]
