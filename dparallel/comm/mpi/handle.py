"""Handles of MPI requests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..handle import Handle
from ..watchdog.stall import description
from .mpi_types import Request


class MpiHandle(Handle):
    """A Handle over an MPI request. The communicator holds the buffers until it is complete, waited for or not."""

    __slots__ = ("_comm", "_finish_result", "_request", "_what", "number")

    def __init__(self, comm: Any, request: Request, finish: Callable[[], Any] | None, buffers: Any) -> None:
        super().__init__(self._complete, request.Test)
        self._comm, self._request, self._finish_result = comm, request, finish
        self.number: int = comm.entered
        self._what = comm.waiting
        comm.hold_buffers(request, buffers)

    def __str__(self) -> str:
        return description(self._what)

    def _complete(self) -> Any:
        comm = self._comm
        comm.waiting = self
        try:
            self._request.Wait()
        finally:
            comm.waiting = self._what = None
        comm.release_buffers(self._request)
        return None if self._finish_result is None else self._finish_result()
