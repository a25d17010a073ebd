"""RankLost: what every wait raises when a rank's process has ended while the job goes on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NoReturn


class RankLost(RuntimeError):
    """A rank's process has ended, and the communicator that it was in can't be used any more (see dparallel.survive).

    Raised by whatever communicates, on each rank that is left, under `dprun --survive` only.

    Example:
        >>> import dparallel
        >>> def step(comm):
        ...     try:
        ...         comm.barrier()
        ...     except dparallel.RankLost:               # survive() does this
        ...         return "go on with the ranks that are left"
        ...     return "all are here"
        >>> dparallel.run_ranks(2, step)
        ['all are here', 'all are here']
    """


class AbandonedError(RankLost):
    """A communicator of an earlier set of ranks is used: no rank has died now, and to begin again would not help."""


class Abandoned:
    """The resources of a communicator that has lost a rank: any use raises AbandonedError."""

    def __getattr__(self, name: str) -> NoReturn:
        raise AbandonedError("this communicator lost a rank, and the others have gone on without it: ask dparallel.world() "
                             "for the ranks that are left, and make anew what was made with the old one; under "
                             "dparallel.survive, make in the function whatever communicates")


def is_loss(error: BaseException | None) -> bool:
    """Whether an exception is a RankLost, or was raised because of one."""
    return any(isinstance(one, RankLost) for one in causes(error))


def is_stale(error: BaseException | None) -> bool:
    """Whether an exception is an AbandonedError, or was raised because of one."""
    return any(isinstance(one, AbandonedError) for one in causes(error))


def causes(error: BaseException | None) -> Iterator[BaseException]:
    """An exception, what it was raised from, or else what was being handled then, and so on."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ if error.__cause__ is not None or error.__suppress_context__ else error.__context__


__all__ = ["Abandoned", "AbandonedError", "RankLost", "causes", "is_loss", "is_stale"]
