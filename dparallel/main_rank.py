"""What only one rank does, and what it does before the others: main_process(), on_main_process(), print_once()."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import TracebackType
from typing import Any, TypeVar

from .comm import CollectiveError, Communicator, communicator

F = TypeVar("F", bound=Callable[..., Any])


def main_process(comm: Communicator | None = None) -> MainProcess:
    """This process as the main one, rank 0, or as another: true on rank 0, and in a with statement first there.

    As a condition it is local: no rank waits. As a context all ranks enter it: rank 0 runs the block, then the others do (to
    load what rank 0 has downloaded, say). If rank 0 raises there, the others get a CollectiveError that names the exception,
    and don't run the block. They wait without a time limit of ours; after 60 s dprun says so (stall_limit()).

    Args:
        comm (Communicator): The ranks, by default world().

    Returns:
        An object with a truth value, which is a context manager.

    Raises:
        CollectiveError: the block failed on rank 0; on the other ranks.

    Example:
        >>> def load(comm):
        ...     order = []
        ...     with dparallel.main_process(comm):               # rank 0 first, then the others
        ...         order.append("loaded")
        ...     return bool(dparallel.main_process(comm)), order
        >>> dparallel.run_ranks(2, load)
        [(True, ['loaded']), (False, ['loaded'])]
    """
    return MainProcess(communicator(comm))


class MainProcess:
    """What main_process() returns. Accelerate's is_main_process and main_process_first(), Lightning's is_global_zero and
    rank_zero_first()."""

    def __init__(self, comm: Communicator) -> None:
        self.comm = comm

    def __bool__(self) -> bool:
        return 0 in self.comm.held

    def __repr__(self) -> str:
        return f"main_process() of rank {self.comm.rank} of {self.comm.size}: {bool(self)}"

    def __enter__(self) -> MainProcess:
        if not self:
            self._meet("")
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self:
            self._meet("" if error is None else f"{type(error).__name__}: {error}")

    def _meet(self, failure: str) -> None:
        """The end of rank 0's block, which the others wait for."""
        if self.comm.alone:
            return
        failure = self.comm.broadcast_object(failure, 0)
        if failure and not self:
            raise CollectiveError(f"main_process: the block failed on rank 0: {failure}")


def on_main_process(function: F, comm: Communicator | None = None) -> F:
    """A decorator: the function runs on rank 0 only, and returns None on the others, which do not wait.

    Also as rank_zero_only, Lightning's name. The function must not call collectives.

    Args:
        function (Callable): Any callable.
        comm (Communicator): The ranks, by default world(), asked for at each call.

    Returns:
        The wrapped function.

    Example:
        >>> @dparallel.on_main_process
        ... def report(text):
        ...     return len(text)
        >>> report("loss")
        4
    """
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs) if main_process(comm) else None

    return call  # type: ignore[return-value]


rank_zero_only = on_main_process


def print_once(*values: object, comm: Communicator | None = None, **settings: Any) -> None:
    """print() on rank 0 only; no rank waits. Accelerate's accelerator.print(), Lightning's rank_zero_info().

    Args:
        *values: What print() prints.
        comm (Communicator): The ranks, by default world().
        **settings: print()'s.

    Example:
        >>> dparallel.print_once("epoch", 1)
        epoch 1
    """
    if main_process(comm):
        print(*values, **{"flush": True, **settings})


__all__ = ["main_process", "on_main_process", "print_once", "rank_zero_only"]
