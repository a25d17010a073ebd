"""Whether anybody else holds an array: the one place that asks CPython for reference counts.

It serves two reuses of memory, and nothing that a user can see hangs on the answer: memory that somebody else can see is
left alone, and then more is allocated, or a step takes longer, with the same numbers.

- kernels/blocks.py gives the memory of a large array that nobody holds any more to the next one of its size: the heap of a
  CNN grows to 80 MB, and to 112 without, where no more than 69 are ever in use.
- optim/flat.py lays parameters end to end in one buffer, so that a step is a few passes over one array: a step of an MLP
  takes 4 % longer without, and 7 MB more. A parameter whose array somebody holds (an alias by detach(), data or numpy(),
  another parameter tied to it) stays where it is: the alias would be left behind with the old values.

Tests: tests/autograd/test_blocks.py, tests/autograd/test_optimizer_base.py.
"""

from __future__ import annotations

from sys import getrefcount
from typing import Any


def _counts(objects: list[Any]) -> list[int]:
    return [getrefcount(each) for each in objects]


(_LISTED,) = _counts([object()])         # of what the list alone holds: how many the loop adds depends on the interpreter


def holders(objects: list[Any]) -> list[int]:
    """For each object of a list how many hold it, not counting the list.

    >>> holders([object()])
    [0]
    """
    return [count - _LISTED for count in _counts(objects)]


__all__ = ["holders"]
