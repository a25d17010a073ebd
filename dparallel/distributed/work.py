"""Work and Future: the pending operations returned by async_op=True, isend and irecv."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from ..comm import Handle


class Work:
    """A pending operation. Before wait() its input tensors must not be changed, and its output tensors must not be read."""

    def __init__(self, handle: Handle, write: Callable[[Any], list[Any]], source: Callable[[], int] | None = None) -> None:
        self._handle, self._write, self._source = handle, write, source
        self._result: list[Any] | None = None
        self._error: BaseException | None = None
        self._callbacks: list[Callable[[], None]] = []

    def complete(self) -> None:
        """Block until the operation has completed or failed, and write its result."""
        if self._write is None:
            return
        write, self._write = self._write, None       # type: ignore[assignment]
        try:
            self._result = write(self._handle.wait())
        except Exception as error:
            self._error = error
        callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback()

    def when_done(self, callback: Callable[[], None]) -> None:
        """Call the callback at the end of complete(), or now if the operation has completed."""
        if self._write is None:
            callback()
        else:
            self._callbacks.append(callback)

    def wait(self, timeout: timedelta | None = None) -> bool:
        """Block until the tensors are written, and return True. After a timeout wait() may be called again."""
        if timeout is not None and timeout > timedelta(0):
            deadline = time.monotonic() + timeout.total_seconds()
            while not self.is_completed():
                if time.monotonic() > deadline:
                    raise RuntimeError(f"wait({timeout}): timed out; another rank has not called the operation")
                time.sleep(1e-3)
        self.complete()
        if self._error is not None:
            raise self._error
        return True

    def is_completed(self) -> bool:
        """Whether the operation has completed or failed. If it has completed, its tensors are written."""
        if self._write is not None and self._handle.done():
            self.complete()
        return self._write is None

    def is_success(self) -> bool:
        """Whether the operation has completed without an error. RuntimeError while it is pending."""
        if not self.is_completed():
            raise RuntimeError("is_success() of a pending operation; call wait() first")
        return self._error is None

    def exception(self) -> BaseException | None:
        """The error with which the operation failed; None if it has not."""
        return self._error if self.is_completed() else None

    def result(self) -> list[Any]:
        """Wait, and return the written tensors."""
        self.wait()
        return self._result or []

    def synchronize(self) -> None:
        """Wait for the operation: there are no streams here."""
        self.wait()

    block_current_stream = synchronize

    def source_rank(self) -> int:
        """Wait for a receive, and return the sender's global rank. RuntimeError if the operation is no receive."""
        if self._source is None:
            raise RuntimeError("source_rank() may only be called on work objects that correspond to a recv or recv-from-any")
        self.wait()
        return self._source()

    _source_rank = source_rank

    def get_future(self) -> Future:
        """A Future of result()."""
        return Future(self)


class Future:
    """The result of a Work that may be pending: the tensors it writes, or what then() computes from them.

    then() and add_done_callback() run their function on the thread that waits; there is no background thread.
    """

    def __init__(self, work: Work, function: Callable[[Future], Any] | None = None, before: Future | None = None) -> None:
        self._work, self._function, self._before = work, function, before
        self._done = False
        self._value: Any = None
        self._error: BaseException | None = None

    def done(self) -> bool:
        """Whether wait() would return without blocking."""
        return self._work.is_completed()

    def wait(self) -> Any:
        """Block until the work has completed and return the value, or raise the work's error."""
        if not self._done:
            self._done = True
            try:
                self._value = self._work.result() if self._function is None else self._function(self._before)  # type: ignore[arg-type]
            except Exception as error:
                self._error = error
        if self._error is not None:
            raise self._error
        return self._value

    def value(self) -> Any:
        """The value, as wait() returns it."""
        return self.wait()

    def then(self, function: Callable[[Future], Any]) -> Future:
        """A Future of function(this Future), which is called when the operation is waited for."""
        following = Future(self._work, function, self)
        self._work.when_done(lambda: _run(following))
        return following

    def add_done_callback(self, function: Callable[[Future], Any]) -> None:
        """Call function(this Future) when the operation is waited for."""
        self.then(function)


def _run(future: Future) -> None:
    """Compute a Future's value; an error is raised by its wait()."""
    try:
        future.wait()
    except Exception:                                # stored
        return
