"""CheckpointError, and how a problem of one rank becomes the same error on all ranks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..comm import CollectiveError, Communicator


class CheckpointError(RuntimeError):
    """A checkpoint can't be written or read. The same text on all ranks; it names the folder or file."""


class Ranks:
    """The processes that save and restore together, whichever ranks the communicator has. All methods are collective."""

    size: int
    rank: int

    def __init__(self, comm: Communicator) -> None:
        self.comm = comm
        self.size, self.rank = (1, 0) if comm.alone else (comm.size, comm.rank)

    def gather(self, value: Any) -> list[Any]:
        """Every process's small object, on all of them."""
        return [value] if self.size == 1 else self.comm.allgather_object([value])

    def from_first(self, value: Any) -> Any:
        """The small object of process 0."""
        return value if self.size == 1 else self.comm.broadcast_object(value, 0)

    def agree(self, problem: str) -> None:
        """CheckpointError on all processes if one of them has a problem."""
        text = joined(self.gather(problem))
        if text:
            raise CheckpointError(text)

    @contextmanager
    def together(self, what: str) -> Iterator[None]:
        """For work of this process alone, without collectives: if it fails on one process, CheckpointError on all."""
        problem, cause = "", None
        try:
            yield
        except CollectiveError:                      # already the same on all ranks
            raise
        except Exception as error:
            problem, cause = told(error, what), error
        try:
            self.agree(problem)
        except CheckpointError as error:
            raise error from cause


def joined(problems: list[str]) -> str:
    """The ranks' messages, each text once, with its ranks; empty if there are none."""
    ranks: dict[str, list[int]] = {}
    for rank, problem in enumerate(problems):
        if problem:
            ranks.setdefault(problem, []).append(rank)
    if not ranks:
        return ""
    if len(problems) == 1:
        return problems[0]
    return "; ".join(f"{'all ranks' if len(of) == len(problems) else 'rank ' + ', '.join(map(str, of))}: {text}"
                     for text, of in ranks.items())


def told(error: BaseException, what: str) -> str:
    """An error in words."""
    if isinstance(error, CheckpointError):
        return str(error)
    if isinstance(error, OSError) and error.strerror:
        return f"{what}: {error.strerror}" + (f": {error.filename}" if error.filename else "")
    return f"{what}: {type(error).__name__}: {error}"
