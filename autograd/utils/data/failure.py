"""Failure: an exception raised in a worker, passed to the thread that waits for the batch (PyTorch's ExceptionWrapper)."""

from __future__ import annotations

import os
import traceback
from types import TracebackType
from typing import NamedTuple, NoReturn

FOLDER = os.path.dirname(__file__)


class Failure(NamedTuple):
    """An exception that a worker raised. `original` is None where the worker is another process."""

    kind: type[BaseException]
    text: str
    original: BaseException | None

    @classmethod
    def caught(cls, error: BaseException, location: str) -> Failure:
        """The failure for `error`, its traceback as text, from the dataset on."""
        report = "".join(traceback.format_exception(type(error), error, outside(error.__traceback__)))
        return cls(type(error), f"Caught {type(error).__name__} {location}.\nOriginal {report}", error)

    def reraise(self) -> NoReturn:
        """Raise an exception of the same class if one can be made from a text, else a RuntimeError."""
        text = Plain(self.text) if issubclass(self.kind, KeyError) else self.text
        try:
            error = self.kind(text)
        except Exception:
            error = RuntimeError(self.text)
        try:
            raise error from self.original
        finally:
            del error, self                 # the traceback holds this frame: no cycle, so nothing outlives the handler


def outside(trace: TracebackType | None) -> TracebackType | None:
    """A traceback without its first frames in this folder; the last frame stays."""
    while trace is not None and trace.tb_next is not None and os.path.dirname(trace.tb_frame.f_code.co_filename) == FOLDER:
        trace = trace.tb_next
    return trace


class Plain(str):
    """A text that KeyError, which prints its argument's repr, prints as it is."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)
