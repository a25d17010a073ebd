"""RankLost: every wait raises it when a rank's process has ended and the job continues."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NoReturn


class RankLost(RuntimeError):
    """A rank's process has ended, and its communicator is no longer usable (see dparallel.survive).

    Communication raises it on each surviving rank, under `dprun --survive` only.
    """


class AbandonedError(RankLost):
    """A communicator of an earlier set of ranks is used. No rank has failed now, so a retry does not help."""


class Abandoned:
    """The resources of a communicator that has lost a rank: any use raises AbandonedError."""

    def __getattr__(self, name: str) -> NoReturn:
        raise AbandonedError("this communicator lost a rank, and the others have continued without it: call "
                             "dparallel.world() for the surviving ranks, and create again what used the old communicator; "
                             "under dparallel.survive, create inside the function every object that communicates")


def is_loss(error: BaseException | None) -> bool:
    """Whether an exception is a RankLost, or was raised because of one."""
    return any(isinstance(one, RankLost) for one in causes(error))


def is_stale(error: BaseException | None) -> bool:
    """Whether an exception is an AbandonedError, or was raised because of one."""
    return any(isinstance(one, AbandonedError) for one in causes(error))


def causes(error: BaseException | None) -> Iterator[BaseException]:
    """An exception, then its __cause__ or the exception being handled when it was raised, and so on."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ if error.__cause__ is not None or error.__suppress_context__ else error.__context__
