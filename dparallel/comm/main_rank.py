"""Code for one rank only, or for one rank first: main_process(), on_main_process(), print_once()."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import TracebackType
from typing import Any, TypeVar

from autograd.base.docstrings import attach_to_modules

from .base import Communicator
from .header import CollectiveError
from .job import communicator

F = TypeVar("F", bound=Callable[..., Any])


def main_process(comm: Communicator | None = None) -> MainProcess:
    """Whether this is the main process, rank 0; in a with statement, rank 0 runs the block first.

    As a condition it is local. As a context all ranks enter it: rank 0 runs the block, then the others (to load what rank 0
    has downloaded, say). If rank 0 raises, the others raise a CollectiveError that names the exception, and skip the block.
    They wait without a time limit; after 60 s dprun reports it (stall_limit()).
    """
    return MainProcess(communicator(comm))


class MainProcess:
    """The result of main_process(): Accelerate's is_main_process and main_process_first(), Lightning's is_global_zero."""

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
        """The end of rank 0's block, for which the others wait."""
        if self.comm.alone:
            return
        failure = self.comm.broadcast_object(failure, 0)
        if failure and not self:
            raise CollectiveError(f"main_process: the block failed on rank 0: {failure}")


def on_main_process(function: F, comm: Communicator | None = None) -> F:
    """Decorate a function to run on rank 0 only; on the others it returns None, without waiting.

    Also as rank_zero_only, Lightning's name. The function must not call collectives.
    """
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs) if main_process(comm) else None

    return call  # type: ignore[return-value]


rank_zero_only = on_main_process


def print_once(*values: object, comm: Communicator | None = None, **settings: Any) -> None:
    """print() on rank 0 only; no rank waits. Accelerate's accelerator.print(), Lightning's rank_zero_info()."""
    if main_process(comm):
        print(*values, **{"flush": True, **settings})


attach_to_modules("dparallel.comm")
