"""Handle: an operation in progress."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from time import perf_counter_ns
from typing import Any

from autograd.core.spans import FLIGHT, MESSAGE, begin, complete, end_message, number_of, recorders


class _Obligations(threading.local):
    """Messages that this thread's rank must send before it waits for other ranks (functions/pending_messages.py sets
    them)."""

    def __init__(self) -> None:
        self.settle: Callable[[], None] | None = None          # called once, before the next wait
        self.close: Callable[[Any], None] | None = None        # with a communicator to be freed; None: the rank ends
        self.waits = False                           # for others: in blocked() or Handle.wait()
        self.waited = 0                              # in these, of this thread, in ns
        self.sends: tuple[str, int] | None = None    # what the sums that start now are called in a timeline (a bucket), and
                                                     # for how many nanoseconds they could have started

    def before_waiting(self) -> None:
        """Settle: the rank is about to wait for others, or to test whether an operation is complete."""
        if self.settle is not None:
            settle, self.settle = self.settle, None
            settle()

    def before_closing(self, comm: object = None) -> None:
        """Settle before a communicator is freed, or (None) before the rank ends."""
        if self.close is not None:
            self.close(comm)


class Waited:
    """How long this process has waited for others, in ns: in all collectives, messages and Handle.wait(), of all threads. Of
    a wait inside another one the outer counts."""

    def __init__(self) -> None:
        self.ns = 0

    def add(self, since: int) -> None:
        """This thread has waited since then."""
        time = perf_counter_ns() - since
        self.ns += time
        obligations.waited += time


obligations = _Obligations()
waited = Waited()
WAIT = number_of("dparallel::wait", MESSAGE)         # in what a profiler or a timeline records


def blocked(name: int, nbytes: int, comm: Any, function: Callable[..., Any], *args: Any) -> Any:
    """function(*args), in which this place may wait for others of the communicator `comm`: `waited` counts it, and it is a
    span with the number `name`, whose b is comm.flight(), the same number on all ranks of a collective."""
    outer, obligations.waits = obligations.waits, True
    token = begin(name) if recorders else 0
    began = perf_counter_ns()
    try:
        return function(*args)
    finally:
        if not outer:
            waited.add(began)
        obligations.waits = outer
        if token:
            end_message(token, nbytes, comm.flight())


class Flight:
    """A collective between its start and its completion, as a timeline shows it; made only while something records.

    name: of the collective. number: comm.flight() at its start.
    """

    def __init__(self, name: str, nbytes: int, number: int) -> None:
        self.name, self.nbytes, self.number = f"dparallel::{name}", nbytes, number
        self.started, self.queued, self.ended = perf_counter_ns(), -1, 0
        if obligations.sends is not None:
            self.name, self.queued = obligations.sends

    def land(self) -> None:
        """It was found complete; the first time counts."""
        if not self.ended:
            self.ended = perf_counter_ns()
            complete(self.name, FLIGHT, self.started, self.ended, self.nbytes, self.number, self.queued)


class Handle:
    """An operation in progress: wait() returns its result, done() tests without blocking whether it is complete.

    Arrays passed to the operation must not be changed before wait() has returned.
    """

    __slots__ = ("_error", "_finish", "_test", "_value", "flight")

    def __init__(self, finish: Callable[[], Any] | None, test: Callable[[], bool] | None = None, value: Any = None) -> None:
        self._finish, self._test = finish, test
        self._value = value
        self._error: Exception | None = None
        self.flight: Flight | None = None            # what a timeline is to know of it

    def wait(self) -> Any:
        """Block until the operation is complete; return its result or raise its error. Further calls do the same."""
        obligations.before_waiting()
        if self._finish is not None:
            outer, obligations.waits = obligations.waits, True
            token = begin(WAIT) if recorders else 0
            began = perf_counter_ns()
            try:
                self._value = self._finish()
            except Exception as error:               # stored: every wait() raises it
                self._error = error
            finally:
                obligations.waits = outer
                if not outer:
                    waited.add(began)
                if self.flight is not None:
                    self.flight.land()
                if token:
                    end_message(token, 0, self.flight.number if self.flight is not None else 0)
            self._finish = None
        if self._error is not None:
            raise self._error
        return self._value

    def done(self) -> bool:
        """Whether wait() would return without blocking."""
        obligations.before_waiting()
        if self._finish is None or self._test is None:
            return True
        done = self._test()
        if done and self.flight is not None:
            self.flight.land()
        return done

    def value(self) -> Any:
        """The result, as wait() returns it: the name that functions given to then() know from PyTorch's futures."""
        return self.wait()

    def then(self, function: Callable[[Handle], Any]) -> Handle:
        """A handle whose wait() returns function(this handle); if that returns a Handle, its result.

        The function runs once, when the new handle is waited for, so that the collectives it starts come in the order
        of the waits, which is the same on all ranks.

        >>> comm.start_allreduce([x]).then(lambda handle: handle.value()[0] / comm.size).wait()
        """
        def finish() -> Any:
            self.wait()
            result = function(self)
            return result.wait() if isinstance(result, Handle) else result

        return Handle(finish, self.done)


def outlive_python(pending: Any) -> None:
    """Never free an object: Python ends before MPI, which still uses its memory (seen: a segmentation fault)."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(pending))
