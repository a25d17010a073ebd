"""trace_step(step, example_inputs), and Traced, the recorded step that it returns."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from ..core.primitive import this_thread
from ..core.tensor import result
from .checks.bindings import Bindings
from .checks.check import CHECKED, MSG_COUNTED, changed_numbers, compare_results, compare_tensors, copied
from .checks.state import Snapshot
from .errors import TraceError
from .recorded import Recorded
from .recording.nests import Nest

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
            self._eagerly()                          # optimizers and layers create their state
            self._recorded = Recorded(step, self._arguments, Snapshot(step), [step]).make()
        finally:
            before.restore()
        tensors = {id(tensor) for tensor, _, _ in self._recorded.guarded}
        self._recorded.guard(before.modules, [b for b in Bindings([step]).read() if id(b.value) in tensors])
        if check:
            self._check(1)
            counted = self._check(CHECKED)
            if counted:
                warnings.warn(MSG_COUNTED.format(counted=counted), stacklevel=4)

    def _eagerly(self) -> Any:
        """Run the step on copies of the examples."""
        return self.step(*self._arguments.unflatten([result(t.array.copy()) for t in self._arguments.tensors]))

    def __call__(self, *args: Any) -> Any:
        """Replay the step with other tensors."""
        given = self._arguments.tensors_in(args)
        for number, (array, tensor) in enumerate(zip(self._recorded.inputs, given, strict=True)):
            x = tensor.array
            if x.shape != array.shape or x.dtype != array.dtype:
                raise TraceError(MSG_SHAPE.format(number=number, got=list(x.shape), dtype=x.dtype, shape=list(array.shape),
                                                  wanted=array.dtype))
        problem = self._recorded.guards.problem()
        if problem:
            raise TraceError(f"replay: {problem}: trace it again")
        return self._recorded.run(given)

    def program(self) -> str:
        """The calls, one a line, with the lines of the user's file that they come from."""
        return self._recorded.describe()

    def _check(self, steps: int) -> str:
        """Compare replays with the step itself, from the same state: TraceError if a bit differs. Returns the names of
        Python numbers that the step changes and replays do not."""
        before = Snapshot(self.step)
        try:
            expected = [copied(self._eagerly()) for _ in range(steps)]
            after = Snapshot(self.step)
            before.restore()
            compare_results(expected, [Nest(self._recorded.run(self._arguments.tensors)) for _ in range(steps)])
            compare_tensors(before, after)
            return changed_numbers(after, Snapshot(self.step))
        finally:
            before.restore()


__all__ = ["Traced", "trace_step"]
