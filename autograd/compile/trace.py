"""trace_step(step, example_inputs), and Traced, the recorded step that it returns."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.primitive import this_thread
from ..core.tensor import Tensor, result
from .calls import Array
from .check import CHECKED, MSG_COUNTED, changed_numbers, compare_results, compare_tensors, copied
from .compare import compare
from .errors import TraceError
from .guards import Guards
from .nests import Nest
from .program import Program
from .state import Snapshot, reachable
from .tracer import Tracer

MSG_SHAPE = ("replay: tensor {number} of the arguments has shape {got} and dtype {dtype}, but the step was recorded with "
             "{shape} and {wanted}: trace it again for others")


def trace_step(step: Callable[..., Any], example_inputs: Any = (), *, check: bool = True) -> Traced:
    """Record `step` (forward, backward, optimizer: any function of tensors) and return a function that replays it.

    A replay makes the very calls on arrays that the step made, in their order and into memory that is there already,
    without Python's way to them and without a graph. Results are bitwise those of the step.

    The step runs on the examples a few times; tensors, gradients, optimizers, schedulers and random streams that it reaches
    are put back. Under DataParallel all ranks trace together.

    - Python's own effects (print, counters) happen while tracing only; Python's numbers, NumPy's arrays and layers' settings
      are those of then. optimizer.step(), scheduler.step(), zero_grad() and your own Functions are called again each time.
      A hook added or removed, or a layer replaced since is an error. What the step writes to its arguments goes to copies.
    - Values can't be read inside (item(), float(), `if loss > 1`): TraceError with your line. Nor can there be lanes,
      create_graph=True, checkpoint(), or a parameter that is replaced; modules must stay in training or evaluation mode.

    Args:
        step (Callable[..., Any]): What is recorded. What it returns (Tensors in tuples, lists and dicts) is a copy, without
            a graph.
        example_inputs (Tensor or tuple): The arguments to record with; a replay takes others of the same shapes and dtypes.
        check (bool): Whether four replays are compared with four steps, bitwise, and a warning tells of Python numbers that
            the step counts. Default: True.

    Returns:
        The function that replays; its program() is the recording as text.

    Raises:
        TraceError: the step does what can't be replayed, or is traced inside another: the text names the line.

    Example:
        >>> w = ag.ones(2, requires_grad=True)
        >>> optimizer = ag.optim.SGD([w], lr=0.1)
        >>> def step(x):
        ...     optimizer.zero_grad()
        ...     loss = (w * x).sum()
        ...     loss.backward()
        ...     optimizer.step()
        ...     return loss
        >>> fast = ag.trace_step(step, ag.ones(2))
        >>> fast(ag.tensor([1.0, 2.0]))
        tensor(3.)
        >>> w
        tensor([0.9000, 0.8000], requires_grad=True)
    """
    if this_thread.call_watcher is not None:
        raise TraceError("trace: a step that is being recorded can't trace another")
    inputs = example_inputs if isinstance(example_inputs, (tuple, list)) else (example_inputs,)
    return Traced(step, tuple(inputs), check)


class Traced:
    """A recorded step. Call it like the step; program() is the text of its recording."""

    def __init__(self, step: Callable[..., Any], inputs: Sequence[Any], check: bool) -> None:
        self.step = step
        functools.update_wrapper(self, step, updated=())
        self._arguments = Nest(inputs)
        for tensor in self._arguments.tensors:
            if tensor.requires_grad:
                raise TraceError("trace: example_inputs that require gradients are not supported: use the step's own leaves")
        before = Snapshot(step)
        try:
            # optimizers and layers create their state
            step(*self._arguments.unflatten([result(t.array.copy()) for t in self._arguments.tensors]))
            leaves = [t for t in reachable(step) if isinstance(t, Tensor) and t.tracked and t.edge is None]
            one = self._record([t.array.copy() for t in self._arguments.tensors], leaves)
            two = self._record([perturbed(t.array) for t in self._arguments.tensors], leaves)
            fresh = compare(one, two)
        finally:
            before.restore()
        unchanged = {key for key, (tensor, array, _) in two.guards.items() if one.guards.get(key, (0, 0))[1] is array}
        self._guards = Guards([guard for key, guard in two.guards.items() if key in unchanged], before.modules,
                              before.variables)
        self._results = two.returned
        self._program = Program(two, two.results, fresh)
        self._text = [(call.label, call.line) for call in two.calls if not call.optional]
        if check:
            self._check(1)
            counted = self._check(CHECKED)
            if counted:
                warnings.warn(MSG_COUNTED.format(counted=counted), stacklevel=4)

    def _record(self, arrays: list[Array], leaves: list[Tensor]) -> Tracer:
        """Run the step, which reaches these leaves, on these arrays, and return its recording."""
        tracer = Tracer()
        self._inputs = arrays
        for array in arrays:
            tracer.value(array)
        tracer.gradients.begin(leaves)
        with tracer:
            returned = self.step(*self._arguments.unflatten([result(a) for a in arrays]))
            tracer.gradients.record_unseen()
        nest = tracer.returned = Nest(returned)
        for leaf in nest.constants:
            if not isinstance(leaf, (bool, int, float, complex, str, type(None))):
                raise TraceError(f"trace: the step returns a {type(leaf).__name__}: a replay can return Tensors, in tuples, "
                                 "lists and dicts, and constants")
        tracer.results = [tracer.operand(t.array) for t in nest.tensors]
        return tracer

    def __call__(self, *args: Any) -> Any:
        """Replay the step with other tensors."""
        given = self._arguments.tensors_in(args)
        for number, (array, tensor) in enumerate(zip(self._inputs, given, strict=True)):
            x = tensor.array
            if x.shape != array.shape or x.dtype != array.dtype:
                raise TraceError(MSG_SHAPE.format(number=number, got=list(x.shape), dtype=x.dtype, shape=list(array.shape),
                                                  wanted=array.dtype))
            np.copyto(array, x)
        self._guards.check()
        return self._results.unflatten([result(np.array(a)) for a in self._program.run()])

    def program(self) -> str:
        """The calls, one a line, with the lines of the user's file that they come from."""
        return self._program.source + "".join(f"# {label:24} {line}\n" for label, line in self._text)

    def _check(self, steps: int) -> str:
        """Compare replays with the step itself, from the same state: TraceError if a bit differs. Returns the names of
        Python numbers that the step changes and replays do not."""
        examples = self._arguments.tensors
        before = Snapshot(self.step)
        try:
            expected = [copied(self.step(*self._arguments.unflatten([result(t.array.copy()) for t in examples])))
                        for _ in range(steps)]
            after = Snapshot(self.step)
            before.restore()
            compare_results(expected, [Nest(self(*self._arguments.unflatten(examples))) for _ in range(steps)])
            compare_tensors(before, after)
            return changed_numbers(after, Snapshot(self.step))
        finally:
            before.restore()


def perturbed(array: Array) -> Array:
    """An array like this one with other values of the same range: its elements rolled, floating numbers scaled by 0.97."""
    rolled = np.asarray(np.roll(array, 1))
    if array.size > 1 and array.dtype.kind in "biuf":
        rolled.flat[rolled.argmax()] = rolled.flat[rolled.argmin()]          # otherwise sums and counts would be equal
    if array.dtype.kind in "biu" and array.size and (rolled == array).all():
        rolled.flat[0] = not rolled.flat[0] if array.dtype.kind == "b" else 0  # all elements are equal: 0 is always possible
    return np.asarray(rolled * array.dtype.type(0.97)) if array.dtype.kind in "fcV" else rolled


__all__ = ["Traced", "trace_step"]
