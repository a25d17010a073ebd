"""on_all_ranks: an error on one rank is an error on all."""

from __future__ import annotations

import contextlib
from types import TracebackType

from .base import Communicator
from .header import CollectiveError


class on_all_ranks:
    """A block whose exception propagates here, and raises CollectiveError on the other ranks, in their next collective of
    `comm`."""

    def __init__(self, comm: Communicator, what: str) -> None:
        self.comm: Communicator = comm
        self.what: str = what

    def __enter__(self) -> None:
        """Do nothing."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Report an exception to the other ranks, unless they have raised it, too."""
        if not isinstance(error, Exception) or isinstance(error, CollectiveError):
            return
        with contextlib.suppress(CollectiveError):   # raised on the other ranks; here the cause propagates
            self.comm.refuse(f"{self.what}: {type(error).__name__}: {error}")
