"""Messages over MPI: a synchronous send of the header with the user's tag, and of the data with a separate tag.

The receiver posts its receive of the header at once, so that MPI matches headers in order, and the receive of the data when
the header has arrived. communicator.py imports mpi4py; this module does not.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from ..handle import Handle
from ..header import HEADER, Call, CollectiveError
from ..messages import Array, may_stay_unreceived
from .mpi_types import Request

SPINS = 2000                         # polls for a message before this rank sleeps between polls
KINDS = ("tag", "data", "reply", "permute")


class MpiMessages:
    """The part of an MpiComm that sends arrays from one rank to another."""

    comm: Any
    rank: int
    max_tag: int
    waiting: Any
    messages: int
    without_bfloat16: list[int]
    reject_bfloat16: Any
    _pending: dict[int, Any]
    _abandoned: list[Any]
    spec: Any
    _pieces: Any
    hold_buffers: Any
    release_buffers: Any

    def _permute_arrays(self, call: Call, summary: Any, x: Array, blocking: bool) -> Handle:
        flat: Any = call.sizes
        source, dest = (dict(zip(a, b, strict=True)).get(self.rank)
                        for a, b in ((flat[1::2], flat[::2]), (flat[::2], flat[1::2])))
        if source is None:
            out = np.empty(0, x.dtype)
        else:
            out = np.empty(summary.calls[source].shape, summary.calls[source].dtype)
        tag = self._mpi_tag(0, "permute")
        requests = [] if source is None else [self.comm.Irecv(self.spec(piece), source, tag) for piece in self._pieces(out)]
        requests += [] if dest is None else [self.comm.Isend(self.spec(piece), dest, tag) for piece in self._pieces(x)]
        for request in requests:
            self.hold_buffers(request, (x, out))
        handle = Handle(lambda: self._complete(requests, str(call), [out]),
                        lambda: all(request.Test() for request in requests))
        if blocking:
            handle.wait()
        return handle

    def _send_message(self, local_rank: int, peer: int, tag: int, call: Call, x: Array) -> Handle:
        if self.without_bfloat16:
            self.reject_bfloat16(call)
            if call.error:
                raise CollectiveError(str(call))
        self.messages += 1
        header = np.empty(HEADER.size, np.uint8)
        call.pack_into(header)
        # Issend completes when the message is received, so that free() knows which never was
        requests = [self.comm.Issend(self.spec(header), peer, self._mpi_tag(tag))]
        requests += [self.comm.Isend(self.spec(piece), peer, self._mpi_tag(call.key, "data")) for piece in self._pieces(x)]
        what = "" if may_stay_unreceived(tag, call.value) else str(call) + (f", tag {tag}" if tag >= 0 else "")
        for request in requests:
            self.hold_buffers(request, (header, x), what)
        return Handle(lambda: self._complete(requests, what), lambda: all(request.Test() for request in requests))

    def _receive_message(self, local_rank: int, peer: int, tag: int, what: str) -> Handle:
        self.messages += 1
        header = np.empty(HEADER.size, np.uint8)
        first = self.comm.Irecv(self.spec(header), peer, self._mpi_tag(tag))
        self.hold_buffers(first, header, "")
        body: list[Any] = []                       # after the header: the call, its array, the requests

        def receive_body() -> list[Any]:
            if not body:
                call = Call.unpack(header)
                out = np.empty(call.shape, call.dtype)
                requests = [self.comm.Irecv(self.spec(piece), peer, self._mpi_tag(call.key, "data"))
                            for piece in self._pieces(out)]
                for request in requests:
                    self.hold_buffers(request, out, "")
                body.extend([call, out, requests])
            return body

        def finish() -> Any:
            self._complete([first], what)
            call, out, requests = receive_body()
            return self._complete(requests, what, (call, out))

        return Handle(finish, lambda: first.Test() and all(request.Test() for request in receive_body()[2]))

    def _probe(self, local_rank: int, peer: int, tag: int) -> bool:
        return bool(self.comm.Iprobe(peer, self._mpi_tag(tag)))

    def _poll_until(self, poll: Callable[[], bool], what: str) -> None:
        """Poll with growing pauses, as _complete() does."""
        self.waiting, polls = what, 0
        try:
            while not poll():
                polls += 1
                if polls > SPINS:
                    time.sleep(min(polls * 1e-7, 1e-3))
        finally:
            self.waiting = None

    def _complete(self, requests: list[Request], what: str, result: Any = None) -> Any:
        """Wait for requests that may never complete, polling, so that signals are handled; `waiting` is set for the
        watchdog."""
        self.waiting = what
        try:
            for request in requests:
                polls = 0
                while not request.Test():
                    polls += 1
                    if polls > SPINS:
                        time.sleep(min(polls * 1e-7, 1e-3))
                self.release_buffers(request)
        finally:
            self.waiting = None
        return result

    def _mpi_tag(self, number: int, kind: str = "tag") -> int:
        """The MPI tag: different kinds of messages never match. Negative numbers are gradients and statuses."""
        kind, number = ("reply", -1 - number) if number < 0 else (kind, number)
        return number % (self.max_tag + 1) * len(KINDS) + KINDS.index(kind)

    def _lost_messages(self) -> list[str]:
        """This rank's messages that were never received, after a grace period, when no rank will receive any more."""
        self.comm.Barrier()
        lost = self._incomplete_after(1.0)
        for request, _ in lost:
            request.Cancel()
            self._pending.pop(id(request), None)
            self._abandoned.append(request)
        return sorted({what for _, what in lost if what})

    def _incomplete_after(self, seconds: float) -> list[tuple[Any, str]]:
        """The requests of messages that are still incomplete when all sends are complete, or after some seconds."""
        deadline = time.monotonic() + seconds
        waiting = [(request, what) for request, _, what in self._pending.values() if what is not None]
        while any(not request.Test() for request, what in waiting if what) and time.monotonic() < deadline:
            time.sleep(1e-3)
        return [(request, what) for request, what in waiting if not request.Test()]

    def _report_unreceived(self) -> None:
        """At the end of this rank: write to standard error which of its messages were never received."""
        texts = sorted({what for _, what in self._incomplete_after(2.0) if what})
        if texts:
            sys.stderr.write(f"dparallel: rank {self.rank} of {self.comm.size} ended, but messages that it sent were never "
                             f"received: {'; '.join(texts)}\n")
            sys.stderr.flush()


def raise_if_lost(lost: list[list[str]]) -> None:
    """CollectiveError if a message of any rank was never received; lost: the messages of each rank."""
    if any(lost):
        raise CollectiveError("free(): messages were never received: " + "; ".join(
            f"rank {rank}: {text}" for rank, texts in enumerate(lost) for text in texts))
