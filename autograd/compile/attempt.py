"""Attempt: one try to record a rule as the ufuncs that it calls.

The calls are added to the program only if they are all that the rule does (`commit`); otherwise the attempt is dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from .calls import Array, Call, Location, Value, location, root_of
from .inline import NotInlinable, as_plain, recording

if TYPE_CHECKING:
    from .values import Values


class Attempt:
    """The calls of one run of a rule on Watched arrays, and the values that they made."""

    def __init__(self, tracer: Values) -> None:
        self.tracer = tracer
        self.calls: list[Call] = []
        self.values: list[Value] = []                # results of the calls, and views of them
        self._by_location: dict[Location, Value] = {}

    def run(self, rule: Callable[[], Any]) -> Any:
        """Run the rule and return its result; None if it does anything else than call ufuncs."""
        before, recording.attempt = recording.attempt, self
        try:
            return rule()
        except (NotInlinable, TypeError, ValueError, AttributeError, RuntimeError, IndexError):
            return None
        finally:
            recording.attempt = before

    def lookup(self, array: Array) -> Value | None:
        """The value of an array, from this attempt or from the program before it; None if there is none."""
        found = self._by_location.get(location(array))
        if found is None and any(root_of(array) is root_of(v.array) for v in self.values):
            for value in self.values:
                value.fixed = value.fixed or root_of(value.array) is root_of(array)
            return self._value(array, None)
        return found if found is not None else self.tracer.find(array)

    def mark(self) -> tuple[int, int]:
        """A savepoint for undo()."""
        return len(self.calls), len(self.values)

    def undo(self, mark: tuple[int, int]) -> None:
        """Drop the calls since mark()."""
        calls, values = mark
        for value in self.values[values:]:
            self._by_location.pop(location(value.array), None)
        del self.calls[calls:], self.values[values:]

    def append(self, call: Call, made: Array | None) -> None:
        """Add a call of the rule; `made` is its result, None if it wrote to an argument."""
        self.calls.append(call)
        if made is not None:
            call.outs = [self._value(made, call)]

    def _value(self, array: Array, maker: Call | None) -> Value:
        value = self._by_location[location(array)] = Value(-1, array, maker)
        self.values.append(value)
        return value

    def is_known(self, x: object) -> bool:
        """Whether x is an array that has a value, see lookup()."""
        return isinstance(x, np.ndarray) and self.lookup(as_plain(x)) is not None

    def reproduces(self, out: object, expected: Array) -> bool:
        """Whether `out` is a result of the recorded calls, and bitwise what the rule itself has returned."""
        value = self._by_location.get(location(out)) if isinstance(out, np.ndarray) else None
        return value is not None and value.maker is not None and identical(as_plain(out), expected)

    def commit(self, replaced: Mapping[Location, Array] = MappingProxyType({})) -> None:
        """Add the calls to the program. `replaced` maps the location of an array of the attempt to the array with which the
        step continues."""
        tracer = self.tracer
        for call in self.calls:
            for a in call.args:
                if isinstance(a, Value):
                    a.uses += 1
        for value in self.values:
            value.array = replaced.get(location(value.array), value.array)
            tracer.register(value)
        tracer.calls.extend(self.calls)

    def commit_gradients(self, grads: Sequence[Array | None]) -> list[Array | None]:
        """Add the calls to the program, and return the gradients as plain arrays."""
        values = [None if x is None else self.lookup(as_plain(x)) for x in grads]
        self.commit()
        return [None if v is None else v.array for v in values]


def identical(one: Array | None, two: Array | None) -> bool:
    """Whether two arrays have the same bits, shape, dtype and strides; or both are None."""
    if one is None or two is None:
        return one is two
    return bool(one.shape == two.shape and one.dtype == two.dtype and one.strides == two.strides
                and one.tobytes() == two.tobytes())
