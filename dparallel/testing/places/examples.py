"""hypothesis on many ranks: one engine draws the examples, and every rank runs each of them.

With an engine on each rank, a failure on one rank only would let that rank alone look for smaller examples, out of step
with the rest. Under MPI rank 0 has the engine, sends the arguments to all, and hears of failures on any.
"""

from __future__ import annotations

import contextlib
import traceback
from collections.abc import Callable, Iterator
from typing import Any

from ...comm import CollectiveError, Communicator, world
from .worlds import World

TRIES = 100                          # a rank that failed meets the collectives that others are still in


@contextlib.contextmanager
def everywhere(function: Any, place: World, timeout: float) -> Iterator[Callable[..., Any] | None]:
    """What to call in the place of a test with @given, so that each example runs on all ranks; None if it is no such."""
    handle = getattr(function, "hypothesis", None)
    if handle is None or not hasattr(handle, "inner_test"):
        yield None
        return
    inner = handle.inner_test
    if place.kind == "mpi":
        shared = Shared(function, inner, world())
        handle.inner_test, replacement = shared.example, shared.lead if world().rank == 0 else shared.follow
    else:
        def on_world(*args: Any, **arguments: Any) -> None:
            check_drawn(arguments)
            place.run(lambda comm: inner(*args, **{**arguments, "comm": comm}), timeout)

        handle.inner_test, replacement = on_world, function
    try:
        yield replacement
    finally:
        handle.inner_test = inner


def check_drawn(values: dict[str, Any]) -> None:
    """TypeError for what draws later, on each rank for itself."""
    for name, value in values.items():
        if type(value).__name__ == "DataObject":
            raise TypeError(f"{name}=st.data() draws inside the test, where each rank would draw for itself: draw in "
                            "@given, and what depends on other draws by flatmap or st.composite")


class Shared:
    """A test with @given under MPI."""

    def __init__(self, function: Any, inner: Callable[..., Any], comm: Communicator) -> None:
        self.function, self.inner, self.comm = function, inner, comm
        self.fixtures: dict[str, Any] = {}

    def lead(self, **fixtures: Any) -> None:
        """Rank 0: run the engine, whose examples go to all."""
        self.fixtures = fixtures
        try:
            self.function(**fixtures)
        finally:
            self._met(lambda: self.comm.broadcast_object(None))

    def follow(self, **fixtures: Any) -> None:
        """Other ranks: run what rank 0 sends."""
        self.fixtures = fixtures
        own = (self.function.__self__,) if hasattr(self.function, "__self__") else ()
        while True:
            values = self._met(lambda: self.comm.broadcast_object(None))
            if values is None:
                return
            with contextlib.suppress(BaseException):     # rank 0 raises it; also pytest's skip, which is no Exception
                self._run(own, values)

    def example(self, *args: Any, **arguments: Any) -> None:
        """Rank 0: one example, on all ranks."""
        values = {name: value for name, value in arguments.items() if name not in self.fixtures}
        check_drawn(values)
        self.comm.broadcast_object(values)
        self._run(args, values)

    def _run(self, args: tuple[Any, ...], values: dict[str, Any]) -> None:
        """The test itself; raises this rank's failure, or another's."""
        failure: BaseException | None = None
        text = ""
        try:
            self.inner(*args, **{**self.fixtures, **values, "comm": self.comm})
        except BaseException as error:               # also pytest's skip and hypothesis' assume
            failure = error
            if not type(error).__module__.startswith("hypothesis"):
                text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
        texts = self._met(lambda: self.comm.allgather_object([(text, isinstance(failure, CollectiveError))]))
        causes = [rank for rank, (words, _) in enumerate(texts) if words]
        causes = [rank for rank in causes if not texts[rank][1]] or causes       # refused: most often for want of another
        if failure is not None and (not causes or self.comm.rank in causes):
            raise failure
        if causes:
            raise AssertionError(f"rank {causes[0]} of {self.comm.size} failed:\n{texts[causes[0]][0]}")

    def _met(self, exchange: Callable[[], Any]) -> Any:
        """An exchange that all ranks come to, though some may first have to fail in collectives of the test."""
        for _ in range(TRIES):
            with contextlib.suppress(CollectiveError):
                return exchange()
        raise RuntimeError(f"rank {self.comm.rank}: the ranks do not meet after a failed test")
