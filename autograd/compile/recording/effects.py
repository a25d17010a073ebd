"""The part of a Tracer that records writes, primitives and shortcuts, and refuses reads of values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from ...core.interceptors import without_watcher
from ...core.tensor import Tensor
from ...ops.index import assign, parts_of
from ...optim.optimizer import Optimizer
from ..errors import TraceError
from .calls import Array, Call, Constant, location, user_line
from .gradients import Gradients
from .optimizer_step import recorded_step
from .values import Values

# primitives of these modules read their arguments and a generator, no more
PURE = ("autograd.ops.", "autograd.modes.random")


def is_optimizer_step(function: Callable[..., Any], args: tuple[Any, ...]) -> bool:
    """Whether a primitive is the step() of an optimizer."""
    return bool(args) and isinstance(args[0], Optimizer) and getattr(function, "__name__", "") == "step"


def assign_parts(array: Array, *parts_and_source: Any) -> None:
    """array[parts] = source, with the source as the last argument: a call whose arguments are single arrays."""
    *parts, source = parts_and_source
    assign(array, tuple(parts), source)


class Effects(Values):
    """Records writes to arrays and calls of primitives; see core/primitive.py for the events."""

    gradients: Gradients

    def value_read(self, what: str) -> None:
        """Reject the read: Python code that uses a value cannot be recorded."""
        self.refuse(f"{what} reads a value, and what Python makes of it can't be recorded. Return the tensor from the step "
                    "and read it outside; a branch on values, or a mask as an index, can be where()")

    def side_effect(self, what: str) -> None:
        """Reject the side effect: a replay would not repeat it."""
        self.refuse(f"{what} can't be recorded: put it around calls of recorded steps, or call the step itself")

    def grad_assigned(self, leaf: Tensor, value: Tensor | None) -> None:
        """Record an assignment to .grad."""
        self.gradients.assigned(leaf, value)

    def value_written(self, array: Array, source: Any, index: Any) -> None:
        """Record array[index] = source, which the caller makes next."""
        if index is not ...:
            self._assigned(array, index, source)
            return
        target = self.fixed(array)
        self._note_write(array)
        self.calls.append(Call(np.copyto, (self.operand(target), self.argument(source)), label="copyto"))
        self.gradients.record_write(array)

    def _assigned(self, array: Array, index: Any, source: Any) -> None:
        self.fixed(array)
        self._note_write(array)
        parts = parts_of(index)
        simple = all(isinstance(p, (int, slice, type(None))) or p is ... for p in parts) and sum(p is ... for p in parts) < 2
        if simple and not any(p is ... for p in parts):
            parts = (*parts, ...)                    # one element is a 0-d array too, which takes a source of shape (1, 1)
        places = [parts] if simple else [self.argument(p) if isinstance(p, (Tensor, np.ndarray)) else p for p in parts]
        self.calls.append(Call(np.ndarray.__setitem__ if simple else assign_parts,
                               (self.operand(array), *places, self.argument(source)), label="setitem"))
        self.gradients.record_write(array)

    def primitive(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Make a call that replays repeat, with the same arrays."""
        self.gradients.record_unseen()
        pinned = [self.operand(self.fixed(array)) for array in arrays_of((*args, *kwargs.values()))]
        step = recorded_step(self, *args, **kwargs) if self.apart and is_optimizer_step(function, args) else None
        with without_watcher():
            out = function(*args, **kwargs)
        run = function
        if isinstance(out, np.generic):              # argmax of a vector: a 0-d array, which has a location
            out, run = np.asarray(out), lambda *a, **k: np.asarray(function(*a, **k))
        call = Call(run, args, kwargs)
        call.pinned, call.step = pinned, step
        call.effect = not getattr(function, "__module__", PURE[0]).startswith(PURE)
        call.draws = not pinned and not call.effect
        call.checks = out is None and not call.effect
        call.settings = {key: Constant(a) for key, a in kwargs.items()}
        call.args = tuple(Constant(a) if isinstance(a, (np.ndarray, Tensor)) else a for a in args)
        array = out.array if isinstance(out, Tensor) else out
        if isinstance(out, Tensor):
            call.function = lambda *a, **k: function(*a, **k).array
            self._note_tensors(out)
        self.calls.append(call)
        if isinstance(array, np.ndarray) and (array.size == 0 or location(array) not in self._by_location):
            call.outs = [self.value(array, call)]
        self.gradients.rescan()
        return out

    def shortcut(self, function: Callable[..., bool], args: tuple[Any, ...]) -> bool:
        """Record a test that was true: replays repeat it. After a false one the recorded calls are right for all values."""
        with without_watcher():
            answer = bool(function(*args))
        where = user_line()

        def ask(*arrays: Any) -> None:
            if not function(*arrays):
                raise TraceError(f"replay: {where}: a branch that depends on values went another way than when the step was "
                                 "recorded; call the step itself for such a batch, or trace it with one")

        if answer:
            call = Call(ask, tuple(self.argument(a) for a in args), label=function.__name__)
            call.checks = True
            self.calls.append(call)
        return answer


def arrays_of(arguments: Iterable[object]) -> Iterator[Array]:
    """All arrays in arguments, also those of Tensors and in lists and tuples."""
    for x in arguments:
        if isinstance(x, (list, tuple)):
            yield from arrays_of(x)
        elif isinstance(x, (Tensor, np.ndarray)):
            yield x.array if isinstance(x, Tensor) else x
