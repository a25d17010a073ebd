"""One number, or one for each dimension: as tuples."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any


def ntuple(n: int, name: str = "parse") -> Callable[[Any], tuple[Any, ...]]:
    """A function that repeats a number n times, and makes a tuple of anything iterable."""
    def parse(x: Any) -> tuple[Any, ...]:
        return tuple(x) if isinstance(x, Iterable) else (x,) * n

    parse.__name__ = name
    return parse


single, pair, triple, quadruple = (ntuple(n) for n in (1, 2, 3, 4))


def reversed_twice(sizes: Iterable[Any]) -> tuple[Any, ...]:
    """(a, b) as (b, b, a, a): what pad() takes for borders of sizes a and b."""
    return tuple(size for size in reversed(tuple(sizes)) for _ in range(2))
