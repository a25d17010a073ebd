"""PythonCall: a call that a native program leaves to Python, on the program's memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...base.types import Array
from ...core.tensor import Tensor
from ..recording.calls import Call, Constant, Value, laid_alike
from .ir import Ref

if TYPE_CHECKING:
    from ..programs.native_program import NativeProgram


class PythonCall:
    """One call. Its results are not copied: the program's storages are bound to their memory."""

    def __init__(self, call: Call, refs: dict[int, Ref]) -> None:
        self.call = call
        self.refs = refs                             # of its arguments, by the id of the Value
        self.outs: dict[Value, Ref] = {}
        self.buffers: dict[Tensor, Any] = {}         # leaves with a buffer, to which .grad is bound before the call
        self.gradients: dict[Tensor, Ref | None] = {}       # what .grad must be before the call
        self._run: Callable[[], None] | None = None

    def __call__(self) -> None:
        assert self._run is not None
        self._run()

    def prepare(self, program: NativeProgram) -> None:
        """Look up the memory of arguments and results."""
        call, function = self.call, self.call.function
        args = [self._argument(a, program) for a in call.args]
        settings = {name: self._argument(a, program) for name, a in call.settings.items()}
        outs = [None if v is None else self.outs[v] for v in call.outs]
        moving = any(isinstance(a, Moving) for a in (*args, *settings.values()))

        def run() -> None:
            if self.gradients:
                program.publish(self.gradients)
            if self.buffers:
                program.bind_buffers(self.buffers)
            made = function(*[a() if isinstance(a, Moving) else a for a in args],
                            **{name: a() if isinstance(a, Moving) else a for name, a in settings.items()}
                            ) if moving else function(*args, **settings)
            for ref, array in zip(outs, (made,) if call.single else made):  # noqa: B905 - effects return anything
                if ref is not None:
                    program.rebind(ref, array)
            if self.gradients:
                program.fetch(self.gradients)

        self._run = run

    def _argument(self, x: Any, program: NativeProgram) -> Any:
        if isinstance(x, Value):
            ref = self.refs[id(x)]
            return Moving(program, ref) if ref.storage in program.moving else program.array(ref)
        if type(x) in (tuple, list):
            return type(x)([self._argument(item, program) for item in x])
        return x.value if isinstance(x, Constant) else x


class Moving:
    """An array in memory that changes from run to run."""

    def __init__(self, program: NativeProgram, ref: Ref) -> None:
        self.program, self.ref = program, ref

    def __call__(self) -> Array:
        return self.program.array(self.ref)


def view_of(memory: Array, ref: Ref) -> Array:
    """The array of a Ref in the memory of its Storage."""
    size = memory.itemsize
    return np.ndarray(ref.shape, memory.dtype, memory, ref.offset * size, tuple([s * size for s in ref.strides]))


def laid_as(array: Array, ref: Ref) -> bool:
    """Whether an array has the strides of a Ref where there is more than one element."""
    return laid_alike(ref.shape, array.strides, tuple([s * array.itemsize for s in ref.strides]))
