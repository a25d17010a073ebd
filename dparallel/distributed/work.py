"""Work and Future: the pending operations that async_op=True, isend and irecv return."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from ..comm import Handle


class Work:
    """A pending operation. Before wait() its input tensors must not be changed, and its output tensors must not be read.

    Args:
        handle (Handle): The communicator's pending operation.
        write: A function that writes the handle's value into the output tensors and returns them.
        source: A function of the sender's global rank, of a receive. Default: None.

    Example:
        >>> import dparallel
        >>> import dparallel.distributed as dist
        >>> def main(comm):
        ...     dist.init_process_group(comm=comm)
        ...     x = ag.ones(2)
        ...     work = dist.all_reduce(x, async_op=True)
        ...     done = work.wait()
        ...     dist.destroy_process_group()
        ...     return done, x.tolist()
        >>> dparallel.run_ranks(2, main)
        [(True, [2.0, 2.0]), (True, [2.0, 2.0])]
        >>> def states(comm):
        ...     dist.init_process_group(comm=comm)
        ...     work = dist.all_reduce(ag.ones(1), async_op=True)
        ...     work.when_done(lambda: None)
        ...     work.synchronize()
        ...     work.complete()                              # nothing is left to do
        ...     future = work.get_future()
        ...     future.add_done_callback(lambda future: None)
        ...     said = [work.is_completed(), work.is_success(), work.exception(), work.result()[0].item(), future.done()]
        ...     dist.destroy_process_group()
        ...     return said
        >>> dparallel.run_ranks(2, states)[0]
        [True, True, None, 2.0, True]
        >>> def receive(comm):
        ...     dist.init_process_group(comm=comm)
        ...     work = dist.irecv(ag.zeros(1)) if comm.rank == 0 else dist.isend(ag.ones(1), 0)
        ...     source = work.source_rank() if comm.rank == 0 else work.wait()
        ...     dist.destroy_process_group()
        ...     return source
        >>> dparallel.run_ranks(2, receive)
        [1, True]
    """

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
        """Call the callback at the end of complete(), or now if the operation has completed.

        Args:
            callback (callable): Called without arguments.
        """
        if self._write is None:
            callback()
        else:
            self._callbacks.append(callback)

    def wait(self, timeout: timedelta | None = None) -> bool:
        """Block until the tensors are written, and return True. After a timeout wait() may be called again.

        Args:
            timeout (timedelta): How long; None: as long as it takes.

        Raises:
            RuntimeError: the operation has not ended in time.
            Exception: the error that the operation ended with.
        """
        if timeout is not None and timeout > timedelta(0):
            deadline = time.monotonic() + timeout.total_seconds()
            while not self.is_completed():
                if time.monotonic() > deadline:
                    raise RuntimeError(f"wait({timeout}): the operation has not ended in time; another rank has not come")
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
        """Whether the operation has completed without an error.

        Raises:
            RuntimeError: the operation is pending.
        """
        if not self.is_completed():
            raise RuntimeError("is_success() of an operation that is under way; call wait() first")
        return self._error is None

    def exception(self) -> BaseException | None:
        """The error with which the operation failed; None if it has not."""
        return self._error if self.is_completed() else None

    def result(self) -> list[Any]:
        """Wait, and return the tensors that were written."""
        self.wait()
        return self._result or []

    def synchronize(self) -> None:
        """Wait for the operation: there are no streams here."""
        self.wait()

    block_current_stream = synchronize

    def source_rank(self) -> int:
        """Wait for a receive, and return the sender's global rank.

        Raises:
            RuntimeError: the operation is no receive.
        """
        if self._source is None:
            raise RuntimeError("source_rank() may only be called on work objects that correspond to a recv or recv-from-any")
        self.wait()
        return self._source()

    _source_rank = source_rank

    def get_future(self) -> Future:
        """A Future of result()."""
        return Future(self)


class Future:
    """The result of a Work that may not have completed: the tensors it writes, or what then() computes from them.

    then() and add_done_callback() run their function on the thread that waits; there is no background thread.

    Args:
        work (Work): The operation.
        function: Computes the value from `before`. Default: None: the value is the work's tensors.
        before (Future): What the function is called with. Default: None.

    Example:
        >>> import dparallel
        >>> import dparallel.distributed as dist
        >>> def main(comm):
        ...     dist.init_process_group(comm=comm)
        ...     x = ag.ones(2)
        ...     future = dist.all_reduce(x, async_op=True).get_future()
        ...     half = future.then(lambda done: done.value()[0] / 2).wait()
        ...     dist.destroy_process_group()
        ...     return half.tolist()
        >>> dparallel.run_ranks(2, main)
        [[1.0, 1.0], [1.0, 1.0]]
        >>> from dparallel.distributed import Future
        >>> def states(comm):
        ...     dist.init_process_group(comm=comm)
        ...     future = dist.all_reduce(ag.ones(1), async_op=True).get_future()
        ...     future.add_done_callback(lambda future: None)
        ...     future.wait()
        ...     dist.destroy_process_group()
        ...     return future.done()
        >>> dparallel.run_ranks(2, states)
        [True, True]
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
        """Block until the work has completed and return the value. Raises the error that the work ended with."""
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
        """A Future of function(this Future), which is called when the operation is waited for.

        Args:
            function (callable): Called with this Future.
        """
        following = Future(self._work, function, self)
        self._work.when_done(lambda: _run(following))
        return following

    def add_done_callback(self, function: Callable[[Future], Any]) -> None:
        """Call function(this Future) when the operation is waited for.

        Args:
            function (callable): Called with this Future.
        """
        self.then(function)


def _run(future: Future) -> None:
    """Compute a Future's value; an error is raised by its wait()."""
    try:
        future.wait()
    except Exception:                                # stored
        return


__all__ = ["Future", "Work"]
