"""Writes, and code that is to run in each replay."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from ..core.primitive import unobserved
from ..core.tensor import Tensor
from .calls import Array, Call, Held, owner_of, place, user_line
from .errors import TraceError
from .gradients import Gradients
from .values import Values


class Effects(Values):
    """The part of a Tracer that is told of writes and of Python's own doing."""

    gradients: Gradients

    def __init__(self) -> None:
        super().__init__()
        self.written: set[int] = set()               # numbers of the values that the step writes to

    def value_read(self, what: str) -> None:
        """Python can't be asked what it makes of a value."""
        self.refuse(f"{what} reads a value, and what Python makes of it can't be recorded. Return the tensor from the step "
                    "and read it outside; a branch on values, or a mask as an index, can be where()")

    def side_effect(self, what: str) -> None:
        """Replays do not do it."""
        self.refuse(f"{what} can't be recorded: put it around calls of recorded steps, or call the step itself")

    def grad_assigned(self, leaf: Any, value: Any) -> None:
        """Replays assign it too."""
        self.gradients.assigned(leaf, value)

    def value_written(self, array: Array, source: Any, index: Any) -> None:
        """array[index] = source, now and in replays."""
        if index is not ...:
            self._assigned(array, index, source)
            return
        target = self.fixed(array)
        self._note_write(array)
        self.calls.append(Call(np.copyto, (self.operand(target), self.argument(source)), label="copyto"))
        self.gradients.wrote(array)

    def _assigned(self, array: Array, index: Any, source: Any) -> None:
        self.fixed(array)
        self._note_write(array)
        self.calls.append(Call(np.ndarray.__setitem__, (self.operand(array), *self.index(index), self.argument(source)),
                               label="setitem"))
        self.gradients.wrote(array)

    def _note_write(self, array: Array) -> None:
        for value in self._owners.get(id(owner_of(array)), ()):
            if value.maker is None:
                self.written.add(value.number)

    def index(self, index: Any) -> tuple[Any, ...]:
        """An index that has no arrays, or is one."""
        if isinstance(index, (Tensor, np.ndarray)):
            return (self.argument(index),)
        if isinstance(index, tuple) and any(isinstance(i, (Tensor, np.ndarray, list)) for i in index):
            self.refuse("an assignment with several arrays as indices can't be recorded")
        return (index,)

    def primitive(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call that replays make again."""
        self.gradients.settle()
        for array in arrays_of((*args, *kwargs.values())):
            self.fixed(array)
        with unobserved():
            out = function(*args, **kwargs)
        run = function
        if isinstance(out, np.generic):              # argmax of a vector: an array of no dimensions, to be known by
            out, run = np.asarray(out), lambda *a, **k: np.asarray(function(*a, **k))
        call = Call(run, args, kwargs)
        call.settings = {key: Held(a) for key, a in kwargs.items()}
        call.args = tuple(Held(a) if isinstance(a, (np.ndarray, Tensor)) else a for a in args)
        array = out.array if isinstance(out, Tensor) else out
        if isinstance(out, Tensor):
            call.function = lambda *a, **k: function(*a, **k).array
            self._new(out)
        self.calls.append(call)
        if isinstance(array, np.ndarray) and (array.size == 0 or place(array) not in self._places):
            call.outs = [self.value(array, call)]
        self.gradients.look()
        return out

    def shortcut(self, function: Callable[..., bool], args: tuple[Any, ...]) -> bool:
        """A replay asks again where the answer was yes; after a no, what was recorded is right for all values."""
        with unobserved():
            answer = bool(function(*args))
        where = user_line()

        def ask(*arrays: Any) -> None:
            if not function(*arrays):
                raise TraceError(f"replay: {where}: a branch that depends on values went another way than when the step was "
                                 "recorded; call the step itself for such a batch, or trace it with one")

        if answer:
            self.calls.append(Call(ask, tuple(self.argument(a) for a in args), label=function.__name__))
        return answer


def arrays_of(things: Iterable[Any]) -> Iterator[Array]:
    """The arrays, also of Tensors, in arguments and in lists and tuples of them."""
    for thing in things:
        if isinstance(thing, (list, tuple)):
            yield from arrays_of(thing)
        elif isinstance(thing, (Tensor, np.ndarray)):
            yield thing.array if isinstance(thing, Tensor) else thing
