"""Tracer: the Interceptor of calls that records the calls of a running step as a program.

It keeps the arrays of the recorded run, which are the memory that replays write to.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.interceptors import install, remove
from ...core.modes import modes
from .applied import Applied
from .calls import Call, Value, user_line
from .gradients import Gradients
from .nests import Nest


class Tracer(Applied):
    """Records the calls of one thread from `with tracer:` on."""

    sees_calls = True
    compiles = True                                  # see compiler.is_compiling()

    def __init__(self, apart: bool = False, first: Tracer | None = None) -> None:
        super().__init__(apart, first)
        self.examples = first is None                # the step runs on the examples, not on other values
        self.primitives = 0                          # calls of primitives so far, but for zero_grad()
        self.late = ""                               # a test of values after a change of state, which can't be undone
        self.has_grad: list[bool] = []               # of a Differentiable's targets
        self.mark: Call | None = None                # its last call before the backward pass
        self.gradients: Gradients = Gradients(self)
        self.returned: Nest = Nest(())               # what the step returned
        self.results: list[Value] = []               # of the tensors in it

    def primitive(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Count and record a call of a primitive."""
        self.primitives += function.__name__ != "zero_grad"
        return super().primitive(function, args, kwargs)

    def shortcut(self, function: Callable[..., bool], args: tuple[Any, ...]) -> bool:
        """Record a test of values."""
        answer = super().shortcut(function, args)
        if answer and (self.primitives or self.written) and not self.is_early(self.calls[-1]):
            self.late = f"{user_line()}: {function.__name__}() tests values after the step has changed something"
        return answer

    def is_early(self, call: Call) -> bool:
        """Whether a call is a test of values that exist, and stay the same, from the beginning of the step."""
        return call.function.__name__ == "ask" and all(
            not isinstance(a, Value) or (a.maker is None and a.number not in self.written) for a in call.args)

    def test_early(self) -> None:
        """Move such tests to the beginning: if one fails, nothing has changed yet."""
        self.calls.sort(key=lambda call: not self.is_early(call))

    def __enter__(self) -> Tracer:
        install(self)
        self._casts = modes.autocast_cache           # casts made before the step, which the program does not make
        modes.autocast_cache = None if self._casts is None else {}
        return self

    def __exit__(self, *exception: object) -> None:
        modes.autocast_cache = self._casts
        remove(self)
