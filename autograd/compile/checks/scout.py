"""Scout: observes a step's first, ordinary run for what a program can't repeat: reads of values, and output."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

from ...core.interceptors import Interceptor, install, remove, without_watcher
from ..recording.calls import user_line
from ..recording.nodes import apply
from .state import is_user_code

OUTPUT = {print: "print()", input: "input()", open: "open()"}
WRITES = {"write", "writelines", "flush"}


class Scout(Interceptor):
    """`reasons`: in words with the user's line, each with the line of the function `code` that led there, or 0."""

    sees_calls = True

    def __init__(self, code: CodeType | None) -> None:
        self.code = code
        self.reasons: list[tuple[str, int]] = []
        self.ran: set[Any] = set()                   # nodes that backward passes of the step have run

    def note(self, what: str, line: str = "") -> None:
        """Note a reason."""
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and frame.f_code is not self.code:
            frame = frame.f_back
        self.reasons.append((f"{line or user_line()}: {what}", 0 if frame is None else frame.f_lineno))

    def value_read(self, what: str) -> None:
        """Note that Python reads a value."""
        self.note(f"{what} reads a value")

    def side_effect(self, what: str) -> None:
        """Note what tensors do not show."""
        self.note(f"{what} can't be recorded")

    def running(self, node: Any, g: Any, create: bool, run: Any) -> Any:
        """Note a node of a backward pass."""
        self.ran.add(node)
        return run(node, g, create)

    def function(self, function: Any, args: tuple[Any, ...], settings: dict[str, Any]) -> Any:
        """Apply a Function, which programs call again as a whole if it reads values."""
        with without_watcher():
            return apply(function, *args, **settings)

    def primitive(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call a primitive, which programs call again."""
        with without_watcher():
            return function(*args, **kwargs)

    def shortcut(self, function: Callable[..., bool], args: tuple[Any, ...]) -> bool:
        """Ask: programs ask again."""
        with without_watcher():
            return function(*args)

    def profile(self, frame: FrameType, event: str, called: Any) -> None:
        """Note calls that write to a stream or file."""
        if event != "c_call":
            return
        owner = getattr(called, "__self__", None)
        name = OUTPUT.get(called) if isinstance(called, type(print)) and owner.__class__.__name__ == "module" else None
        if name is None and isinstance(owner, io.IOBase) and getattr(called, "__name__", "") in WRITES:
            name = f"{type(owner).__name__}.{called.__name__}()"
        if name is not None and not self._imports(frame):
            caller = outside_python(frame)           # of logging, say
            if is_user_code(caller.f_globals.get("__name__")):       # the library writes timelines
                line = user_line(caller)
                if not self.reasons or not self.reasons[-1][0].startswith(line):     # print() writes to a stream in turn
                    self.note(f"{name} has an effect outside of tensors", line)

    def _imports(self, frame: FrameType | None) -> bool:
        """Whether the step imports a module in a frame."""
        while frame is not None and frame.f_code is not self.code:
            if frame.f_globals.get("__name__") == "importlib._bootstrap":
                return True
            frame = frame.f_back
        return False

    def __enter__(self) -> Scout:
        install(self)
        sys.setprofile(self.profile)
        return self

    def __exit__(self, *exception: object) -> None:
        sys.setprofile(None)
        remove(self)


def outside_python(frame: FrameType) -> FrameType:
    """The innermost frame that is not of Python's own modules."""
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).partition(".")[0] in sys.stdlib_module_names:
        frame = frame.f_back
    return frame


__all__ = ["Scout"]
