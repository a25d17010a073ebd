"""The arrays of a recorded step, identified by their location in memory."""

from __future__ import annotations

import hashlib
import weakref
from typing import Any, NoReturn

import numpy as np

from ...core.modes import DUAL, modes
from ...core.tensor import Tensor
from ...modes.saved_tensor_hooks import hooks_in_use
from ..errors import TraceError
from .calls import Array, Call, Location, Value, location, root_of, spanned_by, user_line
from .released import Released

EMPTY = np.empty(0)


def digest(array: Array) -> tuple[Any, ...]:
    """What equal arrays have in common."""
    return array.shape, array.dtype, hashlib.sha256(array.tobytes()).digest()


class Values:
    """The base of Tracer: the values and calls recorded so far, and the tensors from outside of the step."""

    def __init__(self, apart: bool = False, first: Values | None = None) -> None:
        """first: the first recording, where this is the second one."""
        self.known: Any = None if first is None else {v.number: location(v.array) for v, _ in first.outside}
        self.apart: bool = apart                     # rules are taken apart, for native code: see inline.py
        self.copies: dict[Any, Any] = {}             # of functions, instrumented
        self.calls: list[Call] = []
        self.values: list[Value] = []
        self.outside: list[tuple[Value, Any]] = []   # arrays of no recorded call, with _contents()
        self.guards: dict[int, tuple[Tensor, Array, int]] = {}       # tensors from outside: their array, and `tracked`
        self.written: set[int] = set()               # numbers of the values from outside that the step writes to
        self._by_location: dict[Location, Value] = {}
        self._by_root: dict[int, list[Value]] = {}
        self._nodes: dict[Any, Any] = {}             # nodes of Operations and Functions: the objects that replay them
        self._step_tensors: dict[int, weakref.ref[Tensor]] = {}      # the step's new Tensors by id
        self._released: Released = Released()

    def refuse(self, reason: str) -> NoReturn:
        """End the trace with an error that names the user's line."""
        raise TraceError(f"trace: {user_line()}: {reason}")

    def value(self, array: Array, maker: Call | None = None) -> Value:
        """Register a new value for an array."""
        value = Value(-1, array, maker)
        self.register(value)
        return value

    def register(self, value: Value) -> None:
        """Add a value, under the next number."""
        value.number = len(self.values)
        self.values.append(value)
        if value.array.size:
            self._by_location[location(value.array)] = value
            self._by_root.setdefault(id(root_of(value.array)), []).append(value)
            if value.maker is not None:
                self._released.add(value, self._by_root)

    def find(self, array: Array) -> Value | None:
        """The value of an array, a new one if it is a part of a known array, which then is fixed; None if it is unknown."""
        found = self._by_location.get(location(array)) if array.size else None
        if found is None:
            for whole in reversed(self._by_root.get(id(root_of(array)), ())):
                if array.size and spanned_by(array, whole.array):
                    self.fix(whole)
                    return self.value(array)
            return None
        return found

    def operand(self, array: Array) -> Value:
        """The value of an array. One that no recorded call made becomes a value from outside, used in its memory."""
        found = self.find(array)
        if found is None:
            found = self.value(array)
            self.outside.append((found, self._contents(found)))
        found.uses += 1
        return found

    def _contents(self, value: Value) -> Any:
        """What compare() needs of an array from outside. In the first recording a digest. In the second a copy, which a
        program may need too; None where the first one had the very array."""
        if self.known is None:
            return digest(value.array)
        return None if self.known.get(value.number) == location(value.array) else value.array.copy()

    def fix(self, value: Value) -> None:
        """Keep a value in its present memory, since there are references to it or to views of it."""
        if value.fixed:
            return
        value.fixed = True
        for other in self._by_root[id(root_of(value.array))]:
            self.fix(other)

    def fixed(self, array: Array) -> Array:
        """Fix the value of an array, see fix(). Returns the array."""
        self.fix(self.operand(array))
        return array

    def _note_write(self, array: Array) -> None:
        for value in self._by_root.get(id(root_of(array)), ()):
            if value.maker is None:
                self.written.add(value.number)

    def argument(self, x: object) -> Any:
        """An argument of a recorded call: the Value of an array or Tensor; anything else as it is."""
        if isinstance(x, np.ndarray):
            return self.operand(x)
        if isinstance(x, Tensor):
            self.guard(x)
            return self.operand(x.array)
        return x

    def guard(self, tensor: object) -> None:
        """Register a tensor from outside of the step, which Guards will check."""
        if isinstance(tensor, Tensor) and tensor.edge is None and id(tensor) not in self.guards:
            own = self._step_tensors.get(id(tensor))
            if own is not None and own() is tensor:
                return
            self.guards[id(tensor)] = (tensor, tensor.array, tensor.tracked)

    def add(self, call: Call, *arrays: Any) -> None:
        """Add a call, and these arrays as its outputs."""
        self.calls.append(call)
        for array in arrays:
            call.outs.append(self.output(call, array) if isinstance(array, np.ndarray) else None)

    def output(self, call: Call, array: Array) -> Value | None:
        """A new value for an output; None if the call returned an array that has one."""
        known = self._by_location.get(location(array)) if array.size else None
        return self.value(array, call) if known is None else None

    def end(self) -> None:
        """Free what nothing reads after the run: nodes with saved values, and memory that only the recording holds."""
        self._nodes = {}
        self._released.search(self._by_root)

    def drop_contents(self) -> None:
        """Free the memory of all values of the step, but not their shapes: the recording is only compared from now on."""
        outside = {id(value) for value, _ in self.outside}
        for value in self.values:
            if id(value) not in outside:
                value.array = np.broadcast_to(np.empty((), value.array.dtype), value.array.shape)
        self._by_location, self._by_root, self._nodes = {}, {}, {}
        for call in self.calls:
            call.function = bool                     # the former one may hold what the recorded run has saved

    def clear(self) -> None:
        """Free the recording, of which a program is made."""
        for value in self.values:
            value.maker, value.array = None, EMPTY
        for held in (self.values, self.calls, self.outside, self._by_location, self._by_root, self._nodes, self.copies):
            held.clear()

    def _note_tensors(self, outs: object) -> None:
        """Register Tensors created by the step, which need no guard."""
        for out in outs if isinstance(outs, tuple) else (outs,):
            if isinstance(out, Tensor):
                self._step_tensors[id(out)] = weakref.ref(out)

    def _rollback(self, calls: int, values: int, outside: int) -> None:
        """Drop everything recorded since these counts."""
        for value in self.values[values:]:
            if self._by_location.get(location(value.array)) is value:
                del self._by_location[location(value.array)]
            self._by_root[id(root_of(value.array))].remove(value)
        del self.calls[calls:], self.values[values:], self.outside[outside:]

    def _check_modes(self) -> None:
        if modes.recording & DUAL:
            self.refuse("forward mode can't be recorded")
        if hooks_in_use() is not None:
            self.refuse("saved_tensors_hooks (and checkpoint()) can't be recorded")
