"""Comparison of two recordings of a step on different data: they must be one program.

What differs was computed outside of recorded calls, and a replay would repeat it: TraceError.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.dtypes import TensorDType
from ...core.tensor import Tensor
from ..errors import TraceError
from ..recording.calls import Array, Call, Constant, Value, location
from ..recording.tracer import Tracer
from ..recording.values import digest


def compare(one: Tracer, two: Tracer) -> set[int]:
    """The numbers of the values that each step makes outside of recorded calls, always with the same contents. TraceError if
    the recordings differ in anything else."""
    fresh: set[int] = set()
    if len(one.calls) != len(two.calls):
        number = next((n for n, (a, b) in enumerate(zip(one.calls, two.calls)) if a.label != b.label),     # noqa: B905
                      min(len(one.calls), len(two.calls)) - 1)
        first, where = one.calls[number].label, two.calls[number]
        what = (f"{first}, then {where.label}" if first != where.label
                else f"{len(one.calls)} of them, then {len(two.calls)}, the same up to here")
        raise TraceError(f"trace: {where.line}: the step makes other calls when it runs again ({what}): it depends on "
                         "values or on Python's state")
    outside = {id(value): first for value, first in [*one.outside, *two.outside]}
    for a, b in zip(one.calls, two.calls, strict=True):
        if a.label != b.label or len(a.args) != len(b.args):
            raise TraceError(f"trace: {b.line}: the step makes other calls when it runs again: {a.label}, then {b.label}")
        for x, y in zip([*a.args, *a.settings.values(), *a.pinned], [*b.args, *b.settings.values(), *b.pinned], strict=True):
            problem = difference(x, y, outside, fresh)
            if problem:
                raise TraceError(f"trace: {b.line}: {b.label} gets {problem}: something computed outside of recorded calls, "
                                 "from values that change. Compute it with tensors' operations, pass it as an argument of "
                                 "the step, or keep this part out of the step")
    if len(one.results) != len(two.results):
        raise TraceError(f"trace: the step returns {len(one.results)} tensors, then {len(two.results)} when it runs again")
    for number, (x, y) in enumerate(zip(one.results, two.results, strict=True)):
        problem = difference(x, y, outside, fresh)
        if problem:
            raise TraceError(f"trace: tensor {number} of what the step returns is {problem}: it was computed outside of "
                             "recorded calls. Compute it with tensors' operations, or outside of the step")
    return fresh


def difference(x: object, y: object, outside: dict[int, Any], fresh: set[int]) -> str:
    """How an argument differs between the two recordings, in words; "" if it does not."""
    if isinstance(x, Value) and isinstance(y, Value):
        if x.number != y.number or x.array.shape != y.array.shape or x.array.dtype != y.array.dtype:
            return "another tensor, or one of another shape, the second time"
        if id(x) not in outside or location(x.array) == location(y.array):
            return ""
        fresh.add(y.number)
        return "" if outside[id(x)] == digest(outside[id(y)]) else "an array that has other values the second time"
    if isinstance(x, Value) or isinstance(y, Value):
        return "an array only once"
    if isinstance(x, (Constant, Tensor)) or callable(x):
        return ""
    return "" if equal_settings(x, y) else f"{x!r:.60}, then {y!r:.60}"


def bitwise_equal(x: Array, y: Array) -> bool:
    """Whether two arrays have the same shape, dtype and bits."""
    return bool(x.shape == y.shape and x.dtype == y.dtype and x.tobytes() == y.tobytes())


def equal_settings(x: object, y: object) -> bool:
    """Whether two settings are equal. Objects that cannot be compared are equal if their types are."""
    if isinstance(x, (tuple, list)):
        return type(x) is type(y) and len(x) == len(y) and all(map(equal_settings, x, y))
    if isinstance(x, (np.ndarray, np.generic)):
        return isinstance(y, (np.ndarray, np.generic)) and bitwise_equal(np.asarray(x), np.asarray(y))
    if isinstance(x, (bool, int, float, complex, str, np.dtype, TensorDType, slice)):
        return bool(x == y) or (x != x and y != y)
    return type(x) is type(y)


__all__ = ["Call", "compare"]
