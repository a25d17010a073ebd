"""Handle: a collective under way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Handle:
    """A collective under way: wait() gives its result, done() says without blocking whether it has come.

    What was passed to the collective must not be changed before wait() has returned.
    """

    __slots__ = ("_error", "_finish", "_test", "_value")

    def __init__(self, finish: Callable[[], Any] | None, test: Callable[[], bool] | None = None, value: Any = None) -> None:
        self._finish, self._test = finish, test
        self._value = value
        self._error: Exception | None = None

    def wait(self) -> Any:
        """Block until the collective is complete; its result, or its error. May be called again."""
        if self._finish is not None:
            try:
                self._value = self._finish()
            except Exception as error:               # kept: every wait() tells the same
                self._error = error
            self._finish = None
        if self._error is not None:
            raise self._error
        return self._value

    def then(self, function: Callable[[Any], Any]) -> Handle:
        """A handle of function(result), with the same state."""
        return Handle(lambda: function(self.wait()), self.done)

    def done(self) -> bool:
        """Whether wait() would return at once."""
        return self._finish is None or self._test is None or self._test()
