"""Handle: an operation in progress."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, overload

from .waiting import WAIT, Flight, blocked

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    Result_co = TypeVar("Result_co", covariant=True, default=Any)        # of wait(); Handle alone is Handle[Any]
    Made = TypeVar("Made")
else:
    from typing import TypeVar

    Result_co = TypeVar("Result_co", covariant=True)


class _Obligations(threading.local):
    """Messages that this thread's rank must send before it waits for other ranks (set by functions/pending_messages.py)."""

    def __init__(self) -> None:
        self.settle: Callable[[], None] | None = None          # called once, before the next wait
        self.close: Callable[[Any], None] | None = None        # gets the communicator to free; None: the rank ends

    def before_waiting(self) -> None:
        """Settle before the rank waits for others, or tests whether an operation is complete."""
        if self.settle is not None:
            settle, self.settle = self.settle, None
            settle()

    def before_closing(self, comm: object = None) -> None:
        """Settle before a communicator is freed, or (None) before the rank ends."""
        if self.close is not None:
            self.close(comm)


obligations: _Obligations = _Obligations()


class Handle(Generic[Result_co]):
    """A pending operation: wait() returns its result, done() tests for completion. Do not change its arrays before."""

    __slots__ = ("_error", "_finish", "_test", "_value", "after", "flight")

    def __init__(self, finish: Callable[[], Result_co] | None, test: Callable[[], bool] | None = None,
                 value: Any = None) -> None:
        self._finish, self._test = finish, test
        self._value: Any = value
        self._error: Exception | None = None
        self.after: Callable[[], object] | None = None     # the first wait() calls it at its end, and raises its error
        self.flight: Flight | None = None            # its entry in a timeline

    def wait(self) -> Result_co:
        """Block until the operation is complete; return its result or raise its error. Further calls do the same."""
        if obligations.settle is not None:
            obligations.before_waiting()
        if self._finish is not None:
            try:
                self._value = blocked(WAIT, (), self._number, self._finish)
            except Exception as error:               # stored: every wait() raises it
                self._error = error
            self._finish = None
            if self.flight is not None:
                self.flight.land()
        if self.after is not None:
            after, self.after = self.after, None
            if self._error is None:
                try:
                    after()
                except Exception as error:
                    self._error = error
        if self._error is not None:
            raise self._error
        return self._value


    def _number(self) -> int:
        """The number of the operation in a timeline."""
        return self.flight.number if self.flight is not None else 0

    def done(self) -> bool:
        """Whether wait() would return without blocking."""
        if obligations.settle is not None:
            obligations.before_waiting()
        if self._finish is None or self._test is None:
            return True
        done = self._test()
        if done and self.flight is not None:
            self.flight.land()
        return done

    def value(self) -> Result_co:
        """The result, as wait() returns it: the name that PyTorch's futures use in functions passed to then()."""
        return self.wait()

    if TYPE_CHECKING:
        @overload
        def then(self, function: Callable[[Handle[Result_co]], Handle[Made]]) -> Handle[Made]: ...
        @overload
        def then(self, function: Callable[[Handle[Result_co]], Made]) -> Handle[Made]: ...

    def then(self, function: Callable[[Handle[Result_co]], Any]) -> Handle[Any]:
        """A handle whose wait() returns function(this handle), or its result if that is a Handle.

        The function runs once, when the new handle is waited for, so its collectives come in the order of the waits.
        """
        def finish() -> Any:
            self.wait()
            result = function(self)
            return result.wait() if isinstance(result, Handle) else result

        return Handle(finish, self.done)


def outlive_python(pending: Any) -> None:
    """Never free an object: MPI still uses its memory after Python ends (observed: a segmentation fault)."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(pending))
