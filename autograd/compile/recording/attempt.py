"""Attempt: one try to record a rule as the ufuncs that it calls.

The calls are added to the program only if they are all that the rule does (`commit`); otherwise the attempt is dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .calls import Array, Call, Location, Value, laid_alike, location, root_of
from .inline import NotInlinable, Watched, as_plain, recording

if TYPE_CHECKING:
    from .values import Values


class Attempt:
    """The calls of one run of a rule on Watched arrays, and the values that they made."""

    def __init__(self, tracer: Values, writes: bool = False) -> None:
        self.tracer = tracer
        self.apart: bool = tracer.apart
        self.writes: bool = writes                   # the rule may write to values of the step,
        self.observed: list[Array] = []              # or to these
        self.copies: dict[Any, Any] = tracer.copies  # of functions, instrumented
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

    def append(self, call: Call, *made: Array | None) -> None:
        """Add a call of the rule; `made` are its results, None if it wrote to an argument."""
        self.calls.append(call)
        call.outs = [self._value(array, call) for array in made if array is not None]

    def _value(self, array: Array, maker: Call | None) -> Value:
        value = self._by_location[location(array)] = Value(-1, array, maker)
        self.values.append(value)
        return value

    def owns(self, value: Any) -> bool:
        """Whether the rule may write to a Value: one of its own, not one of the step's."""
        return isinstance(value, Value) and (value.number < 0 or self.writes or any(value.array is a for a in self.observed))

    def is_known(self, x: object) -> bool:
        """Whether x is an array that has a value, see lookup(); or a constant of a rule that is taken apart."""
        return isinstance(x, np.ndarray) and (
            (self.apart and (not isinstance(x, Watched) or not x.size)) or self.lookup(as_plain(x)) is not None)

    def reproduces(self, out: object, expected: Array) -> bool:
        """Whether `out` is a result of the recorded calls, and bitwise what the rule itself has returned; up to rounding
        where rules are taken apart, and then it may be a view of a result."""
        if not isinstance(out, np.ndarray):
            return False
        plain = as_plain(out)
        if self.apart and not plain.size:
            return self.matches(plain, expected)
        value = self._by_location.get(location(plain))
        if self.apart and (value is None or value.maker is None):
            base = next((v for v in self.values if v.maker is not None and root_of(v.array) is root_of(plain)), None)
            value = None if base is None else self._value(plain, base.maker)
        return value is not None and value.maker is not None and self.matches(plain, expected)

    def matches(self, one: Array | None, two: Array | None) -> bool:
        """Whether two results are the same: to the bit, or where rules are taken apart up to rounding."""
        return close(one, two) if self.apart else identical(one, two)

    def commit(self, replaced: Sequence[tuple[Any, Array]] = ()) -> dict[Location, Array]:
        """Add the calls to the program. replaced: results of the attempt, each with the array with which the step continues.
        If that lies otherwise in memory, it is a recorded copy. Returns these arrays by the results' locations."""
        places: dict[Location, Array] = {}
        for got, made in replaced:
            if not made.size:
                continue
            if laid_alike(made.shape, got.strides, made.strides):
                places[location(got)] = made
            else:
                call = Call(np.array, (self.lookup(as_plain(got)),), label="copy")
                self.append(call, made)
        tracer = self.tracer
        for call in self.calls:
            for a in call.args:
                if isinstance(a, Value):
                    a.uses += 1
        roots = {id(root_of(got := self._by_location[where].array)): (root_of(got), root_of(made))
                 for where, made in places.items()} if self.apart else {}
        for value in self.values:
            kept = places.get(location(value.array))
            if kept is None and id(root_of(value.array)) in roots:           # it shares the memory of one that is replaced
                kept = laid_over(value.array, *roots[id(root_of(value.array))])
            value.array = value.array if kept is None else kept
            tracer.register(value)
        tracer.calls.extend(self.calls)
        return places

    def commit_gradients(self, grads: Sequence[Array | None]) -> list[Array | None]:
        """Add the calls to the program, and return the gradients as plain arrays."""
        values = [None if x is None else self.lookup(as_plain(x)) or as_plain(x) for x in grads]
        self.commit()
        return [v.array if isinstance(v, Value) else v for v in values]


def laid_over(array: Array, old: Array, new: Array) -> Array | None:
    """The array of another memory, of the same size, that lies in it as `array` lies in the old one."""
    if old.nbytes != new.nbytes:
        return None
    at = array.__array_interface__["data"][0] - old.__array_interface__["data"][0]
    return np.ndarray(array.shape, array.dtype, new.ravel("K"), at, array.strides)


def close(one: Array | None, two: Array | None, relative: float = 1e-4, of_largest: float = 1e-5,
          least: float = 0.0) -> bool:
    """Whether two arrays have the same shape and dtype, and elements that differ by rounding: by `least`, and parts of the
    element and of the largest finite one; or both are None."""
    if one is None or two is None:
        return one is two
    if one.shape != two.shape or one.dtype != two.dtype:
        return False
    if one.dtype.kind not in "fc":
        return bool((one == two).all())
    scale = np.abs(two[np.isfinite(two)]).max(initial=0)
    return bool(np.allclose(one, two, relative, least + of_largest * float(scale), equal_nan=True))


def identical(one: Array | None, two: Array | None) -> bool:
    """Whether two arrays have the same bits, shape, dtype and strides; or both are None."""
    if one is None or two is None:
        return one is two
    return bool(one.shape == two.shape and one.dtype == two.dtype and one.strides == two.strides
                and one.tobytes() == two.tobytes())
