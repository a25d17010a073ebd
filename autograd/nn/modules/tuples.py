"""Kernel sizes, strides and paddings as tuples: one number is repeated for every dimension."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any


def ntuple(n: int, name: str = "parse") -> Callable[[Any], tuple[Any, ...]]:
    """A function that makes an n-tuple of one number, and a tuple of any iterable."""
    def parse(x: Any) -> tuple[Any, ...]:
        """The number n times, or the sequence as a tuple."""
        return tuple(x) if isinstance(x, Iterable) else (x,) * n

    parse.__name__ = name
    return parse


quadruple: Callable[[Any], tuple[Any, ...]]
triple: Callable[[Any], tuple[Any, ...]]
pair: Callable[[Any], tuple[Any, ...]]
single: Callable[[Any], tuple[Any, ...]]
single, pair, triple, quadruple = (ntuple(n) for n in (1, 2, 3, 4))


def reversed_repeated(sizes: Iterable[Any], n: int) -> tuple[Any, ...]:
    """The sizes in reverse order, each n times: (a, b), 2 -> (b, b, a, a), the order that pad() takes."""
    return tuple(size for size in reversed(tuple(sizes)) for _ in range(n))
