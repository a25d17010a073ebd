"""An attempt to write a rule down as the ufuncs inside it: nothing is kept of it unless that is all it does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .calls import Array, Call, Value, owner_of, place
from .inline import Opaque, plain, recording


class Attempt:
    """The calls of one run of a rule on Watched arrays, and the values that they made."""

    def __init__(self, tracer: Any) -> None:
        self.tracer = tracer
        self.calls: list[Call] = []
        self.made: list[Value] = []                  # by the calls, and views of what they made
        self._places: dict[Any, Value] = {}

    def run(self, rule: Callable[[], Any]) -> Any:
        """What the rule returns; None if it did anything else than ufuncs."""
        before, recording.attempt = recording.attempt, self
        try:
            return rule()
        except (Opaque, TypeError, ValueError, AttributeError, RuntimeError, IndexError):
            return None
        finally:
            recording.attempt = before

    def lookup(self, array: Array) -> Value | None:
        """The value that an array is: of this attempt, or known before."""
        found = self._places.get(place(array))
        if found is None and any(owner_of(array) is owner_of(v.array) for v in self.made):
            for value in self.made:
                value.fixed = value.fixed or owner_of(value.array) is owner_of(array)
            return self._value(array, None)
        return found if found is not None else self.tracer.find(array)  # type: ignore[no-any-return]

    def mark(self) -> tuple[int, int]:
        """Where the attempt stands, for undo()."""
        return len(self.calls), len(self.made)

    def undo(self, mark: tuple[int, int]) -> None:
        """Forget the calls since mark()."""
        calls, made = mark
        for value in self.made[made:]:
            self._places.pop(place(value.array), None)
        del self.calls[calls:], self.made[made:]

    def new(self, call: Call, made: Array | None) -> None:
        """A call of the rule, and the array that it has made."""
        self.calls.append(call)
        if made is not None:
            call.outs = [self._value(made, call)]

    def _value(self, array: Array, maker: Call | None) -> Value:
        value = self._places[place(array)] = Value(-1, array, maker)
        self.made.append(value)
        return value

    def knows(self, x: Any) -> bool:
        """Whether an array is one that the calls made, or was known before."""
        return isinstance(x, np.ndarray) and self.lookup(plain(x)) is not None

    def gives(self, out: Any, made: Array) -> bool:
        """Whether the result is one of the calls' own, and bitwise what the rule itself has given."""
        if not isinstance(out, np.ndarray) or self._places.get(place(out)) is None or self._places[place(out)].maker is None:
            return False
        return alike(plain(out), made)

    def keep(self, instead: dict[Any, Array]) -> None:
        """Append the calls to the program; arrays at these places are replaced by others, which the step goes on with."""
        tracer = self.tracer
        for call in self.calls:
            for a in call.args:
                if isinstance(a, Value):
                    a.uses += 1
        for value in self.made:
            value.array = instead.get(place(value.array), value.array)
            tracer.register(value)
        tracer.calls.extend(self.calls)

    def keep_all(self, grads: Any) -> list[Any]:
        """Append the calls; the gradients as plain arrays."""
        values = [None if x is None else self.lookup(plain(x)) for x in grads]
        self.keep({})
        return [None if v is None else v.array for v in values]


def alike(one: Any, two: Any) -> bool:
    """Whether two arrays are bitwise the same and lie alike, or both are None."""
    if one is None or two is None:
        return one is two
    return bool(one.shape == two.shape and one.dtype == two.dtype and one.strides == two.strides
                and one.tobytes() == two.tobytes())
