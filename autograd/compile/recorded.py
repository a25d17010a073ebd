"""Recorded: a step's program for arguments of one form, with its guards; and how a step is recorded."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.modes import GRAD
from ..core.tensor import Tensor, result
from ..kernels.malloc import give_back
from .checks.bindings import Bindings
from .checks.compare import bitwise_equal, compare
from .checks.guards import Guards
from .checks.state import Snapshot, reachable
from .errors import TraceError
from .programs.engines import PLAIN, Engine
from .recording.attempt import close
from .recording.calls import Array
from .recording.nests import Nest
from .recording.tracer import Tracer

MSG_ARGUMENT_GRAD = "the step calls backward() through an argument, whose .grad a program can't set: make it a leaf outside"
MSG_ARGUMENT_WRITTEN = "the step writes to an argument"
CONSTANTS = (bool, int, float, complex, str, type(None))


class OtherValues(Exception):
    """The step raises an error when it is recorded with other values."""


class Recorded:
    """A program of a step, and what it was recorded with."""

    def __init__(self, step: Callable[..., Any], arguments: Nest, before: Snapshot, roots: Sequence[object],
                 engine: Engine = PLAIN, bindings: Bindings | None = None, scaled: bool | None = None) -> None:
        """The step has run before, so that optimizers and layers have their state. The state afterwards is `before`.

        bindings: the Python state, if the program must do all that the step does. Then arguments may require grad.
        scaled: the values of the second recording are those of the first, a little smaller; False: others, with OtherValues
        if the step raises an error for these; None: others, then smaller ones.
        """
        self.step = step
        self.arguments = arguments
        self.engine = engine
        self.notes: list[str] = []                   # why other engines made no program
        self.lock = threading.Lock()                 # the program has one memory
        self.guards: Guards
        leaves = [t for t in reachable(roots) if isinstance(t, Tensor) and t.tracked and t.edge is None]
        examples = [t.array for t in arguments.tensors]
        try:
            one = self._record([a.copy() for a in examples], leaves)
            self.expected = [value.array.copy() for value in one.results]
            one.drop_contents()
            give_back()
            self.effects = [] if bindings is None else Bindings(roots).changed_since(bindings)
            self.after = before if bindings is None else Snapshot(roots, leaves=not engine.tolerance)
            if bindings is not None:
                before.restore()
            two = self._record_others(one, before, leaves, scaled)
        finally:
            before.restore()
        two.end()
        fresh = compare(one, two)
        if bindings is not None:
            if two.written & set(range(len(examples))):
                raise TraceError(MSG_ARGUMENT_WRITTEN)
            if two.late:
                raise TraceError(two.late)
            two.test_early()
        self.returned, self.graph = two.returned, two.graph
        self.guarded = [guard for key, guard in two.guards.items() if one.guards.get(key, (0, 0))[1] is guard[1]]
        one.clear()
        self.text = [(call.label, call.line) for call in two.calls if not call.optional]
        self._recording = two, fresh

    def make(self) -> Recorded:
        """Make the program of the recording, once."""
        self._make(*self._recording)
        self._recording[0].clear()
        del self._recording
        give_back()
        return self

    def _make(self, tracer: Tracer, fresh: set[int]) -> None:
        """Make the program."""
        self.program = self.engine.make(tracer, tracer.results, fresh, self.inputs)

    def guard(self, modules: Sequence[Any], bindings: Any, names: Any = ()) -> None:
        """Create the guards, before the first run."""
        self.guards = Guards(self.guarded, modules, bindings, names)

    def _run_step(self, tracer: Tracer, inputs: list[Tensor]) -> Any:
        """Run the step while a tracer records it. Returns what the program shall return."""
        returned = self.step(*self.arguments.unflatten(inputs))
        tracer.end_graph(Nest(returned).tensors)
        return returned

    def _record(self, arrays: list[Array], leaves: list[Tensor], first: Tracer | None = None) -> Tracer:
        """Run the step, which reaches these leaves, on these arrays: the examples, or others for a second recording."""
        tracer = Tracer(self.engine.apart, first)
        self.inputs = arrays
        for array in arrays:
            tracer.value(array)
        tracer.gradients.begin(leaves)
        inputs = [result(a) for a in arrays]
        for x, given in zip(inputs, self.arguments.tensors, strict=True):
            x.tracked = given.tracked & GRAD
        tracer.begin_graph(inputs)
        with tracer:
            returned = self._run_step(tracer, inputs)
            tracer.gradients.record_unseen()
        if any(x._grad is not None for x in inputs):
            raise TraceError(MSG_ARGUMENT_GRAD)
        nest = tracer.returned = Nest(returned)
        for leaf in nest.constants:
            if not isinstance(leaf, CONSTANTS):
                raise TraceError(f"trace: the step returns a {type(leaf).__name__}: a replay can return Tensors, in tuples, "
                                 "lists and dicts, and constants")
        tracer.results = [tracer.operand(t.array) for t in nest.tensors]
        nest.tensors = []                            # their graph holds what the run has saved
        return tracer

    def _record_others(self, one: Tracer, before: Snapshot, leaves: list[Tensor], scaled: bool | None) -> Tracer:
        """Run the step on other arguments, and with other values in what it reads from outside: what it computes from these
        without recorded calls then differs between the recordings. `before` restores them."""
        known = {id(tensor): copy for tensor, copy, _, _ in before.tensors}
        outside = [(array, known[id(tensor)]) for tensor, array, _ in one.guards.values()
                   if id(tensor) in known and array.dtype.kind == "f" and array.flags.writeable]
        examples = [t.array for t in self.arguments.tensors]
        if not scaled:
            try:
                for array, copy in outside:
                    array[...] = perturbed(copy)
                return self._record([perturbed(a) for a in examples], leaves, one)
            except TraceError:
                raise
            except Exception as error:               # they are no longer positive definite, say
                if scaled is False:
                    raise OtherValues(f"{type(error).__name__}: {error}") from error
        for array, copy in outside:
            array[...] = copy * array.dtype.type(0.97)
        return self._record([a * a.dtype.type(0.97) if a.dtype.kind == "f" else a.copy() for a in examples], leaves, one)

    @property
    def busy(self) -> bool:
        """Whether the program's memory is in use between calls."""
        return False

    def run(self, tensors: Sequence[Tensor]) -> Any:
        """Run the program on other tensors; the step's result, with copies of its tensors."""
        return self.returned.unflatten([result(a) for a in self.program.run([x.array for x in tensors])])

    def run_all(self, arrays: Sequence[Array]) -> list[Array]:
        """What the recorded runs have computed, for these arrays."""
        return list(self.program.run(arrays))

    def alike(self, one: Array, two: Array) -> bool:
        """Whether arrays of the step and of the program are equal: to the bit, unless the program has a tolerance."""
        tolerance = self.engine.tolerance
        if not tolerance or one.dtype.kind not in "fc":
            return bitwise_equal(one, two)
        return close(two, one, tolerance, tolerance, 1e-6)

    def describe(self) -> str:
        """The program's source, with the lines of the user's file that its calls come from."""
        lines = "".join(f"# {label:24} {line}\n" for label, line in self.text)
        return "".join(self.notes) + str(self.program.source) + lines


def perturbed(array: Array) -> Array:
    """An array like this one with other values of the same range: its elements rolled, floating numbers scaled by 0.97."""
    rolled = np.asarray(np.roll(array, 1))
    if array.size > 1 and array.dtype.kind in "biuf":
        rolled.flat[rolled.argmax()] = rolled.flat[rolled.argmin()]          # otherwise sums and counts would be equal
    if array.dtype.kind in "biu" and array.size and (rolled == array).all():
        rolled.flat[0] = not rolled.flat[0] if array.dtype.kind == "b" else 0  # all elements are equal: 0 is always possible
    return np.asarray(rolled * array.dtype.type(0.97)) if array.dtype.kind in "fcV" else rolled


__all__ = ["OtherValues", "Recorded"]
