"""Comparison: ranks compare their calls before a collective, in shared memory on one host, else by an allgather.

In shared memory an allreduce of little data takes place in the comparison itself. Such calls, and those of agree(), are kept
with their headers, so that the next equal call takes one exchange and one sum.
"""

from __future__ import annotations

import functools
import math
import operator
import struct
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..handle import Handle, obligations
from ..header import (
    BACKWARD_OF_AT,
    FROM_ROOT,
    HEADER,
    VALUE_AT,
    VALUED,
    Call,
    CollectiveError,
    collective_error,
    first_with_rows,
    mismatch,
)
from ..reference import Array
from ..waiting import blocked
from ..watchdog.call_site import at_site, user_site
from ..watchdog.history import History, first_divergence
from .messages import KINDS
from .operations import BYTE, reducible
from .shared_calls import SharedCalls

BACKWARD_OF = struct.Struct("=q")
MAX_SUMMARIES = 512
MAX_KNOWN = 512


class CallSummary(NamedTuple):
    """What all ranks know of a collective after they have compared their calls."""

    calls: list[Call]
    rows: list[int]                  # of each rank's array; 0-d counts as one
    shape: tuple[int, ...]           # of the root's array, or the first one with rows
    dtype: Any
    width: int                       # elements in a row


class KnownCall(NamedTuple):
    """A call that may be repeated, and its header; of an allreduce also the arrays of all ranks in shared memory, and the
    function from their combination to the result."""

    call: Call
    header: bytes
    rooms: Any = None
    finish: Any = None


class Comparison:
    """The part of an MpiComm that compares the calls of all ranks."""

    comm: Any
    size: int
    entered: int
    waiting: Any
    check: Any
    watch: Any
    backward_of: int
    max_tag: int
    without_bfloat16: list[int]
    flight: Callable[[], int]

    def start_comparing(self, in_shared_memory: bool) -> None:
        """Create the buffers of headers. in_shared_memory: all ranks can compare there, if they share memory. Collective."""
        self._own_header, self._all_headers = bytearray(HEADER.size), bytearray(HEADER.size * self.size)
        self._own_header_spec = [self._own_header, HEADER.size, BYTE]
        self._all_headers_spec = [self._all_headers, HEADER.size, BYTE]
        self._header_values = np.ndarray(self.size, np.float64, self._all_headers, VALUE_AT, HEADER.size)
        self._header_backward_of = np.ndarray(self.size, np.int64, self._all_headers, BACKWARD_OF_AT, HEADER.size)
        self._values_received: list[float] = []      # the numbers of the last any() or total()
        self._known_summaries: dict[bytes, CallSummary] = {}         # by the headers of all ranks
        self._known_calls: dict[Any, KnownCall] = {}
        self._history = History()                    # in check mode
        self._shared_calls: SharedCalls | None = None
        if in_shared_memory:
            self._shared_calls = SharedCalls.of(self.comm, (self.max_tag + 1) * len(KINDS))

    def _compare_calls(self, call: Call) -> CallSummary:
        """Send the call to all ranks; CollectiveError on all of them if the calls do not match."""
        self._enter(call)
        if self.without_bfloat16:
            self.reject_bfloat16(call)
        if self.check:
            self.watch.latest_site = self._history.record(self.entered, call)
        call.pack_into(self._own_header)
        if self._send_header(bytes(self._own_header)):
            self._all_headers[:] = self._own_header * self.size
        return self._verdict(call)

    def _send_header(self, header: bytes) -> bool:
        """Send this rank's header to all ranks. Returns whether all are equal; if not, they are in _all_headers."""
        if self._shared_calls is not None:
            if self._shared_calls.exchange(header):
                return True
            self._all_headers[:] = self._shared_calls.headers()
            return False
        self._own_header[:] = header
        self.comm.Allgather(self._own_header_spec, self._all_headers_spec)
        return self._all_headers == header * self.size

    def _enter(self, call: Call) -> None:
        """Begin a collective."""
        if obligations.settle is not None:
            obligations.before_waiting()
        self.entered += 1
        call.backward_of = self.backward_of
        self.waiting = self.watch.latest = call

    def _verdict(self, call: Call) -> CallSummary:
        """Compare the headers that have arrived from all ranks."""
        if call.name in VALUED:                      # their numbers differ between calls
            self._values_received = self._header_values.tolist()
            self._header_values.fill(0.0)
        if call.backward_of and (self._header_backward_of == 2 * call.backward_of).all():       # likewise
            self._header_backward_of.fill(0)
        key = bytes(self._all_headers)
        summary = self._known_summaries.get(key)     # the same calls were compared before
        if summary is None:
            calls = [Call.unpack(key[start:start + HEADER.size]) for start in range(0, len(key), HEADER.size)]
            reason = mismatch(calls)
            if reason:                               # the same on all ranks, so all raise
                raise self._refused(reason, call)
            summary = _summarise(calls)
            if len(self._known_summaries) >= MAX_SUMMARIES:
                self._known_summaries.clear()
            self._known_summaries[key] = summary
        return summary

    def _refused(self, reason: str, call: Call) -> CollectiveError:
        """The error of a mismatch: all ranks' calls and lines, and in check mode the first divergence. Collective."""
        text_and_history = f"{call}{at_site(user_site())}{self._history.waiting_time()}", self._history.earlier_calls()
        gathered = self.comm.allgather(text_and_history)
        return collective_error(reason, [text for text, _ in gathered], first_divergence([calls for _, calls in gathered]))

    def reject_bfloat16(self, call: Call) -> None:
        """Mark a call with a bfloat16 array as an error, which all ranks raise, if some ranks lack the dtype."""
        if call.dtype is not None and call.dtype.kind == "V":
            call.error = call.error or (f"bfloat16 requires the package ml_dtypes, which rank {self.without_bfloat16[0]} "
                                        "lacks: pip install ml_dtypes there")

    def _exchange(self, calls: list[Call]) -> list[Call]:
        try:
            return self._compare_calls(calls[0]).calls
        finally:
            self.waiting = None

    def _values(self, calls: list[Call]) -> list[float]:
        try:
            self._compare_calls(calls[0])
            return self._values_received
        finally:
            self.waiting = None

    # --- collectives that take place in the comparison ----------------------------------------------------------------

    def _allreduce_compared(self, call: Call, x: Array) -> Handle | None:
        """The allreduce, with its data beside its header in shared memory; None if it does not fit there."""
        shared = self._shared_calls
        if shared is None or call.error or x.nbytes > shared.limit:
            return None
        sent, _, back = reducible(x, call.op, self.size)
        if sent.nbytes > shared.limit:
            return None
        obligations.before_waiting()
        rooms = shared.rooms(sent)
        arrays = rooms[shared.half]
        arrays[shared.rank][...] = sent
        self._compare_calls(call)
        if sent is x and not (call.key or call.dim or self.check):
            self._remember((x.dtype, x.shape, call.op, call.ties), call, rooms, back if call.op == "mean" else None)
        return Handle(None, value=[back(shared.combine(arrays, call.op))])

    def _remember(self, key: Any, call: Call, rooms: Any = None, finish: Any = None) -> KnownCall:
        """Keep a valid call."""
        header, call.backward_of = bytearray(HEADER.size), 0
        call.pack_into(header)
        if len(self._known_calls) >= MAX_KNOWN:
            self._known_calls.clear()
        known = self._known_calls[key] = KnownCall(call, bytes(header), rooms, finish)
        return known

    def _compare_again(self, known: KnownCall) -> bool:
        """Compare a known call. Returns whether all headers are equal, with the numbers in them."""
        call, header = known.call, known.header
        self._enter(call)
        if call.backward_of:
            header = header[:BACKWARD_OF_AT] + BACKWARD_OF.pack(2 * call.backward_of) + header[BACKWARD_OF_AT + 8:]
        if self._send_header(header):
            return True
        self._verdict(call)
        return False

    def agree(self, bits: int, function: str = "") -> int:
        """The bitwise or of each rank's bits."""
        if self.check:
            return super().agree(bits, function)     # type: ignore[misc]
        return int(blocked("agree", (), self.flight, self._agree, bits, function))

    def _agree(self, bits: int, function: str) -> int:
        known = self._known_calls.get((bits, function)) \
            or self._remember((bits, function), Call("agree", self.size, value=bits, function=function))
        try:
            return bits if self._compare_again(known) else functools.reduce(operator.or_, map(int, self._values_received))
        finally:
            self.waiting = None

    def known_allreduce(self, xs: Any, op: Any = "sum", ties: Any = "split", blocking: bool = True) -> list[Array] | None:
        """The result of an allreduce whose dtype, shape, op and ties are those of an earlier one; else None."""
        if xs.__class__ is not list or len(xs) != 1 or xs[0].__class__ is not np.ndarray or op.__class__ is not str \
                or ties.__class__ is not str:
            return None
        known = self._known_calls.get((xs[0].dtype, xs[0].shape, op, ties))
        return None if known is None else blocked("allreduce", xs, self.flight, self._allreduce_again, known, xs[0])

    def _allreduce_again(self, known: KnownCall, x: Array) -> list[Array]:
        try:
            shared: Any = self._shared_calls
            if obligations.settle is not None:
                obligations.before_waiting()
            arrays = known.rooms[shared.half]
            arrays[shared.rank][...] = x
            self._compare_again(known)
            combined = shared.combine(arrays, known.call.op)
            return [combined if known.finish is None else known.finish(combined)]
        finally:
            self.waiting = None


def _summarise(calls: list[Call]) -> CallSummary:
    """The CallSummary of calls that match."""
    reference = calls[calls[0].root] if calls[0].name in FROM_ROOT else first_with_rows(calls)
    rows = [call.shape[0] if call.shape else 1 for call in calls]
    return CallSummary(calls, rows, reference.shape, reference.dtype, math.prod(reference.shape[1:]))
