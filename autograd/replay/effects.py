"""Writes, and code that is to run in each replay."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.tensor import Tensor
from ..core.traced import TraceError, unseen
from .calls import Array, Call, Held, owner_of, place, user_line
from .gradients import Gradients
from .values import Values


class Effects(Values):
    """The part of a Tracer that is told of writes and of Python's own doing."""

    gradients: Gradients

    def __init__(self) -> None:
        super().__init__()
        self.written: set[int] = set()               # numbers of the values that the step writes to

    def wrote(self, array: Array, source: Any) -> None:
        """source (an array, or a number) was written to all of array."""
        target = self.fixed(array)
        self._note_write(array)
        self.calls.append(Call(np.copyto, (self.operand(target), self.argument(source)), label="copyto"))
        self.gradients.wrote(array)

    def assigned(self, array: Array, index: Any, source: Any) -> None:
        """array[index] = source."""
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

    def again(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Code that is to run in each replay."""
        self.gradients.settle()
        for x in (*args, *kwargs.values()):
            if isinstance(x, (Tensor, np.ndarray)):
                self.fixed(x.array if isinstance(x, Tensor) else x)
        with unseen():
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

    def decided(self, function: Callable[..., bool], args: tuple[Any, ...]) -> bool:
        """A branch that depends on values."""
        with unseen():
            answer = bool(function(*args))
        where = user_line()

        def ask(*arrays: Any) -> None:
            if bool(function(*arrays)) is not answer:
                raise TraceError(f"replay: {where}: a branch that depends on values went another way than when the step was "
                                 "recorded; call the step itself for such a batch, or trace it with one")

        self.calls.append(Call(ask, tuple(self.argument(a) for a in args), label="decided"))
        return answer
