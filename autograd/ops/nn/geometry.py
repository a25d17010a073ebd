"""Sizes as users write them: one number for all dimensions of a plane, or one for each."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from ...base.types import SizeLike
from ...core.tensor import Tensor

Sizes = tuple[int, ...]
INTEGER = {int}


def ints(value: Any, count: int, name: str) -> Sizes:
    """`count` integers from one, or from a sequence of one or of `count`."""
    if value.__class__ is tuple and len(value) == count and set(map(type, value)) == INTEGER:        # as modules have it
        return value  # type: ignore[no-any-return]
    if isinstance(value, Sequence) and not isinstance(value, str):
        values = tuple([operator.index(v) for v in value])
        if len(values) == 1:
            values *= count
    else:
        values = (operator.index(value),) * count
    if len(values) != count:
        raise RuntimeError(f"expected {name} to be a single integer value or a list of {count} values to match the "
                           f"dimensions of the plane, but got {name}={list(values)}")
    return values


def by(sizes: Sequence[int]) -> str:
    """Sizes as they are spoken: 3x4x5."""
    return "x".join(map(str, sizes))


def pool_ints(name: str, what: str, value: SizeLike, count: int) -> Sizes:
    """ints(), with the error texts of pooling."""
    try:
        return ints(value, count, what)
    except RuntimeError:
        raise RuntimeError(f"{name}: {what} must either be a single int, or a tuple of {count} ints, but got "
                           f"{value}") from None


def check_pool_input(name: str, input: Tensor, dims: int) -> None:
    """RuntimeError unless input is (n, c, *plane) or (c, *plane), with nothing empty but the batch."""
    if input.ndim not in (dims + 1, dims + 2) or 0 in input.shape[input.ndim - dims - 1:]:
        raise RuntimeError(f"{name}: Expected {dims + 1}D or {dims + 2}D (batch mode) tensor with optional 0 dim batch size "
                           f"for input, but got: {list(input.shape)}")


def full_sizes(name: str, input: Tensor, output_size: Any, dims: int) -> Sizes:
    """The output sizes of adaptive pooling: None stands for the input's."""
    if input.ndim not in (dims + 1, dims + 2):
        raise RuntimeError(f"{name}: Expected {dims + 1}D or {dims + 2}D tensor, but got {list(input.shape)}")
    if 0 in input.shape[-dims:]:
        raise RuntimeError(f"{name}: Expected input to have non-zero size for non-batch dimensions, but input has sizes "
                           f"{list(input.shape)}")
    if output_size is None:
        raise TypeError(f"{name}: output_size must be an int or {dims} of them, of which some may be None, not None")
    given = list(output_size) if isinstance(output_size, Sequence) else [output_size] * dims
    if len(given) != dims:
        raise RuntimeError(f"{name}: output_size must be a single int or {dims} of them, but got {output_size}")
    sizes = tuple([n if g is None else operator.index(g) for g, n in zip(given, input.shape[-dims:], strict=True)])
    if min(sizes) < 0:
        raise RuntimeError(f"{name}: elements of output_size must be greater than or equal to 0 but received "
                           f"{list(sizes)}")
    return sizes
