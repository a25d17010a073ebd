"""Sizes and dimensions as arguments: read, counted from the front, checked."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any


def sizes(args: tuple[Any, ...]) -> tuple[int, ...]:
    """A shape given as one sequence or as several integers."""
    if len(args) == 1 and isinstance(args[0], (tuple, list)):
        args = tuple(args[0])
    for n in args:
        if n.__class__ is not int:
            break
    else:
        return args
    return tuple([operator.index(n) for n in args])


def either(args: tuple[Any, ...], named: Any) -> tuple[Any, ...]:
    """Positional sizes, or those given by name."""
    if named is None:
        return args
    if args:
        raise TypeError(f"sizes given twice: {args} and {named}")
    return (named,)


def wrap_dim(dim: int, ndim: int) -> int:
    """dim counted from the front. IndexError if out of range."""
    if dim.__class__ is int and 0 <= dim < ndim:     # most are
        return dim
    limit = ndim or 1
    if not -limit <= dim < limit:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-limit}, {limit - 1}], but got {dim})")
    return operator.index(dim) % limit


def wrap_dims(dims: int | Iterable[int], ndim: int) -> tuple[int, ...]:
    """Several dims counted from the front. RuntimeError if one is named twice."""
    wrapped = tuple([wrap_dim(d, ndim) for d in (dims if isinstance(dims, (tuple, list)) else (dims,))])
    for d in wrapped:
        if wrapped.count(d) > 1:
            raise RuntimeError(f"dim {d} appears multiple times in the list of dims")
    return wrapped


__all__: list[str] = []
