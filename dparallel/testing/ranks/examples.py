"""hypothesis on several ranks: one engine draws the examples, and every rank runs each of them.

With an engine on each rank, a rank that fails would look for smaller examples alone. Under MPI rank 0 has the engine, sends
the arguments to all ranks, and gets the failures of all.
"""

from __future__ import annotations

import contextlib
import traceback
from collections.abc import Callable, Iterator
from typing import Any

from ...comm import CollectiveError, Communicator, world
from .worlds import World

MAX_TRIES = 100                          # failed exchanges while other ranks are still in collectives of the test


@contextlib.contextmanager
def on_all_ranks(function: Callable[..., Any], world_of_test: World, timeout: float) -> Iterator[Callable[..., Any] | None]:
    """The function to call in place of a test with @given, so that each example runs on all ranks; None for other tests."""
    handle = getattr(function, "hypothesis", None)
    if handle is None or not hasattr(handle, "inner_test"):
        yield None
        return
    inner = handle.inner_test
    if world_of_test.kind == "mpi":
        shared = SharedTest(function, inner, world())
        handle.inner_test, replacement = shared.example, shared.lead if world().rank == 0 else shared.follow
    else:
        def on_world(*args: Any, **arguments: Any) -> None:
            check_drawn(arguments)
            world_of_test.run(lambda comm: inner(*args, **{**arguments, "comm": comm}), timeout)

        handle.inner_test, replacement = on_world, function
    try:
        yield replacement
    finally:
        handle.inner_test = inner


def check_drawn(values: dict[str, Any]) -> None:
    """TypeError for st.data(), which would draw on each rank separately."""
    for name, value in values.items():
        if type(value).__name__ == "DataObject":
            raise TypeError(f"{name}=st.data() draws inside the test, where each rank would draw for itself: draw in "
                            "@given, and what depends on other draws by flatmap or st.composite")


class SharedTest:
    """A test with @given under MPI, whose examples rank 0 draws."""

    def __init__(self, function: Callable[..., Any], inner: Callable[..., Any], comm: Communicator) -> None:
        self.function: Callable[..., Any] = function
        self.inner: Callable[..., Any] = inner
        self.comm: Communicator = comm
        self.fixtures: dict[str, Any] = {}

    def lead(self, **fixtures: Any) -> None:
        """On rank 0: run the engine, and send the end mark after its examples."""
        self.fixtures = fixtures
        try:
            self.function(**fixtures)
        finally:
            self._exchange(lambda: self.comm.broadcast_object(None))

    def follow(self, **fixtures: Any) -> None:
        """On other ranks: run the examples that rank 0 sends."""
        self.fixtures = fixtures
        args = (self.function.__self__,) if hasattr(self.function, "__self__") else ()
        while True:
            values = self._exchange(lambda: self.comm.broadcast_object(None))
            if values is None:
                return
            with contextlib.suppress(BaseException):     # rank 0 raises it. pytest's skip is no Exception
                self._run(args, values)

    def example(self, *args: Any, **arguments: Any) -> None:
        """On rank 0: run one example on all ranks."""
        values = {name: value for name, value in arguments.items() if name not in self.fixtures}
        check_drawn(values)
        self.comm.broadcast_object(values)
        self._run(args, values)

    def _run(self, args: tuple[Any, ...], values: dict[str, Any]) -> None:
        """Run the test. Raises this rank's failure, or an AssertionError with another rank's."""
        failure: BaseException | None = None
        text = ""
        try:
            self.inner(*args, **{**self.fixtures, **values, "comm": self.comm})
        except BaseException as error:               # also pytest's skip and hypothesis' assume
            failure = error
            if not type(error).__module__.startswith("hypothesis"):
                text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
        texts = self._exchange(lambda: self.comm.allgather_object([(text, isinstance(failure, CollectiveError))]))
        causes = [rank for rank, (words, _) in enumerate(texts) if words]
        causes = [rank for rank in causes if not texts[rank][1]] or causes       # CollectiveErrors mostly follow others
        if failure is not None and (not causes or self.comm.rank in causes):
            raise failure
        if causes:
            raise AssertionError(f"rank {causes[0]} of {self.comm.size} failed:\n{texts[causes[0]][0]}")

    def _exchange(self, exchange: Callable[[], Any]) -> Any:
        """Call exchange(), again after each CollectiveError of a rank that is still in a collective of the test."""
        for _ in range(MAX_TRIES):
            with contextlib.suppress(CollectiveError):
                return exchange()
        raise RuntimeError(f"rank {self.comm.rank}: the ranks do not meet after a failed test")
