"""Engines: what makes programs of recordings. The native one comes first where llvmlite is, the plain one always works."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from ...base.types import Array
from ..native.build import available
from ..recording.calls import Value
from ..recording.tracer import Tracer
from .program import Program

Maker = Callable[[Tracer, list[Value], set[int], Sequence[Array]], Any]


class Engine(NamedTuple):
    """How a step is recorded, and what makes the program: an object with run(arguments) and `source`."""

    make: Maker
    apart: bool = False                              # see Values
    tolerance: float = 0.0                           # of its results; 0: they are bitwise the step's


class PlainProgram(Program):
    """A Program with arguments, which are copied to the recorded ones, and results of its own."""

    def __init__(self, tracer: Tracer, results: list[Value], fresh: set[int], inputs: Sequence[Array]) -> None:
        super().__init__(tracer, results, fresh)
        self._inputs = inputs

    def run(self, arguments: Sequence[Array] = ()) -> list[Array]:
        """Run on these arguments; the arrays that the step returns."""
        for mine, given in zip(self._inputs, arguments, strict=True):
            np.copyto(mine, given)
        return [np.array(a) for a in super().run()]


def native_program(*parts: Any) -> Any:
    """A NativeProgram, whose module is imported on first use."""
    return import_module(".native_program", __package__).NativeProgram(*parts)


PLAIN = Engine(PlainProgram)
NATIVE = Engine(native_program, True, 1e-4)


def engines(bitwise: bool) -> tuple[Engine, ...]:
    """The engines to try, in order."""
    return (PLAIN,) if bitwise or available() else (NATIVE, PLAIN)


__all__ = ["PLAIN", "Engine", "engines"]
