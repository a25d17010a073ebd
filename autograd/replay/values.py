"""The arrays of a traced step, known by where they lie."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from ..core.modes import DUAL, modes
from ..core.saved_tensors import hooks_in_use
from ..core.tensor import Tensor
from .calls import Array, Call, Value, inside, owner_of, place, user_line
from .errors import TraceError


class Values:
    """Values, tensors from outside, and the program that is being written."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.values: list[Value] = []
        self.outside: list[tuple[Value, Array]] = []     # what was there before, or made unseen; with its first contents
        self.guards: dict[int, tuple[Tensor, Array, int]] = {}       # tensors from outside: where they were, and tracked
        self._places: dict[Any, Value] = {}
        self._owners: dict[int, list[Value]] = {}
        self._made: set[int] = set()                 # ids of Tensors that the step made
        self._kept: list[Any] = []                   # so that ids stay unique

    def refuse(self, reason: str) -> NoReturn:
        """End the trace with an error that names the user's line."""
        raise TraceError(f"trace: {user_line()}: {reason}")

    def value(self, array: Array, maker: Call | None = None) -> Value:
        """A new value."""
        value = Value(-1, array, maker)
        self.register(value)
        return value

    def register(self, value: Value) -> None:
        """Take up a value, under the next number."""
        value.number = len(self.values)
        self.values.append(value)
        if value.array.size:
            self._places[place(value.array)] = value
            self._owners.setdefault(id(owner_of(value.array)), []).append(value)

    def find(self, array: Array) -> Value | None:
        """The value that an array is, or a fixed one that it is a part of; None for what the trace does not know."""
        found = self._places.get(place(array)) if array.size else None
        if found is None:
            for whole in reversed(self._owners.get(id(owner_of(array)), ())):
                if array.size and inside(array, whole.array):
                    self.fix(whole)
                    return self.value(array)
            return None
        return found

    def operand(self, array: Array) -> Value:
        """The value that an array is; what nobody made in a recorded call is used where it is."""
        found = self.find(array)
        if found is None:
            found = self.value(array)
            self.outside.append((found, array.copy()))
        found.uses += 1
        return found

    def fix(self, value: Value) -> None:
        """Let a value live where it does now: somebody holds a view of it, or its array itself."""
        if value.fixed:
            return
        value.fixed = True
        for other in self._owners[id(owner_of(value.array))]:
            self.fix(other)

    def fixed(self, array: Array) -> Array:
        """An array whose memory is to hold its values in every replay."""
        self.fix(self.operand(array))
        return array

    def argument(self, x: Any) -> Any:
        """An operand of a call: a Value for an array, other things as they are."""
        if isinstance(x, np.ndarray):
            return self.operand(x)
        if isinstance(x, Tensor):
            self.guard(x)
            return self.operand(x.array)
        return x

    def guard(self, tensor: Any) -> None:
        """Remember a tensor from outside."""
        if isinstance(tensor, Tensor) and tensor.edge is None and id(tensor) not in self.guards and (
                id(tensor) not in self._made):
            self.guards[id(tensor)] = (tensor, tensor.array, tensor.tracked)

    def add(self, call: Call, *arrays: Any) -> None:
        """Append a call that made these arrays."""
        self.calls.append(call)
        for array in arrays:
            call.outs.append(self.made(call, array) if isinstance(array, np.ndarray) else None)

    def made(self, call: Call, array: Array) -> Value | None:
        """The value of an output; None where the call returned what it was given."""
        known = self._places.get(place(array)) if array.size else None
        return self.value(array, call) if known is None else None

    def _new(self, outs: Any) -> None:
        """Tensors that the step made are no outsiders."""
        for out in outs if isinstance(outs, tuple) else (outs,):
            if isinstance(out, Tensor):
                self._made.add(id(out))
                self._kept.append(out)

    def _undo(self, calls: int, values: int, outside: int) -> None:
        """Forget what was recorded since."""
        for value in self.values[values:]:
            if self._places.get(place(value.array)) is value:
                del self._places[place(value.array)]
            self._owners[id(owner_of(value.array))].remove(value)
        del self.calls[calls:], self.values[values:], self.outside[outside:]

    def _check_modes(self) -> None:
        if modes.recording & DUAL:
            self.refuse("forward mode can't be recorded")
        if hooks_in_use() is not None:
            self.refuse("saved_tensors_hooks (and checkpoint()) can't be recorded")
